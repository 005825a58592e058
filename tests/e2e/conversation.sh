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
done_testing
