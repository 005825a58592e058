/*
 * What a condition saw in a call, for traces and reasons: of one that fails the part it fails on,
 * of one that holds all it looked at, cut when long. Pure.
 */
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

CONDITION_SAW(columns)
{
	(void)rule;
	(void)condition;
	add_part(&ids->facts->columns, "no column", outcome, part, out);
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
