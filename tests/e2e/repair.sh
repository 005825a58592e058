# An injected first query that fails: the agent repairs it from the database's own words, the fixed
# workflow does not.
. tests/lib/tap.sh
ws=$(fresh sales repair)
question="Which regions had the highest net sales last quarter?"
echo "SELECT sale_region, SUM(quantity) FROM order_items GROUP BY sale_region" >"$ws/first.sql"

run writ ask -C "$ws" "$question" --first-sql "$ws/first.sql" --json
json "the agent completes" .status '"completed"'
json "with the right number" '.rows[0][0:2]' '["East",420]'
json "in its second attempt" '.attempts | length' 1
has "from the verbatim error" "$(printf '%s' "$out" | jq -r '.attempts[0].error')" "no such column: sale_region"
json "and says seeded" .seeded true
run writ ask -C "$ws" "$question" --first-sql "$ws/first.sql" --workflow fixed --json
is "the fixed workflow fails" "$code" 1
json "  after one attempt" '[.status,.workflow,.seeded]' '["failed","fixed",true]'
has "  with the database's words" "$(printf '%s' "$out" | jq -r '.reason')" "no such column: sale_region"
run writ ask -C "$ws" "$question" --workflow fixed --json
json "the fixed workflow answers when its query is right" '[.status,.workflow]' '["completed","fixed"]'
run writ ask -C "$ws" "$question" --first-sql "$ws/first.sql"
has "a person reads it too" "$out" "seeded"
done_testing
