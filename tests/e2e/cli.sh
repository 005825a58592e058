# The command line: help, wrong words, formats.
. tests/lib/tap.sh
ws=examples/sales
for command in "" ask serve task call token status policy metric audit mcp; do
	# shellcheck disable=SC2086 # no word for the first
	run writ $command --help
	is "help of writ $command" "$code" 0
	has "  shows usage" "$out" "usage"
done
for command in ask serve task call token status policy metric audit mcp; do
	has "  $command: exit codes in its help" "$(writ $command --help | tr A-Z a-z)" "exit"
done
run writ
is "no command" "$code" 2
run writ aks
is "an unknown command" "$code" 2
has "  did you mean" "$err" "ask"
run writ ask -C $ws --jsn "x"
is "an unknown option" "$code" 2
has "  did you mean" "$err" "--json"
run writ ask -C $ws
is "no question without a terminal" "$code" 2
run writ ask -C $ws "  "
is "an empty question" "$code" 2
run writ ask -C $ws "$(head -c 5000 /dev/zero | tr '\0' a)"
isnt "a question that is too long" "$code" 0
question="Which regions had the highest net sales last quarter?"
run writ ask -C $ws "$question" --format csv
has "csv" "$out" '"East",420.0'
has "  proof on stderr" "$err" "SQL: SELECT"
run writ ask -C $ws "$question" --format jsonl
is "jsonl: a row a line" "$(printf '%s\n' "$out" | wc -l)" 4
run writ ask -C $ws "$question" --format md
has "md" "$out" "| East |"
run writ ask -C $ws "$question" --format xml
is "an unknown format" "$code" 2
run sh -c "writ ask -C $ws '$question' | cat"
hasnt "no colours in a pipe" "$out" "$(printf '\033')"
run writ policy check -C $ws
is "policy check" "$code" 0
run writ policy show -C $ws
has "policy show names rules" "$out" "read-sales"
run writ metric check -C $ws
is "metric check" "$code" 0
done_testing
