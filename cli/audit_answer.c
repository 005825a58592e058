/*
 * Comparing an answer with its openings, and the openings with the record. Values are compared in
 * their canonical form, so 420 and 420.0 are one number whatever tool rewrote the file in between.
 * What can fail: a file that is no answer; everything else is a finding.
 */
#include "cli/audit_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/audit/disclosure.h"
#include "writ/record.h"

#define ANSWER_BYTES_MAX (32u << 20)

static const char *const state_names[] = {"absent", "matches", "differs", "unproven"};

const char *answer_state_name(enum answer_state state)
{
	return state_names[state];
}

static void set_failed(struct answer_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_failed(struct answer_check *check, const char *format, ...)
{
	va_list args;

	if (check->failed)
		return;
	check->failed = true;
	va_start(args, format);
	vsnprintf(check->why, sizeof(check->why), format, args);
	va_end(args);
}

int answer_check_init(struct answer_check *check, const char *bytes, size_t len, struct err *err)
{
	static const char *const names[ANSWER_FIELDS][2] = {{CM_QUESTION, "question_text"},
							    {CM_SQL, "sql"},
							    {CM_RESULT, "rows"},
							    {CM_ANSWER, "answer"}};
	const struct json *audit = NULL;

	memset(check, 0, sizeof(*check));
	for (size_t i = 0; i < ANSWER_FIELDS; i++) {
		check->fields[i].name = names[i][0];
		check->fields[i].member = names[i][1];
	}
	if (json_parse(bytes, len, ANSWER_BYTES_MAX, &check->answer, err) < 0 ||
	    json_want_str(check->answer, "task", &check->task, err) < 0 ||
	    json_want_object(check->answer, "audit", &audit, err) < 0) {
		answer_check_clear(check);
		return err_wrap(err, "no answer of `writ ask --json`");
	}
	check->records_listed = json_len(json_get(audit, "records"));
	return 0;
}

void answer_check_clear(struct answer_check *check)
{
	json_freep(&check->answer);
	json_freep(&check->close);
	check->answer = NULL;
	check->close = NULL;
}

const char *answer_checkpoint(const struct answer_check *check)
{
	return json_get_str(json_get(check->answer, "audit"), "checkpoint");
}

static bool is_listed(const struct answer_check *check, uint64_t seq)
{
	json_each(item, json_get(json_get(check->answer, "audit"),
				 "records")) if (json_type(item) == JSON_INT &&
						 (uint64_t)json_int(item) == seq) return true;
	return false;
}

static bool says(const struct json *record, const char *key, const char *value)
{
	const char *text = json_get_str(record, key);

	return text != NULL && strcmp(text, value) == 0;
}

void answer_check_record(struct answer_check *check, uint64_t seq, const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;
	bool listed = is_listed(check, seq);

	/* Parsing all of a large log would take longer than verifying it. */
	if (!listed && memmem(entry, len, EV_TASK_CLOSE, strlen(EV_TASK_CLOSE)) == NULL)
		return;
	if (json_parse(entry, len, len, &record, NULL) < 0)
		return;
	if (listed && !says(record, REC_TASK, check->task))
		set_failed(check, "record %llu, which the answer lists, is not of task %s",
			   (unsigned long long)seq, check->task);
	check->records_seen += listed;
	if (says(record, REC_EVENT, EV_TASK_CLOSE) && says(record, REC_TASK, check->task) &&
	    check->close == NULL) {
		check->close = TAKE(record);
		check->close_seq = seq;
	}
}

/* The committed form of a field, from the answer: NULL when the answer does not have it. */
static struct json *said(const struct answer_check *check, const struct answer_field *field)
{
	static const char *const members[] = {"columns", "row_count", "rows", "truncated", "types"};
	struct json *result;

	if (json_is_null(json_get(check->answer, field->member)))
		return NULL;
	if (strcmp(field->name, CM_RESULT) != 0)
		return json_copy(json_get(check->answer, field->member));
	result = json_object();
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_get(check->answer, members[i]) != NULL)
			json_set(result, members[i],
				 json_copy(json_get(check->answer, members[i])));
	return result;
}

static void canonical(const struct json *json, struct buf *out)
{
	if (json == NULL)
		buf_add_str(out, "nothing");
	else
		json_write_canonical(json, out);
}

static bool same(const struct json *a, const struct json *b)
{
	CLEANUP(buf_clear) struct buf left = BUF_INIT;
	CLEANUP(buf_clear) struct buf right = BUF_INIT;

	canonical(a, &left);
	canonical(b, &right);
	return left.len == right.len && memcmp(left.bytes, right.bytes, left.len) == 0;
}

/* The place of the first difference, "rows[0][1]", and the two values there. */
static void find_difference(const struct json *said_value, const struct json *committed,
			    struct buf *place, const struct json **ret_said,
			    const struct json **ret_committed)
{
	enum json_type type = json_type(said_value);
	size_t count = json_len(said_value) > json_len(committed) ? json_len(said_value)
								  : json_len(committed);

	*ret_said = said_value;
	*ret_committed = committed;
	if (type != json_type(committed) || (type != JSON_ARRAY && type != JSON_OBJECT))
		return;
	for (size_t i = 0; type == JSON_ARRAY && i < count; i++) {
		const struct json *a = json_at(said_value, i);
		const struct json *b = json_at(committed, i);

		if (!same(a, b)) {
			buf_addf(place, "[%zu]", i);
			find_difference(a, b, place, ret_said, ret_committed);
			return;
		}
	}
	json_each(item, committed)
	{
		const struct json *other =
			type == JSON_OBJECT ? json_get(said_value, json_key(item)) : item;

		if (!same(other, item)) {
			buf_addf(place, "%s%s", place->len > 0 ? "." : "", json_key(item));
			find_difference(other, item, place, ret_said, ret_committed);
			return;
		}
	}
}

static void describe_difference(struct answer_field *field, const struct json *said_value,
				const struct json *committed)
{
	CLEANUP(buf_clear) struct buf place = BUF_INIT;
	CLEANUP(buf_clear) struct buf left = BUF_INIT;
	CLEANUP(buf_clear) struct buf right = BUF_INIT;
	const struct json *a;
	const struct json *b;

	find_difference(said_value, committed, &place, &a, &b);
	canonical(a, &left);
	canonical(b, &right);
	snprintf(field->text, sizeof(field->text),
		 "%s%s%s: the answer says %.120s, the log "
		 "committed to %.120s",
		 field->name, place.len > 0 ? " " : "", buf_str(&place), buf_str(&left),
		 buf_str(&right));
}

static void compare_field(struct answer_check *check, struct answer_field *field,
			  const struct json *committed)
{
	CLEANUP(json_freep) struct json *value = said(check, field);

	if (same(value, committed)) {
		field->state = ANSWER_MATCHES;
		return;
	}
	field->state = ANSWER_DIFFERS;
	describe_difference(field, value, committed);
	set_failed(check, "%s", field->text);
}

static bool is_committed(const struct answer_check *check, const char *disclosure)
{
	char digest[DISCLOSURE_DIGEST_LEN + 1];

	disclosure_digest(disclosure, strlen(disclosure), digest);
	json_each(item, json_get(check->close, REC_COMMITS)) if (json_str(item) != NULL &&
								 strcmp(json_str(item), digest) ==
									 0) return true;
	return false;
}

static void open_one(struct answer_check *check, const char *text)
{
	CLEANUP(disclosure_clear) struct disclosure opened = {.array = NULL};
	struct err err;

	if (disclosure_open(text, strlen(text), &opened, &err) < 0 || opened.name == NULL) {
		set_failed(check, "an opening of the answer is none");
		return;
	}
	if (!is_committed(check, text)) {
		set_failed(check,
			   "the opening of \"%.40s\" in the answer is not one that record %llu "
			   "committed to",
			   opened.name, (unsigned long long)check->close_seq);
		return;
	}
	for (size_t i = 0; i < ANSWER_FIELDS; i++)
		if (strcmp(check->fields[i].name, opened.name) == 0)
			compare_field(check, &check->fields[i], opened.value);
}

static void check_status(struct answer_check *check)
{
	const char *status = json_get_str(check->answer, "status");

	if (status == NULL || !says(check->close, REC_STATUS, status))
		set_failed(check, "the answer says its status is %.40s, record %llu says %.40s",
			   status == NULL ? "(none)" : status, (unsigned long long)check->close_seq,
			   json_get_str(check->close, REC_STATUS) == NULL
				   ? "(none)"
				   : json_get_str(check->close, REC_STATUS));
}

void answer_check_end(struct answer_check *check)
{
	if (check->close == NULL) {
		set_failed(check, "the log has no task.close record of task %s", check->task);
		return;
	}
	check_status(check);
	if (check->records_seen != check->records_listed)
		set_failed(check, "%zu of the %zu records that the answer lists are in the log",
			   check->records_seen, check->records_listed);
	json_each(item, json_get(json_get(check->answer, "audit"),
				 "disclosures")) if (json_str(item) != NULL)
		open_one(check, json_str(item));
	for (size_t i = 0; i < ANSWER_FIELDS; i++) {
		struct answer_field *field = &check->fields[i];

		if (field->state == ANSWER_ABSENT &&
		    !json_is_null(json_get(check->answer, field->member))) {
			field->state = ANSWER_UNPROVEN;
			snprintf(field->text, sizeof(field->text),
				 "%s: the answer carries no opening for it", field->name);
		}
	}
}

bool answer_is_proven(const struct answer_check *check)
{
	for (size_t i = 0; i < ANSWER_FIELDS; i++)
		if (check->fields[i].state == ANSWER_UNPROVEN)
			return false;
	return !check->failed;
}
