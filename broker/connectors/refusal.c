/* Texts of the database are passed on as they are, cut between characters. */
#include "broker/connectors/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int refusal_set(struct refusal *refusal, const char *by, const char *hint, const char *format, ...)
{
	char *text = NULL;
	struct err err;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	for (char *c = text; !utf8_valid(text, strlen(text)) && *c; c++)
		if (*c & 0x80)
			*c = '?'; /* a damaged name in the source */
	err_set(&err, ERR_INVALID, "%s", text);
	free(text);
	memcpy(refusal->error, err.text, sizeof(refusal->error));
	refusal->by = by;
	refusal->hint = hint;
	refusal->bytes_scanned = 0;
	return -1;
}

int refusal_from_err(struct refusal *refusal, const struct err *err)
{
	if (err->kind == ERR_INVALID)
		return refusal_set(refusal, BY_ARGUMENTS, "correct the arguments", "%s", err->text);
	return refusal_set(refusal, BY_UNAVAILABLE, "try again later, or ask the operator", "%s",
			   err->text);
}

struct json *refusal_json(const struct refusal *refusal)
{
	struct json *json = json_object();

	json_set_bool(json, "ok", false);
	json_set_str(json, "error", refusal->error);
	json_set_str(json, "rejected_by", refusal->by);
	json_set_str(json, "hint", refusal->hint);
	if (refusal->bytes_scanned > 0)
		json_set_int(json, "bytes_scanned", refusal->bytes_scanned);
	return json;
}
