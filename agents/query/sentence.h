/*
 * The words of a question: folded to lower case, with a light stem, numbers and dates recognised.
 *
 * A phrase of the semantic model ("net_sales", "Net sales", "AI-team") is cut the same way, so a
 * question and a name meet word by word, whatever joins their parts. The stem only undoes English
 * plurals; it never joins a verb with a noun. Pure: no clock, no locale.
 */
#ifndef AGENTS_QUERY_SENTENCE_H
#define AGENTS_QUERY_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

#define SENTENCE_WORDS_MAX 512 /* a question of 4 KiB in words of eight letters */

enum word_kind {
	WORD_NAME,   /* letters, digits */
	WORD_NUMBER, /* 42, 1,000, 2.5, 10k */
	WORD_DATE,   /* 2026-07-01; day 0 for 2026-07 */
};

struct word {
	enum word_kind kind;
	size_t at;   /* byte offset in the text */
	size_t len;  /* bytes there */
	char *text;  /* folded; owned */
	char *stem;  /* owned */
	char mark;   /* the last mark between the word before and this one: , ; : . ? ! ( ) - / or 0
		      */
	bool quoted; /* inside double or curved quotes */
	bool capital;	 /* begins with A to Z in the text */
	bool ordinal;	 /* 1st, third */
	bool has_number; /* number is meant: digits, or a number word such as "three" */
	bool percent;	 /* a number with % behind it */
	bool real;	 /* the number has a fraction */
	double number;
	struct date date; /* WORD_DATE */
	bool date_ok;	  /* WORD_DATE: such a day exists */
};

struct sentence {
	struct word *items; /* owned */
	size_t count;
};

/* ERR_LIMIT above SENTENCE_WORDS_MAX words, ERR_INVALID for bytes that are not UTF-8. */
MUST_CHECK int sentence_read(const char *text, struct sentence *ret_sentence, struct err *err);
void sentence_clear(struct sentence *sentence);

/* The word is text (folded), or has the same stem as text has. */
bool word_is(const struct word *word, const char *text);
bool word_in(const struct word *word, const char *const *list); /* NULL-terminated, exact texts */
/* Same text or same stem. */
bool word_same(const struct word *a, const struct word *b);

/* How many words from `at` on spell the phrase, in its order: all of them or 0. */
size_t sentence_match(const struct sentence *sentence, size_t at, const struct sentence *phrase);
/* As sentence_match() for a phrase written out: "how many". */
size_t sentence_spell(const struct sentence *sentence, size_t at, const char *phrase);

/* Words that carry no meaning of their own in a question about data: a closed list. */
bool word_is_filler(const struct word *word);

/* A copy of the part of text that the words first .. first + count - 1 span. */
char *sentence_quote(const char *text, const struct sentence *sentence, size_t first, size_t count);

/* The singular of a folded English word ("categories" -> "category"); owned by the caller. */
char *word_stem(const char *folded);

#endif
