/* Compiled metric queries, run on SQLite: the values, not the text, are what must be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>

#include "agents/query/metrics/compile.h"
#include "base/file.h"

static sqlite3 *db;
static struct model *model;

static void execute(const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
}

static void open_data(const char *path, const char *model_text)
{
	struct json *json;
	struct err err;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	if (path) {
		const char *source = getenv("WRIT_SOURCE");
		struct buf sql = BUF_INIT;
		int fd = open(source ? source : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (file_read_at(fd, path, 1 << 20, &sql, &err) < 0)
			fail_msg("%s", err.text);
		execute(buf_str(&sql));
		buf_clear(&sql);
		fd_closep(&fd);
	}
	if (json_parse_str(model_text, &json, &err) < 0 || model_from_json(json, &model, &err) < 0)
		fail_msg("%s", err.text);
	json_free(json);
}

static int close_data(void **state)
{
	(void)state;
	model_free(model);
	model = NULL;
	return sqlite3_close(db) == SQLITE_OK ? 0 : -1;
}

static const char sales_model[] =
	"{\"source\":\"sales\",\"datasets\":["
	"{\"name\":\"customers\",\"table\":\"customers\",\"primary_key\":[\"customer_id\"],"
	"\"fields\":["
	"{\"name\":\"name\",\"expression\":\"name\",\"type\":\"string\",\"dimension\":true,"
	"\"names_row\":true,\"label\":\"customer\"},"
	"{\"name\":\"region\",\"expression\":\"region\",\"type\":\"string\",\"dimension\":true,"
	"\"missing\":\"Unknown\"}]},"
	"{\"name\":\"orders\",\"table\":\"orders\",\"primary_key\":[\"order_id\"],"
	"\"time\":\"orders.order_date\",\"fields\":["
	"{\"name\":\"order_date\",\"expression\":\"order_date\",\"type\":\"time\",\"dimension\":"
	"true,"
	"\"is_time\":true,\"label\":\"order date\"},"
	"{\"name\":\"status\",\"expression\":\"status\",\"type\":\"string\",\"dimension\":true}]},"
	"{\"name\":\"order_items\",\"table\":\"order_items\",\"primary_key\":[\"item_id\"],"
	"\"fields\":["
	"{\"name\":\"product\",\"expression\":\"product\",\"type\":\"string\",\"dimension\":true},"
	"{\"name\":\"quantity\",\"expression\":\"quantity\",\"type\":\"integer\"},"
	"{\"name\":\"unit_price\",\"expression\":\"unit_price_cents\",\"type\":\"integer\"},"
	"{\"name\":\"discount\",\"expression\":\"COALESCE(discount_cents, 0)\","
	"\"type\":\"integer\"}]}],"
	"\"relationships\":["
	"{\"name\":\"items_of\",\"from\":\"order_items\",\"to\":\"orders\","
	"\"from_columns\":[\"order_id\"],\"to_columns\":[\"order_id\"]},"
	"{\"name\":\"orders_of\",\"from\":\"orders\",\"to\":\"customers\","
	"\"from_columns\":[\"customer_id\"],\"to_columns\":[\"customer_id\"]}],"
	"\"metrics\":["
	"{\"name\":\"net_sales\",\"label\":\"net sales\",\"dataset\":\"order_items\","
	"\"description\":\"quantity times unit price less discount\","
	"\"expression\":\"SUM(order_items.quantity * order_items.unit_price - "
	"order_items.discount)\",\"filter\":\"orders.status = 'completed'\","
	"\"filter_words\":\"completed orders\",\"missing_words\":\"missing discount 0\","
	"\"unit\":\"USD\",\"scale\":100,\"decimals\":2,\"exact\":true,\"additive\":true,"
	"\"time\":\"orders.order_date\",\"at\":\"metrics/sales.yaml:40\"},"
	"{\"name\":\"units\",\"label\":\"units sold\",\"dataset\":\"order_items\","
	"\"expression\":\"SUM(order_items.quantity)\",\"exact\":true,\"additive\":true,"
	"\"non_negative\":true,\"time\":\"orders.order_date\"},"
	"{\"name\":\"order_value\",\"label\":\"average order value\",\"dataset\":\"order_items\","
	"\"expression\":\"SUM(order_items.quantity * order_items.unit_price - "
	"order_items.discount) / COUNT(DISTINCT order_items.order_id)\","
	"\"filter\":\"orders.status = 'completed'\",\"unit\":\"USD\",\"scale\":100,\"decimals\":2,"
	"\"time\":\"orders.order_date\"},"
	"{\"name\":\"orders\",\"label\":\"orders\",\"dataset\":\"orders\","
	"\"expression\":\"COUNT(*)\",\"exact\":true,\"additive\":true,"
	"\"time\":\"orders.order_date\"}]}";

static int open_sales(void **state)
{
	(void)state;
	open_data("examples/sales/data.sql", sales_model);
	return 0;
}

static int open_widgets(void **state)
{
	static const char text[] =
		"{\"source\":\"widgets\",\"datasets\":["
		"{\"name\":\"articles\",\"table\":\"dim_sku\",\"primary_key\":[\"sku\"],\"fields\":"
		"["
		"{\"name\":\"category\",\"expression\":\"category_name\",\"type\":\"string\","
		"\"dimension\":true}]},"
		"{\"name\":\"orders\",\"table\":\"orders\",\"primary_key\":[\"order_id\"],"
		"\"fields\":[{\"name\":\"order_date\",\"expression\":\"order_date\","
		"\"type\":\"time\",\"is_time\":true,\"dimension\":true},"
		"{\"name\":\"amount\",\"expression\":\"amount_cents\",\"type\":\"integer\"}]},"
		"{\"name\":\"lines\",\"table\":\"order_items\",\"primary_key\":[\"item_id\"],"
		"\"fields\":[{\"name\":\"qty\",\"expression\":\"qty\",\"type\":\"integer\"},"
		"{\"name\":\"price\",\"expression\":\"unit_price_cents\",\"type\":\"integer\"}]}],"
		"\"relationships\":[{\"name\":\"a\",\"from\":\"lines\",\"to\":\"orders\","
		"\"from_columns\":[\"order_id\"],\"to_columns\":[\"order_id\"]},"
		"{\"name\":\"b\",\"from\":\"lines\",\"to\":\"articles\","
		"\"from_columns\":[\"sku\"],\"to_columns\":[\"sku\"]}],"
		"\"metrics\":[{\"name\":\"revenue\",\"dataset\":\"lines\",\"expression\":"
		"\"SUM(lines.qty * lines.price)\",\"scale\":100,\"decimals\":2,\"exact\":true,"
		"\"additive\":true,\"time\":\"orders.order_date\"},"
		"{\"name\":\"amount\",\"dataset\":\"orders\",\"expression\":"
		"\"SUM(orders.amount)\",\"scale\":100,\"decimals\":2,\"exact\":true,"
		"\"additive\":true,\"time\":\"orders.order_date\"}]}";

	(void)state;
	open_data("examples/widgets/data.sql", text);
	return 0;
}

static struct metric_query *query_of(const char *text)
{
	struct metric_query *query = NULL;
	struct json *json;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0 || metric_query_from_json(json, &query, &err) < 0)
		fail_msg("%s", err.text);
	json_free(json);
	return query;
}

static struct compiled_query *compile(const char *text)
{
	CLEANUP(metric_query_freep) struct metric_query *query = query_of(text);
	struct compiled_query *compiled;
	struct err err;

	if (metric_query_compile(query, model, &compiled, &err) < 0)
		fail_msg("%s", err.text);
	return compiled;
}

/* "East 420.0; West 300.0" */
static char *run(const char *sql)
{
	struct buf out = BUF_INIT;
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s in:\n%s", sqlite3_errmsg(db), sql);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (out.len)
			buf_add_str(&out, "; ");
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *text = (const char *)sqlite3_column_text(statement, i);

			buf_addf(&out, "%s%s", i ? " " : "", text ? text : "-");
		}
	}
	sqlite3_finalize(statement);
	return buf_take(&out);
}

static void gives(const char *query, const char *rows)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = compile(query);
	CLEANUP(mem_freep) char *result = run(compiled->sql);

	if (strcmp(result, rows) != 0)
		fail_msg("%s\ngives  %s\nwanted %s\nby %s", query, result, rows, compiled->sql);
}

static void refuses(const char *text, const char *message)
{
	CLEANUP(metric_query_freep) struct metric_query *query = query_of(text);
	struct compiled_query *compiled = NULL;
	struct err err;

	if (metric_query_compile(query, model, &compiled, &err) == 0)
		fail_msg("%s compiles to %s", text, compiled->sql);
	assert_null(compiled);
	assert_string_equal(err.text, message);
}

#define LAST_QUARTER "\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\"}"
#define BY_REGION "\"dimensions\":[{\"field\":\"customers.region\"}]"

static void test_net_sales_by_region(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER "}",
	      "East 420.0; West 300.0; South 90.0; Unknown 40.0");
	gives("{\"metrics\":[\"net_sales\"]," LAST_QUARTER "}", "850.0");
	gives("{\"metrics\":[\"net_sales\"]}", "2450.0");
}

static void test_orders_are_counted_once_each(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"]}", "9");
	gives("{\"metrics\":[\"orders\"]," BY_REGION "," LAST_QUARTER
	      ",\"filters\":[{\"field\":\"orders.status\",\"op\":\"=\",\"values\":[\"completed\"]}]"
	      "}",
	      "East 2; South 1; Unknown 1; West 1");
}

static void test_a_period_without_rows_is_missing_not_zero(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"],\"period\":{\"from\":\"2020-01-01\",\"to\":"
	      "\"2021-01-01\"}}",
	      "-");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION
	      ",\"period\":{\"from\":\"2020-01-01\",\"to\":\"2021-01-01\"}}",
	      "");
}

static void test_open_periods(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"],\"period\":{\"from\":\"2026-10-01\"}}", "1");
	gives("{\"metrics\":[\"orders\"],\"period\":{\"to\":\"2026-07-01\"}}", "1");
}

static void test_top_and_bottom_with_ties_by_name(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER ",\"limit\":2}",
	      "East 420.0; West 300.0");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"limit\":1,\"order\":[{\"by\":\"net_sales\",\"desc\":false}]}",
	      "Unknown 40.0");
	gives("{\"metrics\":[\"orders\"]," BY_REGION "," LAST_QUARTER ",\"limit\":3}",
	      "East 2; South 2; West 2");
	gives("{\"metrics\":[\"orders\"]," BY_REGION "," LAST_QUARTER
	      ",\"order\":[{\"by\":\"customers.region\",\"desc\":true}]}",
	      "West 2; Unknown 1; South 2; East 2");
}

static void test_missing_values_come_last_when_the_lowest_are_asked(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"order_value\"]," BY_REGION
	      ",\"period\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\"},\"compare\":{\"from\":"
	      "\"2026-07-01\",\"to\":\"2026-10-01\"},\"order\":[{\"by\":\"order_value\",\"desc\":"
	      "false}],\"limit\":2}",
	      "East 700.0 210.0 490.0 233.33; South - 90.0 - -");
}

static void test_several_metrics_keep_their_own_filters(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\",\"units\"]," BY_REGION "," LAST_QUARTER "}",
	      "East 420.0 9; West 300.0 5; South 90.0 7; Unknown 40.0 1");
	gives("{\"metrics\":[\"net_sales\",\"order_value\"]," BY_REGION "," LAST_QUARTER "}",
	      "East 420.0 210.0; West 300.0 300.0; South 90.0 90.0; Unknown 40.0 40.0");
}

static void test_ratios_divide_sums_and_round_once(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"order_value\"]," LAST_QUARTER "}", "170.0");
	execute("INSERT INTO orders VALUES (120, 1, '2026-08-01', 'completed');"
		"INSERT INTO order_items VALUES (20, 120, 'Widget', 1, 1, 0)");
	gives("{\"metrics\":[\"order_value\"]," LAST_QUARTER "}", "141.67");
}

static void test_comparison_of_two_periods(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\"}}",
	      "East 420.0 700.0 -280.0 -40.0; West 300.0 0.0 300.0 -; South 90.0 0.0 90.0 -; "
	      "Unknown 40.0 0.0 40.0 -");
	gives("{\"metrics\":[\"orders\"]," LAST_QUARTER
	      ",\"compare\":{\"from\":\"2026-10-01\",\"to\":\"2027-01-01\"}}",
	      "7 1 6 600.0");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\"},"
	      "\"order\":[{\"by\":\"change\",\"desc\":false}],\"limit\":1}",
	      "East 420.0 700.0 -280.0 -40.0");
	gives("{\"metrics\":[\"order_value\"]," BY_REGION "," LAST_QUARTER
	      ",\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\"},\"limit\":2}",
	      "West 300.0 - - -; East 210.0 700.0 -490.0 -70.0");
}

static void test_share_is_of_all_groups(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"share\":true,\"limit\":2}",
	      "East 420.0 49.41; West 300.0 35.29");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"share\":true,\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\","
	      "\"values\":[\"Unknown\",\"South\"]}]}",
	      "South 90.0 10.59; Unknown 40.0 4.71");
	refuses("{\"metrics\":[\"order_value\"]," BY_REGION ",\"share\":true}",
		"values of order_value do not add up over groups, so a share of their total would "
		"be wrong");
	refuses("{\"metrics\":[\"net_sales\"],\"share\":true}",
		"a share needs groups to be a share of");
}

static void test_average_of_a_metric_over_things(void **state)
{
	(void)state;
	/* Acorn 240 and Elm 180 in East */
	gives("{\"metrics\":[\"net_sales\"]," LAST_QUARTER ",\"average_per\":\"customers.name\"}",
	      "170.0");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"average_per\":\"customers.name\"}",
	      "West 300.0; East 210.0; South 90.0; Unknown 40.0");
	gives("{\"metrics\":[\"orders\"],\"average_per\":\"customers.name\"}", "1.8");
	refuses("{\"metrics\":[\"order_value\"],\"average_per\":\"customers.name\"}",
		"values of order_value do not add up over groups, so an average of them would be "
		"wrong");
	refuses("{\"metrics\":[\"orders\"]," BY_REGION
		",\"share\":true,\"average_per\":\"customers.name\"}",
		"share, comparison and average are asked for together: ask for one");
}

static void test_two_things_of_one_name_stay_apart(void **state)
{
	(void)state;
	execute("UPDATE customers SET name = 'Acorn Ltd' WHERE customer_id = 5");
	gives("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.name\"}]"
	      "," LAST_QUARTER ",\"limit\":3}",
	      "Birch Co 300.0; Acorn Ltd 240.0; Acorn Ltd 180.0");
	gives("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":\"customers.name\"}]"
	      "," LAST_QUARTER ",\"share\":true,\"limit\":3}",
	      "Birch Co 300.0 35.29; Acorn Ltd 240.0 28.24; Acorn Ltd 180.0 21.18");
	gives("{\"metrics\":[\"net_sales\"]," LAST_QUARTER ",\"average_per\":\"customers.name\"}",
	      "170.0");
}

static void test_time_buckets(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"month\"}]}",
	      "2026-06 1; 2026-07 2; 2026-08 3; 2026-09 2; 2026-10 1");
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"quarter\"}]}",
	      "2026-Q2 1; 2026-Q3 7; 2026-Q4 1");
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"year\"}]}",
	      "2026 9");
	/* Mondays: 2026-06-29 holds 06-30 and 07-01; 2026-09-28 holds 09-30 and 10-01 */
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"week\"}],\"order\":[{\"by\":\"orders\",\"desc\":true}],\"limit\":2}",
	      "2026-06-29 2; 2026-09-28 2");
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"day\"}],\"limit\":1}",
	      "2026-06-30 1");
}

static void test_filters(void **state)
{
	static const struct {
		const char *filter;
		const char *rows;
	} cases[] = {
		{"{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\"]}", "4"},
		{"{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"East\",\"West\"]}",
		 "6"},
		{"{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"Unknown\"]}", "1"},
		{"{\"field\":\"customers.region\",\"op\":\"not\",\"values\":[\"East\"]}", "5"},
		{"{\"field\":\"customers.region\",\"op\":\"not\",\"values\":[\"Unknown\"]}", "8"},
		{"{\"field\":\"customers.region\",\"op\":\"not\",\"values\":[\"East\",\"West\"]}",
		 "3"},
		{"{\"field\":\"customers.region\",\"op\":\"missing\"}", "1"},
		{"{\"field\":\"customers.region\",\"op\":\"present\"}", "8"},
		{"{\"field\":\"orders.order_date\",\"op\":\"=\",\"values\":[\"2026-07-01\"]}", "1"},
		{"{\"field\":\"orders.order_date\",\"op\":\"not\",\"values\":[\"2026-07-01\"]}",
		 "8"},
		{"{\"field\":\"orders.order_date\",\"op\":\"<=\",\"values\":[\"2026-07-01\"]}",
		 "2"},
		{"{\"field\":\"orders.order_date\",\"op\":\"<\",\"values\":[\"2026-07-01\"]}", "1"},
		{"{\"field\":\"orders.order_date\",\"op\":\">\",\"values\":[\"2026-09-30\"]}", "1"},
		{"{\"field\":\"orders.order_date\",\"op\":\">=\",\"values\":[\"2026-09-30\"]}",
		 "2"},
		{"{\"field\":\"orders.order_date\",\"op\":\"=\",\"values\":[\"2026-07-01\","
		 "\"2026-09-30\"]}",
		 "2"},
		{"{\"field\":\"orders.status\",\"op\":\"=\",\"values\":[\"x' OR 1=1 --\"]}", "0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep)
		char *query =
			mem_format("{\"metrics\":[\"orders\"],\"filters\":[%s]}", cases[i].filter);

		gives(query, cases[i].rows);
	}
}

static void test_number_filters(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"units\"],\"filters\":[{\"field\":\"order_items.quantity\",\"op\":"
	      "\">\",\"values\":[4]}]}",
	      "21");
	gives("{\"metrics\":[\"units\"],\"filters\":[{\"field\":\"order_items.quantity\",\"op\":"
	      "\">=\",\"values\":[\"4.5\"]}]}",
	      "21");
	refuses("{\"metrics\":[\"units\"],\"filters\":[{\"field\":\"order_items.quantity\",\"op\":"
		"\"=\",\"values\":[\"4 OR 1\"]}]}",
		"filter: order_items.quantity is a number, which \"4 OR 1\" is not");
	gives("{\"metrics\":[\"orders\"],\"filters\":[{\"field\":\"customers.region\",\"op\":"
	      "\"=\",\"values\":[5]}]}",
	      "0");
}

static void test_times_with_hours_belong_to_their_day(void **state)
{
	static const char *const forms[] = {"T08:30:00Z", " 08:30:00"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		CLEANUP(mem_freep)
		char *sql = mem_format(
			"UPDATE orders SET order_date = substr(order_date, 1, 10) || '%s'",
			forms[i]);

		execute(sql);
		gives("{\"metrics\":[\"net_sales\"]," LAST_QUARTER "}", "850.0");
		gives("{\"metrics\":[\"orders\"],\"filters\":[{\"field\":\"orders.order_date\","
		      "\"op\":\"<=\",\"values\":[\"2026-07-01\"]}]}",
		      "2");
		gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
		      "\"bucket\":\"quarter\"}]}",
		      "2026-Q2 1; 2026-Q3 7; 2026-Q4 1");
	}
}

static void test_no_row_is_lost_to_a_missing_partner(void **state)
{
	(void)state;
	execute("DELETE FROM customers WHERE customer_id = 2");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER "}",
	      "East 420.0; Unknown 340.0; South 90.0");
}

static void test_listings(void **state)
{
	(void)state;
	gives("{\"metrics\":[]," BY_REGION "}", "East; South; Unknown; West");
	gives("{\"metrics\":[],\"dimensions\":[{\"field\":\"orders.status\"}]}",
	      "cancelled; completed; pending");
	gives("{\"metrics\":[],\"dimensions\":[{\"field\":\"customers.name\"}],\"filters\":["
	      "{\"field\":\"order_items.product\",\"op\":\"=\",\"values\":[\"Gizmo\"]}]}",
	      "Acorn Ltd; Birch Co; Cedar LLC");
	gives("{\"metrics\":[],\"dimensions\":[{\"field\":\"customers.name\"}],\"dataset\":"
	      "\"orders\",\"filters\":[{\"field\":\"orders.status\",\"op\":\"=\",\"values\":["
	      "\"pending\"]}]}",
	      "Birch Co");
	gives("{\"metrics\":[],\"dimensions\":[{\"field\":\"customers.name\"}],\"dataset\":"
	      "\"orders\"," LAST_QUARTER ",\"limit\":2}",
	      "Acorn Ltd; Birch Co");
	refuses("{\"metrics\":[]}",
		"neither a metric nor a dimension is asked for: of Dimensions and "
		"Measures at least one is needed");
	refuses("{\"metrics\":[]," BY_REGION ",\"share\":true}", "a listing has no share");
	refuses("{\"metrics\":[]," BY_REGION ",\"dataset\":\"nowhere\"}", "no dataset nowhere");
	refuses("{\"metrics\":[]," BY_REGION "," LAST_QUARTER "}",
		"customers has no date, so it cannot be asked for in a period");
}

static void test_what_has_no_sound_meaning_is_refused(void **state)
{
	(void)state;
	refuses("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"order_items.product\"}]}",
		"orders cannot be split by product: one row of orders belongs to many of "
		"order_items, so it would be counted many times");
	refuses("{\"metrics\":[\"net_sale\"]}", "no metric net_sale; did you mean net_sales?");
	refuses("{\"metrics\":[\"profit\"]}", "no metric profit");
	refuses("{\"metrics\":[\"orders\",\"orders\"]}", "metric orders is asked for twice");
	refuses("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"customers.regoin\"}]}",
		"no field customers.regoin; did you mean customers.region?");
	refuses("{\"metrics\":[\"orders\"]," BY_REGION
		",\"order\":[{\"by\":\"net_sales\",\"desc\":true}]}",
		"order: net_sales is no column of the result");
	refuses("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"customers.region\","
		"\"bucket\":\"month\"}]}",
		"customers.region is no time: it has no month");
	refuses("{\"metrics\":[\"orders\"]," BY_REGION ",\"period\":{\"field\":"
		"\"customers.region\",\"from\":\"2026-01-01\"}}",
		"customers.region is no time");
	refuses("{\"metrics\":[\"orders\"],\"period\":{\"from\":\"2026-01-01\"},\"compare\":{"
		"\"from\":\"2025-01-01\",\"to\":\"2026-01-01\"}}",
		"a comparison needs two periods, each with a first and a last day");
	refuses("{\"metrics\":[\"orders\"],\"dataset\":\"customers\"}",
		"orders is made of rows of orders, not of customers");
	refuses("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"customers.region\"},"
		"{\"field\":\"customers.region\"}]}",
		"customers.region is asked for twice");
}

static void test_widgets_are_counted_at_their_own_grain(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"revenue\"],\"filters\":[{\"field\":\"articles.category\",\"op\":\"="
	      "\",\"values\":[\"Widgets\"]}],\"period\":{\"from\":\"2025-04-01\",\"to\":"
	      "\"2025-07-01\"}}",
	      "1000.0");
	gives("{\"metrics\":[\"amount\"],\"period\":{\"from\":\"2025-04-01\",\"to\":"
	      "\"2025-07-01\"}}",
	      "1000.0");
	refuses("{\"metrics\":[\"amount\"],\"dimensions\":[{\"field\":\"articles.category\"}]}",
		"amount cannot be split by category: no relationship leads from orders to "
		"articles");
}

/* Rentals with two ports each, epoch times and soft deletes. */
static int open_rentals(void **state)
{
	static const char text[] =
		"{\"source\":\"rentals\",\"datasets\":["
		"{\"name\":\"port_out\",\"table\":\"port\",\"primary_key\":[\"id\"],\"fields\":["
		"{\"name\":\"from_port\",\"expression\":\"name\",\"type\":\"string\"}]},"
		"{\"name\":\"port_back\",\"table\":\"port\",\"primary_key\":[\"id\"],\"fields\":["
		"{\"name\":\"to_port\",\"expression\":\"name\",\"type\":\"string\"}]},"
		"{\"name\":\"hires\",\"table\":\"hire\",\"primary_key\":[\"id\"],\"filter\":"
		"\"gone_at IS NULL\",\"filter_words\":\"hires not "
		"deleted\",\"time\":\"hires.began\","
		"\"fields\":[{\"name\":\"fee\",\"expression\":\"fee\",\"type\":\"integer\"},"
		"{\"name\":\"began\",\"expression\":\"began\",\"type\":\"time\",\"is_time\":true,"
		"\"time_format\":\"epoch\"},"
		"{\"name\":\"paid\",\"expression\":\"paid\",\"type\":\"boolean\"}]},"
		"{\"name\":\"payments\",\"table\":\"pay\",\"fields\":["
		"{\"name\":\"amount\",\"expression\":\"amount\",\"type\":\"integer\"}]}],"
		"\"relationships\":["
		"{\"name\":\"a\",\"from\":\"hires\",\"to\":\"port_out\",\"from_columns\":"
		"[\"port_out\"],\"to_columns\":[\"id\"]},"
		"{\"name\":\"b\",\"from\":\"hires\",\"to\":\"port_back\",\"from_columns\":"
		"[\"port_back\"],\"to_columns\":[\"id\"]},"
		"{\"name\":\"c\",\"from\":\"payments\",\"to\":\"hires\",\"from_columns\":"
		"[\"hire_id\"],\"to_columns\":[\"id\"]}],"
		"\"metrics\":["
		"{\"name\":\"fees\",\"dataset\":\"hires\",\"expression\":\"SUM(hires.fee)\","
		"\"exact\":true,\"additive\":true,\"time\":\"hires.began\"},"
		"{\"name\":\"paid_in\",\"dataset\":\"payments\",\"expression\":"
		"\"SUM(payments.amount)\",\"exact\":true,\"additive\":true,\"time\":"
		"\"hires.began\"}]}";

	(void)state;
	open_data(NULL, text);
	execute("CREATE TABLE port(id INTEGER PRIMARY KEY, name TEXT);"
		"CREATE TABLE hire(id INTEGER PRIMARY KEY, port_out, port_back, fee, began, paid,"
		" gone_at);"
		"CREATE TABLE pay(id INTEGER PRIMARY KEY, hire_id, amount);"
		"INSERT INTO port VALUES (1, 'Lisbon'), (2, 'Faro');"
		/* 2025-03-31 23:59:59, 2025-04-01 00:00:00, deleted, another year */
		"INSERT INTO hire VALUES (10, 1, 2, 100, 1743465599, 1, NULL),"
		" (11, 1, 1, 40, 1743465600, 0, NULL), (12, 2, 1, 60, 1743465600, 1, 'x'),"
		" (13, 2, 2, 7, 1704067200, NULL, NULL);"
		"INSERT INTO pay VALUES (1, 10, 70), (2, 10, 30), (3, 11, 40), (4, 12, 50)");
	return 0;
}

static void test_two_roles_of_one_table(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"fees\"],\"dimensions\":[{\"field\":\"port_out.from_port\"},{"
	      "\"field\":"
	      "\"port_back.to_port\"}]}",
	      "Lisbon Faro 100; Lisbon Lisbon 40; Faro Faro 7");
}

static void test_deleted_rows_count_nowhere(void **state)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;

	(void)state;
	gives("{\"metrics\":[\"fees\"]}", "147");
	gives("{\"metrics\":[\"paid_in\"]}", "140"); /* whether or not a period is asked for */
	gives("{\"metrics\":[\"paid_in\"],\"period\":{\"from\":\"2020-01-01\"}}", "140");
	compiled = compile("{\"metrics\":[\"paid_in\"]}");
	assert_string_equal(json_get_str(compiled->words, "sentence"), "hires not deleted");
}

static void test_times_in_seconds(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"fees\"],\"period\":{\"from\":\"2025-03-01\",\"to\":"
	      "\"2025-04-01\"}}",
	      "100");
	gives("{\"metrics\":[\"fees\"],\"dimensions\":[{\"field\":\"hires.began\",\"bucket\":"
	      "\"quarter\"}]}",
	      "2024-Q1 7; 2025-Q1 100; 2025-Q2 40");
	gives("{\"metrics\":[\"fees\"],\"dimensions\":[{\"field\":\"hires.began\",\"bucket\":"
	      "\"week\"}]}",
	      "2024-01-01 7; 2025-03-31 140");
	gives("{\"metrics\":[\"fees\"],\"filters\":[{\"field\":\"hires.began\",\"op\":\"=\","
	      "\"values\":[\"2025-03-31\"]}]}",
	      "100");
}

static void test_true_false_and_missing(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"fees\"],\"filters\":[{\"field\":\"hires.paid\",\"op\":\"=\","
	      "\"values\":[true]}]}",
	      "100");
	gives("{\"metrics\":[\"fees\"],\"filters\":[{\"field\":\"hires.paid\",\"op\":\"not\","
	      "\"values\":[true]}]}",
	      "47");
}

static void test_a_listing_finds_where_its_fields_meet(void **state)
{
	(void)state;
	/* in hires, though payments lead there as well */
	gives("{\"metrics\":[],\"dimensions\":[{\"field\":\"port_out.from_port\"},{\"field\":"
	      "\"port_back.to_port\"}]}",
	      "Faro Faro; Lisbon Faro; Lisbon Lisbon");
}

static void test_words_for_the_answer(void **state)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	CLEANUP(json_freep) struct json *columns = NULL;
	struct buf text = BUF_INIT;

	(void)state;
	compiled = compile("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER "}");
	assert_string_equal(json_get_str(compiled->words, "sentence"),
			    "completed orders, 2026-07-01 to before 2026-10-01, USD, missing "
			    "discount 0, missing region Unknown");
	json_write(compiled->plan, &text);
	assert_string_equal(
		buf_str(&text),
		"{\"tables\":[\"order_items\",\"orders\",\"customers\"],\"grain\":\"one row = one "
		"region\",\"metric_definition\":\"net_sales: quantity times unit price less "
		"discount\",\"fanout_risk\":\"none: rows of order_items, each with at most one row "
		"of orders, customers\",\"metrics\":[\"net_sales\"],\"dataset\":\"order_items\"}");
	buf_reset(&text);
	json_write(compiled->definitions, &text);
	assert_string_equal(buf_str(&text),
			    "[{\"metric\":\"net_sales\",\"definition\":\"quantity times unit "
			    "price less discount\",\"source\":\"metrics/sales.yaml:40\"}]");
	buf_reset(&text);
	columns = compiled_query_columns_json(compiled);
	json_write(columns, &text);
	assert_string_equal(
		buf_str(&text),
		"[{\"name\":\"region\",\"label\":\"region\",\"role\":\"dimension\",\"field\":"
		"\"customers.region\",\"type\":\"text\",\"decimals\":0,\"non_negative\":false},"
		"{\"name\":\"net_sales\",\"label\":\"net sales\",\"role\":\"metric\",\"metric\":"
		"\"net_sales\",\"unit\":\"USD\",\"type\":\"decimal\",\"decimals\":2,"
		"\"non_negative\":false,\"definition\":\"quantity times unit price less "
		"discount\"}]");
	buf_clear(&text);
}

static void test_words_of_filters_and_comparison(void **state)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;

	(void)state;
	compiled = compile(
		"{\"metrics\":[\"orders\"]," BY_REGION "," LAST_QUARTER
		",\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\",\"label\":\"the "
		"quarter "
		"before\"},\"filters\":[{\"field\":\"orders.status\",\"op\":\"=\",\"values\":"
		"[\"completed\",\"pending\"]},{\"field\":\"customers.name\",\"op\":\"present\"}]}");
	assert_string_equal(json_get_str(compiled->words, "sentence"),
			    "status is completed or pending, with customer, 2026-07-01 to before "
			    "2026-10-01 against 2026-04-01 to before 2026-07-01, missing region "
			    "Unknown");
	assert_int_equal(compiled->column_count, 5);
	assert_string_equal(compiled->columns[2].label, "orders, the quarter before");
	assert_string_equal(compiled->columns[2].name, "orders_previous");
	assert_string_equal(compiled->columns[4].unit, "%");
	assert_int_equal(compiled->columns[4].role, COLUMN_CHANGE_PERCENT);
	assert_int_equal(compiled->columns[4].decimals, 2);
}

static void test_two_facts_are_added_up_apart_and_meet_on_the_dimensions(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\",\"orders\"]," BY_REGION "," LAST_QUARTER "}",
	      "East 420.0 2; West 300.0 2; South 90.0 2; Unknown 40.0 1");
	gives("{\"metrics\":[\"net_sales\",\"orders\"]," LAST_QUARTER "}", "850.0 7");
	gives("{\"metrics\":[\"net_sales\",\"orders\"],\"dimensions\":[{\"field\":\"time\","
	      "\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-06-01\",\"to\":\"2026-08-01\"}}",
	      "2026-06 700.0 1; 2026-07 330.0 2");
	gives("{\"metrics\":[\"orders\",\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"compare\":{\"from\":\"2026-04-01\",\"to\":\"2026-07-01\"},\"limit\":1,"
	      "\"filters\":[{\"field\":\"customers.region\",\"op\":\"=\",\"values\":[\"West\"]}]}",
	      "West 2 0 2 - 300.0 0.0 300.0 -");
	refuses("{\"metrics\":[\"orders\",\"net_sales\"],\"dimensions\":[{\"field\":"
		"\"order_items.product\"}]}",
		"orders and order_items have no shared dimension product: no relationship leads "
		"from orders to order_items, so ask for one of them");
	refuses("{\"metrics\":[\"orders\",\"net_sales\"],\"average_per\":\"customers.name\"}",
		"an average per customer is asked for of metrics of several facts: ask for one of "
		"them");
}

static void test_conditions_on_what_is_measured(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"conditions\":[{\"metric\":\"net_sales\",\"op\":\">\",\"value\":\"300\"}]}",
	      "East 420.0");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"conditions\":[{\"metric\":\"net_sales\",\"op\":\">=\",\"value\":\"300\"}]}",
	      "East 420.0; West 300.0");
	/* a share is of all groups, also of those that are not shown */
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER
	      ",\"share\":true,\"conditions\":[{\"metric\":\"net_sales\",\"op\":\"<\","
	      "\"value\":\"90.01\"}]}",
	      "South 90.0 10.59; Unknown 40.0 4.71");
	gives("{\"metrics\":[\"net_sales\",\"orders\"]," BY_REGION "," LAST_QUARTER
	      ",\"conditions\":[{\"metric\":\"orders\",\"op\":\"=\",\"value\":\"2\"},"
	      "{\"metric\":\"net_sales\",\"op\":\"<\",\"value\":\"400\"}]}",
	      "West 300.0 2; South 90.0 2");
	gives("{\"metrics\":[\"orders\"],\"conditions\":[{\"metric\":\"orders\",\"op\":\">\","
	      "\"value\":\"100\"}]}",
	      "");
	refuses("{\"metrics\":[\"orders\"],\"conditions\":[{\"metric\":\"net_sales\",\"op\":\">\","
		"\"value\":\"1\"}]}",
		"a condition on net_sales, which is not among the metrics asked for");
}

static void test_the_first_within_each_group_with_their_ties(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"units\"],\"dimensions\":[{\"field\":\"customers.region\"},{"
	      "\"field\":"
	      "\"order_items.product\"}]," LAST_QUARTER
	      ",\"top\":{\"count\":1,\"within\":[\"customers.region\"]}}",
	      "East Widget 8; South Gizmo 5; Unknown Widget 1; West Gizmo 3");
	refuses("{\"metrics\":[\"units\"]," BY_REGION
		",\"top\":{\"count\":1,\"within\":[\"customers.region\"]}}",
		"the first within each group need a metric, the group and something else to tell "
		"apart");
	refuses("{\"metrics\":[\"units\"],\"dimensions\":[{\"field\":\"customers.region\"},{"
		"\"field\":"
		"\"order_items.product\"}],\"top\":{\"count\":1,\"within\":[\"orders.status\"]}}",
		"top within orders.status, which is no dimension of the query");
}

static int joins_of(const char *query, const char *words)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = compile(query);
	int count = 0;

	for (const char *at = strstr(compiled->sql, words); at; at = strstr(at + 1, words))
		count++;
	return count;
}

static void test_rows_that_where_drops_are_not_kept_by_a_join(void **state)
{
#define NAMES "{\"metrics\":[\"orders\"],\"filters\":[{\"field\":\"customers.region\","
	static const struct {
		const char *query;
		int outer;
		int inner;
	} cases[] = {
		{"{\"metrics\":[\"orders\"]," BY_REGION "}", 1, 0},
		{NAMES "\"op\":\"=\",\"values\":[\"East\"]}]}", 0, 1},
		{NAMES "\"op\":\"=\",\"values\":[\"East\",\"Unknown\"]}]}", 1, 0},
		{NAMES "\"op\":\"not\",\"values\":[\"East\"]}]}", 1, 0},
		{NAMES "\"op\":\"missing\"}]}", 1, 0},
		{NAMES "\"op\":\"present\"}]}", 0, 1},
		{"{\"metrics\":[\"units\"]," BY_REGION "}", 2, 0},
		{"{\"metrics\":[\"units\"]," BY_REGION "," LAST_QUARTER "}", 1, 1},
		{"{\"metrics\":[\"units\"],\"where\":[\"customers.region = 'East'\"]}", 0, 2},
		{"{\"metrics\":[\"units\"],\"where\":[\"customers.region = 'East' OR "
		 "order_items.quantity > 1\"]}",
		 2, 0},
		{"{\"metrics\":[\"units\"],\"where\":[\"COALESCE(customers.region, 'x') = 'x'\"]}",
		 2, 0},
		{"{\"metrics\":[\"net_sales\",\"units\"]}", 1, 0}, /* one of them wants all */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int outer = joins_of(cases[i].query, "LEFT JOIN");

		if (outer != cases[i].outer ||
		    joins_of(cases[i].query, "JOIN") - outer != cases[i].inner)
			fail_msg("%s: %d outer", cases[i].query, outer);
	}
}

static void test_each_time_against_the_one_before(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"month\"}],\"stepwise\":true}",
	      "2026-06 1 - - -; 2026-07 2 1 1 100.0; 2026-08 3 2 1 50.0; 2026-09 2 3 -1 -33.33; "
	      "2026-10 1 2 -1 -50.0");
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"customers.region\"},{"
	      "\"field\":"
	      "\"orders.order_date\",\"bucket\":\"quarter\"}],\"stepwise\":true}",
	      "East 2026-Q2 1 - - -; East 2026-Q3 2 1 1 100.0; South 2026-Q3 2 0 2 -; West 2026-Q3 "
	      "2 0 2 -; Unknown 2026-Q3 1 0 1 -; East 2026-Q4 1 2 -1 -50.0");
	refuses("{\"metrics\":[\"orders\"]," BY_REGION ",\"stepwise\":true}",
		"a change from one time to the next needs one dimension of time: by day, month, "
		"...");
}

static void test_running_totals(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"month\"}],\"running\":true}",
	      "2026-06 1 1; 2026-07 2 3; 2026-08 3 6; 2026-09 2 8; 2026-10 1 9");
	refuses("{\"metrics\":[\"orders\"]," BY_REGION ",\"running\":true}",
		"a running total needs times to run over: by day, month, ...");
	refuses("{\"metrics\":[\"order_value\"],\"dimensions\":[{\"field\":\"orders.order_date\","
		"\"bucket\":\"month\"}],\"running\":true}",
		"values of order_value do not add up over groups, so a running total would be "
		"wrong");
}

#define BY_MONTH "\"dimensions\":[{\"field\":\"orders.order_date\",\"bucket\":\"month\"}]"

static void test_windows_over_groups(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"]," BY_MONTH
	      ",\"measures\":[{\"expression\":\"AVG(orders) OVER "
	      "(ORDER BY orders.order_date ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)\",\"as\":"
	      "\"moving\"}]}",
	      "2026-06 1 1.0; 2026-07 2 1.5; 2026-08 3 2.5; 2026-09 2 2.5; 2026-10 1 1.5");
	gives("{\"metrics\":[\"net_sales\"]," BY_REGION
	      ",\"measures\":[{\"expression\":\"RANK() OVER "
	      "(ORDER BY net_sales DESC)\",\"as\":\"place\"},{\"expression\":\"net_sales / "
	      "SUM(net_sales) "
	      "OVER ()\",\"as\":\"part\"}]}",
	      "East 2020.0 1.0 0.82449; West 300.0 2.0 0.122449; South 90.0 3.0 0.036735; Unknown "
	      "40.0 4.0 0.016327");
	gives("{" BY_REGION
	      ",\"measures\":[{\"expression\":\"SUM(order_items.quantity)\",\"as\":\"n\"},{"
	      "\"expression\":\"SUM(n) OVER (ORDER BY "
	      "customers.region)\",\"as\":\"sum\"}],\"order\":[{"
	      "\"by\":\"customers.region\"}]}",
	      "East 25.0 25.0; South 7.0 32.0; Unknown 1.0 33.0; West 5.0 38.0");
	gives("{\"dimensions\":[{\"field\":\"time\",\"bucket\":\"month\"}],\"metrics\":[\"orders\"]"
	      ","
	      "\"measures\":[{\"expression\":\"orders - LAG(orders) OVER (ORDER BY time)\",\"as\":"
	      "\"more\"}]}",
	      "2026-06 1 -; 2026-07 2 1.0; 2026-08 3 1.0; 2026-09 2 -1.0; 2026-10 1 -1.0");
	refuses("{\"metrics\":[\"orders\"]," BY_MONTH
		",\"measures\":[{\"expression\":\"SUM(orders) OVER "
		"(ORDER BY customers.region)\",\"as\":\"s\"}]}",
		"s: the window names customers.region, which is no dimension of the query");
	refuses("{" BY_MONTH ",\"measures\":[{\"expression\":\"SUM(later) OVER ()\",\"as\":\"s\"},{"
		"\"expression\":\"COUNT(orders.order_id)\",\"as\":\"later\"}]}",
		"measure SUM(later) OVER (): no metric later among the global names; a field is "
		"written dataset.field");
	refuses("{" BY_MONTH
		",\"measures\":[{\"expression\":\"SUM(SUM(order_items.quantity)) OVER ()\","
		"\"as\":\"s\"}]}",
		"measure SUM(SUM(order_items.quantity)) OVER (): a window over groups takes "
		"what is measured by its name: make a measure of what is inside, then window that");
}

static void test_days_of_the_week_in_their_order(void **state)
{
	(void)state;
	gives("{\"metrics\":[\"orders\"],\"dimensions\":[{\"field\":\"orders.order_date\","
	      "\"bucket\":\"weekday\"}]}",
	      "Monday 1; Tuesday 1; Wednesday 2; Thursday 1; Friday 1; Saturday 1; Sunday 2");
}

static void test_the_text_of_a_plain_query(void **state)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;

	(void)state;
	compiled =
		compile("{\"metrics\":[\"net_sales\"]," BY_REGION "," LAST_QUARTER ",\"limit\":3}");
	assert_string_equal(
		compiled->sql,
		"SELECT\n"
		"  COALESCE(\"customers\".\"region\", 'Unknown') AS \"region\",\n"
		"  SUM(\"order_items\".\"quantity\" * \"order_items\".\"unit_price_cents\" - "
		"COALESCE(\"order_items\".\"discount_cents\", 0)) / 100.0 AS \"net_sales\"\n"
		"FROM \"order_items\"\n"
		"JOIN \"orders\" ON \"orders\".\"order_id\" = \"order_items\".\"order_id\"\n"
		"LEFT JOIN \"customers\" ON \"customers\".\"customer_id\" = "
		"\"orders\".\"customer_id\"\n"
		"WHERE \"orders\".\"status\" = 'completed'\n"
		"  AND \"orders\".\"order_date\" >= '2026-07-01' AND \"orders\".\"order_date\" < "
		"'2026-10-01'\n"
		"GROUP BY 1\n"
		"ORDER BY \"net_sales\" DESC NULLS LAST, \"region\" NULLS LAST\n"
		"LIMIT 3");
}

int main(void)
{
#define SALES(test) cmocka_unit_test_setup_teardown(test, open_sales, close_data)
#define WIDGETS(test) cmocka_unit_test_setup_teardown(test, open_widgets, close_data)
#define RENTALS(test) cmocka_unit_test_setup_teardown(test, open_rentals, close_data)
	const struct CMUnitTest tests[] = {
		SALES(test_net_sales_by_region),
		SALES(test_orders_are_counted_once_each),
		SALES(test_a_period_without_rows_is_missing_not_zero),
		SALES(test_open_periods),
		SALES(test_top_and_bottom_with_ties_by_name),
		SALES(test_missing_values_come_last_when_the_lowest_are_asked),
		SALES(test_several_metrics_keep_their_own_filters),
		SALES(test_ratios_divide_sums_and_round_once),
		SALES(test_comparison_of_two_periods),
		SALES(test_share_is_of_all_groups),
		SALES(test_average_of_a_metric_over_things),
		SALES(test_two_things_of_one_name_stay_apart),
		SALES(test_time_buckets),
		SALES(test_filters),
		SALES(test_number_filters),
		SALES(test_times_with_hours_belong_to_their_day),
		SALES(test_no_row_is_lost_to_a_missing_partner),
		SALES(test_listings),
		SALES(test_what_has_no_sound_meaning_is_refused),
		WIDGETS(test_widgets_are_counted_at_their_own_grain),
		RENTALS(test_two_roles_of_one_table),
		RENTALS(test_deleted_rows_count_nowhere),
		RENTALS(test_times_in_seconds),
		RENTALS(test_true_false_and_missing),
		RENTALS(test_a_listing_finds_where_its_fields_meet),
		SALES(test_words_for_the_answer),
		SALES(test_words_of_filters_and_comparison),
		SALES(test_two_facts_are_added_up_apart_and_meet_on_the_dimensions),
		SALES(test_conditions_on_what_is_measured),
		SALES(test_the_first_within_each_group_with_their_ties),
		SALES(test_rows_that_where_drops_are_not_kept_by_a_join),
		SALES(test_each_time_against_the_one_before),
		SALES(test_running_totals),
		SALES(test_windows_over_groups),
		SALES(test_days_of_the_week_in_their_order),
		SALES(test_the_text_of_a_plain_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
