# The canonical silent error is shown with its factor; the right query is not bothered.
. tests/lib/tap.sh
ws=$(fresh widgets fan)
agent=widgets-query-01
where="WHERE s.category_name='Widgets' AND o.order_date>='2025-04-01' AND o.order_date<'2025-07-01'"
wrong="SELECT SUM(o.amount_cents)/100.0 AS revenue FROM orders o JOIN order_items i ON i.order_id=o.order_id JOIN dim_sku s ON s.sku=i.sku $where"
right="SELECT SUM(i.qty*i.unit_price_cents)/100.0 AS revenue FROM order_items i JOIN orders o ON o.order_id=i.order_id JOIN dim_sku s ON s.sku=i.sku $where"

run writ call -C "$ws" --agent "$agent" run_query "$(jq -cn --arg sql "$wrong" '{sql:$sql}')" --json
json "the wrong query shows 2300.00" '.rows[0][0]' '2300'
json "with an error flag" '[.flags[]|select(.severity=="error")|.code]' '["fan_out.inflated"]'
json "and a verdict for the aggregate" '[.verdicts[]|[.verdict,.of,.by,.factor]]' '[["fans_out","orders","order_items",2.3]]'
has "that names the factor" "$(printf '%s' "$out" | jq -r '.flags[].message')" "2.30"
run writ call -C "$ws" --agent "$agent" run_query "$(jq -cn --arg sql "$right" '{sql:$sql}')" --json
json "the right one shows 10000" '.rows[0][0]' '1000'
json "without a flag" .flags '[]'
run writ ask -C "$ws" "How much revenue came from Widgets last quarter?" --json
json "asked in words it is right by construction" '[.status,.rows[0][0],.flags]' '["completed",1000,[]]'

# An inflated number is never given: one more attempt, then failed with factor and repair.
printf '%s\n' "$wrong" >"$ws/wrong.sql"
run writ ask -C "$ws" "How much revenue came from Widgets last quarter?" --first-sql "$ws/wrong.sql" --json
json "the agent plans again" '[.status,.rows[0][0],(.attempts|length)]' '["completed",1000,1]'
has "  told by which factor" "$(printf '%s' "$out" | jq -r '.attempts[0].error')" "factor 2.30"
run writ ask -C "$ws" "How much revenue came from Widgets last quarter?" --first-sql "$ws/wrong.sql" --workflow fixed --json
json "after the last attempt it has failed" '[.status,.rows]' '["failed",null]'
has "  with the factor" "$(printf '%s' "$out" | jq -r '.reason')" "factor 2.30"
has "  and the repair" "$(printf '%s' "$out" | jq -r '.hint')" "aggregate orders before joining"
done_testing
