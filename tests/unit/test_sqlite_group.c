/* Tables shown in groups only: what adds up is shown, small groups are not, and nothing else runs.
 */
#include "tests/lib/sqlite_fixture.h"

/* Six in Sales (one of them in Bonn), three in Law. */
#define STAFF_SQL                                                                                  \
	"CREATE TABLE dept(dept_id INTEGER PRIMARY KEY, name TEXT);"                               \
	"CREATE TABLE staff(staff_id INTEGER PRIMARY KEY, name TEXT, dept_id INTEGER,"             \
	" city TEXT, salary INTEGER, hired TEXT);"                                                 \
	"CREATE TABLE leave(staff_id INTEGER, days INTEGER);"                                      \
	"CREATE TABLE badge(code TEXT PRIMARY KEY, staff_id INTEGER UNIQUE);"                      \
	"CREATE TABLE numbers(n INTEGER);"                                                         \
	"CREATE VIEW everyone AS SELECT * FROM staff;"                                             \
	"INSERT INTO dept VALUES (1,'Sales'),(2,'Law');"                                           \
	"INSERT INTO staff VALUES (1,'Ada',1,'Kiel',10,'2020'),(2,'Bo',1,'Kiel',20,'2020'),"       \
	"(3,'Cy',1,'Kiel',30,'2021'),(4,'Di',1,'Kiel',40,'2021'),(5,'Ed',1,'Kiel',50,'2021'),"     \
	"(6,'Flo',1,'Bonn',60,'2021'),(7,'Gil',2,'Bonn',70,'2020'),(8,'Hu',2,'Bonn',80,'2021'),"   \
	"(9,'Ira',2,'Bonn',90,'2022');"                                                            \
	"INSERT INTO leave VALUES (1,2),(1,3),(1,4),(2,1),(3,1),(3,1);"                            \
	"INSERT INTO badge VALUES ('a',1),('b',2),('c',3),('d',4),('e',5);"                        \
	"INSERT INTO numbers VALUES (1),(2),(3);"

#define STAFF_TABLES                                                                               \
	"{\"database\":\"shop\",\"tables\":{\"staff\":[\"dept_id\",\"city\",\"salary\",\"hired\"," \
	"\"name\"],\"dept\":\"all\",\"leave\":\"all\",\"badge\":\"all\",\"numbers\":\"all\","      \
	"\"everyone\":\"all\"},\"functions\":[\"count\",\"sum\",\"avg\",\"round\",\"min\","        \
	"\"max\",\"substr\",\"total\",\"json_extract\"],"

#define STAFF_VIEW STAFF_TABLES "\"require\":{\"staff\":{\"min_group\":5,\"of\":\"staff_id\"}}}"

#define ONLY "a table of this statement is shown in groups only; "
#define COLUMNS                                                                                    \
	ONLY "each column has to be one of GROUP BY, or arithmetic over COUNT, SUM, AVG or TOTAL " \
	     "of one column"
#define CLAUSES ONLY "WITH, UNION, DISTINCT, HAVING, FILTER and windows cannot be used with it"
#define JOINS                                                                                      \
	ONLY "it has to stand once behind FROM, and each other table there joined by ON a.x = "    \
	     "b.y "                                                                                \
	     "with columns that are its key, so that no row is counted twice"

static int setup(void **state)
{
	struct fixture *fixture = mem_alloc(sizeof(*fixture));

	fixture_open(fixture, STAFF_SQL);
	fixture->view = STAFF_VIEW;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	mem_free(*state);
	return 0;
}

static void gives(void **state, const char *sql, const char *rows, const char *suppressed)
{
	struct json *result = fixture_run(*state, sql);

	assert_member(result, "rows", rows);
	assert_member(result, "suppressed_groups", suppressed);
	assert_member(result, "min_group", "5");
	json_free(result);
}

static void test_groups_that_are_large_enough_are_shown_and_the_others_counted(void **state)
{
	gives(state, "SELECT dept_id, COUNT(*), SUM(salary) FROM staff GROUP BY dept_id ORDER BY 1",
	      "[[1,6,210]]", "1");
	gives(state, "SELECT AVG(salary) AS mean FROM staff", "[[50.0]]", "0");
	gives(state, "SELECT city FROM staff GROUP BY city ORDER BY city", "[[\"Kiel\"]]", "1");
	gives(state,
	      "select substr(hired, 1, 4) as year, round(sum(salary) / count(*), 1) from staff "
	      "group by year order by year desc",
	      "[[\"2021\",52.0]]", "2");
	gives(state, "SELECT COUNT(*) FROM staff WHERE dept_id = 1;", "[[6]]", "0");
}

static void test_four_are_too_few_and_five_are_enough(void **state)
{
	gives(state, "SELECT COUNT(*) FROM staff WHERE salary <= 40", "[]", "1");
	gives(state, "SELECT COUNT(*) FROM staff WHERE salary <= 50", "[[5]]", "0");
	gives(state, "SELECT SUM(salary) FROM staff WHERE name = 'Ada'", "[]", "1");
	gives(state, "SELECT COUNT(*) FROM staff WHERE 1 = 0", "[]", "1");
}

static void test_the_columns_that_count_are_not_part_of_the_result(void **state)
{
	struct json *result = fixture_run(*state, "SELECT COUNT(*) AS n FROM staff");

	assert_member(result, "columns", "[\"n\"]");
	assert_member(result, "types", "[\"integer\"]");
	json_free(result);
	result = fixture_prepare(*state, "SELECT SUM(salary) FROM staff");
	assert_member(result, "columns", "[\"staff.salary\"]");
	json_free(result);
}

static void test_joins_by_keys_keep_each_row_single(void **state)
{
	gives(state,
	      "SELECT d.name, SUM(s.salary) FROM staff s JOIN dept d ON d.dept_id = s.dept_id "
	      "GROUP BY d.name",
	      "[[\"Sales\",210]]", "1");
	gives(state,
	      "SELECT d.name, COUNT(*) FROM dept AS d LEFT JOIN staff AS s ON s.dept_id = "
	      "d.dept_id "
	      "GROUP BY d.name",
	      "[[\"Sales\",6]]", "1");
	gives(state, "SELECT COUNT(*) FROM staff INNER JOIN dept USING (dept_id)", "[[9]]", "0");
}

static void test_joins_that_could_repeat_a_row_are_refused(void **state)
{
	static const char weighed[] =
		"SELECT SUM(s.salary) FROM staff s JOIN numbers x ON x.n = 1 OR s.name = 'Ada'";
	static const char unrooted[] = "SELECT SUM(s.salary) FROM dept d JOIN dept e ON d.dept_id "
				       "= e.dept_id JOIN staff s "
				       "ON s.city = s.city";
	static const char beyond_key[] =
		"SELECT SUM(s.salary) FROM staff s JOIN badge b ON b.code = s.name AND b.code = "
		"b.code JOIN numbers n ON n.n = b.staff_id";
	static const char *const statements[] = {
		weighed,
		unrooted,
		beyond_key,
		"SELECT SUM(salary) FROM staff, numbers",
		"SELECT SUM(salary) FROM staff CROSS JOIN numbers",
		"SELECT SUM(salary) FROM staff NATURAL JOIN dept",
		"SELECT SUM(s.salary) FROM staff s JOIN staff t ON t.dept_id = s.dept_id",
		"SELECT COUNT(*) FROM (staff)",
	};

	for (size_t i = 0; i < ARRAY_LEN(statements); i++)
		assert_refused(fixture_run(*state, statements[i]), "policy", JOINS);
}

static void test_whatever_shows_a_single_row_is_refused(void **state)
{
	static const char *const statements[] = {
		"SELECT salary FROM staff",
		"SELECT MAX(salary) FROM staff",
		"SELECT MIN(name) FROM staff GROUP BY dept_id",
		"SELECT name, COUNT(*) FROM staff GROUP BY dept_id",
		"SELECT SUM(CASE WHEN name = 'Ada' THEN salary END) FROM staff",
		"SELECT SUM(salary * (name = 'Ada')) FROM staff",
		"SELECT COUNT(*) + salary FROM staff",
		"SELECT salary AS dept_id, COUNT(*) FROM staff GROUP BY dept_id",
		"SELECT COUNT(*), 1 || name FROM staff",
		"SELECT 'x' FROM staff",
	};

	for (size_t i = 0; i < ARRAY_LEN(statements); i++)
		assert_refused(fixture_run(*state, statements[i]), "policy", COLUMNS);
}

static void test_clauses_that_look_into_groups_are_refused(void **state)
{
	static const char *const statements[] = {
		"SELECT COUNT(*) FROM staff HAVING MAX(salary) > 80",
		"SELECT COUNT(*) FILTER (WHERE name = 'Ada') FROM staff",
		"SELECT SUM(salary) OVER () FROM staff",
		"SELECT DISTINCT dept_id FROM staff",
		"SELECT SUM(DISTINCT salary) FROM staff",
		"SELECT COUNT(*) FROM staff UNION ALL VALUES (1)",
	};

	for (size_t i = 0; i < ARRAY_LEN(statements); i++)
		assert_refused(fixture_run(*state, statements[i]), "policy", CLAUSES);
	assert_refused(fixture_run(*state, "SELECT COUNT(*) FROM staff WHERE salary > (SELECT "
					   "AVG(salary) FROM staff)"),
		       "policy", ONLY "no sub-query can be used with it");
	assert_refused(fixture_run(*state,
				   "SELECT city, COUNT(*) FROM staff GROUP BY city ORDER BY "
				   "MAX(salary)"),
		       "policy", ONLY "ORDER BY has to name columns of the result");
	assert_refused(fixture_run(*state, "WITH s AS (SELECT 1) SELECT COUNT(*) FROM staff"),
		       "policy", ONLY "the statement has to begin with SELECT");
	assert_refused(fixture_run(*state, "VALUES ((SELECT COUNT(*) FROM staff))"), "policy",
		       ONLY "the statement has to begin with SELECT");
}

static void test_other_tables_are_not_bound_by_it(void **state)
{
	struct json *result = fixture_run(*state, "SELECT days FROM leave WHERE days > 3");

	assert_member(result, "rows", "[[4]]");
	assert_member(result, "suppressed_groups", "null");
	json_free(result);
}

static void test_a_view_of_the_database_over_the_table_is_not_there(void **state)
{
	assert_refused(fixture_run(*state, "SELECT COUNT(*) FROM everyone"), "database",
		       "no such table: everyone");
}

static void test_tools_show_no_single_row(void **state)
{
	struct json *result = fixture_tool(*state, "describe_table", "{\"table\":\"staff\"}");

	assert_member(json_get(result, "sample_rows"), "rows", "[]");
	assert_member(result, "min_group", "5");
	json_free(result);
	result = fixture_tool(*state, "search_values", "{\"text\":\"Ada\"}");
	assert_int_equal(json_len(json_get(result, "matches")), 0);
	json_free(result);
}

static void test_a_unit_that_is_gone_refuses(void **state)
{
	struct fixture *fixture = *state;

	fixture->view = STAFF_TABLES "\"require\":{\"staff\":{\"min_group\":5,\"of\":\"person\"}}}";
	assert_refused(fixture_run(fixture, "SELECT COUNT(*) FROM staff"), "policy",
		       ONLY "the column that tells its units apart is gone");
}

static void test_explaining_such_a_statement_works(void **state)
{
	struct json *result =
		fixture_execute(*state, "SELECT COUNT(*) FROM staff", "explain", LIMITS);

	assert_member(result, "tables", "[\"staff\"]");
	json_free(result);
}

static void is_refused(void **state, const char *sql, const char *error)
{
	assert_refused(fixture_run(*state, sql), "policy", error);
}

static void test_a_small_group_takes_no_place_of_a_limit(void **state)
{
	struct fixture *fixture = *state;
	struct json *result;

	gives(state,
	      "SELECT dept_id, SUM(salary) AS s FROM staff GROUP BY dept_id ORDER BY s LIMIT 1",
	      "[[1,210]]", "1");
	gives(state,
	      "SELECT dept_id, SUM(salary) AS s FROM staff GROUP BY dept_id ORDER BY s DESC "
	      "LIMIT 1",
	      "[[1,210]]", "1");
	gives(state, "SELECT dept_id FROM staff GROUP BY dept_id LIMIT 9 OFFSET 1", "[]", "1");
	gives(state, "SELECT dept_id FROM staff GROUP BY dept_id LIMIT 0, 9;", "[[1]]", "1");
	gives(state, "SELECT dept_id FROM staff GROUP BY dept_id LIMIT 0", "[]", "1");
	fixture_exec(fixture->path, "INSERT INTO staff SELECT staff_id + 100, name, 3, city, "
				    "salary, hired FROM staff WHERE dept_id = 1");
	for (int descending = 0; descending < 2; descending++) {
		result = fixture_execute(
			fixture,
			descending ? "SELECT dept_id FROM staff GROUP BY dept_id ORDER BY 1 DESC"
				   : "SELECT dept_id FROM staff GROUP BY dept_id ORDER BY 1",
			"run",
			"{\"rows\":1,\"bytes\":1048576,\"scan_bytes\":1048576,\"time_ms\":5000}");
		assert_member(result, "row_count", "1");
		assert_member(result, "truncated", "true");
		assert_member(result, "suppressed_groups", "1");
		json_free(result);
	}
}

static void test_a_limit_is_a_plain_number(void **state)
{
	static const char *const limits[] = {"LIMIT 1-(5)", "LIMIT -1",
					     "LIMIT 1.5",   "LIMIT 5 OFFSET 0x1",
					     "LIMIT 1, -1", "LIMIT 1000000000000000",
					     "LIMIT (1)"};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		CLEANUP(mem_freep)
		char *sql = mem_format("SELECT COUNT(*) FROM staff %s", limits[i]);

		is_refused(state, sql, ONLY "LIMIT and OFFSET have to be plain numbers");
	}
}

static void test_what_fails_on_a_value_does_not_say_it(void **state)
{
	assert_refused(fixture_run(*state, "SELECT COUNT(*) FROM staff WHERE "
					   "json_extract('{}', name) IS NULL"),
		       "database",
		       "the statement failed on a value of a table that is shown in groups only");
}

#define BOM "\xEF\xBB\xBF"

static void test_words_behind_a_byte_order_mark_are_words(void **state)
{
	is_refused(state,
		   "SELECT COUNT(*) FROM staff GROUP BY dept_id " BOM "HAVING MAX(salary) > 5",
		   CLAUSES);
	is_refused(state, "SELECT COUNT(*) FROM staff WHERE salary > (" BOM "SELECT 5)",
		   ONLY "no sub-query can be used with it");
	is_refused(state, "SELECT COUNT(*) FROM staff " BOM "NATURAL JOIN dept", JOINS);
	is_refused(state, "SELECT COUNT(*) FROM dept " BOM "NATURAL JOIN staff", JOINS);
}

static void test_a_masked_column_is_no_key(void **state)
{
	struct fixture *fixture = *state;

	gives(state, "SELECT COUNT(*) FROM staff JOIN badge ON badge.code = staff.city", "[]", "1");
	fixture->view =
		STAFF_TABLES "\"require\":{\"staff\":{\"min_group\":5,\"of\":\"staff_id\"}},"
			     "\"masks\":{\"badge\":{\"code\":\"redact\"}}}";
	is_refused(state, "SELECT COUNT(*) FROM staff JOIN badge ON badge.code = staff.city",
		   JOINS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_small_group_takes_no_place_of_a_limit, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_limit_is_a_plain_number, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_fails_on_a_value_does_not_say_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_words_behind_a_byte_order_mark_are_words,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_masked_column_is_no_key, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_groups_that_are_large_enough_are_shown_and_the_others_counted, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_four_are_too_few_and_five_are_enough, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_the_columns_that_count_are_not_part_of_the_result, setup, teardown),
		cmocka_unit_test_setup_teardown(test_joins_by_keys_keep_each_row_single, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_joins_that_could_repeat_a_row_are_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_whatever_shows_a_single_row_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_clauses_that_look_into_groups_are_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_tables_are_not_bound_by_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_view_of_the_database_over_the_table_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tools_show_no_single_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_unit_that_is_gone_refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explaining_such_a_statement_works, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
