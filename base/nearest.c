/* Did you mean: optimal string alignment distance over three rows. Long words are not compared. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 128 /* longer than any name a person types */

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *now = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *oldest = before;

		now[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			now[j] = min3(above[j] + 1, now[j - 1] + 1,
				      above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
			    same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		before = above;
		above = now;
		now = oldest;
	}
	return above[b_len];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count)
{
	size_t len = strlen(word);
	size_t limit = len <= 3 ? 1 : len / 3 > 2 ? len / 3 : 2;
	const char *best = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t candidate_len = strlen(candidates[i]);
		size_t d;

		if (candidate_len > WORD_MAX)
			continue;
		d = distance(word, len, candidates[i], candidate_len);
		if (d > limit || (best && d == limit))
			continue;
		if (d == 0)
			return candidates[i];
		best = candidates[i];
		limit = d;
	}
	return best;
}
