/*
 * Names are split where people would: at _ and other marks, at lower-to-upper case, at digits; the
 * index stems words, so plurals meet singulars. It lives in memory of its own and never sees a row.
 */
#include "broker/connectors/sqlite_search.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define SEARCH_WORDS_MAX 64 /* of the text; the rest is ignored */
#define PREFIX_LEN_MIN 3    /* "reg" finds region, "in" does not find everything */

struct name_index {
	sqlite3 *sqlite;
	sqlite3_stmt *search;
};

static int index_error(struct name_index *index, struct err *err)
{
	return err_set(err, ERR_INTERNAL, "search index: %s", sqlite3_errmsg(index->sqlite));
}

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static void add_words(struct buf *words, const char *name)
{
	char before = ' ';

	for (; *name; name++) {
		bool upper = *name >= 'A' && *name <= 'Z';
		bool digit = *name >= '0' && *name <= '9';
		bool after_digit = before >= '0' && before <= '9';

		if (!is_alnum(*name)) {
			buf_add_char(words, ' ');
		} else {
			if ((upper && before >= 'a' && before <= 'z') ||
			    (is_alnum(before) && digit != after_digit) ||
			    (upper && before >= 'A' && before <= 'Z' && name[1] >= 'a' &&
			     name[1] <= 'z'))
				buf_add_char(words, ' ');
			buf_add_char(words, *name);
		}
		before = *name;
	}
	buf_add_char(words, ' ');
}

static int add_name(sqlite3_stmt *insert, const char *table, const char *column, const char *type)
{
	struct buf words = BUF_INIT;
	int rc;

	add_words(&words, table);
	if (column)
		add_words(&words, column);
	sqlite3_reset(insert);
	sqlite3_bind_text(insert, 1, buf_str(&words), -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(insert, 2, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, column, -1, SQLITE_STATIC); /* NULL binds NULL */
	sqlite3_bind_text(insert, 4, type, -1, SQLITE_STATIC);
	rc = sqlite3_step(insert);
	buf_clear(&words);
	return rc;
}

static int fill(struct name_index *index, const struct reach *view, struct err *err)
{
	static const char sql[] =
		"INSERT INTO names (words, tbl, col, type) VALUES (?1, ?2, ?3, ?4)";
	sqlite3_stmt *insert = NULL;
	int rc = sqlite3_prepare_v2(index->sqlite, sql, -1, &insert, NULL);

	if (rc == SQLITE_OK)
		rc = SQLITE_DONE;
	for (size_t t = 0; rc == SQLITE_DONE && t < view->catalog->table_count; t++) {
		const struct catalog_table *table = &view->catalog->tables[t];
		const char *name = reach_table_name(view, t);

		if (!view->tables[t].in)
			continue;
		rc = add_name(insert, name, NULL, table->is_view ? "view" : "table");
		for (size_t c = 0; rc == SQLITE_DONE && c < table->column_count; c++)
			if (reach_has_column(view, t, c))
				rc = add_name(insert, name, reach_column_name(view, t, c),
					      table->columns[c].type);
	}
	sqlite3_finalize(insert);
	return rc == SQLITE_DONE ? 0 : index_error(index, err);
}

int name_index_open(const struct reach *view, struct name_index **ret_index, struct err *err)
{
	static const char setup[] =
		"PRAGMA temp_store = MEMORY;"
		"CREATE VIRTUAL TABLE names USING fts5(words, tbl UNINDEXED, col UNINDEXED,"
		" type UNINDEXED, tokenize = 'porter unicode61');"
		"BEGIN;";
	static const char search[] =
		"SELECT tbl, col, type, bm25(names) FROM names"
		" WHERE names MATCH ?1 ORDER BY bm25(names), tbl, col LIMIT ?2";
	struct name_index *index = mem_alloc(sizeof(*index));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE;
	int result = 0;

	if (sqlite3_open_v2(":memory:", &index->sqlite, flags, NULL) != SQLITE_OK ||
	    sqlite3_exec(index->sqlite, setup, NULL, NULL, NULL) != SQLITE_OK)
		result = index_error(index, err);
	if (result == 0)
		result = fill(index, view, err);
	if (result == 0 &&
	    (sqlite3_exec(index->sqlite, "COMMIT", NULL, NULL, NULL) != SQLITE_OK ||
	     sqlite3_prepare_v2(index->sqlite, search, -1, &index->search, NULL) != SQLITE_OK))
		result = index_error(index, err);
	if (result < 0)
		name_index_close(index);
	else
		*ret_index = index;
	return result;
}

void name_index_close(struct name_index *index)
{
	if (!index)
		return;
	sqlite3_finalize(index->search);
	sqlite3_close_v2(index->sqlite);
	mem_free(index);
}

/* Each word in quotes, so nothing of the text is an operator of the query language. */
static size_t add_query(struct buf *query, const char *text)
{
	struct buf words = BUF_INIT;
	size_t count = 0;
	char *save = NULL;

	add_words(&words, text);
	for (char *word = strtok_r(words.bytes, " ", &save); word && count < SEARCH_WORDS_MAX;
	     word = strtok_r(NULL, " ", &save), count++) {
		buf_add_str(query, count ? " OR " : "");
		buf_addf(query, "\"%s\"", word);
		if (strlen(word) >= PREFIX_LEN_MIN)
			buf_addf(query, " OR \"%s\"*", word);
	}
	buf_clear(&words);
	return count;
}

static void push_text(struct json *match, const char *key, sqlite3_stmt *row, int index)
{
	const unsigned char *text = sqlite3_column_text(row, index);

	if (text)
		json_set_str(match, key, (const char *)text);
	else
		json_set_null(match, key);
}

int name_index_search(struct name_index *index, const char *text, int64_t limit,
		      struct json **ret_matches, struct err *err)
{
	CLEANUP(json_freep) struct json *matches = json_array();
	struct buf query = BUF_INIT;
	int rc = SQLITE_DONE;

	if (add_query(&query, text) > 0) {
		sqlite3_bind_text(index->search, 1, buf_str(&query), -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(index->search, 2, limit);
		while ((rc = sqlite3_step(index->search)) == SQLITE_ROW) {
			struct json *match = json_object();
			double score = -sqlite3_column_double(index->search, 3);

			push_text(match, "table", index->search, 0);
			push_text(match, "column", index->search, 1);
			push_text(match, "type", index->search, 2);
			json_set_real(match, "score", round(score * 1e6) / 1e6);
			json_push(matches, match);
		}
		sqlite3_reset(index->search);
	}
	buf_clear(&query);
	if (rc != SQLITE_DONE)
		return index_error(index, err);
	*ret_matches = TAKE(matches);
	return 0;
}
