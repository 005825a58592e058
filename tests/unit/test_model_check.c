/* A model against its data, on a real SQLite in memory: what is right passes, each wrong thing is
 * found at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "agents/query/metrics/model_check.h"

static const char model_text[] =
	"{\"source\":\"s\",\"datasets\":["
	"{\"name\":\"sales\",\"table\":\"sale\",\"primary_key\":[\"id\"],\"at\":\"m:1\",\"column\":"
	"5,"
	"\"time\":\"sales.day\",\"fields\":["
	"{\"name\":\"amount\",\"expression\":\"amt\",\"type\":\"integer\",\"at\":\"m:2\","
	"\"column\":7},"
	"{\"name\":\"day\",\"expression\":\"day\",\"is_time\":true,\"at\":\"m:3\",\"column\":7}]},"
	"{\"name\":\"shops\",\"table\":\"shop\",\"unique_keys\":[[\"no\",\"city\"]],\"at\":\"m:4\","
	"\"fields\":[{\"name\":\"city\",\"expression\":\"city\",\"at\":\"m:5\"}]}],"
	"\"relationships\":[{\"name\":\"sold_in\",\"from\":\"sales\",\"to\":\"shops\","
	"\"from_columns\":[\"shop\"],\"to_columns\":[\"no\"],\"at\":\"m:6\",\"column\":7}],"
	"\"metrics\":[{\"name\":\"total\",\"dataset\":\"sales\",\"expression\":"
	"\"SUM(sales.amount)\",\"scale\":100,\"decimals\":2,\"exact\":true,\"time\":\"sales.day\","
	"\"at\":\"m:7\",\"column\":9,\"expected\":[{\"value\":\"0.30\"},{\"value\":\"0.10\","
	"\"from\":"
	"\"2026-01-01\",\"to\":\"2026-02-01\",\"at\":\"m:8\",\"column\":3}]},"
	"{\"name\":\"rows\",\"dataset\":\"sales\",\"expression\":\"COUNT(*)\",\"at\":\"m:9\"}]}";

static sqlite3 *db;
static struct model *model;
static enum err_kind broken; /* what every statement fails with, unless ERR_NONE */

static int run_sql(void *self, const char *sql, struct json **ret_result, struct err *err)
{
	struct json *result = json_object(), *rows = json_array();
	sqlite3_stmt *statement;

	assert_ptr_equal(self, &db);
	if (broken != ERR_NONE || sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
		json_free(result);
		json_free(rows);
		return err_set(err, broken != ERR_NONE ? broken : ERR_INVALID, "%s",
			       broken != ERR_NONE ? "no more calls" : sqlite3_errmsg(db));
	}
	while (sqlite3_step(statement) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			if (sqlite3_column_type(statement, i) == SQLITE_INTEGER)
				json_push_int(row, sqlite3_column_int64(statement, i));
			else if (sqlite3_column_type(statement, i) == SQLITE_FLOAT)
				json_push(row, json_new_real(sqlite3_column_double(statement, i)));
			else
				json_push(row, json_new_str((const char *)sqlite3_column_text(
						       statement, i)));
		}
		json_push(rows, row);
	}
	sqlite3_finalize(statement);
	json_set(result, "rows", rows);
	*ret_result = result;
	return 0;
}

static void execute(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
}

static int open_all(void **state)
{
	struct json *json;
	struct err err;

	(void)state;
	broken = ERR_NONE;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	execute("CREATE TABLE sale(id, shop, amt, day);"
		"CREATE TABLE shop(no, city);"
		"INSERT INTO shop VALUES (1, 'Bonn'), (2, 'Ulm');"
		"INSERT INTO sale VALUES (1, 1, 10, '2026-01-31'), (2, 2, 20, '2026-02-01')");
	assert_int_equal(json_parse_str(model_text, &json, &err), 0);
	assert_int_equal(model_from_json(json, &model, &err), 0);
	json_free(json);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	model_free(model);
	return sqlite3_close(db) == SQLITE_OK ? 0 : -1;
}

static void finds(const char *wanted)
{
	struct model_check check;
	struct buf text = BUF_INIT;
	struct err err;

	if (model_check(model, run_sql, &db, &check, &err) < 0)
		fail_msg("%s", err.text);
	json_each(finding, check.findings)
	{
		buf_addf(&text, "%s%s %s:%d %s", text.len ? "\n" : "",
			 json_get_str(finding, "severity"), json_get_str(finding, "at"),
			 (int)json_get_int(finding, "column", -1),
			 json_get_str(finding, "message"));
	}
	assert_string_equal(buf_str(&text), wanted);
	buf_clear(&text);
	model_check_clear(&check);
}

static void test_a_right_model_has_no_findings(void **state)
{
	struct model_check check;
	struct err err;

	(void)state;
	assert_int_equal(model_check(model, run_sql, &db, &check, &err), 0);
	assert_int_equal(json_len(check.findings), 0);
	assert_int_equal(check.error_count, 0);
	assert_int_equal(check.field_count, 3);
	assert_int_equal(check.key_count, 2);
	assert_int_equal(check.relationship_count, 1);
	assert_int_equal(check.metric_count, 2);
	assert_int_equal(check.value_count, 2);
	assert_int_equal(check.statement_count, 8);
	model_check_clear(&check);
}

static void test_a_wrong_column_is_found_at_its_field(void **state)
{
	(void)state;
	execute("ALTER TABLE shop RENAME COLUMN city TO town");
	finds("error m:5:0 field shops.city: no such column: city\n"
	      "error m:4:0 unique key (no, city) of shops: no such column: city");
}

static void test_a_missing_table_is_found(void **state)
{
	(void)state;
	execute("DROP TABLE shop");
	finds("error m:5:0 field shops.city: no such table: shop\n"
	      "error m:4:0 unique key (no, city) of shops: no such table: shop\n"
	      "error m:6:7 relationship sold_in: no such table: shop");
}

static void test_keys_that_are_none(void **state)
{
	(void)state;
	execute("UPDATE sale SET id = 1");
	execute("INSERT INTO shop VALUES (2, 'Ulm')");
	finds("error m:1:5 primary key (id) of sales is none: 2 rows, 1 different\n"
	      "error m:4:0 unique key (no, city) of shops is none: 3 rows, 2 different\n"
	      "error m:6:7 relationship sold_in: 1 values of (no) stand in several rows of shops, "
	      "so joining would count rows of sales many times");
}

static void test_a_primary_key_is_never_missing(void **state)
{
	(void)state;
	execute("UPDATE sale SET id = NULL WHERE id = 2");
	finds("error m:1:5 primary key (id) of sales is missing in 1 rows");
}

static void test_rows_that_point_nowhere_are_a_note(void **state)
{
	(void)state;
	execute("UPDATE sale SET shop = 9 WHERE id = 2");
	finds("note m:6:7 relationship sold_in: 1 rows of sales name a row of shops that is not "
	      "there; they are counted, with its fields missing");
	execute("UPDATE sale SET shop = NULL WHERE id = 2");
	finds("");
}

static void test_an_unexpected_value_is_found(void **state)
{
	(void)state;
	execute("UPDATE sale SET amt = 11 WHERE id = 1");
	finds("error m:7:0 metric total is expected to be 0.30, and is 0.31\n"
	      "error m:8:3 metric total is expected to be 0.10 from 2026-01-01 to before "
	      "2026-02-01, and is 0.11");
	execute("DELETE FROM sale");
	finds("error m:7:0 metric total is expected to be 0.30, and is nothing\n"
	      "error m:8:3 metric total is expected to be 0.10 from 2026-01-01 to before "
	      "2026-02-01, and is nothing");
}

static void test_what_is_not_the_models_fault_ends_the_check(void **state)
{
	struct model_check check = {.findings = NULL};
	struct err err;

	(void)state;
	broken = ERR_LIMIT;
	assert_int_equal(model_check(model, run_sql, &db, &check, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(err.text, "no more calls");
	assert_null(check.findings);
}

int main(void)
{
#define ON_DATA(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)
	const struct CMUnitTest tests[] = {
		ON_DATA(test_a_right_model_has_no_findings),
		ON_DATA(test_a_wrong_column_is_found_at_its_field),
		ON_DATA(test_a_missing_table_is_found),
		ON_DATA(test_keys_that_are_none),
		ON_DATA(test_a_primary_key_is_never_missing),
		ON_DATA(test_rows_that_point_nowhere_are_a_note),
		ON_DATA(test_an_unexpected_value_is_found),
		ON_DATA(test_what_is_not_the_models_fault_ends_the_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
