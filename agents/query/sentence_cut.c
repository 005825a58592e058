/*
 * Cutting a question into words. One pass over the bytes: letters and digits make words, the
 * apostrophe parts a possessive or a contraction from its word, every other mark ends a word and
 * is remembered on the next one. What can fail: bytes that are not UTF-8, and too many words.
 */
#include "agents/query/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* One code point, or 0 when the bytes are not UTF-8. NUL never occurs inside a C string. */
static uint32_t utf8_next(const char *text, size_t *ret_len)
{
	static const uint32_t bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *s = (const unsigned char *)text;
	size_t len = utf8_char_len(text, strnlen(text, 4));
	uint32_t code = s[0] & bits[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3fu);
	*ret_len = len > 0 ? len : 1;
	return len > 0 ? code : 0;
}

static void utf8_add(struct buf *out, uint32_t code)
{
	char bytes[4];

	buf_add(out, bytes, utf8_encode(code, bytes));
}

/* Lower case for Latin, Greek and Cyrillic, where it is a fixed step in Unicode's tables. */
static uint32_t fold(uint32_t code)
{
	if (code >= 'A' && code <= 'Z')
		return code + 32;
	if (code >= 0xc0 && code <= 0xde && code != 0xd7)
		return code + 32;
	if (code >= 0x100 && code <= 0x137 && code != 0x130 && code % 2 == 0)
		return code + 1;
	if (((code >= 0x139 && code <= 0x147) || (code >= 0x179 && code <= 0x17d)) && code % 2 == 1)
		return code + 1;
	if (code >= 0x14a && code <= 0x176 && code % 2 == 0)
		return code + 1;
	if (code >= 0x391 && code <= 0x3a9)
		return code + 32;
	if (code >= 0x410 && code <= 0x42f)
		return code + 32;
	if (code >= 0x400 && code <= 0x40f)
		return code + 80;
	return code;
}

static bool is_digit(uint32_t code)
{
	return code >= '0' && code <= '9';
}

/* Typographic marks and blanks count as marks; every other code above ASCII is a letter. */
static bool is_letter(uint32_t code)
{
	if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'))
		return true;
	if (code < 0xaa)
		return false;
	return !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x303f) &&
	       code != 0xab && code != 0xbb && code != 0xbf && code != 0xd7 && code != 0xf7 &&
	       code != 0xfeff;
}

static bool is_apostrophe(uint32_t code)
{
	return code == '\'' || code == 0x2019 || code == 0x2018;
}

static bool is_double_quote(uint32_t code)
{
	return code == '"' || code == 0x201c || code == 0x201d || code == 0xab || code == 0xbb;
}

static const struct {
	const char *text;
	double number;
	bool ordinal;
} number_words[] = {
	{"zero", 0, false},    {"one", 1, false},	{"two", 2, false},
	{"three", 3, false},   {"four", 4, false},	{"five", 5, false},
	{"six", 6, false},     {"seven", 7, false},	{"eight", 8, false},
	{"nine", 9, false},    {"ten", 10, false},	{"eleven", 11, false},
	{"twelve", 12, false}, {"fifteen", 15, false},	{"twenty", 20, false},
	{"thirty", 30, false}, {"sixty", 60, false},	{"ninety", 90, false},
	{"dozen", 12, false},  {"hundred", 100, false}, {"first", 1, true},
	{"second", 2, true},   {"third", 3, true},	{"fourth", 4, true},
};

static void word_number(struct word *word)
{
	for (size_t i = 0; i < ARRAY_LEN(number_words); i++) {
		if (strcmp(word->text, number_words[i].text) == 0) {
			word->has_number = true;
			word->number = number_words[i].number;
			word->ordinal = number_words[i].ordinal;
			return;
		}
	}
}

struct cutter {
	const char *text;
	size_t at;
	char mark;
	bool quoted;
	struct sentence *sentence;
};

static struct word *add_word(struct cutter *cutter, size_t from, size_t to, char *folded)
{
	struct sentence *sentence = cutter->sentence;
	struct word *word = &sentence->items[sentence->count++];

	memset(word, 0, sizeof(*word));
	word->at = from;
	word->len = to - from;
	word->text = folded;
	word->stem = word_stem(folded);
	word->mark = cutter->mark;
	word->quoted = cutter->quoted;
	word->capital = cutter->text[from] >= 'A' && cutter->text[from] <= 'Z';
	cutter->mark = 0;
	word_number(word);
	return word;
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* 2026-07-01 or 2026-07, not followed by more letters or digits. */
static size_t date_at(const char *text, struct date *ret_date)
{
	size_t len = 7;
	struct date date = {0, 0, 0};

	if (digits_at(text) != 4 || text[4] != '-' || digits_at(text + 5) != 2)
		return 0;
	date.year = atoi(text);
	date.month = atoi(text + 5);
	if (text[7] == '-' && digits_at(text + 8) == 2) {
		date.day = atoi(text + 8);
		len = 10;
	} else if (text[7] == '-' && is_digit((unsigned char)text[8])) {
		return 0;
	}
	if (is_letter((unsigned char)text[len]) || is_digit((unsigned char)text[len]))
		return 0;
	*ret_date = date;
	return len;
}

static bool date_exists(struct date date)
{
	if (date.year < 1 || date.month < 1 || date.month > 12)
		return false;
	return date.day <= date_month_days(date.year, date.month) && (date.day > 0);
}

static bool cut_date(struct cutter *cutter)
{
	const char *text = cutter->text + cutter->at;
	struct date date;
	size_t len = date_at(text, &date);
	struct word *word;

	if (len == 0)
		return false;
	word = add_word(cutter, cutter->at, cutter->at + len, mem_strn(text, len));
	word->kind = WORD_DATE;
	word->date = date;
	if (len == 7)
		date.day = 1;
	word->date_ok = date_exists(date);
	cutter->at += len;
	return true;
}

/* "1,000" and "1,000,000": groups of exactly three; the digits without the commas. */
static size_t integer_at(const char *text, struct buf *digits)
{
	size_t len = digits_at(text);

	buf_add(digits, text, len);
	while (len > 0 && len % 4 <= 3 && text[len] == ',' && digits_at(text + len + 1) == 3 &&
	       digits->len <= 15) {
		buf_add(digits, text + len + 1, 3);
		len += 4;
	}
	return len;
}

static double suffix_factor(const char *text, size_t *ret_len)
{
	static const struct {
		const char *text;
		double factor;
	} suffixes[] = {{"k", 1e3}, {"K", 1e3}, {"m", 1e6}, {"M", 1e6}, {"bn", 1e9}};

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		size_t len = strlen(suffixes[i].text);
		unsigned char behind = 0;

		if (strncmp(text, suffixes[i].text, len) != 0)
			continue;
		behind = (unsigned char)text[len];
		if (!is_letter(behind) && !is_digit(behind) && behind < 0x80) {
			*ret_len = len;
			return suffixes[i].factor;
		}
	}
	*ret_len = 0;
	return 1;
}

static bool ordinal_at(const char *text)
{
	static const char *const ends[] = {"st", "nd", "rd", "th"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strncmp(text, ends[i], 2) == 0 && !is_letter((unsigned char)text[2]))
			return true;
	return false;
}

/* A run that begins with a digit: a number, an ordinal, or (false) a name such as "3com". */
static bool cut_number(struct cutter *cutter)
{
	CLEANUP(buf_clear) struct buf digits = BUF_INIT;
	const char *text = cutter->text + cutter->at;
	size_t len = integer_at(text, &digits);
	size_t suffix = 0;
	double factor = 1;
	bool real = false;
	bool ordinal = false;
	struct word *word;

	if (text[len] == '.' && is_digit((unsigned char)text[len + 1])) {
		size_t fraction = 1 + digits_at(text + len + 1);

		buf_add(&digits, text + len, fraction);
		len += fraction;
		real = true;
	}
	factor = suffix_factor(text + len, &suffix);
	ordinal = !real && suffix == 0 && ordinal_at(text + len);
	len += ordinal ? 2 : suffix;
	if (is_letter((unsigned char)text[len]) || (unsigned char)text[len] >= 0xc2 || len > 32)
		return false;
	word = add_word(cutter, cutter->at, cutter->at + len, mem_strn(text, len));
	for (char *c = word->text; *c != '\0'; c++)
		*c = (char)fold((unsigned char)*c);
	word->kind = WORD_NUMBER;
	word->has_number = true;
	word->number = strtod(buf_str(&digits), NULL) * factor;
	word->real = real;
	word->ordinal = ordinal;
	word->percent = text[len] == '%';
	cutter->at += len + (word->percent ? 1 : 0);
	return true;
}

/* The tail behind an apostrophe that is not a part of the name: region's, don't, we'll. */
static const struct {
	const char *tail;
	const char *word; /* the word it stands for; NULL: nothing (possessive, "is", "will") */
} tails[] = {{"s", NULL}, {"re", NULL}, {"ve", NULL}, {"ll", NULL},
	     {"d", NULL}, {"m", NULL},	{"t", "not"}};

static const char *const *tail_at(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		size_t len = strlen(tails[i].tail);

		if (strncmp(text, tails[i].tail, len) == 0 &&
		    !is_letter((unsigned char)text[len]) && (unsigned char)text[len] < 0xc2) {
			*ret_len = len;
			return &tails[i].word;
		}
	}
	return NULL;
}

/* don't -> do not, can't -> can not, isn't -> is not. */
static void cut_contraction(struct cutter *cutter, struct word *word)
{
	size_t len = strlen(word->text);
	size_t keep = len > 2 && word->text[len - 1] == 'n' ? len - 1 : len;

	if (strcmp(word->text, "can") == 0)
		keep = len;
	word->text[keep] = '\0';
	mem_free(word->stem);
	word->stem = word_stem(word->text);
	add_word(cutter, word->at, cutter->at, mem_str("not"));
}

static void cut_tail(struct cutter *cutter, struct word *word)
{
	const char *text = cutter->text + cutter->at;
	size_t len = 0;
	size_t mark_len = 0;
	const char *const *stands_for = NULL;

	if (!is_apostrophe(utf8_next(text, &mark_len)))
		return;
	stands_for = tail_at(text + mark_len, &len);
	if (stands_for == NULL)
		return;
	cutter->at += mark_len + len;
	if (*stands_for != NULL)
		cut_contraction(cutter, word);
}

/* O'Brien and d'Or are one word; a tail such as 's is not a part of it. */
static bool joins(const char *text, size_t mark_len)
{
	size_t ignored = 0;

	return is_letter(utf8_next(text + mark_len, &ignored)) &&
	       tail_at(text + mark_len, &ignored) == NULL;
}

static void cut_name(struct cutter *cutter)
{
	CLEANUP(buf_clear) struct buf folded = BUF_INIT;
	size_t from = cutter->at;

	for (;;) {
		size_t len = 0;
		uint32_t code = utf8_next(cutter->text + cutter->at, &len);

		if (is_letter(code) || is_digit(code))
			utf8_add(&folded, fold(code));
		else if (!is_apostrophe(code) || !joins(cutter->text + cutter->at, len))
			break;
		cutter->at += len;
	}
	cut_tail(cutter, add_word(cutter, from, cutter->at, buf_take(&folded)));
}

static void skip_mark(struct cutter *cutter, uint32_t code, size_t len)
{
	if (code == '%') /* behind a number it was taken with it */
		add_word(cutter, cutter->at, cutter->at + 1, mem_str("percent"));
	else if (is_double_quote(code))
		cutter->quoted = !cutter->quoted;
	else if (code == 0x2013 || code == 0x2014)
		cutter->mark = '-';
	else if (code < 0x80 && strchr(",;:.?!()-/", (int)code) != NULL)
		cutter->mark = (char)code;
	cutter->at += len;
}

static int cut(struct cutter *cutter, struct err *err)
{
	while (cutter->text[cutter->at] != '\0') {
		size_t len = 0;
		uint32_t code = utf8_next(cutter->text + cutter->at, &len);

		if (code == 0)
			return err_set(err, ERR_INVALID, "byte %zu of the text is not UTF-8",
				       cutter->at);
		if (cutter->sentence->count > SENTENCE_WORDS_MAX)
			break;
		if (!is_letter(code) && !is_digit(code)) {
			skip_mark(cutter, code, len);
			continue;
		}
		if (is_digit(code) && (cut_date(cutter) || cut_number(cutter)))
			continue;
		cut_name(cutter);
	}
	if (cutter->sentence->count > SENTENCE_WORDS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d words; ask shorter",
			       SENTENCE_WORDS_MAX);
	return 0;
}

int sentence_read(const char *text, struct sentence *ret_sentence, struct err *err)
{
	struct sentence sentence = {mem_array(SENTENCE_WORDS_MAX + 3, sizeof(struct word)), 0};
	struct cutter cutter = {.text = text, .sentence = &sentence};

	if (cut(&cutter, err) < 0) {
		sentence_clear(&sentence);
		return -1;
	}
	sentence.items = mem_grow(sentence.items, (sentence.count + 1) * sizeof(struct word));
	*ret_sentence = sentence;
	return 0;
}
