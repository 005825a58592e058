/*
 * The strict check of one record line, in one pass over its bytes and without building a tree.
 *
 * It accepts exactly the RFC 8785 form of what the format allows: no white space, keys ascending by
 * byte at every depth (so none twice) and of the form [a-z][a-z0-9_]*, strings in raw UTF-8 with
 * only the escapes that must be, integers within 2^53, no literal. Two readers can then never see
 * two meanings in one line, and two lines glued by a changed line feed do not pass as one.
 *
 * The keys of each open object lie in the line itself, so ordering needs only their place.
 */
#include "broker/audit/record.h"

#include <endian.h>
#include <string.h>

#include "base/utf8.h"

#define PREV_AT 10 /* {"_prev":" */
#define SEQ_TEXT "\",\"_seq\":"
#define SEQ_AT (PREV_AT + SHA256_HEX_LEN)
#define DIGITS_AT (SEQ_AT + sizeof(SEQ_TEXT) - 1)

struct scan {
	const char *bytes;
	size_t len;
	size_t at;
	struct err *err;
	const char *event; /* where the value of the outermost "ev" begins, at its quote */
	size_t event_len;
};

static int fail(struct scan *scan, const char *what)
{
	return err_set(scan->err, ERR_INVALID, "byte %zu: %s", scan->at + 1, what);
}

static int peek(const struct scan *scan)
{
	return scan->at < scan->len ? (unsigned char)scan->bytes[scan->at] : -1;
}

static int expect(struct scan *scan, char c, const char *what)
{
	if (peek(scan) != (unsigned char)c)
		return fail(scan, what);
	scan->at++;
	return 0;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(int c)
{
	return c >= 'a' && c <= 'z';
}

/* \u00xx, lower case, only for what has no shorter escape, and never NUL, at which half of the
 * readers would end the string. */
static bool hex_escape_is_needed(const char *p)
{
	int high = p[2] - '0';
	int low;

	if (memcmp(p, "00", 2) != 0 || (high != 0 && high != 1))
		return false;
	if (is_digit(p[3]))
		low = p[3] - '0';
	else if (p[3] >= 'a' && p[3] <= 'f')
		low = p[3] - 'a' + 10;
	else
		return false;
	low += high * 16;
	return low != 0 && low != '\b' && low != '\t' && low != '\n' && low != '\f' && low != '\r';
}

static int scan_escape(struct scan *scan)
{
	int c;

	scan->at++;
	c = peek(scan);
	if (c > 0 && strchr("\"\\btnfr", c) != NULL) {
		scan->at++;
		return 0;
	}
	if (c == 'u' && scan->len - scan->at >= 5 &&
	    hex_escape_is_needed(scan->bytes + scan->at + 1)) {
		scan->at += 5;
		return 0;
	}
	return fail(scan, "an escape that the format does not use");
}

/*
 * Eight bytes at a time over what needs no look: ASCII but controls, quotes and backslashes. The
 * highest bit of a byte of the sum says that it is one of the others; a borrow can only mark bytes
 * behind the first such one.
 */
static void skip_plain(struct scan *scan)
{
	const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;

	while (scan->len - scan->at >= 8) {
		uint64_t eight, quote, slash, odd;

		memcpy(&eight, scan->bytes + scan->at, 8);
		eight = le64toh(eight);
		quote = eight ^ ones * '"';
		slash = eight ^ ones * '\\';
		odd = (eight | (eight - ones * 0x20) | (quote - ones) | (slash - ones)) & high;
		if (odd != 0) {
			scan->at += (size_t)__builtin_ctzll(odd) / 8;
			return;
		}
		scan->at += 8;
	}
}

static int scan_string(struct scan *scan)
{
	size_t more;

	if (expect(scan, '"', "a string expected") < 0)
		return -1;
	for (;;) {
		int c;

		skip_plain(scan);
		c = peek(scan);

		if (c < 0)
			return fail(scan, "the line ends inside a string");
		if (c == '"') {
			scan->at++;
			return 0;
		}
		if (c < 0x20)
			return fail(scan, "a control character");
		if (c == '\\') {
			if (scan_escape(scan) < 0)
				return -1;
			continue;
		}
		more = c < 0x80 ? 1 : utf8_char_len(scan->bytes + scan->at, scan->len - scan->at);
		if (more == 0)
			return fail(scan, "not UTF-8");
		scan->at += more;
	}
}

static int scan_int(struct scan *scan, uint64_t *ret_value)
{
	uint64_t value = 0;
	bool negative = peek(scan) == '-';
	size_t start;

	if (negative)
		scan->at++;
	start = scan->at;
	while (is_digit(peek(scan)) && scan->at - start < 17)
		value = value * 10 + (uint64_t)(scan->bytes[scan->at++] - '0');
	if (scan->at == start)
		return fail(scan, "a number expected");
	if (scan->bytes[start] == '0' && (scan->at - start > 1 || negative))
		return fail(scan, "a number with a leading zero or a negative zero");
	if (is_digit(peek(scan)) || value > JSON_INT_MAX)
		return fail(scan, "a number beyond 2^53 - 1");
	if (peek(scan) == '.' || peek(scan) == 'e' || peek(scan) == 'E')
		return fail(scan, "a number that is no integer");
	if (ret_value != NULL)
		*ret_value = value;
	return 0;
}

struct key {
	const char *bytes; /* NULL before the first */
	size_t len;
};

static int compare_keys(struct key a, struct key b)
{
	int order;

	if (a.bytes[0] != b.bytes[0]) /* nearly always; both have a first byte */
		return (unsigned char)a.bytes[0] - (unsigned char)b.bytes[0];
	order = memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int scan_key(struct scan *scan, struct key *last)
{
	struct key key;

	if (expect(scan, '"', "a key expected") < 0)
		return -1;
	key.bytes = scan->bytes + scan->at;
	if (!is_lower(peek(scan)))
		return fail(scan, "a key must begin with a small letter");
	while (is_lower(peek(scan)) || is_digit(peek(scan)) || peek(scan) == '_')
		scan->at++;
	key.len = (size_t)(scan->bytes + scan->at - key.bytes);
	if (expect(scan, '"', "a key holds only small letters, digits and _") < 0)
		return -1;
	if (last->bytes != NULL && compare_keys(*last, key) >= 0)
		return fail(scan, compare_keys(*last, key) == 0 ? "a key that was there before"
								: "keys not in order");
	*last = key;
	return expect(scan, ':', "a colon expected");
}

static int scan_value(struct scan *scan, int depth);

static int scan_format(struct scan *scan)
{
	uint64_t format;

	if (scan_int(scan, &format) < 0)
		return -1;
	if (format != RECORD_FORMAT)
		return fail(scan, "a record format that this program does not know");
	return 0;
}

static int scan_event(struct scan *scan)
{
	size_t start = scan->at;

	if (scan_value(scan, 1) < 0)
		return -1;
	if (scan->bytes[start] == '"') {
		scan->event = scan->bytes + start + 1;
		scan->event_len = scan->at - start - 2;
	}
	return 0;
}

static int scan_member(struct scan *scan, int depth, struct key *last)
{
	if (scan_key(scan, last) < 0)
		return -1;
	if (depth == 1 && last->len == 1 && last->bytes[0] == 'v')
		return scan_format(scan);
	if (depth == 1 && last->len == 2 && memcmp(last->bytes, "ev", 2) == 0)
		return scan_event(scan);
	return scan_value(scan, depth);
}

/* The members up to and with the closing brace. */
static int scan_members(struct scan *scan, int depth, struct key last)
{
	for (;;) {
		if (scan_member(scan, depth, &last) < 0)
			return -1;
		if (peek(scan) == '}')
			break;
		if (expect(scan, ',', "a comma or a closing brace expected") < 0)
			return -1;
	}
	scan->at++;
	return 0;
}

static int scan_elements(struct scan *scan, int depth)
{
	for (;;) {
		if (scan_value(scan, depth) < 0)
			return -1;
		if (peek(scan) == ']')
			break;
		if (expect(scan, ',', "a comma or a closing bracket expected") < 0)
			return -1;
	}
	scan->at++;
	return 0;
}

static int scan_container(struct scan *scan, int depth)
{
	bool object = peek(scan) == '{';

	if (depth >= RECORD_DEPTH_MAX)
		return fail(scan, "nested too deep");
	scan->at++;
	if (peek(scan) == (object ? '}' : ']')) {
		scan->at++;
		return 0;
	}
	if (object)
		return scan_members(scan, depth + 1, (struct key){NULL, 0});
	return scan_elements(scan, depth + 1);
}

static int scan_value(struct scan *scan, int depth)
{
	int c = peek(scan);

	if (c == '"')
		return scan_string(scan);
	if (c == '{' || c == '[')
		return scan_container(scan, depth);
	if (c == '-' || is_digit(c))
		return scan_int(scan, NULL);
	return fail(scan, "a string, an integer, an object or an array expected");
}

static int scan_head(struct scan *scan, struct record_head *ret_head)
{
	if (memcmp(scan->bytes, "{\"_prev\":\"", PREV_AT) != 0)
		return fail(scan, "a record begins with {\"_prev\":\"");
	scan->at = PREV_AT;
	if (hex_read(scan->bytes + PREV_AT, SHA256_HEX_LEN, ret_head->prev, SHA256_LEN, NULL) < 0)
		return fail(scan, "_prev is not 64 lower-case hex digits");
	scan->at = SEQ_AT;
	if (memcmp(scan->bytes + SEQ_AT, SEQ_TEXT, sizeof(SEQ_TEXT) - 1) != 0)
		return fail(scan, "_seq must follow _prev");
	scan->at = DIGITS_AT;
	if (!is_digit(peek(scan)))
		return fail(scan, "_seq is not a number");
	return scan_int(scan, &ret_head->seq);
}

static int scan_start(struct scan *scan, struct record_head *ret_head)
{
	if (scan->len < WRIT_RECORD_BYTES_MIN || scan->len > WRIT_RECORD_BYTES_MAX)
		return err_set(scan->err, ERR_INVALID, "%zu bytes long; a record has %d to %d",
			       scan->len, WRIT_RECORD_BYTES_MIN, WRIT_RECORD_BYTES_MAX);
	return scan_head(scan, ret_head);
}

int record_check_head(const char *entry, size_t len, struct record_head *ret_head, struct err *err)
{
	struct scan scan = {.bytes = entry, .len = len, .err = err};
	struct record_head head = {.event = NULL};

	if (scan_start(&scan, &head) < 0)
		return -1;
	if (peek(&scan) != '}' && peek(&scan) != ',')
		return fail(&scan, "a comma or a closing brace expected");
	*ret_head = head;
	return 0;
}

int record_check(const char *entry, size_t len, struct record_head *ret_head, struct err *err)
{
	struct scan scan = {.bytes = entry, .len = len, .err = err};
	struct record_head head = {.event = NULL};

	if (scan_start(&scan, &head) < 0)
		return -1;
	if (peek(&scan) == '}')
		scan.at++;
	else if (expect(&scan, ',', "a comma or a closing brace expected") < 0 ||
		 scan_members(&scan, 1, (struct key){NULL, 0}) < 0)
		return -1;
	if (scan.at != len)
		return fail(&scan, "something follows the record");
	head.event = scan.event;
	head.event_len = scan.event_len;
	*ret_head = head;
	return 0;
}
