/* The words a scope file may use where the program, not the author, defines them: tools, roles and
 * the named lists of SQL functions. Adding a tool or a function list starts here. */
#ifndef POLICY_VOCABULARY_H
#define POLICY_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

struct argument_word {	  /* as an agent gives it, or as the broker fills it in */
	const char *name; /* NULL: no more */
	bool integer;	  /* otherwise a text */
};
#define TOOL_WORD_ARGUMENTS_MAX 3

struct tool_word {
	const char *name;
	/* Decided on what its SQL statement touches, so its view may hold what needs approval. */
	bool statement;
	/* Shows whole rows: its view never joins columns that two rules grant separately. */
	bool shows_rows;
	bool row_limit; /* its rows are bounded by the call */
	/* Every call has all of them: what an agent leaves out has a default. */
	struct argument_word arguments[TOOL_WORD_ARGUMENTS_MAX];
};

extern const struct tool_word tool_words[];
extern const size_t tool_word_count;
const struct tool_word *tool_word_find(const char *name); /* NULL when unknown */

extern const char *const role_words[]; /* NULL-terminated */

struct function_list {
	const char *name;
	const char *about;
	const char *const *functions; /* NULL-terminated, ascending, lower case */
};

extern const struct function_list function_lists[];
extern const size_t function_list_count;
const struct function_list *function_list_find(const char *name); /* NULL when unknown */

#endif
