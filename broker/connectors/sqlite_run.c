/*
 * The row loop. What can fail: the statement (overflow, a value too long), any limit, the file.
 */
#include "broker/connectors/sqlite_run.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_value.h"

#define LIMIT_TOP (1LL << 50) /* above any file; keeps products within 64 bits */

int run_limits_read(const struct json *limits, struct run_limits *ret_limits, struct err *err)
{
	static const char *const keys[] = {"rows", "bytes", "scan_bytes", "time_ms", NULL};
	struct run_limits read = {0};

	if (json_only(limits, keys, err) < 0 ||
	    json_want_int(limits, "rows", 1, 1000000, &read.rows, err) < 0 ||
	    json_want_int(limits, "bytes", 1, LIMIT_TOP, &read.bytes, err) < 0 ||
	    json_want_int(limits, "scan_bytes", 1, LIMIT_TOP, &read.scan_bytes, err) < 0 ||
	    json_want_int(limits, "time_ms", 1, 86400000, &read.time_ms, err) < 0)
		return err_wrap(err, "limits");
	if (read.bytes > RUN_BYTES_MAX)
		read.bytes = RUN_BYTES_MAX;
	*ret_limits = read;
	return 0;
}

struct rows {
	struct json *rows;
	const char **types; /* one per column */
	int column_count;   /* without those that count units */
	int64_t suppressed;
	int64_t large; /* groups that could be shown */
	int64_t bytes;
	struct buf scratch; /* for measuring */
};

static void rows_clear(struct rows *rows)
{
	json_free(rows->rows);
	mem_free(rows->types);
	buf_clear(&rows->scratch);
}

/* The first value that is not null gives the type; a different one makes it "any". */
static void merge_type(const char **type, const char *seen)
{
	if (strcmp(seen, "null") == 0 || strcmp(*type, seen) == 0)
		return;
	if (strcmp(*type, "null") == 0)
		*type = seen;
	else if ((strcmp(*type, "bigint") == 0 && strcmp(seen, "integer") == 0) ||
		 (strcmp(*type, "integer") == 0 && strcmp(seen, "bigint") == 0))
		*type = "bigint"; /* numbers and strings of digits: both integers */
	else
		*type = "any";
}

static int add_row(struct rows *rows, sqlite3_stmt *row, const struct run_limits *limits)
{
	struct json *values = json_array();

	for (int c = 0; c < rows->column_count; c++) {
		const char *type;

		json_push(values, value_json(row, c, limits->text_max, &type));
		merge_type(&rows->types[c], type);
	}
	buf_reset(&rows->scratch);
	json_write(values, &rows->scratch);
	rows->bytes += (int64_t)rows->scratch.len + 1; /* and a comma or bracket */
	json_push(rows->rows, values);
	return rows->bytes > limits->bytes ? -1 : 0;
}

static int refuse_bytes(const struct run_limits *limits, struct refusal *refusal)
{
	if (limits->bytes % (1 << 20) == 0)
		return refusal_set(refusal, BY_LIMIT, "ask for fewer columns or rows",
				   "result over %lld MiB; ask for fewer columns or rows",
				   (long long)(limits->bytes >> 20));
	return refusal_set(refusal, BY_LIMIT, "ask for fewer columns or rows",
			   "result over %lld bytes; ask for fewer columns or rows",
			   (long long)limits->bytes);
}

static bool was_compiled_anew(sqlite3_stmt *compiled)
{
	return sqlite3_stmt_status(compiled, SQLITE_STMTSTATUS_REPREPARE, 1) > 0;
}

/* Does each table shown in groups have units enough in this row? */
static bool is_large_enough(const struct statement *statement, int column_count)
{
	for (size_t g = 0; g < statement->groups.count; g++)
		if (sqlite3_column_int64(statement->compiled, column_count + (int)g) <
		    statement->groups.least[g])
			return false;
	return true;
}

/* May this row be shown? Small groups are counted, then come the statement's OFFSET and LIMIT. */
static bool is_shown(const struct statement *statement, struct rows *rows)
{
	const struct groups *groups = &statement->groups;

	if (groups->count == 0)
		return true;
	if (!is_large_enough(statement, rows->column_count)) {
		rows->suppressed++;
		return false;
	}
	rows->large++;
	return rows->large > groups->offset &&
	       (groups->limit < 0 || rows->large - groups->offset <= groups->limit);
}

/* What the database says of a failed value may hold it. */
static int refuse_step(struct database *database, const struct statement *statement, int rc,
		       struct refusal *refusal)
{
	database_refuse(database, rc, refusal);
	if (statement->groups.count == 0 || strcmp(refusal->by, BY_DATABASE) != 0 ||
	    (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return -1;
	refusal_set(refusal, BY_DATABASE, "use simpler conditions",
		    "the statement failed on a value of a table that is shown in groups only");
	refusal->bytes_scanned = database_scanned(database);
	return -1;
}

static int read_rows(struct database *database, const struct statement *statement,
		     const struct run_limits *limits, struct rows *rows, bool *ret_truncated,
		     struct refusal *refusal)
{
	sqlite3_stmt *compiled = statement->compiled;
	int64_t n = 0;
	int rc;

	while ((rc = sqlite3_step(compiled)) == SQLITE_ROW) {
		if (n == 0 && rows->suppressed == 0 && was_compiled_anew(compiled))
			return RUN_SCHEMA_CHANGED;
		if (!is_shown(statement, rows) || *ret_truncated)
			continue;
		if (n++ == limits->rows) {
			*ret_truncated = true;
			if (statement->groups.count == 0)
				return 0;
			continue; /* all small groups count, so where they stand does not show */
		}
		if (add_row(rows, compiled, limits) < 0) {
			refuse_bytes(limits, refusal);
			refusal->bytes_scanned = database_scanned(database);
			return -1;
		}
	}
	if (was_compiled_anew(compiled) || (rc & 0xff) == SQLITE_SCHEMA ||
	    (rc & 0xff) == SQLITE_AUTH)
		return RUN_SCHEMA_CHANGED;
	return rc == SQLITE_DONE ? 0 : refuse_step(database, statement, rc, refusal);
}

/* The handlers look only now and then: the last word is here. */
static int check_scan(struct database *database, const struct run_limits *limits,
		      struct refusal *refusal)
{
	if (database_scanned(database) <= limits->scan_bytes)
		return 0;
	database->watch.stopped = WATCH_SCAN;
	database->watch.scan_bytes_max = limits->scan_bytes;
	return database_refuse(database, SQLITE_INTERRUPT, refusal);
}

/* Names can hold any byte. */
static struct json *column_name(sqlite3_stmt *compiled, int index)
{
	const char *name = sqlite3_column_name(compiled, index);

	return json_new_str(name ? name : "");
}

static struct json *result_json(const struct statement *statement, struct rows *rows,
				bool truncated)
{
	struct json *result = json_object();
	struct json *columns = json_array();
	struct json *types = json_array();

	for (int c = 0; c < rows->column_count; c++) {
		json_push(columns, column_name(statement->compiled, c));
		json_push_str(types, rows->types[c]);
	}
	json_set_bool(result, "ok", true);
	json_set(result, "columns", columns);
	json_set(result, "types", types);
	json_set_int(result, "row_count", (int64_t)json_len(rows->rows));
	json_set(result, "rows", TAKE(rows->rows));
	json_set_bool(result, "truncated", truncated);
	if (statement->groups.count) {
		json_set_int(result, "suppressed_groups", rows->suppressed);
		json_set_int(result, "min_group", statement->groups.largest);
	}
	return result;
}

int run_statement(struct database *database, const struct statement *statement,
		  const struct run_limits *limits, struct json **ret_result,
		  struct refusal *refusal)
{
	struct rows rows = {.rows = json_array()};
	int64_t start_us = clock_mono_us();
	bool truncated = false;
	int result;

	rows.column_count =
		sqlite3_column_count(statement->compiled) - (int)statement->groups.count;
	rows.types = mem_array((size_t)rows.column_count + 1, sizeof(*rows.types));
	for (int c = 0; c < rows.column_count; c++)
		rows.types[c] = "null";
	was_compiled_anew(statement->compiled); /* back to zero */
	result = read_rows(database, statement, limits, &rows, &truncated, refusal);
	if (result == 0)
		result = check_scan(database, limits, refusal);
	if (result == 0) {
		struct json *json = result_json(statement, &rows, truncated);

		json_set_int(json, "bytes_scanned", database_scanned(database));
		json_set_real(json, "latency_ms", (double)(clock_mono_us() - start_us) / 1000.0);
		*ret_result = json;
	}
	sqlite3_reset(statement->compiled);
	rows_clear(&rows);
	return result;
}
