/* A value that does not occur: which of those that do is meant? */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_doubt.h"
#include "base/nearest.h"

#define OFFERED_MAX 5
#define SHOWN_BYTES_MAX 60 /* of one value */

struct values {
	char *text; /* owned; NUL between the items */
	const char *items[64];
	size_t count;
};

static struct values read_values(const char *lines)
{
	struct values values = {.text = mem_str(lines)};
	char *at = values.text;

	while (at && *at && values.count < ARRAY_LEN(values.items)) {
		char *end = strchr(at, '\n');

		values.items[values.count++] = at;
		if (end)
			*end++ = '\0';
		at = end;
	}
	return values;
}

static bool begins(const char *text, const char *with)
{
	return *with && strncasecmp(text, with, strlen(with)) == 0;
}

/* The same but for its letters, then one that begins as it does, then one nearly spelt so. */
static const char *nearest(const struct values *values, const char *wanted)
{
	for (size_t i = 0; i < values->count; i++) {
		if (strcasecmp(values->items[i], wanted) == 0)
			return values->items[i];
	}
	for (size_t i = 0; i < values->count; i++) {
		if (begins(wanted, values->items[i]) || begins(values->items[i], wanted))
			return values->items[i];
	}
	return nearest_word(wanted, values->items, values->count);
}

static void offer(const char *value, struct buf *out)
{
	buf_addf(out, "%s'%.*s'", out->len ? ", " : "", SHOWN_BYTES_MAX, value);
}

void doubt_flag_value(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(buf_clear) struct buf offered = BUF_INIT;
	CLEANUP(mem_freep) char *repair = NULL;
	struct values values;
	const char *near;
	size_t shown = 0;

	if (!json_str(answer))
		return;
	values = read_values(json_str(answer));
	near = nearest(&values, doubt->value);
	if (near)
		offer(near, &offered);
	for (size_t i = 0; i < values.count && shown < OFFERED_MAX; i++) {
		if (values.items[i] == near)
			continue;
		offer(values.items[i], &offered);
		shown++;
	}
	repair = offered.len ? mem_format("%s: %s", near ? "nearest first" : "there are",
					  buf_str(&offered))
			     : mem_str("the column holds no value at all");
	flag_add(flags, "filter.unknown_value", "warning", repair, "%s '%s' in %s.%s",
		 doubt->mild ? "nothing is like" : "there is no", doubt->value, doubt->table,
		 doubt->name);
	mem_free(values.text);
}
