# What policy keeps back: rows by the user's own region, masked columns, groups; and no way around.
. tests/lib/tap.sh
cp -R examples/sales kept
rm -rf kept/state kept/run kept/scopes/tests
sed -i 's/^  anyone: .*/  anyone: {groups: [sales], attributes: {regions: [East, West]}}/' kept/writ.yaml
tables() { # CUSTOMERS ORDERS: what the rule says of them
	awk -v customers="$1" -v orders="$2" '
		/^        customers: / { print "        customers: " customers; next }
		/^        orders: / { print "        orders: " orders; next }
		{ print }' examples/sales/scopes/sales.yaml >kept/scopes/sales.yaml
}
tables '{columns: [customer_id, name, region], rows: {region: {one_of: {user: regions}}}, masks: {name: hash}}' '{columns: all}'

call() { run writ call -C kept --agent sales-query-01 "$1" "$2"; }
query() { call run_query "{\"sql\":\"$1\"}"; }
rows() { printf '%s' "$out" | jq -c .rows; }
run_json() { run writ call -C kept --json --agent sales-query-01 run_query "{\"sql\":\"$1\"}"; }

run_json "SELECT DISTINCT region FROM customers ORDER BY 1"
is "only the regions of this user are there" "$(rows)" '[["East"],["West"]]'
is "and the result says so" "$(printf '%s' "$out" | jq -c .restricted.rows)" '["customers"]'
run_json "SELECT COUNT(*) FROM customers WHERE region IS NULL"
is "a missing region is nobody's" "$(rows)" '[[0]]'
run_json "SELECT COUNT(*) FROM customers WHERE region NOT IN ('East','West')"
is "counting finds no other" "$(rows)" '[[0]]'
query "WITH customers AS (SELECT * FROM main.customers) SELECT region FROM customers"
is "a common table expression gets no further" "$code" 1
query "SELECT region FROM main.customers"
is "nor does the table's full name" "$code" 1
query "SELECT name FROM sqlite_temp_master"
is "the views in front cannot be read" "$code" 1
run_json "SELECT name FROM customers ORDER BY customer_id LIMIT 1"
like_hash=$(printf '%s' "$out" | jq -r '.rows[0][0]' | grep -cE '^[0-9a-f]{16}$')
is "a masked name is a hash" "$like_hash" 1
is "and the result says so" "$(printf '%s' "$out" | jq -c .restricted.masks)" '["customers.name"]'
query "SELECT writ_hash('Ada')"
is "nobody else can hash" "$code" 1
run writ call -C kept --json --agent sales-query-01 search_values '{"text":"East South"}'
is "values of other regions are not suggested" "$(printf '%s' "$out" | jq -c '[.matches[].value] | unique')" '["East"]'
run writ call -C kept --json --agent sales-query-01 describe_table '{"table":"customers"}'
is "samples are of these regions" "$(printf '%s' "$out" | jq -c '[.sample_rows.rows[][2]] | unique - ["East","West"]')" '[]'

run writ ask -C kept "Net sales by region last quarter" --json
is "an answer is over these rows; orders of hidden customers have no region" "$(printf '%s' "$out" | jq -c '[.rows[][0]] | sort')" '["East","Unknown","West"]'
is "and warns of it" "$(printf '%s' "$out" | jq -r '[.flags[] | select(.code == "policy.rows")][0].severity')" warning

# Someone without the attribute sees nothing, rather than everything.
sed -i 's/, attributes: .*/}/' kept/writ.yaml
run_json "SELECT COUNT(*) FROM customers"
is "without the attribute no row is left" "$(rows)" '[[0]]'

# Groups.
tables '{columns: all, require: {aggregate: true, min_group: 2, of: customer_id}}' '{columns: all}'
run_json "SELECT region, COUNT(*) AS n FROM customers GROUP BY region"
is "small groups are left out" "$(printf '%s' "$out" | jq -c '[.rows[][1]] | min >= 2')" true
is "and counted" "$(printf '%s' "$out" | jq -c '.suppressed_groups > 0')" true
query "SELECT name FROM customers"
is "single rows are not shown" "$code" 1
has "and why" "$out$err" "shown in groups only"

# Mistakes.
tables '{columns: all, rows: {regoin: {exact: x}}}' '{columns: all}'
run writ policy check -C kept
is "a filter on a column that is not there is a mistake" "$code" 1
has "with the nearest name" "$out$err" "region"
done_testing
