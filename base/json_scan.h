/* Between the two halves of the strict reader: json_scan.c knows strings and numbers, json_parse.c
 * the structure. Nobody else includes this. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/json_node.h"

struct scan {
	const char *start;
	const char *at; /* the next byte to read */
	const char *end;
	int depth;
	struct err *err;
};

/* All return -1. at: where the error lies, for its line and column. */
int scan_fail(const struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int scan_fail_limit(const struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int scan_fail_found(const struct scan *scan, const char *wanted);
int scan_fail_memory(const struct scan *scan);

/* scan->at is at the opening quote, and behind the closing one afterwards. The text is for
 * cJSON_free(); NULL when it fails. */
char *scan_string(struct scan *scan);

/* scan->at is at '-' or a digit, and behind the number afterwards. */
int scan_number(struct scan *scan, bool *ret_real, double *ret_value);

#endif
