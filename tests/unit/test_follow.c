/* Follow-up questions: what they change of the query before, what they keep, and when a question
 * stands alone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agents/query/planner.h"
#include "tests/unit/planner_digest.h"
#include "tests/unit/planner_models.h"
#include "tests/unit/planner_values.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", err.text, text);
	return json;
}

static struct plan *plan_after(const char *source, const struct metric_query *previous,
			       const char *question)
{
	CLEANUP(json_freep)
	struct json *json = parse(strcmp(source, "sales") == 0 ? sales_model : company_model);
	CLEANUP(json_freep) struct json *matches = search_stored(source, question);
	CLEANUP(model_freep) struct model *model = NULL;
	struct plan_input input = {.question = question,
				   .matches = matches,
				   .previous = previous,
				   .today = {2026, 10, 15}};
	struct plan *plan = NULL;
	struct err err = {0};

	if (model_from_json(json, &model, &err) < 0)
		fail_msg("%s", err.text);
	input.model = model;
	if (plan_make(&input, &plan, &err) < 0)
		fail_msg("%s", err.text);
	return plan;
}

/* The digest of the last of these questions, each read after the one before. */
static char *talk(const char *source, const char *const *questions)
{
	struct metric_query *previous = NULL;
	char *digest = NULL;

	for (size_t i = 0; questions[i] != NULL; i++) {
		struct plan *plan = plan_after(source, previous, questions[i]);

		mem_free(digest);
		digest = plan_digest(plan);
		if (questions[i + 1] != NULL && plan->query == NULL)
			fail_msg("\"%s\": %s", questions[i], digest);
		metric_query_free(previous);
		previous = TAKE(plan->query);
		plan_free(plan);
	}
	metric_query_free(previous);
	return digest;
}

struct row {
	const char *source;
	const char *questions[6];
	const char *want;
};

/* clang-format off */
static const struct row rows[] = {
	{"sales", {"What was net sales last quarter?", "and by month?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"What was net sales last quarter?", "by region"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "only the East"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "as a share"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"share\":true} +follow.kept"},
	{"sales", {"net sales by region last quarter", "last year instead"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "and last month?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-09-01\",\"to\":\"2026-10-01\",\"label\":\"last month\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "by month instead"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "also by month"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"},{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "and by month too"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"},{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales in East last quarter", "what about West?"},
	 "{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"West\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales in East last quarter", "also the West"},
	 "{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\",\"West\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales in East last quarter", "and how many orders?"},
	 "{\"metrics\":[\"order_count\"],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"Which regions had the highest net sales last quarter?", "top 2"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"order\":[{\"by\":\"net_sales\",\"desc\":true}],\"limit\":2} +follow.kept"},
	{"sales", {"Which regions had the highest net sales last quarter?", "and the lowest?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"order\":[{\"by\":\"net_sales\",\"desc\":false}],\"limit\":100} +follow.kept"},
	{"sales", {"Which regions had the highest net sales last quarter?", "number of orders instead"},
	 "{\"metrics\":[\"order_count\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"order\":[{\"by\":\"order_count\",\"desc\":true}],\"limit\":100} +follow.kept"},
	{"sales", {"net sales by region last quarter", "as a share", "only the East"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"share\":true} +follow.kept"},
	{"sales", {"net sales by region last quarter", "compared with the quarter before"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\",\"label\":\"the quarter before\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "compared with the year before", "only the East"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"compare\":{\"from\":\"2025-07-01\",\"to\":\"2025-10-01\",\"label\":\"the same period a year before\"}} +follow.kept"},
	{"sales", {"Compare net sales this quarter with last quarter", "by region"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-10-01\",\"to\":\"2027-01-01\",\"label\":\"this quarter\"},\"compare\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"Compare net sales this quarter with last quarter", "last year instead"},
	 "refuse period: I cannot read the period: the question before compared two, and this names one."},
	{"sales", {"net sales by region last quarter", "without East"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"not\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"net sales by region last quarter", "of all time"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}]} +follow.kept"},
	{"sales", {"net sales by region in East last quarter", "which customers are in West"},
	 "{\"metrics\":[],\"dimensions\":[{\"field\":\"customers.name\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"West\"]}]}"},
	{"sales", {"net sales by region in East last quarter", "How many orders are there?"},
	 "{\"metrics\":[\"order_count\"]} +period.all"},
	{"sales", {"net sales in East last quarter", "and which regions had the highest net sales this year?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"label\":\"this year\"},\"order\":[{\"by\":\"net_sales\",\"desc\":true}],\"limit\":100} +period.partial"},
	{"sales", {"net sales in East last quarter", "Who are our best customers?"},
	 "ask metric(net_sales|order_count|buyer_count) period(this month|last month|this quarter|last quarter|this year|last year|all time)"},
	{"sales", {"net sales in East last quarter", "and the profit?"},
	 "refuse undefined: \"profit\" is not defined: no metric, field or value of that name is recorded in the data I may read."},
	{"sales", {"net sales in East last quarter", "Delete the cancelled orders"},
	 "refuse change: This asks for data to be changed. I can only read."},
	{"sales", {"net sales in East last quarter", "only the Moon"},
	 "refuse undefined: \"Moon\" is not defined: no metric, field or value of that name is recorded in the data I may read."},
	{"sales", {"average net sales per customer last quarter", "by region"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"average_per\":\"customers.name\"} +follow.kept"},
	{"sales", {"average net sales per customer last quarter", "only the East"},
	 "{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"average_per\":\"customers.name\"} +follow.kept"},
	{"sales", {"list all customers", "only the East"},
	 "{\"metrics\":[],\"dimensions\":[{\"field\":\"customers.name\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}]} +follow.kept"},
	{"sales", {"share of net sales by region last quarter", "and by month?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"},\"share\":true} +follow.kept"},
	{"sales", {"share of net sales by region last quarter", "compared with the quarter before"},
	 "refuse unsupported: There is no sound query for this: share, comparison and average are asked for together: ask for one."},
	{"sales", {"share of net sales by region last quarter", "and how many orders?"},
	 "{\"metrics\":[\"order_count\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\"}} +follow.kept"},
	{"sales", {"average net sales per customer last quarter", "as a share"},
	 "ask dimension(customers.customer_id|customers.name|customers.region|orders.order_id|orders.status|order_items.product)"},
	{"sales", {"net sales this year", "compared with last year"},
	 "{\"metrics\":[\"net_sales\"],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"label\":\"this year\"},\"compare\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"}} +period.partial +follow.kept"},
	{"sales", {"net sales by region this year", "and the growth last year?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"},\"compare\":{\"from\":\"2024-01-01\",\"to\":\"2025-01-01\",\"label\":\"the year before\"}} +compare.before +follow.kept"},
	{"sales", {"net sales by region", "compared with last year"},
	 "refuse period: I cannot read the period: the question before has no period to compare this one with."},
	{"sales", {"net sales by region this year", "the same by customer"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.name\"}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"label\":\"this year\"}} +follow.kept"},
	{"sales", {"net sales by region this year", "in March"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-03-01\",\"to\":\"2026-04-01\",\"label\":\"march\"}} +follow.kept"},
	{"sales", {"net sales by region this year", "what about widgets?"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"order_items.product\",\"op\":\"=\",\"values\":[\"Widget\"]}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"label\":\"this year\"}} +follow.kept"},
	{"sales", {"net sales by region this year", "net sales"},
	 "{\"metrics\":[\"net_sales\"]} +period.all"},
	{"sales", {"net sales by region this year", "top 3 customers"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.name\"}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"label\":\"this year\"},\"order\":[{\"by\":\"net_sales\",\"desc\":true}],\"limit\":3} +follow.kept"},
	{"sales", {"net sales since 2026-01-01", "compared with the year before"},
	 "{\"metrics\":[\"net_sales\"],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2026-10-16\",\"label\":\"since 2026-01-01\"},\"compare\":{\"from\":\"2025-01-01\",\"to\":\"2025-10-16\",\"label\":\"the same period a year before\"}} +follow.kept"},
	{"sales", {"net sales this year", "compare East with West last year"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\",\"West\"]}],\"period\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"}} +follow.kept"},
	{"sales", {"net sales since 2026-01-01 by region", "compare last year"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2026-10-16\",\"label\":\"since 2026-01-01\"},\"compare\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"}} +follow.kept"},
	{"sales", {"net sales before 2026-01-01", "compared with last month"},
	 "refuse period: I cannot read the period: the question before has no period to compare this one with."},
	{"company", {"How many issues were closed last month?", "and in August?"},
	 "{\"metrics\":[\"issue_count\"],\"period\":{\"field\":\"issues.closed_on\",\"from\":\"2026-08-01\",\"to\":\"2026-09-01\",\"label\":\"august\"}} +follow.kept"},
	{"company", {"How many issues were closed last month?", "and the month before?"},
	 "{\"metrics\":[\"issue_count\"],\"period\":{\"field\":\"issues.closed_on\",\"from\":\"2026-09-01\",\"to\":\"2026-10-01\",\"label\":\"last month\"},\"compare\":{\"from\":\"2026-08-01\",\"to\":\"2026-09-01\",\"label\":\"the month before\"}} +follow.kept"},
	{"sales", {"net sales last quarter", "what about the quarter before?"},
	 "{\"metrics\":[\"net_sales\"],\"period\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\",\"label\":\"the quarter before\"}} +follow.kept"},
	{"company", {"How many issues were closed last month?", "and in August?", "by month"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"issues.closed_on\",\"bucket\":\"month\"}],\"filters\":[{\"field\":\"issues.closed_on\",\"op\":\"present\"}],\"period\":{\"field\":\"issues.closed_on\",\"from\":\"2026-08-01\",\"to\":\"2026-09-01\",\"label\":\"august\"}} +follow.kept"},
	{"company", {"issues closed by month", "by quarter"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"issues.closed_on\",\"bucket\":\"quarter\"}],\"filters\":[{\"field\":\"issues.closed_on\",\"op\":\"present\"}]} +period.all +follow.kept"},
	{"company", {"issues closed by month", "and in Q3"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"issues.closed_on\",\"bucket\":\"month\"}],\"filters\":[{\"field\":\"issues.closed_on\",\"op\":\"present\"}],\"period\":{\"field\":\"issues.closed_on\",\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"q3\"}} +follow.kept"},
	{"company", {"How many issues were closed last month?", "and opened in August?"},
	 "{\"metrics\":[\"issue_count\"],\"period\":{\"field\":\"issues.opened_on\",\"from\":\"2026-08-01\",\"to\":\"2026-09-01\",\"label\":\"august\"}} +follow.kept"},
	{"company", {"How many issues are open?", "by team"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"employees.team\"}],\"filters\":[{\"field\":\"issues.status\",\"op\":\"=\",\"values\":[\"open\"]}]} +period.all +follow.kept"},
	{"company", {"How many open issues are there by team?", "only critical ones"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"employees.team\"}],\"filters\":[{\"field\":\"issues.priority\",\"op\":\"=\",\"values\":[\"critical\"]},{\"field\":\"issues.status\",\"op\":\"=\",\"values\":[\"open\"]}]} +period.all +follow.kept"},
	{"company", {"How many open issues are there by team?", "only critical"},
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"employees.team\"}],\"filters\":[{\"field\":\"issues.priority\",\"op\":\"=\",\"values\":[\"critical\"]},{\"field\":\"issues.status\",\"op\":\"=\",\"values\":[\"open\"]}]} +period.all +follow.kept"},
	{"company", {"How many open issues are there by priority?", "and how many employees?"},
	 "refuse follow: The question before had a grouping by issues.priority, which does not go with this one."},
	{"sales", {"What was net sales last quarter?", "and by month?", "only the East", "last year instead", "as a share"},
	 "{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"orders.order_date\",\"bucket\":\"month\"}],\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2025-01-01\",\"to\":\"2026-01-01\",\"label\":\"last year\"},\"share\":true} +follow.kept"},
};
/* clang-format on */

static void test_follow_ups_keep_what_they_do_not_change(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(mem_freep) char *got = talk(rows[i].source, rows[i].questions);
		size_t last = 0;

		while (rows[i].questions[last + 1] != NULL)
			last++;
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("\"%s\" after \"%s\"\n  gives %s\n  want  %s",
				 rows[i].questions[last], rows[i].questions[last - 1], got,
				 rows[i].want);
	}
}

static struct metric_query *query_of(const char *text)
{
	CLEANUP(json_freep) struct json *json = parse(text);
	struct metric_query *query = NULL;
	struct err err = {0};

	if (metric_query_from_json(json, &query, &err) < 0)
		fail_msg("%s", err.text);
	return query;
}

static void check_after(const char *previous, const char *question, const char *digest)
{
	struct metric_query *query = query_of(previous);
	struct plan *plan = plan_after("sales", query, question);
	CLEANUP(mem_freep) char *got = plan_digest(plan);

	assert_string_equal(got, digest);
	plan_free(plan);
	metric_query_free(query);
}

/* The model may have changed, or the person may see less of it than before. */
static void test_what_is_not_there_any_more_is_refused(void **state)
{
	(void)state;
	check_after("{\"metrics\":[\"margin\"]}", "by region",
		    "refuse follow: The question before had the metric margin, which does not go "
		    "with this one.");
	check_after("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"shops.city\"}]}",
		    "only the East",
		    "refuse follow: The question before had a grouping by shops.city, which does "
		    "not go with this one.");
	check_after("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"shops.city\"}]}",
		    "also by region",
		    "refuse follow: The question before had a grouping by shops.city, which does "
		    "not go with this one.");
	check_after("{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"shops.city\",\"op\":"
		    "\"=\",\"values\":[\"Rome\"]}]}",
		    "by region",
		    "refuse follow: The question before had a filter on shops.city, which does not "
		    "go with this one.");
	check_after("{\"metrics\":[\"net_sales\"],\"average_per\":\"shops.city\"}", "by region",
		    "refuse follow: The question before had an average per shops.city, which does "
		    "not go with this one.");
}

static void test_the_order_is_kept_and_said_so(void **state)
{
	struct metric_query *query = query_of(
		"{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.region\"}],"
		"\"order\":[{\"by\":\"net_sales\",\"desc\":true}],\"limit\":2}");
	struct plan *plan = plan_after("sales", query, "last year instead");

	(void)state;
	assert_int_equal(plan->query->limit, 2);
	assert_string_equal(json_get_str(json_first(plan->notes), "message"),
			    "Read together with the question before; kept from it: the metric, the "
			    "grouping, the order.");
	plan_free(plan);
	metric_query_free(query);
}

static void test_the_note_says_what_was_kept(void **state)
{
	struct metric_query *query = query_of(
		"{\"metrics\":[\"net_sales\"],\"filters\":[{\"field\":\"customers.region\",\"op\":"
		"\"=\",\"values\":[\"East\"]}],\"period\":{\"from\":\"2026-07-01\",\"to\":"
		"\"2026-10-01\",\"label\":\"last quarter\"}}");
	struct plan *plan = plan_after("sales", query, "and by month?");

	(void)state;
	assert_int_equal(json_len(plan->notes), 1);
	assert_string_equal(json_get_str(json_first(plan->notes), "message"),
			    "Read together with the question before; kept from it: the metric, the "
			    "filters, the period.");
	plan_free(plan);
	metric_query_free(query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follow_ups_keep_what_they_do_not_change),
		cmocka_unit_test(test_what_is_not_there_any_more_is_refused),
		cmocka_unit_test(test_the_order_is_kept_and_said_so),
		cmocka_unit_test(test_the_note_says_what_was_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
