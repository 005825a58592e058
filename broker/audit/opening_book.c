/* Looking openings up. What can fail: opening the database; a row that cannot be read is as good as
 * none. */
#include "broker/audit/opening_book.h"

#include <string.h>

#include "base/db.h"
#include "broker/audit/disclosure.h"
#include "writ/record.h"

struct opening_book {
	struct db *db;
};

int opening_book_open(const char *path, struct opening_book **ret_book, struct err *err)
{
	struct db *db = NULL;

	if (db_open_read(path, &db, err) < 0)
		return -1;
	*ret_book = mem_alloc(sizeof(**ret_book));
	(*ret_book)->db = db;
	return 0;
}

void opening_book_close(struct opening_book *book)
{
	if (book == NULL)
		return;
	db_close(book->db);
	mem_free(book);
}

char *opening_book_get(struct opening_book *book, uint64_t seq, const char *name)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (book == NULL ||
	    db_query(book->db, "SELECT disclosure FROM opening WHERE seq = ? AND name = ?", &stmt,
		     NULL) < 0)
		return NULL;
	db_bind_int(stmt, 1, (int64_t)seq);
	db_bind_str(stmt, 2, name);
	return db_step(stmt, NULL) > 0 ? mem_str(db_str(stmt, 0)) : NULL;
}

static bool is_committed(const struct json *record, const char *disclosure)
{
	char digest[DISCLOSURE_DIGEST_LEN + 1];

	disclosure_digest(disclosure, strlen(disclosure), digest);
	json_each(item, json_get(record, REC_COMMITS))
	{
		if (json_str(item) != NULL && strcmp(json_str(item), digest) == 0)
			return true;
	}
	return false;
}

struct json *opening_book_value(struct opening_book *book, uint64_t seq, const struct json *record,
				const char *name)
{
	CLEANUP(mem_freep) char *text = NULL;
	CLEANUP(disclosure_clear) struct disclosure opened = {.array = NULL};

	if (json_get(record, REC_COMMITS) == NULL)
		return NULL;
	text = opening_book_get(book, seq, name);
	if (text == NULL || !is_committed(record, text) ||
	    disclosure_open(text, strlen(text), &opened, NULL) < 0 || opened.name == NULL ||
	    strcmp(opened.name, name) != 0)
		return NULL;
	return json_copy(opened.value);
}

void opening_book_each(struct opening_book *book, uint64_t seq,
		       void (*each)(void *data, const char *name, const char *disclosure),
		       void *data)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (book == NULL ||
	    db_query(book->db, "SELECT name, disclosure FROM opening WHERE seq = ? ORDER BY name",
		     &stmt, NULL) < 0)
		return;
	db_bind_int(stmt, 1, (int64_t)seq);
	while (db_step(stmt, NULL) > 0)
		each(data, db_str(stmt, 0), db_str(stmt, 1));
}
