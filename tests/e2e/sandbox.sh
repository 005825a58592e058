# What each program is once it runs: no capability, filtered system calls in every thread, nobody
# may trace it, no descriptor and no word of environment that it does not need.
. tests/lib/tap.sh
ws=$(fresh sales sandbox)
WRIT_CANARY=canary AWS_SECRET_ACCESS_KEY=canary
export WRIT_CANARY AWS_SECRET_ACCESS_KEY
serve "$ws"
run $owner writ ask -C "$ws" "How many orders are there?" --json
json "the service answers" .status '"completed"'

# Somebody is connected and has an agent with a token while we look.
sleep 60 2>/dev/null | $owner writ mcp -C "$ws" --agent sales-query-01 >/dev/null 2>&1 &
connection=$!
pids() { pgrep -f "^$WRIT_PLACE/bin/$1 " || true; }
sleep 1

field() { sed -n "s/^$2:[[:space:]]*//p" "$1" 2>/dev/null; }
is "one broker" "$(pids writ-broker | wc -l)" 1
is "one signer" "$(pids writ-signer | wc -l)" 1
is "a connector and its workers" "$([ "$(pids writ-sqlite | wc -l)" -ge 2 ]; echo $?)" 0
is "one orchestrator" "$(pids writ-orchestrator | wc -l)" 1
for program in writ-broker writ-signer writ-sqlite writ-orchestrator; do
	for pid in $(pids $program); do
		bad=
		for status in /proc/"$pid"/task/*/status; do
			[ "$(field "$status" Seccomp)" = 2 ] || bad="$bad Seccomp"
			[ "$(field "$status" NoNewPrivs)" = 1 ] || bad="$bad NoNewPrivs"
			for set in CapInh CapPrm CapEff CapAmb; do
				[ "$(field "$status" $set)" = 0000000000000000 ] || bad="$bad $set"
			done
		done
		is "$program $pid: every thread is filtered and holds no capability" "$bad" ""
		is "  no core dump" "$(awk '/^Max core file size/ {print $5, $6}' /proc/"$pid"/limits)" "0 0"
	done
done
is "the broker has a pool of threads, so that says something" \
	"$([ "$(ls /proc/"$(pids writ-broker)"/task | wc -l)" -gt 1 ]; echo $?)" 0

# The same user from outside: nothing can be read out of them, and nobody can attach.
reach() { $owner sh -c "$1" 2>&1; }
for program in writ-broker writ-signer writ-sqlite writ-orchestrator; do
	pid=$(pids $program | head -n 1)
	for file in environ maps fd; do
		has "$program: /proc/PID/$file is closed to its own user" \
			"$(reach "ls /proc/$pid/$file/ && cat /proc/$pid/$file")$(reach "cat /proc/$pid/$file")" \
			"ermission denied"
	done
	has "$program: its memory cannot be opened" "$(reach "head -c 1 /proc/$pid/mem")" "ermission denied"
done
$owner sleep 30 &
plain=$!
attach() { $owner timeout 2 strace -p "$1" 2>&1; }
case $(attach $plain) in
*attached*)
	for program in writ-broker writ-signer writ-sqlite writ-orchestrator; do
		has "$program: nobody attaches to it" "$(attach "$(pids $program | head -n 1)")" "Operation not permitted"
	done
	;;
*) skip "nobody may attach even to an ordinary process here" ;;
esac
kill $plain

# Only root sees the rest.
if [ -z "$owner" ]; then
	skip "descriptors and environment: only root can look"
	done_testing
fi

# One line per descriptor: number, and what it is, without what differs each time.
descriptors() {
	for fd in /proc/"$1"/fd/*; do
		printf '%s %s\n' "${fd##*/}" "$(readlink "$fd" | sed -e "s|^$ws/||" -e 's/:\[[0-9]*\]$//')"
	done | sort -n
}
# only NAME PID PATTERN: all descriptors of it but null, null, log and its channel
only() {
	is "$1: 0, 1, 2" "$(descriptors "$2" | sed -n '1,3p' | tr '\n' ' ')" "0 /dev/null 1 /dev/null 2 $ws.log "
	is "$1: nothing but what docs/protocol.md gives it" \
		"$(descriptors "$2" | sed 1,3d | sed 's/^[0-9]* //' | grep -vxE "$3")" ""
}
loop='anon_inode:\[eventpoll\]|anon_inode:\[eventfd\]|pipe'
only "broker" "$(pids writ-broker)" \
	"socket|$loop|/etc/passwd|state/config|state/audit|state/audit/seg|state/audit/seg/[0-9]{20}\.jsonl|state/audit/(LOCK|openings\.db(-wal|-shm)?)|state/broker/broker\.db(-wal|-shm)?"
only "signer" "$(pids writ-signer)" socket
is "signer: one channel alone" "$(descriptors "$(pids writ-signer)" | tail -n 1)" "3 socket"
only "orchestrator" "$(pids writ-orchestrator)" "socket|$loop|state/tasks/tasks\.db(-wal|-shm)?"
frame=$(pgrep -P "$service" -f "^$WRIT_PLACE/bin/writ-sqlite ")
only "connector" "$frame" "socket|$loop"
for worker in $(pgrep -P "$frame"); do
	only "worker" "$worker" "socket|data/sales\.db(-journal|-wal|-shm)?"
	is "worker: one channel" "$(descriptors "$worker" | grep -c socket)" 1
done

# The supervisor passes channels on and keeps none: what is left is the listening socket and its
# end of the control lane, as many as before anybody connected.
is "supervisor: two sockets" "$(descriptors "$service" | grep -c ' socket$')" 2
is "supervisor: one of them listens" \
	"$(for fd in /proc/"$service"/fd/*; do readlink "$fd"; done | sed -n 's/^socket:\[\(.*\)\]$/\1/p' |
		while read -r inode; do awk -v i="$inode" '$7 == i {print $8}' /proc/net/unix; done)" \
	"/proc/self/fd/$(descriptors "$service" | sed -n 's/ run$//p' | tail -n 1)/writ.sock"
# Less what this shell was started with itself.
is "supervisor: else folders of the workspace, lock, log and signals" \
	"$(descriptors "$service" | sed 1d | sed 's/^[0-9]* //' |
		grep -vxE "socket|anon_inode:\[signalfd\]|$ws|run|run/lock|/dev/null|$ws\.log|pipe" |
		grep -vxF "$(descriptors $$ | sed 's/^[0-9]* //')")" ""

for pid in $(pids writ-broker) $(pids writ-signer) $(pids writ-sqlite) $(pids writ-orchestrator); do
	is "environment of $(tr '\0' ' ' </proc/"$pid"/cmdline | sed 's/ .*//; s/.*\///')" \
		"$(tr '\0' '\n' </proc/"$pid"/environ | sed 's/=.*//' | grep -vxE 'WRIT_LOG|TZDIR')" ""
	hasnt "  no canary in it" "$(tr '\0' ' ' </proc/"$pid"/environ)" canary
done
has "(the canary was there to be passed on)" "$(tr '\0' ' ' </proc/"$service"/environ)" canary
kill "$connection" 2>/dev/null
done_testing
