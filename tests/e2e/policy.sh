# Policy authors' tools on the real programs, in the order of a change's life.
. tests/lib/tap.sh
ws=$(fresh sales policy)
scope=$ws/scopes/sales.yaml

# check
run writ policy check -C "$ws"
is "check: no mistake" "$code" 0
sed 's/group:sales/group:slaes/; s/orders: {columns: all}/ordrs: {columns: all}/; s/effect: deny/efect: deny/' "$scope" >"$ws/good" && cp "$scope" "$ws/kept" && cp "$ws/good" "$scope"
run writ policy check -C "$ws"
is "check: mistakes" "$code" 1
has "  an unknown key, with its place" "$out" "scopes/sales.yaml:42:5: unknown key of a rule \"efect\": did you mean \"effect\"?"
has "  an unknown group" "$out" 'unknown group "slaes"'
has "  an unknown table of the real data" "$out" 'unknown table of sales "ordrs": did you mean "orders"?'
has "  with a caret" "$out" "^"
run writ policy check -C "$ws" --json
json "  as JSON with codes" '[.problems[].code] | sort' '["missing_key","unknown_group","unknown_key","unknown_table"]'
cp "$ws/kept" "$scope"; rm "$ws/kept" "$ws/good"

# fmt
run writ policy fmt --check -C "$ws"
is "fmt: the example has its form" "$code" 0
sed -i 's/^    users: \[group:sales, /    users:   [ group:sales,/' "$scope"
run writ policy fmt --check -C "$ws"
is "fmt --check: names what has not" "$code/$out" "1/scopes/sales.yaml is not in its canonical form"
run writ policy fmt -C "$ws"
is "fmt: as it was before" "$(diff "$scope" "$WRIT_PLACE/examples/sales/scopes/sales.yaml")" ""

# test
run writ policy test -C "$ws" --min-coverage 100
is "test: all pass, everything covered" "$code" 0
has "  says so" "$out" "coverage 100 %"
run writ policy test -C "$ws" --format tap
has "  TAP" "$out" "TAP version 14"
run writ policy test -C "$ws" --format junit
has "  JUnit" "$out" "<testsuite name=\"policy\""
sed -i 's/columns: \[customer_id, region\]/columns: [customer_id]/' "$scope"
run writ policy test -C "$ws"
is "test: a narrower rule fails a case" "$code" 1
has "  with what was wanted" "$out" "wanted allow, got deny"
sed -i 's/columns: \[customer_id\]/columns: [customer_id, region]/' "$scope"
(sleep 1; touch "$scope") & run timeout 3 writ policy test -C "$ws" --watch
is "test --watch: runs again when a file changes" "$(printf '%s\n' "$out" | grep -c 'cases, 0 failed')" 2

# explain
run writ policy explain -C "$ws" --agent sales-query-01 --user eve --tool run_query --database sales --columns orders.status
is "explain: denied" "$code" 1
has "  with the change" "$out" "change add user:eve to users (scopes/sales.yaml:23:12)"
sed -i 's/user:user_42\]/user:user_42, user:eve]/' "$scope"
run writ policy explain -C "$ws" --agent sales-query-01 --user eve --tool run_query --database sales --columns orders.status
is "  and after making it: allowed" "$code" 0

# show, who
run writ policy show -C "$ws" sales-query-01
has "show AGENT: a matrix" "$out" "sales.customers    2 columns"
run writ policy show -C "$ws" user_42 --json
json "show USER: every agent" '[.[] | .agent]' '["sales-query-01","sales-report-01"]'
run writ policy show -C "$ws" sales-qery-01
is "show: nobody of that name" "$code" 2
has "  did you mean" "$err" "sales-query-01"
run writ policy who -C "$ws" --table customers --column region
has "who: by which rule" "$out" "read-sales (scopes/sales.yaml:20)"
run writ policy who -C "$ws" --table payroll
has "who: nobody" "$out" "nobody reaches sales.payroll"

# schema
writ policy schema -C "$ws" >"$WRIT_PLACE/schema.json"
is "schema: JSON" "$(jq -r .title "$WRIT_PLACE/schema.json")" "writ scope file"
if [ -d "${WRIT_NODE:-/nowhere}/yaml-language-server" ]; then
	cp -R "$WRIT_NODE" "$WRIT_PLACE/tests/node/node_modules" 2>/dev/null || true
	node tests/node/yaml-server.mjs "$WRIT_PLACE/schema.json" "$scope" >"$WRIT_PLACE/editor.tap" && code=0 || code=$?
	is "schema: an editor completes, explains and marks" "$code" 0
	[ "$code" = 0 ] || sed 's/^/# /' "$WRIT_PLACE/editor.tap"
else
	skip "schema in an editor: no npm package yaml-language-server"
fi

# prove
mkdir -p "$ws/scopes"
cat >"$ws/scopes/invariants.yaml" <<'END'
writ: 1
scope: invariants
owner: team:security
rules:
  - id: nobody-reads-payroll
    effect: deny
    agents: all
    users: everyone
    tools: all
    data: {database: sales, tables: {payroll: {columns: all}}}
  - id: reports-reach-nothing
    effect: deny
    agents: [role:report]
    users: everyone
    tools: all
    data: all
END
run writ policy prove -C "$ws"
is "prove: invariants hold for all calls" "$code" 0
has "  and are named" "$out" "proven      nobody-reads-payroll (scopes/invariants.yaml:5)"
run writ policy check -C "$ws"
has "  they are no rules of the policy" "$out" "2 rules"
sed -i 's/payroll: {columns: all}/customers: {columns: [region]}/' "$ws/scopes/invariants.yaml"
run writ policy prove -C "$ws"
is "prove: a broken one" "$code" 1
has "  with a call" "$out" "columns customers.region"
run writ policy apply -C "$ws"
is "apply: a broken invariant refuses it" "$code" 1
has "  and says so" "$err" "1 invariant is not proven"
sed -i 's/customers: {columns: \[region\]}/payroll: {columns: all}/' "$ws/scopes/invariants.yaml"

# compile, apply, diff, log, rollback
run writ policy compile -C "$ws" -o "$ws/b.bundle"
second=$out
is "compile: named by the hash of its bytes" "$second" "$(sha256sum <"$ws/b.bundle" | cut -c1-64)"
sed -i 's/, user:eve\]/]/' "$scope"
run writ policy apply -C "$ws"
is "apply: without a service" "$code" 0
has "  says so" "$out" "no service runs"
run writ policy compile -C "$ws"
first=$out
run writ policy diff -C "$ws"
is "diff: nothing changed" "$code" 0
run writ policy diff -C "$ws" live "$ws/b.bundle" --json
is "diff: wider" "$code" 1
json "  the call that shows it" '.wider[0].call.user' '"eve"'
run writ policy diff -C "$ws" "$ws/b.bundle" live
is "diff: narrower is fine" "$code" 0
serve "$ws"
sed -i 's/user:user_42\]/user:user_42, user:eve]/' "$scope"
run writ policy apply -C "$ws" --json
is "apply: a running service obeys it" "$code" 0
json "  without a restart" '.service' true
run writ status -C "$ws" --json
json "  as status says" '.policy.digest' "\"$second\""
sed -i 's/columns: \[customer_id, region\]/columns: [customer_id]/' "$scope"
run writ policy apply -C "$ws"
is "apply: failing tests refuse it" "$code" 1
has "  and say so" "$err" "tests"
run writ status -C "$ws" --json
json "  the last good one stays" '.policy.digest' "\"$second\""
kill -HUP "$service"
refused() { [ "$(writ status -C "$ws" --json | jq .policy.reloads.refused)" = 1 ]; }
wait_for 10 refused
run writ status -C "$ws" --json
json "SIGHUP: refused too, and status says so" '.policy.reloads.last' '"refused"'
has "  and why" "$out" "fail their tests or break an invariant"
has "  and the service's log" "$(cat "$ws.log")" "the last good policy stays in force"
run writ policy rollback "$(printf %.12s "$first")" -C "$ws"
is "rollback: an earlier one at once" "$code" 0
run writ status -C "$ws" --json
json "  as status says" '.policy.digest' "\"$first\""
sed -i 's/columns: \[customer_id\]/columns: [customer_id, region]/' "$scope"
kill -HUP "$service"
wait_for 10 sh -c "writ policy log -C '$ws' --json | jq -e '.history[-1].what == \"reload\"'"
run writ status -C "$ws" --json
json "  a reload does not end it" '.policy.digest' "\"$first\""
run writ policy log -C "$ws" --json
json "log: every attempt" '[.history[] | .what + " " + .result]' '["apply refused","apply applied","apply applied","apply refused","reload refused","rollback applied","reload refused"]'
json "  what is held" '.held' "\"$first\""
run writ policy apply -C "$ws"
is "  apply ends it" "$code" 0
# shadow
cp "$scope" "$ws/kept"
sed -i 's/order_items: {columns: all}/order_items: {columns: [order_id]}/' "$scope"
run writ policy shadow files -C "$ws"
is "shadow: a candidate beside the live policy" "$code" 0
cp "$ws/kept" "$scope"
run writ ask -C "$ws" "Which regions had the highest net sales last quarter?" --json
json "  nothing of it is obeyed" '.status' '"completed"'
run writ policy shadow -C "$ws" --json
is "  what differs is told" "$code" 1
json "  and counted" '.decisions >= .differences and .differences > 0' true
run writ audit show -C "$ws" --json
is "  and recorded" "$(printf '%s\n' "$out" | jq -s '[.[] | .. | objects | select(.cd? == "deny" and .dec? == "allow")] | length > 0')" true
run writ policy shadow off -C "$ws"
run writ status -C "$ws" --json
json "  until it is off" '.policy.candidate' null

# replay: what the service has decided until now, and one question under the last policy
run writ ask -C "$ws" "Which regions had the highest net sales last quarter?"
stop_service
run writ policy replay recorded -C "$ws" --json
is "replay: under the recorded bundles" "$code" 0
json "  every decision is unchanged" '[.would_allow, .would_deny, .not_replayable]' '[0,0,0]'
json "  and there are some" '.unchanged > 0' true
json "  which sum up to the records" '.unchanged + .would_allow + .would_deny + .not_replayable + .no_decision == .records' true
cp "$scope" "$ws/kept"
sed -i 's/order_items: {columns: all}/order_items: {columns: [order_id]}/' "$scope"
run writ policy replay -C "$ws"
is "replay: under narrower files" "$code" 1
has "  which decision changes, and why" "$out" "would_deny, was allow by read-sales"
mv "$ws/kept" "$scope"
cp -R "$ws/state/audit" "$ws/copy"
find "$ws/copy" -name '*.jsonl' -exec sed -i 's/run_query/rum_query/' {} +
run writ policy replay -C "$ws" --log "$ws/copy"
is "replay: a log that does not verify tells nothing" "$code" 3
run writ audit show -C "$ws" --json
is "audit: the start, and each attempt the broker saw" "$(printf '%s\n' "$out" | jq -s '[.[] | .. | objects | select(.ev? == "policy.load") | .st]' -c)" '["ok","ok","error","ok","ok","ok","ok","ok"]'
done_testing
