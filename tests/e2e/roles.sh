# Started as root: each program runs as a user of its own and reaches what is its own alone; without
# such users nothing starts. Needs root, and the users that every Debian has.
. tests/lib/tap.sh
if [ -z "$owner" ]; then
	echo "1..0 # SKIP only root can give programs their users"
	exit 0
fi
question="How many orders are there?"
# The workspace of root, outside the folder that belongs to the owner of all others.
place=$(mktemp -d /tmp/writ-roles.XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
ws=$place/sales
cp -R "$WRIT_PLACE/examples/sales" "$ws"
chown -R root:root "$ws"
owner= # from here on root is the owner

# Somebody else's workspace, and one without roles.
theirs=$(owner="setpriv" fresh sales theirs)
run writ serve -C "$theirs"
is "root does not serve the workspace of somebody else" "$code" 3
has "  and says as whom to start it" "$err" "setpriv --reuid=65534"
is "  nothing of root is left in it" "$(find "$theirs" -user root)" ""
sed -i 's/^  anyone: .*/  root: {groups: [sales]}\n  daemon: {groups: [sales]}/' "$ws/writ.yaml"
run writ serve -C "$ws"
is "without roles root is refused" "$code" 3
has "  with the lines to add" "$err" "roles:
  broker: writ-broker
  orchestrator: writ-orchestrator"
has "  and the users to make" "$err" "useradd --system"
is "  before anything is written" "$(ls "$ws" | tr '\n' ' ')" "$(ls "$WRIT_PLACE/examples/sales" | tr '\n' ' ' | sed 's/scopes/run scopes/')"
run writ ask -C "$ws" "$question"
has "  also when it would start one for itself" "$err" "  signer: writ-signer"
printf 'roles: {broker: daemon, orchestrator: bin, signer: root, sqlite: sys}\n' >>"$ws/writ.yaml"
run writ serve -C "$ws"
has "root is no user of a program" "$err" "signer must not run as root"
sed -i 's/signer: root/signer: bin/' "$ws/writ.yaml"
run writ serve -C "$ws"
has "two programs do not share one" "$err" "need users of their own"

# With them, in a workspace that they can only pass through.
chmod 711 "$ws"
sed -i 's/signer: bin/signer: games/' "$ws/writ.yaml"
serve "$ws"
run writ ask -C "$ws" "$question" --json
json "with them questions are answered" '[.status,.rows[0][0]]' '["completed",9]'
status_of() { sed -n "s/^$2:[[:space:]]*//p" /proc/"$1"/status | tr '\t' ' '; }
# runs_as PROGRAM USER
runs_as() {
	id=$(id -u "$2") group=$(id -g "$2")
	for pid in $(pgrep -f "^$WRIT_PLACE/bin/$1 "); do
		is "$1 $pid is $2" "$(status_of "$pid" Uid)" "$id $id $id $id"
		is "  in its group" "$(status_of "$pid" Gid)" "$group $group $group $group"
		is "  and no other" "$(status_of "$pid" Groups | tr -d ' ')" ""
		for set in CapInh CapPrm CapEff CapBnd CapAmb; do
			is "  $set is empty" "$(status_of "$pid" $set)" 0000000000000000
		done
	done
}
runs_as writ-broker daemon
runs_as writ-orchestrator bin
runs_as writ-signer games
runs_as writ-sqlite sys
is "four programs, none as root" \
	"$(for pid in $(pgrep -f "^$WRIT_PLACE/bin/writ-"); do ps -o user= -p "$pid"; done | sort -u | tr '\n' ' ')" \
	"bin daemon games sys "

owns() { stat -c '%U:%G %a' "$ws/$1"; }
is "state/ is root's, to pass through" "$(owns state)" "root:root 711"
is "the configuration is root's, for the broker to read" "$(owns state/config)" "root:daemon 2750"
is "  and its policy" "$(owns state/config/policy)" "root:daemon 2750"
is "  and its files" "$(stat -c '%U:%G %a' "$ws"/state/config/*.json "$ws"/state/config/policy/* | sort -u)" "root:daemon 640"
is "the broker's folder" "$(owns state/broker)" "daemon:daemon 700"
is "the log is the broker's" "$(owns state/audit)" "daemon:daemon 700"
is "the keys are the signer's" "$(owns state/signer)" "games:$(id -gn games) 700"
is "the tasks are the orchestrator's" "$(owns state/tasks)" "bin:bin 700"
is "the public key is there for all" "$(stat -c %a "$ws/audit.pub")" 644
as() { as_user=$1; shift; setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" --clear-groups "$@"; }
# closed USER PATH: neither read nor listed nor written by that user
closed() {
	run as "$1" sh -c "cat '$ws/$2' || ls '$ws/$2/' || touch '$ws/$2' || touch '$ws/$2/x'"
	isnt "$1 has nothing of $2" "$code" 0
}
for path in state/signer state/signer/keys state/tasks state/tasks/tasks.db; do closed daemon $path; done
for path in state/audit state/audit/log.jsonl state/audit/checkpoint state/broker state/config state/tasks; do closed games $path; done
for path in state/signer state/audit state/broker state/config/users.json state/service.json; do closed bin $path; done
for path in state/signer state/audit state/broker state/config state/tasks state/service.json; do closed sys $path; done
run as daemon touch "$ws/state/config/policy/active"
isnt "the broker cannot write its policy" "$code" 0
run as daemon mv "$ws/state/signer" "$ws/state/x"
isnt "nor move a folder in state/" "$code" 0

# People, a reload, deaths, and the next start.
run as daemon writ ask -C "$ws" "$question" --json
json "a mapped user is answered" .status '"completed"'
run as games writ ask -C "$ws" "$question"
is "another is refused" "$code" 3
sed -i 's/^  daemon: .*/&\n  games: {groups: [sales]}/' "$ws/writ.yaml"
kill -HUP "$service"
games_answered() { as games writ ask -C "$ws" "$question" --json | jq -e '.status == "completed"'; }
wait_for 10 games_answered
is "a reload is the broker's to read" $? 0
is "  as root's file" "$(owns state/config/users.json)" "root:daemon 640"
for program in writ-broker writ-signer writ-sqlite writ-orchestrator; do
	pgrep -P "$service" -f "^$WRIT_PLACE/bin/$program " | xargs -r kill -KILL
	sleep 0.2
	wait_for 20 games_answered
	is "$program is started again" $? 0
done
runs_as writ-signer games
stop_service
is "it stops cleanly" "$service_code" 0
run writ audit verify -C "$ws"
is "the log verifies" "$code" 0
run writ ask -C "$ws" "$question" --json
json "root's own question starts one for itself" .status '"completed"'
wait_for 10 sh -c "! pgrep -f '^$WRIT_PLACE/bin/writ-' >/dev/null"
run writ audit verify -C "$ws"
is "  and goes on in the same log" "$code" 0

# What is somebody else's is not taken over; users without root are not ignored.
chown mail "$ws/state/tasks"
run writ serve -C "$ws"
is "a folder of somebody else is refused" "$code" 3
has "  with its name and the command" "$err" "tasks belongs to user $(id -u mail)"
chown bin "$ws/state/tasks"
cp -R "$ws" "$WRIT_PLACE/copy"
rm -rf "$WRIT_PLACE/copy/state" "$WRIT_PLACE/copy/run" "$WRIT_PLACE/copy/audit.pub"
chown -R 65534:65534 "$WRIT_PLACE/copy"
run setpriv --reuid=65534 --regid=65534 --clear-groups writ serve -C "$WRIT_PLACE/copy"
is "roles without root are not ignored" "$code" 3
has "  which is said" "$err" "only root can become"
done_testing
