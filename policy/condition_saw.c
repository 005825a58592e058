/*
 * What a condition saw in a call, for traces and reasons: of one that fails the part it fails on,
 * of one that holds all it looked at, cut when long. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "policy/condition.h"

#define SHOWN_NAMES 8u

static void add_names(const struct names *names, const char *none, struct buf *out)
{
	if (names->count == 0)
		buf_add_str(out, none);
	for (size_t i = 0; i < names->count && i < SHOWN_NAMES; i++)
		buf_addf(out, "%s%s", i > 0 ? ", " : "", names->items[i]);
	if (names->count > SHOWN_NAMES)
		buf_addf(out, " and %zu more", names->count - SHOWN_NAMES);
}

static void add_part(const struct names *names, const char *none, enum outcome outcome, size_t part,
		     struct buf *out)
{
	if (outcome == OUTCOME_HOLDS)
		add_names(names, none, out);
	else
		buf_add_str(out, names->items[part]);
}

#define UNUSED_BUT_FACTS                                                                           \
	(void)rule;                                                                                \
	(void)condition;                                                                           \
	(void)outcome;                                                                             \
	(void)part

CONDITION_SAW(agents)
{
	UNUSED_BUT_FACTS;
	buf_add_str(out, ids->facts->agent);
}

CONDITION_SAW(tools)
{
	UNUSED_BUT_FACTS;
	buf_add_str(out, ids->facts->tool);
}

CONDITION_SAW(users)
{
	const struct subject *subject = &ids->facts->subject;

	UNUSED_BUT_FACTS;
	buf_addf(out, "user:%s", subject->user);
	for (size_t i = 0; i < subject->groups.count && i < SHOWN_NAMES; i++)
		buf_addf(out, ", group:%s", subject->groups.items[i]);
	if (subject->groups.count > SHOWN_NAMES)
		buf_addf(out, " and %zu more groups", subject->groups.count - SHOWN_NAMES);
	if (subject->tenant != NULL)
		buf_addf(out, ", tenant:%s", subject->tenant);
}

CONDITION_SAW(database)
{
	const char *database = ids->facts->database;

	UNUSED_BUT_FACTS;
	buf_add_str(out, database == NULL ? "no database" : database);
}

CONDITION_SAW(tables)
{
	(void)rule;
	(void)condition;
	add_part(&ids->facts->tables, "no table", outcome, part, out);
}

/* A column of a table that is known, but not as one of its columns. */
static bool is_new(const struct rule *rule, const struct fact_ids *ids, size_t part)
{
	const struct fact_column *column = &ids->columns[part];
	const struct known_table *known = bundle_known_table(ids->bundle, rule->data.database,
							     ids->tables[column->table].exact);

	return known != NULL && !symbol_set_has(&known->set, column->exact);
}

CONDITION_SAW(columns)
{
	(void)condition;
	add_part(&ids->facts->columns, "no column", outcome, part, out);
	if (outcome != OUTCOME_HOLDS && is_new(rule, ids, part))
		buf_add_str(out, " (not there when the policy was compiled)");
}

CONDITION_SAW(functions)
{
	(void)rule;
	(void)condition;
	add_part(&ids->facts->functions, "no function", outcome, part, out);
}

CONDITION_SAW(touches)
{
	const struct call_facts *facts = ids->facts;

	UNUSED_BUT_FACTS;
	add_names(&facts->tables, "no table", out);
	if (facts->columns.count > 0)
		buf_add_str(out, "; ");
	add_names(&facts->columns, "", out);
	if (facts->functions.count > 0)
		buf_add_str(out, "; ");
	add_names(&facts->functions, "", out);
}

CONDITION_SAW(phase)
{
	UNUSED_BUT_FACTS;
	buf_add_str(out, ids->listing ? "a list of tools" : "a call");
}

CONDITION_SAW(tenants)
{
	const char *tenant = ids->facts->subject.tenant;

	UNUSED_BUT_FACTS;
	buf_add_str(out, tenant == NULL ? "none" : tenant);
}

CONDITION_SAW(environments)
{
	const char *environment = ids->facts->setting.environment;

	UNUSED_BUT_FACTS;
	buf_add_str(out, environment == NULL ? "none" : environment);
}

/* "Tue 2026-12-01 08:12 Europe/Berlin" */
CONDITION_SAW(time)
{
	static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
	char date[DATE_LEN + 1];
	int64_t day, second;

	(void)condition;
	(void)outcome;
	(void)part;
	if (!condition_local_time(rule, ids, &day, &second)) {
		buf_add_str(out, "a time outside of the years the policy knows");
		return;
	}
	date_write(date_from_days(day), date);
	buf_addf(out, "%s %s %02d:%02d %s", days[(day + 3) % 7], date, (int)(second / 3600),
		 (int)(second / 60 % 60), rule->time.zone->name);
}

#define SHOWN_VALUE_BYTES 80u

static void add_value(const char *name, const struct json *value, struct buf *out)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t len;

	if (value == NULL) {
		buf_addf(out, "%s, which is not there", name);
		return;
	}
	json_write(value, &text);
	len = text.len;
	if (len > SHOWN_VALUE_BYTES) {
		len = SHOWN_VALUE_BYTES;
		while (((unsigned char)text.bytes[len] & 0xC0) == 0x80)
			len--;
	}
	buf_addf(out, "%s = ", name);
	buf_add(out, text.bytes, len);
	buf_add_str(out, len < text.len ? "..." : "");
}

CONDITION_SAW(attribute)
{
	const char *name = rule->attributes[condition->item].name;

	(void)outcome;
	(void)part;
	add_value(name, json_get(ids->facts->subject.attributes, name), out);
}

/* The value itself, or the nearest one on the way to it. */
CONDITION_SAW(argument)
{
	const struct json_path *path = &rule->arguments[condition->item].path;
	const struct json *value = ids->facts->arguments;
	const char *name = strchr(condition->key, '.') + 1;

	(void)outcome;
	(void)part;
	for (size_t i = 0; i < path->count && value != NULL; i++) {
		const struct json_step *step = &path->steps[i];

		if (step->kind == STEP_EACH)
			break;
		value = step->kind == STEP_NAME ? json_get(value, step->name)
						: json_at(value, step->index);
	}
	add_value(name, value, out);
}

CONDITION_SAW(closed)
{
	const struct json *unnamed = condition_unnamed(rule, ids);

	(void)condition;
	(void)outcome;
	(void)part;
	if (unnamed == NULL)
		buf_add_str(out, "no other");
	else
		add_value(json_key(unnamed) == NULL ? "an element" : json_key(unnamed), unnamed,
			  out);
}
