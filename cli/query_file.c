/* Lines in, lines out. A query reaches from its dash to the next line that is indented no deeper.
 * Nothing here can fail. */
#include "cli/query_file.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct line {
	const char *start;
	size_t len;    /* without the line feed */
	size_t indent; /* blanks at its start */
	bool empty;    /* blank, or a comment */
};

/* The line at *cursor; moves it behind. False at the end. */
static bool next_line(const char **cursor, struct line *line)
{
	const char *start = *cursor;
	char first;

	if (*start == '\0')
		return false;
	line->start = start;
	line->len = strcspn(start, "\n");
	line->indent = strspn(start, " ");
	first = start[line->indent];
	line->empty = line->indent >= line->len || first == '#' || first == '\r';
	*cursor = start + line->len + (start[line->len] == '\n');
	return true;
}

static void add_line(struct buf *out, const struct line *line)
{
	buf_add(out, line->start, line->len);
	buf_add_char(out, '\n');
}

char *query_file_quoted(const char *text)
{
	struct buf out = BUF_INIT;

	json_write_string(text, strlen(text), &out); /* a JSON string is one of YAML too */
	return buf_take(&out);
}

/* How deep the dashes of the file's queries stand. */
static size_t dash_indent(const char *text)
{
	struct line line;

	while (next_line(&text, &line))
		if (!line.empty && line.start[line.indent] == '-')
			return line.indent;
	return 2;
}

/* Can the SQL stand as it is, in a block? */
static bool is_plain_block(const char *sql)
{
	if (*sql == ' ' || *sql == '\n' || *sql == '\0')
		return false;
	for (; *sql; sql++)
		if (((unsigned char)*sql < 0x20 && *sql != '\n') || *sql == 0x7f ||
		    (*sql == ' ' && sql[1] == '\n') || (*sql == '\n' && sql[1] == '\0') ||
		    (unsigned char)*sql >= 0x80)
			return false;
	return true;
}

static void add_key(struct buf *out, size_t indent, const char *key, const char *value)
{
	buf_addf(out, "%*s%s: %s\n", (int)indent, "", key, value);
}

static void add_text(struct buf *out, size_t indent, const char *key, const char *text)
{
	CLEANUP(mem_freep) char *quoted = query_file_quoted(text);

	add_key(out, indent, key, quoted);
}

static void add_sql(struct buf *out, size_t indent, const char *sql)
{
	struct line line;

	if (!is_plain_block(sql)) {
		add_text(out, indent, "sql", sql);
		return;
	}
	add_key(out, indent, "sql", "|-");
	while (next_line(&sql, &line)) {
		buf_addf(out, "%*s", (int)(line.len ? indent + 2 : 0), "");
		add_line(out, &line);
	}
}

void query_file_add(const char *text, const char *name, const char *question, const char *sql,
		    const char *when, struct buf *out)
{
	size_t indent = dash_indent(text);
	size_t before = out->len;

	if (text[strspn(text, " \n\r\t")] == '\0')
		text = "verified_queries:\n";
	buf_add_str(out, text);
	if (out->bytes[out->len - 1] != '\n')
		buf_add_char(out, '\n');
	before = out->len;
	add_text(out, indent + 2, "question", question);
	out->bytes[before + indent] = '-';
	if (name)
		add_text(out, indent + 2, "name", name);
	if (when)
		add_text(out, indent + 2, "when", when);
	add_sql(out, indent + 2, sql);
}

static bool has_key(const struct line *line, size_t indent, const char *key)
{
	size_t len = strlen(key);

	return !line->empty && line->indent == indent && line->len > indent + len &&
	       strncmp(line->start + indent, key, len) == 0 && line->start[indent + len] == ':';
}

static bool is_one_of(const struct line *line, size_t indent, const struct query_key *keys,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_key(line, indent, keys[i].key))
			return true;
	return false;
}

static void add_keys(struct buf *out, size_t indent, const struct query_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keys[i].value)
			add_key(out, indent, keys[i].key, keys[i].value);
}

/* Writes the lines held back, which belong to what follows. */
static void flush(struct buf *held, struct buf *out)
{
	buf_add(out, held->bytes, held->len);
	buf_reset(held);
}

void query_file_set(const char *text, int line, const struct query_key *keys, size_t count,
		    struct buf *out)
{
	CLEANUP(buf_clear) struct buf held = BUF_INIT; /* blank lines and comments */
	size_t dash = 0, inside = 0;
	bool within = false, dropping = false;
	struct line now;

	for (int number = 1; next_line(&text, &now); number++) {
		bool first = number == line;

		if (first) {
			dash = now.indent;
			inside = dash + 1 + strspn(now.start + dash + 1, " ");
			within = true;
		} else if (within && !now.empty && now.indent <= dash) {
			add_keys(out, inside, keys, count);
			within = false;
		}
		if (within && !first && !now.empty && now.indent <= inside)
			dropping = is_one_of(&now, inside, keys, count);
		if (within && now.empty) {
			add_line(&held, &now);
			continue;
		}
		if (within && dropping && !first) {
			buf_reset(&held);
			continue;
		}
		flush(&held, out);
		add_line(out, &now);
	}
	if (within)
		add_keys(out, inside, keys, count);
	flush(&held, out);
}

void query_file_remove(const char *text, int line, struct buf *out)
{
	CLEANUP(buf_clear) struct buf held = BUF_INIT;
	size_t dash = 0, left = 0;
	bool within = false;
	struct line now;

	for (int number = 1; next_line(&text, &now); number++) {
		if (number == line) {
			dash = now.indent;
			within = true;
			continue;
		}
		if (within && !now.empty && now.indent <= dash)
			within = false;
		if (within && !now.empty) {
			buf_reset(&held);
			continue;
		}
		if (within) {
			add_line(&held, &now); /* perhaps of the next one */
			continue;
		}
		left += !now.empty && now.start[now.indent] == '-';
		flush(&held, out);
		add_line(out, &now);
	}
	if (left == 0)
		buf_reset(out);
	else
		flush(&held, out);
}
