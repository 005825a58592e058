/* A run of a suite for people and machines: text, JUnit XML, one self-contained page. Pure. */
#ifndef CLI_EVAL_REPORT_H
#define CLI_EVAL_REPORT_H

#include <stdio.h>

#include "base/json.h"

/* Share of right ones among those that count (excluded ones do not); 1 when none counts. */
double report_accuracy(const struct json *run);

/* What is not right, case by case, and the sums. other: a run with the other workflow, shown beside
 * it; NULL when there is none. */
void report_text(const struct json *run, const struct json *other, FILE *out);

/* What changed since an earlier run of the suite: a line for each case with another outcome.
 * Returns how many that were right are not any more. */
size_t report_changes(const struct json *before, const struct json *run, FILE *out);

void report_junit(const struct json *run, FILE *out);
void report_html(const struct json *run, const struct json *other, FILE *out);

#endif
