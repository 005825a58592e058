/*
 * The index is an array of folded values in order; the text's runs of words are looked up in it.
 * What can fail: reading the source (limits, cancel). A limit does not fail the call: the columns
 * that were not read are named.
 */
#include "broker/connectors/sqlite_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "broker/connectors/sqlite_session.h"
#include "broker/connectors/sqlite_text.h"
#include "broker/connectors/sqlite_words.h"

#define CODE_LEN_MAX 2	   /* "IN" and "OR" are states, "in" and "or" are not */
#define NEAR_LEN_MIN 4	   /* shorter words are near too many */
#define NEAR_FAR_LEN_MIN 8 /* two slips from here on */
#define MATCHES_MAX 1000

struct value {
	char *key;   /* folded words, with blanks */
	char *value; /* as stored */
	size_t words;
	size_t table;
	size_t column;
};

struct value_index {
	const struct reach *view;
	int64_t data_version;
	struct value *items; /* ascending by key */
	size_t count;
	struct json *skipped;
};

struct match {
	const struct value *value;
	const char *start; /* of the phrase, in the text */
	size_t len;
	size_t distance;
};

void value_index_free(struct value_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->count; i++) {
		mem_free(index->items[i].key);
		mem_free(index->items[i].value);
	}
	mem_free(index->items);
	json_free(index->skipped);
	mem_free(index);
}

static int compare_values(const void *a, const void *b)
{
	const struct value *left = a, *right = b;
	int order = strcmp(left->key, right->key);

	if (order == 0)
		order = (left->table > right->table) - (left->table < right->table);
	if (order == 0)
		order = (left->column > right->column) - (left->column < right->column);
	return order ? order : strcmp(left->value, right->value);
}

/* Affinity TEXT, or none declared. https://www.sqlite.org/datatype3.html 3.1 */
static bool may_hold_text(const char *type)
{
	static const char *const parts[] = {"%char%", "%clob%", "%text%", "%string%", "%enum%"};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (sqlite3_strlike(parts[i], type, 0) == 0)
			return true;
	return type[0] == '\0';
}

/* 2026-07-01, with or without a time: periods are not values. */
static bool is_date(const char *text, size_t len)
{
	static const char form[] = "dddd-dd-dd";

	if (len < sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
	return true;
}

static void add_value(struct value_index *index, size_t table, size_t column, const char *text,
		      size_t len)
{
	struct words words;

	if (len == 0 || len > VALUE_BYTES_MAX || is_date(text, len) || memchr(text, 0, len) ||
	    !utf8_valid(text, len))
		return;
	words_split(&words, text, VALUE_WORDS_MAX);
	if (words.count > 0 && words.count <= VALUE_WORDS_MAX) {
		index->items = mem_grow(index->items, (index->count + 1) * sizeof(*index->items));
		index->items[index->count++] =
			(struct value){words_join(&words, 0, words.count), mem_strn(text, len),
				       words.count, table, column};
	}
	words_clear(&words);
}

static char *distinct_sql(const struct catalog_table *table, size_t column)
{
	struct buf sql = BUF_INIT;

	buf_add_str(&sql, "SELECT DISTINCT ");
	sql_name(table->columns[column].name, &sql);
	buf_add_str(&sql, " FROM ");
	sql_name(table->name, &sql);
	buf_add_str(&sql, " WHERE typeof(");
	sql_name(table->columns[column].name, &sql);
	buf_addf(&sql, ") = 'text' LIMIT %d", VALUES_PER_COLUMN_MAX + 1);
	return buf_take(&sql);
}

static void drop_from(struct value_index *index, size_t count)
{
	while (index->count > count) {
		index->count--;
		mem_free(index->items[index->count].key);
		mem_free(index->items[index->count].value);
	}
}

/* 1: read; 0: too many values; -1: refused. */
static int read_column(struct session *session, struct view *view, struct value_index *index,
		       size_t table, size_t column, struct refusal *refusal)
{
	CLEANUP(mem_freep)
	char *sql = distinct_sql(&view->reach->catalog->tables[table], column);
	CLEANUP(statement_freep) struct statement *statement = NULL;
	size_t count_before = index->count;
	int64_t distinct = 0;
	int rc;

	if (statement_prepare(&session->database, view->reach, &view->shadow, sql, &statement, NULL,
			      refusal) < 0)
		return -1;
	while ((rc = sqlite3_step(statement->compiled)) == SQLITE_ROW) {
		if (++distinct > VALUES_PER_COLUMN_MAX || index->count >= VALUES_MAX) {
			drop_from(index, count_before);
			return 0;
		}
		add_value(index, table, column,
			  (const char *)sqlite3_column_text(statement->compiled, 0),
			  (size_t)sqlite3_column_bytes(statement->compiled, 0));
	}
	if (rc == SQLITE_DONE)
		return 1;
	drop_from(index, count_before);
	return database_refuse(&session->database, rc, refusal);
}

static void skip_column(struct value_index *index, size_t table, size_t column)
{
	CLEANUP(mem_freep)
	char *name = mem_format("%s.%s", reach_table_name(index->view, table),
				reach_column_name(index->view, table, column));

	json_push_str(index->skipped, name);
}

/* Masked values are nobody's words, and a table shown in groups shows no value of one row. */
static bool is_kept_back(const struct reach *view, size_t table, size_t column)
{
	const struct restriction *restriction = reach_restriction(view, table);

	return restriction &&
	       (restriction->min_group || reach_mask(view, table, column) != MASK_NONE);
}

static int fill(struct session *session, struct view *view, struct value_index *index,
		struct refusal *refusal)
{
	const struct catalog *catalog = view->reach->catalog;
	bool full = false;

	for (size_t t = 0; t < catalog->table_count; t++) {
		for (size_t c = 0; c < catalog->tables[t].column_count; c++) {
			int read;

			if (!reach_has_column(view->reach, t, c) ||
			    !may_hold_text(catalog->tables[t].columns[c].type) ||
			    is_kept_back(view->reach, t, c))
				continue;
			read = full ? 0 : read_column(session, view, index, t, c, refusal);
			if (read < 0 && (strcmp(refusal->by, BY_CANCELED) == 0 ||
					 strcmp(refusal->by, BY_UNAVAILABLE) == 0))
				return -1;
			if (read <= 0)
				skip_column(index, t, c);
			if (session->database.watch.stopped != WATCH_RUNNING)
				full = true; /* the call's time or scan is used up */
		}
	}
	if (index->count)
		qsort(index->items, index->count, sizeof(*index->items), compare_values);
	return 0;
}

static int read_data_version(struct database *database, int64_t *ret_version,
			     struct refusal *refusal)
{
	sqlite3_stmt *row = NULL;
	int rc;

	guard_internal(&database->guard);
	rc = sqlite3_prepare_v2(database->sqlite, "PRAGMA main.data_version", -1, &row, NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW)
		*ret_version = sqlite3_column_int64(row, 0);
	guard_close(&database->guard);
	if (rc != SQLITE_ROW)
		database_refuse(database, rc, refusal);
	sqlite3_finalize(row);
	return rc == SQLITE_ROW ? 0 : -1;
}

int value_index_refresh(struct session *session, struct view *view, const struct run_limits *limits,
			struct refusal *refusal)
{
	struct value_index *index;
	int64_t version = 0;

	if (read_data_version(&session->database, &version, refusal) < 0)
		return -1;
	if (view->values && view->values->data_version == version)
		return 0;
	index = mem_alloc(sizeof(*index));
	index->view = view->reach;
	index->data_version = version;
	index->skipped = json_array();
	session->database.watch.scan_bytes_max = limits->scan_bytes;
	if (fill(session, view, index, refusal) < 0) {
		value_index_free(index);
		return -1;
	}
	value_index_free(view->values);
	view->values = index;
	return 0;
}

struct matches {
	struct match *items;
	size_t count;
};

static void add_match(struct matches *matches, const struct value *value, const struct words *words,
		      size_t from, size_t count, size_t distance)
{
	const struct word *first = &words->items[from];
	const struct word *last = &words->items[from + count - 1];

	if (matches->count >= MATCHES_MAX)
		return;
	matches->items = mem_grow(matches->items, (matches->count + 1) * sizeof(*matches->items));
	matches->items[matches->count++] = (struct match){
		value, first->start, (size_t)(last->start + last->len - first->start), distance};
}

/* A code of one or two letters must stand there exactly as it is stored. */
static bool is_meant(const struct value *value, const struct word *word)
{
	if (value->words > 1 || word->len > CODE_LEN_MAX)
		return true;
	return strlen(value->value) == word->len &&
	       memcmp(value->value, word->start, word->len) == 0;
}

static size_t first_with_key(const struct value_index *index, const char *key)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(index->items[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_exact(const struct value_index *index, const struct words *words,
		       struct matches *matches)
{
	for (size_t from = 0; from < words->count; from++) {
		for (size_t n = 1; n <= VALUE_WORDS_MAX && from + n <= words->count; n++) {
			CLEANUP(mem_freep) char *key = words_join(words, from, n);

			for (size_t i = first_with_key(index, key);
			     i < index->count && strcmp(index->items[i].key, key) == 0; i++)
				if (is_meant(&index->items[i], &words->items[from]))
					add_match(matches, &index->items[i], words, from, n, 0);
		}
	}
}

static void find_near_value(const struct value *value, const struct words *words,
			    struct matches *matches)
{
	size_t len = strlen(value->key);
	size_t far = len >= NEAR_FAR_LEN_MIN ? 2 : 1;

	if (len < NEAR_LEN_MIN)
		return;
	for (size_t from = 0; from + value->words <= words->count; from++) {
		CLEANUP(mem_freep) char *key = words_join(words, from, value->words);
		size_t distance = words_distance(value->key, key, far);

		if (strlen(key) >= NEAR_LEN_MIN && distance <= far)
			add_match(matches, value, words, from, value->words, distance);
	}
}

static int find_near(const struct value_index *index, struct database *database,
		     const struct words *words, struct matches *matches, struct refusal *refusal)
{
	for (size_t i = 0; i < index->count; i++) {
		if (i % 256 == 0 && clock_mono_us() >= database->watch.deadline_us) {
			database->watch.stopped = WATCH_TIME;
			return database_refuse(database, SQLITE_INTERRUPT, refusal);
		}
		find_near_value(&index->items[i], words, matches);
	}
	return 0;
}

/* "Set" inside of "Training Set" says nothing of its own, in the same column. */
static bool is_inside(const struct matches *matches, const struct match *match)
{
	for (size_t i = 0; i < matches->count; i++) {
		const struct match *other = &matches->items[i];

		if (other->len > match->len && other->value->table == match->value->table &&
		    other->value->column == match->value->column && other->start <= match->start &&
		    match->start + match->len <= other->start + other->len)
			return true;
	}
	return false;
}

static int compare_matches(const void *a, const void *b)
{
	const struct match *left = a, *right = b;

	if (left->distance != right->distance)
		return left->distance < right->distance ? -1 : 1;
	if (left->len != right->len)
		return left->len > right->len ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return compare_values(left->value, right->value);
}

static struct json *match_json(const struct value_index *index, const struct match *match)
{
	struct json *json = json_object();

	json_set_str(json, "table", reach_table_name(index->view, match->value->table));
	json_set_str(json, "column",
		     reach_column_name(index->view, match->value->table, match->value->column));
	json_set_str(json, "value", match->value->value);
	json_set(json, "phrase", json_new_strn(match->start, match->len));
	json_set_bool(json, "exact", match->distance == 0);
	return json;
}

static struct json *matches_json(const struct value_index *index, struct matches *matches,
				 int64_t limit)
{
	struct json *array = json_array();

	if (matches->count)
		qsort(matches->items, matches->count, sizeof(*matches->items), compare_matches);
	for (size_t i = 0; i < matches->count && (int64_t)json_len(array) < limit; i++)
		if (!is_inside(matches, &matches->items[i]))
			json_push(array, match_json(index, &matches->items[i]));
	return array;
}

int value_index_search(const struct value_index *index, struct database *database, const char *text,
		       int64_t limit, struct json **ret_result, struct refusal *refusal)
{
	struct matches matches = {0};
	struct words words;
	int result = 0;

	words_split(&words, text, PHRASE_WORDS_MAX);
	find_exact(index, &words, &matches);
	if (matches.count == 0)
		result = find_near(index, database, &words, &matches, refusal);
	if (result == 0) {
		struct json *json = json_object();

		json_set_bool(json, "ok", true);
		json_set(json, "matches", matches_json(index, &matches, limit));
		json_set(json, "skipped", json_copy(index->skipped));
		*ret_result = json;
	}
	mem_free(matches.items);
	words_clear(&words);
	return result;
}
