# SQL that somebody wrote is checked before its number is believed: values that do not exist, joins
# that lose or repeat rows, arithmetic of one's own where a metric is defined. Right SQL is left
# alone, and each task says what it cost.
. tests/lib/tap.sh
ws=$(fresh sales sql)
agent=sales-query-01
query() { run writ call -C "$ws" --agent "$agent" run_query "$(jq -cn --arg sql "$1" '{sql:$sql}')" --json; }
codes='[.flags[]|select(.severity!="note")|.code]'

query "SELECT COUNT(*) AS n FROM orders WHERE status = 'complete'"
json "a value that does not occur is named" "$codes" '["filter.unknown_value","result.zero"]'
has "  with the nearest one that does" "$(printf '%s' "$out" | jq -r '.flags[].repair')" "nearest first: 'completed'"
query "SELECT SUM(CASE WHEN status = 'completed' THEN 1 ELSE 0 END) / COUNT(*) AS share FROM orders"
json "whole numbers divided are named" "$codes" '["division.integer","result.zero"]'
query "SELECT COUNT(*) AS n FROM customers WHERE region <> 'East'"
has "rows without a value are counted" "$(printf '%s' "$out" | jq -r '.flags[].message')" "leaves out the 1 rows"
query "SELECT c.region, COUNT(o.order_id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id WHERE o.status = 'cancelled' GROUP BY c.region"
json "an outer join that is dropped again is named" "$codes" '["join.outer_cancelled"]'
query "SELECT region FROM customers LIMIT 2"
json "a cut in no order is named" "$codes" '["limit.unordered"]'
query "SELECT c.region, SUM(i.quantity) AS pieces FROM order_items i JOIN orders o ON o.order_id = i.order_id JOIN customers c ON c.customer_id = o.customer_id WHERE o.status = 'completed' AND o.order_date >= '2026-07-01' AND o.order_date < '2026-10-01' GROUP BY c.region ORDER BY pieces DESC"
json "the right statement is left alone" .flags '[]'

question="Net sales last quarter"
echo "SELECT SUM(i.quantity * i.unit_price_cents) / 100.0 AS net_sales FROM order_items i JOIN orders o ON o.order_id = i.order_id WHERE o.order_date >= '2026-07-01' AND o.order_date < '2026-10-01'" >"$ws/own.sql"
run writ ask -C "$ws" "$question" --first-sql "$ws/own.sql" --json
json "own arithmetic for a defined metric costs an attempt" '[.status,.rows[0][0],(.attempts|length)]' '["completed",850,1]'
has "  and is told why" "$(printf '%s' "$out" | jq -r '.attempts[0].error')" "which is defined"
run writ ask -C "$ws" "$question" --first-sql "$ws/own.sql" --workflow fixed --json
is "after the last attempt it is refused" "$code" 1
json "  with no number" '[.status,.rows]' '["refused",null]'

run writ ask -C "$ws" "$question" --json
json "each task says what it cost" '.cost.parts[0].price' '"5 USD/TB"'
json "  exactly" '(.cost.amount|tonumber) == (.usage.bytes_scanned * 5 / 1000000000000)' true
run writ ask -C "$ws" "$question"
has "  people read it too" "$out" " USD,"
done_testing
