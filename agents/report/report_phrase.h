/* The texts that a report may contain as wholes: what is known to be true of a result whatever
 * stands around it, the names of columns, and the labels of rows. */
#ifndef AGENTS_REPORT_REPORT_PHRASE_H
#define AGENTS_REPORT_REPORT_PHRASE_H

#include "agents/report/report_view.h"

enum phrase_kind {
	PHRASE_MEASURE,	  /* names a column of values */
	PHRASE_DIMENSION, /* names a column of labels */
	PHRASE_LABEL,	  /* names a row */
	PHRASE_KNOWN,	  /* filters, definitions, the header: their numbers are no values */
};

struct phrase {
	enum phrase_kind kind;
	char *text; /* owned; as it stands in a report */
	size_t len;
	char *meaning; /* owned; of a label its bare text, of a column its label */
};

struct phrases {
	struct phrase *items; /* ordered by first byte, the longest first */
	size_t count;
	size_t cap;
	size_t first[257]; /* items[first[b]..first[b + 1]) begin with byte b, lower case */
};

void phrases_init(struct phrases *phrases, const struct report_view *view);
void phrases_clear(struct phrases *phrases);
/* The longest phrase that stands at text + at as whole words, or NULL. Labels match by exact case.
 */
const struct phrase *phrases_at(const struct phrases *phrases, const char *text, size_t at);

/* Is the byte part of a word (letter, digit, underscore, any of a UTF-8 character)? */
bool report_word_byte(char c);

#endif
