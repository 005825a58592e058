/* The answer object: what is in it for each kind of outcome, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "orchestrator/answer.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static void check_is(const struct json *json, const char *text)
{
	CLEANUP(buf_clear) struct buf got = BUF_INIT;

	json_write_canonical(json, &got);
	assert_string_equal(buf_str(&got), text);
}

#define RESULT                                                                                     \
	"{\"ok\":true,\"columns\":[\"region\",\"net\"],\"types\":[\"text\",\"real\"],\"rows\":"    \
	"[[\"East\",1.5]],\"row_count\":1,\"truncated\":false,\"bytes_scanned\":8,"                \
	"\"latency_ms\":2,\"records\":[1,2]}"

static void test_a_result_is_taken_over_member_by_member(void **state)
{
	struct query_outcome outcome = {
		.status = "completed",
		.sql = "SELECT 1",
		.result = parse(RESULT),
		.columns = parse("[{\"name\":\"region\"},{\"name\":\"net\",\"unit\":\"USD\"}]"),
		.period = parse("{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\"}"),
		.definitions = parse("[{\"metric\":\"net\"}]"),
		.plan = parse("{\"grain\":\"orders\"}"),
		.attempts = parse("[{\"sql\":\"SELECT 0\",\"error\":\"no\"}]"),
		.flags = parse("[{\"code\":\"zero_rows\"}]"),
		.seeded = true,
		.tool_calls = 4,
	};
	CLEANUP(json_freep) struct json *answer = answer_from_outcome(&outcome);
	CLEANUP(json_freep) struct json *committed = answer_result(answer);

	(void)state;
	check_is(answer,
		 "{\"attempts\":[{\"error\":\"no\",\"sql\":\"SELECT 0\"}],\"bytes_scanned\":8,"
		 "\"columns\":[\"region\",\"net\"],\"definitions\":[{\"metric\":\"net\"}],"
		 "\"flags\":[{\"code\":\"zero_rows\"}],"
		 "\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\"},"
		 "\"plan\":{\"grain\":\"orders\"},\"row_count\":1,\"rows\":[[\"East\",1.5]],"
		 "\"seeded\":true,\"sql\":\"SELECT 1\",\"status\":\"completed\","
		 "\"truncated\":false,\"types\":[\"text\",\"real\"],\"units\":[null,\"USD\"],"
		 "\"usage\":{\"bytes_scanned\":0,\"input_tokens\":0,\"model\":\"builtin\",\"model_calls\":0,"
		 "\"output_tokens\":0,\"tool_calls\":4}}");
	check_is(committed, "{\"columns\":[\"region\",\"net\"],\"row_count\":1,"
			    "\"rows\":[[\"East\",1.5]],\"truncated\":false,"
			    "\"types\":[\"text\",\"real\"]}");
	json_free(outcome.result);
	json_free(outcome.columns);
	json_free(outcome.period);
	json_free(outcome.definitions);
	json_free(outcome.plan);
	json_free(outcome.attempts);
	json_free(outcome.flags);
}

static void test_sql_without_a_plan_has_no_units_and_no_period(void **state)
{
	struct query_outcome outcome = {.status = "completed", .result = parse(RESULT)};
	CLEANUP(json_freep) struct json *answer = answer_from_outcome(&outcome);

	(void)state;
	check_is(json_get(answer, "units"), "[null,null]");
	assert_non_null(json_get(answer, "period"));
	assert_true(json_is_null(json_get(answer, "period")));
	check_is(json_get(answer, "definitions"), "[]");
	check_is(json_get(answer, "attempts"), "[]");
	assert_null(json_get(answer, "seeded"));
	assert_null(json_get(answer, "plan"));
	assert_null(json_get(answer, "sql"));
	json_free(outcome.result);
}

static void test_a_question_back_is_in_the_answer(void **state)
{
	struct query_outcome outcome = {.status = "needs_input",
					.reason = "Which?",
					.question = parse("{\"text\":\"Which?\",\"parts\":[]}")};
	CLEANUP(json_freep) struct json *answer = answer_from_outcome(&outcome);

	(void)state;
	check_is(json_get(answer, "question"), "{\"parts\":[],\"text\":\"Which?\"}");
	assert_null(json_get(answer, "rows"));
	assert_null(json_get(answer, "units"));
	json_free(outcome.question);
}

static void test_a_failure_has_status_reason_and_hint(void **state)
{
	CLEANUP(json_freep) struct json *answer = answer_from_failure("failed", "why", "do that");
	CLEANUP(json_freep) struct json *bare = answer_from_failure("cancelled", NULL, NULL);
	CLEANUP(json_freep) struct json *committed = answer_result(bare);

	(void)state;
	check_is(answer, "{\"attempts\":[],\"definitions\":[],\"flags\":[],\"hint\":\"do that\","
			 "\"reason\":\"why\",\"status\":\"failed\",\"usage\":{\"bytes_scanned\":0,\"input_tokens\":0,"
			 "\"model\":\"builtin\",\"model_calls\":0,\"output_tokens\":0,"
			 "\"tool_calls\":0}}");
	assert_null(json_get(bare, "reason"));
	assert_null(json_get(bare, "hint"));
	check_is(committed, "{}");
}

static void test_the_facts_of_a_report_are_what_the_outcome_has(void **state)
{
	struct query_outcome full = {
		.result = parse("{\"rows\":[]}"),
		.columns = parse("[]"),
		.words = parse("{\"sentence\":\"s\"}"),
		.period = parse("{\"from\":\"a\"}"),
		.definitions = parse("[1]"),
		.flags = parse("[2]"),
		.plan = parse("{}"),
	};
	struct query_outcome none = {.status = "refused"};
	CLEANUP(json_freep) struct json *facts = answer_facts(&full);
	CLEANUP(json_freep) struct json *empty = answer_facts(&none);

	(void)state;
	check_is(facts, "{\"columns\":[],\"definitions\":[1],\"flags\":[2],"
			"\"period\":{\"from\":\"a\"},\"result\":{\"rows\":[]},"
			"\"words\":{\"sentence\":\"s\"}}");
	check_is(empty, "{}");
	json_free(full.result);
	json_free(full.columns);
	json_free(full.words);
	json_free(full.period);
	json_free(full.definitions);
	json_free(full.flags);
	json_free(full.plan);
}

static void test_flags_are_added_behind_those_there_are(void **state)
{
	struct query_outcome outcome = {.status = "completed",
					.flags = parse("[{\"code\":\"a\"}]")};
	CLEANUP(json_freep) struct json *answer = answer_from_outcome(&outcome);

	(void)state;
	answer_add_flag(answer, "b", "note", "said");
	check_is(json_get(answer, "flags"),
		 "[{\"code\":\"a\"},{\"code\":\"b\",\"message\":\"said\",\"severity\":\"note\"}]");
	check_is(outcome.flags, "[{\"code\":\"a\"}]");
	json_free(outcome.flags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_result_is_taken_over_member_by_member),
		cmocka_unit_test(test_sql_without_a_plan_has_no_units_and_no_period),
		cmocka_unit_test(test_a_question_back_is_in_the_answer),
		cmocka_unit_test(test_a_failure_has_status_reason_and_hint),
		cmocka_unit_test(test_the_facts_of_a_report_are_what_the_outcome_has),
		cmocka_unit_test(test_flags_are_added_behind_those_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
