/*
 * Strings and numbers of the strict reader, and its errors. A string is decoded into memory of
 * cJSON's, so that a pool bounds it; a number goes through strtod() only once its grammar is right.
 */
#include "base/json_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* The longest exact decimal of a double, "-0." and 1074 digits, fits. */
#define NUMBER_CHARS_MAX 1100

/* Counted only when something failed; columns are characters. */
__attribute__((format(printf, 4, 0))) static void fail_with(const struct scan *scan, const char *at,
							    enum err_kind kind, const char *format,
							    va_list args)
{
	size_t line = 1, column = 1;
	char what[256];

	for (const char *c = scan->start; c < at; c++) {
		if (*c == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)*c & 0xC0) != 0x80) {
			column++;
		}
	}
	vsnprintf(what, sizeof(what), format, args);
	err_set(scan->err, kind, "line %zu, column %zu: %s", line, column, what);
}

int scan_fail(const struct scan *scan, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_with(scan, at, ERR_INVALID, format, args);
	va_end(args);
	return -1;
}

int scan_fail_limit(const struct scan *scan, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_with(scan, at, ERR_LIMIT, format, args);
	va_end(args);
	return -1;
}

int scan_fail_found(const struct scan *scan, const char *wanted)
{
	unsigned char c = scan->at < scan->end ? (unsigned char)*scan->at : 0;

	if (scan->at == scan->end)
		return scan_fail(scan, scan->at, "the text ends where %s is expected", wanted);
	if (c > 0x20 && c < 0x7F)
		return scan_fail(scan, scan->at, "'%c' where %s is expected", c, wanted);
	return scan_fail(scan, scan->at, "byte 0x%02x where %s is expected", c, wanted);
}

int scan_fail_memory(const struct scan *scan)
{
	return scan_fail_limit(scan, scan->at,
			       "the value needs more memory than there is for JSON");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* at points behind "\u". Returns -1 when four digits do not follow. */
static int32_t hex4(const char *at, const char *end)
{
	int32_t value = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* scan->at is at the backslash of "\uXXXX"; a surrogate must be one half of a pair. */
static int read_unicode(struct scan *scan, char **out)
{
	const char *escape = scan->at;
	int32_t value = hex4(escape + 2, scan->end), low;

	if (value < 0)
		return scan_fail(scan, escape, "\\u needs four hexadecimal digits");
	if (value == 0)
		return scan_fail(scan, escape, "\\u0000 is not allowed in a string");
	scan->at += 6;
	if (value >= 0xD800 && value <= 0xDFFF) {
		low = scan->end - scan->at >= 2 && scan->at[0] == '\\' && scan->at[1] == 'u'
			      ? hex4(scan->at + 2, scan->end)
			      : -1;
		if (value >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
			return scan_fail(scan, escape, "\\u%04x is half of a surrogate pair",
					 (unsigned)value);
		scan->at += 6;
		value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
	}
	*out += utf8_encode((uint32_t)value, *out);
	return 0;
}

static int read_escape(struct scan *scan, char **out)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	if (scan->end - scan->at < 2)
		return scan_fail(scan, scan->end, "the text ends inside a string");
	if (scan->at[1] == 'u')
		return read_unicode(scan, out);
	letter = scan->at[1] != '\0' ? strchr(letters, scan->at[1]) : NULL;
	if (letter == NULL)
		return scan_fail(scan, scan->at,
				 "a backslash must be followed by one of \"\\/bfnrtu");
	*(*out)++ = meanings[letter - letters];
	scan->at += 2;
	return 0;
}

/* One character of a string, decoded to *out. 1: the closing quote was read instead. */
static int read_char(struct scan *scan, char **out)
{
	size_t len;

	if (scan->at == scan->end)
		return scan_fail(scan, scan->at, "the text ends inside a string");
	if (*scan->at == '"') {
		scan->at++;
		return 1;
	}
	if (*scan->at == '\\')
		return read_escape(scan, out);
	if ((unsigned char)*scan->at < 0x20)
		return scan_fail(scan, scan->at, "control character 0x%02x in a string: escape it",
				 (unsigned char)*scan->at);
	len = utf8_char_len(scan->at, (size_t)(scan->end - scan->at));
	if (len == 0)
		return scan_fail(scan, scan->at, "byte 0x%02x is not UTF-8",
				 (unsigned char)*scan->at);
	memcpy(*out, scan->at, len);
	*out += len;
	scan->at += len;
	return 0;
}

void *scan_take(const struct scan *scan, size_t size)
{
	return scan->arena != NULL ? arena_take(scan->arena, size) : cJSON_malloc(size);
}

void scan_drop(const struct scan *scan, void *memory)
{
	if (scan->arena == NULL)
		cJSON_free(memory);
}

/* Bytes up to the closing quote, as an upper bound: decoding never makes a string longer. */
static size_t raw_len(const struct scan *scan)
{
	const char *at = scan->at;

	for (;;) {
		at += utf8_plain_len(at, (size_t)(scan->end - at));
		if (at == scan->end || *at == '"')
			break;
		at += *at == '\\' && scan->end - at > 1 ? 2 : 1;
	}
	return (size_t)(at - scan->at);
}

/* Behind the opening quote, where escapes or other than ASCII come before the closing one. */
static char *decode_string(struct scan *scan)
{
	char *text, *out;
	int done = 0;

	text = out = scan_take(scan, raw_len(scan) + 1);
	if (text == NULL)
		return scan_fail_memory(scan), NULL;
	while (done == 0) {
		size_t plain = utf8_plain_len(scan->at, (size_t)(scan->end - scan->at));

		out = mempcpy(out, scan->at, plain);
		scan->at += plain;
		done = read_char(scan, &out);
	}
	if (done < 0) {
		scan_drop(scan, text);
		return NULL;
	}
	*out = '\0';
	return text;
}

static char *copy_plain(const struct scan *scan, size_t len, bool is_name)
{
	char *text;

	if (scan->arena != NULL)
		return is_name ? arena_name(scan->arena, scan->at, len)
			       : arena_text(scan->arena, scan->at, len);
	text = cJSON_malloc(len + 1);
	if (text != NULL) {
		memcpy(text, scan->at, len);
		text[len] = '\0';
	}
	return text;
}

static char *read_string(struct scan *scan, bool is_name)
{
	size_t plain;
	char *text;

	scan->at++;
	plain = utf8_plain_len(scan->at, (size_t)(scan->end - scan->at));
	if (scan->at + plain == scan->end || scan->at[plain] != '"')
		return decode_string(scan);
	text = copy_plain(scan, plain, is_name);
	if (text == NULL)
		return scan_fail_memory(scan), NULL;
	scan->at += plain + 1;
	return text;
}

char *scan_string(struct scan *scan)
{
	return read_string(scan, false);
}

char *scan_name(struct scan *scan)
{
	return read_string(scan, true);
}

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* Where the number at scan->at ends by the grammar, or NULL. */
static const char *number_end(struct scan *scan, bool *ret_real)
{
	const char *at = scan->at + (*scan->at == '-'), *digits = at;

	*ret_real = false;
	at = skip_digits(at, scan->end);
	if (at == digits)
		return scan_fail(scan, at, "a digit is expected"), NULL;
	if (*digits == '0' && at - digits > 1)
		return scan_fail(scan, digits, "a number must not start with 0"), NULL;
	if (at < scan->end && *at == '.') {
		*ret_real = true;
		digits = ++at;
		at = skip_digits(at, scan->end);
		if (at == digits)
			return scan_fail(scan, at, "a digit is expected after the point"), NULL;
	}
	if (at < scan->end && (*at == 'e' || *at == 'E')) {
		*ret_real = true;
		at++;
		if (at < scan->end && (*at == '+' || *at == '-'))
			at++;
		digits = at;
		at = skip_digits(at, scan->end);
		if (at == digits)
			return scan_fail(scan, at, "a digit is expected in the exponent"), NULL;
	}
	return at;
}

static int read_integer(const struct scan *scan, const char *end, double *ret)
{
	bool negative = *scan->at == '-';
	int64_t value = 0;

	for (const char *at = scan->at + negative; at < end; at++) {
		value = value * 10 + (*at - '0');
		if (value > JSON_INT_MAX)
			return scan_fail(scan, scan->at,
					 "the integer is outside +-(2^53-1): send it as a string");
	}
	if (negative && value == 0)
		return scan_fail(scan, scan->at, "-0 is not an integer: write 0 or -0.0");
	*ret = (double)(negative ? -value : value);
	return 0;
}

static int read_real(const struct scan *scan, const char *end, double *ret)
{
	char text[NUMBER_CHARS_MAX + 1];
	size_t len = (size_t)(end - scan->at);
	double value;

	if (len > NUMBER_CHARS_MAX)
		return scan_fail_limit(scan, scan->at, "the number is longer than %d characters",
				       NUMBER_CHARS_MAX);
	memcpy(text, scan->at, len);
	text[len] = '\0';
	value = strtod(text, NULL);
	if (!isfinite(value))
		return scan_fail(scan, scan->at, "the number is too large for a double");
	*ret = value;
	return 0;
}

int scan_number(struct scan *scan, bool *ret_real, double *ret_value)
{
	bool real;
	const char *end = number_end(scan, &real);

	if (end == NULL || (real ? read_real : read_integer)(scan, end, ret_value) < 0)
		return -1;
	scan->at = end;
	*ret_real = real;
	return 0;
}
