# SIGKILL to any program at any moment: no hang, no zombie, a log that verifies, and on it goes.
. tests/lib/tap.sh
ws=$(fresh sales kill)
serve "$ws"
children() { pgrep -f "^$WRIT_PLACE/bin/$1 " || true; }
# The supervisor's own: a connector has children of the same name.
started() { pgrep -P "$service" -f "^$WRIT_PLACE/bin/$1 " || true; }
again() { now=$(started "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }
for program in writ-signer writ-sqlite writ-orchestrator writ-broker; do
	pid=$(started $program)
	kill -KILL "$pid"
	wait_for 10 again $program "$pid"
	is "$program is started again" $? 0
	ok=1
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		run writ ask -C "$ws" "How many orders are there?" --json
		[ "$code" = 0 ] && { ok=0; break; }
		sleep 0.2
	done
	is "  and questions are answered again" "$ok" 0
	has "  the log says who died" "$(cat "$ws.log")" "$(case $program in writ-sqlite) echo sales ;; *) echo $program ;; esac) was ended by signal 9"
done
is "no zombies" "$(ps -o stat= --ppid "$service" | grep -c Z)" 0
for program in writ-broker writ-signer writ-sqlite writ-orchestrator; do
	(writ ask -C "$ws" "Which regions had the highest net sales last quarter?" --json >"$ws/mid.out" 2>&1; echo $? >"$ws/mid.code") &
	sleep 0.02
	children $program | xargs -r kill -KILL
	wait_for 30 test -s "$ws/mid.code"
	is "killed mid-question ($program): an end, not a hang" $? 0
	rm -f "$ws/mid.code"
done
wait_for 20 writ ask -C "$ws" "How many orders are there?"
is "and in the end questions are answered, by the same service" $? 0
kill -KILL "$service"
wait "$service" 2>/dev/null
service=
wait_for 10 sh -c "! pgrep -f '^$WRIT_PLACE/bin/writ-' >/dev/null"
is "without its supervisor every program ends" $? 0
run writ audit verify -C "$ws"
is "the log verifies" "$code" 0
run writ ask -C "$ws" "How many orders are there?" --json
json "the next start goes on by itself" '[.status,.rows[0][0]]' '["completed",9]'
run writ audit verify -C "$ws"
is "and still verifies" "$code" 0
done_testing
