/*
 * The strict JSON reader (RFC 8259), one pass: it scans the bytes by its own grammar and builds
 * cJSON nodes itself, since cJSON's parser accepts what two readers understand differently
 * (duplicate names, NUL, bad UTF-8, 007, text after the value) and forgets that 1.0 was a real.
 *
 * Recursion is bounded by JSON_DEPTH_MAX. Names are compared once their object is complete: sorted,
 * so that no choice of names makes it quadratic. All memory is cJSON's, so that the pool bounds it.
 * Whatever fails leaves nothing behind and names line and column.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/utf8.h"

/* The longest exact decimal of a double, "-0." and 1074 digits, fits. */
#define NUMBER_CHARS_MAX 1100
#define PAIRWISE_MAX 8 /* up to so many names comparing all pairs is cheaper than sorting */

struct scan {
	const char *start;
	const char *at;
	const char *end;
	int depth;
	struct err *err;
};

static cJSON *read_value(struct scan *scan);

/* Counted only when something failed; columns are characters. */
__attribute__((format(printf, 4, 0))) static void fail_kind(const struct scan *scan, const char *at,
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

__attribute__((format(printf, 3, 4))) static void fail(const struct scan *scan, const char *at,
						       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_kind(scan, at, ERR_INVALID, format, args);
	va_end(args);
}

__attribute__((format(printf, 3, 4))) static void
fail_limit(const struct scan *scan, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_kind(scan, at, ERR_LIMIT, format, args);
	va_end(args);
}

static void fail_found(const struct scan *scan, const char *wanted)
{
	unsigned char c = scan->at < scan->end ? (unsigned char)*scan->at : 0;

	if (scan->at == scan->end)
		fail(scan, scan->at, "the text ends where %s is expected", wanted);
	else if (c > 0x20 && c < 0x7F)
		fail(scan, scan->at, "'%c' where %s is expected", c, wanted);
	else
		fail(scan, scan->at, "byte 0x%02x where %s is expected", c, wanted);
}

static void fail_memory(const struct scan *scan)
{
	fail_limit(scan, scan->at, "the value needs more memory than there is for JSON");
}

static void skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
		scan->at++;
}

/* The next byte that is not blank, or 0 at the end; a NUL byte is no token either. */
static char peek(struct scan *scan)
{
	skip_blanks(scan);
	return scan->at < scan->end ? *scan->at : '\0';
}

static cJSON *new_node(const struct scan *scan, int type)
{
	cJSON *node = cJSON_CreateNull();

	if (node == NULL)
		fail_memory(scan);
	else
		node->type = type;
	return node;
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
		return fail(scan, escape, "\\u needs four hexadecimal digits"), -1;
	if (value == 0)
		return fail(scan, escape, "\\u0000 is not allowed in a string"), -1;
	scan->at += 6;
	if (value >= 0xD800 && value <= 0xDFFF) {
		low = scan->end - scan->at >= 2 && scan->at[0] == '\\' && scan->at[1] == 'u'
			      ? hex4(scan->at + 2, scan->end)
			      : -1;
		if (value >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
			return fail(scan, escape, "\\u%04x is half of a surrogate pair",
				    (unsigned)value),
			       -1;
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
		return fail(scan, scan->end, "the text ends inside a string"), -1;
	if (scan->at[1] == 'u')
		return read_unicode(scan, out);
	letter = scan->at[1] != '\0' ? strchr(letters, scan->at[1]) : NULL;
	if (letter == NULL)
		return fail(scan, scan->at, "a backslash must be followed by one of \"\\/bfnrtu"),
		       -1;
	*(*out)++ = meanings[letter - letters];
	scan->at += 2;
	return 0;
}

/* One character of a string, decoded to *out. 1: the closing quote was read instead. */
static int read_char(struct scan *scan, char **out)
{
	size_t len;

	if (scan->at == scan->end)
		return fail(scan, scan->at, "the text ends inside a string"), -1;
	if (*scan->at == '"') {
		scan->at++;
		return 1;
	}
	if (*scan->at == '\\')
		return read_escape(scan, out);
	if ((unsigned char)*scan->at < 0x20)
		return fail(scan, scan->at, "control character 0x%02x in a string: escape it",
			    (unsigned char)*scan->at),
		       -1;
	len = utf8_char_len(scan->at, (size_t)(scan->end - scan->at));
	if (len == 0)
		return fail(scan, scan->at, "byte 0x%02x is not UTF-8", (unsigned char)*scan->at),
		       -1;
	memcpy(*out, scan->at, len);
	*out += len;
	scan->at += len;
	return 0;
}

/* Bytes up to the closing quote, as an upper bound: decoding never makes a string longer. */
static size_t raw_len(const struct scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && *at != '"')
		at += *at == '\\' && scan->end - at > 1 ? 2 : 1;
	return (size_t)(at - scan->at);
}

/* scan->at is at the opening quote. The text is for cJSON_free(). */
static char *read_string(struct scan *scan)
{
	char *text, *out;
	int done = 0;

	scan->at++;
	text = out = cJSON_malloc(raw_len(scan) + 1);
	if (text == NULL)
		return fail_memory(scan), NULL;
	while (done == 0)
		done = read_char(scan, &out);
	if (done < 0) {
		cJSON_free(text);
		return NULL;
	}
	*out = '\0';
	return text;
}

static cJSON *read_string_value(struct scan *scan)
{
	char *text = read_string(scan);
	cJSON *node = text != NULL ? new_node(scan, cJSON_String) : NULL;

	if (node == NULL) {
		cJSON_free(text);
		return NULL;
	}
	node->valuestring = text;
	return node;
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
		return fail(scan, at, "a digit is expected"), NULL;
	if (*digits == '0' && at - digits > 1)
		return fail(scan, digits, "a number must not start with 0"), NULL;
	if (at < scan->end && *at == '.') {
		*ret_real = true;
		digits = ++at;
		at = skip_digits(at, scan->end);
		if (at == digits)
			return fail(scan, at, "a digit is expected after the point"), NULL;
	}
	if (at < scan->end && (*at == 'e' || *at == 'E')) {
		*ret_real = true;
		at++;
		if (at < scan->end && (*at == '+' || *at == '-'))
			at++;
		digits = at;
		at = skip_digits(at, scan->end);
		if (at == digits)
			return fail(scan, at, "a digit is expected in the exponent"), NULL;
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
			return fail(scan, scan->at,
				    "the integer is outside +-(2^53-1): send it as a string"),
			       -1;
	}
	if (negative && value == 0)
		return fail(scan, scan->at, "-0 is not an integer: write 0 or -0.0"), -1;
	*ret = (double)(negative ? -value : value);
	return 0;
}

static int read_real(const struct scan *scan, const char *end, double *ret)
{
	char text[NUMBER_CHARS_MAX + 1];
	size_t len = (size_t)(end - scan->at);
	double value;

	if (len > NUMBER_CHARS_MAX)
		return fail_limit(scan, scan->at, "the number is longer than %d characters",
				  NUMBER_CHARS_MAX),
		       -1;
	memcpy(text, scan->at, len);
	text[len] = '\0';
	value = strtod(text, NULL);
	if (!isfinite(value))
		return fail(scan, scan->at, "the number is too large for a double"), -1;
	*ret = value;
	return 0;
}

static cJSON *read_number(struct scan *scan)
{
	bool real;
	const char *end = number_end(scan, &real);
	double value;
	cJSON *node;

	if (end == NULL)
		return NULL;
	if ((real ? read_real : read_integer)(scan, end, &value) < 0)
		return NULL;
	scan->at = end;
	node = new_node(scan, cJSON_Number | (real ? NODE_REAL : 0));
	if (node != NULL)
		node->valuedouble = value;
	return node;
}

static cJSON *read_word(struct scan *scan, const char *word, int type)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return fail(scan, scan->at, "a value is expected; did you mean %s?", word), NULL;
	scan->at += len;
	return new_node(scan, type);
}

static int enter(struct scan *scan)
{
	if (scan->depth == JSON_DEPTH_MAX)
		return fail_limit(scan, scan->at, "nested deeper than %d", JSON_DEPTH_MAX), -1;
	scan->depth++;
	scan->at++;
	return 0;
}

/* Behind an element: 1 when the container goes on, 0 when it ended. */
static int read_separator(struct scan *scan, char close, const char *wanted)
{
	char c = peek(scan);

	if (c != ',' && c != close)
		return fail_found(scan, wanted), -1;
	scan->at++;
	return c == ',';
}

static int read_elements(struct scan *scan, cJSON *array)
{
	int more = 1;

	while (more > 0) {
		cJSON *child = read_value(scan);

		if (child == NULL)
			return -1;
		cJSON_AddItemToArray(array, child);
		more = read_separator(scan, ']', "',' or ']'");
	}
	return more;
}

/* The offset of the name waits in valueint, which nothing else uses, for a duplicate's message. */
static int read_member(struct scan *scan, cJSON *object)
{
	const char *name_at;
	char *name;
	cJSON *child;

	if (peek(scan) != '"')
		return fail_found(scan, "a member name in quotes"), -1;
	name_at = scan->at;
	name = read_string(scan);
	if (name == NULL)
		return -1;
	if (peek(scan) != ':') {
		fail_found(scan, "':'");
		cJSON_free(name);
		return -1;
	}
	scan->at++;
	child = read_value(scan);
	if (child == NULL) {
		cJSON_free(name);
		return -1;
	}
	child->string = name;
	child->valueint = (int)(name_at - scan->start);
	cJSON_AddItemToArray(object, child);
	return 0;
}

/* The second member of the first pair with one name, or NULL. */
static const cJSON *duplicate_by_pairs(const cJSON *object)
{
	for (const cJSON *later = object->child; later != NULL; later = later->next)
		for (const cJSON *earlier = object->child; earlier != later;
		     earlier = earlier->next)
			if (strcmp(earlier->string, later->string) == 0)
				return later;
	return NULL;
}

static const cJSON *duplicate_by_order(const cJSON **members, size_t count)
{
	const cJSON *found = NULL;

	for (size_t i = 1; i < count; i++)
		if (strcmp(members[i - 1]->string, members[i]->string) == 0 &&
		    (found == NULL || members[i]->valueint < found->valueint))
			found = members[i];
	return found;
}

static int check_names(const struct scan *scan, const cJSON *object, size_t count)
{
	char quoted[NAME_QUOTED_MAX];
	const cJSON **members = NULL;
	const cJSON *again;

	if (count <= PAIRWISE_MAX) {
		again = duplicate_by_pairs(object);
	} else {
		members = json_sorted(object, &count);
		if (members == NULL)
			return fail_memory(scan), -1;
		again = duplicate_by_order(members, count);
		cJSON_free((void *)members);
	}
	if (again != NULL)
		return fail(scan, scan->start + again->valueint, "duplicate member %s",
			    json_name_quoted(again->string, quoted)),
		       -1;
	return 0;
}

static int read_members(struct scan *scan, cJSON *object)
{
	size_t count = 0;
	int more = 1;

	while (more > 0) {
		if (read_member(scan, object) < 0)
			return -1;
		count++;
		more = read_separator(scan, '}', "',' or '}'");
	}
	return more < 0 ? -1 : check_names(scan, object, count);
}

static cJSON *read_container(struct scan *scan, int type)
{
	char close = type == cJSON_Array ? ']' : '}';
	cJSON *container;
	int done = 0;

	if (enter(scan) < 0)
		return NULL;
	container = new_node(scan, type);
	if (container == NULL)
		return NULL;
	if (peek(scan) == close)
		scan->at++;
	else
		done = (type == cJSON_Array ? read_elements : read_members)(scan, container);
	scan->depth--;
	if (done < 0) {
		cJSON_Delete(container);
		return NULL;
	}
	return container;
}

static cJSON *read_value(struct scan *scan)
{
	switch (peek(scan)) {
	case '{':
		return read_container(scan, cJSON_Object);
	case '[':
		return read_container(scan, cJSON_Array);
	case '"':
		return read_string_value(scan);
	case 't':
		return read_word(scan, "true", cJSON_True);
	case 'f':
		return read_word(scan, "false", cJSON_False);
	case 'n':
		return read_word(scan, "null", cJSON_NULL);
	case '-':
	case '0' ... '9':
		return read_number(scan);
	default:
		fail_found(scan, "a value");
		return NULL;
	}
}

int json_parse(const char *bytes, size_t len, size_t len_max, struct json **ret_json,
	       struct err *err)
{
	struct scan scan = {bytes, bytes, NULL, 0, err};
	cJSON *root;

	if (len > len_max || len > INT_MAX)
		return err_set(err, ERR_LIMIT, "%zu bytes of JSON, at most %zu are accepted", len,
			       len_max < INT_MAX ? len_max : INT_MAX);
	scan.end = len > 0 ? bytes + len : bytes;
	if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		return fail(&scan, bytes, "a byte order mark: save the text without it"), -1;
	root = read_value(&scan);
	if (root == NULL)
		return -1;
	skip_blanks(&scan);
	if (scan.at != scan.end) {
		fail_found(&scan, "the end of the text");
		cJSON_Delete(root);
		return -1;
	}
	*ret_json = json_of(root);
	return 0;
}

int json_parse_str(const char *text, struct json **ret_json, struct err *err)
{
	size_t len = strlen(text);

	return json_parse(text, len, len, ret_json, err);
}

int json_check(const char *bytes, size_t len, size_t len_max, struct err *err)
{
	struct json *json;

	if (json_parse(bytes, len, len_max, &json, err) < 0)
		return -1;
	json_free(json);
	return 0;
}
