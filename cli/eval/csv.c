/* One pass, a field at a time. What can fail: a quote that does not end. */
#include "cli/eval/csv.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* A field in quotes; NULL when it does not end. */
static const char *read_quoted(const char *at, struct buf *field)
{
	for (at++; *at; at++) {
		if (*at == '"' && at[1] == '"')
			at++;
		else if (*at == '"')
			return at + 1;
		buf_add_char(field, *at);
	}
	return NULL;
}

static const char *read_field(const char *at, struct json *row)
{
	CLEANUP(buf_clear) struct buf field = BUF_INIT;
	size_t len;

	if (*at == '"') {
		at = read_quoted(at, &field);
		if (!at)
			return NULL;
	}
	len = strcspn(at, ",\r\n");
	buf_add(&field, at, len);
	json_push_str(row, buf_str(&field));
	return at + len;
}

static const char *skip_end(const char *at)
{
	at += *at == '\r';
	return at + (*at == '\n');
}

int csv_read(const char *text, struct json **ret_rows, struct err *err)
{
	CLEANUP(json_freep) struct json *rows = json_array();
	int line = 1;

	while (*text) {
		struct json *row;
		const char *at = text;

		if (*at == '\r' || *at == '\n') {
			text = skip_end(at);
			line++;
			continue;
		}
		row = json_array();
		json_push(rows, row);
		for (;;) {
			at = read_field(at, row);
			if (!at)
				return err_set(err, ERR_INVALID, "line %d: a quote does not end",
					       line);
			if (*at != ',')
				break;
			at++;
		}
		for (const char *c = text; c < at; c++)
			line += *c == '\n';
		line++;
		text = skip_end(at);
	}
	*ret_rows = TAKE(rows);
	return 0;
}
