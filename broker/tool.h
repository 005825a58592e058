/*
 * The tools an agent may ask for: one row each in tool.c, with its arguments. To add a tool, start
 * there. The names are also the words of scope files (policy/vocabulary.c).
 */
#ifndef BROKER_TOOL_H
#define BROKER_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum tool_way {
	TOOL_STATEMENT, /* a statement: the connector prepares, the facts are decided on */
	TOOL_VIEW,	/* the connector answers from what the view shows */
	TOOL_BROKER,	/* the broker answers by itself */
};

enum argument_type { ARGUMENT_TEXT, ARGUMENT_INTEGER };

struct tool_argument {
	const char *name;
	enum argument_type type;
	bool required;
	int64_t min; /* of a text: bytes */
	int64_t max;
	int64_t fallback; /* of an integer that is absent, for the schema */
	const char *about;
};

#define TOOL_ARGUMENTS_MAX 3

struct tool {
	const char *name;
	const char *about;
	enum tool_way way;
	bool attempt;					    /* counts as a query attempt */
	bool explain;					    /* runs nothing */
	struct tool_argument arguments[TOOL_ARGUMENTS_MAX]; /* ends at a NULL name */
};

const struct tool *tool_find(const char *name); /* byte for byte; NULL when unknown */
size_t tool_count(void);
const struct tool *tool_at(size_t index);

/* Checks names, types and bounds of all arguments; the error names the member. A statement that is
 * too long is ERR_LIMIT. arguments may be NULL (none). */
MUST_CHECK int tool_check_arguments(const struct tool *tool, const struct json *arguments,
				    struct err *err);

/* The arguments with what an agent left out, as rules see them. The caller owns the result. */
struct json *tool_fill_defaults(const struct tool *tool, const struct json *arguments);

/* {"name","description","inputSchema"}; JSON Schema 2020-12. With several databases each tool also
 * takes "database", whose names are listed. The caller owns the result. */
struct json *tool_describe(const struct tool *tool, const char *const *databases,
			   size_t database_count);

#endif
