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
run writ task list -C "$ws" --limit 0
is "a page has a size" "$code" 2
run writ ask -C "$ws" "How many orders are there?" --json
run writ task list -C "$ws" --limit 1
has "a cut list says how it goes on" "$err" "writ task list --before $(printf '%s' "$out" | awk 'NR==2 {print $1}')"
run writ task list -C "$ws" --limit 1 --before "$(writ task list -C "$ws" --limit 1 --json | jq -r .next)" --json
json "the next page has the one before" '[.tasks[0].task, .next]' "[\"$task\",null]"
# A fifth question waits while four calls of the same person run.
runaway='{"sql":"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"}'
callers=
for i in 1 2 3 4; do
	writ call -C "$ws" --agent sales-query-01 run_query "$runaway" >/dev/null 2>&1 &
	callers="$callers $!"
done
until_json() { # FILTER: of the command behind it, within ten seconds
	filter=$1; shift; tries=0
	until [ "$("$@" | jq "$filter")" = true ] || [ $tries -ge 100 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	[ $tries -lt 100 ]
}
until_json '.calls == 4' writ status -C "$ws" --json
writ ask -C "$ws" "How many orders are there?" --json >"$ws.queued" 2>/dev/null &
asker=$!
until_json '.tasks[0].status == "queued"' writ task list -C "$ws" --json
is "a task that waits is listed as queued" "$?" 0
queued=$(writ task list -C "$ws" --json | jq -r '.tasks[0].task')
run writ task show "$queued" -C "$ws"
has "and shown" "$out" "$queued: queued"
run writ status -C "$ws" --json
json "and counted" '.orchestrator.tasks_queued' 1
run writ task cancel "$queued" -C "$ws"
is "and cancelled" "$code" 0
wait "$asker"
is "whoever asked is told why" "$(jq -r '.status + ": " + .reason' "$ws.queued")" "cancelled: cancelled on request"
run writ task show "$queued" -C "$ws" --json
json "and the task says so" '[.task.status, .answer.reason]' '["cancelled","cancelled on request"]'
# shellcheck disable=SC2086 # a list of ids on purpose
kill $callers
until_json '.calls == 0' writ status -C "$ws" --json
is "what was called has stopped" "$?" 0
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
has "  which is said" "$(cat "$ws.log")" "reload: the files have no mistakes"
has "as is that it serves" "$(cat "$ws.log")" "serving "
echo "rules: [" >>"$ws/scopes/sales.yaml"
kill -HUP "$service"; sleep 0.5
has "a broken file is refused with its place" "$(cat "$ws.log")" "scopes/sales.yaml:"
run writ ask -C "$ws" "How many orders are there?" --json
json "and the last good policy stays" .status '"completed"'
stop_service
is "SIGTERM stops it cleanly" "$service_code" 0
run $owner writ status -C "$ws"
has "its owner is then told how to start it" "$err" "start it with: writ serve -C"
is "with the signed tail in place" "$(ls "$ws/state/audit/tail" 2>/dev/null)" "$ws/state/audit/tail"
run writ audit verify -C "$ws"
is "and a log that verifies" "$code" 0
done_testing
