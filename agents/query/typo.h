/*
 * Slips of the finger: a word that nothing explains and that one word of the vocabulary, of the
 * operators or of time can only be meant by. Told to the person as a note, since it is a guess.
 * Of operators and words of time, which are few, any letter may be missing from 6 letters on.
 * Stored values are never guessed: those are asked about. Pure.
 */
#ifndef AGENTS_QUERY_TYPO_H
#define AGENTS_QUERY_TYPO_H

#include "agents/query/items.h"

/* Puts the meant words in place of unknown ones in the sentence; {"written","read"} of each is
 * pushed to mended. True when there was any: then the sentence is to be read again. */
bool typo_mend(struct sentence *sentence, const struct items *items,
	       const struct vocabulary *vocabulary, struct json *mended);

/* Is `written` a slip for `meant`: two neighbours exchanged, a doubled letter made single or a
 * single one doubled, the last letter missing; in a word of 8 letters or more also another one. A
 * wrong letter is none: that is how real words differ. Both folded; the first letter is right, and
 * there are at least 5. */
bool typo_is_slip(const char *written, const char *meant);

#endif
