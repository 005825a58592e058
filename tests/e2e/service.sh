# The service over time: status, tasks, tokens, a second service, a clean stop.
. tests/lib/tap.sh
ws=$(fresh sales service)
run writ status -C "$ws"
is "no service: said plainly" "$code" 3
has "  with the command that starts one" "$err" "writ serve"
serve "$ws"
run writ serve -C "$ws"
is "a second service refuses" "$code" 75
run writ status -C "$ws" --json
is "status" "$code" 0
json "policy is named by its hash" '.policy.digest | test("^[0-9a-f]{64}$")' true
json "the connector is up" '[.connectors[]|[.name,.state]]' '[["sales","up"]]'
json "the signer is up" .signer '"up"'
json "every program is confined" '.orchestrator.sandbox' '"full"'
run writ ask -C "$ws" "Who are our best customers?" --json
task=$(printf '%s' "$out" | jq -r .task)
run writ task list -C "$ws" --json
json "the task is listed" '.tasks[0].status' '"needs_input"'
run writ task show "$task" -C "$ws" --json
json "and shown with its question" '.answer.question.parts | length' 2
run writ task show no-such-task -C "$ws"
is "an unknown task" "$code" 2
run writ task cancel "$task" -C "$ws"
isnt "an ended task cannot be cancelled" "$code" 0
run writ token list -C "$ws" --json
json "tokens are listed" '.tokens | length > 0' true
json "no token text is shown" '[.tokens[]|has("token")]|any' false
run writ token revoke --agent sales-query-01 --cause "a test" -C "$ws"
isnt "revoking says how many" "$out" ""
run writ ask -C "$ws" "How many orders are there?" --trace
for event in handoff token call result; do has "the trace shows each $event" "$err" "$event"; done
kill -HUP "$service"; sleep 0.3
run writ ask -C "$ws" "How many orders are there?" --json
json "a reload keeps it answering" .status '"completed"'
echo "rules: [" >>"$ws/scopes/sales.yaml"
kill -HUP "$service"; sleep 0.5
has "a broken file is refused with its place" "$(cat "$ws.log")" "scopes/sales.yaml:"
run writ ask -C "$ws" "How many orders are there?" --json
json "and the last good policy stays" .status '"completed"'
stop_service
is "SIGTERM stops it cleanly" "$service_code" 0
is "with the signed tail in place" "$(ls "$ws/state/audit/tail" 2>/dev/null)" "$ws/state/audit/tail"
run writ audit verify -C "$ws"
is "and a log that verifies" "$code" 0
done_testing
