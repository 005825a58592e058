/* The rows of an answer for other programs: csv, json, jsonl, md. The proof (SQL, rows, bytes,
 * records) goes to stderr, so that a pipe carries rows alone. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"

bool export_knows(const char *format);
void export_rows(const char *format, const struct json *answer, FILE *out);
void export_proof(const struct json *answer, FILE *out);

#endif
