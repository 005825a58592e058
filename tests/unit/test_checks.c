/*
 * Sanity of results on a real in-memory database: the statement runs, is checked with the keys that
 * the database itself declares, its probe runs, and the flags are compared as "code severity".
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "agents/query/check/checks.h"
#include "base/file.h"

static sqlite3 *db;

/* One row of a table is one thing; D = delivered, L = lost. */
static const char fixture[] =
	"CREATE TABLE client(id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE port(id INTEGER PRIMARY KEY, name TEXT, dues INTEGER);"
	"CREATE TABLE hire(id INTEGER PRIMARY KEY, client_id INTEGER, fee INTEGER, port_out "
	"INTEGER, "
	"port_back INTEGER);"
	"CREATE TABLE pay(id INTEGER PRIMARY KEY, hire_id INTEGER, amount INTEGER);"
	"CREATE TABLE extra(id INTEGER PRIMARY KEY, hire_id INTEGER, price INTEGER);"
	"CREATE TABLE crew(hire_id INTEGER, guide TEXT, PRIMARY KEY(hire_id, guide));"
	"CREATE TABLE badge(code TEXT NOT NULL UNIQUE, hire_id INTEGER);"
	"CREATE TABLE loose(hire_id INTEGER, note TEXT);"
	"INSERT INTO client VALUES (1,'Ada'),(2,'Bo'),(3,'Cy');"
	"INSERT INTO port VALUES (1,'Lisbon',3),(2,'Faro',4);"
	"INSERT INTO hire VALUES (10,1,100,1,2),(11,1,40,1,1),(12,2,60,2,1);"
	"INSERT INTO pay VALUES (1,10,70),(2,10,30),(3,11,40),(4,12,50);"
	"INSERT INTO extra VALUES (1,10,5),(2,10,7),(3,10,8),(4,12,10);"
	"INSERT INTO crew VALUES (10,'Gil'),(10,'Hana'),(12,'Hana');"
	"INSERT INTO badge VALUES ('x', 10),('y', 11);"
	"INSERT INTO loose VALUES (10, 'a'),(10, 'b');";

static void exec(const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
}

static struct json *cell(sqlite3_stmt *stmt, int column)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		return json_new_int(sqlite3_column_int64(stmt, column));
	case SQLITE_FLOAT:
		return json_new_real(sqlite3_column_double(stmt, column));
	case SQLITE_NULL:
		return json_new_null();
	default:
		return json_new_str((const char *)sqlite3_column_text(stmt, column));
	}
}

/* As run_query answers. */
static struct json *run(const char *sql)
{
	struct json *result = json_object(), *rows = json_array(), *columns = json_array();
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		json_push_str(columns, sqlite3_column_name(stmt, i));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			json_push(row, cell(stmt, i));
		json_push(rows, row);
	}
	if (sqlite3_finalize(stmt) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	json_set_int(result, "row_count", (int64_t)json_len(rows));
	json_set(result, "columns", columns);
	json_set(result, "rows", rows);
	return result;
}

static const char *text_at(const struct json *rows, size_t row, size_t column)
{
	return json_str(json_at(json_at(rows, row), column));
}

/* As describe_table answers. */
static struct json *describe(const char *name)
{
	CLEANUP(mem_freep) char *info = mem_format("PRAGMA table_info(\"%s\")", name);
	CLEANUP(mem_freep) char *keys = mem_format("PRAGMA foreign_key_list(\"%s\")", name);
	CLEANUP(json_freep) struct json *columns = run(info);
	CLEANUP(json_freep) struct json *foreign = run(keys);
	struct json *table = json_object(), *list = json_array(), *primary = json_array();
	struct json *references = json_array();

	json_each(row, json_get(columns, "rows"))
	{
		struct json *column = json_object();
		bool unique = strcmp(name, "badge") == 0 &&
			      strcmp(json_str(json_at(row, 1)), "code") == 0;

		json_set_str(column, "name", json_str(json_at(row, 1)));
		json_set(column, "key", unique ? json_new_str("unique") : json_new_null());
		json_push(list, column);
		if (json_int(json_at(row, 5)) > 0)
			json_push_str(primary, json_str(json_at(row, 1)));
	}
	json_each(row, json_get(foreign, "rows"))
	{
		struct json *reference = json_object(), *to = json_array();

		json_set_str(reference, "table", json_str(json_at(row, 2)));
		json_push(to, json_copy(json_at(row, 4)));
		json_set(reference, "to", to);
		json_push(references, reference);
	}
	json_set_str(table, "table", name);
	json_set(table, "columns", list);
	json_set(table, "primary_key", primary);
	json_set(table, "foreign_keys", references);
	return table;
}

static struct json *describe_all(void)
{
	CLEANUP(json_freep)
	struct json *names = run("SELECT name FROM sqlite_schema WHERE type = 'table'");
	struct json *tables = json_array();

	for (size_t i = 0; i < json_len(json_get(names, "rows")); i++)
		json_push(tables, describe(text_at(json_get(names, "rows"), i, 0)));
	return tables;
}

/* The checks as a whole: what they said, and the probe they asked for. */
struct checked {
	struct json *flags;
	char *probe;
};

static struct checked check_with(struct checks_input *input, bool probed)
{
	CLEANUP(json_freep) struct json *tables = describe_all();
	CLEANUP(json_freep) struct json *result = run(input->sql);
	CLEANUP(json_freep) struct json *probe = NULL;
	struct sql_checks *checks;
	struct checked checked;

	if (!input->tables)
		input->tables = tables;
	checks = checks_plan(input);
	if (probed && checks_probe(checks))
		probe = run(checks_probe(checks));
	checked.flags = checks_result(checks, result, probe);
	checked.probe = mem_str(checks_probe(checks));
	checks_free(checks);
	if (input->tables == tables)
		input->tables = NULL;
	return checked;
}

static void checked_clear(struct checked *checked)
{
	json_free(checked->flags);
	mem_free(checked->probe);
}

/* "code severity", joined by ", " */
static void codes(const struct json *flags, struct buf *out)
{
	json_each(flag, flags) buf_addf(out, "%s%s %s", out->len ? ", " : "",
					json_get_str(flag, "code"), json_get_str(flag, "severity"));
}

static void assert_codes_of(struct checks_input *input, bool probed, const char *wanted)
{
	struct checked checked = check_with(input, probed);
	struct buf text = BUF_INIT;

	codes(checked.flags, &text);
	if (strcmp(buf_str(&text), wanted) != 0) {
		struct buf all = BUF_INIT;

		json_write_pretty(checked.flags, &all);
		fail_msg("%s\n%s\nwanted %s\n%s", input->sql, buf_str(&text), wanted,
			 buf_str(&all));
	}
	buf_clear(&text);
	checked_clear(&checked);
}

static void assert_codes(const char *sql, const char *wanted)
{
	struct checks_input input = {.sql = sql};

	assert_codes_of(&input, true, wanted);
}

static void assert_message(const char *sql, size_t index, const char *wanted)
{
	struct checks_input input = {.sql = sql};
	struct checked checked = check_with(&input, true);
	const char *message = json_get_str(json_at(checked.flags, index), "message");

	if (!message || strcmp(message, wanted) != 0)
		fail_msg("%s\n%s\n%s", sql, message, checked.probe);
	checked_clear(&checked);
}

#define INFLATED "fan_out.inflated error"
#define POSSIBLE "fan_out.possible warning"
#define GROUPED "fan_out.grouped note"
#define UNKNOWN "analysis.unknown note"
#define ROWS "count.rows note"

static void a_repeated_sum_is_an_error_with_its_factor(void **state)
{
	(void)state;
	assert_message("SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id", 0,
		       "SUM(h.fee) counts each row of hire once per row of pay: 300 shown, 200 "
		       "without the repetition, factor 1.50");
	assert_codes("SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id", INFLATED);
	assert_codes("SELECT SUM(h.fee) FROM pay p JOIN hire h ON p.hire_id=h.id", INFLATED);
	assert_codes("SELECT SUM(fee) FROM pay, hire WHERE hire_id=hire.id", INFLATED);
	assert_codes("SELECT TOTAL(h.fee) FROM hire h LEFT JOIN pay p ON p.hire_id=h.id", INFLATED);
	assert_codes("SELECT SUM(fee) FROM hire", "");
	assert_codes("SELECT SUM(p.amount) FROM hire h JOIN pay p ON p.hire_id=h.id", "");
	assert_codes("SELECT SUM(p.amount) FROM client c LEFT JOIN hire h ON h.client_id=c.id "
		     "LEFT JOIN pay p ON p.hire_id = h.id",
		     "");
}

static void two_ways_to_many_inflate_both(void **state)
{
	static const char sql[] = "SELECT SUM(p.amount), SUM(e.price) FROM hire h JOIN pay p ON "
				  "p.hire_id=h.id JOIN extra e ON e.hire_id=h.id";

	(void)state;
	assert_codes(sql, INFLATED ", " INFLATED);
	assert_message(sql, 0,
		       "SUM(p.amount) counts each row of pay once per row of extra: 350 shown, 150 "
		       "without the repetition, factor 2.33");
	assert_message(sql, 1,
		       "SUM(e.price) counts each row of extra once per row of pay: 50 shown, 30 "
		       "without the repetition, factor 1.67");
	assert_codes("SELECT (SELECT SUM(amount) FROM pay), (SELECT SUM(price) FROM extra)", "");
	assert_codes(
		"SELECT SUM(a), SUM(b) FROM (SELECT hire_id, SUM(amount) AS a FROM pay GROUP BY "
		"hire_id) p JOIN (SELECT hire_id, SUM(price) AS b FROM extra GROUP BY 1) e "
		"USING (hire_id)",
		"");
}

static void a_bridge_inflates_and_exists_does_not(void **state)
{
	(void)state;
	assert_message("SELECT SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id", 0,
		       "SUM(h.fee) counts each row of hire once per row of crew: 260 shown, 160 "
		       "without the repetition, factor 1.62");
	assert_codes("SELECT SUM(fee) FROM hire h WHERE EXISTS (SELECT 1 FROM crew c WHERE "
		     "c.hire_id=h.id)",
		     "");
}

static void measures_of_two_grains_are_judged_apart(void **state)
{
	static const char sql[] = "SELECT SUM(h.fee)-SUM(p.amount) FROM hire h JOIN pay p ON "
				  "p.hire_id=h.id";

	(void)state;
	assert_codes(sql, INFLATED);
	assert_message(sql, 0,
		       "SUM(h.fee) counts each row of hire once per row of pay: 300 shown, 200 "
		       "without the repetition, factor 1.50");
	/* a sum over two tables has no row of its own that could be told apart */
	assert_codes("SELECT SUM(h.fee - p.amount) FROM hire h JOIN pay p ON p.hire_id=h.id",
		     POSSIBLE);
	assert_codes("SELECT (SELECT SUM(fee) FROM hire)-(SELECT SUM(amount) FROM pay)", "");
}

static void a_count_of_the_one_side_is_inflated_unless_distinct(void **state)
{
	static const char sql[] = "SELECT COUNT(c.id) FROM client c JOIN hire h ON "
				  "h.client_id=c.id";

	(void)state;
	assert_codes(sql, INFLATED);
	assert_message(sql, 0,
		       "COUNT(c.id) counts each row of client once per row of hire: 3 shown, 2 "
		       "without the repetition, factor 1.50");
	assert_codes("SELECT COUNT(DISTINCT c.id) FROM client c JOIN hire h ON h.client_id=c.id",
		     "");
	assert_codes("SELECT COUNT(h.id) FROM client c LEFT JOIN hire h ON h.client_id=c.id", "");
	assert_codes("SELECT COUNT(*) FROM client c JOIN hire h ON h.client_id=c.id", ROWS);
	assert_message("SELECT COUNT(*) FROM client c JOIN hire h ON h.client_id=c.id", 0,
		       "COUNT(*) counts rows of hire");
}

static void count_star_above_an_outer_join_is_warned_of(void **state)
{
	(void)state;
	assert_codes("SELECT COUNT(*) FROM client c LEFT JOIN hire h ON h.client_id=c.id",
		     "count.outer_join warning");
	assert_codes("SELECT COUNT(*) FROM hire h LEFT JOIN client c ON h.client_id=c.id", ROWS);
	assert_codes("SELECT COUNT(*) FROM client c LEFT JOIN hire h ON h.client_id=c.id WHERE "
		     "h.fee >= 50",
		     ROWS ", join.outer_cancelled warning");
	assert_codes("SELECT COUNT(*) FROM pay p JOIN extra e ON e.hire_id = p.hire_id",
		     POSSIBLE ", join.not_key warning");
}

static void a_sum_grouped_by_what_repeats_is_a_note(void **state)
{
	(void)state;
	assert_codes(
		"SELECT c.guide, SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id GROUP BY "
		"c.guide",
		GROUPED);
	assert_codes("SELECT c.guide AS g, SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id "
		     "GROUP BY g",
		     GROUPED);
	assert_codes(
		"SELECT c.guide, SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id GROUP BY "
		"1",
		GROUPED);
	/* groups that are wrong each */
	assert_codes(
		"SELECT h.id, SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id GROUP BY h.id",
		INFLATED);
	/* each hire lies in one group of its client, and is repeated there */
	assert_codes("SELECT upper(c.name), SUM(h.fee) FROM client c JOIN hire h ON "
		     "h.client_id=c.id JOIN pay p ON p.hire_id=h.id GROUP BY upper(c.name)",
		     INFLATED);
}

static void averages_minima_and_maxima_under_repetition(void **state)
{
	(void)state;
	assert_codes("SELECT SUM(h.fee), MIN(h.fee), MAX(h.fee) FROM hire h CROSS JOIN port",
		     INFLATED);
	assert_codes("SELECT AVG(h.fee) FROM hire h CROSS JOIN port", POSSIBLE);
	assert_codes("SELECT AVG(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id",
		     "fan_out.skewed warning");
	assert_message("SELECT AVG(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id", 0,
		       "AVG(h.fee) weighs each row of hire by its rows of pay: 75.00 shown, 66.67 "
		       "with each row once");
	assert_codes("SELECT SUM(DISTINCT p.dues) FROM hire h JOIN port p ON p.id=h.port_out",
		     "distinct.values warning");
}

static void what_is_not_inflated_today_is_said_to_be_possible(void **state)
{
	static const char sql[] =
		"SELECT COUNT(c.id) FROM client c JOIN hire h ON h.client_id=c.id "
		"WHERE h.fee>=50";

	(void)state;
	assert_codes(sql, POSSIBLE);
	assert_message(sql, 0,
		       "COUNT(c.id) would count a row of client once per row of hire: not inflated "
		       "today, it can be tomorrow");
}

static void constants_complete_a_key(void **state)
{
	(void)state;
	assert_codes("SELECT SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id WHERE "
		     "c.guide='Gil'",
		     "");
	assert_codes("SELECT SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id AND c.guide IN "
		     "('Gil')",
		     "");
	assert_codes("SELECT SUM(h.fee) FROM hire h JOIN crew c ON c.hire_id=h.id WHERE c.guide IN "
		     "('Gil', 'Hana')",
		     INFLATED);
	/* a unique column does as well, and equalities go on from table to table */
	assert_codes(
		"SELECT SUM(h.fee) FROM hire h, badge b WHERE b.code = 'x' AND b.hire_id = h.id",
		"");
	assert_codes("SELECT SUM(p.amount) FROM pay p, extra e, hire h WHERE p.hire_id = e.id AND "
		     "e.id = h.id",
		     "join.rows_lost warning, join.rows_lost warning, result.missing warning");
}

/* ON of an outer join says nothing of a left row that met nothing. */
static void outer_joins_do_not_fix_their_left_side(void **state)
{
	(void)state;
	assert_codes(
		"SELECT SUM(p.amount) FROM client c CROSS JOIN pay p LEFT JOIN hire h ON h.id = "
		"p.hire_id AND c.id = h.client_id",
		INFLATED);
	assert_codes("SELECT SUM(h.fee) FROM client c LEFT JOIN hire h ON h.client_id = c.id", "");
	assert_codes("SELECT SUM(h.fee) FROM hire h RIGHT JOIN client c ON h.client_id = c.id", "");
	assert_codes("SELECT SUM(h.fee) FROM hire h FULL JOIN client c ON h.client_id = c.id", "");
	assert_codes("SELECT SUM(h.fee) FROM hire h FULL JOIN pay p ON p.hire_id = h.id", INFLATED);
	assert_codes(
		"SELECT COUNT(p.id) FROM pay p LEFT JOIN (hire h JOIN client c ON h.client_id = "
		"c.id) ON h.id = p.hire_id",
		"");
}

static void sub_queries_bring_their_own_keys(void **state)
{
	(void)state;
	assert_codes("SELECT SUM(h.fee) FROM hire h JOIN (SELECT hire_id, COUNT(*) AS n FROM pay "
		     "GROUP BY hire_id) p ON p.hire_id = h.id",
		     "");
	assert_codes(
		"WITH p AS (SELECT DISTINCT hire_id FROM pay) SELECT SUM(h.fee) FROM hire h JOIN "
		"p ON p.hire_id = h.id",
		"");
	assert_codes("WITH p AS (SELECT hire_id FROM pay) SELECT SUM(h.fee) FROM hire h JOIN p ON "
		     "p.hire_id = h.id",
		     INFLATED);
	assert_codes("SELECT SUM(h.fee) FROM hire h, (SELECT COUNT(*) AS n FROM pay)", "");
	assert_codes("SELECT SUM(p.amount) FROM pay p JOIN (SELECT id AS i FROM hire) q ON q.i = "
		     "p.hire_id",
		     "");
	assert_codes("SELECT SUM(p.amount) FROM pay p JOIN (SELECT * FROM hire) q ON q.id = "
		     "p.hire_id",
		     "");
	assert_codes("SELECT SUM(p.amount) FROM pay p JOIN (SELECT fee AS i FROM hire) q ON q.i = "
		     "p.hire_id",
		     POSSIBLE ", result.missing warning");
}

static void repetition_inside_a_sub_query_is_found_outside(void **state)
{
	(void)state;
	assert_codes(
		"SELECT SUM(fee) FROM (SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = h.id)",
		INFLATED);
	assert_codes(
		"SELECT SUM(fee) / 2 AS f FROM (SELECT h.fee * 2 AS fee FROM hire h JOIN pay p "
		"ON p.hire_id = h.id) x",
		INFLATED);
	/* what stands between leaves it open which rows are added up */
	assert_codes("SELECT SUM(fee) FROM (SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = "
		     "h.id) WHERE fee > 0",
		     POSSIBLE);
	assert_codes("SELECT SUM(fee + 1) FROM (SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = "
		     "h.id)",
		     POSSIBLE);
	assert_codes("WITH j AS (SELECT h.*, p.amount FROM hire h JOIN pay p ON p.hire_id = h.id) "
		     "SELECT SUM(fee), SUM(amount) FROM j",
		     POSSIBLE);
	assert_codes(
		"SELECT SUM(f) FROM (SELECT fee AS f FROM hire UNION ALL SELECT h.fee FROM hire "
		"h JOIN pay p ON p.hire_id = h.id)",
		POSSIBLE);
	assert_codes(
		"SELECT SUM(f) FROM (SELECT DISTINCT h.id, h.fee AS f FROM hire h JOIN pay p ON "
		"p.hire_id = h.id)",
		"");
	/* a common table expression that aggregates wrongly itself is measured */
	assert_codes(
		"WITH j AS (SELECT SUM(h.fee) AS s FROM hire h JOIN pay p ON p.hire_id = h.id) "
		"SELECT s FROM j",
		INFLATED);
}

static void correlated_sub_queries_are_fixed_from_outside(void **state)
{
	(void)state;
	assert_codes(
		"SELECT c.name, (SELECT SUM(h.fee) FROM hire h JOIN crew w ON w.hire_id = h.id "
		"AND w.guide = c.name) FROM client c",
		"");
	assert_codes("SELECT c.name, (SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id = h.id "
		     "WHERE h.client_id = c.id) FROM client c",
		     POSSIBLE);
}

static void unknown_keys_and_statements_are_notes(void **state)
{
	struct json *none = json_array();
	struct checks_input input = {.sql = "SELECT SUM(h.fee) FROM hire h JOIN pay p ON "
					    "p.hire_id=h.id",
				     .tables = none};

	(void)state;
	assert_codes("SELECT SUM(fee) FROM hire JOIN loose ON loose.hire_id = hire.id", INFLATED);
	/* nor is one of the owner: its rows have numbers */
	assert_message("SELECT COUNT(loose.note) FROM loose JOIN pay USING (hire_id)", 0,
		       "COUNT(loose.note) counts each row of loose once per row of pay: 4 shown, 2 "
		       "without the repetition, factor 2.00");
	assert_codes_of(&input, true, UNKNOWN);
	input.sql = "SELECT SUM(fee) FROM hire JOIN pay ON hire_id = hire.id";
	assert_codes_of(&input, true, UNKNOWN);
	input.sql = "SELECT fee FROM hire WHERE fee IS NOT 5 AND 1 NOT NULL";
	assert_codes_of(&input, true, UNKNOWN);
	json_free(none);
}

static void without_a_probe_the_verdict_stays_open(void **state)
{
	struct checks_input input = {.sql = "SELECT SUM(h.fee) FROM hire h JOIN pay p ON "
					    "p.hire_id=h.id"};

	(void)state;
	assert_codes_of(&input, false, POSSIBLE);
}

static void natural_joins_meet_on_common_columns(void **state)
{
	(void)state;
	exec("CREATE TABLE tag(hire_id INTEGER PRIMARY KEY, tag TEXT);"
	     "INSERT INTO tag VALUES (10, 'a'), (11, 'b'), (12, 'c');");
	assert_codes("SELECT SUM(amount) FROM pay NATURAL JOIN tag", "");
	assert_codes("SELECT SUM(LENGTH(tag)) FROM pay NATURAL JOIN tag", INFLATED);
	exec("DROP TABLE tag");
}

/* The repetition within groups, by a key of two columns. */
static void keys_of_two_columns_are_counted_as_rows(void **state)
{
	(void)state;
	exec("CREATE TABLE leg(ship TEXT, n INTEGER, miles INTEGER, PRIMARY KEY (ship, n));"
	     "CREATE TABLE stop(ship TEXT, n INTEGER, at TEXT);"
	     "INSERT INTO leg VALUES ('a',1,10),('a',2,10),('b',1,5);"
	     "INSERT INTO stop VALUES ('a',1,'x'),('a',1,'y'),('a',2,'z'),('b',1,'w');");
	assert_message("SELECT l.ship, SUM(l.miles) FROM leg l JOIN stop s ON s.ship=l.ship AND "
		       "s.n=l.n GROUP BY l.ship",
		       0,
		       "SUM(l.miles) counts each row of leg once per row of stop: 35 shown, 25 "
		       "without the repetition, factor 1.40");
	exec("DROP TABLE leg; DROP TABLE stop");
}

/* ---- results ---- */

static void no_rows_zero_and_missing_are_warned_of(void **state)
{
	(void)state;
	assert_codes("SELECT name FROM client WHERE id = 99", "result.no_rows warning");
	assert_codes("SELECT COUNT(*) FROM client WHERE id = 99", "result.zero warning");
	assert_codes("SELECT SUM(fee) FROM hire WHERE id = 99", "result.missing warning");
	assert_codes("SELECT 0, id FROM client", "");
	assert_message("SELECT client_id, SUM(fee) - 60 AS rest FROM hire GROUP BY 1", 0,
		       "rest is exactly zero in 1 of 2 rows");
}

static void nothing_in_the_period_before_is_no_surprise(void **state)
{
	struct checks_input input = {0};
	struct json *columns = NULL;

	(void)state;
	assert_int_equal(json_parse_str("[{\"name\":\"k\",\"role\":\"dimension\"},{\"name\":"
					"\"v\",\"role\":\"previous\"}]",
					&columns, NULL),
			 0);
	input.columns = columns;
	input.sql = "SELECT id AS k, fee - 40 AS v FROM hire";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT id AS k, 0 AS v FROM hire";
	assert_codes_of(&input, true, "result.zero warning");
	json_free(columns);
}

static void a_magnitude_is_warned_of_above_one_million_millions(void **state)
{
	(void)state;
	assert_codes("SELECT SUM(fee) * 0 + 1000000000000 FROM hire", "");
	assert_codes("SELECT SUM(fee) * 0 + 1000000000001 FROM hire", "result.magnitude warning");
	assert_codes("SELECT SUM(fee) * 0 - 1000000000001 FROM hire", "result.magnitude warning");
	assert_codes("SELECT 1700000000000 AS id", "");
}

static void negative_values_count_where_the_metric_has_none(void **state)
{
	struct checks_input input = {.sql = "SELECT -SUM(fee) AS f FROM hire"};
	struct json *columns = NULL;

	(void)state;
	assert_int_equal(json_parse_str("[{\"name\":\"f\",\"label\":\"fees\",\"role\":\"metric\","
					"\"non_negative\":true}]",
					&columns, NULL),
			 0);
	assert_codes_of(&input, true, "");
	input.columns = columns;
	assert_codes_of(&input, true, "result.negative warning");
	input.sql = "SELECT SUM(fee) AS f FROM hire";
	assert_codes_of(&input, true, "");
	json_free(columns);
}

static void a_period_that_is_not_filtered_is_an_error(void **state)
{
	struct json *period = json_object();
	struct checks_input input = {.period = period, .period_column = "sale.at"};

	(void)state;
	exec("CREATE TABLE sale(id INTEGER PRIMARY KEY, at TEXT, eur INTEGER);"
	     "INSERT INTO sale VALUES (1,'2025-03-01',10),(2,'2025-04-01',20);");
	json_set_str(period, "from", "2025-03-01");
	json_set_str(period, "to", "2025-04-01");
	input.sql = "SELECT SUM(eur) FROM sale";
	assert_codes_of(&input, true, "period.not_filtered error");
	input.sql = "SELECT SUM(eur), '2025-03-01' FROM sale";
	assert_codes_of(&input, true, "period.not_filtered warning");
	input.sql = "SELECT SUM(eur) FROM sale WHERE at >= '2025-03-01' AND at < '2025-04-01'";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT SUM(eur) FROM sale WHERE strftime('%Y-%m', at) = '2025-03'";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT SUM(CASE WHEN at BETWEEN '2025-03-01' AND '2025-03-31' THEN eur END) "
		    "FROM sale";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT SUM(eur) FROM (SELECT at AS at, eur FROM sale) WHERE at > '2025'";
	assert_codes_of(&input, true, "");
	input.period_column = NULL;
	input.sql = "SELECT SUM(eur) FROM sale WHERE at >= '2025-03-01'";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT SUM(eur) FROM sale";
	assert_codes_of(&input, true, "period.not_filtered warning");
	json_free(period);
	exec("DROP TABLE sale");
}

static void a_declaration_is_held_against_the_statement(void **state)
{
	struct json *plan = NULL;
	struct checks_input input = {.sql = "SELECT SUM(h.fee) FROM hire h JOIN pay p ON "
					    "p.hire_id=h.id"};

	(void)state;
	assert_int_equal(json_parse_str("{\"tables\":[\"hire\",\"client\"],\"grain\":\"one row in "
					"all\",\"fanout_risk\":\"none: rows of hire\"}",
					&plan, NULL),
			 0);
	input.plan = plan;
	assert_codes_of(&input, true,
			INFLATED ", plan.contradiction warning, plan.contradiction warning, "
				 "plan.contradiction warning");
	input.sql =
		"SELECT c.name, SUM(h.fee) FROM hire h JOIN client c ON c.id=h.client_id GROUP BY "
		"1";
	assert_codes_of(&input, true, "plan.contradiction warning");
	input.sql = "SELECT SUM(h.fee) FROM hire h JOIN client c ON c.id=h.client_id";
	assert_codes_of(&input, true, "");
	json_free(plan);
	assert_int_equal(json_parse_str("{\"grain\":\"one row per client\"}", &plan, NULL), 0);
	input.plan = plan;
	assert_codes_of(&input, true, "plan.contradiction warning");
	input.sql = "SELECT client_id, SUM(fee) FROM hire GROUP BY client_id";
	assert_codes_of(&input, true, "");
	json_free(plan);
}

static void comments_before_a_statement_declare(void **state)
{
	struct checks_input input = {
		.sql = "-- Tables: hire, client\n-- grain: one row in all\n-- metric: fees\n"
		       "-- fan-out risk: none, rows of hire\n"
		       "SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id"};

	(void)state;
	assert_codes_of(&input, true,
			INFLATED ", plan.contradiction warning, plan.contradiction warning, "
				 "plan.contradiction warning");
	input.sql = "-- grain: one row per client\nSELECT SUM(fee) FROM hire";
	assert_codes_of(&input, true, "plan.contradiction warning");
	input.sql = "  -- tables: hire\n  -- grain: one row per client\n-- fan-out risk: none\n"
		    "SELECT client_id, SUM(fee) FROM hire GROUP BY client_id";
	assert_codes_of(&input, true, "");
	input.sql = "-- note: tables are listed elsewhere\n-- grain\n-- tables:\nSELECT SUM(fee) "
		    "FROM hire";
	assert_codes_of(&input, true, "");
	input.sql = "SELECT SUM(fee) FROM hire -- grain: one row per client";
	assert_codes_of(&input, true, "");
}

/* ---- the widgets ---- */

static void widgets_revenue_is_caught_with_factor_two_point_three(void **state)
{
	const char *root = getenv("WRIT_SOURCE");
	CLEANUP(mem_freep)
	char *path = mem_format("%s/examples/widgets/data.sql", root ? root : ".");
	struct buf text = BUF_INIT;
	sqlite3 *before = db;

	(void)state;
	assert_int_equal(file_read_at(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	exec(buf_str(&text));
	assert_message(
		"SELECT SUM(o.amount_cents)/100.0 AS revenue FROM orders o JOIN order_items i "
		"ON i.order_id = o.order_id JOIN dim_sku d ON d.sku = i.sku WHERE "
		"d.category_name = 'Widgets' AND o.order_date >= '2025-04-01' AND o.order_date "
		"< '2025-07-01'",
		0,
		"SUM(o.amount_cents) counts each row of orders once per row of order_items: "
		"2300.00 shown, 1000.00 without the repetition, factor 2.30");
	assert_codes(
		"SELECT SUM(i.qty*i.unit_price_cents)/100.0 AS revenue FROM orders o JOIN "
		"order_items i ON i.order_id = o.order_id JOIN dim_sku d ON d.sku = i.sku WHERE "
		"d.category_name = 'Widgets' AND o.order_date >= '2025-04-01' AND o.order_date "
		"< '2025-07-01'",
		"");
	assert_codes(
		"SELECT d.category_name, ROUND(SUM(o.amount_cents)/100.0, 2) FROM orders o JOIN "
		"order_items i ON i.order_id = o.order_id JOIN dim_sku d ON d.sku = i.sku "
		"GROUP BY d.category_name",
		INFLATED);
	sqlite3_close(db);
	db = before;
	buf_clear(&text);
}

/* What cannot be measured leaves no trace in the probe of what can. */
static void a_sum_without_a_key_stands_beside_one_that_has(void **state)
{
	struct json *some = NULL;
	struct checks_input input = {
		.sql = "SELECT SUM(o.dues) + SUM(h.fee) FROM port o JOIN hire h "
		       "ON h.port_out = o.id JOIN pay p ON p.hire_id = h.id"};

	(void)state;
	assert_int_equal(json_parse_str("[{\"table\":\"hire\",\"columns\":[{\"name\":\"id\"},{"
					"\"name\":\"fee\"},{\"name\":\"port_out\"}],"
					"\"primary_key\":[\"id\"]}]",
					&some, NULL),
			 0);
	input.tables = some;
	assert_codes_of(&input, true, UNKNOWN ", " INFLATED);
	json_free(some);
}

static void each_aggregate_has_a_verdict(void **state)
{
	static const struct {
		const char *sql;
		const char *wanted;
	} all[] = {
		{"SELECT SUM(fee), COUNT(*) FROM hire",
		 "[{\"aggregate\":\"SUM(fee)\",\"verdict\":\"safe\"},"
		 "{\"aggregate\":\"COUNT(*)\",\"verdict\":\"safe\"}]"},
		{"SELECT SUM(h.fee), SUM(p.amount) FROM hire h JOIN pay p ON p.hire_id=h.id",
		 "[{\"aggregate\":\"SUM(h.fee)\",\"verdict\":\"fans_out\",\"of\":\"hire\",\"by\":"
		 "\"pay\",\"factor\":1.5},{\"aggregate\":\"SUM(p.amount)\",\"verdict\":\"safe\"}]"},
		{"SELECT COUNT(c.id) FROM client c JOIN hire h ON h.client_id=c.id WHERE h.fee>=50",
		 "[{\"aggregate\":\"COUNT(c.id)\",\"verdict\":\"fans_out\",\"of\":\"client\","
		 "\"by\":"
		 "\"hire\",\"factor\":1.0}]"},
		{"SELECT SUM((SELECT 1) + fee) FROM hire",
		 "[{\"aggregate\":\"SUM((SELECT 1) + fee)\",\"verdict\":\"grain_unknown\"}]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		CLEANUP(json_freep) struct json *tables = describe_all();
		CLEANUP(json_freep) struct json *probe = NULL, *verdicts = NULL;
		struct checks_input input = {.sql = all[i].sql, .tables = tables};
		struct sql_checks *checks = checks_plan(&input);
		struct buf text = BUF_INIT;

		if (checks_probe(checks))
			probe = run(checks_probe(checks));
		verdicts = checks_verdicts(checks, probe);
		json_write(verdicts, &text);
		assert_string_equal(buf_str(&text), all[i].wanted);
		buf_clear(&text);
		checks_free(checks);
	}
}

/* ---- tables to be described ---- */

static void only_tables_that_matter_are_wanted(void **state)
{
	static const struct {
		const char *sql;
		const char *wanted;
	} all[] = {
		{"SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id=h.id",
		 "[\"hire\",\"pay\"]"},
		{"SELECT SUM(fee) FROM hire", "[\"hire\"]"},
		{"SELECT h.fee FROM hire h JOIN pay p ON p.hire_id=h.id", "[]"},
		{"SELECT fee FROM hire WHERE id > 3 ORDER BY fee", "[]"},
		{"SELECT fee FROM hire WHERE client_id <> 3", "[\"hire\"]"},
		{"SELECT c.name FROM client c LEFT JOIN port p ON p.name = 'x'",
		 "[\"client\",\"port\"]"},
		{"SELECT SUM(a) FROM (SELECT h.fee AS a FROM hire h JOIN pay p ON p.hire_id=h.id)",
		 "[\"hire\",\"pay\"]"},
		{"not SQL", "[]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct checks_input input = {.sql = all[i].sql};
		struct sql_checks *checks = checks_plan(&input);
		struct json *wanted = checks_tables_wanted(checks);
		struct buf text = BUF_INIT;

		json_write(wanted, &text);
		assert_string_equal(buf_str(&text), all[i].wanted);
		buf_clear(&text);
		json_free(wanted);
		checks_free(checks);
	}
}

/* A chain of queries that doubles at each step ends at a bound, with a note. */
static void chains_of_queries_end_at_a_bound(void **state)
{
	struct buf sql = BUF_INIT;
	struct checks_input input = {0};
	struct sql_checks *checks;
	struct json *result = json_object(), *flags;
	struct buf text = BUF_INIT;

	(void)state;
	buf_add_str(&sql, "WITH c0 AS (SELECT * FROM hire)");
	for (int i = 1; i < 40; i++)
		buf_addf(&sql, ", c%d AS (SELECT * FROM c%d a JOIN c%d b ON a.x%d = b.y)", i, i - 1,
			 i - 1, i);
	buf_add_str(&sql, " SELECT SUM(q) FROM c39 a JOIN c38 b ON a.x = b.y");
	input.sql = buf_str(&sql);
	checks = checks_plan(&input);
	json_set(result, "rows", json_array());
	flags = checks_result(checks, result, NULL);
	codes(flags, &text);
	assert_non_null(strstr(buf_str(&text), UNKNOWN));
	buf_clear(&text);
	buf_clear(&sql);
	json_free(flags);
	json_free(result);
	checks_free(checks);
}

static int open_db(void **state)
{
	(void)state;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return -1;
	exec(fixture);
	return 0;
}

static int close_db(void **state)
{
	(void)state;
	return sqlite3_close(db) == SQLITE_OK ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_sum_is_an_error_with_its_factor),
		cmocka_unit_test(two_ways_to_many_inflate_both),
		cmocka_unit_test(a_bridge_inflates_and_exists_does_not),
		cmocka_unit_test(measures_of_two_grains_are_judged_apart),
		cmocka_unit_test(a_count_of_the_one_side_is_inflated_unless_distinct),
		cmocka_unit_test(count_star_above_an_outer_join_is_warned_of),
		cmocka_unit_test(a_sum_grouped_by_what_repeats_is_a_note),
		cmocka_unit_test(averages_minima_and_maxima_under_repetition),
		cmocka_unit_test(what_is_not_inflated_today_is_said_to_be_possible),
		cmocka_unit_test(constants_complete_a_key),
		cmocka_unit_test(outer_joins_do_not_fix_their_left_side),
		cmocka_unit_test(sub_queries_bring_their_own_keys),
		cmocka_unit_test(repetition_inside_a_sub_query_is_found_outside),
		cmocka_unit_test(correlated_sub_queries_are_fixed_from_outside),
		cmocka_unit_test(unknown_keys_and_statements_are_notes),
		cmocka_unit_test(without_a_probe_the_verdict_stays_open),
		cmocka_unit_test(natural_joins_meet_on_common_columns),
		cmocka_unit_test(keys_of_two_columns_are_counted_as_rows),
		cmocka_unit_test(no_rows_zero_and_missing_are_warned_of),
		cmocka_unit_test(nothing_in_the_period_before_is_no_surprise),
		cmocka_unit_test(a_magnitude_is_warned_of_above_one_million_millions),
		cmocka_unit_test(negative_values_count_where_the_metric_has_none),
		cmocka_unit_test(a_period_that_is_not_filtered_is_an_error),
		cmocka_unit_test(a_declaration_is_held_against_the_statement),
		cmocka_unit_test(comments_before_a_statement_declare),
		cmocka_unit_test(widgets_revenue_is_caught_with_factor_two_point_three),
		cmocka_unit_test(a_sum_without_a_key_stands_beside_one_that_has),
		cmocka_unit_test(each_aggregate_has_a_verdict),
		cmocka_unit_test(only_tables_that_matter_are_wanted),
		cmocka_unit_test(chains_of_queries_end_at_a_bound),
	};

	return cmocka_run_group_tests(tests, open_db, close_db);
}
