/*
 * Comparing words. Only what fingers do counts, and the first letter must be right, so that a real
 * word ("county") is not taken for another ("country"). Two different words that could both be
 * meant leave the question as it is. Nothing can fail.
 */
#include "agents/query/typo.h"

#include <string.h>

#include "base/mem.h"

#define SLIP_LEN_MIN 5
#define MISSING_LEN_MIN 8 /* long words have few neighbours */
#define OURS_LEN_MIN 6	  /* words of time and operators are few, and no names */

static size_t common_start(const char *a, const char *b)
{
	size_t len = 0;

	while (a[len] != '\0' && a[len] == b[len])
		len++;
	return len;
}

static bool exchanged(const char *a, const char *b)
{
	size_t at = common_start(a, b);

	return a[at] != '\0' && a[at + 1] != '\0' && a[at] == b[at + 1] && a[at + 1] == b[at] &&
	       strcmp(a + at + 2, b + at + 2) == 0;
}

/* longer has one letter more: a double of its neighbour; if any, whichever; if last, the last. */
static bool one_more(const char *longer, const char *shorter, bool any, bool last)
{
	size_t at = common_start(longer, shorter);
	bool doubled = at > 0 && longer[at] == longer[at - 1];
	bool at_end = longer[at] != '\0' && longer[at + 1] == '\0';

	return longer[at] != '\0' && strcmp(longer + at + 1, shorter + at) == 0 &&
	       (any || doubled || (last && at_end));
}

/* missing_min: from how many letters on any one of them may be missing. */
static bool is_slip(const char *written, const char *meant, size_t missing_min)
{
	size_t len = strlen(written), meant_len = strlen(meant);

	if (len < SLIP_LEN_MIN || meant_len < SLIP_LEN_MIN || written[0] != meant[0])
		return false;
	if (len == meant_len)
		return exchanged(written, meant);
	if (len + 1 == meant_len)
		return one_more(meant, written, meant_len >= missing_min, meant_len > SLIP_LEN_MIN);
	return len == meant_len + 1 && one_more(written, meant, false, false);
}

bool typo_is_slip(const char *written, const char *meant)
{
	return is_slip(written, meant, MISSING_LEN_MIN);
}

struct guess {
	const char *word; /* borrowed */
	char *stem;	  /* owned */
	bool several;
};

static void consider(struct guess *guess, const char *written, const char *meant,
		     size_t missing_min)
{
	CLEANUP(mem_freep) char *stem = NULL;

	if (!is_slip(written, meant, missing_min))
		return;
	stem = word_stem(meant);
	if (guess->word != NULL) {
		guess->several |= strcmp(guess->stem, stem) != 0;
		return;
	}
	guess->word = meant;
	guess->stem = TAKE(stem);
}

static void consider_all(struct guess *guess, const char *written,
			 const struct vocabulary *vocabulary)
{
	static const char *const times[] = {
		"month",  "months",    "monthly", "quarter",  "quarters", "quarterly", "weekly",
		"yearly", "yesterday", "today",	  "january",  "february", "march",     "april",
		"august", "september", "october", "november", "december", "previous"};

	for (size_t i = 0; i < vocabulary->count; i++) {
		const struct phrase *phrase = &vocabulary->phrases[i];

		if (phrase->reading.kind == READ_VALUE || phrase->reading.kind == READ_MISSING)
			continue;
		for (size_t w = 0; w < phrase->words.count; w++)
			consider(guess, written, phrase->words.items[w].text, MISSING_LEN_MIN);
	}
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		consider(guess, written, times[i], OURS_LEN_MIN);
	for (size_t i = 0; items_operator(i) != NULL; i++)
		if (strchr(items_operator(i), ' ') == NULL)
			consider(guess, written, items_operator(i), OURS_LEN_MIN);
}

static bool near_a_value(const struct vocabulary *vocabulary, const struct word *word)
{
	for (size_t i = 0; i < vocabulary->near_count; i++)
		for (size_t w = 0; w < vocabulary->near[i].words.count; w++)
			if (word_same(&vocabulary->near[i].words.items[w], word))
				return true;
	return false;
}

bool typo_mend(struct sentence *sentence, const struct items *items,
	       const struct vocabulary *vocabulary, struct json *mended)
{
	bool any = false;

	for (size_t i = 0; i < items->count; i++) {
		struct word *word = &sentence->items[items->list[i].first];
		struct guess guess = {0};
		struct json *told;

		if (items->list[i].kind != ITEM_UNKNOWN || word->quoted ||
		    word->kind != WORD_NAME || strpbrk(word->text, "0123456789") != NULL ||
		    near_a_value(vocabulary, word))
			continue;
		consider_all(&guess, word->text, vocabulary);
		if (guess.word != NULL && !guess.several) {
			told = json_object();
			json_set_str(told, "written", word->text);
			json_set_str(told, "read", guess.word);
			json_push(mended, told);
			mem_free(word->text);
			mem_free(word->stem);
			word->text = mem_str(guess.word);
			word->stem = word_stem(word->text);
			any = true;
		}
		mem_free(guess.stem);
	}
	return any;
}
