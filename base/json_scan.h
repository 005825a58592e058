/* Between the two halves of the strict reader: json_scan.c knows strings and numbers, json_parse.c
 * the structure. Nobody else includes this. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/json_node.h"

struct arena; /* base/json_doc.c */

struct scan {
	const char *start;
	const char *at; /* the next byte to read */
	const char *end;
	int depth;
	struct err *err;
	struct arena *arena; /* where nodes and texts lie; NULL: cJSON's memory */
};

void *arena_take(struct arena *arena, size_t size); /* aligned; NULL without memory */
/* The text and a NUL; the same text as a name is often the same bytes. NULL without memory. */
char *arena_text(struct arena *arena, const char *text, size_t len);
char *arena_name(struct arena *arena, const char *name, size_t len);

/* Of the arena, or of cJSON. NULL without memory; scan_drop() gives back what lies in no tree. */
void *scan_take(const struct scan *scan, size_t size);
void scan_drop(const struct scan *scan, void *memory);

/* json_parse.c: the whole text; root lies in the arena, or is for cJSON_Delete(). */
int scan_text(const char *bytes, size_t len, size_t len_max, struct arena *arena, cJSON **ret_root,
	      struct err *err);

/* All return -1. at: where the error lies, for its line and column. */
int scan_fail(const struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int scan_fail_limit(const struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int scan_fail_found(const struct scan *scan, const char *wanted);
int scan_fail_memory(const struct scan *scan);

/* scan->at is at the opening quote, and behind the closing one afterwards. The text is of
 * scan_take(); NULL when it fails. */
char *scan_string(struct scan *scan);
char *scan_name(struct scan *scan); /* the same, of a member: never written to */

/* scan->at is at '-' or a digit, and behind the number afterwards. */
int scan_number(struct scan *scan, bool *ret_real, double *ret_value);

#endif
