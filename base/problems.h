/*
 * Mistakes in files that people write, gathered so that one run shows them all. Each has a stable
 * code, its place, and the whole text for a terminal: "file:line:column: message" and a caret
 * frame.
 */
#ifndef BASE_PROBLEMS_H
#define BASE_PROBLEMS_H

#include <stdio.h>

#include "base/err.h"
#include "base/json.h"
#include "base/yaml.h"

enum problem_severity { PROBLEM_ERROR, PROBLEM_WARNING };

struct problem {
	enum problem_severity severity;
	const char *code; /* static: unknown_key, missing_key, ... */
	char *file;	  /* owned, as the texts; "" when the problem has no place */
	int line;	  /* from 1; 0 without a place */
	int column;
	char *message; /* one line, without the place */
	char *text;    /* with place and frame */
};

struct problems {
	struct problem *items;
	size_t count;
	size_t error_count;
	size_t unshown; /* beyond PROBLEMS_MAX, counted only */
};

#define PROBLEMS_MAX 1000u
#define PROBLEMS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0, 0                                                                      \
	}

void problems_clear(struct problems *problems);
/* At the node; a NULL node gives a problem without a place. */
void problems_add(struct problems *problems, enum problem_severity severity, const char *code,
		  const struct yaml *node, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* An error whose text carries its place already, as yaml_load() makes them. */
void problems_add_err(struct problems *problems, const char *code, const struct err *err);
/* By file, line and column; those without a place last. */
void problems_sort(struct problems *problems);
void problems_print(const struct problems *problems, FILE *out);
/* [{"severity","code","file","line","column","message"}]. The caller owns the result. */
struct json *problems_json(const struct problems *problems);

#endif
