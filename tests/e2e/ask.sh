# A question in, a right answer with its proof out.
. tests/lib/tap.sh
ws=examples/sales

run writ ask -C $ws "Which regions had the highest net sales last quarter?" --json
is "the question is answered" "$code" 0
json "status" .status '"completed"'
json "regions and net sales" '[.rows[][0:2]]' '[["East",420],["West",300],["South",90],["Unknown",40]]'
json "the period is half-open" .period '{"from":"2026-07-01","to":"2026-10-01","timezone":"Europe/Berlin"}'
json "unit" '.units[1]' '"USD"'
json "row count" '[.row_count,.truncated]' '[4,false]'
json "bytes were scanned" '.bytes_scanned > 0' true
json "the SQL is shown" '.sql | test("SELECT")' true
json "the definition has file and line" '.definitions[0].source | test("^metrics/.*:[0-9]+$")' true
json "no model was called" '[.usage.model,.usage.model_calls]' '["builtin",0]'
json "records" '.audit.records | length > 3' true
json "no flags" .flags '[]'
text=$(printf '%s' "$out" | jq -r .answer)
for part in "completed orders" "2026-07-01 to before 2026-10-01" "USD" "missing discount 0" "missing region Unknown"; do
	has "the words say: $part" "$text" "$part"
done

run writ ask -C $ws "Which regions had the highest net sales last quarter?"
for part in "East" "420.00" "SELECT" "definition" "metrics/" "records" "scanned" "█"; do
	has "a person sees: $part" "$out" "$part"
done

run writ ask -C $ws "How many completed orders did each region have last quarter?" --json
json "orders per region" '[.rows[][0:2]] | sort' '[["East",2],["South",1],["Unknown",1],["West",1]]'

run writ ask -C $ws "How many orders are there?" --json
json "nine orders" '.rows[0][0]' 9

run writ ask -C $ws "Who are our best customers?" --json
is "a question back is not a completed answer" "$code" 1
json "it asks" .status '"needs_input"'
json "one list per part" '[.question.parts[].name] | sort' '["metric","period"]'
json "no metric among the periods" '([.question.parts[]|select(.name=="metric").choices[].value]) as $m | [.question.parts[]|select(.name=="period").choices[].value] | map(select(. as $p | $m | index($p))) ' '[]'
task=$(printf '%s' "$out" | jq -r .task)
run writ task answer "$task" metric=net_sales "period=last quarter" -C $ws --json
json "answered, it completes" .status '"completed"'
json "the best customer" '.rows[0][1]' '300'

run writ ask -C $ws "What was our profit last quarter?" --json
is "refused" "$code" 1
json "profit is refused" .status '"refused"'
has "it names what is missing" "$(printf '%s' "$out" | jq -r '.reason+.hint' | tr A-Z a-z)" "profit"
has "it names what exists" "$(printf '%s' "$out" | jq -r '.reason+.hint' | tr A-Z a-z)" "net sales"
hasnt "and does not answer with it" "$(printf '%s' "$out" | jq -c 'del(.task,.audit,.latency_ms)')" "850"

run writ ask -C $ws "Delete the cancelled orders." --json
json "changes are refused" .status '"refused"'
hasnt "nothing is offered that would help" "$out" "DELETE"

run writ ask -C $ws "What was net sales last quarter?" --json
json "the total" '.rows[0][0]' '850'

run writ ask -C examples/widgets "What was revenue of Widgets last quarter?" --json
json "widgets" '[.status,.rows[0][0]]' '["completed",1000]'

bare=$(fresh sales bare)
sed -i '/- list_metrics/d' "$bare/scopes/sales.yaml"
run writ ask -C "$bare" "What was net sales last quarter?" --json
json "without list_metrics nothing can be planned" .status '"refused"'
json "  which names the tool" '.reason | contains("may not use the tool list_metrics")' true
json "  and says what to add" '.hint | contains("allow list_metrics to sales-query-01")' true
done_testing
