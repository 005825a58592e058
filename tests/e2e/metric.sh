# Metrics without any language model: listed, shown, computed, refused with a code, and drafted.
. tests/lib/tap.sh
ws=$(fresh sales metric)

run writ metric list -C "$ws" --json
json "every metric is listed" '[.[].name]|sort' '["average_order_value","buyer_count","net_sales","order_count","units_sold"]'
run writ metric show net_sales -C "$ws" --json
json "shown with what it counts" '[.filter,.unit,.adds_up]' '["completed orders","USD",true]'
run writ metric show net_sale -C "$ws"
is "a name that is near is said" "$code" 1
has "  by its name" "$err" "did you mean net_sales?"

run writ metric query net_sales order_count --by region --period "last quarter" -C "$ws" --json
json "two facts in one answer" .rows '[["East",420,2],["West",300,2],["South",90,2],["Unknown",40,1]]'
json "  in words" '.words.sentence|contains("2026-07-01 to before 2026-10-01")' true
run writ metric query net_sales --by region --period 2026-07-01..2026-10-01 --having "net_sales > 300" -C "$ws" --json
json "a condition on what is measured" .rows '[["East",420]]'
run writ metric query net_sales --by region,product --top 1:region -C "$ws" --json
json "the first of each" '[.rows[][1]]' '["Gizmo","Gadget","Widget","Gizmo"]'
run writ metric query net_sales --by month --period 2026 --stepwise -C "$ws" --json
json "from month to month" '[.rows[]|[.[0],.[3]]]' '[["2026-06",null],["2026-07",-370],["2026-08",10],["2026-09",-160],["2026-10",720]]'
run writ metric query net_sales --by region --filter "region=East|West" --share -C "$ws" --json
json "a share is of the whole" '[.rows[][0]]' '["East","West"]'
run writ metric query net_sales --by region --period "last quarter" --sql -C "$ws"
is "the same text each time" "$out" "$(writ metric query net_sales --by region --period 'last quarter' --sql -C "$ws")"
run writ metric query order_count --by product -C "$ws" --json
is "what would count twice is refused" "$code" 1
json "  with the code of the specification" .code '"E3012_MN_NO_SAFE_REWRITE"'
run writ metric query net_sales --by nothing -C "$ws"
is "an unknown name is refused" "$code" 1
run writ metric query net_sales --period "last blue moon" -C "$ws"
is "a period that cannot be read is wrong usage" "$code" 2
run writ metric query --measure "SUM(order_items.quantity) AS pieces" --by product --where "orders.status = 'pending'" -C "$ws" --json
json "an expression of the asker's own" .rows '[["Widget",2]]'
run writ metric query net_sales --by region --format csv --period "last quarter" -C "$ws"
has "as CSV" "$out" '"East",420.0'
run writ metric query payroll --by region -C "$ws"
is "what is out of scope is not there" "$code" 1

run writ metric draft -C "$ws" --output metrics/second.yaml
is "a second model is not written" "$code" 1
run writ metric draft -C "$ws" --output draft.yaml
is "a draft is written" "$code" 0
run writ metric draft -C "$ws" --output draft.yaml
is "and never over a file" "$code" 2
mv "$ws/metrics/sales.yaml" "$ws/sales.old" && mv "$ws/draft.yaml" "$ws/metrics/draft.yaml"
run writ metric check -C "$ws" --json
json "the draft is a right model" .ok true
run writ metric query orders_count --by region -C "$ws" --json
json "that answers" '[.rows[][1]]|add' 9
done_testing
