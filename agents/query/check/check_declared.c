/*
 * The declaration that whoever writes SQL puts before it, as comments, one member a line and in the
 * order in which a plan is made:
 *
 *   -- tables: orders, order_items
 *   -- grain: one row per region
 *   -- metric: units sold, the sum of quantity
 *   -- fan-out risk: none
 *   SELECT ...
 *
 * Other comments are only comments. Nothing can fail; a statement without such lines declares
 * nothing.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_internal.h"

static const struct {
	const char *word; /* before the colon, blanks and hyphens apart */
	const char *member;
	bool list;
} members[] = {{"tables", "tables", true},
	       {"table", "tables", true},
	       {"grain", "grain", false},
	       {"metric", "metric_definition", false},
	       {"metricdefinition", "metric_definition", false},
	       {"fanoutrisk", "fanout_risk", false},
	       {"risk", "fanout_risk", false}};

static char *trimmed(const char *text, size_t len)
{
	while (len > 0 && isspace((unsigned char)text[0])) {
		text++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	return mem_strn(text, len);
}

/* "Fan-out risk" -> fanoutrisk */
static void fold(const char *text, size_t len, char *out, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < len && count + 1 < size; i++) {
		if (isalnum((unsigned char)text[i]))
			out[count++] = (char)tolower((unsigned char)text[i]);
	}
	out[count] = '\0';
}

static struct json *names_of(const char *text)
{
	struct json *names = json_array();

	while (*text) {
		size_t len = strcspn(text, ",;");
		CLEANUP(mem_freep) char *name = trimmed(text, len);

		if (name[0])
			json_push_str(names, name);
		text += len + (text[len] ? 1 : 0);
	}
	return names;
}

static void read_line(const char *line, size_t len, struct json *plan)
{
	const char *colon = memchr(line, ':', len);
	CLEANUP(mem_freep) char *value = NULL;
	char word[32];

	if (!colon)
		return;
	fold(line, (size_t)(colon - line), word, sizeof(word));
	value = trimmed(colon + 1, len - (size_t)(colon + 1 - line));
	for (size_t i = 0; value[0] && i < ARRAY_LEN(members); i++) {
		if (strcmp(word, members[i].word) != 0)
			continue;
		if (members[i].list)
			json_set(plan, members[i].member, names_of(value));
		else
			json_set_str(plan, members[i].member, value);
	}
}

struct json *check_declared(const char *sql)
{
	struct json *plan = json_object();

	for (;;) {
		size_t len;

		sql += strspn(sql, " \t\r\n");
		if (strncmp(sql, "--", 2) != 0)
			break;
		len = strcspn(sql, "\n");
		read_line(sql + 2, len - 2, plan);
		sql += len;
	}
	if (json_len(plan) > 0)
		return plan;
	json_free(plan);
	return NULL;
}
