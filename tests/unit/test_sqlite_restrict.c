/* Row filters and masks: what a restricted table shows, and every way around that was thought of.
 */
#include "tests/lib/sqlite_fixture.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NEUTRAL "the statement reaches beyond what is granted"

/* orders: the rows of customers 1 only. customers: the name hashed, the note redacted, the phone
 * cut, the region gone. */
#define SALES_SQL                                                                                  \
	"CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT,"       \
	" amount INTEGER, placed TEXT);"                                                           \
	"CREATE INDEX by_customer ON orders(customer_id);"                                         \
	"CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, name TEXT, region TEXT,"          \
	" note TEXT, phone TEXT);"                                                                 \
	"CREATE VIEW all_orders AS SELECT * FROM orders;"                                          \
	"CREATE VIEW one_per_order AS SELECT 1 AS one FROM orders;"                                \
	"CREATE VIEW spelled AS SELECT 1 AS one FROM 'OrDers';"                                    \
	"CREATE VIEW second_hand AS SELECT * FROM \"ALL_orders\";"                                 \
	"CREATE VIEW unrelated AS SELECT 1 AS one;"                                                \
	"INSERT INTO orders VALUES (10,1,'open',100,'2026-01-05'),(11,1,'done',200,'2026-02-05')," \
	"(12,2,'secret',4000,'2026-02-06'),(13,NULL,'lost',8000,NULL);"                            \
	"INSERT INTO customers VALUES (1,'Ada','East','vip','+49 30 123456'),"                     \
	"(2,'Bo','West',NULL,'123'),(3,'Ada',NULL,'x','12345678');"

#define TABLES                                                                                     \
	"\"database\":\"shop\",\"tables\":{\"orders\":\"all\",\"customers\":\"all\","              \
	"\"all_orders\":\"all\",\"one_per_order\":\"all\",\"spelled\":\"all\","                    \
	"\"second_hand\":\"all\",\"unrelated\":\"all\"},"                                          \
	"\"functions\":[\"count\",\"sum\",\"like\",\"max\",\"length\",\"json_extract\"]"

#define ROWS                                                                                       \
	"\"rows\":{\"orders\":[{\"column\":\"customer_id\",\"constraint_type\":\"exact\","         \
	"\"value\":1}]}"

#define MASKS                                                                                      \
	"\"masks\":{\"customers\":{\"name\":\"hash\",\"region\":\"null\",\"note\":\"redact\","     \
	"\"phone\":\"last4\"}},\"mask_key\":\"" KEY "\""

#define SALES_VIEW "{" TABLES "," ROWS "," MASKS "}"

static int setup(void **state)
{
	struct fixture *fixture = mem_alloc(sizeof(*fixture));

	fixture_open(fixture, SALES_SQL);
	fixture->view = SALES_VIEW;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	mem_free(*state);
	return 0;
}

static void gives(void **state, const char *sql, const char *rows)
{
	assert_rows(fixture_run(*state, sql), rows);
}

static void is_refused(void **state, const char *sql, const char *by, const char *error)
{
	assert_refused(fixture_run(*state, sql), by, error);
}

static void test_only_the_rows_of_the_filter_are_there(void **state)
{
	gives(state, "SELECT order_id FROM orders ORDER BY 1", "[[10],[11]]");
	gives(state, "SELECT * FROM orders WHERE order_id = 12", "[]");
	gives(state, "SELECT COUNT(*), SUM(amount) FROM orders", "[[2,300]]");
	gives(state, "SELECT COUNT(*) FROM orders o JOIN orders p ON o.order_id <> p.order_id",
	      "[[2]]");
	gives(state,
	      "SELECT c.customer_id, o.order_id FROM customers c LEFT JOIN orders o ON "
	      "o.customer_id = c.customer_id WHERE c.customer_id = 2",
	      "[[2,null]]");
	gives(state, "SELECT EXISTS (SELECT 1 FROM orders WHERE state = 'secret')", "[[0]]");
	gives(state, "SELECT MAX(amount) FROM \"ORDERS\"", "[[200]]");
}

static void test_a_common_table_expression_of_the_same_name_gets_no_further(void **state)
{
	is_refused(state, "WITH orders AS (SELECT * FROM main.orders) SELECT * FROM orders",
		   "database", "no such table: main.orders");
	gives(state, "WITH orders AS (SELECT * FROM temp.orders) SELECT COUNT(*) FROM orders",
	      "[[2]]");
	gives(state, "WITH customers AS (SELECT * FROM orders) SELECT COUNT(*) FROM customers",
	      "[[2]]");
	gives(state,
	      "WITH RECURSIVE orders(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM orders WHERE n<3) "
	      "SELECT COUNT(*) FROM orders",
	      "[[3]]");
}

static void test_the_table_itself_is_out_of_reach_by_any_spelling(void **state)
{
	is_refused(state, "SELECT COUNT(*) FROM main.orders", "database",
		   "no such table: main.orders");
	is_refused(state, "SELECT main.orders.amount FROM orders", "database",
		   "no such column: main.orders.amount");
	is_refused(state, "SELECT rowid FROM orders", "policy", NEUTRAL);
	is_refused(state, "SELECT name FROM temp.sqlite_schema", "database",
		   "no such table: sqlite_temp_master");
	is_refused(state, "SELECT name FROM sqlite_temp_master", "database",
		   "no such table: sqlite_temp_master");
}

static void test_a_view_of_the_database_over_a_restricted_table_is_not_there(void **state)
{
	is_refused(state, "SELECT COUNT(*) FROM all_orders", "database",
		   "no such table: all_orders");
	is_refused(state, "SELECT COUNT(*) FROM one_per_order", "database",
		   "no such table: one_per_order");
	is_refused(state, "SELECT 1 FROM spelled", "database", "no such table: spelled");
	is_refused(state, "SELECT 1 FROM second_hand", "database", "no such table: second_hand");
	gives(state, "SELECT one FROM unrelated", "[[1]]");
}

static void test_facts_name_what_the_statement_reads_and_not_the_filter(void **state)
{
	struct json *result = fixture_prepare(*state, "SELECT amount FROM orders");

	assert_member(result, "tables", "[\"orders\"]");
	assert_member(result, "columns", "[\"orders.amount\"]");
	assert_member(result, "functions", "[]");
	json_free(result);
	result = fixture_prepare(*state, "SELECT COUNT(*) FROM customers");
	assert_member(result, "columns", "[\"customers.\"]");
	json_free(result);
}

static void test_masked_columns_show_what_the_mask_leaves(void **state)
{
	gives(state, "SELECT note, phone, region FROM customers ORDER BY customer_id",
	      "[[\"[redacted]\",\"****3456\",null],[null,\"****\",null],"
	      "[\"[redacted]\",\"****5678\",null]]");
	gives(state, "SELECT COUNT(*) FROM customers WHERE note LIKE '%vip%'", "[[0]]");
	gives(state, "SELECT COUNT(*) FROM customers WHERE region = 'East'", "[[0]]");
	gives(state, "SELECT COUNT(*) FROM customers WHERE phone = '12345678'", "[[0]]");
	gives(state, "SELECT c.note FROM customers AS c WHERE c.customer_id = 1",
	      "[[\"[redacted]\"]]");
}

static void test_hashes_are_equal_for_equal_values_and_hide_them(void **state)
{
	gives(state, "SELECT COUNT(DISTINCT name), MAX(length(name)) FROM customers", "[[2,16]]");
	gives(state,
	      "SELECT COUNT(*) FROM customers a JOIN customers b ON a.name = b.name "
	      "AND a.customer_id <> b.customer_id",
	      "[[2]]");
	gives(state, "SELECT COUNT(*) FROM customers WHERE name = 'Ada'", "[[0]]");
}

static void test_another_key_gives_other_hashes(void **state)
{
	struct fixture *fixture = *state;
	struct json *first = fixture_run(fixture, "SELECT name FROM customers LIMIT 1");
	struct json *second;

	fixture->view = "{" TABLES ",\"masks\":{\"customers\":{\"name\":\"hash\"}},\"mask_key\":"
			"\"ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"}";
	second = fixture_run(fixture, "SELECT name FROM customers LIMIT 1");
	assert_false(json_equal(json_get(first, "rows"), json_get(second, "rows")));
	json_free(first);
	json_free(second);
}

/* With an index for each way around, where the filter has none. */
static void with_indices(void **state)
{
	struct fixture *fixture = *state;

	fixture_exec(fixture->path,
		     "CREATE INDEX by_state ON orders(state);"
		     "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i+1 FROM n WHERE i<900)"
		     "INSERT INTO orders SELECT i, 2 + i % 5, 'hid' || i % 9, i, "
		     "hex(zeroblob(300)) FROM n");
	fixture->view = "{" TABLES "," ROWS "}";
}

static void test_no_condition_of_a_statement_meets_a_row_that_is_kept_back(void **state)
{
	with_indices(state);
	gives(state,
	      "SELECT COUNT(*) FROM orders WHERE state >= 's' AND state < 't' AND "
	      "json_extract('{}', state) IS NULL",
	      "[[0]]");
	gives(state,
	      "SELECT COUNT(*) FROM orders WHERE state IN ('secret', 'lost') AND "
	      "json_extract('{}', state) IS NULL",
	      "[[0]]");
	gives(state,
	      "SELECT c.customer_id, o.state FROM customers c LEFT JOIN orders o ON o.state = "
	      "'secret' AND json_extract('{}', o.state || '') IS NULL ORDER BY 1",
	      "[[1,null],[2,null],[3,null]]");
	is_refused(state, "SELECT 1 FROM orders WHERE json_extract('{}', state) IS NULL",
		   "database", "JSON path error near 'open'"); /* the first that may be seen */
}

static int64_t scanned(struct fixture *fixture, const char *sql)
{
	struct json *result = fixture_run(fixture, sql);
	int64_t bytes = json_get_int(result, "bytes_scanned", -1);

	assert_true(json_get_bool(result, "ok", false));
	json_free(result);
	return bytes;
}

static void test_bytes_do_not_tell_how_many_rows_are_kept_back(void **state)
{
	int64_t some, none;

	with_indices(state);
	some = scanned(*state, "SELECT placed FROM orders WHERE state = 'hid3'");
	none = scanned(*state, "SELECT placed FROM orders WHERE state = 'nowhere'");
	assert_true(none > 0);
	assert_int_equal(some, none);
	some = scanned(*state, "SELECT placed FROM orders WHERE order_id = 500");
	none = scanned(*state, "SELECT placed FROM orders WHERE order_id = 5000");
	assert_int_equal(some, none);
}

static void test_plans_do_not_name_what_the_filter_is_about(void **state)
{
	struct json *result;

	with_indices(state);
	result = fixture_execute(*state, "SELECT amount FROM orders WHERE state = 'open'",
				 "explain", LIMITS);
	assert_member(result, "plan",
		      "[\"CO-ROUTINE temp.orders\",\"  SEARCH main.orders\",\"SCAN temp.orders\"]");
	json_free(result);
}

static void test_the_masks_own_functions_are_nobody_elses(void **state)
{
	is_refused(state, "SELECT writ_hash('Ada')", "database", "no such function: writ_hash");
	is_refused(state, "SELECT writ_bound(0)", "database", "no such function: writ_bound");
	is_refused(state, "SELECT WRIT_LAST4(note) FROM customers", "database",
		   "no such function: WRIT_LAST4");
}

static void test_tools_show_what_statements_show(void **state)
{
	struct json *result = fixture_tool(*state, "describe_table", "{\"table\":\"orders\"}");

	assert_member(json_get(result, "sample_rows"), "rows",
		      "[[10,1,\"open\",100,\"2026-01-05\"],[11,1,\"done\",200,\"2026-02-05\"]]");
	assert_member(result, "rows_filtered", "true");
	json_free(result);
	result = fixture_tool(*state, "search_values", "{\"text\":\"secret open\"}");
	assert_string_equal(json_get_str(json_at(json_get(result, "matches"), 0), "value"), "open");
	assert_int_equal(json_len(json_get(result, "matches")), 1);
	json_free(result);
	result = fixture_tool(*state, "search_values", "{\"text\":\"Ada vip East\"}");
	assert_int_equal(json_len(json_get(result, "matches")), 0);
	json_free(result);
}

static void test_nothing_that_is_said_holds_an_inner_name(void **state)
{
	struct fixture *fixture = *state;
	struct json *result =
		fixture_execute(fixture,
				"SELECT o.order_id FROM orders o JOIN (SELECT customer_id, "
				"COUNT(*) AS n FROM orders "
				"GROUP BY customer_id) x ON x.customer_id = o.customer_id",
				"explain", LIMITS);
	CLEANUP(mem_freep) char *text = text_of(result);

	assert_true(json_get_bool(result, "ok", false));
	assert_null(strstr(text, fixture->session.database.guard.prefix));
	assert_non_null(strstr(text, "orders"));
	json_free(result);
}

static void test_inner_names_differ_from_connection_to_connection(void **state)
{
	struct fixture *fixture = *state;
	char before[GUARD_PREFIX_LEN + 1];

	json_free(fixture_run(fixture, "SELECT 1 FROM orders"));
	memcpy(before, fixture->session.database.guard.prefix, sizeof(before));
	session_clear(&fixture->session);
	session_init(&fixture->session, fixture->path);
	json_free(fixture_run(fixture, "SELECT 1 FROM orders"));
	assert_int_equal(strlen(before), GUARD_PREFIX_LEN);
	assert_string_not_equal(before, fixture->session.database.guard.prefix);
}

#define WITH_ROWS(conditions) "{" TABLES ",\"rows\":{\"orders\":[" conditions "]}}"

static void test_each_kind_of_condition_keeps_its_rows(void **state)
{
	static const struct {
		const char *view;
		const char *rows;
	} cases[] = {
		{WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"one_of\",\"values\":"
			   "[\"open\",\"lost\"]}"),
		 "[[10],[13]]"},
		{WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"one_of\",\"values\":[]}"),
		 "[]"},
		{WITH_ROWS("{\"column\":\"customer_id\",\"constraint_type\":\"not_one_of\","
			   "\"excluded\":[2]}"),
		 "[[10],[11]]"},
		{WITH_ROWS("{\"column\":\"customer_id\",\"constraint_type\":\"not_one_of\","
			   "\"excluded\":[]}"),
		 "[[10],[11],[12]]"},
		{WITH_ROWS("{\"column\":\"amount\",\"constraint_type\":\"range\",\"min\":200,"
			   "\"max\":4000}"),
		 "[[11],[12]]"},
		{WITH_ROWS("{\"column\":\"amount\",\"constraint_type\":\"range\",\"min\":200,"
			   "\"min_inclusive\":false,\"max\":8000,\"max_inclusive\":false}"),
		 "[[12]]"},
		{WITH_ROWS("{\"column\":\"placed\",\"constraint_type\":\"range\","
			   "\"min\":\"2026-02-01\"}"),
		 "[[11],[12]]"},
		{WITH_ROWS("{\"column\":\"amount\",\"constraint_type\":\"range\",\"max\":100}"),
		 "[[10]]"},
		{WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"exact\",\"value\":"
			   "\"x' OR '1'='1\"}"),
		 "[]"},
		{WITH_ROWS("{\"column\":\"customer_id\",\"constraint_type\":\"exact\",\"value\":1},"
			   "{\"column\":\"state\",\"constraint_type\":\"exact\",\"value\":"
			   "\"done\"}"),
		 "[[11]]"},
		{WITH_ROWS("{\"column\":\"gone\",\"constraint_type\":\"exact\",\"value\":1}"),
		 "[]"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		fixture->view = cases[i].view;
		gives(state, "SELECT order_id FROM orders ORDER BY 1", cases[i].rows);
	}
}

static void test_a_range_from_a_number_upwards_holds_no_text(void **state)
{
	struct fixture *fixture = *state;

	fixture_exec(fixture->path, "INSERT INTO orders VALUES (14,1,'odd','n/a',NULL),"
				    "(15,1,'odd',x'00',NULL)");
	fixture->view = WITH_ROWS("{\"column\":\"amount\",\"constraint_type\":\"range\","
				  "\"min\":4000}");
	gives(state, "SELECT order_id FROM orders ORDER BY 1", "[[12],[13]]");
}

static void test_views_are_exchanged_with_their_values(void **state)
{
	struct fixture *fixture = *state;

	for (int round = 0; round < 3; round++) {
		fixture->view = SALES_VIEW;
		gives(state, "SELECT COUNT(*) FROM orders", "[[2]]");
		fixture->view = "{" TABLES ",\"rows\":{\"orders\":[{\"column\":\"customer_id\","
				"\"constraint_type\":\"exact\",\"value\":2}]}}";
		gives(state, "SELECT COUNT(*) FROM orders", "[[1]]");
		fixture->view = "{" TABLES "}";
		gives(state, "SELECT COUNT(*) FROM orders", "[[4]]");
		gives(state, "SELECT COUNT(*) FROM all_orders", "[[4]]");
	}
}

static void test_a_changed_schema_keeps_the_restrictions(void **state)
{
	struct fixture *fixture = *state;

	gives(state, "SELECT COUNT(*) FROM orders", "[[2]]");
	fixture_exec(fixture->path, "ALTER TABLE orders ADD COLUMN extra TEXT");
	gives(state, "SELECT COUNT(*) FROM orders", "[[2]]");
	fixture_exec(fixture->path, "ALTER TABLE orders RENAME COLUMN customer_id TO buyer");
	gives(state, "SELECT COUNT(*) FROM orders", "[[0]]"); /* doubt shows nothing */
}

static void test_a_restriction_that_is_not_understood_shows_nothing(void **state)
{
	static const char *const views[] = {
		"{" TABLES ",\"rows\":[]}",
		"{" TABLES ",\"rows\":{\"orders\":{}}}",
		WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"regex\",\"value\":\"x\"}"),
		WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"range\"}"),
		WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"exact\",\"value\":1.5}"),
		WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"exact\",\"value\":null}"),
		WITH_ROWS("{\"column\":\"state\",\"constraint_type\":\"one_of\",\"values\":\"a\"}"),
		"{" TABLES ",\"masks\":{\"customers\":{\"name\":\"hash\"}}}",
		"{" TABLES ",\"masks\":{\"customers\":{\"name\":\"rot13\"}}}",
		"{" TABLES ",\"masks\":{\"customers\":{\"name\":\"none\"}}}",
		"{" TABLES ",\"masks\":{\"customers\":[\"name\"]}}",
		"{" TABLES ",\"masks\":{\"customers\":{\"name\":\"hash\"}},\"mask_key\":\"00\"}",
		"{" TABLES ",\"require\":{\"customers\":{\"min_group\":0,\"of\":\"name\"}}}",
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(views); i++) {
		struct json *result;

		fixture->view = views[i];
		result = fixture_run(fixture, "SELECT order_id FROM orders");
		if (json_get_bool(result, "ok", true))
			fail_msg("accepted: %s", views[i]);
		json_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_the_rows_of_the_filter_are_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_common_table_expression_of_the_same_name_gets_no_further, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_the_table_itself_is_out_of_reach_by_any_spelling, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_view_of_the_database_over_a_restricted_table_is_not_there, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_facts_name_what_the_statement_reads_and_not_the_filter, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_masked_columns_show_what_the_mask_leaves,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_hashes_are_equal_for_equal_values_and_hide_them, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_key_gives_other_hashes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_no_condition_of_a_statement_meets_a_row_that_is_kept_back, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_bytes_do_not_tell_how_many_rows_are_kept_back,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_plans_do_not_name_what_the_filter_is_about,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_range_from_a_number_upwards_holds_no_text,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_masks_own_functions_are_nobody_elses,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_tools_show_what_statements_show, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nothing_that_is_said_holds_an_inner_name,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_inner_names_differ_from_connection_to_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_kind_of_condition_keeps_its_rows, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_views_are_exchanged_with_their_values, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_changed_schema_keeps_the_restrictions, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_restriction_that_is_not_understood_shows_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
