# People of one machine at one service: who they are is read from the socket, and nobody reaches
# what belongs to another.
. tests/lib/tap.sh
if [ -z "$owner" ]; then
	echo "1..0 # SKIP only root can act as several users"
	exit 0
fi
as() { as_uid=$1; shift; setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups --inh-caps=-all "$@"; }
writ_owner() { $owner writ "$@"; }
# daemon and bin are on every machine; 65533 has no name.
alice=$(id -u daemon) bob=$(id -u bin) nobody=65533
ws=$(fresh sales users)
# An owner who is not mapped looks after the service, and asks nothing.
sed -i 's/^  anyone: .*/  daemon: {groups: [sales]}/' "$ws/writ.yaml"
serve "$ws"
run as $alice writ ask -C "$ws" "How many orders are there?" --json
json "somebody asks" .status '"completed"'
run writ_owner status -C "$ws" --json
json "an owner who is not mapped sees the status" '.connectors[0].state' '"up"'
run writ_owner task list --all -C "$ws" --json
json "  everyone's tasks" '.tasks | length' 1
run writ_owner token list -C "$ws" --json
json "  and tokens" '[.tokens[].user] | unique' '["daemon"]'
run writ_owner token revoke --agent sales-query-01 --cause "a test" -C "$ws"
is "  and may take authority away, of which none is left" "$code $err" "1 "
run writ_owner ask -C "$ws" "How many orders are there?" --json
json "  but asks nothing" .status '"refused"'
has "  and is told the lines to add" "$(printf '%s' "$out" | jq -r .reason)" "  nobody: {groups: []}"
run writ_owner call -C "$ws" --agent sales-query-01 list_tables '{}'
isnt "  nor tries calls out" "$code" 0
has "  with the same lines" "$err" "  nobody: {groups: []}"
sed -i 's/^  daemon: /  nobody: {groups: [sales]}\n&/' "$ws/writ.yaml"
kill -HUP "$service"
owner_answered() { writ_owner ask -C "$ws" "How many orders are there?" --json | jq -e '.status == "completed"'; }
wait_for 10 owner_answered
is "  and after adding them is answered" $? 0
stop_service
rm -rf "$ws"
ws=$(fresh sales users)
# The owner as well is a user like others: with no group, without data.
sed -i 's/^  anyone: .*/  nobody: {groups: []}\n  daemon: {groups: [sales]}/' "$ws/writ.yaml"
serve "$ws"

is "state/ is closed" "$(stat -c %a "$ws/state")" 700
is "its folders as well" "$(stat -c %a "$ws"/state/*/ | sort -u)" 700
run as $alice cat "$ws/state/config/users.json"
isnt "nobody else reads in it" "$code" 0
run as $alice ls "$ws/run"
isnt "nor looks around in run/" "$code" 0

# Who is not mapped.
run as $bob writ ask -C "$ws" "How many orders are there?"
is "somebody who is not mapped is refused" "$code" 3
has "  with who they are" "$err" "bin (uid $bob)"
has "  and the lines to add" "$err" "users:"
has "  ready to paste" "$err" "  bin: {groups: []}"
run as $nobody writ status -C "$ws"
has "somebody without a name as well" "$err" "  uid-$nobody: {groups: []}"
hasnt "  who learns nothing else" "$err$out" "sales-query"

# Who is.
run as $alice writ ask -C "$ws" "How many orders are there?" --json
json "a mapped user is answered" '[.status,.rows[0][0]]' '["completed",9]'
mine=$(printf '%s' "$out" | jq -r .task)
run writ_owner ask -C "$ws" "How many orders are there?" --json
is "the owner without a group gets no data" "$(printf '%s' "$out" | jq -r .status)" refused
run writ_owner ask -C "$ws" "Who are our best customers?" --json
theirs=$(printf '%s' "$out" | jq -r .task)
run as $alice writ task list -C "$ws" --json
json "a user sees their own tasks" '[.tasks[].task]' "[\"$mine\"]"
run as $alice writ task list --all -C "$ws" --json
hasnt "  and no more when asking for all" "$out" "$theirs"
run as $alice writ task show "$theirs" -C "$ws"
isnt "the task of another cannot be shown" "$code" 0
another=$err
run as $alice writ task show "t-01a22f1f-0000-7000-8000-000000000000" -C "$ws"
is "  and reads as if it did not exist" \
	"$(printf '%s' "$another" | sed "s/$theirs/X/")" \
	"$(printf '%s' "$err" | sed 's/t-01a22f1f-0000-7000-8000-000000000000/X/')"
run as $alice writ task cancel "$theirs" -C "$ws"
isnt "nor cancelled" "$code" 0
run as $alice writ task answer "$theirs" -C "$ws" metric=net_sales
isnt "nor answered" "$code" 0
run as $alice writ call -C "$ws" --agent sales-query-01 run_query '{"sql":"SELECT 1"}'
is "only the owner tries calls out" "$code" 3
has "  which is said" "$err" "owner"

# Tokens.
run as $alice writ token list -C "$ws" --json
json "a user sees their own tokens" '[.tokens[].user] | unique' '["daemon"]'
run writ_owner token list -C "$ws" --json
json "the owner those of all" '[.tokens[].user] | unique | length > 1' true
jti=$(printf '%s' "$out" | jq -r '[.tokens[]|select(.user!="daemon")][0].jti')
run as $alice writ token revoke "$jti" -C "$ws"
isnt "a token of another cannot be revoked" "$code" 0
run as $alice writ token revoke --user nobody -C "$ws"
isnt "nor all tokens of another" "$code" 0
run as $alice writ token revoke --agent sales-query-01 -C "$ws"
isnt "nor those of an agent" "$code" 0

# Two at once, then a reload that maps one more and drops one.
(as $alice writ ask -C "$ws" "Which regions had the highest net sales last quarter?" --json >"$WRIT_PLACE/alice.out" 2>&1) &
both=$!
run writ_owner status -C "$ws" --json
json "the owner's status counts sessions" '.sessions >= 1' true
wait $both
is "and the user is answered meanwhile" "$(jq -r .status "$WRIT_PLACE/alice.out")" completed
sed -i "s/^  daemon: .*/  bin: {groups: [sales]}\n  uid-$nobody: {groups: [sales]}/" "$ws/writ.yaml"
kill -HUP "$service"
wait_for 10 as $bob writ status -C "$ws"
is "a reload lets in who was added" $? 0
run as $bob writ ask -C "$ws" "How many orders are there?" --json
json "  with what the groups grant" '.rows[0][0]' 9
run as $nobody writ ask -C "$ws" "How many orders are there?" --json
json "  also without a name, as the message said" '.rows[0][0]' 9
run as $alice writ ask -C "$ws" "How many orders are there?"
is "  and keeps out who was dropped" "$code" 3
run as $bob writ task list -C "$ws" --json
hasnt "  who inherits nothing" "$out" "$mine"

# Nobody else can start or replace the service.
run as $bob writ serve -C "$ws"
isnt "another user cannot serve it" "$code" 0
stop_service
run as $bob writ ask -C "$ws" "How many orders are there?"
is "nor start it by asking" "$code" 3
has "  and is told whom to ask" "$err" "owner"
is "no file of the workspace belongs to anyone else" "$(find "$ws" ! -uid 65534)" ""
run writ_owner audit verify -C "$ws"
is "the log verifies" "$code" 0
is "and holds each refusal" "$([ "$(grep -c '"ev":"session.refused"' "$ws/state/audit/seg/00000000000000000000.jsonl")" -ge 2 ]; echo $?)" 0
hasnt "without a name in clear" "$(cat "$ws/state/audit/seg/00000000000000000000.jsonl")" daemon
done_testing
