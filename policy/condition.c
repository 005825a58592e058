/*
 * The table of conditions, and how one is written for people. What each test and each "saw" does is
 * in condition_test.c and condition_saw.c. Pure.
 */
#include "policy/condition.h"

#include <string.h>

const struct condition_type condition_types[CONDITION_KIND_COUNT] = {
	[CONDITION_AGENTS] = {"agents", "which agents the rule speaks of", EFFECTS_ALL, true,
			      " is for agents other than ", true, test_agents, saw_agents},
	[CONDITION_TOOLS] = {"tools", "which tools the rule speaks of", EFFECTS_ALL, true,
			     " is for tools other than ", true, test_tools, saw_tools},
	[CONDITION_PHASE] = {"phase", "for lists of tools or for calls",
			     EFFECT_BIT(EFFECT_DENY) | EFFECT_BIT(EFFECT_ALLOW), true,
			     " speaks of lists or calls only, not of ", true, test_phase,
			     saw_phase},
	[CONDITION_USERS] = {"users", "for whom the agent acts", EFFECTS_ALL, true,
			     " is not for this user", false, test_users, saw_users},
	[CONDITION_TENANTS] = {"tenants", "the user's tenant, beside users", EFFECTS_ALL, true,
			       " is not for tenant ", true, test_tenants, saw_tenants},
	[CONDITION_ENVIRONMENTS] = {"environments", "where the service runs", EFFECTS_ALL, true,
				    " is not for environment ", true, test_environments,
				    saw_environments},
	[CONDITION_FROM] = {"time.from", "the first day", EFFECTS_ALL, true,
			    " does not hold yet, on ", true, test_from, saw_time},
	[CONDITION_UNTIL] = {"time.until", "the last day", EFFECTS_ALL, true,
			     " holds no longer, on ", true, test_until, saw_time},
	[CONDITION_DAYS] = {"time.days", "days of the week", EFFECTS_ALL, true,
			    " does not hold on ", true, test_days, saw_time},
	[CONDITION_HOURS] = {"time.hours", "hours of the day", EFFECTS_ALL, true,
			     " does not hold on ", true, test_hours, saw_time},
	[CONDITION_ATTRIBUTE] = {"attributes", "attributes of the verified user", EFFECTS_ALL, true,
				 " does not fit the user: ", true, test_attribute, saw_attribute},
	[CONDITION_DATABASE] = {"data.database", "the database a call touches", EFFECTS_ALL, false,
				" does not grant database ", true, test_database, saw_database},
	[CONDITION_TABLES] = {"data.tables", "every table a call touches", EFFECT_BIT(EFFECT_ALLOW),
			      false, " does not grant table ", true, test_tables, saw_tables},
	[CONDITION_COLUMNS] = {"data.columns", "every column a call reads",
			       EFFECT_BIT(EFFECT_ALLOW), false, " does not grant column ", true,
			       test_columns, saw_columns},
	[CONDITION_FUNCTIONS] = {"data.functions", "every SQL function a call uses",
				 EFFECT_BIT(EFFECT_ALLOW), false, " does not grant function ", true,
				 test_functions, saw_functions},
	[CONDITION_TOUCHES] = {"data.touches", "any table, column or function a call touches",
			       EFFECTS_TAKING, false, "", true, test_touches, saw_touches},
	[CONDITION_ARGUMENT] = {"arguments", "one argument of a call, by its path", EFFECTS_ALL,
				false, " does not grant the argument ", true, test_argument,
				saw_argument},
	[CONDITION_CLOSED] = {"arguments.closed", "that every argument of a call is named",
			      EFFECT_BIT(EFFECT_ALLOW), false, " does not name the argument ", true,
			      test_closed, saw_closed},
};

static void add_json(const struct json *json, struct buf *out)
{
	const char *text = json_str(json);
	bool first = true;

	if (text != NULL) {
		buf_add_str(out, text);
	} else if (json_type(json) == JSON_ARRAY) {
		buf_add_char(out, '[');
		json_each(item, json)
		{
			buf_add_str(out, first ? "" : ", ");
			add_json(item, out);
			first = false;
		}
		buf_add_char(out, ']');
	} else if (json_type(json) == JSON_OBJECT) {
		buf_add_char(out, '{');
		json_each(item, json)
		{
			buf_addf(out, "%s%s: ", first ? "" : ", ", json_key(item));
			add_json(item, out);
			first = false;
		}
		buf_add_char(out, '}');
	} else {
		json_write(json, out);
	}
}

void condition_want(const struct condition *condition, struct buf *out)
{
	buf_addf(out, "%s: ", condition->key);
	add_json(condition->want, out);
}

void condition_at(const struct rule *rule, const struct condition *condition, struct buf *out)
{
	const char *colon = strrchr(rule->at, ':');

	if (condition->place.line == 0 || colon == NULL) {
		buf_add_str(out, rule->at);
		return;
	}
	buf_add(out, rule->at, (size_t)(colon - rule->at));
	buf_addf(out, ":%u:%u", condition->place.line, condition->place.column);
}
