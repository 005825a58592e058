/*
 * Reading numbers. A comma separates thousands only where three digits follow; a number that runs
 * into letters or a word like "mn" is refused, since its value would be another.
 */
#include "agents/report/report_number.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/report/report_phrase.h"
#include "base/utf8.h"

bool report_word_at(const char *text, const char *word)
{
	size_t len = strlen(word);

	return len > 0 && strncasecmp(text, word, len) == 0 && !report_word_byte(text[len]);
}

bool report_unit_is(const char *unit, const char *other)
{
	if (strcmp(unit, "percent") == 0)
		unit = "%";
	return strcasecmp(unit, other) == 0;
}

static const struct {
	const char *sign;
	const char *unit;
} currencies[] = {{"$", "USD"}, {"\xE2\x82\xAC", "EUR"}, {"\xC2\xA3", "GBP"}, {"\xC2\xA5", "JPY"}};

static const char *currency_at(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_LEN(currencies); i++) {
		size_t len = strlen(currencies[i].sign);

		if (strncmp(text, currencies[i].sign, len) == 0) {
			*ret_len = len;
			return currencies[i].unit;
		}
	}
	*ret_len = 0;
	return NULL;
}

/* A code of a currency, which is a unit even if the result does not have it. */
static const char *code_at(const char *text)
{
	static const char *const codes[] = {"USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD",
					    "CNY", "INR", "SEK", "NOK", "DKK", "PLN"};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		if (strncmp(text, codes[i], 3) == 0 && !report_word_byte(text[3]))
			return codes[i];
	}
	return NULL;
}

static const char *unit_of_result(const struct report_view *view, const char *text, size_t *ret_len)
{
	const char *found = NULL;

	*ret_len = 0;
	for (size_t i = 0; i < view->column_count; i++) {
		const char *unit = view->columns[i].unit;
		size_t len = unit ? strlen(unit) : 0;

		if (len > *ret_len && strncasecmp(text, unit, len) == 0 &&
		    !(report_word_byte(unit[len - 1]) && report_word_byte(text[len]))) {
			found = unit;
			*ret_len = len;
		}
	}
	return found;
}

/* A unit of the result, a currency, or "percent" behind a number. */
static const char *unit_at(const struct report_view *view, const char *text, size_t *ret_len)
{
	size_t blank = text[0] == ' ';
	const char *found = unit_of_result(view, text + blank, ret_len);

	if (!found)
		found = currency_at(text + blank, ret_len);
	if (!found && text[blank] == '%') {
		found = "%";
		*ret_len = 1;
	}
	if (!found && report_word_at(text + blank, "percent")) {
		found = "%";
		*ret_len = strlen("percent");
	}
	if (!found) {
		found = code_at(text + blank);
		*ret_len = found ? 3 : 0;
	}
	if (found)
		*ret_len += blank;
	return found;
}

/* "USD 420": the word before the number. */
static const char *unit_before(const struct report_view *view, const char *text, size_t at)
{
	size_t start, len;
	const char *found;

	if (at == 0 || text[at - 1] != ' ')
		return NULL;
	start = at - 1;
	while (start > 0 && report_word_byte(text[start - 1]))
		start--;
	found = unit_of_result(view, text + start, &len);
	if (found && start + len == at - 1)
		return found;
	return at - 1 - start == 3 ? code_at(text + start) : NULL;
}

/* "420 k", "5 mn": the number is another one. */
static bool is_multiplied(const char *text)
{
	static const char *const words[] = {"k", "m", "mn", "mio", "bn", "b", "mrd", "tn"};

	for (size_t i = 0; *text == ' ' && i < ARRAY_LEN(words); i++) {
		if (report_word_at(text + 1, words[i]))
			return true;
	}
	return false;
}

/* Digits with thousands separators, a fraction and an exponent; returns bytes read. */
static size_t digits_at(const char *text, struct report_number *number)
{
	size_t at = 0, len = strlen(number->digits);
	bool fraction = false;

	while (len < sizeof(number->digits) - 1) {
		char c = text[at];

		if (isdigit((unsigned char)c)) {
			number->decimals += fraction;
		} else if (c == ',' && !fraction && at > 0 &&
			   isdigit((unsigned char)text[at + 1]) &&
			   strspn(text + at + 1, "0123456789") == 3) {
			at++;
			continue;
		} else if (c == '.' && !fraction && isdigit((unsigned char)text[at + 1])) {
			fraction = true;
		} else if ((c == 'e' || c == 'E') && at > 0 &&
			   isdigit((unsigned char)
					   text[at + 1 +
						(text[at + 1] == '+' || text[at + 1] == '-')])) {
			number->digits[len++] = c;
			at++;
			if (!isdigit((unsigned char)text[at]) && len < sizeof(number->digits) - 1)
				number->digits[len++] = text[at++];
			fraction = false;
			continue;
		} else {
			break;
		}
		number->digits[len++] = c;
		at++;
	}
	number->digits[len] = '\0';
	return at;
}

bool report_number_begins(const char *text, size_t at)
{
	size_t sign = 0, currency;

	if (at > 0 && report_word_byte(text[at - 1]))
		return false;
	if (text[at] == '-' || text[at] == '+')
		sign = 1;
	currency_at(text + at + sign, &currency);
	return isdigit((unsigned char)text[at + sign + currency]) ||
	       (text[at + sign + currency] == '.' &&
		isdigit((unsigned char)text[at + sign + currency + 1]));
}

int report_number_read(const struct report_view *view, const char *text, size_t start, bool named,
		       struct report_number *ret_number, struct err *err)
{
	struct report_number number = {.text = text + start};
	size_t at = start, len, word;
	const char *behind;

	if (text[at] == '-')
		number.digits[0] = '-';
	at += text[at] == '-' || text[at] == '+';
	number.unit = currency_at(text + at, &len);
	at += len;
	at += digits_at(text + at, &number);
	number.value = strtod(number.digits, NULL);
	word = strcspn(text + start, " ,;\n");
	if (report_word_byte(text[at]) || is_multiplied(text + at)) {
		behind = unit_at(view, text + at, &len); /* 5kg */
		if (!behind)
			return err_set(err, ERR_INVALID, "%.*s is not a number of the result",
				       (int)(word > 40 ? 40 : word), text + start);
	}
	behind = unit_at(view, text + at, &len);
	if (behind && (!number.unit || report_unit_is(behind, number.unit))) { /* "$420 USD" too */
		number.unit = behind;
		at += len;
	}
	if (!number.unit && !named)
		number.unit = unit_before(view, text, start);
	number.len = at - start;
	*ret_number = number;
	return 0;
}

size_t report_number_word(const char *text, double *ret)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {{"two", 2},       {"three", 3},	{"four", 4},	 {"five", 5},
		     {"six", 6},       {"seven", 7},	{"eight", 8},	 {"nine", 9},
		     {"ten", 10},      {"eleven", 11},	{"twelve", 12},	 {"thirteen", 13},
		     {"fifteen", 15},  {"twenty", 20},	{"thirty", 30},	 {"forty", 40},
		     {"fifty", 50},    {"sixty", 60},	{"seventy", 70}, {"eighty", 80},
		     {"ninety", 90},   {"hundred", 0},	{"thousand", 0}, {"million", 0},
		     {"billion", 0},   {"trillion", 0}, {"dozen", 0},	 {"hundreds", 0},
		     {"thousands", 0}, {"millions", 0}, {"billions", 0}, {"dozens", 0}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (report_word_at(text, words[i].word)) {
			*ret = words[i].value;
			return strlen(words[i].word);
		}
	}
	return 0;
}

static const struct {
	uint32_t first;
	uint32_t last;
} foreign[] = {{0xB2, 0xB3},	 {0xB9, 0xB9},	   {0xBC, 0xBE},     {0x660, 0x669},
	       {0x6F0, 0x6F9},	 {0x966, 0x96F},   {0x9E6, 0x9EF},   {0xE50, 0xE59},
	       {0x2070, 0x2079}, {0x2080, 0x2089}, {0x2150, 0x2189}, {0x2460, 0x249B},
	       {0x3007, 0x3007}, {0x3021, 0x3029}, {0xFF10, 0xFF19}};

bool report_foreign_digit(const char *text)
{
	size_t len = utf8_char_len(text, strlen(text) < 4 ? strlen(text) : 4);
	uint32_t scalar = (unsigned char)text[0];

	if (len < 2)
		return false;
	scalar &= 0xFFu >> (len + 1);
	for (size_t i = 1; i < len; i++)
		scalar = scalar << 6 | ((unsigned char)text[i] & 0x3F);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
		if (scalar >= foreign[i].first && scalar <= foreign[i].last)
			return true;
	}
	return scalar >= 0x1D7CE && scalar <= 0x1D7FF; /* mathematical digits */
}
