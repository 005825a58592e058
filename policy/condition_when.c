/*
 * Conditions on the setting of a call: phase, tenant, environment, time, and attributes of the
 * user. What a rule that takes away speaks of and the facts do not have leaves it unclear, never
 * unmatched. Pure: the clock and the zones' offsets are facts. See condition.h.
 */
#include "policy/condition.h"

#define DAY_S 86400

static enum outcome holds_if(bool truth)
{
	return truth ? OUTCOME_HOLDS : OUTCOME_FAILS;
}

/* The facts lack what the rule asks about. */
static enum outcome lacking(const struct rule *rule)
{
	return rule->effect == EFFECT_ALLOW ? OUTCOME_FAILS : OUTCOME_UNCLEAR;
}

CONDITION_TEST(phase)
{
	(void)condition;
	(void)ret_part;
	return holds_if(ids->listing == (rule->phase == RULE_LISTING));
}

CONDITION_TEST(tenants)
{
	(void)condition;
	(void)ret_part;
	if (ids->facts->subject.tenant == NULL)
		return lacking(rule);
	return holds_if(symbol_set_has(&rule->only_tenants, ids->subject.tenant));
}

CONDITION_TEST(environments)
{
	(void)condition;
	(void)ret_part;
	if (ids->facts->setting.environment == NULL)
		return lacking(rule);
	return holds_if(symbol_set_has(&rule->environments, ids->environment));
}

bool condition_local_time(const struct rule *rule, const struct fact_ids *ids, int64_t *ret_day,
			  int64_t *ret_second)
{
	int64_t now = ids->facts->setting.now_s;
	int64_t offset;

	if (!zone_offset(rule->time.zone, now, &offset))
		return false;
	*ret_day = (now + offset) / DAY_S; /* never negative: zones begin in 2024 */
	*ret_second = (now + offset) % DAY_S;
	return true;
}

struct moment {
	int64_t day;
	int64_t second;
};

static enum outcome read_moment(const struct rule *rule, const struct fact_ids *ids,
				struct moment *ret_moment)
{
	/* For some time to come a rule that grants may, and one that takes away may not. */
	if (ids->any_time)
		return rule->effect == EFFECT_ALLOW ? OUTCOME_HOLDS : OUTCOME_FAILS;
	if (condition_local_time(rule, ids, &ret_moment->day, &ret_moment->second))
		return OUTCOME_HOLDS;
	return lacking(rule);
}

#define AT_SOME_TIME(truth)                                                                        \
	struct moment moment;                                                                      \
	enum outcome known = read_moment(rule, ids, &moment);                                      \
                                                                                                   \
	(void)condition;                                                                           \
	(void)ret_part;                                                                            \
	return known != OUTCOME_HOLDS || ids->any_time ? known : holds_if(truth)

CONDITION_TEST(from)
{
	AT_SOME_TIME(moment.day >= rule->time.from_day);
}

CONDITION_TEST(until)
{
	AT_SOME_TIME(moment.day <= rule->time.until_day);
}

CONDITION_TEST(days)
{
	AT_SOME_TIME((rule->time.weekdays >> ((moment.day + 3) % 7)) & 1); /* 1970 began Thursday */
}

static bool within_hours(const struct rule_time *time, int64_t minute)
{
	for (size_t i = 0; i < time->hour_count; i++)
		if (minute >= time->hours[i].from && minute < time->hours[i].until)
			return true;
	return false;
}

CONDITION_TEST(hours)
{
	AT_SOME_TIME(within_hours(&rule->time, moment.second / 60));
}

enum outcome condition_match(const struct rule *rule, const struct matcher *matcher,
			     const struct json *value)
{
	if (value == NULL)
		return lacking(rule);
	if (rule->effect != EFFECT_ALLOW && !matcher_clear(matcher, value))
		return OUTCOME_UNCLEAR;
	return holds_if(matcher_passes(matcher, value));
}

CONDITION_TEST(attribute)
{
	const struct rule_attribute *attribute = &rule->attributes[condition->item];

	(void)ret_part;
	return condition_match(rule, attribute->matcher,
			       json_get(ids->facts->subject.attributes, attribute->name));
}
