# Questions and denials on a workspace that nobody has seen: names, values, metrics and wordings come
# from a seed, the right answers from loops over the rows (tests/lib/random/world.h).
. tests/lib/tap.sh

seed=${WRIT_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "# seed $seed; WRIT_SEED=$seed repeats this run"
maker=$WRIT_PLACE/tools/writ-random-workspace
if [ ! -x "$maker" ]; then
	echo "1..0 # SKIP no writ-random-workspace: WRIT_TESTS names no folder that has it"
	exit 0
fi
judge=$WRIT_PLACE/tests/lib/random/check.jq
questions=60 denials=24 again=25

# ask_one WORKSPACE CASE: the answer, then the one behind the choice that the case makes or null
ask_one() {
	answer=$(writ ask -C "$1" --json -- "$(printf '%s' "$2" | jq -r .question)" 2>>"$1.err") || true
	[ -n "$answer" ] || answer='{"status":"no answer"}'
	printf '%s\n' "$answer" >>"$1.answers"
	after=null
	pick=$(printf '%s' "$2" | jq -r '.expect.after.choice // empty')
	if [ -n "$pick" ]; then
		# shellcheck disable=SC2016 # $pick is jq's
		part=$(printf '%s' "$answer" | jq -r --arg pick "$pick" \
			'first(.question.parts[]? | select(any(.choices[]; .value == $pick)).name) // empty')
		[ -z "$part" ] || after=$(writ task answer -C "$1" --json \
			"$(printf '%s' "$answer" | jq -r .task)" "$part=$pick" 2>>"$1.err") || true
	fi
	printf '%s\n' "${after:-null}" >>"$1.afters"
}

# ask_all WORKSPACE COUNT: its first cases
ask_all() {
	head -n "$2" "$1/cases.jsonl" >"$1.cases"
	while IFS= read -r case; do ask_one "$1" "$case"; done <"$1.cases"
	verdicts "$1" "$1.answers" >"$1.verdicts"
	jq -r 'select(.verdict != "ok")
		| "# \(.verdict), seed '"$seed"': \(.kind): \(.question)", "#   want \(.want)", "#   got  \(.got)"' \
		"$1.verdicts"
}

# verdicts WORKSPACE ANSWERS
verdicts() {
	jq -cn --slurpfile cases "$1.cases" --slurpfile answers "$2" --slurpfile afters "$1.afters" -f "$judge"
}

count() { jq -s "map(select($2)) | length" "$1.verdicts"; }

ws=$WRIT_PLACE/random
"$maker" "$ws" "$seed" $questions $denials || exit 1
run writ policy check -C "$ws"
is "the policy has no mistake" "$code$err" 0
serve "$ws"
run writ metric check -C "$ws"
is "every metric has its expected value" "$code" 0
hasnt "and no hidden value is shown" "$out$err" "Secret"

cases=$(wc -l <"$ws/cases.jsonl")
ask_all "$ws" "$cases"
is "every case was asked and judged" "$(wc -l <"$ws.answers") $(wc -l <"$ws.verdicts")" "$cases $cases"
is "no number is wrong, and no guess is given for an answer" "$(count "$ws" '.verdict == "wrong"')" 0
missed=$(count "$ws" '.verdict == "missed"')
answerable=$(count "$ws" .answerable)
echo "# $missed of $answerable answerable questions were honestly refused or asked back"
is "at most one answerable question in twenty is not answered" \
	"$([ $((missed * 20)) -le "$answerable" ]; echo $?)" 0
jq -c 'if .rows then .rows |= map(map(if type == "number" then . + 0.00001 * (. | fabs) + 0.00001 else . end)) else . end' \
	"$ws.answers" >"$ws.off"
isnt "numbers that are off by a little would be found" \
	"$(verdicts "$ws" "$ws.off" | grep -c '"verdict":"wrong"')" 0
# shellcheck disable=SC2016 # these are jq's; a word that the question itself names may come back
is "no hidden value is in any answer" "$(jq -n --slurpfile cases "$ws.cases" --slurpfile answers "$ws.answers" '
	range($cases | length) as $i | $answers[$i] | del(.audit) | tojson
	| split($cases[$i].expect.says[0] // "\u0000") | join("")' | grep -c -F -f "$ws/secrets.txt")" 0
is "every answer has its proof" \
	"$(jq -s 'map(select(.status == "completed" and (.sql == null or .bytes_scanned == null or (.audit.records | length) == 0))) | length' "$ws.answers")" 0

# Hidden tables and columns, in every position: as if they were not there.
call() { writ call -C "$ws" --agent query-01 run_query "$(jq -cn --arg sql "$1" '{sql:$sql}')" --json 2>&1 || true; }
differ=0 leaks=0
while IFS= read -r case; do
	hidden=$(call "$(printf '%s' "$case" | jq -r .sql)")
	absent=$(call "$(printf '%s' "$case" | jq -r .twin)")
	if printf '%s' "$hidden" | grep -q -F -f "$ws/secrets.txt"; then
		leaks=$((leaks + 1))
		printf '# leak, seed %s: %s\n#   %s\n' "$seed" "$case" "$hidden"
	fi
	# shellcheck disable=SC2016 # these are jq's
	same=$(jq -n --argjson case "$case" --argjson hidden "$hidden" --argjson absent "$absent" '
		def seen($name): {ok, error, hint, rejected_by, rows} | tojson | split($name) | join("NAME");
		$hidden.ok == false and ($hidden | seen($case.name)) == ($absent | seen($case.twin_name))' 2>&1)
	if [ "$same" != true ]; then
		differ=$((differ + 1))
		printf '# differs, seed %s: %s\n#   hidden %s\n#   absent %s\n' "$seed" "$case" "$hidden" "$absent"
	fi
done <"$ws/denials.jsonl"
is "no reply to SQL holds a hidden value" $leaks 0
is "what is hidden is refused like what does not exist" $differ 0
stop_service
run writ audit verify -C "$ws"
is "the log of all this verifies" "$code" 0

# Other names for columns in the database and in the files that name them: the same answers.
renamed=$WRIT_PLACE/renamed
"$maker" "$renamed" "$seed" $questions 0 renamed || exit 1
is "the questions are the same" "$(cmp "$ws/cases.jsonl" "$renamed/cases.jsonl" 2>&1)" ""
isnt "the model is another" "$(cmp "$ws/metrics/data.yaml" "$renamed/metrics/data.yaml" 2>&1)" ""
serve "$renamed"
ask_all "$renamed" $again
is "every case was judged" "$(wc -l <"$renamed.verdicts")" $again
is "no number is wrong under other column names" "$(count "$renamed" '.verdict == "wrong"')" 0
shown() { jq -c '[.status, .rows, .columns, .units, .answer]' "$1"; }
head -n $again "$ws.answers" >"$ws.first"
shown "$ws.first" >"$ws.shown"
shown "$renamed.answers" >"$renamed.shown"
is "every answer is the same as before" "$(diff "$ws.shown" "$renamed.shown" | head -4)" ""
done_testing
