/* The inside of a YAML tree; for base/yaml*.c only. */
#ifndef BASE_YAML_NODE_H
#define BASE_YAML_NODE_H

#include "base/yaml.h"

/* The file as it was read: error frames quote it. Owned by the root. */
struct yaml_source {
	char *where;
	char *bytes; /* NUL-terminated behind len */
	size_t len;
	size_t *line_starts;
	int line_count;
};

struct yaml {
	enum yaml_kind kind;
	bool quoted;
	bool owns_source; /* the root */
	int line;
	int column;
	struct yaml_source *source;
	char *text;	    /* a scalar's */
	struct yaml **keys; /* a map's, beside items; NULL in a list */
	struct yaml **items;
	size_t len;
	size_t cap;
	size_t *sorted; /* a map's: positions ordered by key */
};

struct yaml_source *yaml_source_new(const char *where, const char *bytes, size_t len);
void yaml_source_free(struct yaml_source *source);

/* Start of line (from 1) in the source, or NULL. Breaks are those of YAML 1.1, as libyaml counts.
 */
const char *yaml_source_line(const struct yaml_source *source, int line);

/* Place of a byte, in lines and characters from 1. */
void yaml_source_place(const struct yaml_source *source, size_t byte, int *ret_line,
		       int *ret_column);

/* "where:line:column: message", newline, and a caret frame. Returns -1. */
int yaml_source_error(const struct yaml_source *source, int line, int column, enum err_kind kind,
		      struct err *err, const char *message);

#endif
