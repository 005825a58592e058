/* Guard, shadow and statement: what may be compiled, and what is reported of it. */
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

#define NEUTRAL "the statement reaches beyond what is granted"
#define STAR "SELECT * is not granted on customers; name the columns you need: customer_id, region"
#define MORE "only reading is possible here; the statement would do more"

static void refused(void **state, const char *sql, const char *by, const char *error)
{
	assert_refused(fixture_prepare(*state, sql), by, error);
}

static void reports(void **state, const char *sql, const char *tables, const char *columns,
		    const char *functions)
{
	struct json *result = fixture_prepare(*state, sql);

	assert_member(result, "ok", "true");
	assert_member(result, "tables", tables);
	assert_member(result, "columns", columns);
	assert_member(result, "functions", functions);
	json_free(result);
}

static void test_columns_are_reported_through_aliases_and_subqueries(void **state)
{
	reports(state, "SELECT c.region FROM customers AS c", "[\"customers\"]",
		"[\"customers.region\"]", "[]");
	reports(state, "SELECT region FROM (SELECT * FROM (SELECT region FROM customers) x) y",
		"[\"customers\"]", "[\"customers.region\"]", "[]");
	reports(state,
		"SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE "
		"c.customer_id = o.customer_id AND c.region LIKE 'E%')",
		"[\"customers\",\"orders\"]",
		"[\"customers.customer_id\",\"customers.region\",\"orders.order_id\",\"orders."
		"customer_id\"]",
		"[\"like\"]");
	reports(state, "SELECT \"update\" FROM orders", "[\"orders\"]", "[\"orders.update\"]",
		"[]");
	reports(state, "SELECT [order_id], `note` FROM \"orders\"", "[\"orders\"]",
		"[\"orders.order_id\",\"orders.note\"]", "[]");
}

static void test_counting_and_existence_touch_a_table_without_a_column(void **state)
{
	reports(state, "SELECT COUNT(*) FROM customers", "[\"customers\"]", "[\"customers.\"]",
		"[\"count\"]");
	reports(state, "SELECT EXISTS (SELECT 1 FROM customers)", "[\"customers\"]",
		"[\"customers.\"]", "[]");
	reports(state, "select count(*) from ORDERS", "[\"orders\"]", "[\"orders.\"]",
		"[\"count\"]");
}

static void test_functions_are_reported_in_lower_case(void **state)
{
	reports(state, "SELECT ROW_NUMBER() OVER (ORDER BY order_id), UPPER('x') FROM orders",
		"[\"orders\"]", "[\"orders.order_id\"]", "[\"row_number\",\"upper\"]");
	reports(state, "SELECT value FROM json_each('[1,2]')", "[]", "[]", "[\"json_each\"]");
	reports(state, "SELECT json_extract('{}', '$.a'), '{}' ->> 'a', current_date", "[]", "[]",
		"[\"->>\",\"current_date\",\"json_extract\"]");
}

static void test_views_report_themselves_and_their_tables(void **state)
{
	reports(state, "SELECT sku FROM order_lines", "[\"items\",\"order_lines\",\"orders\"]",
		"[\"items.order_id\",\"items.sku\",\"order_lines.sku\",\"orders.order_id\"]", "[]");
	reports(state, "SELECT count(*) FROM order_lines", "[\"items\",\"order_lines\",\"orders\"]",
		"[\"items.order_id\",\"items.sku\",\"order_lines.\",\"orders.order_id\"]",
		"[\"count\"]");
}

static void test_a_view_over_what_is_hidden_is_refused(void **state)
{
	refused(state, "SELECT n FROM pay_view", "policy", NEUTRAL);
	refused(state, "SELECT count(*) FROM pay_view", "policy", NEUTRAL);
	/* compared by USING inside of the view, of which SQLite asks nobody */
	refused(state, "SELECT order_id FROM word_view", "policy", NEUTRAL);
	refused(state, "SELECT count(*) FROM word_view", "policy", NEUTRAL);
}

static void test_hidden_and_missing_names_look_the_same(void **state)
{
	static const char *const forms[] = {
		"SELECT name FROM @",
		"SELECT COUNT(*) FROM @",
		"SELECT 1 FROM orders WHERE order_id IN (SELECT salary FROM @)",
		"WITH p AS (SELECT * FROM @) SELECT * FROM p",
		"SELECT EXISTS (SELECT 1 FROM @)",
		"SELECT 1 WHERE 1 IN @",
		"SELECT (SELECT max(salary) FROM @)",
		"SELECT 1 FROM orders NATURAL JOIN @",
		"SELECT 1 FROM orders JOIN @ USING (customer_id)",
		"SELECT 1 UNION SELECT salary FROM @",
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		static const char *const names[] = {"payroll", "absent1", "\"payroll\"", "secrets"};

		for (size_t n = 0; n < ARRAY_LEN(names); n++) {
			char sql[256], error[64];
			const char *plain = names[n][0] == '"' ? "payroll" : names[n];

			snprintf(sql, sizeof(sql), "%.*s%s%s", (int)strcspn(forms[i], "@"),
				 forms[i], names[n], strchr(forms[i], '@') + 1);
			snprintf(error, sizeof(error), "no such table: %s", plain);
			refused(state, sql, "database", error);
		}
	}
	refused(state, "SELECT * FROM main.payroll", "database", "no such table: main.payroll");
	refused(state, "SELECT * FROM main.absent1", "database", "no such table: main.absent1");
	refused(state, "SELECT * FROM temp.payroll", "database", "no such table: temp.payroll");
	refused(state, "SELECT * FROM other.payroll", "database", "no such table: other.payroll");
	refused(state, "SELECT name FROM customers", "database", "no such column: name");
	refused(state, "SELECT absent FROM customers", "database", "no such column: absent");
	refused(state, "SELECT c.note FROM customers c", "database", "no such column: c.note");
	refused(state, "SELECT region FROM customers ORDER BY name", "database",
		"no such column: name");
	refused(state, "SELECT region FROM customers WHERE name > 'A'", "database",
		"no such column: name");
	refused(state, "SELECT rowid FROM customers", "database", "no such column: rowid");
	refused(state, "SELECT _rowid_, oid FROM customers", "database", "no such column: _rowid_");
}

static void test_unknown_names_come_with_the_next_action(void **state)
{
	struct json *result = fixture_prepare(*state, "SELECT sale_region FROM customers");

	assert_member(result, "hint", "\"call search_schema\"");
	assert_member(result, "error", "\"no such column: sale_region\"");
	json_free(result);
	result = fixture_prepare(*state, "SELECT 1 FROM sale");
	assert_member(result, "hint", "\"call list_tables\"");
	json_free(result);
}

static void test_common_table_expressions_may_bear_any_name(void **state)
{
	reports(state,
		"WITH payroll AS (SELECT region AS name FROM customers) SELECT name FROM "
		"payroll",
		"[\"customers\"]", "[\"customers.region\"]", "[]");
	reports(state, "WITH payroll AS (SELECT 1) SELECT COUNT(*) FROM payroll", "[]", "[]",
		"[\"count\"]");
	reports(state, "WITH absent AS (SELECT 1) SELECT COUNT(*) FROM absent", "[]", "[]",
		"[\"count\"]");
	reports(state, "WITH sqlite AS (SELECT 1 AS x) SELECT x FROM sqlite", "[]", "[]", "[]");
	/* the body means the table, the rest means the expression */
	reports(state, "WITH orders AS (SELECT note AS n FROM main.orders) SELECT n FROM orders",
		"[\"orders\"]", "[\"orders.note\"]", "[]");
	reports(state,
		"WITH customers AS (SELECT region AS r FROM temp.customers) SELECT r FROM "
		"customers",
		"[\"customers\"]", "[\"customers.region\"]", "[]");
	refused(state,
		"WITH customers AS (SELECT name FROM temp.customers) SELECT * FROM customers",
		"database", "no such column: name");
	refused(state, "WITH payroll AS (SELECT * FROM main.payroll) SELECT count(*) FROM payroll",
		"database", "no such table: main.payroll");
}

static void test_a_star_on_listed_columns_names_the_columns(void **state)
{
	refused(state, "SELECT * FROM customers", "policy", STAR);
	refused(state, "SELECT c.* FROM orders o JOIN customers c USING (customer_id)", "policy",
		STAR);
	refused(state, "SELECT region FROM (SELECT * FROM customers)", "policy", STAR);
	refused(state, "WITH c AS (SELECT * FROM customers) SELECT region FROM c", "policy", STAR);
	refused(state, "SELECT EXISTS (SELECT * FROM customers)", "policy", STAR);
	refused(state, "SELECT * FROM customers UNION SELECT 1, 2", "policy", STAR);
	refused(state, "SELECT o.note FROM orders o WHERE 1 IN customers", "policy", STAR);
	reports(state, "SELECT o.* FROM orders o JOIN customers c ON c.customer_id=o.customer_id",
		"[\"customers\",\"orders\"]",
		"[\"customers.customer_id\",\"orders.order_id\",\"orders.customer_id\",\"orders."
		"note\",\"orders.update\"]",
		"[]");
}

static void test_a_star_tells_nothing_about_whether_something_is_hidden(void **state)
{
	struct fixture *fixture = *state;

	fixture->view = "{\"tables\":{\"logs\":[\"at\",\"text\"]},\"functions\":[]}";
	refused(state, "SELECT * FROM logs", "policy",
		"SELECT * is not granted on logs; name the columns you need: at, text");
	fixture->view = "{\"tables\":{\"logs\":\"all\"},\"functions\":[]}";
	reports(state, "SELECT * FROM logs", "[\"logs\"]", "[\"logs.at\",\"logs.text\"]", "[]");
	fixture->view = "{\"tables\":{\"logs\":\"all\"},\"except\":{\"logs\":[\"at\"]}}";
	refused(state, "SELECT * FROM logs", "policy",
		"SELECT * is not granted on logs; name the columns you need: text");
}

static void test_columns_compared_by_using_are_reported(void **state)
{
	reports(state, "SELECT 1 FROM orders a JOIN orders b USING (\"update\")", "[\"orders\"]",
		"[\"orders.update\"]", "[]");
	reports(state, "SELECT 1 FROM orders JOIN customers USING (customer_id)",
		"[\"customers\",\"orders\"]", "[\"customers.customer_id\",\"orders.customer_id\"]",
		"[]");
	reports(state, "SELECT order_id FROM orders FULL JOIN items USING (order_id)",
		"[\"items\",\"orders\"]", "[\"items.order_id\",\"orders.order_id\"]", "[]");
	reports(state, "SELECT 1 FROM orders NATURAL JOIN items", "[\"items\",\"orders\"]",
		"[\"items.order_id\",\"items.line\",\"items.sku\",\"orders.order_id\","
		"\"orders.customer_id\",\"orders.note\",\"orders.update\"]",
		"[]");
	reports(state, "SELECT 1 FROM orders a NATURAL LEFT JOIN orders b", "[\"orders\"]",
		"[\"orders.order_id\",\"orders.customer_id\",\"orders.note\",\"orders.update\"]",
		"[]");
}

static void test_joins_never_compare_hidden_columns(void **state)
{
	/* customers.note is hidden and orders.note is not */
	reports(state, "SELECT orders.order_id FROM orders NATURAL JOIN customers",
		"[\"customers\",\"orders\"]",
		"[\"customers.customer_id\",\"customers.region\",\"orders.order_id\","
		"\"orders.customer_id\",\"orders.note\",\"orders.update\"]",
		"[]");
	assert_rows(fixture_run(*state,
				"SELECT order_id FROM orders NATURAL JOIN customers ORDER BY 1"),
		    "[[10],[11],[12]]");
	refused(state, "SELECT 1 FROM orders JOIN customers USING (note)", "database",
		"cannot join using column note - column not present in both tables");
	/* the left side's note is orders', whatever customers has */
	assert_rows(
		fixture_run(*state,
			    "SELECT p.order_id FROM customers c JOIN orders o ON o.customer_id ="
			    " c.customer_id JOIN orders p USING (note) ORDER BY 1"),
		"[[10],[11]]");
}

static void test_a_hidden_column_never_takes_the_place_of_a_shown_one(void **state)
{
	reports(state, "SELECT note FROM orders JOIN customers USING (customer_id)",
		"[\"customers\",\"orders\"]",
		"[\"customers.customer_id\",\"orders.customer_id\",\"orders.note\"]", "[]");
	/* the inner note is the outer table's */
	reports(state, "SELECT (SELECT note FROM customers) FROM orders",
		"[\"customers\",\"orders\"]", "[\"customers.\",\"orders.note\"]", "[]");
	assert_rows(fixture_run(*state,
				"SELECT region AS name, count(*) FROM customers WHERE region"
				" IS NOT NULL GROUP BY name ORDER BY name"),
		    "[[\"East\",1],[\"West\",1]]");
}

static void test_listed_tables_are_not_in_main(void **state)
{
	struct json *result = fixture_prepare(*state, "SELECT region FROM main.customers");

	assert_member(result, "hint", "\"write the table's name alone\"");
	assert_refused(result, "database", "no such table: main.customers");
	assert_rows(fixture_run(*state, "SELECT count(*) FROM main.orders"), "[[3]]");
}

static void test_two_views_take_turns_on_one_connection(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 3; i++) {
		fixture->view = "{\"tables\":{\"customers\":[\"region\"]}}";
		assert_rows(fixture_run(fixture, "SELECT region FROM customers LIMIT 1"),
			    "[[\"East\"]]");
		refused(state, "SELECT name FROM customers", "database", "no such column: name");
		fixture->view = "{\"tables\":{\"customers\":[\"name\"]}}";
		assert_rows(fixture_run(fixture, "SELECT name FROM customers LIMIT 1"),
			    "[[\"Ada\"]]");
		refused(state, "SELECT region FROM customers", "database",
			"no such column: region");
		fixture->view = "{\"tables\":{\"customers\":\"all\"}}";
		assert_rows(fixture_run(fixture, "SELECT * FROM customers LIMIT 1"),
			    "[[1,\"Ada\",\"East\",\"vip\"]]");
	}
}

static void test_a_table_of_which_no_column_is_shown_can_be_counted(void **state)
{
	struct fixture *fixture = *state;

	fixture->view = "{\"tables\":{\"customers\":[]},\"functions\":[]}";
	reports(state, "SELECT count(*) FROM customers", "[\"customers\"]", "[\"customers.\"]",
		"[\"count\"]");
	assert_rows(fixture_run(fixture, "SELECT count(*) FROM customers"), "[[3]]");
	refused(state, "SELECT * FROM customers", "policy", "SELECT * is not granted on customers");
	refused(state, "SELECT region FROM customers", "database", "no such column: region");
}

static void test_the_row_number_is_a_column_where_all_are_shown(void **state)
{
	reports(state, "SELECT rowid FROM logs", "[\"logs\"]", "[\"logs.rowid\"]", "[]");
	reports(state, "SELECT rowid FROM orders", "[\"orders\"]", "[\"orders.order_id\"]", "[]");
	refused(state, "SELECT rowid FROM items", "database", "no such column: rowid");
}

static void test_names_come_in_the_spelling_of_the_policy(void **state)
{
	struct fixture *fixture = *state;

	fixture->view = "{\"tables\":{\"Customers\":[\"REGION\"]},\"functions\":[]}";
	reports(state, "SELECT region FROM customers", "[\"Customers\"]", "[\"Customers.REGION\"]",
		"[]");
}

static void test_internal_tables_do_not_exist(void **state)
{
	static const char *const names[] = {
		"sqlite_master", "sqlite_schema",     "sqlite_temp_master",   "sqlite_sequence",
		"sqlite_stat1",	 "pragma_table_info", "pragma_database_list", "dbstat",
		"sqlite_stmt",	 "sqlite_dbpage",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char sql[128], error[64];

		snprintf(error, sizeof(error), "no such table: %s", names[i]);
		snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM %s", names[i]);
		refused(state, sql, "database", error);
	}
	refused(state, "SELECT sql FROM sqlite_master", "database", "no such table: sqlite_master");
	/* as the database itself calls it */
	refused(state, "SELECT sql FROM main.sqlite_schema", "database",
		"no such table: sqlite_master");
	/* with JSON's functions in the statement, virtual tables are on */
	refused(state, "SELECT 1 FROM json_each('[1]'), pragma_table_info('orders')", "database",
		"no such table: pragma_table_info");
	refused(state, "SELECT 1 FROM json_each('[1]'), sqlite_schema", "database",
		"no such table: sqlite_schema");
	refused(state, "SELECT 1 FROM json_each('[1]'), dbstat", "database",
		"no such table: dbstat");
}

/* Every line of the table of SQLite's ways around a read-only connection. */
static void test_no_way_around_reading_is_open(void **state)
{
	static const struct {
		const char *sql, *by, *error;
	} cases[] = {
		{"VACUUM INTO 'x'", "statement", "only SELECT runs here, this is VACUUM"},
		{"PRAGMA query_only=OFF", "statement", "only SELECT runs here, this is PRAGMA"},
		{"ATTACH 'other.db' AS o", "statement", "only SELECT runs here, this is ATTACH"},
		{"ATTACH ':memory:' AS o", "statement", "only SELECT runs here, this is ATTACH"},
		{"PRAGMA journal_mode=WAL", "statement", "only SELECT runs here, this is PRAGMA"},
		{"BEGIN IMMEDIATE", "statement", "only SELECT runs here, this is BEGIN"},
		{"CREATE TEMP TABLE t(a)", "statement", "only SELECT runs here, this is CREATE"},
		{"PRAGMA writable_schema=ON", "statement", "only SELECT runs here, this is PRAGMA"},
		{"SELECT * FROM pragma_database_list", "database",
		 "no such table: pragma_database_list"},
		{"SELECT 1; DROP TABLE orders", "statement",
		 "one statement at a time: there is text behind the first"},
		{"SELECT 1; SELECT 2", "statement",
		 "one statement at a time: there is text behind the first"},
		{"SELECT 1 /* */; /* */ DELETE FROM orders", "statement",
		 "one statement at a time: there is text behind the first"},
		{"INSERT INTO logs VALUES (1,2) RETURNING *", "statement",
		 "only SELECT runs here, this is INSERT"},
		{"WITH x AS (SELECT 1) INSERT INTO logs SELECT 1,2 FROM x", "statement", MORE},
		{"WITH x AS (SELECT 1) DELETE FROM logs", "statement", MORE},
		{"WITH x AS (SELECT 1) UPDATE logs SET at = 1", "statement", MORE},
		{"EXPLAIN DELETE FROM orders", "statement",
		 "only SELECT runs here, this is EXPLAIN"},
		{"EXPLAIN QUERY PLAN SELECT 1", "statement",
		 "only SELECT runs here, this is EXPLAIN"},
		{"SELECT load_extension('x')", "database",
		 "not authorized to use function: load_extension"},
		{"SELECT readfile('/etc/passwd')", "database", "no such function: readfile"},
		{"SELECT writefile('x','y')", "database", "no such function: writefile"},
		{"SELECT edit('x')", "database", "no such function: edit"},
		{"SELECT * FROM fsdir('/')", "database", "no such table: fsdir"},
		{"SELECT fts3_tokenizer('simple')", "database",
		 "not authorized to use function: fts3_tokenizer"},
		{"DROP TABLE orders", "statement", "only SELECT runs here, this is DROP"},
		{"/* x */ drop table orders", "statement", "only SELECT runs here, this is drop"},
		{"SEL/**/ECT 1", "database", "near \"SEL\": syntax error"},
		{"\xd0\x85"
		 "ELECT 1",
		 "database",
		 "near \"\xd0\x85"
		 "ELECT\": syntax error"},
		{"REPLACE INTO logs VALUES (1,2)", "statement",
		 "only SELECT runs here, this is REPLACE"},
		{"SAVEPOINT a", "statement", "only SELECT runs here, this is SAVEPOINT"},
		{"", "statement", "the statement is empty"},
		{" -- DROP\n", "statement", "the statement is empty"},
		{";", "statement", "the statement is empty"},
		{"SELECT :start", "statement",
		 "the statement has a parameter without a value: :start"},
		{"SELECT ?", "statement", "the statement has a parameter without a value: ?"},
		{"SELECT \"weight\" FROM orders", "database", "no such column: weight"},
		{"SELECT 1 FROM orders WHERE note = \"a;b\"", "database", "no such column: a;b"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		refused(state, cases[i].sql, cases[i].by, cases[i].error);
}

/* The same view over two databases, one of which holds more: nobody can tell which is which. */
static void test_what_is_hidden_changes_no_answer(void **state)
{
	static const char bare[] =
		"CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, region);"
		"CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id,"
		" note TEXT);";
	static const char more[] = "CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, region,"
				   " name, salary, rowid, c);"
				   "CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id,"
				   " note TEXT);"
				   "CREATE TABLE payroll(customer_id, name, salary);"
				   "CREATE VIEW pay AS SELECT salary FROM payroll;"
				   "CREATE INDEX by_name ON customers(name);"
				   "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END;"
				   "CREATE VIRTUAL TABLE found USING fts5(name);";
	static const char data[] = "INSERT INTO customers(customer_id, region) VALUES (1,'East');"
				   "INSERT INTO orders VALUES (10,1,'n')";
	static const char *const statements[] = {
		"SELECT * FROM payroll",
		"SELECT count(*) FROM payroll",
		"SELECT payroll.* FROM orders",
		"SELECT customers.name FROM customers",
		"SELECT name, region FROM customers",
		"SELECT rowid FROM customers",
		"SELECT customers.rowid FROM customers",
		"SELECT oid FROM customers",
		"SELECT * FROM customers",
		"SELECT c.* FROM customers c",
		"SELECT count(*) FROM customers",
		"SELECT region FROM customers",
		"SELECT region AS name FROM customers ORDER BY name",
		"SELECT region AS salary FROM customers GROUP BY salary",
		"SELECT region FROM customers WHERE salary > 1",
		"SELECT region FROM customers ORDER BY 1",
		"SELECT region FROM customers INDEXED BY by_name",
		"SELECT region FROM customers NATURAL JOIN orders",
		"SELECT 1 FROM customers NATURAL JOIN payroll",
		"SELECT 1 FROM customers JOIN orders USING (customer_id)",
		"SELECT 1 FROM customers JOIN orders USING (salary)",
		"SELECT 1 FROM customers JOIN payroll USING (customer_id)",
		"SELECT note FROM orders JOIN customers USING (customer_id)",
		"SELECT (SELECT max(salary) FROM payroll) FROM orders",
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM payroll)",
		"SELECT 1 FROM orders WHERE customer_id IN payroll",
		"SELECT 1 FROM orders WHERE note MATCH 'x'",
		"SELECT * FROM found",
		"SELECT * FROM found('x')",
		"SELECT * FROM found_content",
		"SELECT * FROM pay",
		"SELECT main.payroll.name FROM payroll",
		"WITH payroll AS (SELECT 1 AS salary) SELECT salary FROM payroll",
		"WITH payroll AS (SELECT 1) SELECT count(*) FROM payroll",
		"WITH payroll(a) AS (SELECT region FROM customers) SELECT a FROM payroll",
		"WITH found AS (SELECT 1 AS x) SELECT x FROM found",
		"WITH pay AS (SELECT 1 AS x), b AS (SELECT count(*) AS n FROM pay) SELECT n FROM b",
		"SELECT payroll.region FROM customers AS payroll",
		"SELECT name.region FROM customers AS name",
		"SELECT sum(order_id) OVER payroll FROM orders WINDOW payroll AS (ORDER BY note)",
		"SELECT 1 FROM orders AS o, json_each('[1]') AS payroll",
		"SELECT key FROM json_each('[1]') AS salary",
		"EXPLAIN SELECT * FROM payroll",
		"SELECT count(*) FROM (SELECT * FROM payroll)",
		"SELECT 1 UNION ALL SELECT salary FROM payroll",
		"SELECT typeof(salary) FROM customers",
		"SELECT count(c) FROM customers",
		"SELECT 1 FROM customers c WHERE c = 1",
		"SELECT 'payroll' FROM orders",
		"SELECT 1 FROM 'payroll'",
		"SELECT 1 FROM [payroll]",
	};
	struct fixture left, right;
	size_t told = 0;

	(void)state;
	fixture_open(&left, bare);
	fixture_open(&right, more);
	fixture_exec(left.path, data);
	fixture_exec(right.path, data);
	left.view = right.view = "{\"tables\":{\"customers\":[\"customer_id\",\"region\"],"
				 "\"orders\":\"all\"},\"functions\":[]}";
	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		CLEANUP(json_freep) struct json *a = fixture_prepare(&left, statements[i]);
		CLEANUP(json_freep) struct json *b = fixture_prepare(&right, statements[i]);

		told += json_get(b, "hidden") != NULL; /* for the broker alone */
		json_remove(a, "hidden");
		json_remove(b, "hidden");
		if (!json_equal(a, b)) {
			CLEANUP(mem_freep) char *a_text = text_of(a);
			CLEANUP(mem_freep) char *b_text = text_of(b);

			fail_msg("%s:\n%s\n%s", statements[i], a_text, b_text);
		}
	}
	assert_true(told >= 5); /* payroll, however it is spelled */
	for (size_t i = 0; i < 3; i++) {
		static const char *const calls[][2] = {
			{"list_tables", "{}"},
			{"describe_table", "{\"table\":\"customers\"}"},
			{"search_schema", "{\"text\":\"salary name payroll customer\"}"}};
		CLEANUP(json_freep)
		struct json *a = fixture_tool(&left, calls[i][0], calls[i][1]);
		CLEANUP(json_freep)
		struct json *b = fixture_tool(&right, calls[i][0], calls[i][1]);

		assert_true(json_equal(a, b));
	}
	fixture_close(&left);
	fixture_close(&right);
}

/* Those run only if a policy lists their functions, which are reported to it. */
static void test_functions_that_fill_memory_are_reported(void **state)
{
	reports(state, "SELECT zeroblob(1000000000)", "[]", "[]", "[\"zeroblob\"]");
	reports(state, "SELECT printf('%*d',100000000,1)", "[]", "[]", "[\"printf\"]");
}

static void test_harmless_statements_pass(void **state)
{
	assert_rows(fixture_run(*state, "SELECT text FROM logs WHERE text LIKE '%training set%'"),
		    "[[\"training set done\"]]");
	assert_rows(fixture_run(*state, "SELECT order_id FROM orders WHERE note = 'a;b'"),
		    "[[10]]");
	assert_rows(fixture_run(*state, "SELECT 1 -- DROP TABLE orders\n"), "[[1]]");
	assert_rows(fixture_run(*state, "SELECT /* DROP TABLE orders; */ 1;"), "[[1]]");
	assert_rows(fixture_run(*state, "SELECT 1; -- the end\n ; "), "[[1]]");
	assert_rows(fixture_run(*state, "SELECT \"update\" FROM orders WHERE order_id = 11"),
		    "[[\"u2\"]]");
	assert_rows(fixture_run(*state, "VALUES (1, 'x')"), "[[1,\"x\"]]");
	assert_rows(fixture_run(*state, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
					"FROM n WHERE i < 3) SELECT sum(i) FROM n"),
		    "[[6]]");
	assert_rows(fixture_run(*state, "SELECT value FROM json_each('[7,8]')"), "[[7],[8]]");
}

static void test_a_statement_has_a_greatest_length(void **state)
{
	size_t len = 65536;
	CLEANUP(mem_freep) char *sql = mem_alloc(len + 2);

	memset(sql, ' ', len);
	memcpy(sql, "SELECT 1", 8);
	json_free(fixture_prepare(*state, sql));
	assert_rows(fixture_run(*state, sql), "[[1]]");
	sql[len] = ' ';
	refused(state, sql, "statement", "the statement is longer than 65536 bytes");
}

static void hidden_is(void **state, const char *sql, const char *hidden)
{
	struct json *result = fixture_prepare(*state, sql);

	assert_member(result, "ok", "false");
	assert_member(result, "hidden", hidden);
	json_free(result);
}

static void test_what_only_the_view_stopped_is_told_to_the_broker(void **state)
{
	hidden_is(state, "SELECT name, sum(salary) FROM payroll",
		  "{\"tables\":[\"payroll\"],\"columns\":[\"payroll.name\","
		  "\"payroll.salary\"],\"functions\":[\"sum\"]}");
	hidden_is(state, "SELECT count(*) FROM orders JOIN payroll ON 1",
		  "{\"tables\":[\"orders\",\"payroll\"],\"columns\":[\"orders.\","
		  "\"payroll.\"],\"functions\":[\"count\"]}");
	hidden_is(state, "SELECT region FROM customers ORDER BY name",
		  "{\"tables\":[\"customers\"],\"columns\":[\"customers.name\","
		  "\"customers.region\"],\"functions\":[]}");
	hidden_is(state, "SELECT * FROM customers",
		  "{\"tables\":[\"customers\"],\"columns\":[\"customers.customer_id\","
		  "\"customers.name\",\"customers.region\",\"customers.note\"],"
		  "\"functions\":[]}");
	hidden_is(state, "SELECT n FROM pay_view",
		  "{\"tables\":[\"pay_view\",\"payroll\"],\"columns\":[\"pay_view.n\","
		  "\"payroll.\"],\"functions\":[\"count\"]}");
	hidden_is(state, "SELECT region FROM main.customers", "null"); /* all of it is granted */
	hidden_is(state, "SELECT absent FROM orders", "null");
	hidden_is(state, "SELECT 1 FROM absent", "null");
	hidden_is(state, "DROP TABLE payroll", "null");
	hidden_is(state, "SELECT 1 FROM payroll; SELECT 1", "null");
	hidden_is(state, "SELECT FROM payroll", "null");
	hidden_is(state, "SELECT * FROM sqlite_schema", "null");
}

static void test_a_wrong_view_is_the_callers_mistake(void **state)
{
	struct fixture *fixture = *state;

	fixture->view = "{\"tables\":[\"orders\"]}";
	refused(state, "SELECT 1", "arguments", "view: \"tables\" is no object");
	fixture->view = "{\"tables\":{\"orders\":\"some\"}}";
	refused(state, "SELECT 1", "arguments", "view: columns of table orders: no list");
	fixture->view = "{\"tables\":{\"orders\":[1]}}";
	refused(state, "SELECT 1", "arguments", "view: a column's name is no string");
	fixture->view = "{}";
	refused(state, "SELECT 1", "arguments", "view: \"tables\" is no object");
	fixture->view = "{\"tables\":{}}";
	refused(state, "SELECT 1 FROM orders", "database", "no such table: orders");
}

static void test_execution_needs_everything_that_is_read(void **state)
{
	struct fixture *fixture = *state;
	struct json *params = json_object();

	json_set(params, "view", parse(fixture->view));
	json_set_str(params, "sql", "SELECT count(note) FROM orders");
	json_set_str(params, "mode", "run");
	json_set(params, "limits", parse(LIMITS));
	json_set(params, "allow",
		 parse("{\"tables\":[\"orders\"],\"columns\":[],\"functions\":[\"count\"]}"));
	assert_refused(session_call(&fixture->session, "execute", params), "policy",
		       "the statement now reads more than was granted: the schema changed after "
		       "it was prepared");
	json_set(params, "allow",
		 parse("{\"tables\":[],\"columns\":[\"orders.note\"],\"functions\":[]}"));
	assert_refused(session_call(&fixture->session, "execute", params), "policy",
		       "the statement now reads more than was granted: the schema changed after "
		       "it was prepared");
	json_set(params, "allow",
		 parse("{\"tables\":[],\"columns\":[\"orders.note\"],\"functions\":[\"count\"]}"));
	assert_rows(session_call(&fixture->session, "execute", params), "[[2]]");
	json_free(params);
}

static void test_a_changed_schema_is_seen_before_the_next_call(void **state)
{
	struct fixture *fixture = *state;

	assert_rows(fixture_run(fixture, "SELECT * FROM logs"),
		    "[[\"2026-01-01\",\"training set done\"]]");
	fixture_exec(fixture->path, "ALTER TABLE logs ADD COLUMN level INTEGER DEFAULT 3");
	reports(state, "SELECT * FROM logs", "[\"logs\"]",
		"[\"logs.at\",\"logs.text\",\"logs.level\"]", "[]");
	assert_rows(fixture_run(fixture, "SELECT * FROM logs"),
		    "[[\"2026-01-01\",\"training set done\",3]]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_columns_are_reported_through_aliases_and_subqueries),
		T(test_counting_and_existence_touch_a_table_without_a_column),
		T(test_functions_are_reported_in_lower_case),
		T(test_views_report_themselves_and_their_tables),
		T(test_a_view_over_what_is_hidden_is_refused),
		T(test_hidden_and_missing_names_look_the_same),
		T(test_unknown_names_come_with_the_next_action),
		T(test_common_table_expressions_may_bear_any_name),
		T(test_a_star_on_listed_columns_names_the_columns),
		T(test_a_star_tells_nothing_about_whether_something_is_hidden),
		T(test_columns_compared_by_using_are_reported),
		T(test_joins_never_compare_hidden_columns),
		T(test_a_hidden_column_never_takes_the_place_of_a_shown_one),
		T(test_listed_tables_are_not_in_main),
		T(test_two_views_take_turns_on_one_connection),
		T(test_a_table_of_which_no_column_is_shown_can_be_counted),
		T(test_the_row_number_is_a_column_where_all_are_shown),
		T(test_names_come_in_the_spelling_of_the_policy),
		T(test_internal_tables_do_not_exist),
		T(test_no_way_around_reading_is_open),
		T(test_what_is_hidden_changes_no_answer),
		T(test_functions_that_fill_memory_are_reported),
		T(test_harmless_statements_pass),
		T(test_a_statement_has_a_greatest_length),
		T(test_what_only_the_view_stopped_is_told_to_the_broker),
		T(test_a_wrong_view_is_the_callers_mistake),
		T(test_execution_needs_everything_that_is_read),
		T(test_a_changed_schema_is_seen_before_the_next_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
