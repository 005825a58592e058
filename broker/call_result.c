/*
 * What a connector answers is taken over member by member, after a check of what this broker relies
 * on: a connector may be wrong, but it cannot return more rows than were granted, nor put members
 * of its own invention in front of an agent.
 */
#include "broker/call_model.h"

#include <stdio.h>
#include <string.h>

static const char *const reasons[] = {"database", "statement", "limit",	   "policy",	 "budget",
				      "token",	  "arguments", "canceled", "unavailable"};

static const char *reason_constant(const char *by)
{
	for (size_t i = 0; by != NULL && i < ARRAY_LEN(reasons); i++) {
		if (strcmp(reasons[i], by) == 0)
			return reasons[i];
	}
	return NULL;
}

static void malformed(struct call *call, const char *what)
{
	json_freep(&call->result);
	call->result = NULL;
	call_note_failure(call, "unavailable", "connector", "tell the operator",
			  "the connector's answer is malformed: %s", what);
}

/* Why a call of ours was cancelled is ours to say. */
void call_note_canceled(struct call *call)
{
	switch (call->cancel) {
	case CANCEL_TIME:
		call_note_failure(call, "budget", "budget_time", "give up",
				  "the time of this task is up");
		return;
	case CANCEL_REVOKED:
		call_note_failure(call, "token", "token_denied", "give up",
				  "the authority for this call was withdrawn while it ran");
		return;
	case CANCEL_NONE:
	case CANCEL_ASKED:
	case CANCEL_GONE:
		call_note_failure(call, "canceled", "canceled", "ask again if it is still wanted",
				  "the call was cancelled");
		return;
	}
}

static void take_failure(struct call *call, const struct json *result)
{
	const char *by = reason_constant(json_get_str(result, "rejected_by"));
	const char *error = json_get_str(result, "error");
	const char *hint = json_get_str(result, "hint");
	int64_t scanned = json_get_int(result, "bytes_scanned", -1);
	char code[sizeof(call->code)];

	if (by == NULL || error == NULL) {
		malformed(call, "an error without text or reason");
		return;
	}
	if (strcmp(by, "canceled") == 0) {
		call_note_canceled(call);
	} else {
		/* A decision that was made keeps its code. */
		if (call->state == CALL_TOKEN && strcmp(call->code, "not_prepared") != 0)
			snprintf(code, sizeof(code), "%s", call->code);
		else
			snprintf(code, sizeof(code), "%s", by);
		call_note_failure(call, by, code, hint == NULL ? "correct the call" : hint, "%s",
				  error);
	}
	if (scanned >= 0) {
		call->result = json_object();
		json_set_int(call->result, "bytes_scanned", scanned);
	}
}

/* Members an agent may see, by the way of the tool (docs/protocol.md, "Tools and their results").
 */
static const char *const row_members[] = {"columns",   "types",		"rows",	      "row_count",
					  "truncated", "bytes_scanned", "latency_ms", "suppressed_groups", "min_group", NULL};
static const char *const explain_members[] = {"plan",	 "bytes_estimated", "tables",
					      "columns", "shape",	    NULL};
static const char *const view_members[] = {
	"tables",      "table",	  "columns", "primary_key", "foreign_keys",  "grain",	 "definition",
	"sample_rows", "matches", "unique",  "kind",	    "rows_filtered", "min_group", NULL};

static const char *const *members_of(const struct tool *tool)
{
	if (tool->way == TOOL_VIEW)
		return view_members;
	return tool->explain ? explain_members : row_members;
}

static bool is_type(const char *text)
{
	static const char *const types[] = {"integer", "bigint", "real", "text",
					    "blob",    "null",	 "any"};

	for (size_t i = 0; text != NULL && i < ARRAY_LEN(types); i++) {
		if (strcmp(types[i], text) == 0)
			return true;
	}
	return false;
}

static bool headings_fit(const struct json *columns, const struct json *types)
{
	if (json_type(columns) != JSON_ARRAY || json_type(types) != JSON_ARRAY ||
	    json_len(columns) != json_len(types))
		return false;
	json_each(column, columns)
	{
		if (json_str(column) == NULL)
			return false;
	}
	json_each(type, types)
	{
		if (!is_type(json_str(type)))
			return false;
	}
	return true;
}

/* A value of a database, as docs/protocol.md writes it. */
static bool is_cell(const struct json *cell)
{
	switch (json_type(cell)) {
	case JSON_NULL:
	case JSON_INT:
	case JSON_REAL:
	case JSON_STRING:
		return true;
	case JSON_OBJECT:
		return json_len(cell) == 1 && json_get_str(cell, "base64") != NULL;
	case JSON_BOOL:
	case JSON_ARRAY:
		break;
	}
	return false;
}

static bool row_fits(const struct json *row, size_t columns)
{
	if (json_type(row) != JSON_ARRAY || json_len(row) != columns)
		return false;
	json_each(cell, row)
	{
		if (!is_cell(cell))
			return false;
	}
	return true;
}

static bool bytes_fit(const struct call *call, const struct json *rows)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	json_write(rows, &text);
	return (int64_t)text.len <= call->limits.bytes + 2; /* the brackets */
}

static bool rows_fit(const struct call *call, const struct json *result)
{
	const struct json *rows = json_get(result, "rows");
	const struct json *columns = json_get(result, "columns");

	if (json_type(rows) != JSON_ARRAY || json_len(rows) > (size_t)call->limits.rows ||
	    json_get_int(result, "row_count", -1) != (int64_t)json_len(rows) ||
	    !headings_fit(columns, json_get(result, "types")) ||
	    json_get_int(result, "bytes_scanned", -1) < 0)
		return false;
	json_each(row, rows)
	{
		if (!row_fits(row, json_len(columns)))
			return false;
	}
	return bytes_fit(call, rows);
}

static void take_success(struct call *call, const struct json *result)
{
	const char *const *members = members_of(call->tool);

	if (members == row_members && !rows_fit(call, result)) {
		malformed(call, "rows that do not fit what was asked for");
		return;
	}
	call->result = json_object();
	json_set_bool(call->result, "ok", true);
	for (size_t i = 0; members[i] != NULL; i++) {
		const struct json *value = json_get(result, members[i]);

		if (value != NULL)
			json_set(call->result, members[i], json_copy(value));
	}
	if (members != row_members)
		return;
	json_set(call->result, "tables", fact_names_json(&call->tables));
	json_set(call->result, "columns_read", fact_names_json(&call->columns));
	call_tell_restrictions(call);
	if (call->rows_asked > call->limits.rows)
		json_set_int(call->result, "rows_clamped_to", call->limits.rows);
}

void call_take_result(struct call *call, const struct json *result, const struct err *err)
{
	/* A connector that is there ends what takes too long, and says so. */
	if (err != NULL && err->kind == ERR_TIMEOUT)
		call_note_failure(call, "unavailable", "connector_silent", "try again later",
				  "the connector of %s does not answer", call->database);
	else if (err != NULL && err->kind == ERR_DENIED)
		call_note_failure(call, "token", "token_denied", "call token.issue", "%s",
				  err->text);
	else if (err != NULL)
		call_note_failure(call, "unavailable", "connector", "try again later",
				  "the source %s cannot be asked: %s", call->database, err->text);
	else if (json_get_bool(result, "ok", false))
		take_success(call, result);
	else
		take_failure(call, result);
}
