# A program that hangs (here: is stopped) is ended and started again; whoever waits meanwhile gets
# an answer or an error, and nothing that was acknowledged is lost.
. tests/lib/tap.sh
question="How many orders are there?"
ws=$(fresh sales hang)
cat >>"$ws/writ.yaml" <<EOF
hang_after: 2s
audit: {sinks: {copy: {file: $ws.copy}}}
EOF
serve "$ws"
# The supervisor's own: a connector has children of the same name.
started() { pgrep -P "$service" -f "^$WRIT_PLACE/bin/$1 " || true; }
again() { now=$(started "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }
answered() { writ ask -C "$ws" "$question" --json 2>/dev/null | jq -e '.status == "completed"'; }
wait_for 20 answered
is "a question before all that" $? 0

for program in writ-orchestrator writ-broker writ-signer writ-sqlite writ-sink; do
	case $program in writ-sqlite) label=sales ;; writ-sink) label=copy ;; *) label=$program ;; esac
	pid=$(started $program)
	kill -STOP "$pid"
	(timeout 60 writ ask -C "$ws" "$question" --json >"$ws/out" 2>"$ws/err"; echo $? >"$ws/code") &
	asking=$!
	wait_for 30 again $program "$pid"
	is "$program hangs: another one is there" $? 0
	wait $asking
	said=$(cat "$ws/code")
	case $said in
	0) is "  a question meanwhile is answered" "$(jq -c '[.status,.rows[0][0]]' "$ws/out")" '["completed",9]' ;;
	1) isnt "  a question meanwhile ends with a reason" "$(jq -r '.reason // ""' "$ws/out")" "" ;;
	*) is "  a question meanwhile ends with an error" "$said" 3
		has "  that says what to do" "$(cat "$ws/err")" "writ status" ;;
	esac
	wait_for 20 answered
	is "  and the next one is answered" $? 0
	has "  the log of the service says it" "$(cat "$ws.log")" "$label has not answered for 2 s"
	run writ status -C "$ws" --json
	json "  writ status says it" "[.restarts[] | select(.program == \"$label\") | .why | contains(\"not answered for 2 s\")] | any" true
done
run writ status -C "$ws"
has "in words, too" "$out" "restarted     copy at "
stop_service
is "it stops cleanly" "$service_code" 0
run writ audit verify -C "$ws"
is "the log verifies" "$code" 0

# A signer that is away for longer, and comes back: calls are refused meanwhile, none is lost.
ws=$(fresh sales away)
echo "hang_after: 60s" >>"$ws/writ.yaml"
serve "$ws"
wait_for 20 answered
pid=$(started writ-signer)
kill -STOP "$pid"
(writ ask -C "$ws" "$question" --json >"$ws/out" 2>&1; echo $? >"$ws/code") &
asking=$!
is_waiting() { writ status -C "$ws" --json | jq -e '.audit.state == "waiting"'; }
wait_for 30 is_waiting
is "a signer that stays away: status says that the log waits" $? 0
run writ status -C "$ws"
has "  in words" "$out" "WAITING: the signer does not answer"
run timeout 30 writ ask -C "$ws" "$question" --json
isnt "  no new question is taken" "$code" 0
has "  and the reason is said" "$out$err" "the signer does not answer"
kill -CONT "$pid"
wait_for 20 again writ-signer "$pid"
is "  it finds itself given up, and another takes its place" $? 0
wait $asking
is "  who waited is answered in the end, or told" "$(case $(cat "$ws/code") in 0 | 1 | 3) echo yes ;; esac)" yes
wait_for 20 answered
is "  and the log goes on" $? 0
hasnt "  without having stopped" "$(writ status -C "$ws")" STOPPED
stop_service
run writ audit verify -C "$ws"
is "  and verifies" "$code" 0
done_testing
