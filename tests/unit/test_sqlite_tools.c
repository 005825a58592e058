/* list_tables, describe_table, search_schema, search_values, explain: what they show, and that they
 * show nothing of what is out of the view. */
#include "tests/lib/sqlite_fixture.h"

static int setup(void **state)
{
	struct fixture *fixture = mem_alloc(sizeof(*fixture));

	fixture_open(fixture, SHOP_SQL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	mem_free(*state);
	return 0;
}

static void result_is(struct json *result, const char *text)
{
	CLEANUP(mem_freep) char *got = text_of(result);

	json_free(result);
	assert_string_equal(got, text);
}

static void test_tables_are_listed_with_their_grain(void **state)
{
	result_is(fixture_tool(*state, "list_tables", "{}"),
		  "{\"ok\":true,\"tables\":["
		  "{\"name\":\"customers\",\"kind\":\"table\",\"columns\":2,"
		  "\"grain\":\"one row per customer_id\"},"
		  "{\"name\":\"items\",\"kind\":\"table\",\"columns\":3,"
		  "\"grain\":\"one row per (order_id, line)\"},"
		  "{\"name\":\"logs\",\"kind\":\"table\",\"columns\":2,"
		  "\"grain\":\"grain unknown: no declared key\"},"
		  "{\"name\":\"order_lines\",\"kind\":\"view\",\"columns\":2,"
		  "\"grain\":\"grain unknown: a view\"},"
		  "{\"name\":\"orders\",\"kind\":\"table\",\"columns\":4,"
		  "\"grain\":\"one row per order_id\"},"
		  "{\"name\":\"pay_view\",\"kind\":\"view\",\"columns\":1,"
		  "\"grain\":\"grain unknown: a view\"},"
		  "{\"name\":\"word_view\",\"kind\":\"view\",\"columns\":1,"
		  "\"grain\":\"grain unknown: a view\"}]}");
}

static void test_a_table_is_described_as_far_as_it_is_in_view(void **state)
{
	result_is(fixture_tool(*state, "describe_table", "{\"table\":\"customers\"}"),
		  "{\"ok\":true,\"table\":\"customers\",\"columns\":["
		  "{\"name\":\"customer_id\",\"type\":\"INTEGER\",\"not_null\":false,"
		  "\"key\":\"primary\"},"
		  "{\"name\":\"region\",\"type\":\"TEXT\",\"not_null\":false,\"key\":null}],"
		  "\"primary_key\":[\"customer_id\"],\"foreign_keys\":[],"
		  "\"grain\":\"one row per customer_id\",\"sample_rows\":{\"columns\":"
		  "[\"customer_id\",\"region\"],\"rows\":[[1,\"East\"],[2,\"West\"],[3,null]]}}");
	result_is(fixture_tool(*state, "describe_table", "{\"table\":\"items\"}"),
		  "{\"ok\":true,\"table\":\"items\",\"columns\":["
		  "{\"name\":\"order_id\",\"type\":\"INTEGER\",\"not_null\":true,"
		  "\"key\":\"primary\"},"
		  "{\"name\":\"line\",\"type\":\"INTEGER\",\"not_null\":true,"
		  "\"key\":\"primary\"},"
		  "{\"name\":\"sku\",\"type\":\"TEXT\",\"not_null\":true,\"key\":\"unique\"}],"
		  "\"primary_key\":[\"order_id\",\"line\"],"
		  "\"foreign_keys\":[{\"columns\":[\"order_id\"],\"table\":\"orders\","
		  "\"to\":[\"order_id\"]}],"
		  "\"grain\":\"one row per (order_id, line)\",\"sample_rows\":{\"columns\":"
		  "[\"order_id\",\"line\",\"sku\"],\"rows\":[[10,1,\"W-1\"],[10,2,\"W-2\"],"
		  "[12,1,\"G-1\"]]}}");
}

static void test_keys_out_of_view_are_not_told(void **state)
{
	struct fixture *fixture = *state;
	struct json *result;

	fixture->view = "{\"tables\":{\"orders\":[\"customer_id\"],\"customers\":[\"region\"],"
			"\"items\":[\"sku\",\"line\"]},\"functions\":[]}";
	result = fixture_tool(fixture, "describe_table", "{\"table\":\"orders\"}");
	assert_member(result, "primary_key", "[]");
	assert_member(result, "foreign_keys", "[]");
	assert_member(result, "grain", "\"grain unknown: no declared key\"");
	json_free(result);
	result = fixture_tool(fixture, "describe_table", "{\"table\":\"items\"}");
	assert_member(result, "grain", "\"one row per sku\"");
	assert_member(result, "primary_key", "[]");
	json_free(result);
	fixture->view = "{\"tables\":{\"orders\":\"all\",\"customers\":[\"customer_id\"]}}";
	result = fixture_tool(fixture, "describe_table", "{\"table\":\"orders\"}");
	assert_member(result, "foreign_keys",
		      "[{\"columns\":[\"customer_id\"],\"table\":\"customers\","
		      "\"to\":[\"customer_id\"]}]");
	json_free(result);
}

static void defined(struct fixture *fixture, const char *view, const char *arguments,
		    const char *wanted)
{
	struct json *result;

	fixture->view = view;
	result = fixture_tool(fixture, "describe_table", arguments);
	if (wanted == NULL)
		assert_null(json_get(result, "definition"));
	else
		assert_non_null(strstr(json_get_str(result, "definition"), wanted));
	json_free(result);
}

static void test_a_view_tells_what_it_is_made_of_to_who_may_see_all_of_it(void **state)
{
	static const char lines[] = "{\"table\":\"order_lines\"}";

	defined(*state, SHOP_VIEW, lines, "SELECT o.order_id, i.sku FROM orders o JOIN items i");
	defined(*state, SHOP_VIEW, "{\"table\":\"orders\"}", NULL);    /* a table */
	defined(*state, SHOP_VIEW, "{\"table\":\"pay_view\"}", NULL);  /* of a hidden table */
	defined(*state, SHOP_VIEW, "{\"table\":\"word_view\"}", NULL); /* one of two is hidden */
	/* a hidden column of a table that may be seen */
	defined(*state,
		"{\"tables\":{\"orders\":\"all\",\"items\":[\"order_id\",\"line\"],\"order_lines\":"
		"[\"order_id\"]},\"functions\":[]}",
		lines, NULL);
	defined(*state,
		"{\"tables\":{\"orders\":[\"order_id\"],\"items\":[\"order_id\",\"sku\"],"
		"\"order_lines\":\"all\"},\"functions\":[]}",
		lines, "JOIN items i");
}

static void test_hidden_and_missing_tables_are_described_alike(void **state)
{
	assert_refused(fixture_tool(*state, "describe_table", "{\"table\":\"payroll\"}"),
		       "database", "no such table: payroll");
	assert_refused(fixture_tool(*state, "describe_table", "{\"table\":\"absent\"}"), "database",
		       "no such table: absent");
	assert_refused(fixture_tool(*state, "describe_table", "{\"table\":\"sqlite_schema\"}"),
		       "database", "no such table: sqlite_schema");
}

static void test_a_view_over_what_is_hidden_gives_no_samples(void **state)
{
	struct json *result = fixture_tool(*state, "describe_table", "{\"table\":\"pay_view\"}");

	assert_member(result, "sample_rows",
		      "{\"columns\":[],\"rows\":[],\"error\":"
		      "\"the statement reaches beyond what is granted\"}");
	json_free(result);
}

static void test_samples_are_cut_between_characters(void **state)
{
	struct fixture *fixture = *state;
	struct json *result;
	const char *text;

	fixture_exec(fixture->path, "DELETE FROM logs; INSERT INTO logs VALUES (x'00', "
				    "'x' || replace(hex(zeroblob(150)), '0', 'é'))");
	result = fixture_tool(fixture, "describe_table", "{\"table\":\"logs\"}");
	text = json_str(json_at(json_at(json_get(json_get(result, "sample_rows"), "rows"), 0), 1));
	assert_int_equal(strlen(text), 199 + 3);
	assert_string_equal(text + 199, "...");
	json_free(result);
}

static void test_arguments_have_a_strict_shape(void **state)
{
	static const struct {
		const char *tool, *arguments, *error;
	} cases[] = {
		{"describe_table", "{}", "member \"table\" is missing (string)"},
		{"describe_table", "{\"table\":1}",
		 "member \"table\" must be of type string, not integer"},
		{"describe_table", "{\"table\":\"a\",\"x\":1}", "unknown member \"x\""},
		{"list_tables", "{\"x\":1}", "unknown member \"x\""},
		{"search_schema", "{}", "member \"text\" is missing (string)"},
		{"search_values", "{\"text\":\"a\",\"limit\":0}",
		 "member \"limit\" is 0, it must lie between 1 and 50"},
		{"search_values", "{\"text\":\"a\",\"limit\":51}",
		 "member \"limit\" is 51, it must lie between 1 and 50"},
		{"drop_table", "{}", "this source has no tool drop_table"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_refused(fixture_tool(*state, cases[i].tool, cases[i].arguments), "arguments",
			       cases[i].error);
}

/* "table.column" of the first match, or "" when there is none. */
static char *first_match(void **state, const char *text)
{
	CLEANUP(mem_freep) char *arguments = mem_format("{\"text\":\"%s\"}", text);
	CLEANUP(json_freep)
	struct json *result = fixture_tool(*state, "search_schema", arguments);
	const struct json *match = json_at(json_get(result, "matches"), 0);
	const char *column = json_get_str(match, "column");

	assert_true(json_get_bool(result, "ok", false));
	if (!match)
		return mem_str("");
	return mem_format("%s.%s", json_get_str(match, "table"), column ? column : "");
}

static void test_names_are_found_by_their_words(void **state)
{
	static const char *const cases[][2] = {
		{"region", "customers.region"},
		{"regions", "customers.region"},
		{"REGION of customer", "customers.region"},
		{"order note", "orders.note"},
		{"updates", "orders.update"},
		{"line", "items.line"},
		{"payroll", ""},
		{"salary", ""},
		{"customer name", "customers."},
		{"", ""},
		{"\\\" OR * NEAR(", ""},
		{"  -- ", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *found = first_match(state, cases[i][0]);

		if (strcmp(found, cases[i][1]) != 0)
			fail_msg("%s: %s, not %s", cases[i][0], found, cases[i][1]);
	}
}

static void test_names_are_split_at_case_and_digits(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(mem_freep) char *found = NULL;

	fixture_exec(fixture->path, "CREATE TABLE T1(unitPriceUSD, q3total)");
	fixture->view = "{\"tables\":{\"T1\":\"all\"}}";
	found = first_match(state, "price");
	assert_string_equal(found, "T1.unitPriceUSD");
	mem_free(found);
	found = first_match(state, "usd");
	assert_string_equal(found, "T1.unitPriceUSD");
	mem_free(found);
	found = first_match(state, "total");
	assert_string_equal(found, "T1.q3total");
}

static void test_matches_carry_type_and_score(void **state)
{
	struct json *result =
		fixture_tool(*state, "search_schema", "{\"text\":\"region\",\"limit\":1}");
	const struct json *match = json_at(json_get(result, "matches"), 0);

	assert_int_equal(json_len(json_get(result, "matches")), 1);
	assert_string_equal(json_get_str(match, "type"), "TEXT");
	assert_true(json_real(json_get(match, "score")) > 0);
	json_free(result);
}

static const char places_sql[] =
	"CREATE TABLE places(id INTEGER PRIMARY KEY, region TEXT, state TEXT, product TEXT,"
	" opened TEXT, code INTEGER, hidden TEXT);"
	"INSERT INTO places VALUES (1,'East','IN','Training Set','2026-01-01',5,'Zebra'),"
	"(2,'West','OR','Set','2026-01-02',6,'Zebra'),(3,'South','WA','Boxes','2026-01-03',7,NULL),"
	"(4,'Köln','KY','Headphones','2026-01-04',8,NULL),(5,'Macy''s','OK','Widget',NULL,9,NULL);";

static void use_places(struct fixture *fixture)
{
	fixture_exec(fixture->path, places_sql);
	fixture->view = "{\"tables\":{\"places\":[\"region\",\"state\",\"product\",\"opened\","
			"\"code\"]}}";
}

/* "column=value/phrase" of each match, near ones with ~, joined by blanks. */
static char *values_in(void **state, const char *text)
{
	CLEANUP(json_freep) struct json *arguments = json_object();
	CLEANUP(mem_freep) char *arguments_text = NULL;
	CLEANUP(json_freep) struct json *result = NULL;
	struct buf found = BUF_INIT;

	json_set_str(arguments, "text", text);
	arguments_text = text_of(arguments);
	result = fixture_tool(*state, "search_values", arguments_text);
	assert_true(json_get_bool(result, "ok", false));
	json_each(match, json_get(result, "matches"))
		buf_addf(&found, "%s%s=%s/%s", found.len ? " " : "", json_get_str(match, "column"),
			 json_get_str(match, "value"), json_get_str(match, "phrase"));
	if (json_len(json_get(result, "matches")) &&
	    !json_get_bool(json_first(json_get(result, "matches")), "exact", false))
		buf_add_str(&found, "~");
	return buf_take(&found);
}

static void values_are(void **state, const char *text, const char *wanted)
{
	CLEANUP(mem_freep) char *found = values_in(state, text);

	if (strcmp(found, wanted) != 0)
		fail_msg("%s: %s, not %s", text, found, wanted);
}

static void test_values_are_found_in_a_question(void **state)
{
	use_places(*state);
	values_are(state, "Net sales in the East last quarter", "region=East/East");
	values_are(state, "net sales of EAST and west", "region=East/EAST region=West/west");
	values_are(state, "how many training sets?", "product=Training Set/training sets");
	values_are(state, "sets", "product=Set/sets");
	values_are(state, "a box or a widget", "product=Widget/widget product=Boxes/box");
	values_are(state, "sales at Macy's", "region=Macy's/Macy");
	values_are(state, "KÖLN", "region=Köln/KÖLN");
	values_are(state, "nothing here", "");
	values_are(state, "", "");
}

static void test_codes_of_two_letters_must_stand_as_stored(void **state)
{
	use_places(*state);
	values_are(state, "who is in or out", "");
	values_are(state, "sales of IN, OR", "state=IN/IN state=OR/OR");
}

static void test_near_values_come_only_without_exact_ones(void **state)
{
	use_places(*state);
	values_are(state, "sales in the Esat", "region=East/Esat~");
	values_are(state, "headfones", "product=Headphones/headfones~");
	values_are(state, "Soth", "region=South/Soth~");
	values_are(state, "Soth and West", "region=West/West");
	values_are(state, "Sth", "");
}

static void test_hidden_columns_dates_and_numbers_are_not_values(void **state)
{
	use_places(*state);
	values_are(state, "Zebra 2026-01-01 5", "");
}

static void test_values_follow_the_data(void **state)
{
	struct fixture *fixture = *state;

	use_places(fixture);
	values_are(state, "North", "");
	fixture_exec(fixture->path, "INSERT INTO places(region) VALUES ('North')");
	values_are(state, "North", "region=North/North");
}

static void test_columns_with_too_many_values_are_named(void **state)
{
	struct fixture *fixture = *state;
	static const char fill[] =
		"DELETE FROM many; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
		"WHERE i < %d) INSERT INTO many SELECT 'name ' || i FROM n";
	struct json *result;
	char sql[256];

	fixture_exec(fixture->path, "CREATE TABLE many(a TEXT)");
	fixture->view = "{\"tables\":{\"many\":\"all\"}}";
	snprintf(sql, sizeof(sql), fill, 10000);
	fixture_exec(fixture->path, sql);
	result = fixture_tool(fixture, "search_values", "{\"text\":\"name 77\"}");
	assert_member(result, "skipped", "[]");
	assert_member(result, "matches",
		      "[{\"table\":\"many\",\"column\":\"a\",\"value\":\"name 77\","
		      "\"phrase\":\"name 77\",\"exact\":true}]");
	json_free(result);
	snprintf(sql, sizeof(sql), fill, 10001);
	fixture_exec(fixture->path, sql);
	result = fixture_tool(fixture, "search_values", "{\"text\":\"name 77\"}");
	assert_member(result, "skipped", "[\"many.a\"]");
	assert_member(result, "matches", "[]");
	json_free(result);
}

static void test_explaining_gives_plan_and_bytes_and_runs_nothing(void **state)
{
	struct json *result = fixture_execute(
		*state, "SELECT order_id FROM orders WHERE note LIKE 'a%'", "explain", LIMITS);

	assert_member(result, "plan", "[\"SCAN orders\"]");
	assert_member(result, "bytes_estimated", "8192");
	assert_member(result, "tables", "[\"orders\"]");
	assert_member(result, "columns", "[\"orders.order_id\",\"orders.note\"]");
	assert_null(json_get(result, "rows"));
	json_free(result);
	result = fixture_execute(*state,
				 "WITH x AS (SELECT 1) SELECT COUNT(*) FROM x, orders o JOIN "
				 "customers c ON c.customer_id = o.customer_id",
				 "explain", LIMITS);
	assert_member(result, "ok", "true");
	assert_member(result, "tables", "[\"customers\",\"orders\"]");
	assert_member(result, "bytes_estimated", "12288");
	json_free(result);
	assert_refused(fixture_execute(*state, "SELECT name FROM customers", "explain", LIMITS),
		       "database", "no such column: name");
}

static char *shape_of(struct fixture *fixture, const char *sql)
{
	struct json *result = fixture_execute(fixture, sql, "explain", LIMITS);
	char *shape = mem_str(json_get_str(result, "shape"));

	assert_non_null(shape);
	assert_int_equal(strlen(shape), 64);
	json_free(result);
	return shape;
}

/* Is the shape of what sql reads another one after the change? */
static void changes(struct fixture *fixture, const char *sql, const char *change, bool changed)
{
	CLEANUP(mem_freep) char *before = shape_of(fixture, sql);
	CLEANUP(mem_freep) char *after = NULL;

	fixture_exec(fixture->path, change);
	after = shape_of(fixture, sql);
	assert_int_equal(strcmp(before, after) != 0, changed);
}

static void test_the_shape_changes_with_what_a_statement_depends_on_alone(void **state)
{
	static const char sql[] = "SELECT order_id FROM orders WHERE note LIKE 'a%'";

	changes(*state, sql, "INSERT INTO orders VALUES (99, 1, 'new', 'u')", false);
	changes(*state, sql, "ALTER TABLE orders ADD COLUMN unused TEXT", false);
	changes(*state, sql, "CREATE TABLE elsewhere(a TEXT)", false);
	changes(*state, "SELECT * FROM orders", "ALTER TABLE orders ADD COLUMN used TEXT", true);
	changes(*state, sql, "CREATE UNIQUE INDEX one_note ON orders(note)", true);
	changes(*state, "SELECT at FROM logs",
		"DROP TABLE logs; CREATE TABLE logs(at INTEGER, text TEXT)", true);
}

static void test_an_estimate_of_a_scan_is_what_it_reads(void **state)
{
	struct fixture *fixture = *state;
	struct json *explained, *run;

	fixture_exec(
		fixture->path,
		"CREATE TABLE wide(id INTEGER PRIMARY KEY, a TEXT);"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
		" INSERT INTO wide SELECT i, hex(zeroblob(300)) FROM n;"
		"CREATE INDEX wide_a ON wide(substr(a, 1, 3));");
	fixture->view = "{\"tables\":{\"wide\":\"all\"}}";
	explained = fixture_execute(fixture, "SELECT max(length(a)) FROM wide", "explain", LIMITS);
	run = fixture_run(fixture, "SELECT max(length(a)) FROM wide");
	assert_true(json_get_int(run, "bytes_scanned", 0) > 1000000);
	assert_int_equal(json_get_int(explained, "bytes_estimated", -1),
			 json_get_int(run, "bytes_scanned", -2));
	json_free(explained);
	json_free(run);
	/* a look-up reads less than estimated: the estimate is a bound */
	run = fixture_run(fixture, "SELECT length(a) FROM wide WHERE id = 7");
	assert_in_range(json_get_int(run, "bytes_scanned", 0), 1, 20000);
	json_free(run);
}

static void test_the_catalog_tells_keys(void **state)
{
	struct fixture *fixture = *state;
	struct json *params = json_object();
	struct json *result = session_call(&fixture->session, "catalog", params);
	const struct json *items = json_at(json_get(result, "tables"), 1);

	assert_string_equal(json_get_str(items, "name"), "items");
	assert_member(items, "unique", "[[\"sku\"]]");
	assert_member(items, "foreign",
		      "[{\"columns\":[\"order_id\"],\"table\":\"orders\",\"to\":[\"order_id\"]}]");
	assert_member(json_at(json_get(items, "columns"), 1), "pk", "2");
	assert_member(json_at(json_get(result, "tables"), 4), "foreign",
		      "[{\"columns\":[\"customer_id\"],\"table\":\"customers\","
		      "\"to\":[\"customer_id\"]}]");
	assert_true(json_get_int(result, "version", 0) > 0);
	json_free(result);
	json_free(params);
}

static void test_the_catalog_leaves_out_what_nobody_can_use(void **state)
{
	struct fixture *fixture = *state;
	struct json *params = json_object();
	struct json *result;

	fixture_exec(fixture->path,
		     "CREATE VIRTUAL TABLE found USING fts5(a);"
		     "CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT);"
		     "CREATE UNIQUE INDEX part ON logs(at) WHERE text IS NOT NULL;"
		     "CREATE UNIQUE INDEX expr ON logs(lower(at));"
		     "CREATE TABLE gone(a); CREATE VIEW broken AS SELECT a FROM gone;"
		     "DROP TABLE gone; ANALYZE;");
	result = session_call(&fixture->session, "catalog", params);
	json_each(table, json_get(result, "tables"))
	{
		const char *name = json_get_str(table, "name");

		assert_string_not_equal(name, "found");
		assert_null(strstr(name, "found_"));
		assert_null(strstr(name, "sqlite_"));
		assert_string_not_equal(name, "broken");
		if (strcmp(name, "logs") == 0)
			assert_member(table, "unique", "[]");
	}
	assert_int_equal(json_len(json_get(result, "tables")), 10);
	json_free(result);
	json_free(params);
}

static void test_names_of_any_kind_are_quoted(void **state)
{
	struct fixture *fixture = *state;
	struct json *result;

	fixture_exec(fixture->path, "CREATE TABLE \"a \"\"b\"\"; DROP TABLE logs; --\"(\"select\" "
				    "TEXT, \"x.y\" INT); INSERT INTO \"a \"\"b\"\"; DROP TABLE "
				    "logs; --\" VALUES ('v', 1)");
	fixture->view = "{\"tables\":{\"a \\\"b\\\"; DROP TABLE logs; --\":\"all\"}}";
	result = fixture_tool(fixture, "describe_table",
			      "{\"table\":\"a \\\"b\\\"; DROP TABLE logs; --\"}");
	assert_member(result, "sample_rows",
		      "{\"columns\":[\"select\",\"x.y\"],\"rows\":[[\"v\",1]]}");
	json_free(result);
	assert_rows(
		fixture_run(fixture, "SELECT \"x.y\" FROM \"a \"\"b\"\"; DROP TABLE logs; --\""),
		"[[1]]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_tables_are_listed_with_their_grain),
		T(test_a_table_is_described_as_far_as_it_is_in_view),
		T(test_keys_out_of_view_are_not_told),
		T(test_a_view_tells_what_it_is_made_of_to_who_may_see_all_of_it),
		T(test_hidden_and_missing_tables_are_described_alike),
		T(test_a_view_over_what_is_hidden_gives_no_samples),
		T(test_samples_are_cut_between_characters),
		T(test_arguments_have_a_strict_shape),
		T(test_names_are_found_by_their_words),
		T(test_names_are_split_at_case_and_digits),
		T(test_matches_carry_type_and_score),
		T(test_values_are_found_in_a_question),
		T(test_codes_of_two_letters_must_stand_as_stored),
		T(test_near_values_come_only_without_exact_ones),
		T(test_hidden_columns_dates_and_numbers_are_not_values),
		T(test_values_follow_the_data),
		T(test_columns_with_too_many_values_are_named),
		T(test_explaining_gives_plan_and_bytes_and_runs_nothing),
		T(test_the_shape_changes_with_what_a_statement_depends_on_alone),
		T(test_an_estimate_of_a_scan_is_what_it_reads),
		T(test_the_catalog_tells_keys),
		T(test_the_catalog_leaves_out_what_nobody_can_use),
		T(test_names_of_any_kind_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
