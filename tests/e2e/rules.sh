# What scope files can say beyond tables and columns, through the real programs: arguments, limits,
# lists of tools, environments, attributes, tags, new columns, and a call that a person approves.
. tests/lib/tap.sh
agent=sales-query-01

call() { run writ call -C "$ws" --agent $agent "$@" --json; }
query() { call run_query "$(jq -cn --arg sql "$1" '{sql:$sql}')"; }
# workspace NAME SED: a workspace whose scope file went through sed; stdin is added to it
workspace() {
	ws=$(fresh sales "$1")
	rm -r "$ws/scopes/tests" # they hold for the rules of the example
	sed "$2" "$ws/scopes/sales.yaml" >"$ws/edited" && mv "$ws/edited" "$ws/scopes/sales.yaml"
	chmod go-w "$ws/scopes/sales.yaml"
	cat >>"$ws/scopes/sales.yaml"
}
# Nobody else tests here than the owner, who must be let in as someone with attributes.
user() { sed "s/^  anyone: .*/  anyone: $1/" "$ws/writ.yaml" >"$ws/w" && mv "$ws/w" "$ws/writ.yaml" && chmod go-w "$ws/writ.yaml"; }

# ---- arguments and limits ----
workspace arguments 's/per_call: {rows: 500/arguments: {sql: wildcard, rows: {range: {max: 50}}}\n    limits: [{calls: 3, per: 1h, each: [user]}]\n    per_call: {rows: 500/
/^    tools:$/,/^      - run_query/c\    tools: [run_query]' </dev/null
run writ policy check -C "$ws"
is "a scope file with arguments and limits is fine" "$code" 0
serve "$ws"
query "SELECT COUNT(*) FROM orders"
is "rows left out counts as its default, which is over the rule's" "$code" 1
json "  and is refused by policy" '.rejected_by' '"policy"'
has "  for the argument" "$(printf '%s' "$out" | jq -r .decision.reason)" "does not grant the argument rows = 100"
call run_query '{"sql":"SELECT COUNT(*) FROM orders","rows":51}'
is "one over the bound is refused" "$code" 1
for n in 1 2 3; do
	call run_query '{"sql":"SELECT COUNT(*) FROM orders","rows":50}'
	is "call $n within bound and limit is fine" "$code" 0
done
call run_query '{"sql":"SELECT COUNT(*) FROM orders","rows":50}'
is "the fourth in an hour is refused" "$code" 1
json "  by the limit" '[.rejected_by, (.retry_ms > 3000000)]' '["limit",true]'
has "  in clear words" "$(printf '%s' "$out" | jq -r .error)" "at most 3 calls for this user in 3600 s; the next is possible in"
call list_tables
is "a tool no rule names is not there" "$code" 1
stop_service

# ---- lists of tools apart from calls, attributes, environment ----
workspace lists '' <<'END'
  - {id: hidden, effect: deny, phase: list, agents: all, users: everyone, tools: [search_schema], data: all}
  - {id: cleared, effect: deny, agents: all, users: everyone, tools: [explain_query], data: all, attributes: {clearance: {range: {max: 2}}}}
  - {id: not-live, effect: deny, agents: all, users: everyone, tools: [search_values], data: all, environments: [live]}
END
printf 'environment: live\nenvironments: [test, live]\n' >>"$ws/writ.yaml"
user '{groups: [sales], attributes: {clearance: 3}}'
serve "$ws"
call search_schema '{"text":"orders"}'
is "a tool that is only not listed can be called" "$code" 0
call explain_query '{"sql":"SELECT 1"}'
is "an attribute over the bound passes" "$code" 0
call search_values '{"text":"East"}'
is "what is denied in this environment is refused" "$code" 1
has "  by that rule" "$(printf '%s' "$out" | jq -r .decision.rule)" not-live
user '{groups: [sales], attributes: {clearance: high}}'
kill -HUP $service
sleep 1
call explain_query '{"sql":"SELECT 1"}'
is "an attribute the rule cannot compare denies" "$code" 1
has "  and says so" "$(printf '%s' "$out" | jq -r .decision.reason)" "cannot be told whether rule cleared"
stop_service

# ---- tags, columns added later ----
workspace tags 's/customers: {columns: \[customer_id, region\]}.*/customers: {columns: all, except: ["tag:pii"]}/' </dev/null
printf 'tags:\n  pii:\n    sales: {customers: [name]}\n' >>"$ws/scopes/sales.yaml"
run writ policy check -C "$ws"
is "a scope file with tags is fine" "$code" 0
serve "$ws"
query "SELECT customer_id, region FROM customers LIMIT 1"
is "columns without the tag are granted" "$code" 0
query "SELECT name FROM customers LIMIT 1"
is "a tagged one is not" "$code" 1
python3 - "$ws/data/sales.db" 2>/dev/null <<'END' || no_column=1
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("ALTER TABLE orders ADD COLUMN margin INTEGER")
db.commit()
END
if [ -z "${no_column:-}" ]; then
	query "SELECT margin FROM orders LIMIT 1"
	is "a column added since is refused, columns: all or not" "$code" 1
	query "SELECT order_id FROM orders LIMIT 1"
	is "  and the others are granted as before" "$code" 0
else
	skip "no program here can add a column"
fi
stop_service

# ---- approvals ----
workspace approvals '' <<'END'
  - {id: ask-orders, effect: ask, agents: all, users: everyone, tools: [run_query], data: {database: sales, tables: {order_items: {columns: all}}}, approval: {by: [owner], for: 1h, own: true}}
END
serve "$ws"
query "SELECT COUNT(*) FROM order_items"
is "a call that wants approval is refused" "$code" 1
json "  with the approval's id" '[.rejected_by, (.approval | startswith("ap-"))]' '["policy",true]'
ap=$(printf '%s' "$out" | jq -r .approval)
call run_query '{"sql":"SELECT COUNT(*) FROM order_items"}' --approval "$ap"
is "an approval that is not given does not help" "$code" 1
is "  and asks for the same" "$(printf '%s' "$out" | jq -r .approval)" "$ap"
run writ approval list -C "$ws" --json
json "it is listed, to be decided" "[.approvals[] | select(.approval == \"$ap\") | .state, .may_decide, .tool]" '["asked",true,"run_query"]'
run writ approval give "$ap" -C "$ws" --json
is "the owner gives it" "$code" 0
json "  with a record" '[.state, (.record > 0)]' '["given",true]'
run writ approval give "$ap" -C "$ws"
isnt "a second time it cannot be given" "$code" 0
call run_query '{"sql":"SELECT MAX(item_id) FROM order_items"}' --approval "$ap"
is "it is not for another call" "$code" 1
call run_query '{"sql":"SELECT COUNT(*) FROM order_items"}' --approval "$ap"
is "for that very call it counts" "$code" 0
call run_query '{"sql":"SELECT COUNT(*) FROM order_items"}' --approval "$ap"
is "  once" "$code" 1
query "SELECT COUNT(*) FROM order_items"
other=$(printf '%s' "$out" | jq -r .approval)
isnt "the next one asks anew" "$other" "$ap"
run writ approval refuse "$other" -C "$ws"
is "and can be refused" "$code" 0
call run_query '{"sql":"SELECT COUNT(*) FROM order_items"}' --approval "$other"
is "  which stands" "$code" 1
run writ approval give ap-00000000-0000-7000-8000-000000000000 -C "$ws"
isnt "there is nothing else to give" "$code" 0

run writ ask -C "$ws" "net sales by region last quarter" --json
json "a question whose rows want approval waits for it" '[.status, (.approval | startswith("ap-"))]' '["needs_approval",true]'
task=$(printf '%s' "$out" | jq -r .task)
ap=$(printf '%s' "$out" | jq -r .approval)
run writ approval give "$ap" -C "$ws"
is "  it is given" "$code" 0
run writ task answer "$task" -C "$ws" --json
json "  and the question answered, in a task of its own" '.status' '"completed"'
run writ audit verify -C "$ws" --live
is "the log of all this verifies" "$code" 0
done_testing
