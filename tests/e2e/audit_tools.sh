# What one does with a log besides verifying it.
. tests/lib/tap.sh
ws=$(fresh sales told)
question="Which regions had the highest net sales last quarter?"
run writ ask -C "$ws" "$question" --json
task=$(printf '%s' "$out" | jq -r .task)
run writ ask -C "$ws" "How many orders are there?" --json

run writ audit show -C "$ws" --task "$task"
is "the story of a task is told" "$code" 0
has "  with its question" "$out" "question: $question"
has "  its agents" "$out" "agent sales-query-01"
has "  decisions and rules" "$out" "call run_query: allow by read-sales"
has "  results below their calls" "$out" "-> ok, 4 rows"
has "  and its answer" "$out" "answer: "
first=$out
run writ audit show -C "$ws" --task "$task"
is "an index gives the same" "$out" "$first"
for index in "$HOME"/.cache/writ-audit/*/*.tasks; do
	isnt "there is an index" "$index" "$HOME/.cache/writ-audit/*/*.tasks"
	printf x | dd of="$index" bs=1 seek=4100 conv=notrunc 2>/dev/null
done
run writ audit show -C "$ws" --task "$task"
is "a damaged index is built anew" "$out" "$first"
rm -rf "$HOME/.cache"; : >"$HOME/.cache"
run writ audit show -C "$ws" --task "$task"
is "without a place for it the log is read" "$out" "$first"
rm "$HOME/.cache"
run writ audit show -C "$ws" --task nothing
is "a task that is not there" "$code" 1
run writ audit show -C "$ws" --tool run_query --json
is "a filter by tool" "$(printf '%s\n' "$out" | jq -r .tl | sort -u)" run_query
run writ audit show -C "$ws" --decision deny
is "a filter by decision finds nothing here" "$code$out" 0
run writ audit show -C "$ws" --since 1h --event task.open
is "a filter by time" "$(printf '%s\n' "$out" | wc -l)" 2
run writ audit show -C "$ws" --until 2020-01-01
is "  the other way" "$out" ""
run writ audit show -C "$ws" --user "$(id -un 2>/dev/null || echo nobody)" --event task.open
is "a filter by the user's name, which openings give" "$(printf '%s\n' "$out" | wc -l)" 2
run writ audit show -C "$ws" --since yesterday
is "a time that is none" "$code" 2
has "  says how to write one" "$err" "2h for two hours ago"

run writ audit export -C "$ws" --format csv
is "CSV has a row for each record and a heading" "$(printf '%s\n' "$out" | wc -l)" \
	"$(($(cat "$ws"/state/audit/log.jsonl "$ws"/state/audit/seg/*.jsonl 2>/dev/null | wc -l) + 1))"
run writ audit export -C "$ws" --format rfc5424 --task "$task"
has "RFC 5424 keeps seq, leaf and prev" "$(printf '%s\n' "$out" | head -1)" '[audit@32473 seq="'
line=$(printf '%s\n' "$out" | head -1)
raw="{${line#*\] \{}"
is "  and the record's bytes: its leaf is their hash" \
	"$({ printf '\0'; printf '%s' "$raw"; } | sha256sum | cut -d' ' -f1)" \
	"$(printf '%s' "$line" | sed 's/.*leaf="\([0-9a-f]*\)".*/\1/')"
run writ audit export -C "$ws" --format ocsf --task "$task"
is "OCSF names class and mapping" "$(printf '%s\n' "$out" | head -1 | jq -c '[.class_uid,.metadata.log_version]')" '[6003,"writ-ocsf/1"]'
run writ audit export -C "$ws" --format xml
is "no such format" "$code" 2
run writ audit export -C "$ws" --out "$WRIT_PLACE/package"
is "a package is written" "$code" 0
run writ audit verify "$WRIT_PLACE/package" --key "$ws/audit.pub"
is "  and verifies" "$code" 0
hasnt "  without openings" "$(ls "$WRIT_PLACE/package")" openings
run writ audit export -C "$ws" --out "$WRIT_PLACE/package"
is "  but not over another one" "$code" 74

run writ audit report -C "$ws" --out "$WRIT_PLACE/report.html"
is "a report is written" "$code" 0
report=$(cat "$WRIT_PLACE/report.html")
has "  with its verdict" "$report" "<b>SIGNED</b>"
has "  who asked what" "$report" "$question"
hasnt "  and nothing from elsewhere" "$report" "http"
run writ audit verfy
has "a word close to a subcommand" "$err" "did you mean verify?"
done_testing
