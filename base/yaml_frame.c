/*
 * Errors at a place of a source text:
 *
 *   scopes/sales.yaml:21:5: duplicate key "rules", first at line 18
 *      21 |     rules:
 *         |     ^
 *
 * Nothing of the text reaches a terminal as a control character. Cannot fail.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/yaml_node.h"

#define MESSAGE_MAX 512 /* message, file and frame fit into an error text together */
#define WHERE_MAX 128
#define FRAME_COLUMNS 64 /* of a longer line, this much around the place is shown */

/* Bytes of the line break at the start of text, 0 when there is none. */
static size_t break_len(const char *text, size_t len)
{
	if (len >= 2 && memcmp(text, "\r\n", 2) == 0)
		return 2;
	if (len >= 1 && (text[0] == '\n' || text[0] == '\r'))
		return 1;
	if (len >= 2 && memcmp(text, "\xC2\x85", 2) == 0)
		return 2;
	if (len >= 3 &&
	    (memcmp(text, "\xE2\x80\xA8", 3) == 0 || memcmp(text, "\xE2\x80\xA9", 3) == 0))
		return 3;
	return 0;
}

static void find_lines(struct yaml_source *source)
{
	size_t cap = 64;

	source->line_starts = mem_array(cap, sizeof(size_t));
	source->line_count = 1;
	for (size_t at = 0; at < source->len;) {
		size_t skip = break_len(source->bytes + at, source->len - at);

		at += skip > 0 ? skip : 1;
		if (skip == 0)
			continue;
		if ((size_t)source->line_count == cap) {
			cap *= 2;
			source->line_starts = mem_grow(source->line_starts, cap * sizeof(size_t));
		}
		source->line_starts[source->line_count++] = at;
	}
}

struct yaml_source *yaml_source_new(const char *where, const char *bytes, size_t len)
{
	struct yaml_source *source = mem_alloc(sizeof(*source));

	source->where = mem_str(where);
	source->bytes = mem_strn(bytes, len);
	source->len = len;
	find_lines(source);
	return source;
}

void yaml_source_free(struct yaml_source *source)
{
	if (source == NULL)
		return;
	mem_free(source->where);
	mem_free(source->bytes);
	mem_free(source->line_starts);
	mem_free(source);
}

const char *yaml_source_line(const struct yaml_source *source, int line)
{
	if (line < 1 || line > source->line_count)
		return NULL;
	return source->bytes + source->line_starts[line - 1];
}

void yaml_source_place(const struct yaml_source *source, size_t byte, int *ret_line,
		       int *ret_column)
{
	int line = source->line_count;
	size_t at;

	while (line > 1 && source->line_starts[line - 1] > byte)
		line--;
	*ret_line = line;
	*ret_column = 1;
	for (at = source->line_starts[line - 1]; at < byte; (*ret_column)++) {
		size_t len = utf8_char_len(source->bytes + at, source->len - at);

		at += len > 0 ? len : 1;
	}
}

/* Appends one character as a terminal may see it; out may be NULL. Returns its bytes in text. */
static size_t add_shown(struct buf *out, const char *text, size_t len)
{
	size_t bytes = utf8_char_len(text, len);
	unsigned char first = (unsigned char)text[0];
	bool control = first < 0x20 || first == 0x7F ||
		       (bytes == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0);

	if (out == NULL)
		return bytes > 0 ? bytes : 1;
	if (first == '\t')
		buf_add_char(out, ' ');
	else if (bytes == 0 || control)
		buf_add_char(out, '?');
	else
		buf_add(out, text, bytes);
	return bytes > 0 ? bytes : 1;
}

static void add_text(struct buf *out, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	for (size_t at = 0; at < len;)
		at += add_shown(out, text + at, len - at);
}

static void add_frame(struct buf *out, const char *text, size_t len, int line, int column)
{
	int first = column > FRAME_COLUMNS / 2 ? column - FRAME_COLUMNS / 2 : 1;
	int caret = column - first + (first > 1 ? 3 : 0);
	size_t at = 0;

	buf_addf(out, "\n%5d | %s", line, first > 1 ? "..." : "");
	for (int number = 1; number < first + FRAME_COLUMNS; number++) {
		if (at >= len || break_len(text + at, len - at) > 0)
			break;
		at += add_shown(number >= first ? out : NULL, text + at, len - at);
	}
	if (at < len && break_len(text + at, len - at) == 0)
		buf_add_str(out, "...");
	buf_addf(out, "\n%5s | %*s^", "", caret, "");
}

int yaml_source_error(const struct yaml_source *source, int line, int column, enum err_kind kind,
		      struct err *err, const char *message)
{
	struct buf out = BUF_INIT;
	const char *text = yaml_source_line(source, line);

	add_text(&out, source->where, WHERE_MAX);
	buf_addf(&out, ":%d:%d: ", line, column);
	add_text(&out, message, MESSAGE_MAX);
	if (text != NULL)
		add_frame(&out, text, (size_t)(source->bytes + source->len - text), line, column);
	err_set(err, kind, "%s", out.bytes);
	buf_clear(&out);
	return -1;
}

int yaml_error(const struct yaml *node, struct err *err, const char *format, ...)
{
	char message[MESSAGE_MAX + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (node == NULL)
		return err_set(err, ERR_INVALID, "%s", message);
	return yaml_source_error(node->source, node->line, node->column, ERR_INVALID, err, message);
}
