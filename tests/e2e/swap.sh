# Decisions while policies are swapped under them: each is explained by exactly the bundle that its
# record names. WRIT_SWAPS, WRIT_CALLERS and WRIT_PAUSE make it longer.
. tests/lib/tap.sh
swaps=${WRIT_SWAPS:-12}
callers=${WRIT_CALLERS:-2}
pause=${WRIT_PAUSE:-0.05} # between swaps
ws=$(fresh sales swap)
scope=$ws/scopes/sales.yaml
writ policy apply -C "$ws" >/dev/null
wide=$(writ policy compile -C "$ws")
sed -i 's/customers: {columns: \[customer_id, region\]}/customers: {columns: [customer_id]}/' "$scope"
mv "$ws/scopes/tests" "$ws/tests.kept" # they hold for the other one
writ policy apply -C "$ws" >/dev/null
narrow=$(writ policy compile -C "$ws")
isnt "two policies" "$narrow" "$wide"
serve "$ws"
caller() {
	while [ ! -e "$ws/enough" ]; do
		writ call --agent sales-query-01 run_query '{"sql":"SELECT region, COUNT(*) FROM customers GROUP BY region"}' -C "$ws" --json >/dev/null 2>&1
	done
}
n=0
while [ "$n" -lt "$callers" ]; do
	caller &
	n=$((n + 1))
done
n=0 failed=0
while [ "$n" -lt "$swaps" ]; do
	writ policy rollback "$wide" -C "$ws" >/dev/null || failed=$((failed + 1))
	sleep "$pause"
	writ policy rollback "$narrow" -C "$ws" >/dev/null || failed=$((failed + 1))
	sleep "$pause"
	n=$((n + 1))
done
touch "$ws/enough"
is "every swap takes effect at once" "$failed" 0
run writ status -C "$ws" --json
json "the epoch rose with each" ".policy.epoch >= 2 * $swaps" true
stop_service
run writ policy replay recorded -C "$ws" --json
is "every decision is that of the bundle it names" "$code" 0
json "  none changes" '[.would_allow, .would_deny]' '[0,0]'
# A token of the one policy may not cover a call under the other: then no rule decided.
json "  none is left out that rules decided" '.reasons | del(.decided_elsewhere)' '{}'
json "  and there are many" ".unchanged >= $swaps" true
echo "# $(printf '%s' "$out" | jq -r .unchanged) decisions during $((2 * swaps)) swaps"
run writ policy replay "$wide" -C "$ws" --json
json "under the one, some would have been allowed" '.would_allow > 0 and .would_deny == 0' true
run writ policy replay "$narrow" -C "$ws" --json
json "under the other, some would have been denied" '.would_deny > 0 and .would_allow == 0' true
run writ audit verify -C "$ws"
is "and the log verifies" "$code" 0
done_testing
