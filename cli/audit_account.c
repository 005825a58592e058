/* Gathering. Nothing here can fail; what has no opening is told by its pseudonym or not at all. */
#include "cli/audit_account.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "writ/record.h"

static const char *text_of(const struct json *record, const char *key)
{
	const char *text = json_get_str(record, key);

	return text == NULL ? "" : text;
}

static bool is_event(const struct json *record, const char *event)
{
	return strcmp(text_of(record, REC_EVENT), event) == 0;
}

/* A row of count texts, copied; the number of the row, SIZE_MAX when there is no room. */
static size_t add_row(struct account *account, enum account_table table, bool bad, size_t count,
		      ...)
{
	struct account_row row = {.bad = bad};
	size_t number = account->tables[table].count;
	va_list args;

	if (number == ACCOUNT_ROWS_MAX) {
		account->tables[table].left_out++;
		return SIZE_MAX;
	}
	va_start(args, count);
	for (size_t i = 0; i < count; i++)
		row.cells[i] = mem_str(va_arg(args, const char *));
	va_end(args);
	if (number % 64 == 0)
		account->tables[table].rows =
			mem_grow(account->tables[table].rows, (number + 64) * sizeof(row));
	account->tables[table].rows[number] = row;
	account->tables[table].count++;
	return number;
}

static void count_one(struct account_count **list, size_t *count, const char *name)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*list)[i].name, name) == 0) {
			(*list)[i].count++;
			return;
		}
	if (*count % 32 == 0)
		*list = mem_grow(*list, (*count + 32) * sizeof(**list));
	(*list)[(*count)++] = (struct account_count){mem_str(name), 1};
}

/* A committed text, opened; the caller frees. */
static char *opened(const struct account *account, const struct json *record, const char *name)
{
	CLEANUP(json_freep)
	struct json *value = opening_book_value(
		account->book, (uint64_t)json_get_int(record, REC_SEQ, 0), record, name);
	struct buf text = BUF_INIT;

	if (value == NULL)
		return mem_str("");
	if (json_str(value) != NULL)
		return mem_str(json_str(value));
	json_write(value, &text);
	return buf_take(&text);
}

static char *seq_text(const struct json *record)
{
	return mem_format("%lld", (long long)json_get_int(record, REC_SEQ, 0));
}

static void open_task(struct account *account, const struct json *record)
{
	const char *user = audit_filter_user(account->filter, record);
	CLEANUP(mem_freep) char *question = opened(account, record, CM_QUESTION);
	CLEANUP(mem_freep) char *seq = seq_text(record);
	size_t row = add_row(account, ACCOUNT_TASKS, false, 7, text_of(record, REC_TIME), user,
			     question[0] != '\0' ? question : "(not opened here)", "(still open)",
			     "", text_of(record, REC_TASK), seq);

	count_one(&account->users, &account->user_count, user);
	if (row == SIZE_MAX)
		return;
	if (account->open_count % 64 == 0)
		account->open = mem_grow(account->open,
					 (account->open_count + 64) * sizeof(*account->open));
	account->open[account->open_count++] =
		(struct account_task){mem_str(text_of(record, REC_TASK)), row};
}

static void set_cell(struct account_row *row, size_t cell, const char *text)
{
	mem_free(row->cells[cell]);
	row->cells[cell] = mem_str(text);
}

static void close_task(struct account *account, const struct json *record)
{
	CLEANUP(mem_freep) char *answer = opened(account, record, CM_ANSWER);
	const char *status = text_of(record, REC_STATUS);

	for (size_t i = 0; i < account->open_count; i++) {
		struct account_task *task = &account->open[i];
		struct account_row *row = &account->tables[ACCOUNT_TASKS].rows[task->row];

		if (strcmp(task->id, text_of(record, REC_TASK)) != 0)
			continue;
		set_cell(row, 3, status);
		set_cell(row, 4, answer);
		row->bad = strcmp(status, "completed") != 0;
		mem_free(task->id);
		*task = account->open[--account->open_count];
		return;
	}
}

static void add_decision(struct account *account, const struct json *record)
{
	const char *decision = text_of(record, REC_DECISION);
	CLEANUP(mem_freep) char *seq = seq_text(record);
	CLEANUP(mem_freep) char *rule = NULL;

	account->calls++;
	if (strcmp(decision, "allow") == 0)
		return;
	account->denied++;
	rule = json_get_str(record, REC_RULE) == NULL
		       ? mem_str("no rule")
		       : mem_format("%s (%s)", text_of(record, REC_RULE),
				    text_of(record, REC_RULE_AT));
	add_row(account, ACCOUNT_DENIALS, true, 7, text_of(record, REC_TIME),
		audit_filter_user(account->filter, record), text_of(record, REC_CLIENT),
		text_of(record, REC_TOOL), text_of(record, REC_CODE), rule, seq);
}

static void note_policy(struct account *account, const struct json *record)
{
	const char *digest = text_of(record, REC_POLICY);
	CLEANUP(mem_freep) char *seq = seq_text(record);
	CLEANUP(mem_freep)
	char *epoch = mem_format("%lld", (long long)json_get_int(record, REC_EPOCH, 0));

	if (digest[0] == '\0' || strcmp(digest, account->policy) == 0)
		return;
	snprintf(account->policy, sizeof(account->policy), "%s", digest);
	add_row(account, ACCOUNT_POLICIES, false, 4, text_of(record, REC_TIME), digest, epoch, seq);
}

static bool begins(const struct json *record, const char *prefix)
{
	return strncmp(text_of(record, REC_EVENT), prefix, strlen(prefix)) == 0;
}

/* What an auditor asks about: times without a log, and what was not as it should be. */
static bool is_gap(const struct json *record)
{
	static const char *const events[] = {
		EV_LOG_RECOVERED,   EV_SERVICE_START,  EV_SERVICE_STOP, EV_SEGMENT_DROP,
		EV_KEY_ROTATE,	    EV_LOG_FULL,       EV_CLOCK_STEP,	EV_SINK_FAIL,
		EV_CHANNEL_REFUSED, EV_SESSION_REFUSED};

	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (is_event(record, events[i]))
			return true;
	return begins(record, "log.gap");
}

static void add_other(struct account *account, const struct json *record)
{
	CLEANUP(mem_freep) char *seq = seq_text(record);
	const char *why = text_of(record, REC_CAUSE);

	if (is_gap(record))
		add_row(account, ACCOUNT_GAPS,
			!is_event(record, EV_SERVICE_START) && !is_event(record, EV_SERVICE_STOP),
			5, text_of(record, REC_TIME), text_of(record, REC_EVENT),
			text_of(record, REC_STATUS), why, seq);
	else if (begins(record, "approval"))
		add_row(account, ACCOUNT_APPROVALS, false, 5, text_of(record, REC_TIME),
			text_of(record, REC_EVENT), text_of(record, REC_BY),
			text_of(record, REC_TOOL), seq);
	else if (is_event(record, EV_READ) || is_event(record, EV_EXPORT) ||
		 is_event(record, EV_VERIFY) || is_event(record, EV_REDACT) ||
		 is_event(record, EV_ANCHOR) || is_event(record, EV_HOLD))
		add_row(account, ACCOUNT_READS, false, 5, text_of(record, REC_TIME),
			text_of(record, REC_EVENT),
			json_get_str(record, REC_BY) != NULL
				? text_of(record, REC_BY)
				: audit_filter_user(account->filter, record),
			why, seq);
}

void account_add(struct account *account, const struct json *record)
{
	if (!audit_filter_takes(account->filter, account->book, record)) {
		note_policy(account, record); /* what was in force when the period began */
		return;
	}
	account->records++;
	if (account->first[0] == '\0')
		snprintf(account->first, sizeof(account->first), "%s", text_of(record, REC_TIME));
	snprintf(account->last, sizeof(account->last), "%s", text_of(record, REC_TIME));
	count_one(&account->events, &account->event_count, text_of(record, REC_EVENT));
	note_policy(account, record);
	if (is_event(record, EV_TASK_OPEN))
		open_task(account, record);
	else if (is_event(record, EV_TASK_CLOSE))
		close_task(account, record);
	else if (is_event(record, EV_TOOL_INTENT))
		add_decision(account, record);
	else
		add_other(account, record);
}

static void clear_counts(struct account_count *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		mem_free(list[i].name);
	mem_free(list);
}

void account_clear(struct account *account)
{
	for (size_t t = 0; t < ACCOUNT_TABLES; t++) {
		for (size_t i = 0; i < account->tables[t].count; i++)
			for (size_t c = 0; c < ACCOUNT_CELLS; c++)
				mem_free(account->tables[t].rows[i].cells[c]);
		mem_free(account->tables[t].rows);
	}
	clear_counts(account->events, account->event_count);
	clear_counts(account->users, account->user_count);
	for (size_t i = 0; i < account->open_count; i++)
		mem_free(account->open[i].id);
	mem_free(account->open);
}
