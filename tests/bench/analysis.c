/*
 * How long the analysis of a statement takes with a catalogue of so many tables: checks_plan() from
 * text to verdicts and probe. Prints the median in milliseconds, then the slowest statement's.
 *
 *   bench_analysis TABLES ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/query/check/checks.h"
#include "base/clock.h"

#define COLUMNS 12
#define STATEMENTS 8
#define ROUNDS_MAX 10000

static const char *const statements[STATEMENTS] = {
	"SELECT SUM(c1) FROM t1",
	"SELECT a.c2, SUM(a.c1) FROM t7 a JOIN t8 b ON b.c3 = a.id GROUP BY a.c2",
	"SELECT COUNT(*) FROM t5 LEFT JOIN t6 ON t6.c3 = t5.id WHERE t6.c4 >= 5",
	"SELECT SUM(c1) / COUNT(*) FROM t9 WHERE c5 <> 'L' AND c6 BETWEEN '2026-01-01' AND "
	"'2026-01-31'",
	"WITH x AS (SELECT id, c3, SUM(c1) AS s FROM t20 GROUP BY id, c3), y AS (SELECT c3, AVG(s) "
	"AS m FROM x GROUP BY c3) SELECT t21.c2, SUM(y.m) FROM t21 JOIN y ON y.c3 = t21.id GROUP "
	"BY "
	"t21.c2 ORDER BY 2 DESC LIMIT 5",
	"SELECT a.c2, b.c2, c.c2, SUM(d.c1) FROM t30 a JOIN t31 b ON b.c3 = a.id JOIN t32 c ON "
	"c.c3 "
	"= b.id JOIN t33 d ON d.c3 = c.id WHERE a.c5 IN ('x', 'y', 'z') AND d.c6 >= '2026-01-01' "
	"AND d.c6 < '2026-02-01' GROUP BY a.c2, b.c2, c.c2 HAVING SUM(d.c1) > 10",
	"SELECT c2, (SELECT SUM(c1) FROM t41 WHERE t41.c3 = t40.id) FROM t40 WHERE id NOT IN "
	"(SELECT "
	"c3 FROM t42) ORDER BY 2 DESC",
	"SELECT c2, SUM(c1) FROM (SELECT c2, c1 FROM t50 UNION ALL SELECT c2, c4 FROM t51) u GROUP "
	"BY "
	"c2",
};

static struct json *make_table(int number, int count)
{
	static const char *const types[] = {"INTEGER", "TEXT", "INTEGER",
					    "INTEGER", "TEXT", "TEXT"};
	struct json *table = json_object(), *columns = json_array(), *key = json_array();
	struct json *foreign = json_array(), *one = json_object();
	char name[32];

	for (int i = 0; i < COLUMNS; i++) {
		struct json *column = json_object();

		snprintf(name, sizeof(name), "c%d", i);
		json_set_str(column, "name", i == 0 ? "id" : name);
		json_set_str(column, "type", i == 0 ? "INTEGER" : types[(i - 1) % 6]);
		json_set_bool(column, "not_null", i < 2);
		json_set(column, "key", i == 0 ? json_new_str("primary") : json_new_null());
		json_push(columns, column);
	}
	json_push_str(key, "id");
	snprintf(name, sizeof(name), "t%d", (number + count - 1) % count);
	json_set(one, "columns", json_array());
	json_push_str(json_get_mut(one, "columns"), "c3");
	json_set_str(one, "table", name);
	json_set(one, "to", json_copy(key));
	json_push(foreign, one);
	snprintf(name, sizeof(name), "t%d", number);
	json_set_str(table, "table", name);
	json_set(table, "columns", columns);
	json_set(table, "primary_key", key);
	json_set(table, "foreign_keys", foreign);
	return table;
}

static int64_t measure(const struct json *tables, const char *sql)
{
	struct checks_input input = {.sql = sql, .tables = tables};
	int64_t from = clock_mono_us();
	struct sql_checks *checks = checks_plan(&input);
	int64_t us = clock_mono_us() - from;

	checks_free(checks);
	return us;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t *items, int count)
{
	qsort(items, (size_t)count, sizeof(*items), by_size);
	return items[count / 2];
}

int main(int argc, char **argv)
{
	static int64_t all[STATEMENTS * ROUNDS_MAX], own[ROUNDS_MAX];
	int count = argc > 1 ? atoi(argv[1]) : 400;
	int rounds = argc > 2 ? atoi(argv[2]) : 200;
	struct json *tables = json_array();
	int64_t slowest = 0;
	int n = 0;

	if (count < 60 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench_analysis TABLES(60..) ROUNDS(1..%d)\n", ROUNDS_MAX);
		return 2;
	}
	for (int i = 0; i < count; i++)
		json_push(tables, make_table(i, count));
	for (int s = 0; s < STATEMENTS; s++) {
		int64_t middle;

		for (int i = 0; i < rounds; i++)
			all[n++] = own[i] = measure(tables, statements[s]);
		middle = median(own, rounds);
		slowest = middle > slowest ? middle : slowest;
	}
	printf("%.3f %.3f\n", (double)median(all, n) / 1000.0, (double)slowest / 1000.0);
	json_free(tables);
	return 0;
}
