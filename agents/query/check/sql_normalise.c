/*
 * SQLite's SQL in words that PostgreSQL's grammar takes. Each token is written with a blank before
 * it, since the two disagree where operators end ("a<-1"). Cannot fail: what is still foreign is
 * for the parser to refuse.
 */
#include "agents/query/check/sql_scan.h"

#include <string.h>
#include <strings.h>

enum clause { CLAUSE_OTHER, CLAUSE_FROM, CLAUSE_ON, CLAUSE_LIMIT };

struct frame { /* one level of parentheses */
	enum clause clause;
	bool derived; /* a sub-query in FROM */
};

struct writer {
	struct sql_tokens *tokens;
	struct buf *out;
	struct frame frames[SQL_DEPTH_MAX + 2];
	size_t depth;
	unsigned names; /* given to sub-queries that have none */
};

static bool is(const struct writer *writer, size_t index, const char *text)
{
	return sql_token_is(writer->tokens, index, text);
}

static bool is_any(const struct writer *writer, size_t index, const char *const *words)
{
	for (; *words; words++) {
		if (is(writer, index, *words))
			return true;
	}
	return false;
}

/* Keywords that may follow a table in FROM, so that they are no alias. */
static const char *const after_table[] = {"WHERE", "GROUP",   "ORDER",	   "LIMIT",  "HAVING",
					  "JOIN",  "LEFT",    "RIGHT",	   "FULL",   "INNER",
					  "CROSS", "NATURAL", "OUTER",	   "ON",     "USING",
					  "UNION", "EXCEPT",  "INTERSECT", "WINDOW", NULL};

/* SQLite's keywords are fewer: these may be names there, and are not in PostgreSQL. */
static const char *const names_elsewhere[] = {
	"user",		"array",	  "analyse",	 "authorization", "binary",
	"both",		"leading",	  "trailing",	 "placing",	  "symmetric",
	"asymmetric",	"lateral",	  "variadic",	 "only",	  "similar",
	"verbose",	"freeze",	  "tablesample", "fetch",	  "grant",
	"concurrently", "some",		  "any",	 "column",	  "session_user",
	"localtime",	"localtimestamp", NULL};

static void put(struct writer *writer, const char *text)
{
	buf_addf(writer->out, " %s", text);
}

static void put_token(struct writer *writer, const struct sql_token *token)
{
	buf_add_char(writer->out, ' ');
	buf_add(writer->out, writer->tokens->text + token->start, token->end - token->start);
}

static void put_name(struct writer *writer, const struct sql_token *token)
{
	const char *text = writer->tokens->text + token->start + 1;
	size_t len = token->end - token->start - 2;
	char quote = text[-1];

	buf_add_str(writer->out, " \"");
	for (size_t i = 0; i < len; i++) {
		if (quote == '`' && text[i] == '`')
			i++; /* doubled */
		if (quote != '"' && text[i] == '"')
			buf_add_char(writer->out, '"');
		buf_add_char(writer->out, text[i]);
	}
	buf_add_char(writer->out, '"');
}

static void note_clause(struct writer *writer, size_t index)
{
	static const char *const others[] = {"SELECT",	  "WHERE",  "GROUP", "HAVING",
					     "WINDOW",	  "ORDER",  "UNION", "EXCEPT",
					     "INTERSECT", "OFFSET", NULL};
	struct frame *frame = &writer->frames[writer->depth];

	if (is(writer, index, "FROM") && !(index > 0 && is(writer, index - 1, "DISTINCT")))
		frame->clause = CLAUSE_FROM;
	else if (is(writer, index, "JOIN"))
		frame->clause = CLAUSE_FROM;
	else if (is(writer, index, "ON") || is(writer, index, "USING"))
		frame->clause = CLAUSE_ON;
	else if (is(writer, index, "LIMIT"))
		frame->clause = CLAUSE_LIMIT;
	else if (is_any(writer, index, others))
		frame->clause = CLAUSE_OTHER;
}

static void open_parenthesis(struct writer *writer, size_t index)
{
	static const char *const before[] = {"FROM", "JOIN", ",", NULL};
	static const char *const queries[] = {"SELECT", "WITH", "VALUES", NULL};
	const struct frame *outer = &writer->frames[writer->depth];
	struct frame inner = {.clause = CLAUSE_OTHER};
	bool table =
		index > 0 && ((outer->clause != CLAUSE_OTHER && outer->clause != CLAUSE_LIMIT &&
			       is_any(writer, index - 1, before)) ||
			      (outer->clause == CLAUSE_FROM && is(writer, index - 1, "(")));

	if (table && is_any(writer, index + 1, queries))
		inner.derived = true;
	else if (table)
		inner.clause = CLAUSE_FROM; /* (a JOIN b ON ...) */
	put(writer, "(");
	writer->frames[++writer->depth] = inner;
}

static void close_parenthesis(struct writer *writer, size_t index)
{
	const struct sql_tokens *tokens = writer->tokens;
	bool derived = writer->frames[writer->depth].derived;
	bool named = index + 1 < tokens->count && tokens->items[index + 1].kind != SQL_SIGN &&
		     !is_any(writer, index + 1, after_table);

	writer->depth--;
	put(writer, ")");
	if (derived && !named)
		buf_addf(writer->out, " AS \"unnamed %u\"", ++writer->names);
}

/* Returns how many further tokens were dealt with. */
static size_t put_is(struct writer *writer, size_t index)
{
	static const char *const kept[] = {"NULL", "TRUE", "FALSE", "DISTINCT", "UNKNOWN", NULL};
	bool negated = is(writer, index + 1, "NOT");

	if (is_any(writer, index + 1 + negated, kept)) {
		put(writer, "IS");
		return 0;
	}
	put(writer, negated ? "IS DISTINCT FROM" : "IS NOT DISTINCT FROM");
	return negated;
}

/* x IN table, x IN schema.table */
static size_t put_in(struct writer *writer, size_t index)
{
	const struct sql_tokens *tokens = writer->tokens;

	put(writer, "IN");
	if (index + 1 >= tokens->count || is(writer, index + 1, "("))
		return 0;
	put(writer, "( SELECT NULL )");
	return is(writer, index + 2, ".") ? 3 : 1;
}

static bool operand(const struct writer *writer, size_t index)
{
	const struct sql_tokens *tokens = writer->tokens;

	return tokens->items[index].kind != SQL_SIGN || is(writer, index, ")");
}

/* Has the JOIN at index an ON or USING before the next table? SQLite does without. */
static bool has_condition(const struct writer *writer, size_t index)
{
	const struct sql_tokens *tokens = writer->tokens;
	int depth = tokens->items[index].depth;

	for (size_t i = index + 1; i < tokens->count && tokens->items[i].depth >= depth; i++) {
		if (tokens->items[i].depth > depth)
			continue;
		if (is(writer, i, "ON") || is(writer, i, "USING"))
			return true;
		if (is(writer, i, ",") || is_any(writer, i, after_table))
			return false;
	}
	return false;
}

/* JOIN or INNER JOIN without a condition is CROSS JOIN. */
static bool put_join(struct writer *writer, size_t index)
{
	static const char *const kinds[] = {"NATURAL", "CROSS", "LEFT", "RIGHT",
					    "FULL",    "OUTER", NULL};
	bool inner = is(writer, index, "INNER") && is(writer, index + 1, "JOIN");

	if (inner && is(writer, index - 1, "NATURAL"))
		return false;
	if (inner)
		return !has_condition(writer, index + 1); /* CROSS takes its place */
	if (!is(writer, index, "JOIN") || index == 0 || is_any(writer, index - 1, kinds) ||
	    has_condition(writer, index) ||
	    (is(writer, index - 1, "INNER") && index > 1 && is(writer, index - 2, "NATURAL")))
		return false;
	put(writer, "CROSS JOIN");
	return true;
}

static size_t put_word(struct writer *writer, size_t index)
{
	static const char *const likes[] = {"GLOB", "MATCH", "REGEXP", NULL};
	const struct sql_token *token = &writer->tokens->items[index];
	bool call = is(writer, index + 1, "(");

	note_clause(writer, index);
	if (put_join(writer, index))
		return 0;
	if (is(writer, index, "IS"))
		return put_is(writer, index);
	if (is(writer, index, "IN"))
		return put_in(writer, index);
	if (is(writer, index, "INDEXED") && is(writer, index + 1, "BY"))
		return 2;
	if (is(writer, index, "NOT") && is(writer, index + 1, "INDEXED"))
		return 1;
	if (is_any(writer, index, likes) && index > 0 && operand(writer, index - 1) &&
	    !is(writer, index - 1, "SELECT")) {
		put(writer, "LIKE");
		return 0;
	}
	if (!call && is_any(writer, index, names_elsewhere)) {
		buf_addf(writer->out, " \"%.*s\"", (int)(token->end - token->start),
			 writer->tokens->text + token->start);
		return 0;
	}
	put_token(writer, token);
	return 0;
}

static void put_sign(struct writer *writer, size_t index)
{
	if (is(writer, index, "("))
		open_parenthesis(writer, index);
	else if (is(writer, index, ")"))
		close_parenthesis(writer, index);
	else if (is(writer, index, "=="))
		put(writer, "=");
	else if (is(writer, index, ",") && writer->frames[writer->depth].clause == CLAUSE_LIMIT)
		put(writer, "OFFSET");
	else
		put_token(writer, &writer->tokens->items[index]);
}

static size_t put_any(struct writer *writer, size_t index)
{
	const struct sql_token *token = &writer->tokens->items[index];
	const char *text = writer->tokens->text + token->start;

	switch (token->kind) {
	case SQL_WORD:
		return put_word(writer, index);
	case SQL_NAME:
		put_name(writer, token);
		return 0;
	case SQL_NUMBER:
		if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
			put(writer, "0");
		else
			put_token(writer, token);
		return 0;
	case SQL_STRING:
		put_token(writer, token);
		return 0;
	case SQL_SIGN:
		put_sign(writer, index);
		return 0;
	}
	return 0;
}

void sql_tokens_normalise(struct sql_tokens *tokens, struct buf *out)
{
	struct writer writer = {.tokens = tokens, .out = out};

	for (size_t i = 0; i < tokens->count; i++) {
		size_t more;

		tokens->items[i].at = out->len + 1;
		more = put_any(&writer, i);
		for (; more > 0 && i + 1 < tokens->count; more--)
			tokens->items[++i].at = out->len;
	}
}
