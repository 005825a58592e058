# People's programs that break the rules: each costs its own connection and nobody else's.
. tests/lib/tap.sh
memory_kb=$((131072 * ${WRIT_MEMORY_FACTOR:-1})) # sanitizers keep freed memory for a while
ulimit -Sn 1024 # as on many machines; the service must have room for its 512 sessions all the same
ws=$(fresh sales client)
serve "$ws"
double() { run timeout 60 $owner "$WRIT_TESTS/client_double" "$ws/run/writ.sock" "$@"; }
question="How many orders are there?"
works() {
	run $owner writ ask -C "$ws" "$question" --json
	is "$1" "$(printf '%s' "$out" | jq -c '[.status,.rows[0][0]]')" '["completed",9]'
}
programs() { pgrep -P "$service" | sort; }
rss_kb() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/"$(pgrep -P "$service" -f "^$WRIT_PLACE/bin/$1 ")"/status; }
works "a question before all that"
before=$(programs)

double garbage
isnt "garbage: the double ran" "$(printf '%s\n' "$out" | grep -c '^closed: ')" 0
is "  and every such connection was closed" "$(printf '%s\n' "$out" | grep -v '^closed: ')" ""
works "  others are answered"
double long
is "a line without end: closed" "$out" closed
double half
is "half a line" "$out" left
works "  others are answered"

# What belongs to other channels, or names another user.
for method in task.open agent.start token.issue tool.call task.close attach reload execute token.sign; do
	double say "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{}}"
	has "$method is no method of a person" "$out" "no method"
done
double say '{"jsonrpc":"2.0","id":1,"method":"ask","params":{"question":"x","user":"root"}}'
has "nobody can name a user" "$out" 'unknown member \"user\"'
double say '{"jsonrpc":"2.0","id":1,"method":"ask","params":{"question":7}}'
has "a question must be a text" "$out" '"kind":"invalid"'
double say '{"jsonrpc":"2.0","id":1,"method":"task.show","params":{"task":"'"'"' OR 1=1 --"}}'
has "no SQL is built from a task's id" "$out" '"kind":"not_found"'
works "  others are answered"

# Asking much and reading nothing: not read from any more, and memory stays where it was.
(timeout 60 $owner "$WRIT_TESTS/client_double" "$ws/run/writ.sock" slow >"$WRIT_PLACE/slow.out" 2>&1) &
slow=$!
wait_for 30 test -s "$WRIT_PLACE/slow.out"
is "who reads nothing is not read from" "$(cat "$WRIT_PLACE/slow.out")" "no more is taken"
works "  while others are answered"
is "  the orchestrator holds under 128 MiB" "$([ "$(rss_kb writ-orchestrator)" -lt "$memory_kb" ]; echo $?)" 0
is "  the broker as well" "$([ "$(rss_kb writ-broker)" -lt "$memory_kb" ]; echo $?)" 0
wait $slow

sessions_are() { [ "$($owner writ status -C "$ws" --json | jq .sessions)" = "$1" ]; }
wait_for 10 sessions_are 1
is "  and is forgotten when it leaves" $? 0

# Many at once: a bound per user, a reason, and room for others.
(timeout 60 $owner "$WRIT_TESTS/client_double" "$ws/run/writ.sock" many 200 >"$WRIT_PLACE/many.out" 2>&1) &
many=$!
wait_for 30 test -s "$WRIT_PLACE/many.out"
is "200 connections of one user" "$(cat "$WRIT_PLACE/many.out")" "64 let in, 136 refused"
run $owner writ ask -C "$ws" "$question"
is "  another one of that user is told why" "$code" 3
has "  in words" "$err" "too many sessions"
if [ -n "$owner" ]; then
	run setpriv --reuid=1 --regid=1 --clear-groups writ ask -C "$ws" "$question" --json
	json "  another user is answered" .status '"completed"'
else
	skip "only root can ask as another user"
fi
wait $many
wait_for 10 $owner writ status -C "$ws"
works "  and afterwards everyone"

# Eight users take all there is; nobody else gets in, and those inside still work.
if [ -n "$owner" ]; then
	holders=
	for uid in 3001 3002 3003 3004 3005 3006 3007 3008; do
		timeout 60 setpriv --reuid=$uid --regid=$uid --clear-groups "$WRIT_TESTS/client_double" \
			"$ws/run/writ.sock" many 66 30 >"$WRIT_PLACE/many.$uid" 2>&1 &
		holders="$holders $!"
	done
	all_told() { [ "$(cat "$WRIT_PLACE"/many.3* | wc -l)" = 8 ]; }
	wait_for 30 all_told
	is "8 users get 64 sessions each, with a bound of 1,024 descriptors for whoever starts it" \
		"$(cat "$WRIT_PLACE"/many.3* | sort -u)" "64 let in, 2 refused"
	run setpriv --reuid=3009 --regid=3009 --clear-groups writ ask -C "$ws" "$question"
	is "  a ninth is told" "$code" 3
	has "  what is the matter" "$err" "all 512 of this service are taken"
	has "  and what to do" "$err" "try again in a moment"
	kill $holders 2>/dev/null
	wait $holders 2>/dev/null
	wait_for 30 sessions_are 1
	is "  and all are forgotten when they leave" $? 0
	works "  afterwards everyone is answered"
else
	skip "only root can be eight users"
fi

double asks 20
has "20 questions at once: none is lost" "$out $err" ", 0 otherwise"
isnt "  and some are answered" "${out%% *}" 0
double leave 40
is "40 who ask and leave" "$out" left
wait_for 20 $owner writ ask -C "$ws" "$question"
works "  leave nothing that is in the way"

is "every program is still the same" "$(programs)" "$before"
is "no zombies" "$(ps -o stat= --ppid "$service" | grep -c Z)" 0
stop_service
is "it stops cleanly" "$service_code" 0
run $owner writ audit verify -C "$ws"
is "and the log verifies" "$code" 0
done_testing
