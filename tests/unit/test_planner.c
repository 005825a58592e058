/* The planner on hand-made models: each question has one right plan, question or refusal. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/planner.h"
#include "tests/unit/planner_digest.h"
#include "tests/unit/planner_models.h"
#include "tests/unit/planner_rows.h"
#include "tests/unit/planner_values.h"

static struct model *load(const char *source)
{
	const char *text = strcmp(source, "sales") == 0	    ? sales_model
			   : strcmp(source, "company") == 0 ? company_model
							    : widgets_model;
	struct json *json = NULL;
	struct model *model = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0 || model_from_json(json, &model, &err) < 0)
		fail_msg("%s", err.text);
	json_free(json);
	return model;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (text != NULL)
		assert_int_equal(json_parse_str(text, &json, &err), 0);
	return json;
}

static struct plan *plan_of(const struct model *model, const struct planner_row *row,
			    const struct json *matches, bool distrust)
{
	CLEANUP(json_freep) struct json *choices = parse(row->choices);
	CLEANUP(json_freep) struct json *lookups = parse(row->lookups);
	const struct plan_input input = {
		.question = row->question,
		.model = model,
		.matches = matches,
		.choices = choices,
		.lookups = lookups,
		.today = {2026, 10, 15},
		.distrust_column = distrust,
	};
	struct plan *plan = NULL;
	struct err err = {0};

	if (plan_make(&input, &plan, &err) < 0)
		fail_msg("\"%s\": %s", row->question, err.text);
	return plan;
}

/* A plan that comes out must also be one that the compiler can make sound SQL of. */
static void check_compiles(const struct model *model, const struct planner_row *row,
			   const struct plan *plan)
{
	struct compiled_query *compiled = NULL;
	struct err err = {0};

	if (plan->query == NULL || plan->column != NULL)
		return;
	if (metric_query_compile(plan->query, model, &compiled, &err) < 0)
		fail_msg("\"%s\" does not compile: %s", row->question, err.text);
	compiled_query_free(compiled);
}

static void check_row(const struct planner_row *row)
{
	struct model *model = load(row->source);
	struct json *matches = search_stored(row->source, row->question);
	struct plan *plan = plan_of(model, row, matches, false);
	CLEANUP(mem_freep) char *got = plan_digest(plan);

	if (strcmp(got, row->want) != 0)
		fail_msg("\"%s\"\n  gives %s\n  want  %s", row->question, got, row->want);
	check_compiles(model, row, plan);
	plan_free(plan);
	json_free(matches);
	model_free(model);
}

static void test_questions_have_their_plan(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(planner_rows) >= 80);
	for (size_t i = 0; i < ARRAY_LEN(planner_rows); i++)
		check_row(&planner_rows[i]);
}

static struct plan *ask(const char *source, const char *question, const struct json *matches,
			bool distrust)
{
	const struct planner_row row = {.source = source, .question = question};
	struct model *model = load(source);
	struct plan *plan = plan_of(model, &row, matches, distrust);

	model_free(model);
	return plan;
}

static void test_a_column_that_does_not_exist_is_replaced_with_a_note(void **state)
{
	const char *question = "Using the severity column, how many critical issues are open?";
	struct json *matches = search_stored("company", question);
	struct plan *plan = ask("company", question, matches, true);
	CLEANUP(mem_freep) char *got = plan_digest(plan);

	(void)state;
	assert_string_equal(
		got, "{\"metrics\":[\"issue_count\"],\"filters\":[{\"field\":\"issues.priority\","
		     "\"op\":\"=\",\"values\":[\"critical\"]},{\"field\":\"issues.status\","
		     "\"op\":\"=\",\"values\":[\"open\"]}]} +column.replaced +period.all");
	assert_string_equal(json_get_str(json_first(plan->notes), "message"),
			    "There is no column \"severity\"; \"critical\" is a value of "
			    "issues.priority, which was used.");
	plan_free(plan);
	json_free(matches);
}

static void test_a_column_value_that_is_stored_nowhere_is_refused_in_the_end(void **state)
{
	const char *question = "Using the severity column, how many fatal issues are open?";
	struct json *matches = search_stored("company", question);
	struct plan *first = ask("company", question, matches, false);
	struct plan *second = ask("company", question, matches, true);
	CLEANUP(mem_freep) char *tried = plan_digest(first);

	(void)state;
	assert_non_null(strstr(
		tried, "{\"field\":\"issues.severity\",\"op\":\"=\",\"values\":[\"fatal\"]}"));
	assert_int_equal(second->kind, PLAN_REFUSE);
	assert_string_equal(second->code, "unknown_word");
	assert_non_null(strstr(second->reason, "\"fatal\""));
	plan_free(first);
	plan_free(second);
	json_free(matches);
}

static void test_a_similar_value_is_asked_about_and_then_used(void **state)
{
	struct json *matches =
		parse("[{\"table\":\"customers\",\"column\":\"region\",\"value\":\"East\","
		      "\"phrase\":\"eest\",\"exact\":false}]");
	struct plan *plan = ask("sales", "net sales in Eest", matches, false);
	CLEANUP(mem_freep) char *asked = plan_digest(plan);
	const struct planner_row row = {.source = "sales",
					.question = "net sales in Eest",
					.choices = "{\"eest\":\"East\"}"};
	struct model *model = load("sales");
	struct plan *answered = plan_of(model, &row, matches, false);
	CLEANUP(mem_freep) char *used = plan_digest(answered);

	(void)state;
	assert_string_equal(asked, "ask eest(East)");
	assert_string_equal(used,
			    "{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"customers."
			    "region\",\"op\":\"=\",\"values\":[\"East\"]}]} +period.all");
	plan_free(plan);
	plan_free(answered);
	model_free(model);
	json_free(matches);
}

static void test_refusals_name_what_is_missing_and_what_exists(void **state)
{
	struct plan *plan = ask("sales", "What was our profit last quarter?", NULL, false);

	(void)state;
	assert_int_equal(plan->kind, PLAN_REFUSE);
	assert_non_null(strstr(plan->reason, "profit"));
	assert_non_null(strstr(plan->hint, "net sales"));
	assert_null(plan->query);
	plan_free(plan);
	plan = ask("sales", "Delete the cancelled orders.", NULL, false);
	assert_string_equal(plan->code, "change");
	assert_null(strstr(plan->hint, "cancelled"));
	assert_null(plan->query);
	plan_free(plan);
}

static void test_each_part_of_a_question_offers_its_own_choices(void **state)
{
	struct plan *plan = ask("sales", "Who are our best customers?", NULL, false);
	const struct json *parts = json_get(plan->question, "parts");
	const struct json *metric = json_at(parts, 0);
	const struct json *period = json_at(parts, 1);

	(void)state;
	assert_int_equal(json_len(parts), 2);
	assert_string_equal(json_get_str(metric, "name"), "metric");
	assert_string_equal(json_get_str(period, "name"), "period");
	json_each(choice, json_get(metric, "choices"))
		assert_null(strstr(json_get_str(choice, "value"), "month"));
	json_each(choice, json_get(period, "choices"))
		assert_null(strstr(json_get_str(choice, "value"), "sales"));
	assert_string_equal(json_get_str(json_at(json_get(period, "choices"), 3), "label"),
			    "last quarter: 2026-07-01 to before 2026-10-01");
	plan_free(plan);
}

static void test_bad_questions_are_errors_or_refusals(void **state)
{
	struct model *model = load("sales");
	struct plan_input input = {.question = "\xff", .model = model, .today = {2026, 10, 15}};
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(plan_make(&input, &plan, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, "question: byte 0 of the text is not UTF-8");
	input.question = " ?! ";
	assert_int_equal(plan_make(&input, &plan, &err), 0);
	assert_string_equal(plan->code, "empty");
	plan_free(plan);
	model_free(model);
}

static void test_what_is_in_no_model_is_never_completed(void **state)
{
	struct json *json = parse("{\"source\":\"empty\",\"datasets\":[],\"relationships\":[],"
				  "\"metrics\":[]}");
	struct model *model = NULL;
	struct err err = {0};
	static const char *const questions[] = {
		"How many orders are there?", "net sales", "top 5", "hello", "which", "by region"};

	(void)state;
	assert_int_equal(model_from_json(json, &model, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		const struct planner_row row = {.question = questions[i]};
		struct plan *plan = plan_of(model, &row, NULL, false);

		assert_int_equal(plan->kind, PLAN_REFUSE);
		assert_non_null(plan->hint);
		plan_free(plan);
	}
	model_free(model);
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions_have_their_plan),
		cmocka_unit_test(test_a_column_that_does_not_exist_is_replaced_with_a_note),
		cmocka_unit_test(test_a_column_value_that_is_stored_nowhere_is_refused_in_the_end),
		cmocka_unit_test(test_a_similar_value_is_asked_about_and_then_used),
		cmocka_unit_test(test_refusals_name_what_is_missing_and_what_exists),
		cmocka_unit_test(test_each_part_of_a_question_offers_its_own_choices),
		cmocka_unit_test(test_bad_questions_are_errors_or_refusals),
		cmocka_unit_test(test_what_is_in_no_model_is_never_completed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
