/*
 * The members of a rule that speak of its setting: phase, tenants, environments, time. The offsets
 * of a time zone go into the bundle, so that no decision reads a file and every broker agrees.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/timezone.h"
#include "policy/bundle_model.h"
#include "policy/compile_parts.h"

static const char *const weekdays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

static void compile_phase(struct compile *compile, const struct yaml *node, const char *effect,
			  struct json *json)
{
	static const char *const words[] = {"list", "call"};
	const char *word = node == NULL ? NULL
					: check_word(&compile->check, node, "phase",
						     (struct words){words, ARRAY_LEN(words)});

	if (word == NULL)
		return;
	if (strcmp(word, "list") == 0 && strcmp(effect, "ask") == 0)
		check_fail(&compile->check, "bad_value", node,
			   "an ask rule asks about calls, not about lists of tools");
	json_set_str(json, "phase", word);
}

/* A rule for lists of tools is tried before there is a call. */
static void check_list_phase(struct compile *compile, const struct yaml *rule, const char *effect)
{
	static const char *const absent[] = {"arguments", "per_call", "limits"};
	const struct yaml *phase = yaml_get(rule, "phase");
	const struct yaml *data = yaml_get(rule, "data");
	const char *want = strcmp(effect, "allow") == 0 ? "none" : "all";

	if (phase == NULL || !is_word(phase, "list"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (yaml_get(rule, absent[i]) != NULL)
			check_fail(&compile->check, "absent_fact", yaml_get(rule, absent[i]),
				   "%s is not known when tools are listed: leave it out, or "
				   "write a rule of phase call",
				   absent[i]);
	if (data != NULL && !is_word(data, want))
		check_fail(&compile->check, "absent_fact", data,
			   "data is not known when tools are listed: write data: %s", want);
}

static struct json *compile_names(struct compile *compile, const struct yaml *node,
				  const char *what, const char *one, const struct names *known)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list;

	if (node == NULL || !check_list(&compile->check, node, what))
		return NULL;
	list = json_array();
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *name = known == NULL
					   ? check_text(&compile->check, items.nodes[i], one)
					   : check_word(&compile->check, items.nodes[i], one,
							(struct words){known->items, known->count});

		if (name != NULL)
			push_name(compile, list, items.nodes[i], name, false);
	}
	return list;
}

static void set_if(struct json *json, const char *key, struct json *value)
{
	if (value != NULL)
		json_set(json, key, value);
}

static const char *compile_date(struct compile *compile, const struct yaml *node, const char *what)
{
	const char *text = node == NULL ? NULL : check_text(&compile->check, node, what);
	struct date date;

	if (text == NULL || date_read(text, &date, NULL) == 0)
		return text;
	check_fail(&compile->check, "bad_value", node, "%s must be a date like 2026-12-31", what);
	return NULL;
}

static struct json *compile_days(struct compile *compile, const struct yaml *node)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();
	bool named[ARRAY_LEN(weekdays)] = {false};

	if (!check_list(&compile->check, node, "days"))
		return list;
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *word = check_word(&compile->check, items.nodes[i], "day",
					      (struct words){weekdays, ARRAY_LEN(weekdays)});

		for (size_t d = 0; word != NULL && d < ARRAY_LEN(weekdays); d++)
			named[d] = named[d] || strcmp(word, weekdays[d]) == 0;
	}
	for (size_t d = 0; d < ARRAY_LEN(weekdays); d++)
		if (named[d])
			json_push_int(list, (int64_t)d);
	return list;
}

/* "08:00" into minutes; -1 when of another form. 24:00 ends a day. */
static int read_minute(const char *text)
{
	int hour, minute;

	if (strspn(text, "0123456789") != 2 || text[2] != ':' ||
	    strspn(text + 3, "0123456789") < 2 || sscanf(text, "%2d:%2d", &hour, &minute) != 2)
		return -1;
	if (hour > 24 || minute > 59 || (hour == 24 && minute > 0))
		return -1;
	return hour * 60 + minute;
}

static void compile_span(struct compile *compile, const struct yaml *node, struct json *list)
{
	const char *text = check_text(&compile->check, node, "hours");
	struct json *span;
	int from, until;

	if (text == NULL)
		return;
	from = read_minute(text);
	until = from < 0 || text[5] != '-' ? -1 : read_minute(text + 6);
	if (until < 0 || strlen(text) != 11) {
		check_fail(&compile->check, "bad_value", node,
			   "hours are spans like 08:00-18:00, from the first to before the last "
			   "minute");
		return;
	}
	if (from >= until) {
		check_fail(&compile->check, "bad_value", node,
			   "this span ends before it begins; over midnight write two: "
			   "%.5s-24:00 and 00:00-%.5s",
			   text, text + 6);
		return;
	}
	span = json_array();
	json_push_int(span, from);
	json_push_int(span, until);
	json_push(list, span);
}

static struct json *compile_hours(struct compile *compile, const struct yaml *node)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();

	if (!check_list(&compile->check, node, "hours"))
		return list;
	list_items_of(compile, node, &items);
	if (items.count > RULE_HOURS_MAX)
		check_fail(&compile->check, "over_limit", node, "at most %u spans of hours",
			   RULE_HOURS_MAX);
	for (size_t i = 0; i < items.count; i++)
		compile_span(compile, items.nodes[i], list);
	return list;
}

/* Where the offset is another one, within a second: zones change at most every few weeks. */
static int64_t find_change(const char *zone, int64_t low, int64_t high, int offset)
{
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		int at = offset;

		if (timezone_offset(zone, middle, &at, NULL) < 0 || at == offset)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void push_change(struct json *changes, int64_t from_s, int offset)
{
	struct json *change = json_array();

	json_push_int(change, from_s);
	json_push_int(change, offset);
	json_push(changes, change);
}

#define ZONE_STEP_S (7 * 86400LL)

static void use_zone(struct compile *compile, const char *zone)
{
	struct json *changes;
	int offset = 0;

	if (json_get(compile->zones, zone) != NULL)
		return;
	changes = json_array();
	for (int64_t at = ZONE_FROM_S; at < ZONE_UNTIL_S; at += ZONE_STEP_S) {
		int now = offset;

		/* The zone was found to be one when it was checked. */
		if (timezone_offset(zone, at, &now, NULL) < 0)
			break;
		if (at > ZONE_FROM_S && now == offset)
			continue;
		push_change(changes,
			    at == ZONE_FROM_S ? at
					      : find_change(zone, at - ZONE_STEP_S, at, offset),
			    now);
		offset = now;
	}
	json_set(compile->zones, zone, changes);
}

static void compile_time(struct compile *compile, const struct yaml *node, struct json *json)
{
	static const char *const keys[] = {"zone", "from", "until", "days", "hours", NULL};
	struct check *check = &compile->check;
	const struct yaml *zone_node;
	const char *zone, *from, *until;
	struct json *time;

	if (node == NULL || !check_map(check, node, "time", keys))
		return;
	time = json_object();
	zone_node = yaml_get(node, "zone");
	zone = zone_node != NULL ? check_timezone(check, zone_node) : compile->zone;
	zone = zone == NULL ? "UTC" : zone;
	from = compile_date(compile, yaml_get(node, "from"), "from");
	until = compile_date(compile, yaml_get(node, "until"), "until");
	if (from != NULL && until != NULL && strcmp(from, until) > 0)
		check_fail(check, "bad_value", yaml_get(node, "until"),
			   "until lies before from: the rule would never hold");
	json_set_str(time, "zone", zone);
	if (from != NULL)
		json_set_str(time, "from", from);
	if (until != NULL)
		json_set_str(time, "until", until);
	if (yaml_get(node, "days") != NULL)
		json_set(time, "days", compile_days(compile, yaml_get(node, "days")));
	if (yaml_get(node, "hours") != NULL)
		json_set(time, "hours", compile_hours(compile, yaml_get(node, "hours")));
	if (json_len(time) == 1)
		check_fail(check, "missing_key", node,
			   "time says nothing; write, for example, days: [mon], hours: "
			   "[08:00-18:00], from: 2026-10-01");
	use_zone(compile, zone);
	json_set(json, "time", time);
}

void compile_when(struct compile *compile, const struct yaml *rule, const char *effect,
		  struct json *json)
{
	const struct yaml *environments = yaml_get(rule, "environments");
	const struct names *known = compile->world->environments;

	compile_phase(compile, yaml_get(rule, "phase"), effect, json);
	check_list_phase(compile, rule, effect);
	set_if(json, "tenants",
	       compile_names(compile, yaml_get(rule, "tenants"), "tenants", "a tenant", NULL));
	if (environments != NULL && known != NULL && known->count == 0)
		check_fail(&compile->check, "unknown_word", environments,
			   "writ.yaml names no environment; add, for example, environment: staging "
			   "and environments: [staging, production]");
	else
		set_if(json, "environments",
		       compile_names(compile, environments, "environments", "environment", known));
	compile_time(compile, yaml_get(rule, "time"), json);
}
