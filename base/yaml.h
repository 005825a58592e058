/*
 * The one door to libyaml: a strict, position-keeping tree of one YAML document, for files that
 * people write (scope files, writ.yaml, metrics). Refused: duplicate keys, anchors, aliases, merge
 * keys, tags, directives, several documents, tabs for indentation, bad UTF-8, depth over 32, files
 * over 4 MiB, and files with nothing in them.
 * No implicit types: a scalar is its text and whether it was quoted; yaml_want_int() and friends
 * read it.
 * Only `writ` links this.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/nearest.h" /* for its messages */

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml; /* one node; a tree is owned by its root */

/* where names the file in messages ("scopes/sales.yaml"), copied. Errors read file:line:column. */
MUST_CHECK int yaml_parse(const char *where, const char *bytes, size_t len, struct yaml **ret_root,
			  struct err *err);
/* As file_read_at() opens it, so no link in the last component; where = path. */
MUST_CHECK int yaml_load(int dir_fd, const char *path, struct yaml **ret_root, struct err *err);
/* The symbol has another name: libyaml exports a yaml_free of its own, and would call ours. */
void yaml_free(struct yaml *root) __asm__("base_yaml_free");
void yaml_freep(struct yaml **root);

enum yaml_kind yaml_kind(const struct yaml *node);
const char *yaml_file(const struct yaml *node);
int yaml_line(const struct yaml *node);		  /* from 1 */
int yaml_column(const struct yaml *node);	  /* from 1, in characters */
bool yaml_quoted(const struct yaml *node);	  /* also a block text (| or >) */
bool yaml_is_null(const struct yaml *node);	  /* absent, or an unquoted empty, ~ or null */
const char *yaml_text(const struct yaml *scalar); /* NULL unless a scalar */
size_t yaml_len(const struct yaml *container);
const struct yaml *yaml_at(const struct yaml *list, size_t index);
const struct yaml *yaml_get(const struct yaml *map, const char *key); /* NULL when absent */
/* Members in file order. */
const struct yaml *yaml_key(const struct yaml *map, size_t index); /* the key's own node */
const struct yaml *yaml_value(const struct yaml *map, size_t index);

/* The first key from index `at` on that is none of keys, which end with NULL: its index, or
 * yaml_len(map) when there is none. *ret_near is what may have been meant; NULL when nothing is. */
size_t yaml_stray_key(const struct yaml *map, size_t at, const char *const *keys,
		      const char **ret_near);

/* Unquoted decimal digits, with a minus when negative; nothing else is a number. */
MUST_CHECK int yaml_want_int(const struct yaml *node, int64_t min, int64_t max, int64_t *ret,
			     struct err *err);
/* Unquoted true or false; yes, no, on and off are texts. */
MUST_CHECK int yaml_want_bool(const struct yaml *node, bool *ret, struct err *err);

/* err_set() with "file:line:column: " in front, and a caret frame of the source line behind.
 * Control characters are shown as "?". A NULL node gives the message alone. */
int yaml_error(const struct yaml *node, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
