/* Medians, percentiles and deviations against the same worked out here, over values made up anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>

#include "agents/query/metrics/compile.h"

#define GROUPS 4
#define VALUES_MAX 12

static const char model_text[] =
	"{\"source\":\"s\",\"datasets\":[{\"name\":\"t\",\"table\":\"t\",\"primary_key\":[\"id\"],"
	"\"time\":\"t.day\",\"fields\":["
	"{\"name\":\"g\",\"expression\":\"g\",\"type\":\"string\",\"dimension\":true,\"missing\":"
	"\"none\"},"
	"{\"name\":\"day\",\"expression\":\"day\",\"type\":\"time\",\"dimension\":true,\"is_time\":"
	"true},"
	"{\"name\":\"x\",\"expression\":\"x\",\"type\":\"integer\"}]}],\"relationships\":[],"
	"\"metrics\":["
	"{\"name\":\"median_x\",\"label\":\"median x\",\"expression\":\"MEDIAN(t.x)\",\"dataset\":"
	"\"t\",\"time\":\"t.day\",\"additive\":false,\"scale\":100,\"decimals\":2},"
	"{\"name\":\"big\",\"label\":\"median of big ones\",\"expression\":\"MEDIAN(t.x)\","
	"\"filter\":\"t.x > 50\",\"filter_words\":\"big\",\"dataset\":\"t\",\"time\":\"t.day\","
	"\"additive\":false},"
	"{\"name\":\"n\",\"label\":\"n\",\"expression\":\"COUNT(*)\",\"dataset\":\"t\",\"time\":"
	"\"t.day\",\"additive\":true,\"exact\":true}]}";

struct world {
	sqlite3 *db;
	struct model *model;
	double values[GROUPS][VALUES_MAX];
	size_t counts[GROUPS]; /* of those that are there */
};

static void open_world(struct world *world)
{
	struct json *json;
	struct err err;

	assert_int_equal(sqlite3_open(":memory:", &world->db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(world->db,
				      "CREATE TABLE t(id INTEGER PRIMARY KEY, g TEXT, day TEXT, x "
				      "INTEGER)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(json_parse_str(model_text, &json, &err), 0);
	if (model_from_json(json, &world->model, &err) < 0)
		fail_msg("%s", err.text);
	json_free(json);
}

static void close_world(struct world *world)
{
	model_free(world->model);
	assert_int_equal(sqlite3_close(world->db), SQLITE_OK);
}

static void add(struct world *world, size_t group, const char *day, bool missing, int value)
{
	char *sql = group == GROUPS - 1
			    ? sqlite3_mprintf("INSERT INTO t(g, day, x) VALUES (NULL, %Q, %s)", day,
					      missing ? "NULL" : "0")
			    : sqlite3_mprintf("INSERT INTO t(g, day, x) VALUES ('g%d', %Q, %s)",
					      (int)group, day, missing ? "NULL" : "0");

	assert_int_equal(sqlite3_exec(world->db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_free(sql);
	if (missing)
		return;
	sql = sqlite3_mprintf("UPDATE t SET x = %d WHERE id = last_insert_rowid()", value);
	assert_int_equal(sqlite3_exec(world->db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_free(sql);
	world->values[group][world->counts[group]++] = value;
}

static int compare_reals(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* NAN: missing. */
static double continuous(const double *sorted, size_t count, double share)
{
	double at = share * ((double)count - 1);
	size_t low = (size_t)at;

	if (count == 0)
		return NAN;
	return low + 1 < count ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low])
			       : sorted[low];
}

static double discrete(const double *sorted, size_t count, double share)
{
	for (size_t i = 0; i < count; i++)
		if ((double)(i + 1) / (double)count >= share - 1e-12)
			return sorted[i];
	return NAN;
}

static double variance(const double *values, size_t count, size_t less)
{
	double mean = 0, sum = 0;

	if (count <= less)
		return NAN;
	for (size_t i = 0; i < count; i++)
		mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (double)(count - less);
}

static double oracle(const char *expression, const double *sorted, size_t count)
{
	double share = 0.5;
	const char *digits = strpbrk(expression, "(");

	if (strncmp(expression, "PERCENTILE", 10) == 0)
		share = strtod(digits + 1, NULL);
	if (strncmp(expression, "PERCENTILE_DISC", 15) == 0)
		return discrete(sorted, count, share);
	if (strncmp(expression, "STDDEV_POP", 10) == 0)
		return sqrt(variance(sorted, count, 0));
	if (strncmp(expression, "STDDEV", 6) == 0)
		return sqrt(variance(sorted, count, 1));
	if (strncmp(expression, "VAR_POP", 7) == 0)
		return variance(sorted, count, 0);
	if (strncmp(expression, "VAR", 3) == 0)
		return variance(sorted, count, 1);
	return continuous(sorted, count, share);
}

static sqlite3_stmt *prepared(const struct world *world, const char *query_text)
{
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(metric_query_freep) struct metric_query *query = NULL;
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	sqlite3_stmt *statement;
	struct err err;

	if (json_parse_str(query_text, &json, &err) < 0 ||
	    metric_query_from_json(json, &query, &err) < 0 ||
	    metric_query_compile(query, world->model, &compiled, &err) < 0)
		fail_msg("%s: %s", query_text, err.text);
	if (sqlite3_prepare_v2(world->db, compiled->sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s in %s", sqlite3_errmsg(world->db), compiled->sql);
	return statement;
}

static void is_near(const char *what, sqlite3_stmt *statement, int column, double wanted)
{
	bool missing = sqlite3_column_type(statement, column) == SQLITE_NULL;

	if (isnan(wanted)
		    ? !missing
		    : missing || fabs(sqlite3_column_double(statement, column) - wanted) > 1e-5)
		fail_msg("%s is %s, wanted %g", what,
			 missing ? "missing" : (const char *)sqlite3_column_text(statement, column),
			 wanted);
}

static const char *const expressions[] = {
	"MEDIAN(t.x)",
	"PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY t.x ASC)",
	"PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_DISC(0.7) WITHIN GROUP (ORDER BY t.x)",
	"PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY t.x)",
	"STDDEV(t.x)",
	"STDDEV_SAMP(t.x)",
	"STDDEV_POP(t.x)",
	"VARIANCE(t.x)",
	"VAR_SAMP(t.x)",
	"VAR_POP(t.x)",
};

static size_t group_of(sqlite3_stmt *statement)
{
	const char *name = (const char *)sqlite3_column_text(statement, 0);

	return strcmp(name, "none") == 0 ? GROUPS - 1 : (size_t)(name[1] - '0');
}

static void check_groups(struct world *world, const char *expression)
{
	char *text = sqlite3_mprintf("{\"dimensions\":[{\"field\":\"t.g\"}],\"measures\":[{"
				     "\"expression\":\"%s\",\"as\":\"m\"}]}",
				     expression);
	sqlite3_stmt *statement = prepared(world, text);

	while (sqlite3_step(statement) == SQLITE_ROW) {
		size_t group = group_of(statement);

		is_near(expression, statement, 1,
			oracle(expression, world->values[group], world->counts[group]));
	}
	sqlite3_finalize(statement);
	sqlite3_free(text);
}

static void test_each_group_has_its_own(void **state)
{
	unsigned seed =
		getenv("WRIT_SEED") ? (unsigned)atoi(getenv("WRIT_SEED")) : (unsigned)time(NULL);

	(void)state;
	print_message("WRIT_SEED=%u\n", seed);
	srand(seed);
	for (int round = 0; round < 12; round++) {
		struct world world = {0};

		open_world(&world);
		for (size_t g = 0; g < GROUPS; g++) {
			int count = rand() % VALUES_MAX;

			for (int i = 0; i < count; i++)
				add(&world, g, "2025-01-01", rand() % 4 == 0, rand() % 30 - 10);
			qsort(world.values[g], world.counts[g], sizeof(double), compare_reals);
		}
		for (size_t i = 0; i < ARRAY_LEN(expressions); i++)
			check_groups(&world, expressions[i]);
		close_world(&world);
	}
}

static void test_filters_scale_periods_and_other_metrics_go_with_it(void **state)
{
	struct world world = {0};
	sqlite3_stmt *statement;

	(void)state;
	open_world(&world);
	for (int i = 1; i <= 9; i++)
		add(&world, 0, i <= 5 ? "2025-01-10" : "2025-02-10", false, i * 10);
	add(&world, 0, "2025-02-10", true, 0);
	statement = prepared(&world, "{\"metrics\":[\"median_x\",\"n\",\"big\"]}");
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	is_near("median", statement, 0, 0.5);
	is_near("count", statement, 1, 10);
	is_near("median of 60, 70, 80, 90", statement, 2, 75);
	sqlite3_finalize(statement);
	statement = prepared(&world,
			     "{\"metrics\":[\"median_x\"],\"period\":{\"from\":\"2025-02-01\","
			     "\"to\":\"2025-03-01\"},\"compare\":{\"from\":\"2025-01-01\",\"to\":"
			     "\"2025-02-01\"}}");
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	is_near("now", statement, 0, 0.75);
	is_near("before", statement, 1, 0.3);
	sqlite3_finalize(statement);
	statement =
		prepared(&world, "{\"metrics\":[\"median_x\"],\"period\":{\"from\":\"2024-02-01\","
				 "\"to\":\"2024-03-01\"}}");
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	is_near("of nothing", statement, 0, NAN);
	assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	close_world(&world);
}

static void refuses(const char *query_text, const char *why)
{
	struct world world = {0};
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(metric_query_freep) struct metric_query *query = NULL;
	struct compiled_query *compiled = NULL;
	struct err err = {0};

	open_world(&world);
	assert_int_equal(json_parse_str(query_text, &json, &err), 0);
	assert_int_equal(metric_query_from_json(json, &query, &err), 0);
	if (metric_query_compile(query, world.model, &compiled, &err) == 0)
		fail_msg("%s compiles to %s", query_text, compiled->sql);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s says %s", query_text, err.text);
	close_world(&world);
}

static void test_what_cannot_be_taken_so_is_refused(void **state)
{
	(void)state;
	refuses("{\"measures\":[{\"expression\":\"MEDIAN(t.x) / 2\"}]}", "stands alone");
	refuses("{\"measures\":[{\"expression\":\"MEDIAN(t.x) OVER ()\"}]}", "not over a window");
	refuses("{\"measures\":[{\"expression\":\"PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY "
		"t.x)\"}]}",
		"a number from 0 to 1");
	refuses("{\"measures\":[{\"expression\":\"PERCENTILE_CONT(t.x) WITHIN GROUP (ORDER BY "
		"t.x)\"}]}",
		"a number from 0 to 1");
	refuses("{\"measures\":[{\"expression\":\"PERCENTILE_CONT(0.5)\"}]}", "WITHIN");
	refuses("{\"measures\":[{\"expression\":\"PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY t.x "
		"DESC)\"}]}",
		"is expected");
	refuses("{\"measures\":[{\"expression\":\"MEDIAN(DISTINCT t.x)\"}]}", "DISTINCT");
	refuses("{\"metrics\":[\"median_x\"],\"average_per\":\"t.g\"}", "do not add up");
	refuses("{\"metrics\":[\"median_x\"],\"dimensions\":[{\"field\":\"t.g\"}],\"share\":true}",
		"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_group_has_its_own),
		cmocka_unit_test(test_filters_scale_periods_and_other_metrics_go_with_it),
		cmocka_unit_test(test_what_cannot_be_taken_so_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
