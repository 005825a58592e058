/*
 * Deliberately simple: English plurals by their endings, case by the blocks where upper and lower
 * lie in parallel. A wrong fold makes a near miss, never a wrong value: values are shown as stored.
 */
#include "broker/connectors/sqlite_words.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define DISTANCE_LEN_MAX 128

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80;
}

/* Two-byte UTF-8 only: U+0080 to U+07FF. */
static unsigned int fold_scalar(unsigned int scalar)
{
	if ((scalar >= 0xc0 && scalar <= 0xde && scalar != 0xd7) ||
	    (scalar >= 0x391 && scalar <= 0x3a9 && scalar != 0x3a2) ||
	    (scalar >= 0x410 && scalar <= 0x42f))
		return scalar + 0x20;
	if (scalar >= 0x400 && scalar <= 0x40f)
		return scalar + 0x50;
	if ((scalar >= 0x100 && scalar <= 0x137) || (scalar >= 0x14a && scalar <= 0x177))
		return scalar | 1u;
	if ((scalar >= 0x139 && scalar <= 0x148) || (scalar >= 0x179 && scalar <= 0x17e))
		return scalar + (scalar & 1u);
	return scalar;
}

static void fold_case(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t step = utf8_char_len(text + i, len - i);
		unsigned char first = (unsigned char)text[i];
		char bytes[4];

		if (step == 2) {
			unsigned int scalar =
				((first & 0x1fu) << 6) | ((unsigned char)text[i + 1] & 0x3fu);

			buf_add(out, bytes, utf8_encode(fold_scalar(scalar), bytes));
		} else if (first >= 'A' && first <= 'Z') {
			buf_add_char(out, (char)(first + 'a' - 'A'));
		} else {
			buf_add(out, text + i, step ? step : 1);
		}
		i += step ? step : 1;
	}
}

static bool ends(const char *word, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len > n && memcmp(word + len - n, with, n) == 0;
}

static void make_singular(char *word)
{
	static const char *const es[] = {"xes", "sses", "zes", "ches", "shes"};
	size_t len = strlen(word);

	if (len < 4 || word[len - 1] != 's')
		return;
	if (len > 4 && ends(word, len, "ies")) {
		memcpy(word + len - 3, "y", 2);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(es); i++) {
		if (ends(word, len, es[i])) {
			word[len - 2] = '\0';
			return;
		}
	}
	if (!ends(word, len, "ss") && !ends(word, len, "us") && !ends(word, len, "is"))
		word[len - 1] = '\0';
}

static void add_word(struct words *words, const char *start, size_t len)
{
	struct buf folded = BUF_INIT;
	struct word *word;

	fold_case(&folded, start, len);
	words->items = mem_grow(words->items, (words->count + 1) * sizeof(*words->items));
	word = &words->items[words->count++];
	*word = (struct word){buf_take(&folded), start, len};
	make_singular(word->folded);
}

void words_split(struct words *words, const char *text, size_t max)
{
	*words = (struct words){0};
	while (*text && words->count <= max) {
		const char *start = text;
		bool possessive;

		if (!is_letter((unsigned char)*text)) {
			text++;
			continue;
		}
		while (is_letter((unsigned char)*text))
			text++;
		/* the s of "Acme's" belongs to no name */
		possessive = words->count > 0 && text - start == 1 &&
			     (*start == 's' || *start == 'S') && start[-1] == '\'';
		if (!possessive)
			add_word(words, start, (size_t)(text - start));
	}
}

void words_clear(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		mem_free(words->items[i].folded);
	mem_free(words->items);
	*words = (struct words){0};
}

char *words_join(const struct words *words, size_t from, size_t count)
{
	struct buf text = BUF_INIT;

	for (size_t i = from; i < from + count; i++) {
		buf_add_str(&text, i > from ? " " : "");
		buf_add_str(&text, words->items[i].folded);
	}
	return buf_take(&text);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t words_distance(const char *a, const char *b, size_t max)
{
	size_t rows[3][DISTANCE_LEN_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	size_t a_len = strlen(a), b_len = strlen(b);
	size_t best_above = 0;

	if (a_len > DISTANCE_LEN_MAX || b_len > DISTANCE_LEN_MAX ||
	    (a_len > b_len ? a_len - b_len : b_len - a_len) > max)
		return max + 1;
	for (size_t j = 0; j <= b_len; j++)
		above[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *spare = before;
		size_t best = row[0] = i;

		for (size_t j = 1; j <= b_len; j++) {
			size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least(change, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
			best = least(best, row[j]);
		}
		if (best > max && best_above > max) /* a swap looks two rows back */
			return max + 1;
		best_above = best;
		before = above;
		above = row;
		row = spare;
	}
	return least(above[b_len], max + 1);
}
