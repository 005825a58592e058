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
# What is declared before the SQL is compared with what the SQL does.
query "-- tables: orders
-- grain: one row per region
-- fan-out risk: none
SELECT SUM(i.quantity) AS pieces FROM order_items i JOIN orders o ON o.order_id = i.order_id"
json "a declaration that does not fit is a flag of its own" '[.flags[] | select(.code == "plan.contradiction")] | length' 2
query "-- tables: orders, order_items
-- grain: one row in all
-- fan-out risk: none
SELECT SUM(i.quantity) AS pieces FROM order_items i JOIN orders o ON o.order_id = i.order_id"
json "one that fits is none" .flags '[]'
echo "-- grain: one row per region
SELECT SUM(i.quantity * i.unit_price_cents - COALESCE(i.discount_cents, 0)) / 100.0 AS net_sales FROM order_items i JOIN orders o ON o.order_id = i.order_id WHERE o.status = 'completed' AND o.order_date >= '2026-07-01' AND o.order_date < '2026-10-01'" >"$ws/declared.sql"
run writ ask -C "$ws" "$question" --first-sql "$ws/declared.sql" --json
json "an answer carries it" '[.rows[0][0], ([.flags[].code] | index("plan.contradiction") != null)]' '[850,true]'

# A view is looked into by whoever may see all that it is made of: what repeats in there is measured.
mkdir -p views/data
cp -R "$ws/metrics" "$ws/scopes" "$ws/writ.yaml" views/
{ cat "$ws/data.sql"; cat <<'END'; } >views/data.sql
CREATE VIEW line_orders AS SELECT o.order_id AS no, o.customer_id AS buyer FROM orders o JOIN order_items i ON i.order_id = o.order_id;
END
tools/mkdb views/data.sql views/data/sales.db
sed -i 's/^        order_items: {columns: all}/        order_items: {columns: all}\n        line_orders: {columns: all}/' views/scopes/*.yaml
[ -z "$owner" ] || chown -R 65534:65534 views
ws=$PWD/views
query "SELECT SUM(buyer) AS n FROM line_orders"
json "rows that a view repeats are measured" '[.flags[] | select(.code == "fan_out.inflated")][0].severity' '"error"'
has "  with the factor" "$(printf '%s' "$out" | jq -r '.flags[].message')" "factor 1."
run writ call -C "$ws" --agent "$agent" describe_table '{"table":"line_orders"}' --json
has "what the view is made of is told" "$(printf '%s' "$out" | jq -r .definition)" "FROM orders o JOIN order_items i"
sed -i 's/^        orders: {columns: all}/        orders: {columns: [order_id, status, order_date]}/' views/scopes/*.yaml
run writ call -C "$ws" --agent "$agent" describe_table '{"table":"line_orders"}' --json
json "not when a column in it is out of scope" .definition null

# Days of another zone than the one that moments are kept in.
ws=$(fresh sales zoned)
sed -i "s/^            datatype: Date\$/            datatype: DateTimeTz\n            custom_extensions: [{vendor_name: WRIT, data: '{\"instant\": true}'}]/" "$ws/metrics/sales.yaml"
sed -i "s/^    description: Orders of a small shop.*/&\n    custom_extensions: [{vendor_name: WRIT, data: '{\"timezone\": \"Europe\/Lisbon\"}'}]/" "$ws/metrics/sales.yaml"
echo "SELECT SUM(i.quantity * i.unit_price_cents - COALESCE(i.discount_cents, 0)) / 100.0 AS net_sales FROM order_items i JOIN orders o ON o.order_id = i.order_id WHERE o.status = 'completed' AND o.order_date >= '2026-07-01' AND o.order_date < '2026-10-01'" >"$ws/midnight.sql"
run writ ask -C "$ws" "$question" --first-sql "$ws/midnight.sql" --json
has "midnight of another zone is told" "$(printf '%s' "$out" | jq -c '[.flags[].code]')" "time.zone"
done_testing
