/* What a view shows, and what a semantic model is without the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/view.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static struct json *sales_view(void)
{
	return parse("{\"database\":\"sales\",\"tables\":{\"orders\":\"all\","
		     "\"customers\":[\"customer_id\",\"region\"],\"payroll\":\"all\","
		     "\"people\":\"all\"},"
		     "\"except\":{\"payroll\":\"all\",\"people\":[\"salary\"]}}");
}

static bool sees(const struct json *view, const char *table, const char *column)
{
	return view_column(view, table, strlen(table), column);
}

static void test_a_view_shows_tables_in_its_own_spelling(void **state)
{
	CLEANUP(json_freep) struct json *view = sales_view();

	(void)state;
	assert_string_equal(view_table(view, "ORDERS"), "orders");
	assert_null(view_table(view, "payroll"));
	assert_null(view_table(view, "Payroll"));
	assert_null(view_table(view, "nothing"));
	assert_null(view_table(view, "order"));
	assert_null(view_table(NULL, "orders"));
}

static void test_a_view_shows_listed_columns_less_the_excepted(void **state)
{
	CLEANUP(json_freep) struct json *view = sales_view();

	(void)state;
	assert_true(sees(view, "orders", "anything"));
	assert_true(sees(view, "Customers", "REGION"));
	assert_false(sees(view, "customers", "email"));
	assert_true(sees(view, "people", "name"));
	assert_false(sees(view, "people", "Salary"));
	assert_false(sees(view, "payroll", "id"));
	assert_false(sees(view, "unknown", "id"));
}

static void test_a_model_loses_what_reads_hidden_columns(void **state)
{
	CLEANUP(json_freep) struct json *view = sales_view();
	CLEANUP(json_freep)
	struct json *model = parse(
		"{\"name\":\"sales\",\"datasets\":["
		"{\"name\":\"orders\",\"table\":\"orders\",\"primary_key\":[\"id\"],\"fields\":["
		"{\"name\":\"day\",\"reads\":[\"orders.day\"]}]},"
		"{\"name\":\"customers\",\"table\":\"customers\",\"primary_key\":[\"tax_no\"],"
		"\"unique_keys\":[[\"email\"],[\"region\",\"customer_id\"]],\"fields\":["
		"{\"name\":\"region\",\"reads\":[\"customers.region\"]},"
		"{\"name\":\"mail\",\"reads\":[\"customers.region\",\"customers.email\"]}]},"
		"{\"name\":\"pay\",\"table\":\"payroll\",\"fields\":[]}],"
		"\"metrics\":[{\"name\":\"n\",\"reads\":[\"orders.amount\"]},"
		"{\"name\":\"wages\",\"reads\":[\"orders.amount\",\"payroll.amount\"]},"
		"{\"name\":\"odd\",\"reads\":[\"nodot\"]}]}");
	CLEANUP(json_freep) struct json *kept = view_filter_model(view, model);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	json_write(kept, &text);
	assert_string_equal(
		buf_str(&text),
		"{\"name\":\"sales\",\"datasets\":["
		"{\"name\":\"orders\",\"table\":\"orders\",\"primary_key\":[\"id\"],\"fields\":["
		"{\"name\":\"day\",\"reads\":[\"orders.day\"]}]},"
		"{\"name\":\"customers\",\"table\":\"customers\",\"primary_key\":[],"
		"\"unique_keys\":[[\"region\",\"customer_id\"]],\"fields\":["
		"{\"name\":\"region\",\"reads\":[\"customers.region\"]}]}],"
		"\"metrics\":[{\"name\":\"n\",\"reads\":[\"orders.amount\"]}]}");
}

static void test_a_statement_is_shown_only_when_all_it_reads_is(void **state)
{
	CLEANUP(json_freep) struct json *view = sales_view();
	CLEANUP(json_freep)
	struct json *model =
		parse("{\"queries\":["
		      "{\"name\":\"open\",\"sql\":\"SELECT 1\",\"reads\":[\"orders.day\"]},"
		      "{\"name\":\"pay\",\"sql\":\"SELECT 2\",\"reads\":[\"payroll.amount\"]},"
		      "{\"name\":\"proposed\",\"sql\":\"SELECT 3 FROM payroll\"},"
		      "{\"name\":\"odd\",\"sql\":\"SELECT 4\",\"reads\":\"orders.day\"},"
		      "{\"name\":\"none\",\"sql\":\"SELECT 5\",\"reads\":[]}]}");
	CLEANUP(json_freep) struct json *kept = view_filter_model(view, model);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	json_write(kept, &text);
	assert_string_equal(buf_str(&text),
			    "{\"queries\":[{\"name\":\"open\",\"sql\":\"SELECT 1\",\"reads\":["
			    "\"orders.day\"]}]}");
}

static void test_expected_totals_go_where_rows_are_kept_back(void **state)
{
	static const char model_text[] = "{\"metrics\":[{\"name\":\"m\",\"reads\":[\"orders.id\"],"
					 "\"expected\":[{\"value\":\"9\"}]}]}";
	static const char *const views[] = {
		"{\"tables\":{\"orders\":\"all\"}}",
		"{\"tables\":{\"orders\":\"all\"},\"rows\":{\"orders\":[]}}",
		"{\"tables\":{\"orders\":\"all\"},\"require\":{\"orders\":{}}}",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct json *view = NULL, *model = NULL, *kept;
		struct err err;

		assert_int_equal(json_parse_str(views[i], &view, &err), 0);
		assert_int_equal(json_parse_str(model_text, &model, &err), 0);
		kept = view_filter_model(view, model);
		assert_int_equal(json_get(json_at(json_get(kept, "metrics"), 0), "expected") !=
					 NULL,
				 i == 0);
		json_free(kept);
		json_free(model);
		json_free(view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expected_totals_go_where_rows_are_kept_back),
		cmocka_unit_test(test_a_view_shows_tables_in_its_own_spelling),
		cmocka_unit_test(test_a_view_shows_listed_columns_less_the_excepted),
		cmocka_unit_test(test_a_model_loses_what_reads_hidden_columns),
		cmocka_unit_test(test_a_statement_is_shown_only_when_all_it_reads_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
