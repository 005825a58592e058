# The supervisor against programs that do not behave: one that crashes at once, one that does not
# end when told to, and callers whose pipes and umask it must not keep.
. tests/lib/tap.sh
question="How many orders are there?"
real=$WRIT_PLACE/bin/writ-sqlite
long=300.$$ # seconds, and ours alone
mv "$real" "$WRIT_PLACE/writ-sqlite.real"
# become SCRIPT: what writ-sqlite is from now on, in one step
become() {
	printf '#!/bin/sh\n%s\n' "$1" >"$real.new"
	chmod 755 "$real.new"
	mv "$real.new" "$real"
}
mine() { pgrep -P "$service" -f "$1" || true; }
replaced() { now=$(mine "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }

# A connector that crashes at each start waits longer each time; nobody waits with it.
become 'exit 1'
ws=$(fresh sales crash)
serve "$ws"
waits_long() { [ "$(grep -c '^.*sales ended with exit code 1' "$ws.log")" -ge 7 ]; }
wait_for 30 waits_long
is "a connector that crashes is started again and again" $? 0
broker=$(mine writ-broker)
for program in writ-signer writ-orchestrator; do
	pid=$(mine $program)
	crashes=$(grep -c 'sales ended' "$ws.log")
	kill -KILL "$pid"
	wait_for 20 replaced $program "$pid"
	is "$program is started again" "$(grep -c 'sales ended' "$ws.log") after $crashes" \
		"$crashes after $crashes"
done
is "the broker stayed" "$(mine writ-broker)" "$broker"
ticks() { awk '{print $14 + $15}' /proc/"$service"/stat; }
before=$(ticks)
sleep 1
is "the supervisor sleeps meanwhile" "$([ $(($(ticks) - before)) -le 20 ]; echo $?)" 0
run writ ask -C "$ws" "$question" --json
isnt "questions are answered, with what is missing" "$(printf '%s' "$out" | jq -r .status)" completed
stop_service
is "it stops cleanly" "$service_code" 0

# One that ignores SIGTERM and the end of its channel is killed, and the service goes on.
become "trap '' TERM; exec sleep $long"
ws=$(fresh sales stubborn)
serve "$ws"
stubborn=$(mine "sleep $long")
broker=$(mine writ-broker)
become "exec $WRIT_PLACE/writ-sqlite.real \"\$@\""
kill -KILL "$broker"
wait_for 30 replaced writ-broker "$broker"
is "after the broker's death everything starts again" $? 0
is "  without who did not end" "$(ps -o pid= -p "$stubborn")" ""
has "  which is said" "$(cat "$ws.log")" "sales did not end when told to"
kill -HUP "$service" # its tables were not known at the start, and are now
answered() { writ ask -C "$ws" "$question" --json | jq -e '.status == "completed"'; }
wait_for 20 answered
is "  and questions are answered" $? 0
become "trap '' TERM; exec sleep $long"
kill -KILL "$(mine writ-sqlite)"
wait_for 20 pgrep -P "$service" -f "sleep $long"
stop_service
is "SIGTERM stops the service in spite of it" "$service_code" 0
is "  and nothing is left" "$(pgrep -f "^$WRIT_PLACE/bin/writ-"; pgrep -f "^sleep $long")" ""

# A broker that hangs is not waited for without end.
become "exec $WRIT_PLACE/writ-sqlite.real \"\$@\""
ws=$(fresh sales hangs)
serve "$ws"
broker=$(mine writ-broker)
kill -STOP "$broker"
kill -KILL "$(mine writ-signer)"
wait_for 40 replaced writ-broker "$broker"
is "a broker that hangs is replaced" $? 0
wait_for 20 answered
is "  and questions are answered" $? 0
stop_service

# Reading the files again may hang as well: nobody waits for it.
ws=$(fresh sales slow)
serve "$ws"
yes '# nothing but a line of words, so that reading this takes a while' | head -c 900000 >"$ws/comment"
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	{ cat "$ws/comment"; echo "writ: 1"; echo "scope: s$n"; } >"$ws/scopes/s$n.yaml"
done
rm "$ws/comment"
kill -HUP "$service"
wait_for 10 sh -c "pgrep -P $service -x writ | xargs -r kill -STOP && pgrep -P $service -x writ | xargs -r ps -o stat= -p | grep T"
is "reading the files again is stopped half-way" $? 0
kill -KILL "$(mine writ-orchestrator)"
wait_for 20 answered
is "  what dies meanwhile is started again, and questions are answered" $? 0
kill -HUP "$service"
rm "$ws"/scopes/s[0-9]*.yaml
sed -i 's/^  anyone: .*/  anyone: {groups: [nothing]}\n  uid-4242: {groups: [sales]}/' "$ws/writ.yaml"
pgrep -P "$service" -x writ | xargs -r kill -KILL
refused() { writ ask -C "$ws" "$question" --json | jq -e '.status == "refused"'; }
wait_for 20 refused
is "  a second SIGHUP meanwhile is carried out after it" $? 0
kill -HUP "$service"
stop_service
is "SIGTERM is obeyed at once after SIGHUP" "$service_code" 0

# What the caller of `writ ask` holds is not kept by the service that others have joined.
ws=$(fresh sales pipes)
mcp() { writ mcp -C "$ws" --agent sales-query-01 2>/dev/null; }
{ { sleep 2 | mcp; } 3>&1 4>&1 | cat >/dev/null; echo ended >"$ws.first"; } &
wait_for 20 pgrep -f "^$WRIT_PLACE/bin/writ-orchestrator"
sleep $long 2>/dev/null | mcp >/dev/null 2>&1 3>&- &
wait_for 20 sh -c "test \$(pgrep -f '^writ mcp -C $ws ' | wc -l) -ge 2"
wait_for 20 test -s "$ws.first"
is "the first caller's pipes are closed" $? 0
isnt "  while the service goes on for another" "$(pgrep -f "^$WRIT_PLACE/bin/writ-orchestrator")" ""
pgrep -f "^sleep $long" | xargs -r kill
wait_for 20 sh -c "! pgrep -f '^$WRIT_PLACE/bin/writ-' >/dev/null"
is "  and ends after that" $? 0

# A careful umask of the caller shuts nobody out who is mapped, nor an auditor.
ws=$(fresh sales umask)
(umask 077; writ ask -C "$ws" "$question" >/dev/null)
is "run/ can be passed through by others" "$(stat -c %a "$ws/run")" 711
is "audit.pub can be read by auditors" "$(stat -c %a "$ws/audit.pub")" 644
is "state/ stays closed" "$(stat -c %a "$ws/state")" 700
done_testing
