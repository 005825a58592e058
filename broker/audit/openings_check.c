/* A merge of two ordered streams, records and rows. What can fail: the database. */
#include "broker/audit/openings_check.h"

#include <string.h>

#include "base/db.h"
#include "base/json.h"
#include "broker/audit/disclosure.h"
#include "writ/limits.h"
#include "writ/record.h"

#define CM_MARK "\"" REC_COMMITS "\":[\""
#define CM_MARK_LEN (sizeof(CM_MARK) - 1)
#define STEP (DISCLOSURE_DIGEST_LEN + 3) /* digest, quotes, comma */

struct redaction {
	uint64_t of;
	char *name; /* owned */
};

struct openings_check {
	struct db *db; /* NULL without one */
	struct db_stmt *rows;
	bool has_row;
	struct err err;
	struct openings_report report;
	struct redaction *redactions; /* owned; by record and name in the end */
	size_t redaction_count;
};

static void next_row(struct openings_check *check)
{
	int got = check->err.kind != ERR_NONE ? 0 : db_step(check->rows, &check->err);

	check->has_row = got > 0;
}

int openings_check_new(const char *path, struct openings_check **ret_check, struct err *err)
{
	struct openings_check *check = mem_alloc(sizeof(*check));
	struct err why;

	if (db_open_read(path, &check->db, &why) == 0) {
		check->report.there = true;
		if (db_query(check->db,
			     "SELECT seq, name, disclosure FROM opening ORDER BY seq, name",
			     &check->rows, &why) < 0) {
			openings_check_free(check);
			return err_set(err, why.kind, "%s: %s", path, why.text);
		}
		next_row(check);
	} else if (why.kind != ERR_NOT_FOUND) {
		openings_check_free(check);
		return err_set(err, why.kind, "%s", why.text);
	}
	*ret_check = check;
	return 0;
}

void openings_check_free(struct openings_check *check)
{
	if (check == NULL)
		return;
	for (size_t i = 0; i < check->redaction_count; i++)
		mem_free(check->redactions[i].name);
	mem_free(check->redactions);
	db_done(check->rows);
	db_close(check->db);
	mem_free(check);
}

/* The digests of a record in its canonical form: the place of the first, and their number. */
static size_t find_digests(const char *entry, size_t len, const char **ret_first)
{
	const char *mark = memmem(entry, len, CM_MARK, CM_MARK_LEN);
	const char *end;

	if (mark == NULL)
		return 0;
	*ret_first = mark + CM_MARK_LEN;
	end = memchr(*ret_first, ']', (size_t)(entry + len - *ret_first));
	return end == NULL ? 0 : (size_t)(end - *ret_first + 2) / STEP;
}

static bool is_among(const char *digest, const char *first, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(first + i * STEP, digest, DISCLOSURE_DIGEST_LEN) == 0)
			return true;
	return false;
}

static void check_rows(struct openings_check *check, uint64_t seq, const char *first, size_t count)
{
	while (check->has_row && (uint64_t)db_int(check->rows, 0) <= seq) {
		const char *text = db_str(check->rows, 2);
		char digest[DISCLOSURE_DIGEST_LEN + 1];

		/* Rows of records that are not read say nothing. */
		if ((uint64_t)db_int(check->rows, 0) < seq || text == NULL) {
			next_row(check);
			continue;
		}
		disclosure_digest(text, strlen(text), digest);
		if (is_among(digest, first, count))
			check->report.present++;
		else if (check->report.wrong++ == 0)
			check->report.wrong_record = seq;
		next_row(check);
	}
}

static void note_redaction(struct openings_check *check, const char *entry, size_t len)
{
	static const char mark[] = "\"ev\":\"" EV_REDACT "\"";
	CLEANUP(json_freep) struct json *record = NULL;
	const char *name;
	int64_t of;

	if (memmem(entry, len, mark, sizeof(mark) - 1) == NULL ||
	    json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	name = json_get_str(record, REC_NAME);
	of = json_get_int(record, REC_OF, -1);
	if (name == NULL || of < 0)
		return;
	for (size_t i = 0; i < check->redaction_count; i++)
		if (check->redactions[i].of == (uint64_t)of &&
		    strcmp(check->redactions[i].name, name) == 0)
			return; /* said twice, erased once */
	if (check->redaction_count % 64 == 0)
		check->redactions = mem_grow(check->redactions, (check->redaction_count + 64) *
									sizeof(struct redaction));
	check->redactions[check->redaction_count++] =
		(struct redaction){(uint64_t)of, mem_str(name)};
}

void openings_check_record(struct openings_check *check, uint64_t seq, const char *entry,
			   size_t len)
{
	const char *first = NULL;
	size_t count = find_digests(entry, len, &first);

	check->report.commitments += count;
	if (check->rows != NULL)
		check_rows(check, seq, first, count);
	note_redaction(check, entry, len);
}

static int still_there(struct openings_check *check, const struct redaction *redaction,
		       struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(check->db, "SELECT 1 FROM opening WHERE seq = ? AND name = ?", &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, (int64_t)redaction->of);
	db_bind_str(stmt, 2, redaction->name);
	return db_step(stmt, err);
}

int openings_check_end(struct openings_check *check, struct openings_report *ret_report,
		       struct err *err)
{
	struct openings_report *report = &check->report;

	if (check->err.kind != ERR_NONE)
		return err_set(err, check->err.kind, "openings.db: %s", check->err.text);
	for (size_t i = 0; i < check->redaction_count; i++) {
		int there = check->db == NULL ? 0 : still_there(check, &check->redactions[i], err);

		if (there < 0)
			return -1;
		report->undone += there > 0;
		report->redacted += there == 0;
	}
	report->missing = report->commitments - report->present;
	if (report->redacted > report->missing)
		report->redacted = report->missing; /* of records that are not there any more */
	report->missing -= report->redacted;
	*ret_report = *report;
	return 0;
}
