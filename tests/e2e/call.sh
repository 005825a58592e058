# One call at a time through token and policy: what must be refused is, with a reason and a record;
# what must work does; and the service goes on.
. tests/lib/tap.sh
ws=$(fresh sales call)
agent=sales-query-01
serve "$ws"

# query NAME SQL: one run_query call
query() { run writ call -C "$ws" --agent $agent run_query "$(jq -cn --arg sql "$1" '{sql:$sql}')" --json; }
# refused NAME SQL [PART]: refused, and the words say PART
refused() {
	query "$2"
	is "refused: $1" "$code" 1
	has "  with a reason" "$(printf '%s' "$out" | jq -r '"\(.ok) \(.error)"')" "false ${3:-}"
	is "  and a record" "$(printf '%s' "$out" | jq '.records | length > 0')" true
}
works() {
	query "$2"
	is "works: $1" "$code $(printf '%s' "$out" | jq -c '.rows')" "0 $3"
}

refused "DROP TABLE" "DROP TABLE orders"
refused "DELETE" "DELETE FROM orders"
refused "UPDATE" "UPDATE orders SET status='x'"
refused "INSERT … RETURNING" "INSERT INTO orders VALUES (1,1,'x','y') RETURNING order_id"
refused "WITH … INSERT" "WITH x AS (SELECT 1) INSERT INTO orders SELECT 1,1,'a','b' FROM x"
refused "CREATE TABLE" "CREATE TABLE t(a)"
refused "CREATE TEMP TABLE" "CREATE TEMP TABLE t(a)"
refused "VACUUM INTO" "VACUUM INTO '$ws/copy.db'"
is "  no copy was written" "$(ls "$ws" | grep -c copy.db)" 0
refused "ATTACH" "ATTACH '$ws/data/sales.db' AS x"
refused "ATTACH in memory" "ATTACH ':memory:' AS x"
refused "PRAGMA query_only" "PRAGMA query_only=OFF"
refused "PRAGMA writable_schema" "PRAGMA writable_schema=ON"
refused "PRAGMA journal_mode" "PRAGMA journal_mode=WAL"
refused "BEGIN" "BEGIN IMMEDIATE"
refused "EXPLAIN DELETE" "EXPLAIN DELETE FROM orders"
refused "pragma function" "SELECT * FROM pragma_database_list"
refused "sqlite_master" "SELECT name FROM sqlite_master"
refused "sqlite_schema" "SELECT sql FROM sqlite_schema"
refused "load_extension" "SELECT load_extension('x')"
refused "readfile" "SELECT readfile('/etc/passwd')"
refused "writefile" "SELECT writefile('x','y')"
refused "fts3_tokenizer" "SELECT fts3_tokenizer('simple')"
refused "zeroblob" "SELECT zeroblob(1000000000)"
refused "randomblob" "SELECT randomblob(1000000000)"
refused "printf" "SELECT printf('%*d',100000000,1)"
refused "two statements" "SELECT 1; SELECT 2"
refused "two statements, the second changes" "SELECT COUNT(*) FROM orders; DROP TABLE orders"
refused "spliced by a comment" "SELECT 1;/* x */DELETE FROM orders"
refused "keyword split by a comment" "DR/**/OP TABLE orders"
refused "homoglyph keyword" "DELЕTE FROM orders"
refused "double-quoted word is no text" 'SELECT SUM("weight") FROM orders' 'no such column: weight'
refused "nothing at all" " "
refused "a comment alone" "-- nothing"

for sql in "SELECT * FROM payroll" "SELECT salary_cents FROM payroll" \
	"SELECT COUNT(*) FROM payroll" "SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM payroll)" \
	"SELECT (SELECT MAX(salary_cents) FROM payroll) FROM orders" \
	"WITH p AS (SELECT * FROM payroll) SELECT COUNT(*) FROM p" \
	"SELECT o.order_id FROM orders o JOIN payroll p ON p.employee_id=o.order_id" \
	"SELECT * FROM orders UNION ALL SELECT * FROM payroll" \
	"SELECT * FROM main.payroll" "SELECT * FROM (SELECT name FROM payroll)" \
	"SELECT order_id FROM orders ORDER BY (SELECT salary_cents FROM payroll LIMIT 1)" \
	"WITH orders AS (SELECT * FROM payroll) SELECT * FROM orders"; do
	refused "payroll in: $sql" "$sql" "no such table: "
	hasnt "  no value of it" "$out" "9000000"
done
query "SELECT * FROM payroll"; hidden=$(printf '%s' "$out" | jq -r .error)
query "SELECT * FROM parrolo"; absent=$(printf '%s' "$out" | jq -r .error)
is "out of scope and absent look the same" "$(printf %s "$hidden" | sed s/payroll/X/)" "$(printf %s "$absent" | sed s/parrolo/X/)"
json "the owner's trial shows the decision" '.decision.effect' '"deny"'
query "SELECT * FROM payroll"
json "  with its rule" '.decision.rule' '"never-payroll"'
json "  and where it stands" '.decision.at | test("^scopes/sales.yaml:[0-9]+$")' true

refused "a hidden column" "SELECT name FROM customers" "no such column: name"
refused "a hidden column, qualified" "SELECT c.name FROM customers c" "no such column: c.name"
refused "a hidden column in WHERE" "SELECT region FROM customers WHERE name LIKE 'A%'" "no such column: name"
refused "a hidden column in ORDER BY" "SELECT region FROM customers ORDER BY name" "no such column: name"
refused "star over hidden columns" "SELECT * FROM customers" "SELECT * is not granted on customers; name the columns you need: customer_id, region"

for tool in list_tables 'describe_table {"table":"payroll"}' 'search_schema {"text":"payroll salary name"}' \
	'search_values {"text":"A. Example Acorn Ltd"}' list_metrics; do
	# shellcheck disable=SC2086 # the tool and its arguments are two words
	set -- $tool; name=$1; shift
	run writ call -C "$ws" --agent $agent "$name" ${1:+"$*"} --json
	for word in salary 9000000 "A. Example" Acorn employee_id; do
		hasnt "$tool does not show $word" "$out" "$word"
	done
done
run writ call -C "$ws" --agent $agent list_tables --json
json "the tables in scope" '[.tables[].name] | sort' '["customers","order_items","orders"]'
run writ call -C "$ws" --agent $agent describe_table '{"table":"customers"}' --json
json "only granted columns" '[.columns[].name]' '["customer_id","region"]'
json "grain" '.grain | test("customer_id")' true
json "three sample rows of them" '[.sample_rows.columns, (.sample_rows.rows|length)]' '[["customer_id","region"],3]'

works "LIKE '%training set%'" "SELECT COUNT(*) FROM orders WHERE status LIKE '%training set%'" "[[0]]"
works "'a;b' is text" "SELECT COUNT(*) FROM orders WHERE status = 'a;b'" "[[0]]"
works "a comment with DROP" "SELECT COUNT(*) FROM orders /* DROP TABLE orders; */" "[[9]]"
works "a trailing semicolon" "SELECT COUNT(*) FROM orders;" "[[9]]"
works "a trailing comment" "SELECT COUNT(*) FROM orders; -- done" "[[9]]"
works "a column named update" 'SELECT COUNT(*) AS "update" FROM orders' "[[9]]"
works "a common table expression" "WITH o AS (SELECT * FROM orders) SELECT COUNT(*) FROM o" "[[9]]"
works "window functions" "SELECT order_id, ROW_NUMBER() OVER (ORDER BY order_id) FROM orders ORDER BY 1 LIMIT 1" "[[101,1]]"

run writ call -C "$ws" --agent $agent run_query '{"sql":"SELECT order_id FROM orders","rows":2}' --json
json "rows asked are the cap" '[.row_count,.truncated]' '[2,true]'
run writ call -C "$ws" --agent $agent run_query '{"sql":"SELECT 1","rows":100000}' --json
json "more than allowed is clamped, visibly" '[.ok,.rows_clamped_to]' '[true,500]'

# A runaway moves nobody else: the quick call answers while the endless one still runs.
(writ call -C "$ws" --agent $agent run_query '{"sql":"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT COUNT(*) FROM r"}' --json >"$ws/runaway.out" 2>&1; echo $? >"$ws/runaway.code") &
sleep 0.3
works "a quick call beside a runaway" "SELECT COUNT(*) FROM orders" "[[9]]"
is "  which still runs" "$(ls "$ws/runaway.code" 2>/dev/null)" ""
wait_for 20 test -s "$ws/runaway.code"
is "the runaway is stopped" "$(cat "$ws/runaway.code")" 1
has "  by its limit" "$(jq -r .rejected_by "$ws/runaway.out")" limit
refused "a three-way cross join" "SELECT COUNT(*) FROM order_items a, order_items b, order_items c, order_items d, order_items e, order_items f, order_items g, order_items h, order_items i, order_items j"

run writ call -C "$ws" --agent sales-report-01 run_query '{"sql":"SELECT 1"}' --json
is "the report agent has no tool" "$code" 1
run writ call -C "$ws" --agent nobody run_query '{"sql":"SELECT 1"}'
isnt "an unknown agent is refused" "$code" 0
run writ call -C "$ws" --agent $agent run_query '{"sql":1}' --json
json "wrong argument type" .rejected_by '"arguments"'
run writ call -C "$ws" --agent $agent run_query '{"sql":"SELECT 1","x":1}' --json
has "an unknown argument is named" "$out" '\"x\"'
run writ call -C "$ws" --agent $agent run_query '{"sql":"SELECT 1",}'
is "broken JSON is wrong usage" "$code" 2
has "  with line and column" "$err" "line 1, column"

run writ audit verify -C "$ws" --live
is "after all that the log verifies" "$code" 0
done_testing
