/*
 * The writers. One walk over the tree with three styles; cJSON's printer is not used, since it
 * prints large integers rounded. Numbers follow ECMAScript (RFC 8785, 3.2.2.3), made from the
 * shortest digits that read back as the same double.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/utf8.h"

enum style { STYLE_PLAIN, STYLE_CANONICAL, STYLE_PRETTY };

#define DIGITS_MAX 17

/* value = 0.DIGITS * 10^point */
struct decimal {
	char digits[DIGITS_MAX + 1];
	int point;
};

static double decimal_value(const struct decimal *decimal)
{
	char text[DIGITS_MAX + 16];

	snprintf(text, sizeof(text), "0.%se%d", decimal->digits, decimal->point);
	return strtod(text, NULL);
}

/* value > 0, rounded to so many digits. */
static struct decimal decimal_round(double value, int count)
{
	struct decimal decimal;
	char text[DIGITS_MAX + 16];

	snprintf(text, sizeof(text), "%.*e", count - 1, value); /* d.ddde+xx */
	decimal.digits[0] = text[0];
	if (count > 1)
		memcpy(decimal.digits + 1, text + 2, (size_t)count - 1);
	decimal.digits[count] = '\0';
	decimal.point = atoi(strchr(text, 'e') + 1) + 1;
	return decimal;
}

/* One more in the last place; false when that would need another digit. */
static bool decimal_next(struct decimal *decimal)
{
	size_t last = strlen(decimal->digits);

	while (last > 0 && decimal->digits[last - 1] == '9')
		decimal->digits[--last] = '0';
	if (last == 0)
		return false;
	decimal->digits[last - 1]++;
	return true;
}

/*
 * 15 digits are enough for every double that came from 15 or fewer, except near zero, where one
 * may do. Just above a power of two doubles are farther apart than below it, so there the digits
 * rounded up may read back the same although the nearest ones do not.
 */
static struct decimal decimal_shortest(double value)
{
	int exponent;
	bool power_of_two = frexp(value, &exponent) == 0.5;
	struct decimal decimal;

	for (int count = value < DBL_MIN ? 1 : DBL_DIG; count < DIGITS_MAX; count++) {
		decimal = decimal_round(value, count);
		if (decimal_value(&decimal) == value)
			return decimal;
		if (power_of_two && decimal_next(&decimal) && decimal_value(&decimal) == value)
			return decimal;
	}
	return decimal_round(value, DIGITS_MAX);
}

static void write_exponent(const char *digits, int point, struct buf *out)
{
	buf_add_char(out, digits[0]);
	if (digits[1] != '\0') {
		buf_add_char(out, '.');
		buf_add_str(out, digits + 1);
	}
	buf_addf(out, "e%+d", point - 1);
}

static void write_zeros(int count, struct buf *out)
{
	while (count-- > 0)
		buf_add_char(out, '0');
}

/* true: written with a point or an exponent, so it reads back as a real. */
static bool write_decimal(const char *digits, int point, int point_max, struct buf *out)
{
	int count = (int)strlen(digits);

	if (point > point_max || point < -5) {
		write_exponent(digits, point, out);
		return true;
	}
	if (point <= 0) {
		buf_add_str(out, "0.");
		write_zeros(-point, out);
		buf_add_str(out, digits);
		return true;
	}
	if (point >= count) {
		buf_add_str(out, digits);
		write_zeros(point - count, out);
		return false;
	}
	buf_add(out, digits, (size_t)point);
	buf_add_char(out, '.');
	buf_add_str(out, digits + point);
	return true;
}

/*
 * Canonical: as RFC 8785, so 56.0 is 56 and -0.0 is 0; but an integral real from 2^53 on, which
 * that RFC writes as plain digits up to 10^21, gets an exponent here, since as digits our own
 * reader would refuse it. The others keep a real a real by ".0".
 */
static void write_real(double value, enum style style, struct buf *out)
{
	bool canonical = style == STYLE_CANONICAL;
	bool wide = fabs(value) > (double)JSON_INT_MAX;
	struct decimal decimal = {"0", 1};
	size_t count;

	if (signbit(value) && !(canonical && value == 0))
		buf_add_char(out, '-');
	if (value != 0)
		decimal = decimal_shortest(fabs(value));
	for (count = strlen(decimal.digits); count > 1 && decimal.digits[count - 1] == '0'; count--)
		decimal.digits[count - 1] = '\0';
	if (!write_decimal(decimal.digits, decimal.point, wide ? 0 : 21, out) && !canonical)
		buf_add_str(out, ".0");
}

static void write_escape(unsigned char c, struct buf *out)
{
	static const char letters[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"'};

	if (c == '\\')
		buf_add_str(out, "\\\\");
	else if (letters[c] != '\0')
		buf_addf(out, "\\%c", letters[c]);
	else
		buf_addf(out, "\\u%04x", c);
}

/* Bytes that need no escape are copied in runs. */
void json_write_string(const char *text, size_t len, struct buf *out)
{
	size_t run = 0, at = 0;

	buf_add_char(out, '"');
	while (at < len) {
		unsigned char c;
		size_t step;

		at += utf8_plain_len(text + at, len - at);
		if (at == len)
			break;
		c = (unsigned char)text[at];
		step = utf8_char_len(text + at, len - at);
		if (step > 0 && c >= 0x20 && c != '"' && c != '\\') {
			at += step;
			continue;
		}
		buf_add(out, text + run, at - run);
		if (step == 0 || c == '\0')
			buf_add_str(out, JSON_REPLACEMENT);
		else
			write_escape(c, out);
		run = ++at;
	}
	buf_add(out, text + run, at - run);
	buf_add_char(out, '"');
}

static void write_node(const cJSON *node, enum style style, int level, struct buf *out);

static void write_break(enum style style, int level, struct buf *out)
{
	if (style == STYLE_PRETTY)
		buf_addf(out, "\n%*s", 2 * level, "");
}

static void write_child(const cJSON *child, bool named, bool first, enum style style, int level,
			struct buf *out)
{
	if (!first)
		buf_add_char(out, ',');
	write_break(style, level, out);
	if (named) {
		json_write_string(child->string, strlen(child->string), out);
		buf_add_str(out, style == STYLE_PRETTY ? ": " : ":");
	}
	write_node(child, style, level, out);
}

static void write_sorted(const cJSON *object, int level, struct buf *out)
{
	size_t count;
	const cJSON **members = json_or_abort((void *)json_sorted(object, &count));

	for (size_t i = 0; i < count; i++)
		write_child(members[i], true, i == 0, STYLE_CANONICAL, level, out);
	cJSON_free((void *)members);
}

static void write_container(const cJSON *node, enum style style, int level, struct buf *out)
{
	bool named = cJSON_IsObject(node);

	buf_add_char(out, named ? '{' : '[');
	if (named && style == STYLE_CANONICAL)
		write_sorted(node, level + 1, out);
	else
		for (const cJSON *child = node->child; child != NULL; child = child->next)
			write_child(child, named, child == node->child, style, level + 1, out);
	if (node->child != NULL)
		write_break(style, level, out);
	buf_add_char(out, named ? '}' : ']');
}

static void write_node(const cJSON *node, enum style style, int level, struct buf *out)
{
	const struct json *json = json_of_const(node);

	switch (json_type(json)) {
	case JSON_NULL:
		buf_add_str(out, "null");
		return;
	case JSON_BOOL:
		buf_add_str(out, json_bool(json) ? "true" : "false");
		return;
	case JSON_INT:
		buf_addf(out, "%" PRId64, json_int(json));
		return;
	case JSON_REAL:
		write_real(node->valuedouble, style, out);
		return;
	case JSON_STRING:
		json_write_string(node->valuestring, strlen(node->valuestring), out);
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		write_container(node, style, level, out);
		return;
	}
}

void json_write(const struct json *json, struct buf *out)
{
	write_node(node_of_const(json), STYLE_PLAIN, 0, out);
}

void json_write_canonical(const struct json *json, struct buf *out)
{
	write_node(node_of_const(json), STYLE_CANONICAL, 0, out);
}

void json_write_pretty(const struct json *json, struct buf *out)
{
	write_node(node_of_const(json), STYLE_PRETTY, 0, out);
}
