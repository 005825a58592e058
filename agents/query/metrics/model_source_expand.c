/*
 * The model compiler: fields that read other fields of their dataset.
 *
 * A name in a field's expression is another field where there is one of that name, else a column;
 * a field's own name is always the column that it is named after. The text of the other field is
 * put in its place, in parentheses, so that everything behind this sees columns alone. Fields that
 * read each other in a circle are a mistake.
 */
#include "agents/query/metrics/model_source.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

#define CHAIN_MAX 32 /* fields one behind the other */

struct expansion {
	const struct json *fields;
	const char *dataset;
	const struct json *chain[CHAIN_MAX]; /* being expanded, the outermost first */
	size_t depth;
	const struct json *again; /* the field that a circle leads back to */
};

static const struct json *find_field(const struct json *fields, const char *name)
{
	json_each(field, fields)
	{
		if (strcasecmp(json_get_str(field, "name"), name) == 0)
			return field;
	}
	return NULL;
}

/* Behind the name at `at`: word, "quoted name", or two of them with a dot. */
static size_t name_end(const char *text, size_t at)
{
	if (text[at] == '"') {
		for (at++; text[at] && (text[at] != '"' || text[at + 1] == '"'); at++)
			at += text[at] == '"';
		return at + 1;
	}
	while (isalnum((unsigned char)text[at]) || text[at] == '_' || (text[at] & 0x80))
		at++;
	return at;
}

static size_t column_end(const char *text, const struct expr *column)
{
	size_t at = name_end(text, column->offset);

	if (!column->dataset)
		return at;
	at += strspn(text + at, " \t\r\n") + 1; /* the dot */
	at += strspn(text + at, " \t\r\n");
	return name_end(text, at);
}

struct columns { /* of an expression, in the order of its text */
	const struct expr *items[256];
	size_t count;
};

static int collect(const struct expr *node, void *data)
{
	struct columns *columns = data;
	size_t at;

	if (node->kind != EXPR_COLUMN)
		return 0;
	if (columns->count == ARRAY_LEN(columns->items))
		return 1;
	for (at = columns->count++; at > 0 && columns->items[at - 1]->offset > node->offset; at--)
		columns->items[at] = columns->items[at - 1];
	columns->items[at] = node;
	return 0;
}

static char *expand(struct expansion *expansion, const struct json *field);

/* The text that stands for a column, or NULL when it stays one. */
static char *standing_for(struct expansion *expansion, const struct json *field,
			  const struct expr *column)
{
	const struct json *other;

	if (column->dataset && strcmp(column->dataset, expansion->dataset) != 0)
		return NULL;
	other = find_field(expansion->fields, column->text);
	if (!other || other == field)
		return NULL;
	for (size_t i = 0; i < expansion->depth; i++) {
		if (expansion->chain[i] == other)
			expansion->again = other;
	}
	if (expansion->again || expansion->depth == CHAIN_MAX)
		return NULL;
	return expand(expansion, other);
}

static bool is_named_like(const struct expr *expr, const struct json *field)
{
	return expr->kind == EXPR_COLUMN &&
	       strcasecmp(expr->text, json_get_str(field, "name")) == 0;
}

/* The field's expression over columns alone. */
static char *expand(struct expansion *expansion, const struct json *field)
{
	const char *text = json_get_str(field, "expression");
	CLEANUP(expr_freep) struct expr *expr = NULL;
	struct columns columns = {.count = 0};
	struct buf out = BUF_INIT;
	size_t at = 0;

	if (expr_parse(text, &expr, NULL, NULL) < 0 || is_named_like(expr, field) ||
	    expr_walk(expr, collect, &columns) != 0)
		return mem_str(text);
	expansion->chain[expansion->depth++] = field;
	for (size_t i = 0; i < columns.count && !expansion->again; i++) {
		CLEANUP(mem_freep) char *other = standing_for(expansion, field, columns.items[i]);

		if (!other)
			continue;
		buf_add(&out, text + at, columns.items[i]->offset - at);
		buf_addf(&out, "(%s)", other);
		at = column_end(text, columns.items[i]);
	}
	expansion->depth--;
	buf_add_str(&out, text + at);
	return buf_take(&out);
}

char *source_expanded(const struct json *fields, const char *dataset, const struct json *field,
		      const char **ret_circle)
{
	struct expansion expansion = {.fields = fields, .dataset = dataset};
	char *text = expand(&expansion, field);

	*ret_circle = expansion.again ? json_get_str(expansion.again, "name") : NULL;
	return text;
}
