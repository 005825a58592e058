/* Days of a zone, fiscal years and stocks: compiled from model files, run on SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "agents/query/metrics/compile.h"
#include "tests/unit/workspace_dir.h"

#define EXTENSION(text) "custom_extensions: [{vendor_name: WRIT, data: '" text "'}]"

/* The facts of a small till: moments in UTC with T and blank, fractions and offsets, and in
 * seconds; balances at the end of some days. */
static const char facts[] =
	"CREATE TABLE sale(id INTEGER PRIMARY KEY, at TEXT, at_s INTEGER, eur INTEGER);"
	/* Lisbon: UTC until 2025-03-30 01:00, then UTC+1; back on 2025-10-26 01:00 UTC */
	"INSERT INTO sale VALUES"
	" (1, '2025-03-29T23:59:59Z', 1743292799, 1),"	     /* 29 March, 23:59 */
	" (2, '2025-03-30 00:30:00', 1743294600, 2),"	     /* 30 March, 00:30 */
	" (3, '2025-03-30T22:59:59.900Z', 1743375599, 4),"   /* 30 March, 23:59, summer time */
	" (4, '2025-03-30 23:00:00', 1743375600, 8),"	     /* 31 March, 00:00 */
	" (5, '2025-04-01T00:30:00+02:00', 1743460200, 16)," /* 31 March, 23:30 in Lisbon */
	" (6, '2025-03-31T23:00:00Z', 1743462000, 32),"	     /* 1 April */
	" (7, '2025-10-26 00:30:00', 1761438600, 64),"	     /* 26 October, 01:30 the first time */
	" (8, '2025-10-26 23:59:59', 1761523199, 128),"	     /* 26 October, 23:59, winter time */
	" (9, '2025-10-27 00:00:00', 1761523200, 256);"	     /* 27 October */
	"CREATE TABLE balance(account INTEGER, day TEXT, eur INTEGER, PRIMARY KEY(account, day));"
	"INSERT INTO balance VALUES (1,'2025-01-30',10),(1,'2025-01-31',20),(2,'2025-01-31',5),"
	" (1,'2025-02-10',30),(1,'2025-02-28',40),(2,'2025-02-15',7);"
	"CREATE TABLE account(id INTEGER PRIMARY KEY, kind TEXT);"
	"INSERT INTO account VALUES (1,'private'),(2,'business');";

static char *model_text(const char *zone)
{
	return mem_format(
		"version: 0.2.0.dev0\nsemantic_model:\n- name: till\n  " EXTENSION("{%s\"fiscal_"
										   "year_start\": "
										   "4}") "\n"
											 "  "
											 "datasets:"
											 "\n"
											 "  - "
											 "name: "
											 "sales\n  "
											 "  "
											 "source: "
											 "sale\n   "
											 " primary_"
											 "key: "
											 "[id]\n   "
											 " " EXTENSION(
												 "{"
												 "\"time\": \"sales.at\"}") "\n"
															    "    fields:\n"
															    "    - {name: at, expression: at, datatype: DateTimeTz, " EXTENSION("{\"instant\": true}") "}\n"
																										       "    - {name: at_s, expression: at_s, dimension: {is_time: true}, " EXTENSION("{\"instant\": true, \"time_format\": \"epoch\"}") "}\n"
																																											"    - {name: eur, expression: eur, datatype: Integer}\n"
																																											"  - name: accounts\n    source: account\n    primary_key: [id]\n"
																																											"    fields:\n    - {name: kind, expression: kind, datatype: String}\n"
																																											"  - name: balances\n    source: balance\n    primary_key: [account, day]\n    " EXTENSION("{\"time\": \"balances.day\"}") "\n"
																																																										   "    fields:\n"
																																																										   "    - {name: day, expression: day, datatype: Date}\n"
																																																										   "    - {name: account, expression: account, datatype: Integer, dimension: {}}\n"
																																																										   "    - {name: eur, expression: eur, datatype: Integer}\n"
																																																										   "  relationships:\n"
																																																										   "  - {name: of, from: balances, to: accounts, from_columns: [account], to_columns: "
																																																										   "[id]}\n"
																																																										   "  metrics:\n"
																																																										   "  - {name: takings, expression: SUM(sales.eur)}\n"
																																																										   "  - {name: held, expression: SUM(balances.eur), " EXTENSION("{\"snapshot\": {\"time\": \"balances.day\"}}") "}\n"
																																																																								"  - {name: held_each, expression: SUM(balances.eur), " EXTENSION("{\"snapshot\": {\"time\": \"balances.day\", \"per\": "
																																																																																  "[\"balances.account\"]}}") "}\n"
																																																																																			      "  - {name: opening, expression: SUM(balances.eur), " EXTENSION("{\"snapshot\": {\"time\": \"balances.day\", \"take\": \"first\"}}") "}\n"
																																																																																																				   "  - {name: best_account, expression: SUM(balances.eur), " EXTENSION("{\"per\": \"balances.account\", \"then\": \"max\"}") "}\n"
																																																																																																																			      "  - {name: sale_count, expression: COUNT(sales.eur)}\n"
																																																																																																																			      "  - {name: takings_per_sale, expression: takings / sale_count, " EXTENSION(
																																																																																																																				      "{\"decimals\": 3}") "}\n",
		zone);
}

static struct model *load(const char *zone)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(mem_freep) char *text = model_text(zone);
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	CLEANUP(json_freep) struct json *models = NULL;
	const char *source = "till";
	struct model *model = NULL;
	struct err err;

	workspace_dir_put(&dir, "metrics/till.yaml", text);
	if (model_compile(dir.fd, &source, 1, &models, &mistakes, &err) < 0)
		fail_msg("%s\n%s", buf_str(&mistakes), text);
	if (model_from_json(json_get(models, source), &model, &err) < 0)
		fail_msg("%s", err.text);
	workspace_dir_remove(&dir);
	return model;
}

static char *run(const char *sql)
{
	struct buf out = BUF_INIT;
	sqlite3_stmt *statement;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, facts, NULL, NULL, NULL), SQLITE_OK);
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
	sqlite3_close(db);
	return buf_take(&out);
}

#define LISBON "\"timezone\": \"Europe/Lisbon\", "

static void gives_in(const char *zone, const char *text, const char *rows)
{
	CLEANUP(model_freep) struct model *model = load(zone);
	CLEANUP(metric_query_freep) struct metric_query *query = NULL;
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(mem_freep) char *result = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0 ||
	    metric_query_from_json(json, &query, &err) < 0 ||
	    metric_query_compile(query, model, &compiled, &err) < 0)
		fail_msg("%s", err.text);
	result = run(compiled->sql);
	if (strcmp(result, rows) != 0)
		fail_msg("%s\ngives  %s\nwanted %s\nby %s", text, result, rows, compiled->sql);
}

#define DAYS(field, from, to)                                                                      \
	"{\"metrics\":[\"takings\"],\"dimensions\":[{\"field\":\"sales." field                     \
	"\",\"bucket\":\"day\"}],\"period\":{\"field\":\"sales." field "\",\"from\":\"" from       \
	"\",\"to\":\"" to "\"}}"

static void test_moments_belong_to_the_days_of_the_zone(void **state)
{
	static const char *const fields[] = {"at", "at_s"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		CLEANUP(mem_freep)
		char *all = mem_format("{\"metrics\":[\"takings\"],\"dimensions\":[{\"field\":"
				       "\"sales.%s\",\"bucket\":\"day\"}]}",
				       fields[i]);

		gives_in(LISBON, all,
			 "2025-03-29 1; 2025-03-30 6; 2025-03-31 24; 2025-04-01 32; 2025-10-26 "
			 "192; 2025-10-27 256");
	}
	gives_in("",
		 "{\"metrics\":[\"takings\"],\"dimensions\":[{\"field\":\"sales.at\",\"bucket\":"
		 "\"day\"}]}",
		 "2025-03-29 1; 2025-03-30 14; 2025-03-31 48; 2025-10-26 192; 2025-10-27 256");
}

static void test_periods_end_where_the_days_of_the_zone_end(void **state)
{
	(void)state;
	gives_in(LISBON, DAYS("at", "2025-03-30", "2025-04-01"), "2025-03-30 6; 2025-03-31 24");
	gives_in(LISBON, DAYS("at_s", "2025-03-30", "2025-04-01"), "2025-03-30 6; 2025-03-31 24");
	gives_in(LISBON, DAYS("at", "2025-10-26", "2025-10-27"), "2025-10-26 192");
	gives_in(LISBON, DAYS("at_s", "2025-10-26", "2025-10-27"), "2025-10-26 192");
	gives_in("", DAYS("at", "2025-03-30", "2025-03-31"), "2025-03-30 14");
	gives_in(LISBON,
		 "{\"metrics\":[\"takings\"],\"filters\":[{\"field\":\"sales.at\",\"op\":\"=\","
		 "\"values\":[\"2025-03-31\"]}]}",
		 "24");
	gives_in("\"timezone\": \"Pacific/Auckland\", ", DAYS("at", "2025-03-30", "2025-03-31"),
		 "2025-03-30 3");
	gives_in("\"timezone\": \"America/New_York\", ", DAYS("at", "2025-03-30", "2025-03-31"),
		 "2025-03-30 12");
}

static void test_fiscal_years_have_the_number_of_their_end(void **state)
{
	(void)state;
	gives_in(LISBON,
		 "{\"metrics\":[\"takings\"],\"dimensions\":[{\"field\":\"sales.at\",\"bucket\":"
		 "\"fiscal_quarter\"}]}",
		 "FY2025-Q4 31; FY2026-Q1 32; FY2026-Q3 448");
	gives_in(LISBON,
		 "{\"metrics\":[\"takings\"],\"dimensions\":[{\"field\":\"sales.at\",\"bucket\":"
		 "\"fiscal_year\"}]}",
		 "FY2025 31; FY2026 480");
}

#define MONTHS "\"dimensions\":[{\"field\":\"balances.day\",\"bucket\":\"month\"}]"

static void test_stocks_are_taken_at_the_last_moment(void **state)
{
	(void)state;
	gives_in("", "{\"metrics\":[\"held\"]," MONTHS "}", "2025-01 25; 2025-02 40");
	gives_in("", "{\"metrics\":[\"held_each\"]," MONTHS "}", "2025-01 25; 2025-02 47");
	gives_in("", "{\"metrics\":[\"opening\"]," MONTHS "}", "2025-01 10; 2025-02 30");
	gives_in("", "{\"metrics\":[\"held\"]}", "40");
	gives_in("", "{\"metrics\":[\"held_each\"]}", "47");
	gives_in("",
		 "{\"metrics\":[\"held_each\"],\"dimensions\":[{\"field\":\"accounts.kind\"}],"
		 "\"period\":{\"from\":\"2025-01-01\",\"to\":\"2025-02-01\"}}",
		 "private 20; business 5");
	gives_in("",
		 "{\"metrics\":[\"held\"],\"period\":{\"from\":\"2025-02-01\",\"to\":\"2025-03-"
		 "01\"},"
		 "\"compare\":{\"from\":\"2025-01-01\",\"to\":\"2025-02-01\"}}",
		 "40 25 15 60.0");
}

static void test_metrics_per_something_and_of_other_metrics(void **state)
{
	(void)state;
	gives_in("", "{\"metrics\":[\"best_account\"]}", "100.0");
	gives_in("", "{\"metrics\":[\"best_account\"]," MONTHS "}", "2025-01 30.0; 2025-02 70.0");
	gives_in("", "{\"metrics\":[\"takings_per_sale\",\"takings\"]}", "56.778 511");
	gives_in(LISBON,
		 "{\"metrics\":[\"takings_per_sale\"],\"dimensions\":[{\"field\":\"sales.at\","
		 "\"bucket\":\"year\"}],\"conditions\":[{\"metric\":\"takings_per_sale\",\"op\":\">"
		 "\","
		 "\"value\":\"56\"}]}",
		 "2025 56.778");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments_belong_to_the_days_of_the_zone),
		cmocka_unit_test(test_periods_end_where_the_days_of_the_zone_end),
		cmocka_unit_test(test_fiscal_years_have_the_number_of_their_end),
		cmocka_unit_test(test_stocks_are_taken_at_the_last_moment),
		cmocka_unit_test(test_metrics_per_something_and_of_other_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
