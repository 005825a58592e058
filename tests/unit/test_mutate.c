/* A second state keeps what the schema promises, and nothing that is only true of some rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/eval/mutate.h"

#define BYTES_MAX (1 << 24)

static char folder[64];
static char from[96], to[96];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/writ-mutate.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(from, sizeof(from), "%s/from.db", folder);
	snprintf(to, sizeof(to), "%s/to.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(from);
	unlink(to);
	return rmdir(folder);
}

/* A database of these statements, and its copy. */
static struct db *copy_of(const char *sql)
{
	struct db *db = NULL;
	struct err err = {0};
	char *text = NULL;
	sqlite3 *made;

	assert_int_equal(sqlite3_open(from, &made), SQLITE_OK);
	if (sqlite3_exec(made, sql, NULL, NULL, &text) != SQLITE_OK)
		fail_msg("%s", text);
	sqlite3_close(made);
	if (db_open_copy(from, to, BYTES_MAX, &db, &err) < 0)
		fail_msg("%s", err.text);
	return db;
}

static struct json *mutated(struct db *db, int64_t seed)
{
	struct json *changes = NULL;
	struct err err = {0};

	if (mutate(db, seed, &changes, &err) < 0)
		fail_msg("%s", err.text);
	return changes;
}

static int64_t ask(struct db *db, const char *sql)
{
	int64_t value = 0;
	struct err err = {0};

	if (db_ask(db, sql, &value, 1, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
	return value;
}

static const char shop[] =
	"CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT);"
	"CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES "
	"customers(id), at TEXT NOT NULL, fee INTEGER NOT NULL CHECK (fee BETWEEN 0 AND 99), "
	"state TEXT NOT NULL CHECK (state IN ('D', 'L')), paid INTEGER NOT NULL CHECK (paid IN "
	"(0,1)), code TEXT UNIQUE);"
	"CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), "
	"amount REAL, note TEXT);"
	"CREATE TRIGGER no_change BEFORE UPDATE ON orders BEGIN SELECT RAISE(ABORT, 'no'); END;"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) "
	"INSERT INTO customers SELECT i, 'Customer ' || i, CASE i % 3 WHEN 0 THEN 'East' WHEN 1 "
	"THEN 'West' END FROM n;"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
	"INSERT INTO orders SELECT i, 1 + i % 10, date('2025-01-01', (i * 9) || ' days') || CASE "
	"WHEN i % 2 THEN '' ELSE ' 10:00:00' END, i * 2, CASE WHEN i % 4 THEN 'D' ELSE 'L' END, "
	"i % 2, 'C' || i FROM n;"
	"INSERT INTO lines SELECT id, id, fee * 1.5, 'same' FROM orders;";

static void test_what_the_schema_promises_still_holds(void **state)
{
	(void)state;
	for (int64_t seed = 0; seed < 12; seed++) {
		CLEANUP(db_closep) struct db *db = copy_of(shop);

		json_free(mutated(db, seed));

		assert_int_equal(ask(db, "SELECT COUNT(*) FROM pragma_foreign_key_check"), 0);
		assert_int_equal(ask(db, "SELECT COUNT(*) FROM pragma_integrity_check WHERE "
					 "integrity_check <> 'ok'"),
				 0);
		assert_int_equal(ask(db, "SELECT COUNT(DISTINCT name) = COUNT(*) FROM customers"),
				 1);
		assert_int_equal(ask(db, "SELECT COUNT(*) FROM customers"), 10);
		assert_int_equal(ask(db, "SELECT COUNT(DISTINCT state) FROM orders"), 2);
		assert_int_equal(ask(db, "SELECT COUNT(DISTINCT region) FROM customers"), 2);
		assert_int_equal(
			ask(db, "SELECT COUNT(*) FROM orders WHERE date(substr(at,1,10)) IS NULL"),
			0);
		unlink(from);
		unlink(to);
	}
}

static void test_what_is_only_true_of_the_rows_does_not(void **state)
{
	CLEANUP(db_closep) struct db *db = copy_of(shop);
	CLEANUP(json_freep) struct json *changes = mutated(db, 3);
	const struct json *lines = json_get(changes, "lines");
	const struct json *orders = json_get(changes, "orders");

	(void)state;
	assert_true(json_get_int(lines, "added", 0) > 0);
	assert_true(json_get_int(lines, "missing", 0) > 0);
	assert_true(json_get_int(orders, "changed", 0) > 0);
	/* one line an order before: a join counted nothing twice */
	assert_true(ask(db, "SELECT SUM(o.fee) FROM orders o JOIN lines l ON l.order_id = o.id") !=
		    ask(db, "SELECT SUM(fee) FROM orders"));
	assert_true(ask(db, "SELECT COUNT(*) FROM lines WHERE order_id IS NULL") > 0);
	assert_true(ask(db, "SELECT COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM lines "
			    "WHERE order_id = orders.id)") > 0);
	assert_true(ask(db, "SELECT COUNT(*) FROM orders WHERE at LIKE '%-01' OR at LIKE '%-01 "
			    "10:00:00'") > 2);
	assert_true(ask(db, "SELECT COUNT(*) FROM orders WHERE at LIKE '%23:59:59'") > 0);
	assert_true(ask(db, "SELECT COUNT(*) FROM orders WHERE fee <> id * 2") > 0);
}

static void test_one_seed_makes_one_state(void **state)
{
	static const char sum[] = "SELECT SUM(fee * 31 + id * 7 + length(at) + unicode(state)) + "
				  "(SELECT SUM(amount * 100 + COALESCE(order_id, -9)) FROM lines) "
				  "FROM orders";
	int64_t sums[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		CLEANUP(db_closep) struct db *db = copy_of(shop);

		json_free(mutated(db, i == 2 ? 8 : 7));

		sums[i] = ask(db, sum);
		unlink(from);
		unlink(to);
	}
	assert_int_equal(sums[0], sums[1]);
	assert_int_not_equal(sums[0], sums[2]);
}

static void test_small_and_odd_tables_are_taken_as_they_are(void **state)
{
	CLEANUP(db_closep)
	struct db *db = copy_of(
		"CREATE TABLE empty(id INTEGER PRIMARY KEY, x TEXT);"
		"CREATE TABLE no_rowid(k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID;"
		"INSERT INTO no_rowid VALUES ('a', 1);"
		"CREATE TABLE \"o\"\"dd name\"(\"a b\" INTEGER, \"rowid\" TEXT, y INTEGER);"
		"INSERT INTO \"o\"\"dd name\" VALUES (7, 'p', 2024), (70, 'q', 2025), (9, 'r', "
		"2024), (-8, 's', 2025);"
		"CREATE TABLE crew(hire_id INTEGER, guide_id INTEGER, PRIMARY KEY(hire_id, "
		"guide_id)); INSERT INTO crew VALUES (1, 1), (1, 2), (2, 1);"
		"CREATE VIEW w AS SELECT * FROM empty;");
	CLEANUP(json_freep) struct json *changes = mutated(db, 1);

	(void)state;
	assert_null(json_get(changes, "no_rowid"));
	assert_null(json_get(changes, "empty"));
	assert_int_equal(ask(db, "SELECT v FROM no_rowid"), 1);
	assert_non_null(json_get(changes, "o\"dd name"));
	assert_int_equal(ask(db, "SELECT COUNT(*) FROM \"o\"\"dd name\""), 4);
	assert_int_equal(ask(db, "SELECT COUNT(*) FROM \"o\"\"dd name\" WHERE y NOT IN (2024, "
				 "2025)"),
			 0);
	assert_true(ask(db, "SELECT COUNT(*) FROM crew") <= 3);
}

static void test_a_copy_leaves_its_source_alone_and_has_a_limit(void **state)
{
	struct db *db = copy_of(shop), *again = NULL;
	struct json *changes = mutated(db, 1);
	struct err err = {0};
	sqlite3 *source;

	(void)state;
	json_free(changes);
	db_close(db);
	assert_int_equal(sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(source, "SELECT 1 FROM orders WHERE fee <> id * 2 LIMIT 0",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(source);
	assert_int_equal(db_open_copy(from, to, BYTES_MAX, &again, &err), -1); /* is there */
	unlink(to);
	assert_int_equal(db_open_copy(from, to, 4096, &again, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_non_null(strstr(err.text, "more than 4096 bytes"));
	assert_int_equal(access(to, F_OK), -1);
	assert_int_equal(db_open_copy("/nowhere/x.db", to, BYTES_MAX, &again, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(access(to, F_OK), -1);
}

/* ---- wrong by luck ---- */

struct pair {
	const char *wrong;
	const char *right;
};

/* On the shipped rows both give the same. */
static const char lucky[] =
	"CREATE TABLE client(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);"
	"CREATE TABLE hire(id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES "
	"client(id), fee INTEGER NOT NULL, state TEXT, at TEXT NOT NULL);"
	"CREATE TABLE pay(id INTEGER PRIMARY KEY, hire_id INTEGER REFERENCES hire(id), amount "
	"INTEGER NOT NULL);"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) "
	"INSERT INTO client SELECT i, 'Client ' || i, CASE WHEN i % 2 THEN 'Faro' ELSE 'Lisbon' "
	"END FROM n;"
	"INSERT INTO hire SELECT id, id, 100 + id, CASE WHEN id % 3 THEN 'D' ELSE 'L' END, "
	"date('2025-03-02', id || ' days') || ' 00:00:00' FROM client;"
	"INSERT INTO pay SELECT id, id, fee FROM hire;";

static const struct pair pairs[] = {
	/* one payment a hire */
	{"SELECT SUM(h.fee) FROM hire h JOIN pay p ON p.hire_id = h.id",
	 "SELECT SUM(fee) FROM hire"},
	/* every hire is paid */
	{"SELECT COUNT(*) FROM hire", "SELECT COUNT(DISTINCT hire_id) FROM pay"},
	/* paid is what was charged */
	{"SELECT SUM(fee) FROM hire", "SELECT SUM(amount) FROM pay"},
	/* no missing state */
	{"SELECT COUNT(*) FROM hire WHERE state <> 'L'",
	 "SELECT COUNT(*) FROM hire WHERE state IS NOT 'L'"},
	/* every payment is for some hire */
	{"SELECT SUM(amount) FROM pay JOIN hire ON hire.id = hire_id",
	 "SELECT SUM(amount) FROM pay"},
	/* nothing on the last day after midnight */
	{"SELECT COUNT(*) FROM hire WHERE at BETWEEN '2025-03-01' AND '2025-03-31'",
	 "SELECT COUNT(*) FROM hire WHERE at >= '2025-03-01' AND at < '2025-04-01'"},
	/* a payment has the id of its hire */
	{"SELECT SUM(amount) FROM pay p JOIN hire h ON h.id = p.id WHERE h.state = 'L'",
	 "SELECT SUM(amount) FROM pay p JOIN hire h ON h.id = p.hire_id WHERE h.state = 'L'"},
	/* each client hires once */
	{"SELECT COUNT(c.id) FROM client c JOIN hire h ON h.client_id = c.id",
	 "SELECT COUNT(DISTINCT c.id) FROM client c JOIN hire h ON h.client_id = c.id"},
};

static void test_sql_that_is_right_by_luck_is_wrong_on_the_second_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		CLEANUP(db_closep) struct db *db = copy_of(lucky);
		struct json *changes;

		if (ask(db, pairs[i].wrong) != ask(db, pairs[i].right))
			fail_msg("no luck: %s", pairs[i].wrong);
		changes = mutated(db, 1);
		json_free(changes);
		if (ask(db, pairs[i].wrong) == ask(db, pairs[i].right))
			fail_msg("still %lld: %s", (long long)ask(db, pairs[i].right),
				 pairs[i].wrong);
		unlink(from);
		unlink(to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_the_schema_promises_still_holds,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_what_is_only_true_of_the_rows_does_not,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_one_seed_makes_one_state, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_small_and_odd_tables_are_taken_as_they_are,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_a_copy_leaves_its_source_alone_and_has_a_limit,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			test_sql_that_is_right_by_luck_is_wrong_on_the_second_state, make_folder,
			remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
