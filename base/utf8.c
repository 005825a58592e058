/* One table of RFC 3629, section 4: which second bytes each first byte allows. */
#include "base/utf8.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	unsigned char first_low, first_high, second_low, second_high, len;
} forms[] = {
	{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
	{0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
	{0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static size_t long_form(const unsigned char *at, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (at[0] < forms[i].first_low || at[0] > forms[i].first_high)
			continue;
		if (len < forms[i].len || at[1] < forms[i].second_low ||
		    at[1] > forms[i].second_high)
			return 0;
		for (size_t next = 2; next < forms[i].len; next++)
			if (at[next] < 0x80 || at[next] > 0xBF)
				return 0;
		return forms[i].len;
	}
	return 0;
}

size_t utf8_char_len(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;

	if (len == 0)
		return 0;
	return at[0] < 0x80 ? 1 : long_form(at, len);
}

/* Eight bytes at a time. The highest bit of a byte of odd says that it is one of the others; a
 * borrow can only mark bytes behind the first such one. */
size_t utf8_plain_len(const char *text, size_t len)
{
	const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
	size_t at = 0;

	for (; len - at >= 8; at += 8) {
		uint64_t eight, quote, slash, odd;

		memcpy(&eight, text + at, 8);
		eight = le64toh(eight);
		quote = eight ^ ones * '"';
		slash = eight ^ ones * '\\';
		odd = (eight | (eight - ones * 0x20) | (quote - ones) | (slash - ones)) & high;
		if (odd != 0)
			return at + (size_t)__builtin_ctzll(odd) / 8;
	}
	while (at < len && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] < 0x80 &&
	       text[at] != '"' && text[at] != '\\')
		at++;
	return at;
}

bool utf8_valid(const char *text, size_t len)
{
	while (len > 0) {
		size_t step = utf8_plain_len(text, len);

		if (step == 0)
			step = utf8_char_len(text, len);

		if (step == 0)
			return false;
		text += step;
		len -= step;
	}
	return true;
}

size_t utf8_encode(uint32_t scalar, char out[4])
{
	if (scalar < 0x80) {
		out[0] = (char)scalar;
		return 1;
	}
	if (scalar < 0x800) {
		out[0] = (char)(0xC0 | (scalar >> 6));
		out[1] = (char)(0x80 | (scalar & 0x3F));
		return 2;
	}
	if (scalar < 0x10000) {
		out[0] = (char)(0xE0 | (scalar >> 12));
		out[1] = (char)(0x80 | ((scalar >> 6) & 0x3F));
		out[2] = (char)(0x80 | (scalar & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | (scalar >> 18));
	out[1] = (char)(0x80 | ((scalar >> 12) & 0x3F));
	out[2] = (char)(0x80 | ((scalar >> 6) & 0x3F));
	out[3] = (char)(0x80 | (scalar & 0x3F));
	return 4;
}
