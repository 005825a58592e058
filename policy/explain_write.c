/* An explanation for people: the verdict first, then why, then what would change it. Pure. */
#include <string.h>

#include "policy/call_spec.h"
#include "policy/explain.h"

static void write_condition(const struct json *condition, struct buf *out)
{
	buf_addf(out, "%s (%s), saw %s", json_get_str(condition, "want"),
		 json_get_str(condition, "at"), json_get_str(condition, "saw"));
}

static void write_miss(const struct json *miss, struct buf *out)
{
	buf_addf(out, "  %s (%s)\n", json_get_str(miss, "rule"), json_get_str(miss, "at"));
	json_each(condition, json_get(miss, "failing"))
	{
		buf_add_str(out, "    wants  ");
		write_condition(condition, out);
		buf_add_char(out, '\n');
	}
	if (json_get(miss, "impossible") != NULL)
		buf_addf(out, "    no change of it would do: %s\n",
			 json_get_str(miss, "impossible"));
	json_each(change, json_get(miss, "changes"))
		buf_addf(out, "    change %s\n", json_str(change));
}

static void write_indented(const char *text, struct buf *out)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		buf_addf(out, "    %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void write_nearest(const struct json *explained, struct buf *out)
{
	const struct json *own = json_get(explained, "own_rule");

	if (json_len(json_get(explained, "nearest")) > 0)
		buf_add_str(out, "\nNearest, and what would allow it:\n");
	json_each(miss, json_get(explained, "nearest")) write_miss(miss, out);
	if (own == NULL)
		return;
	buf_add_str(out, "\nOr a rule of its own:\n");
	write_indented(json_get_str(own, "text"), out);
}

static void write_rule(const struct json *rule, bool all, struct buf *out)
{
	const struct json *failed = json_get(rule, "failed");

	buf_addf(out, "  %-5s %s (%s): ", json_get_str(rule, "effect"), json_get_str(rule, "rule"),
		 json_get_str(rule, "at"));
	if (failed == NULL) {
		buf_add_str(out, "applies");
	} else {
		buf_add_str(out, strcmp(json_get_str(rule, "outcome"), "unclear") == 0
					 ? "unclear at "
					 : "stops at ");
		write_condition(failed, out);
	}
	buf_add_char(out, '\n');
	if (!all)
		return;
	json_each(condition, json_get(rule, "conditions"))
	{
		buf_addf(out, "        %-7s ", json_get_str(condition, "outcome"));
		write_condition(condition, out);
		buf_add_char(out, '\n');
	}
}

/* Rules of another agent or tool say little; they are counted unless all is asked for. */
static void write_rules(const struct json *rules, bool all, struct buf *out)
{
	size_t passed_over = 0;

	buf_add_str(out, "\nRules considered:\n");
	json_each(rule, rules)
	{
		if (!all && !json_get_bool(rule, "selected", false)) {
			passed_over++;
			continue;
		}
		write_rule(rule, all, out);
	}
	if (passed_over > 0)
		buf_addf(out, "  %zu more speak of other agents or tools (--all shows them)\n",
			 passed_over);
}

static void write_call(const struct json *call, struct buf *out)
{
	struct call_spec *spec = NULL;

	if (call_spec_read(call, &spec, NULL) < 0)
		return;
	call_spec_say(call_spec_facts(spec), out);
	call_spec_free(spec);
}

void explain_write(const struct json *explained, int flags, struct buf *out)
{
	const struct json *verdict = json_get(explained, "verdict");
	const struct json *limits = json_get(verdict, "limits");

	write_call(json_get(explained, "call"), out);
	buf_addf(out, "\nunder policy %.12s: %s\n  %s\n", json_get_str(explained, "policy"),
		 json_get_str(verdict, "effect"), json_get_str(verdict, "reason"));
	if (limits != NULL)
		buf_addf(out, "  at most %lld rows, %lld bytes, %lld bytes scanned, %lld ms\n",
			 (long long)json_get_int(limits, "rows", 0),
			 (long long)json_get_int(limits, "bytes", 0),
			 (long long)json_get_int(limits, "scan_bytes", 0),
			 (long long)json_get_int(limits, "time_ms", 0));
	if (json_get(explained, "nearest") != NULL)
		write_nearest(explained, out);
	write_rules(json_get(explained, "rules"), (flags & EXPLAIN_ALL) != 0, out);
}
