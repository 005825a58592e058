/*
 * A scope file as nested blocks of lines. YAML's own reader drops comments, so this reads the text
 * by lines and indents; the file was read as YAML before, so what is left to tell apart is little:
 * keys, items, values that go on over several lines, comments.
 */
#include <string.h>

#include "base/mem.h"
#include "policy/format_parts.h"

#define DEPTH_MAX 32

struct reading {
	const char *name;
	struct format_line *lines;
	size_t count;
	size_t at;
};

/* ---- lines ---- */

static bool opens_quote(const char *text, size_t at)
{
	if (text[at] != '"' && text[at] != '\'')
		return false;
	return at == 0 || strchr(" [{,:", text[at - 1]) != NULL;
}

/* The place behind the quoted text that begins at. */
static size_t skip_quoted(const char *text, size_t at)
{
	char quote = text[at++];

	for (; text[at] != '\0'; at++) {
		if (quote == '"' && text[at] == '\\' && text[at + 1] != '\0')
			at++;
		else if (text[at] == quote && quote == '\'' && text[at + 1] == '\'')
			at++;
		else if (text[at] == quote)
			return at + 1;
	}
	return at;
}

static size_t find_comment(const char *text)
{
	size_t at = 0;

	while (text[at] != '\0') {
		if (opens_quote(text, at)) {
			at = skip_quoted(text, at);
			continue;
		}
		if (text[at] == '#' && (at == 0 || text[at - 1] == ' '))
			return at;
		at++;
	}
	return at;
}

static char *trimmed(const char *text, size_t len)
{
	while (len > 0 && text[len - 1] == ' ')
		len--;
	return mem_strn(text, len);
}

static void read_line(const char *text, size_t len, struct format_line *line)
{
	size_t comment, end;

	line->raw = trimmed(text, len);
	line->indent = strspn(line->raw, " ");
	comment = find_comment(line->raw + line->indent) + line->indent;
	end = strlen(line->raw);
	line->text = trimmed(line->raw + line->indent, comment - line->indent);
	if (comment < end) {
		line->comment = mem_str(line->raw + comment);
		line->comment_column = comment;
	}
}

static void read_lines(const char *text, size_t len, struct format_file *file)
{
	const char *end = text + len;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t line_len = stop == NULL ? (size_t)(end - text) : (size_t)(stop - text);

		file->lines = mem_grow(file->lines, (file->count + 1) * sizeof(*file->lines));
		memset(&file->lines[file->count], 0, sizeof(*file->lines));
		if (line_len > 0 && text[line_len - 1] == '\r')
			line_len--;
		read_line(text, line_len, &file->lines[file->count++]);
		text = stop == NULL ? end : stop + 1;
	}
}

/* ---- entries ---- */

/* How many brackets are open behind the text. */
static int depth_after(const char *text, int depth)
{
	for (size_t at = 0; text[at] != '\0';) {
		if (opens_quote(text, at)) {
			at = skip_quoted(text, at);
			continue;
		}
		depth +=
			(text[at] == '[' || text[at] == '{') - (text[at] == ']' || text[at] == '}');
		at++;
	}
	return depth;
}

/* Where the key ends: its ":" is followed by a blank or nothing. 0: no key. */
static size_t key_len(const char *text)
{
	size_t at = opens_quote(text, 0) ? skip_quoted(text, 0) : 0;

	if (text[0] == '[' || text[0] == '{')
		return 0;
	for (; text[at] != '\0'; at++)
		if (text[at] == ':' && (text[at + 1] == ' ' || text[at + 1] == '\0'))
			return at;
	return 0;
}

static bool is_content(const struct format_line *line)
{
	return line->text[0] != '\0';
}

static bool is_dash(const char *text)
{
	return text[0] == '-' && (text[1] == ' ' || text[1] == '\0');
}

/* Does the value go on behind blank lines? */
static bool goes_on(const struct reading *reading, size_t at, size_t indent)
{
	while (at < reading->count && reading->lines[at].raw[0] == '\0')
		at++;
	return at < reading->count && reading->lines[at].indent > indent;
}

/* Further lines of a value: of open brackets, of a block text, of a text that goes on. */
static void read_raw(struct reading *reading, struct format_entry *entry, const char *value,
		     size_t indent)
{
	int depth = value[0] == '[' || value[0] == '{' ? depth_after(value, 0) : 0;

	entry->raw_first = reading->at;
	while (reading->at < reading->count) {
		const struct format_line *line = &reading->lines[reading->at];

		if (depth <= 0 && !goes_on(reading, reading->at, indent))
			break;
		depth = depth_after(line->text, depth);
		reading->at++;
	}
	entry->raw_end = reading->at;
}

static int read_block(struct reading *reading, size_t indent, bool dashes, int depth,
		      struct format_block **ret_block, struct err *err);

static const struct format_line *next_content(const struct reading *reading)
{
	for (size_t i = reading->at; i < reading->count; i++)
		if (is_content(&reading->lines[i]))
			return &reading->lines[i];
	return NULL;
}

static int read_below(struct reading *reading, struct format_entry *entry, size_t indent, int depth,
		      struct err *err)
{
	const struct format_line *next = next_content(reading);

	if (next == NULL || next->indent < indent ||
	    (next->indent == indent && (entry->dash || !is_dash(next->text))))
		return 0; /* a key without a value */
	return read_block(reading, next->indent, next->indent == indent, depth + 1, &entry->block,
			  err);
}

static int read_value(struct reading *reading, struct format_entry *entry, const char *text,
		      size_t indent, int depth, struct err *err)
{
	if (text[0] == '\0')
		return read_below(reading, entry, indent, depth, err);
	entry->value = mem_str(text);
	read_raw(reading, entry, text, indent);
	return 0;
}

/* "- key: value" is an item whose block begins on the same line. */
static int read_item(struct reading *reading, struct format_entry *entry, struct format_line *line,
		     int depth, struct err *err)
{
	size_t indent = line->indent;
	size_t skip = 1 + strspn(line->text + 1, " ");
	char *rest = mem_str(line->text + skip);

	entry->dash = true;
	if (key_len(rest) > 0 || is_dash(rest)) {
		mem_free(line->text);
		line->text = rest;
		line->indent = indent + skip;
		reading->at--;
		return read_block(reading, line->indent, false, depth + 1, &entry->block, err);
	}
	if (line->comment != NULL) {
		entry->comment = mem_str(line->comment);
		entry->comment_column = line->comment_column;
	}
	mem_free(line->text);
	line->text = rest;
	return read_value(reading, entry, rest, indent, depth, err);
}

static int read_entry(struct reading *reading, struct format_entry *entry, int depth,
		      struct err *err)
{
	struct format_line *line = &reading->lines[reading->at++];
	size_t len = key_len(line->text);
	const char *value;

	entry->indent = line->indent;
	if (is_dash(line->text))
		return read_item(reading, entry, line, depth, err);
	if (len == 0)
		return err_set(err, ERR_INVALID,
			       "%s:%zu: cannot be formatted: neither key nor item", reading->name,
			       reading->at);
	entry->key = mem_strn(line->text, len);
	if (line->comment != NULL) {
		entry->comment = mem_str(line->comment);
		entry->comment_column = line->comment_column;
	}
	value = line->text + len + 1;
	return read_value(reading, entry, value + strspn(value, " "), line->indent, depth, err);
}

/* Comments in front of a line that belongs further out stay here if they are indented as deep. */
static void read_tail(struct reading *reading, struct format_block *block, size_t first,
		      size_t indent)
{
	size_t end = first;

	for (size_t i = first; i < reading->at; i++)
		if (reading->lines[i].comment != NULL && reading->lines[i].indent >= indent)
			end = i + 1;
	block->tail_first = first;
	block->tail_end = end;
	reading->at = end;
}

static void block_free(struct format_block *block);

static int read_block(struct reading *reading, size_t indent, bool dashes, int depth,
		      struct format_block **ret_block, struct err *err)
{
	struct format_block *block = mem_alloc(sizeof(*block));

	*ret_block = block;
	if (depth > DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "%s: nested too deep", reading->name);
	for (;;) {
		size_t first = reading->at;
		const struct format_line *line;
		struct format_entry *entry;

		while (reading->at < reading->count && !is_content(&reading->lines[reading->at]))
			reading->at++;
		line = reading->at < reading->count ? &reading->lines[reading->at] : NULL;
		if (line == NULL || line->indent < indent ||
		    (dashes && line->indent == indent && !is_dash(line->text))) {
			read_tail(reading, block, first, indent);
			return 0;
		}
		if (line->indent > indent)
			return err_set(err, ERR_INVALID,
				       "%s:%zu: cannot be formatted: indented by %zu, where %zu "
				       "was begun",
				       reading->name, reading->at + 1, line->indent, indent);
		block->entries =
			mem_grow(block->entries, (block->count + 1) * sizeof(*block->entries));
		entry = &block->entries[block->count++];
		memset(entry, 0, sizeof(*entry));
		entry->before_first = first;
		entry->before_end = reading->at;
		if (read_entry(reading, entry, depth, err) < 0)
			return -1;
	}
}

int format_read(const char *name, const char *text, size_t len, struct format_file *ret_file,
		struct err *err)
{
	struct reading reading = {.name = name};
	int result;

	read_lines(text, len, ret_file);
	reading.lines = ret_file->lines;
	reading.count = ret_file->count;
	result = read_block(&reading, 0, false, 0, &ret_file->root, err);
	return result;
}

static void block_free(struct format_block *block)
{
	if (block == NULL)
		return;
	for (size_t i = 0; i < block->count; i++) {
		mem_free(block->entries[i].key);
		mem_free(block->entries[i].value);
		mem_free(block->entries[i].comment);
		block_free(block->entries[i].block);
	}
	mem_free(block->entries);
	mem_free(block);
}

void format_file_clear(struct format_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		mem_free(file->lines[i].text);
		mem_free(file->lines[i].comment);
		mem_free(file->lines[i].raw);
	}
	mem_free(file->lines);
	block_free(file->root);
	*file = (struct format_file){0};
}
