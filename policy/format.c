/* See format.h. Writes the blocks of format_read.c, then reads both texts to compare. */
#include "policy/format.h"

#include <string.h>

#include "base/yaml.h"
#include "policy/format_parts.h"

enum place { /* what a block is, for the order of its keys */
	     PLACE_ROOT,
	     PLACE_AGENTS,
	     PLACE_AGENT,
	     PLACE_RULES,
	     PLACE_RULE,
	     PLACE_DATA,
	     PLACE_OTHER,
};

static const char *const root_order[] = {"writ",  "scope", "owner", "timezone", "agents",
					 "lists", "tags",  "rules", NULL};
static const char *const agent_order[] = {"id", "role", "token", "per_task", "hands_to", NULL};
static const char *const rule_order[] = {"id",	     "effect",	"phase",      "agents",
					 "users",    "tenants", "attributes", "environments",
					 "time",     "tools",	"arguments",  "data",
					 "per_call", "limits",	"approval",   NULL};
static const char *const data_order[] = {"database", "tables", "tags", "functions", NULL};
static const char *const no_order[] = {NULL};

static const char *const *order_of(enum place place)
{
	switch (place) {
	case PLACE_ROOT:
		return root_order;
	case PLACE_AGENT:
		return agent_order;
	case PLACE_RULE:
		return rule_order;
	case PLACE_DATA:
		return data_order;
	case PLACE_AGENTS:
	case PLACE_RULES:
	case PLACE_OTHER:
		break;
	}
	return no_order;
}

static enum place place_below(enum place place, const struct format_entry *entry)
{
	if (place == PLACE_ROOT && entry->key != NULL && strcmp(entry->key, "agents") == 0)
		return PLACE_AGENTS;
	if (place == PLACE_ROOT && entry->key != NULL && strcmp(entry->key, "rules") == 0)
		return PLACE_RULES;
	if (place == PLACE_AGENTS)
		return PLACE_AGENT;
	if (place == PLACE_RULES)
		return PLACE_RULE;
	if (place == PLACE_RULE && entry->key != NULL && strcmp(entry->key, "data") == 0)
		return PLACE_DATA;
	return PLACE_OTHER;
}

/* ---- one line ---- */

static bool in_quotes(const char *text, size_t at)
{
	return (text[at] == '"' || text[at] == '\'') &&
	       (at == 0 || strchr(" [{,:", text[at - 1]) != NULL);
}

static size_t copy_quoted(const char *text, size_t at, struct buf *out)
{
	char quote = text[at];

	buf_add_char(out, text[at++]);
	for (; text[at] != '\0'; at++) {
		buf_add_char(out, text[at]);
		if (quote == '"' && text[at] == '\\' && text[at + 1] != '\0')
			buf_add_char(out, text[++at]);
		else if (text[at] == quote && quote == '\'' && text[at + 1] == '\'')
			buf_add_char(out, text[++at]);
		else if (text[at] == quote)
			return at + 1;
	}
	return at;
}

static void drop_blanks(struct buf *out)
{
	while (out->len > 0 && out->bytes[out->len - 1] == ' ')
		out->bytes[--out->len] = '\0';
}

/* "[a, b]" and "{a: b}": one blank behind "," and ":", none within the brackets' edges. */
static void write_flow(const char *text, struct buf *out)
{
	for (size_t at = 0; text[at] != '\0';) {
		if (in_quotes(text, at)) {
			at = copy_quoted(text, at, out);
			continue;
		}
		if (strchr("]},", text[at]) != NULL)
			drop_blanks(out);
		buf_add_char(out, text[at]);
		if (text[at] == ',')
			buf_add_char(out, ' ');
		if (strchr("[{, ", text[at]) != NULL)
			at += 1 + strspn(text + at + 1, " ");
		else
			at++;
	}
	drop_blanks(out);
}

static void write_value(const char *value, bool whole, struct buf *out)
{
	if (whole && (value[0] == '[' || value[0] == '{'))
		write_flow(value, out);
	else
		buf_add_str(out, value);
}

static void write_indent(size_t indent, struct buf *out)
{
	for (size_t i = 0; i < indent; i++)
		buf_add_char(out, ' ');
}

/* In the column where it stood, if the line leaves room, so that columns of comments stay. */
static void write_comment(const struct format_entry *entry, size_t line_start, struct buf *out)
{
	size_t width = out->len - line_start;

	if (entry->comment == NULL)
		return;
	write_indent(width < entry->comment_column ? entry->comment_column - width : 2, out);
	buf_add_str(out, entry->comment);
}

/* Comments keep their order, runs of blank lines become one. */
static void write_lines(const struct format_file *file, size_t first, size_t end, size_t indent,
			bool leading_blank, struct buf *out)
{
	bool blank = false, any = leading_blank;

	for (size_t i = first; i < end; i++) {
		if (file->lines[i].comment == NULL) {
			blank = true;
			continue;
		}
		if (blank && any)
			buf_add_char(out, '\n');
		write_indent(indent, out);
		buf_addf(out, "%s\n", file->lines[i].comment);
		blank = false;
		any = true;
	}
	if (blank && any)
		buf_add_char(out, '\n');
}

/* Values over several lines move along with their key. */
static void write_raw(const struct format_file *file, const struct format_entry *entry,
		      size_t indent, struct buf *out)
{
	for (size_t i = entry->raw_first; i < entry->raw_end; i++) {
		const struct format_line *line = &file->lines[i];
		size_t was = strspn(line->raw, " ");

		if (line->raw[0] != '\0') {
			write_indent(was + indent > entry->indent ? was + indent - entry->indent
								  : 0,
				     out);
			buf_add_str(out, line->raw + was);
		}
		buf_add_char(out, '\n');
	}
}

/* ---- blocks ---- */

static size_t rank(const char *const *order, const char *key)
{
	size_t i = 0;

	while (order[i] != NULL && (key == NULL || strcmp(order[i], key) != 0))
		i++;
	return i;
}

/* Known keys in their order, then the others as written. */
static void sort_entries(struct format_block *block, enum place place)
{
	const char *const *order = order_of(place);

	for (size_t i = 1; i < block->count; i++) {
		struct format_entry moved = block->entries[i];
		size_t at = i;

		while (at > 0 && rank(order, block->entries[at - 1].key) > rank(order, moved.key)) {
			block->entries[at] = block->entries[at - 1];
			at--;
		}
		block->entries[at] = moved;
	}
}

static bool wants_blank(enum place place, const struct format_entry *entry)
{
	return place == PLACE_RULES ||
	       (place == PLACE_ROOT && entry->key != NULL &&
		(strcmp(entry->key, "agents") == 0 || strcmp(entry->key, "rules") == 0 ||
		 strcmp(entry->key, "lists") == 0 || strcmp(entry->key, "tags") == 0));
}

static bool ends_with_blank(const struct buf *out)
{
	return out->len < 2 ||
	       (out->bytes[out->len - 1] == '\n' && out->bytes[out->len - 2] == '\n');
}

static bool begins_with_blank(const struct format_file *file, const struct format_entry *entry)
{
	return entry->before_first < entry->before_end &&
	       file->lines[entry->before_first].comment == NULL;
}

static void write_block(const struct format_file *file, struct format_block *block,
			enum place place, size_t indent, bool after_dash, struct buf *out);

static void write_entry(const struct format_file *file, const struct format_entry *entry,
			enum place place, size_t indent, bool after_dash, struct buf *out)
{
	size_t start = out->len - (after_dash ? indent : 0);

	if (!after_dash)
		write_indent(indent, out);
	if (entry->dash) {
		buf_add_str(out, "- ");
		if (entry->block != NULL) {
			write_block(file, entry->block, place_below(place, entry), indent + 2, true,
				    out);
			return;
		}
	} else {
		buf_addf(out, "%s:%s", entry->key, entry->value != NULL ? " " : "");
	}
	if (entry->value != NULL)
		write_value(entry->value, entry->raw_first == entry->raw_end, out);
	drop_blanks(out);
	write_comment(entry, start, out);
	buf_add_char(out, '\n');
	write_raw(file, entry, indent, out);
	if (entry->block != NULL)
		write_block(file, entry->block, place_below(place, entry), indent + 2, false, out);
}

/* Comments of a first key that came behind a dash stand in front of the dash's line. */
static void write_before(const struct format_file *file, const struct format_entry *entry,
			 enum place place, size_t indent, bool first, struct buf *out)
{
	if (!first && !ends_with_blank(out) &&
	    (wants_blank(place, entry) || begins_with_blank(file, entry)))
		buf_add_char(out, '\n');
	write_lines(file, entry->before_first, entry->before_end, indent, false, out);
}

/* The comments in front of an item's first key, moved in front of the item. */
static const struct format_entry *first_of(const struct format_entry *entry)
{
	return entry->dash && entry->block != NULL && entry->block->count > 0
		       ? &entry->block->entries[0]
		       : NULL;
}

static void write_block(const struct format_file *file, struct format_block *block,
			enum place place, size_t indent, bool after_dash, struct buf *out)
{
	for (size_t i = 0; i < block->count; i++) {
		struct format_entry *entry = &block->entries[i];
		const struct format_entry *inner;

		if (!(after_dash && i == 0))
			write_before(file, entry, place, indent, i == 0, out);
		if (entry->dash && entry->block != NULL)
			sort_entries(entry->block, place_below(place, entry));
		else if (entry->block != NULL)
			sort_entries(entry->block, place_below(place, entry));
		inner = first_of(entry);
		if (inner != NULL)
			write_lines(file, inner->before_first, inner->before_end, indent, false,
				    out);
		write_entry(file, entry, place, indent, after_dash && i == 0, out);
	}
	write_lines(file, block->tail_first, block->tail_end, indent, true, out);
}

/* ---- the same before and after ---- */

static bool same_tree(const struct yaml *a, const struct yaml *b)
{
	if (a == NULL || b == NULL || yaml_kind(a) != yaml_kind(b) || yaml_len(a) != yaml_len(b))
		return a == b;
	if (yaml_kind(a) == YAML_SCALAR)
		return yaml_quoted(a) == yaml_quoted(b) && strcmp(yaml_text(a), yaml_text(b)) == 0;
	for (size_t i = 0; i < yaml_len(a); i++) {
		const struct yaml *other = yaml_kind(a) == YAML_LIST
						   ? yaml_at(b, i)
						   : yaml_get(b, yaml_text(yaml_key(a, i)));
		const struct yaml *mine =
			yaml_kind(a) == YAML_LIST ? yaml_at(a, i) : yaml_value(a, i);

		if (!same_tree(mine, other))
			return false;
	}
	return true;
}

static size_t count_comments(const struct format_file *file)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		count += file->lines[i].comment != NULL;
	return count;
}

static int check(const char *name, const struct yaml *before, const struct format_file *file,
		 const struct buf *text, struct err *err)
{
	CLEANUP(format_file_clear) struct format_file after = {0};
	CLEANUP(yaml_freep) struct yaml *root = NULL;

	if (yaml_parse(name, buf_str(text), text->len, &root, NULL) < 0 ||
	    !same_tree(before, root) ||
	    format_read(name, buf_str(text), text->len, &after, NULL) < 0 ||
	    count_comments(&after) != count_comments(file))
		return err_set(err, ERR_INVALID,
			       "%s: cannot be formatted without changing what it says; it is left "
			       "alone",
			       name);
	return 0;
}

int policy_format(const char *name, const char *text, size_t len, struct buf *ret_text,
		  struct err *err)
{
	CLEANUP(format_file_clear) struct format_file file = {0};
	CLEANUP(yaml_freep) struct yaml *before = NULL;
	struct buf out = BUF_INIT;

	if (yaml_parse(name, text, len, &before, err) < 0 ||
	    format_read(name, text, len, &file, err) < 0)
		return -1;
	sort_entries(file.root, PLACE_ROOT);
	write_block(&file, file.root, PLACE_ROOT, 0, false, &out);
	if (check(name, before, &file, &out, err) < 0) {
		buf_clear(&out);
		return -1;
	}
	buf_clear(ret_text);
	*ret_text = out;
	return 0;
}
