/*
 * Soundness over random joins: whatever the shape of FROM, a sum that the checks let pass without a
 * word counts each row of its table once, and one that they call inflated is inflated by the factor
 * they say. Judged against the rows themselves: the joined keys are fetched and counted here.
 */
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

#define TABLES 5
#define ROWS 6
#define SEEDS 150 /* databases */
#define JOINS 20  /* statements on each */

static sqlite3 *db;
static uint32_t random_state;
static int silent, inflated, open_verdicts;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

static void exec(const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
}

/* t0..t4: a key of one or two columns, two further columns with few values, some missing. */
static struct json *make_tables(void)
{
	struct json *tables = json_array();

	for (int t = 0; t < TABLES; t++) {
		bool wide = below(3) == 0;
		struct json *table = json_object(), *columns = json_array(), *key = json_array();
		static const char *const names[] = {"k", "l", "a", "b", "x"};
		struct buf sql = BUF_INIT;

		buf_addf(&sql,
			 "CREATE TABLE t%d(k INTEGER, l INTEGER, a INTEGER, b INTEGER, x "
			 "INTEGER, PRIMARY KEY (k%s));",
			 t, wide ? ", l" : "");
		for (uint32_t r = 0; r < ROWS; r++) {
			buf_addf(&sql, "INSERT INTO t%d VALUES (%u, %u, ", t, wide ? r / 2 : r,
				 wide ? r % 2 : below(2));
			for (int c = 0; c < 2; c++) {
				if (below(5) == 0)
					buf_add_str(&sql, "NULL, ");
				else
					buf_addf(&sql, "%u, ", below(4));
			}
			buf_addf(&sql, "%u);", 1 + below(9));
		}
		exec(buf_str(&sql));
		buf_clear(&sql);
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct json *column = json_object();

			json_set_str(column, "name", names[i]);
			json_push(columns, column);
		}
		json_push_str(key, "k");
		if (wide)
			json_push_str(key, "l");
		json_set(table, "columns", columns);
		json_set(table, "primary_key", key);
		{
			CLEANUP(mem_freep) char *name = mem_format("t%d", t);

			json_set_str(table, "table", name);
		}
		json_push(tables, table);
	}
	return tables;
}

static const char *random_column(void)
{
	static const char *const names[] = {"k", "k", "k", "l", "a", "b"};

	return names[below(6)];
}

/* Conditions between table t and those before it. */
static void add_conditions(struct buf *sql, int t)
{
	uint32_t count = 1 + below(2);

	for (uint32_t i = 0; i < count; i++) {
		buf_addf(sql, "%st%d.%s = ", i ? " AND " : "", t, random_column());
		if (below(5) == 0)
			buf_addf(sql, "%u", below(4));
		else
			buf_addf(sql, "t%u.%s", below((uint32_t)t), random_column());
	}
}

/* t0 JOIN t1 ON .. LEFT JOIN (t2 JOIN t3 ON ..) ON ..: the pair must name only itself inside */
static int add_join(struct buf *sql, int t, int count)
{
	static const char *const kinds[] = {" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ",
					    " FULL JOIN "};

	buf_add_str(sql, kinds[below(5)]);
	if (t + 1 < count && below(3) == 0) {
		buf_addf(sql, "(t%d JOIN t%d ON t%d.%s = t%d.%s) ON ", t, t + 1, t, random_column(),
			 t + 1, random_column());
		add_conditions(sql, t);
		return t + 2;
	}
	buf_addf(sql, "t%d ON ", t);
	add_conditions(sql, t);
	return t + 1;
}

static void make_from(struct buf *sql, int count)
{
	buf_add_str(sql, " FROM t0");
	for (int t = 1; t < count;)
		t = add_join(sql, t, count);
	if (below(3) == 0) {
		buf_addf(sql, " WHERE t%u.%s = ", below((uint32_t)count), random_column());
		if (below(2))
			buf_addf(sql, "%u", below(4));
		else
			buf_addf(sql, "t%u.%s", below((uint32_t)count), random_column());
	}
}

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

		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			if (sqlite3_column_type(stmt, i) == SQLITE_NULL)
				json_push(row, json_new_null());
			else
				json_push_int(row, sqlite3_column_int64(stmt, i));
		}
		json_push(rows, row);
	}
	sqlite3_finalize(stmt);
	json_set(result, "columns", columns);
	json_set(result, "rows", rows);
	return result;
}

/* The sum over the rows as they come, and with each key once. */
static void count_truth(const char *from, uint32_t owner, int64_t *ret_shown, int64_t *ret_once)
{
	CLEANUP(mem_freep)
	char *sql = mem_format("SELECT t%u.k, t%u.l, t%u.x%s", owner, owner, owner, from);
	CLEANUP(json_freep) struct json *result = run(sql);
	const struct json *rows = json_get(result, "rows");

	*ret_shown = *ret_once = 0;
	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *row = json_at(rows, i);
		bool seen = false;

		if (json_is_null(json_at(row, 0)))
			continue;
		for (size_t j = 0; !seen && j < i; j++)
			seen = json_equal(json_at(json_at(rows, j), 0), json_at(row, 0)) &&
			       json_equal(json_at(json_at(rows, j), 1), json_at(row, 1));
		*ret_shown += json_int(json_at(row, 2));
		*ret_once += seen ? 0 : json_int(json_at(row, 2));
	}
}

static const struct json *find_flag(const struct json *flags, const char *start)
{
	json_each(flag, flags)
	{
		if (strncmp(json_get_str(flag, "code"), start, strlen(start)) == 0)
			return flag;
	}
	return NULL;
}

static void judge(uint32_t seed, const char *from, uint32_t owner, const struct json *tables)
{
	CLEANUP(mem_freep) char *sql = mem_format("SELECT SUM(t%u.x)%s", owner, from);
	struct checks_input input = {.sql = sql, .tables = tables};
	CLEANUP(json_freep) struct json *result = run(sql);
	CLEANUP(json_freep) struct json *probe = NULL;
	CLEANUP(json_freep) struct json *flags = NULL;
	CLEANUP(mem_freep) char *figures = NULL;
	struct sql_checks *checks = checks_plan(&input);
	const struct json *wrong;
	int64_t shown, once;

	if (checks_probe(checks))
		probe = run(checks_probe(checks));
	flags = checks_result(checks, result, probe);
	checks_free(checks);
	count_truth(from, owner, &shown, &once);
	if (find_flag(flags, "analysis"))
		fail_msg("seed %u: not analysed: %s", seed, sql);
	wrong = find_flag(flags, "fan_out.inflated");
	if ((shown != once) != (wrong != NULL))
		fail_msg("seed %u: %lld shown, %lld once, %s: %s", seed, (long long)shown,
			 (long long)once, wrong ? "called inflated" : "let pass", sql);
	silent += !find_flag(flags, "fan_out");
	inflated += wrong != NULL;
	open_verdicts += find_flag(flags, "fan_out.possible") != NULL;
	if (!wrong)
		return;
	figures = mem_format(": %lld shown, %lld without the repetition, factor %.2f",
			     (long long)shown, (long long)once, (double)shown / (double)once);
	if (!strstr(json_get_str(wrong, "message"), figures))
		fail_msg("seed %u: %s\nnot %s\n%s", seed, json_get_str(wrong, "message"), figures,
			 sql);
}

static void judge_random_join(uint32_t seed, const struct json *tables)
{
	struct buf from = BUF_INIT;
	int count = 2 + (int)below(TABLES - 1);

	make_from(&from, count);
	judge(seed, buf_str(&from), below((uint32_t)count), tables);
	buf_clear(&from);
}

static void verdicts_agree_with_the_rows_themselves(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct json *tables;

		random_state = seed * 2654435761u;
		assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
		tables = make_tables();
		for (int i = 0; i < JOINS; i++)
			judge_random_join(seed, tables);
		json_free(tables);
		assert_int_equal(sqlite3_close(db), SQLITE_OK);
	}
	/* the test is worth something only if all three come up often */
	print_message("# silent %d, inflated %d, possible %d\n", silent, inflated, open_verdicts);
	assert_true(silent > SEEDS * JOINS / 10);
	assert_true(inflated > SEEDS * JOINS / 10);
	assert_true(open_verdicts > SEEDS * JOINS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_agree_with_the_rows_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
