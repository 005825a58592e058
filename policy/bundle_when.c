/*
 * The members of a rule that speak of the setting: phase, tenants, environments, time. Strict like
 * bundle.c; a member that is absent asks nothing.
 */
#include <string.h>

#include "base/clock.h"
#include "policy/bundle_model.h"

static int read_phase(const struct json *json, enum rule_phase *ret_phase, struct err *err)
{
	const char *word = json_str(json);

	if (json == NULL)
		return 0;
	if (word != NULL && strcmp(word, "list") == 0)
		*ret_phase = RULE_LISTING;
	else if (word != NULL && strcmp(word, "call") == 0)
		*ret_phase = RULE_CALLING;
	else
		return err_set(err, ERR_INVALID, "phase must be list or call");
	return 0;
}

static int read_some(struct bundle *bundle, const struct json *list, const char *key,
		     struct symbol_set *set, struct err *err)
{
	if (list == NULL)
		return 0;
	if (json_len(list) == 0)
		return err_set(err, ERR_INVALID, "%s must name at least one", key);
	if (names_read(bundle, list, false, set, err) < 0)
		return err_wrap(err, "%s", key);
	return 0;
}

static int read_day(const struct json *time, const char *key, int64_t fallback, int64_t *ret_day,
		    struct err *err)
{
	const struct json *json = json_get(time, key);
	struct date date;

	*ret_day = fallback;
	if (json == NULL)
		return 0;
	if (json_str(json) == NULL || date_read(json_str(json), &date, NULL) < 0)
		return err_set(err, ERR_INVALID, "%s must be a date", key);
	*ret_day = date_to_days(date);
	return 0;
}

static int read_weekdays(const struct json *list, unsigned *ret_days, struct err *err)
{
	*ret_days = 0x7F;
	if (list == NULL)
		return 0;
	*ret_days = 0;
	json_each(item, list)
	{
		if (json_type(item) != JSON_INT || json_int(item) < 0 || json_int(item) > 6)
			return err_set(err, ERR_INVALID, "a day is a number from 0 to 6");
		*ret_days |= 1u << json_int(item);
	}
	return *ret_days == 0 ? err_set(err, ERR_INVALID, "days must name at least one") : 0;
}

static int read_hours(const struct json *list, struct rule_time *time, struct err *err)
{
	if (list != NULL && (json_len(list) == 0 || json_len(list) > RULE_HOURS_MAX))
		return err_set(err, ERR_INVALID, "hours must be 1 to %u spans", RULE_HOURS_MAX);
	json_each(item, list)
	{
		int64_t from = json_int(json_at(item, 0));
		int64_t until = json_int(json_at(item, 1));

		if (json_len(item) != 2 || json_type(json_at(item, 0)) != JSON_INT ||
		    json_type(json_at(item, 1)) != JSON_INT || from < 0 || until > 1440 ||
		    from >= until)
			return err_set(err, ERR_INVALID,
				       "a span of hours is [minute, later minute]");
		time->hours[time->hour_count++] = (struct rule_hours){(int)from, (int)until};
	}
	return 0;
}

static int read_time(struct bundle *bundle, const struct json *json, struct rule_time *time,
		     struct err *err)
{
	static const char *const keys[] = {"days", "from", "hours", "until", "zone", NULL};
	const char *zone;

	if (json == NULL)
		return 0;
	if (json_only(json, keys, err) < 0 || json_want_str(json, "zone", &zone, err) < 0 ||
	    read_day(json, "from", INT64_MIN, &time->from_day, err) < 0 ||
	    read_day(json, "until", INT64_MAX, &time->until_day, err) < 0 ||
	    read_weekdays(json_get(json, "days"), &time->weekdays, err) < 0 ||
	    read_hours(json_get(json, "hours"), time, err) < 0)
		return err_wrap(err, "time");
	if (time->from_day > time->until_day)
		return err_set(err, ERR_INVALID, "time: from is after until");
	time->zone = bundle_zone(bundle, zone);
	if (time->zone == NULL)
		return err_set(err, ERR_INVALID, "time: the bundle does not know zone %s", zone);
	bundle->uses_time = true;
	return 0;
}

int bundle_when_read(struct bundle *bundle, const struct json *json, struct rule *rule,
		     struct err *err)
{
	if (read_phase(json_get(json, "phase"), &rule->phase, err) < 0 ||
	    read_some(bundle, json_get(json, "tenants"), "tenants", &rule->only_tenants, err) < 0 ||
	    read_some(bundle, json_get(json, "environments"), "environments", &rule->environments,
		      err) < 0)
		return -1;
	return read_time(bundle, json_get(json, "time"), &rule->time, err);
}
