# A suite of questions: what is right, what is wrong, what is compared with what.
. tests/lib/tap.sh
ws=examples/sales
cat >suite.yaml <<'END'
suite: small
tolerance: "0.005"
cases:
  - id: regions
    question: Which regions had the highest net sales last quarter?
    rows: [[East, 420], [West, 300], [South, 90], [Unknown, 40]]
    ordered: true
  - id: total
    question: What were net sales last quarter?
    rows: [[850]]
  - id: profit
    question: What was the profit last quarter?
    expect: refused
  - id: count
    question: How many customers are there by region?
    sql: SELECT COALESCE(region, 'Unknown'), COUNT(*) FROM customers GROUP BY 1
  - id: nothing
    question: Net sales last quarter
    sql: SELECT region FROM customers WHERE 1 = 0
END
run writ eval suite.yaml -C $ws --json --junit out.xml --html out.html
printf '%s' "$out" >first.json
json "rows in order" '[.run.cases[] | select(.id == "regions")][0].outcome' '"right"'
json "a value" '[.run.cases[] | select(.id == "total")][0].outcome' '"right"'
json "an outcome" '[.run.cases[] | select(.id == "profit")][0].outcome' '"right"'
json "an empty right answer is excluded" '[.run.cases[] | select(.id == "nothing")][0].outcome' '"excluded"'
json "nothing is wrong" .run.counts.wrong 0
is "then the exit code is 0" "$code" 0
has "JUnit counts" "$(cat out.xml)" 'tests="5"'
has "the page shows the cases" "$(cat out.html)" "Which regions had the highest net sales last quarter?"
hasnt "and needs nothing from elsewhere" "$(cat out.html)" "http"

# The right answer of a case reaches no agent.
sed 's/\[\[850\]\]/[[850, "canary-4711"]]/' suite.yaml >canary.yaml
run writ eval canary.yaml -C $ws
is "another right answer makes the given one wrong" "$code" 1
has "with both shown" "$out" 'right [[850.0,"canary-4711"]]'
hasnt "no handoff holds it" "$(cat $ws/state/audit/*.jsonl $ws/state/audit/seg/*.jsonl 2>/dev/null)" canary-4711

run writ eval suite.yaml -C $ws --baseline first.json --min-accuracy 0.5 --both
is "the same again is no worse" "$code" 0
has "both workflows are shown" "$out" "fixed"
sed 's/"outcome":"right"/"outcome":"refused"/' first.json >worse.json
run writ eval suite.yaml -C $ws --baseline worse.json
has "what changed is told" "$err" "refused -> right"

# A case with SQL is asked of a second state of the data, where luck ends. Every order has lines,
# so a metric that counts all orders seems to count those of which something was delivered.
fresh sales lucky >/dev/null
mkdir tmp && export TMPDIR="$PWD/tmp"
cat >>lucky/metrics/sales.yaml <<'END'
      - name: deliveries
        expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(DISTINCT orders.order_id)}]}
END
cat >lucky.yaml <<'END'
cases:
  - id: deliveries
    question: How many deliveries?
    sql: SELECT COUNT(DISTINCT order_id) FROM order_items
  - id: units
    question: How many units were sold?
    sql: >-
      SELECT SUM(quantity) FROM order_items JOIN orders USING (order_id) WHERE status = 'completed'
END
run writ eval lucky.yaml -C lucky --states 1
is "luck holds on the data as they are" "$code" 0
run writ eval lucky.yaml -C lucky --json
is "and ends on a changed copy" "$code" 1
json "where the wrong metric is found" '[.run.cases[] | select(.id == "deliveries")][0] | [.states.shipped, .states.changed, .state]' '["right","wrong","changed"]'
json "and the right one holds" '[.run.cases[] | select(.id == "units")][0] | [.outcome, .states.changed]' '["right","right"]'
json "it is told what was changed" '.run.changes.sales.orders.added > 0' true
run writ eval lucky.yaml -C lucky
has "for people too" "$out" "on the changed data; right on the data as they are"
is "nothing of the copy stays" "$(ls "$TMPDIR")" ""
run writ eval suite.yaml -C $ws --states 3
is "there are no three states" "$code" 2

# Mistakes.
printf 'cases:\n  - question: a\n' >bad.yaml
run writ eval bad.yaml -C $ws
is "a suite with mistakes is exit 2" "$code" 2
has "with their place" "$err" "bad.yaml:2:5"
run writ eval none.yaml -C $ws
is "so is one that is not there" "$code" 2
run writ eval suite.yaml -C $ws --runs many
is "and a wrong option" "$code" 2
done_testing
