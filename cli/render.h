/* Answers and call results as people read them. */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include <stdio.h>

#include "base/json.h"

/* Words, table with bars, SQL, rows, bytes, definition, flags, records; or why not, or the question
 * back. Whatever the answer holds, no control character of it reaches the terminal. */
void render_answer(const struct json *answer, FILE *out);
void render_call(const char *tool, const struct json *result, FILE *out);
/* One line of --trace. */
void render_trace(const struct json *event, FILE *out);
/* 0 for completed, 1 for every other outcome. */
int answer_exit_code(const struct json *answer);

#endif
