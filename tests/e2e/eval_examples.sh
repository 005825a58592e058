# Three hundred questions in many words about the three examples. A wrong number fails; at least 95 of
# a hundred are right, the others ask back or are refused.
. tests/lib/tap.sh
right=0 all=0
for example in sales widgets company; do
	run writ eval examples/$example/evals/questions.yaml -C examples/$example --json
	json "$example: nothing is wrong" .run.counts.wrong 0
	right=$((right + $(printf '%s' "$out" | jq .run.counts.right)))
	all=$((all + $(printf '%s' "$out" | jq '.run.cases | length')))
	printf '%s' "$out" | jq -r '.run.cases[] | select(.outcome != "right") | "# \(.at): \(.outcome): \(.question)"'
done
is "at least 300 questions" "$((all >= 300))" 1
echo "# $right of $all right"
is "at least 95 of a hundred are right" "$((right * 100 >= all * 95))" 1
done_testing
