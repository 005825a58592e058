/* Filters. What can fail: a time or a decision of another form. */
#include "cli/audit_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

int audit_filter_option(int argc, char **argv, int *at, struct audit_filter *filter)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"--task", &filter->task},	 {"--user", &filter->user},
		      {"--agent", &filter->agent},	 {"--tool", &filter->tool},
		      {"--decision", &filter->decision}, {"--event", &filter->event},
		      {"--since", &filter->since},	 {"--until", &filter->until}};
	int found = 0;

	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	return found;
}

/* "2h": so long ago. */
static bool read_ago(const char *text, int64_t now_us, char out[32])
{
	static const char units[] = "smhd";
	static const int64_t seconds[] = {1, 60, 3600, 86400};
	char *end = NULL;
	unsigned long value = strtoul(text, &end, 10);
	const char *unit = *end == '\0' ? NULL : strchr(units, *end);

	if (text[0] < '0' || text[0] > '9' || unit == NULL || end[1] != '\0' || value > 1000000)
		return false;
	timestamp_write(now_us - (int64_t)value * seconds[unit - units] * 1000000, out);
	return true;
}

/* A day, or a time without its fraction: both sort before any record of theirs. */
static bool read_time(const char *text, char out[32])
{
	struct date date;
	int64_t us;
	char full[32];

	if (strlen(text) == DATE_LEN && date_read(text, &date, NULL) == 0) {
		snprintf(out, 32, "%sT00:00:00.000000Z", text);
		return true;
	}
	if (timestamp_read(text, &us, NULL) == 0) {
		snprintf(out, 32, "%s", text);
		return true;
	}
	if (strlen(text) != 20 || text[19] != 'Z')
		return false;
	snprintf(full, sizeof(full), "%.19s.000000Z", text);
	if (timestamp_read(full, &us, NULL) < 0)
		return false;
	snprintf(out, 32, "%s", full);
	return true;
}

static int read_when(const char *name, const char *text, int64_t now_us, char out[32],
		     struct err *err)
{
	if (text == NULL || read_time(text, out) || read_ago(text, now_us, out))
		return 0;
	return err_set(err, ERR_INVALID,
		       "%s: %s is no time; write 2026-10-15, 2026-10-15T08:30:00Z, or 2h for two "
		       "hours ago",
		       name, text);
}

int audit_filter_init(struct audit_filter *filter, int64_t now_us, struct err *err)
{
	const char *decision = filter->decision;

	if (decision != NULL && strcmp(decision, "allow") != 0 && strcmp(decision, "deny") != 0 &&
	    strcmp(decision, "ask") != 0)
		return err_set(err, ERR_INVALID, "--decision: allow, deny or ask, not %s",
			       decision);
	if (read_when("--since", filter->since, now_us, filter->since_time, err) < 0 ||
	    read_when("--until", filter->until, now_us, filter->until_time, err) < 0)
		return -1;
	return 0;
}

void audit_filter_clear(struct audit_filter *filter)
{
	for (size_t i = 0; i < filter->user_count; i++) {
		mem_free(filter->users[i].subject);
		mem_free(filter->users[i].name);
	}
	mem_free(filter->users);
	filter->users = NULL;
	filter->user_count = 0;
}

static const char *name_of(const struct audit_filter *filter, const char *subject)
{
	for (size_t i = 0; i < filter->user_count; i++)
		if (strcmp(filter->users[i].subject, subject) == 0)
			return filter->users[i].name;
	return NULL;
}

/* Sessions and tasks commit to the name of their user. */
static void learn_user(struct audit_filter *filter, struct opening_book *book,
		       const struct json *record)
{
	const char *subject = json_get_str(record, REC_SUBJECT);
	CLEANUP(json_freep) struct json *name = NULL;

	if (book == NULL || subject == NULL || json_get(record, REC_COMMITS) == NULL ||
	    name_of(filter, subject) != NULL)
		return;
	name = opening_book_value(book, (uint64_t)json_get_int(record, REC_SEQ, 0), record,
				  CM_USER);
	if (json_str(name) == NULL)
		return;
	if (filter->user_count % 16 == 0)
		filter->users =
			mem_grow(filter->users, (filter->user_count + 16) * sizeof(*filter->users));
	filter->users[filter->user_count++] =
		(struct audit_user){mem_str(subject), mem_str(json_str(name))};
}

const char *audit_filter_user(const struct audit_filter *filter, const struct json *record)
{
	const char *subject = json_get_str(record, REC_SUBJECT);
	const char *name = subject == NULL ? NULL : name_of(filter, subject);

	return name != NULL ? name : subject != NULL ? subject : "";
}

static bool is(const struct json *record, const char *key, const char *want)
{
	const char *text = json_get_str(record, key);

	return want == NULL || (text != NULL && strcmp(text, want) == 0);
}

static bool is_user(const struct audit_filter *filter, const struct json *record)
{
	return filter->user == NULL || is(record, REC_SUBJECT, filter->user) ||
	       strcmp(audit_filter_user(filter, record), filter->user) == 0;
}

static bool is_in_time(const struct audit_filter *filter, const struct json *record)
{
	const char *time = json_get_str(record, REC_TIME);

	if (filter->since_time[0] == '\0' && filter->until_time[0] == '\0')
		return true;
	return time != NULL && strcmp(time, filter->since_time) >= 0 &&
	       (filter->until_time[0] == '\0' || strcmp(time, filter->until_time) < 0);
}

bool audit_filter_takes(struct audit_filter *filter, struct opening_book *book,
			const struct json *record)
{
	learn_user(filter, book, record);
	return is(record, REC_TASK, filter->task) && is_user(filter, record) &&
	       (is(record, REC_CLIENT, filter->agent) || is(record, REC_AGENT, filter->agent)) &&
	       is(record, REC_TOOL, filter->tool) && is(record, REC_DECISION, filter->decision) &&
	       is(record, REC_EVENT, filter->event) && is_in_time(filter, record);
}

int audit_range_read(const char *text, uint64_t *ret_from, uint64_t *ret_to, struct err *err)
{
	char *end = NULL;
	unsigned long long from = strtoull(text, &end, 10);
	unsigned long long to = from;

	if (text[0] >= '0' && text[0] <= '9' && *end == '-' && end[1] >= '0' && end[1] <= '9')
		to = strtoull(end + 1, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || from > to || to >= JSON_INT_MAX)
		return err_set(err, ERR_INVALID, "%s is no range of records, such as 100-199",
			       text);
	*ret_from = from;
	*ret_to = to + 1;
	return 0;
}
