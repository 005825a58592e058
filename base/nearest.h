/* "Did you mean": the candidate nearest to a mistyped word. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Distance counts inserted, dropped, changed and swapped neighbouring characters, ignoring case: at
 * most 2 (1 for words of up to 3 characters) or a third of the word's length. Ties fall to the
 * first. NULL when nothing is near; a word that is itself a candidate is its own nearest. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
