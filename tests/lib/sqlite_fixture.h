/* A database of one's own in a fresh folder, and a worker's session on it, without processes. */
#ifndef TESTS_LIB_SQLITE_FIXTURE_H
#define TESTS_LIB_SQLITE_FIXTURE_H

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

#include "base/mem.h"
#include "broker/connectors/sqlite_session.h"

/* customers shows two of its columns, orders and items all, payroll nothing. */
#define SHOP_SQL                                                                                   \
	"CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT," \
	" note TEXT);"                                                                             \
	"CREATE TABLE orders(order_id INTEGER PRIMARY KEY,"                                        \
	" customer_id INTEGER NOT NULL REFERENCES customers, note TEXT, \"update\" TEXT);"         \
	"CREATE TABLE items(order_id INTEGER REFERENCES orders(order_id), line INTEGER,"           \
	" sku TEXT NOT NULL UNIQUE, PRIMARY KEY(order_id, line)) WITHOUT ROWID;"                   \
	"CREATE TABLE logs(at TEXT, text TEXT);"                                                   \
	"CREATE TABLE payroll(name TEXT, salary INTEGER);"                                         \
	"CREATE TABLE secrets(customer_id INTEGER, word TEXT);"                                    \
	"CREATE VIEW order_lines AS SELECT o.order_id, i.sku FROM orders o JOIN items i"           \
	" ON i.order_id = o.order_id;"                                                             \
	"CREATE VIEW pay_view AS SELECT count(*) AS n FROM payroll;"                               \
	"CREATE VIEW word_view AS SELECT o.order_id FROM orders o JOIN secrets s"                  \
	" USING (customer_id);"                                                                    \
	"INSERT INTO customers VALUES (1,'Ada','East','vip'),(2,'Bo','West',NULL),(3,'Cy',NULL,"   \
	"'x');"                                                                                    \
	"INSERT INTO orders VALUES (10,1,'a;b','u1'),(11,1,'DROP','u2'),(12,2,NULL,'u3');"         \
	"INSERT INTO items VALUES (10,1,'W-1'),(10,2,'W-2'),(12,1,'G-1');"                         \
	"INSERT INTO logs VALUES ('2026-01-01','training set done');"                              \
	"INSERT INTO payroll VALUES ('A',100),('B',200);"                                          \
	"INSERT INTO secrets VALUES (1,'hush');"

#define SHOP_VIEW                                                                                  \
	"{\"database\":\"shop\",\"tables\":{\"customers\":[\"customer_id\",\"region\"],"           \
	"\"orders\":\"all\",\"items\":\"all\",\"logs\":\"all\",\"order_lines\":\"all\","           \
	"\"pay_view\":\"all\",\"word_view\":\"all\"},"                                             \
	"\"functions\":[\"count\",\"sum\",\"like\",\"json_each\"],"                                \
	"\"except\":{\"payroll\":\"all\"}}"

#define LIMITS "{\"rows\":100,\"bytes\":1048576,\"scan_bytes\":268435456,\"time_ms\":5000}"

struct fixture {
	char folder[64];
	char path[96];
	struct session session;
	const char *view;
};

static inline void fixture_exec(const char *path, const char *sql)
{
	sqlite3 *sqlite = NULL;
	char *text = NULL;

	assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
	sqlite3_busy_timeout(sqlite, 10000); /* a worker may just be reading */
	if (sqlite3_exec(sqlite, sql, NULL, NULL, &text) != SQLITE_OK)
		fail_msg("%s", text);
	sqlite3_close(sqlite);
}

static inline void fixture_folder(struct fixture *fixture)
{
	*fixture = (struct fixture){.view = SHOP_VIEW};
	strcpy(fixture->folder, "/tmp/writ-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/shop.db", fixture->folder);
}

static inline void fixture_open(struct fixture *fixture, const char *sql)
{
	fixture_folder(fixture);
	fixture_exec(fixture->path, sql);
	session_init(&fixture->session, fixture->path);
}

static inline void fixture_close(struct fixture *fixture)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	session_clear(&fixture->session);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s%s", fixture->path, suffixes[i]);
		unlink(name);
	}
	rmdir(fixture->folder);
}

static inline struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static inline struct json *fixture_prepare(struct fixture *fixture, const char *sql)
{
	struct json *params = json_object();
	struct json *result;

	json_set(params, "view", parse(fixture->view));
	json_set_str(params, "sql", sql);
	json_set_int(params, "time_ms", 5000);
	result = session_call(&fixture->session, "prepare", params);
	json_free(params);
	return result;
}

/* Prepares, then executes with exactly what prepare reported; the first refusal comes back. */
static inline struct json *fixture_execute(struct fixture *fixture, const char *sql,
					   const char *mode, const char *limits)
{
	struct json *allow = fixture_prepare(fixture, sql);
	struct json *params, *result;

	if (!json_get_bool(allow, "ok", false))
		return allow;
	json_remove(allow, "ok");
	params = json_object();
	json_set(params, "view", parse(fixture->view));
	json_set_str(params, "sql", sql);
	json_set_str(params, "mode", mode);
	json_set(params, "allow", allow);
	json_set(params, "limits", parse(limits));
	result = session_call(&fixture->session, "execute", params);
	json_free(params);
	return result;
}

static inline struct json *fixture_run(struct fixture *fixture, const char *sql)
{
	return fixture_execute(fixture, sql, "run", LIMITS);
}

static inline struct json *fixture_tool(struct fixture *fixture, const char *tool,
					const char *arguments)
{
	struct json *params = json_object();
	struct json *result;

	json_set(params, "view", parse(fixture->view));
	json_set_str(params, "tool", tool);
	json_set(params, "arguments", parse(arguments));
	json_set(params, "limits", parse(LIMITS));
	result = session_call(&fixture->session, "tool", params);
	json_free(params);
	return result;
}

static inline char *text_of(const struct json *json)
{
	struct buf text = BUF_INIT;

	json_write(json, &text);
	return buf_take(&text);
}

/* member of result, as JSON text, equals wanted; frees result when member is NULL-free. */
static inline void assert_member(const struct json *result, const char *member, const char *wanted)
{
	CLEANUP(mem_freep) char *whole = text_of(result);
	CLEANUP(mem_freep) char *text = text_of(json_get(result, member));

	if (strcmp(text, wanted) != 0)
		fail_msg("%s is %s, not %s, in %s", member, text, wanted, whole);
}

static inline void assert_refused(struct json *result, const char *by, const char *error)
{
	CLEANUP(mem_freep) char *whole = text_of(result);
	const char *text = json_get_str(result, "error");

	if (json_get_bool(result, "ok", true) || !text || strcmp(text, error) != 0 ||
	    strcmp(json_get_str(result, "rejected_by"), by) != 0)
		fail_msg("wanted %s: %s\ngot %s", by, error, whole);
	json_free(result);
}

static inline void assert_rows(struct json *result, const char *rows)
{
	assert_member(result, "rows", rows);
	json_free(result);
}

#endif
