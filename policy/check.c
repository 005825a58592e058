/* See check.h. Nothing here can fail but by adding a problem. */
#include "policy/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/nearest.h"

#define TEXT_BYTES_MAX 256u
#define SHOWN_WORDS_MAX 300u

void check_fail(struct check *check, const char *code, const struct yaml *node, const char *format,
		...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	problems_add(check->problems, PROBLEM_ERROR, code, node, "%s", message);
}

static const char *kind_name(const struct yaml *node)
{
	if (yaml_is_null(node))
		return "nothing";
	switch (yaml_kind(node)) {
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		return "a map";
	case YAML_SCALAR:
		break;
	}
	return "a text";
}

/* "there are a, b, c", cut when long. */
static void list_words(struct words words, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < words.count; i++) {
		size_t more = strlen(words.items[i]) + 2;

		if (len + more + 5 > size) {
			memcpy(out + len, ", ...", 6);
			return;
		}
		len += (size_t)snprintf(out + len, size - len, "%s%s", i > 0 ? ", " : "",
					words.items[i]);
	}
}

void check_unknown(struct check *check, const char *code, const struct yaml *node, const char *what,
		   struct words words)
{
	check_unknown_text(check, code, node, what, yaml_text(node), words);
}

void check_unknown_text(struct check *check, const char *code, const struct yaml *node,
			const char *what, const char *text, struct words words)
{
	const char *near = nearest_word(text, words.items, words.count);
	char all[SHOWN_WORDS_MAX];

	if (near != NULL) {
		check_fail(check, code, node, "unknown %s \"%.80s\": did you mean \"%s\"?", what,
			   text, near);
		return;
	}
	list_words(words, all, sizeof(all));
	check_fail(check, code, node, "unknown %s \"%.80s\": %s%s", what, text,
		   words.count > 1    ? "there are "
		   : words.count == 1 ? "there is only "
				      : "there is none",
		   all);
}

bool check_map(struct check *check, const struct yaml *node, const char *what,
	       const char *const *keys)
{
	struct words words = {keys, 0};

	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP) {
		check_fail(check, "wrong_type", node, "%s must be a map of keys, not %s", what,
			   kind_name(node));
		return false;
	}
	while (keys[words.count] != NULL)
		words.count++;
	for (size_t i = 0; i < yaml_len(node); i++) {
		const struct yaml *key = yaml_key(node, i);
		bool known = false;

		for (size_t k = 0; k < words.count; k++)
			known = known || strcmp(yaml_text(key), keys[k]) == 0;
		if (!known) {
			CLEANUP(mem_freep) char *of = mem_format("key of %s", what);

			check_unknown(check, "unknown_key", key, of, words);
		}
	}
	return true;
}

const struct yaml *check_member(struct check *check, const struct yaml *map, const char *what,
				const char *key, const char *example)
{
	const struct yaml *node = yaml_get(map, key);

	if (node == NULL)
		check_fail(check, "missing_key", map, "%s has no \"%s\"; write, for example, %s",
			   what, key, example);
	return node;
}

bool check_list(struct check *check, const struct yaml *node, const char *what)
{
	if (!yaml_is_null(node) && yaml_kind(node) == YAML_LIST && yaml_len(node) > 0)
		return true;
	if (!yaml_is_null(node) && yaml_kind(node) == YAML_LIST)
		check_fail(check, "wrong_type", node, "%s must name at least one", what);
	else
		check_fail(check, "wrong_type", node, "%s must be a list like [a, b], not %s", what,
			   kind_name(node));
	return false;
}

/* What YAML 1.1 readers take for something else than a text. */
static bool ambiguous(const struct yaml *node)
{
	static const char *const words[] = {"no", "yes", "on", "off", "true", "false"};

	if (yaml_quoted(node))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(yaml_text(node), words[i]) == 0)
			return true;
	return false;
}

const char *check_text(struct check *check, const struct yaml *node, const char *what)
{
	const char *text;

	if (node == NULL)
		return NULL;
	text = yaml_text(node);
	if (yaml_is_null(node) || text == NULL || text[0] == '\0') {
		check_fail(check, "wrong_type", node, "%s must be a text, not %s", what,
			   text != NULL ? "nothing" : kind_name(node));
		return NULL;
	}
	if (ambiguous(node)) {
		check_fail(
			check, "bad_value", node,
			"%s: quote \"%s\", since other readers of YAML take it for true or false",
			what, text);
		return NULL;
	}
	if (strlen(text) > TEXT_BYTES_MAX) {
		check_fail(check, "bad_value", node, "%s is longer than %u bytes", what,
			   TEXT_BYTES_MAX);
		return NULL;
	}
	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7F) {
			check_fail(check, "bad_value", node, "%s holds a control character", what);
			return NULL;
		}
	return text;
}

const char *check_name(struct check *check, const struct yaml *node, const char *what)
{
	static const char first[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *text = check_text(check, node, what);
	size_t len;

	if (text == NULL)
		return NULL;
	len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	if (text[len] == '\0' && strchr(first, text[0]) != NULL)
		return text;
	check_fail(check, "bad_value", node,
		   "%s \"%.80s\": letters, digits, \".\", \"_\" and \"-\" only, beginning with a "
		   "letter or digit",
		   what, text);
	return NULL;
}

const char *check_word(struct check *check, const struct yaml *node, const char *what,
		       struct words words)
{
	const char *text = check_text(check, node, what);

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < words.count; i++)
		if (strcmp(text, words.items[i]) == 0)
			return words.items[i];
	check_unknown(check, "unknown_word", node, what, words);
	return NULL;
}

bool check_count(struct check *check, const struct yaml *node, const char *what, int64_t max,
		 int64_t *ret)
{
	struct err err = {0};

	if (yaml_want_int(node, 0, max, ret, &err) == 0)
		return true;
	check_fail(check, "bad_value", node, "%s must be a whole number from 0 to %lld", what,
		   (long long)max);
	return false;
}

struct unit {
	const char *name;
	int64_t factor;
};

/* Digits and a unit, nothing else. -1: not of this form; 1: too large to tell. */
static int read_quantity(const struct yaml *node, const struct unit *units, size_t count,
			 int64_t *ret)
{
	const char *text = yaml_is_null(node) ? NULL : yaml_text(node);
	size_t digits = text == NULL ? 0 : strspn(text, "0123456789");
	int64_t number = 0;

	if (digits == 0 || (digits > 1 && text[0] == '0'))
		return -1;
	for (size_t u = 0; u < count; u++) {
		if (strcmp(text + digits, units[u].name) != 0)
			continue;
		for (size_t i = 0; i < digits; i++)
			if (__builtin_mul_overflow(number, 10, &number) ||
			    __builtin_add_overflow(number, text[i] - '0', &number))
				return 1;
		return __builtin_mul_overflow(number, units[u].factor, ret);
	}
	return -1;
}

static const struct unit time_units[] = {{"s", 1000}, {"m", 60000}, {"h", 3600000}};
static const struct unit size_units[] = {
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

static void write_time(int64_t ms, char *out, size_t size)
{
	size_t unit = ms % 3600000 == 0 ? 2u : ms % 60000 == 0 ? 1u : 0u;

	snprintf(out, size, "%lld%s", (long long)(ms / time_units[unit].factor),
		 time_units[unit].name);
}

static void write_size(int64_t bytes, char *out, size_t size)
{
	size_t unit = 0;

	while (bytes % size_units[unit].factor != 0)
		unit++;
	snprintf(out, size, "%lld%s", (long long)(bytes / size_units[unit].factor),
		 size_units[unit].name);
}

bool check_duration_ms(struct check *check, const struct yaml *node, const char *what,
		       int64_t max_ms, int64_t *ret_ms)
{
	int64_t value = 0;
	int read = read_quantity(node, time_units, ARRAY_LEN(time_units), &value);
	char most[32];

	write_time(max_ms, most, sizeof(most));
	if (read < 0)
		check_fail(check, "bad_value", node,
			   "%s must be a duration: a whole number and s, m or h, like 90s or 5m",
			   what);
	else if (read > 0 || value > max_ms)
		check_fail(check, "over_limit", node, "%s may be %s at most", what, most);
	else if (value == 0)
		check_fail(check, "bad_value", node, "%s must be at least 1s", what);
	else {
		*ret_ms = value;
		return true;
	}
	return false;
}

bool check_size(struct check *check, const struct yaml *node, const char *what, int64_t max_bytes,
		int64_t *ret_bytes)
{
	int64_t value = 0;
	int read = read_quantity(node, size_units, ARRAY_LEN(size_units), &value);
	char most[32];

	write_size(max_bytes, most, sizeof(most));
	if (read < 0)
		check_fail(check, "bad_value", node,
			   "%s must be a size: a whole number and B, KiB, MiB or GiB, like 64MiB",
			   what);
	else if (read > 0 || value > max_bytes)
		check_fail(check, "over_limit", node, "%s may be %s at most", what, most);
	else if (value == 0)
		check_fail(check, "bad_value", node, "%s must be at least 1B", what);
	else {
		*ret_bytes = value;
		return true;
	}
	return false;
}

const char *check_timezone(struct check *check, const struct yaml *node)
{
	const char *zone = check_text(check, node, "timezone");
	struct date date;

	if (zone == NULL)
		return NULL;
	if (date_today(zone, 0, &date, NULL) == 0)
		return zone;
	check_fail(check, "unknown_word", node,
		   "unknown timezone \"%.80s\": write an IANA name like Europe/Berlin, or UTC",
		   zone);
	return NULL;
}
