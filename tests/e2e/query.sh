# Verified queries: proposed, approved, served with today's period, and evicted by what they touch.
. tests/lib/tap.sh
cp -R examples/sales verified; root=$PWD
cd verified
question="Net sales by region last quarter"

writ ask "$question" --json >first.json
task=$(jq -r .task first.json)
has "a task's SQL is proposed" "$(writ query add --from "$task" --name by_region)" "proposed in queries/sales.yaml"
has "with parameters for its dates" "$(cat queries/sales.yaml)" ":period_start"
hasnt "and without the dates of that day" "$(cat queries/sales.yaml)" "2026-07-01"
has "a proposal is listed" "$(writ query list)" "by_region  proposed"
writ ask "$question" --json >proposed.json
is "and not served" "$(jq -r '[.flags[].code] | index("query.verified")' proposed.json)" null

has "approving shows the rows" "$(writ query approve by_region --by analyst@example.com)" "East"
has "it is approved" "$(writ query list)" "by_region  approved  analyst@example.com"
writ query test >test.out; is "a test of it exits with 0" "$?" 0
has "and says that it is served" "$(cat test.out)" "ok queries/sales.yaml:2: by_region"

writ ask "$question?" --json >served.json
is "asked again it is served" "$(jq -r '[.flags[] | select(.code == "query.verified")] | length' served.json)" 1
is "the task is completed" "$(jq -r .status served.json)" completed
is "with the same rows" "$(jq -c '[.rows[][1]] | sort' served.json)" "$(jq -c '[.rows[][1]] | sort' first.json)"
is "for the same period" "$(jq -c .period served.json)" "$(jq -c .period first.json)"
is "and the metric's definition" "$(jq -r '.definitions[0].metric' served.json)" net_sales
is "without a model call" "$(jq -r .usage.model_calls served.json)" 0

# Another day: the period moves, the query stays.
sed -i 's/^today: .*/today: 2027-01-15/' writ.yaml
writ ask "$question" --json >later.json
is "three months later the period is the next quarter" "$(jq -c '[.period.from, .period.to]' later.json)" '["2026-10-01","2027-01-01"]'
is "by the same query" "$(jq -r '[.flags[] | select(.code == "query.verified")] | length' later.json)" 1
sed -i 's/^today: .*/today: 2026-10-15/' writ.yaml

# A changed metric evicts it, and the question is planned by the new meaning.
cp metrics/sales.yaml kept.yaml
sed -i "0,/order_items.quantity/s//(order_items.quantity * 2)/" metrics/sales.yaml
if ! cmp -s kept.yaml metrics/sales.yaml; then
	writ ask "$question" --json >changed.json
	is "a changed metric evicts it" "$(jq -r '[.flags[] | select(.code == "query.passed_over")] | length' changed.json)" 1
	writ query test >test.out; is "and the test fails" "$?" 1
	has "and says why" "$(cat test.out)" "its metric net_sales is defined in another way now"
fi
cp kept.yaml metrics/sales.yaml

has "it can be taken out" "$(writ query remove by_region)" "was taken out of queries/sales.yaml"
is "and the file goes with the last one" "$(ls queries)" ""
writ query approve by_region 2>err; is "what is not there cannot be approved" "$?" 2
has "and says so" "$(cat err)" "no verified query is called by_region"

# Mistakes.
mkdir -p queries
printf 'verified_queries:\n  - question: Net sales last week\n    sql: SELECT 1\n' >queries/sales.yaml
writ query list 2>err; is "a mistake in a file is exit 1" "$?" 1
has "with its place" "$(cat err)" "queries/sales.yaml:3:10: the question asks for a period"
printf 'verified_queries:\n  - question: How many orders are there\n    name: plain\n    sql: SELECT COUNT(*) FROM payroll\n' >queries/sales.yaml
writ query approve plain 2>err; is "SQL out of scope is not approved" "$?" 1
has "in the database's words" "$(cat err)" "no such table: payroll"
done_testing
