/*
 * Records in the formats of other tools. CSV and OCSF lose what they have no field for; RFC 5424
 * keeps the record's bytes as the message. Each keeps number, leaf and previous hash, so that a
 * line can be found again in the log. Nothing here can fail but the output.
 */
#include <string.h>

#include "base/clock.h"
#include "cli/audit_export.h"
#include "writ/record.h"

#define PEN "32473" /* reserved for documentation (RFC 5612): an own number can take its place */
#define OCSF_VERSION "1.6.0"
#define OCSF_MAPPING "writ-ocsf/1"

static const char *text_of(const struct json *record, const char *key)
{
	const char *text = json_get_str(record, key);

	return text == NULL ? "" : text;
}

static bool says(const struct json *record, const char *key, const char *value)
{
	return strcmp(text_of(record, key), value) == 0;
}

/* JSONL: the bytes. */
static void jsonl_record(const struct export_record *record, FILE *out)
{
	fwrite(record->entry, 1, record->len, out);
	fputc('\n', out);
}

/* CSV. A spreadsheet takes a cell that begins with one of these for a formula. */
static void csv_cell(const char *text, FILE *out)
{
	bool quote = strpbrk(text, ",\"\r\n") != NULL;
	bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;

	if (quote || formula)
		fputc('"', out);
	if (formula)
		fputc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quote || formula)
		fputc('"', out);
}

static const char *const csv_columns[] = {
	REC_SEQ,  REC_TIME,	REC_EVENT,    "user",	  REC_SUBJECT, REC_CLIENT,  REC_TASK,
	REC_TOOL, REC_RESOURCE, REC_DECISION, REC_CODE,	  REC_RULE,    REC_RULE_AT, REC_STATUS,
	REC_ROWS, REC_BYTES,	REC_CAUSE,    REC_POLICY, "leaf",      REC_PREV};

static void csv_begin(FILE *out)
{
	static const char *const names[] = {
		"seq",	"time",		 "event",    "user",   "subject", "agent",   "task",
		"tool", "database",	 "decision", "code",   "rule",	  "rule_at", "status",
		"rows", "bytes_scanned", "cause",    "policy", "leaf",	  "prev"};

	_Static_assert(ARRAY_LEN(names) == ARRAY_LEN(csv_columns), "a name for each column");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		fprintf(out, "%s%s", i == 0 ? "" : ",", names[i]);
	fputs("\r\n", out); /* RFC 4180 */
}

static void csv_record(const struct export_record *record, FILE *out)
{
	for (size_t i = 0; i < ARRAY_LEN(csv_columns); i++) {
		const char *key = csv_columns[i];
		const struct json *value = json_get(record->json, key);

		if (i > 0)
			fputc(',', out);
		if (strcmp(key, "user") == 0)
			csv_cell(record->user, out);
		else if (strcmp(key, "leaf") == 0)
			csv_cell(record->leaf, out);
		else if (json_type(value) == JSON_INT)
			fprintf(out, "%lld", (long long)json_int(value));
		else
			csv_cell(text_of(record->json, key), out);
	}
	fputs("\r\n", out);
}

/* RFC 5424. Severity: a denial is a warning, an error an error, the rest a notice. */
static int severity(const struct json *record)
{
	if (says(record, REC_STATUS, "error"))
		return 3;
	return says(record, REC_DECISION, "deny") || says(record, REC_EVENT, EV_SESSION_REFUSED) ||
			       says(record, REC_EVENT, EV_CHANNEL_REFUSED)
		       ? 4
		       : 5;
}

/* MSGID: printable ASCII without blanks, at most 32. */
static void put_name(const char *text, FILE *out)
{
	int count = 0;

	for (; *text != '\0' && count < 32; text++)
		if (*text > 0x20 && *text < 0x7F) {
			fputc(*text, out);
			count++;
		}
	if (count == 0)
		fputc('-', out);
}

static void rfc5424_record(const struct export_record *record, FILE *out)
{
	const int facility = 13; /* log audit */

	fprintf(out, "<%d>1 %s - writ - ", facility * 8 + severity(record->json),
		json_get_str(record->json, REC_TIME) == NULL ? "-"
							     : text_of(record->json, REC_TIME));
	put_name(text_of(record->json, REC_EVENT), out);
	fprintf(out, " [audit@" PEN " seq=\"%lld\" leaf=\"%s\" prev=\"%s\"] %.*s\n",
		(long long)json_get_int(record->json, REC_SEQ, 0), record->leaf,
		text_of(record->json, REC_PREV), (int)record->len, record->entry);
}

/*
 * OCSF API Activity (6003). The table is the mapping: a record's field, its place.
 * docs/audit-tools.md prints it; a change of it is a new OCSF_MAPPING.
 */
static const struct ocsf_field {
	const char *record;
	const char *object; /* member of the event; NULL: the event itself */
	const char *field;
} ocsf_fields[] = {
	{REC_TASK, "metadata", "correlation_uid"},
	{REC_EVENT, "api", "operation"},
	{REC_TOOL, "api", "service_name"},
	{REC_CLIENT, "actor", "app_name"},
	{REC_AGENT, "actor", "app_uid"},
	{REC_SUBJECT, "user", "uid"},
	{REC_TENANT, "user", "domain"},
	{REC_SESSION, "session", "uid"},
	{REC_RULE, "policy", "name"},
	{REC_POLICY, "policy", "uid"},
	{REC_CODE, NULL, "status_code"},
	{REC_CAUSE, NULL, "status_detail"},
	{REC_RESOURCE, "resource", "name"},
};

static struct json *member(struct json *event, const char *name)
{
	if (name == NULL)
		return event;
	if (json_get(event, name) == NULL)
		json_set(event, name, json_object());
	return json_get_mut(event, name);
}

/* Activities of the class: 1 create, 2 read, 3 update, 4 delete, 99 other. */
static int activity(const struct json *record)
{
	return says(record, REC_ACTION, "read") || says(record, REC_EVENT, EV_READ) ? 2 : 99;
}

static void ocsf_basics(const struct json *record, struct json *event)
{
	bool denied = says(record, REC_DECISION, "deny");
	bool failed = says(record, REC_STATUS, "error");
	int64_t time = 0;

	IGNORE(timestamp_read(text_of(record, REC_TIME), &time, NULL) < 0, "0 then");
	json_set_int(event, "category_uid", 6);
	json_set_int(event, "class_uid", 6003);
	json_set_int(event, "activity_id", activity(record));
	json_set_int(event, "type_uid", 600300 + activity(record));
	json_set_int(event, "time", time / 1000);
	json_set_int(event, "severity_id", denied || failed ? 3 : 1);
	json_set_int(event, "status_id", denied || failed ? 2 : 1);
	if (json_get(record, REC_DECISION) != NULL)
		json_set_int(event, "action_id", denied ? 2 : 1);
}

static void ocsf_record(const struct export_record *record, FILE *out)
{
	CLEANUP(json_freep) struct json *event = json_object();
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	struct json *metadata = member(event, "metadata");
	struct json *unmapped = member(event, "unmapped");
	struct json *profiles = json_array();

	ocsf_basics(record->json, event);
	for (size_t i = 0; i < ARRAY_LEN(ocsf_fields); i++)
		if (json_get_str(record->json, ocsf_fields[i].record) != NULL)
			json_set_str(member(event, ocsf_fields[i].object), ocsf_fields[i].field,
				     json_get_str(record->json, ocsf_fields[i].record));
	json_set_str(metadata, "version", OCSF_VERSION);
	json_push_str(profiles, "ai_operation");
	json_set(metadata, "profiles", profiles);
	json_set_int(metadata, "sequence", json_get_int(record->json, REC_SEQ, 0));
	json_set_str(metadata, "log_version", OCSF_MAPPING);
	json_set_str(metadata, "uid", record->leaf);
	json_set_str(unmapped, "prev", text_of(record->json, REC_PREV));
	if (record->user[0] != '\0')
		json_set_str(member(event, "user"), "name", record->user);
	json_set(event, "raw_data", json_new_strn(record->entry, record->len));
	json_write(event, &line);
	fprintf(out, "%s\n", buf_str(&line));
}

static const struct export_format formats[] = {
	{"jsonl", "the records as they are", NULL, jsonl_record},
	{"csv", "a table; cells that look like formulas are made text", csv_begin, csv_record},
	{"rfc5424", "syslog lines that keep seq, leaf, prev and the record", NULL, rfc5424_record},
	{"ocsf", "OCSF API Activity, mapping " OCSF_MAPPING, NULL, ocsf_record},
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}
