# Copies of the log: a file that follows it line by line, a place that is down, and segments by
# writ.yaml.
. tests/lib/tap.sh
ws=$(fresh sales sinks)
copy=$WRIT_PLACE/copies
mkdir -p "$copy"
cat >>"$ws/writ.yaml" <<END
audit:
  segment: 8KiB
  sinks:
    copy: {file: $copy/audit.jsonl}
    siem: {syslog: $copy/socket}
END
serve "$ws"
run writ ask -C "$ws" "Which regions had the highest net sales last quarter?" --json
is "a question is answered while a sink is down" "$code" 0
for i in 1 2 3; do writ ask -C "$ws" "How many orders are there?" >/dev/null 2>&1; done
segments() { ls "$ws"/state/audit/seg/*.jsonl | wc -l; }
has "the log has several segments" "$([ "$(segments)" -gt 2 ] && echo several)" several
same() { cat "$ws"/state/audit/seg/*.jsonl | cmp -s - "$copy/audit.jsonl"; }
wait_for 10 same
is "the copy is the log, byte by byte" "$?" 0
down() { writ status -C "$ws" --json | jq -e '.sinks[]|select(.name=="siem")|.state=="down"'; }
wait_for 10 down
is "status says which sink is down" "$?" 0
has "  and the log, once" "$(cat "$ws"/state/audit/seg/*.jsonl | grep -c '"ev":"sink.fail".*"sk":"siem".*"st":"down"')" 1
# The copy's process dies at its worst: what follows is sent again, nothing is missed.
pid=$(pgrep -f "writ-sink $ws copy" | head -n 1)
kill -9 "$pid"
writ ask -C "$ws" "How many orders are there?" >/dev/null 2>&1
complete() { [ "$(sort -u "$copy/audit.jsonl" | wc -l)" = "$(cat "$ws"/state/audit/seg/*.jsonl | wc -l)" ]; }
wait_for 20 complete
is "after its death the copy is whole" "$?" 0
rm "$copy/audit.jsonl"
writ ask -C "$ws" "How many orders are there?" >/dev/null 2>&1
again() { [ -s "$copy/audit.jsonl" ]; }
wait_for 10 again
is "a file that was moved away is made anew" "$?" 0
stop_service
run writ audit verify -C "$ws"
is "the log verifies" "$code" 0
(cd "$ws/state/audit" && sha256sum --quiet -c SHA256SUMS)
is "sealed segments have the sums of SHA256SUMS" "$?" 0
done_testing
