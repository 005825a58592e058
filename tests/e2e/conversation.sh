# A conversation on a terminal: questions, a question back answered by number, /sql, /audit, /trace.
. tests/lib/tap.sh
ws=$(fresh sales conversation)
talk() { # LINE...: what a person types; prints what the terminal shows
	{ for line in "$@"; do sleep 0.4; printf '%s\n' "$line"; done; sleep 0.4; } |
		script -qec "writ ask -C $ws" /dev/null 2>&1 | tr -d '\r'
}
out=$(talk "/sql" "What was net sales last quarter?" "/sql" "/audit" "/trace" \
	"How many orders are there?" "/quit")
has "it greets" "$out" "/help"
has "nothing was answered before the first question" "$out" "nothing was answered yet"
has "a question is answered" "$out" "850.00"
has "/sql shows the statement" "$out" "SELECT"
has "/audit shows disclosures" "$out" "disclosures"
has "/trace is said" "$out" "trace is on"
has "and shows the steps" "$out" "run_query"
out=$(talk "Who are our best customers?" "1" "4" "/quit")
has "a question back is put part by part" "$out" "choose>"
has "numbers answer it" "$out" "300.00"
out=$(talk "Who are our best customers?" "" "How many orders are there?" "/quit")
has "an empty line leaves it open" "$out" "left open"
has "and the conversation goes on" "$out" "order_count"
# Questions that are read together with the one before.
out=$(talk "Net sales by region last quarter" "only the East" "what about West?" "/sql" "/quit")
has "the first one stands alone" "$out" "420.00"
has "a follow-up keeps metric, grouping and period" "$out" "kept from it: the metric, the grouping, the period"
has "  and changes the filter" "$(printf '%s' "$out" | sed -n '/what about West/,$p')" "300.00"
hasnt "  which is not there any more" "$(printf '%s' "$out" | sed -n '/what about West/,$p')" "420.00"
out=$(talk "What was net sales last quarter?" "and by region?" "as a share" "/new" "as a share" "/quit")
has "a grouping is added" "$out" "East"
has "as a share" "$out" "49.4"
has "/new forgets the question before" "$out" "the next question stands alone"
has "  so that this one is not complete" "$out" "choose>"
out=$(talk "What was net sales last quarter?" "and by month?" "last year instead" "/sql" "/quit")
has "another period" "$out" "2025-01-01"
out=$(talk "What was net sales last quarter?" "and how many orders?" "/sql" "/quit")
has "another metric in the same period" "$(printf '%s' "$out" | sed -n '/and how many/,$p')" "2026-07-01"
run writ ask -C "$ws" "only the East" --json
json "without a conversation it is not complete" .status '"needs_input"'
done_testing
