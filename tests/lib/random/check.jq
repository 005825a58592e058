# Judges answers against cases: one object for each, {verdict, kind, question, want, got}.
#
#   jq -n --slurpfile cases A --slurpfile answers B --slurpfile afters C -f check.jq
#
# answers[i] is the answer to cases[i]; afters[i] the one behind the choice that cases[i] names, or
# null. Verdicts: ok; missed (an honest refusal or question where an answer was due); wrong.

def number: type == "number";
def near($a; $b): ($a - $b | fabs) <= 1e-9 * ([1, ($b | fabs)] | max);
def same_value($a; $b):
	if ($a | number) and ($b | number) then near($a; $b) else $a == $b end;
def same_row($a; $b):
	($a | length) == ($b | length) and
	all(range($a | length); same_value($a[.]; $b[.]));
def same_list($a; $b):
	($a | length) == ($b | length) and all(range($a | length); same_row($a[.]; $b[.]));
# Numbers that differ in the last places only must sort alike.
def by_value: sort_by(map(if number then (. * 1e6 | round) else . end));
def same_rows($got; $want; $ordered):
	if $ordered then same_list($got; $want)
	else same_list($got | by_value; $want | by_value) end;

def says($answer; $words):
	($answer | [.reason // "", .hint // ""] | join(" ") | ascii_downcase) as $text
	| all($words[]; . as $word | $text | contains($word | ascii_downcase));
def offered($answer): [$answer.question.parts[]?.choices[]?.value];
def period_fits($answer; $expect):
	$expect.period == null or
	($answer.period | {from, to}) == ($expect.period | {from, to});

# A single number stands in the words as well, however it is grouped there.
def words_fit($answer):
	$answer.rows as $rows
	| if ($rows | length) == 1 and ($rows[0] | length) == 1 and ($rows[0][0] | number) then
		($answer.answer // "" | gsub("[,\u00a0\u202f]"; ""))
		| contains($rows[0][0] | fabs | floor | tostring)
	else true end;

def judge_completed($answer; $expect):
	if $answer.status == "completed" then
		if same_rows($answer.rows // []; $expect.rows; $expect.ordered // false)
			and period_fits($answer; $expect) and words_fit($answer)
		then "ok" else "wrong" end
	elif ($answer.status == "refused" or $answer.status == "needs_input")
		and ($answer | has("rows") | not)
	then if $expect.optional then "ok" else "missed" end
	else "wrong" end;
def judge_then($expect; $after):
	if $expect.after == null then "ok"
	elif $after.status == "completed"
		and same_rows($after.rows // []; $expect.after.rows; $expect.after.ordered // false)
	then "ok" else "wrong" end;
def judge_slip($answer):
	if ($answer.status == "refused" or $answer.status == "needs_input") and ($answer | has("rows") | not)
	then "ok" else "wrong" end;
def judge_doubt($answer; $expect; $after):
	if $expect.status == "unanswered" then judge_slip($answer)
	elif $answer.status != $expect.status or ($answer | has("rows")) then "wrong"
	elif says($answer; $expect.says // []) | not then "wrong"
	elif ($expect.choices // []) - offered($answer) != [] then "wrong"
	else judge_then($expect; $after) end;

range($cases | length) as $i
| $cases[$i] as $case | ($answers[$i] // {}) as $answer | $afters[$i] as $after
| $case.expect as $expect
| {
	verdict: (if $expect.status == "completed" then judge_completed($answer; $expect)
		else judge_doubt($answer; $expect; $after) end),
	answerable: ($expect.status == "completed"),
	kind: $case.kind, question: $case.question, want: $expect,
	got: ($answer | {status, rows, period, answer, sql, reason, hint, question, after: $after.rows})
}
