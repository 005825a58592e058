# What auditors do through the running service: anchor, redact, hold, read.
. tests/lib/tap.sh
ws=$(fresh sales through)
serve "$ws"
question="Which regions had the highest net sales last quarter?"
run writ ask -C "$ws" "$question" --json
task=$(printf '%s' "$out" | jq -r .task)
close=$(printf '%s' "$out" | jq -r '.audit.records[-1]')
log=$ws/state/audit

run writ audit anchor -C "$ws" --file "$WRIT_PLACE/elsewhere.head"
is "the head goes into a file" "$code" 0
run writ audit anchor -C "$ws" --command "sha256sum -"
is "and to a command" "$code" 0
has "  whose reply is kept" "$(tail -1 "$log/anchors.log")" '"reply":"'
run writ audit anchor -C "$ws" --command "false"
is "a command that fails is no anchor" "$code" 3
run writ audit verify "$log" --key "$ws/audit.pub" --live --checkpoint "$WRIT_PLACE/elsewhere.head" --anchored-within 1h
is "the log is anchored" "$code" 0

run writ audit show -C "$ws" --service --task "$task"
is "a task is read through the service" "$code" 0
has "  as from the files" "$out" "call run_query: allow"
has "  and the reading is recorded" "$(writ audit show -C "$ws" --event read)" "read"

run writ audit show -C "$ws" --task "$task"
has "the answer can be opened" "$out" "question: $question"
run writ audit redact -C "$ws" "$close" --name question --reason "asked for by the person"
is "it is erased" "$code" 0
run writ audit redact -C "$ws" "$close" --name question --reason "again"
has "  once" "$out" "was not there"
run writ audit verify "$log" --key "$ws/audit.pub" --live --json
json "the chain stands; the erased value is counted as such" '[.exit_code, .openings.redacted, .openings.missing]' '[0,1,0]'
run writ audit redact -C "$ws" x --name question --reason y
is "a record that is no number" "$code" 2
run writ audit hold -C "$ws" case-7 --reason "a lawsuit" --from 0 --to 10
is "records are held" "$code" 0
run writ audit hold -C "$ws" case-7 --reason "settled" --lift
is "  and let go" "$code" 0
stop_service
run writ audit verify -C "$ws" --checkpoint "$WRIT_PLACE/elsewhere.head"
is "after the stop all of it verifies" "$code" 0
rm "$log"/openings.db*
run writ audit verify -C "$ws"
has "without the openings their number is said" "$out" "commitments stay closed"
is "  and the log is as good" "$code" 0
done_testing
