# Employees, projects, issues: a plain count, a join, a question back, a recovery.
. tests/lib/tap.sh
ws=$(fresh company company)
# expected QUESTION EXPRESSION: from the answers that the generator worked out without SQL
expected() { jq -c --arg question "$1" ".answers[] | select(.question == \$question) | $2" "$ws/expected.json"; }

run writ ask -C "$ws" "How many open issues are there?" --json
json "open issues" '[.status,.rows[0][0]]' "[\"completed\",$(expected "How many open issues are there?" ".rows[0][0]")]"
run writ ask -C "$ws" "Which AI-team members have open issues on Project Phoenix?" --json
json "members by join" '[.rows[][0]] | sort' "$(expected "Which AI-team members have open issues on Project Phoenix?" ".names | sort")"
run writ ask -C "$ws" "How many open issues are left on the AI project?" --json
json "two AI projects: a question back" .status '"needs_input"'
json "  with both as choices" '[.question.parts[].choices[].value] | sort' '["Project Atlas","Project Phoenix"]'
task=$(printf '%s' "$out" | jq -r .task)
part=$(printf '%s' "$out" | jq -r '.question.parts[0].name')
run writ task answer "$task" "$part=Project Atlas" -C "$ws" --json
json "  answered" '[.status,.rows[0][0]]' "[\"completed\",$(expected "How many open issues are left on the AI project?" ".choices[\"Project Atlas\"]")]"
run writ ask -C "$ws" "Using the severity column, how many critical issues are open?" --json
json "no such column: recovered" '[.status,.rows[0][0]]' "[\"completed\",$(expected "Using the severity column, how many critical issues are open?" ".rows[0][0]")]"
has "  the error is shown" "$(printf '%s' "$out" | jq -r '.attempts[0].error')" "severity"
isnt "  and a note says what was used" "$(printf '%s' "$out" | jq -r '[.flags[].message]|join(" ")' | grep -c priority)" 0
# The fourth and the fifth have as many: a cut between them is told.
run writ ask -C "$ws" "Top 4 projects by number of open issues" --json
json "a cut between equals" '[.status, .row_count, ([.flags[] | select(.code == "result.tie")][0].message | startswith("Project Granite: the same"))]' '["completed",4,true]'
run writ ask -C "$ws" "Top 3 projects by number of open issues" --json
json "none elsewhere" '[.row_count, ([.flags[] | select(.code == "result.tie")] | length)]' '[3,0]'
done_testing
