/* The example databases with their right answers, as far as SQL alone gives them. */
#include "tests/lib/sqlite_fixture.h"

static bool open_case(struct fixture *fixture, const char *name)
{
	CLEANUP(mem_freep) char *path = NULL;
	struct buf sql = BUF_INIT;
	char block[4096];
	FILE *file;
	size_t got;

	if (!getenv("WRIT_CASES"))
		return false;
	path = mem_format("%s/%s", getenv("WRIT_CASES"), name);
	file = fopen(path, "r");
	if (!file)
		return false;
	while ((got = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(&sql, block, got);
	fclose(file);
	fixture_open(fixture, buf_str(&sql));
	buf_clear(&sql);
	return true;
}

#define SALES_VIEW                                                                                 \
	"{\"database\":\"sales\",\"tables\":{\"customers\":[\"customer_id\",\"region\"],"          \
	"\"orders\":\"all\",\"order_items\":\"all\"},\"functions\":[\"sum\",\"coalesce\"],"        \
	"\"except\":{\"payroll\":\"all\"}}"

static void test_net_sales_by_region(void **state)
{
	struct fixture fixture;
	struct json *result;

	(void)state;
	if (!open_case(&fixture, "sales/sales.sql"))
		skip();
	fixture.view = SALES_VIEW;
	result = fixture_run(
		&fixture,
		"SELECT coalesce(c.region, 'Unknown') AS region, sum(i.quantity * "
		"i.unit_price_cents - coalesce(i.discount_cents, 0)) / 100.0 AS net_sales "
		"FROM orders o JOIN order_items i ON i.order_id = o.order_id JOIN customers c ON "
		"c.customer_id = o.customer_id WHERE o.status = 'completed' AND o.order_date >= "
		"'2026-07-01' AND o.order_date < '2026-10-01' GROUP BY 1 ORDER BY 2 DESC");
	assert_member(result, "rows",
		      "[[\"East\",420.0],[\"West\",300.0],[\"South\",90.0],[\"Unknown\",40.0]]");
	assert_member(result, "types", "[\"text\",\"real\"]");
	json_free(result);
	assert_refused(fixture_run(&fixture, "SELECT sale_region FROM customers"), "database",
		       "no such column: sale_region");
	assert_refused(fixture_run(&fixture, "SELECT * FROM payroll"), "database",
		       "no such table: payroll");
	result = fixture_tool(&fixture, "search_values", "{\"text\":\"gizmos in the east\"}");
	assert_int_equal(json_len(json_get(result, "matches")), 2);
	json_free(result);
	fixture_close(&fixture);
}

static void test_widgets_with_and_without_fan_out(void **state)
{
	struct fixture fixture;

	(void)state;
	if (!open_case(&fixture, "widgets.sql"))
		skip();
	fixture.view = "{\"tables\":{\"orders\":\"all\",\"order_items\":\"all\",\"dim_sku\":"
		       "\"all\"},\"functions\":[\"sum\"]}";
	assert_rows(fixture_run(&fixture,
				"SELECT sum(o.amount_cents) / 100.0 FROM orders o JOIN order_items "
				"i USING (order_id) JOIN dim_sku s USING (sku) WHERE "
				"s.category_name = 'Widgets' AND o.order_date >= '2025-04-01' AND "
				"o.order_date < '2025-07-01'"),
		    "[[2300.0]]");
	assert_rows(fixture_run(&fixture,
				"SELECT sum(i.qty * i.unit_price_cents) / 100.0 FROM orders o JOIN "
				"order_items i USING (order_id) JOIN dim_sku s USING (sku) WHERE "
				"s.category_name = 'Widgets' AND o.order_date >= '2025-04-01' AND "
				"o.order_date < '2025-07-01'"),
		    "[[1000.0]]");
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net_sales_by_region),
		cmocka_unit_test(test_widgets_with_and_without_fan_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
