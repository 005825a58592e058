/*
 * Is an answer right? Rows are compared as a multiset of values: the order of rows counts only when
 * the question asks for one, names of columns never do, and within a row it does not matter which
 * column comes first. Numbers may differ by the tolerance; a number and a text never are equal;
 * missing values equal each other. Pure.
 */
#ifndef CLI_EVAL_COMPARE_H
#define CLI_EVAL_COMPARE_H

#include <stdbool.h>

#include "base/json.h"

struct compare_rules {
	bool ordered;
	bool extra; /* the answer's rows may have more values than the right ones */
	double tolerance;
};

bool compare_rows(const struct json *right, const struct json *got,
		  const struct compare_rules *rules);

#endif
