/* Words as people write them, folded for comparing: case, simple plurals, small slips. */
#ifndef BROKER_CONNECTORS_SQLITE_WORDS_H
#define BROKER_CONNECTORS_SQLITE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	char *folded;	   /* lower case, singular; owned */
	const char *start; /* in the text */
	size_t len;
};

struct words {
	struct word *items;
	size_t count;
};

/* At most max words; one more is counted so that the caller sees there were more. Letters and
 * digits of any alphabet; case is folded for Latin, Greek and Cyrillic letters. */
void words_split(struct words *words, const char *text, size_t max);
void words_clear(struct words *words);
char *words_join(const struct words *words, size_t from,
		 size_t count); /* with blanks; caller frees */

/* Letters to change, leave out, add or swap with the next, but no more than max + 1. */
size_t words_distance(const char *a, const char *b, size_t max);

#endif
