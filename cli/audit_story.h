/* The records of one task as a tree: who asked, what was handed to whom, tokens, calls with their
 * decisions and results, and the answer. */
#ifndef CLI_AUDIT_STORY_H
#define CLI_AUDIT_STORY_H

#include "cli/audit_filter.h"

struct story;

/* book: may be NULL; what it opens is shown, the rest is only counted. */
struct story *story_new(struct opening_book *book);
void story_free(struct story *story);
void story_add(struct story *story, struct json *record); /* taken; in the order of the log */
void story_print(const struct story *story, const struct audit_filter *filter);

#endif
