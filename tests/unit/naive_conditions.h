/*
 * The setting, attributes and arguments of random rules and calls, and a second, deliberately naive
 * way to test them: constraints as the JSON they are written in, paths by hand, zones by scanning.
 * For test_decide_random.c, whose dice it uses.
 */
#ifndef TEST_NAIVE_CONDITIONS_H
#define TEST_NAIVE_CONDITIONS_H

#include "policy/bundle_model.h"
#include "policy/constraint.h"

static size_t below(size_t bound);
static bool chance(size_t percent);

#define NAIVE_ZONES                                                                                \
	"\"zones\":{\"UTC\":[[1704067200,0]],\"Odd\":[[1704067200,0],[1800000000,20700],"          \
	"[1800500000,-3600]]}"

static const char *const naive_paths[] = {"rows", "sql", "f", "f.x", "f.y[0]", "l[*]"};
static const char *const naive_attributes[] = {"dept", "level", "regions"};
static const char *const naive_constraints[] = {
	"{\"constraint_type\":\"wildcard\"}",
	"{\"constraint_type\":\"exact\",\"value\":2}",
	"{\"constraint_type\":\"exact\",\"value\":\"a\"}",
	"{\"constraint_type\":\"range\",\"min\":1,\"max\":3}",
	"{\"constraint_type\":\"range\",\"min\":1,\"min_inclusive\":false}",
	"{\"constraint_type\":\"range\",\"max\":3,\"max_inclusive\":false}",
	"{\"constraint_type\":\"range\",\"min\":1,\"max\":1,\"max_inclusive\":false}",
	"{\"constraint_type\":\"one_of\",\"values\":[1,\"a\"]}",
	"{\"constraint_type\":\"one_of\",\"values\":[]}",
	"{\"constraint_type\":\"not_one_of\",\"excluded\":[\"a\",\"b\"]}",
	"{\"constraint_type\":\"not_one_of\",\"excluded\":[2,true]}",
	"{\"constraint_type\":\"contains\",\"required\":[1]}",
	"{\"constraint_type\":\"subset\",\"allowed\":[1,2,\"a\"]}",
	"{\"constraint_type\":\"all\",\"constraints\":[{\"constraint_type\":\"range\",\"min\":1},"
	"{\"constraint_type\":\"not_one_of\",\"excluded\":[2]}]}",
	"{\"constraint_type\":\"any\",\"constraints\":[{\"constraint_type\":\"exact\",\"value\":"
	"\"a\"},{\"constraint_type\":\"range\",\"min\":3}]}",
};
static const char *const naive_values[] = {"1",		"2",   "3",	"\"a\"",    "\"b\"",
					   "true",	"1.5", "null",	"[1,2]",    "[]",
					   "[\"a\",7]", "{}",  "[1,1]", "{\"x\":1}"};

static struct json *naive_parsed[ARRAY_LEN(naive_constraints)];

static void naive_begin(void)
{
	for (size_t i = 0; i < ARRAY_LEN(naive_constraints); i++)
		if (json_parse_str(naive_constraints[i], &naive_parsed[i], NULL) < 0)
			abort();
}

static void naive_end(void)
{
	for (size_t i = 0; i < ARRAY_LEN(naive_constraints); i++)
		json_free(naive_parsed[i]);
}

#define NAIVE_NONE SIZE_MAX

struct naive_when {
	enum rule_phase phase;
	int tenants;	  /* bits of emea, apac; 0: not asked */
	int environments; /* bits of test, live */
	bool time;
	bool odd_zone;
	int64_t from_day, until_day;			/* 0: not asked */
	unsigned weekdays;				/* 0: not asked */
	int hour_from, hour_until;			/* until 0: not asked */
	size_t attributes[ARRAY_LEN(naive_attributes)]; /* constraint, or NAIVE_NONE */
	size_t arguments[ARRAY_LEN(naive_paths)];
	bool has_arguments;
};

static void naive_random_when(struct naive_when *when, enum effect effect, bool arguments)
{
	memset(when, 0, sizeof(*when));
	if (chance(15))
		when->phase = effect == EFFECT_ASK || chance(70) ? RULE_CALLING : RULE_LISTING;
	if (chance(10))
		when->tenants = 1 + (int)below(3);
	if (chance(10))
		when->environments = 1 + (int)below(3);
	when->time = chance(15);
	when->odd_zone = chance(50);
	if (chance(40))
		when->from_day = 20830 + (int64_t)below(8);
	if (chance(40))
		when->until_day = 20834 + (int64_t)below(8);
	if (when->from_day > 0 && when->until_day > 0 && when->until_day < when->from_day)
		when->until_day = when->from_day;
	when->weekdays = chance(40) ? 1 + (unsigned)below(127) : 0;
	when->hour_from = (int)below(1200);
	when->hour_until = chance(40) ? when->hour_from + 1 + (int)below(240) : 0;
	for (size_t i = 0; i < ARRAY_LEN(naive_attributes); i++)
		when->attributes[i] = chance(5) ? below(ARRAY_LEN(naive_constraints)) : NAIVE_NONE;
	for (size_t i = 0; i < ARRAY_LEN(naive_paths); i++) {
		when->arguments[i] = arguments && when->phase != RULE_LISTING && chance(15)
					     ? below(ARRAY_LEN(naive_constraints))
					     : NAIVE_NONE;
		when->has_arguments = when->has_arguments || when->arguments[i] != NAIVE_NONE;
	}
}

static void naive_write_words(struct buf *out, const char *key, int bits, const char *first,
			      const char *second)
{
	if (bits == 0)
		return;
	buf_addf(out, ",\"%s\":[", key);
	if (bits & 1)
		buf_addf(out, "\"%s\"%s", first, bits == 3 ? "," : "");
	if (bits & 2)
		buf_addf(out, "\"%s\"", second);
	buf_add_char(out, ']');
}

static void naive_write_time(struct buf *out, const struct naive_when *when)
{
	char date[DATE_LEN + 1];
	bool some = false;

	buf_addf(out, ",\"time\":{\"zone\":\"%s\"", when->odd_zone ? "Odd" : "UTC");
	if (when->from_day > 0) {
		date_write(date_from_days(when->from_day), date);
		buf_addf(out, ",\"from\":\"%s\"", date);
	}
	if (when->until_day > 0) {
		date_write(date_from_days(when->until_day), date);
		buf_addf(out, ",\"until\":\"%s\"", date);
	}
	if (when->weekdays != 0) {
		buf_add_str(out, ",\"days\":[");
		for (int d = 0; d < 7; d++)
			if ((when->weekdays >> d) & 1) {
				buf_addf(out, "%s%d", some ? "," : "", d);
				some = true;
			}
		buf_add_char(out, ']');
	}
	if (when->hour_until > 0)
		buf_addf(out, ",\"hours\":[[%d,%d]]", when->hour_from, when->hour_until);
	buf_add_char(out, '}');
}

static void naive_write_constraints(struct buf *out, const char *key, const char *const *names,
				    const size_t *chosen, size_t count)
{
	bool some = false;

	for (size_t i = 0; i < count; i++) {
		if (chosen[i] == NAIVE_NONE)
			continue;
		if (!some)
			buf_addf(out, ",\"%s\":{", key);
		buf_addf(out, "%s\"%s\":%s", some ? "," : "", names[i],
			 naive_constraints[chosen[i]]);
		some = true;
	}
	if (some)
		buf_add_char(out, '}');
}

static void naive_write_when(struct buf *out, const struct naive_when *when)
{
	if (when->phase != RULE_ALWAYS)
		buf_addf(out, ",\"phase\":\"%s\"", when->phase == RULE_LISTING ? "list" : "call");
	naive_write_words(out, "tenants", when->tenants, "emea", "apac");
	naive_write_words(out, "environments", when->environments, "test", "live");
	if (when->time)
		naive_write_time(out, when);
	naive_write_constraints(out, "attributes", naive_attributes, when->attributes,
				ARRAY_LEN(naive_attributes));
	naive_write_constraints(out, "arguments", naive_paths, when->arguments,
				ARRAY_LEN(naive_paths));
}

/* ---- testing ---- */

static bool naive_speaks_of(const struct json *constraint, const struct json *value)
{
	const char *type = json_get_str(constraint, "constraint_type");
	const char *const lists[] = {"values", "excluded"};

	if (strcmp(type, "wildcard") == 0)
		return true;
	if (strcmp(type, "range") == 0)
		return json_type(value) == JSON_INT;
	if (strcmp(type, "contains") == 0 || strcmp(type, "subset") == 0)
		return json_type(value) == JSON_ARRAY;
	if (strcmp(type, "exact") == 0)
		return json_type(json_get(constraint, "value")) == json_type(value);
	for (size_t l = 0; l < 2; l++) {
		const struct json *list = json_get(constraint, lists[l]);

		if (list == NULL)
			continue;
		json_each(item, list) if (json_type(item) == json_type(value)) return true;
		return json_len(list) == 0;
	}
	/* all: told when all are, or when one told clause fails; any: or one told clause passes */
	bool every = true;

	json_each(clause, json_get(constraint, "constraints"))
	{
		bool told = naive_speaks_of(clause, value);

		if (told && constraint_check(clause, value) == (strcmp(type, "any") == 0))
			return true;
		every = every && told;
	}
	return every;
}

static enum outcome naive_one(size_t constraint, const struct json *value, bool allow)
{
	const struct json *json = naive_parsed[constraint];

	if (value == NULL)
		return allow ? OUTCOME_FAILS : OUTCOME_UNCLEAR;
	if (!allow && !naive_speaks_of(json, value))
		return OUTCOME_UNCLEAR;
	return constraint_check(json, value) ? OUTCOME_HOLDS : OUTCOME_FAILS;
}

static enum outcome naive_argument(const struct naive_when *when, size_t path,
				   const struct json *arguments, bool allow)
{
	const struct json *f = json_get(arguments, "f");
	const struct json *l = json_get(arguments, "l");
	const struct json *const found[] = {
		json_get(arguments, "rows"), json_get(arguments, "sql"), f, json_get(f, "x"),
		json_type(json_get(f, "y")) == JSON_ARRAY ? json_at(json_get(f, "y"), 0) : NULL};
	enum outcome result = allow ? OUTCOME_HOLDS : OUTCOME_FAILS;

	if (path < ARRAY_LEN(found))
		return naive_one(when->arguments[path], found[path], allow);
	if (json_type(l) != JSON_ARRAY)
		return allow ? OUTCOME_FAILS : OUTCOME_UNCLEAR;
	json_each(item, l)
	{
		enum outcome one = naive_one(when->arguments[path], item, allow);

		if (allow ? one < result : one > result)
			result = one;
	}
	return result;
}

/* Is every argument named, down to the last part? Paths as in naive_paths. */
static bool naive_closed(const struct naive_when *when, const struct json *arguments)
{
	bool named[ARRAY_LEN(naive_paths)];

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		named[i] = when->arguments[i] != NAIVE_NONE;
	json_each(argument, arguments)
	{
		const char *name = json_key(argument);

		if (!(strcmp(name, "rows") == 0 && named[0]) &&
		    !(strcmp(name, "sql") == 0 && named[1]) &&
		    !(strcmp(name, "l") == 0 && named[5]) &&
		    !(strcmp(name, "f") == 0 && (named[2] || named[3] || named[4])))
			return false;
		if (strcmp(name, "l") == 0 && json_type(argument) == JSON_OBJECT &&
		    json_len(argument) > 0)
			return false; /* members, where elements are named */
		if (strcmp(name, "f") != 0 || named[2])
			continue;
		json_each(part, argument)
		{
			bool x = json_key(part) != NULL && strcmp(json_key(part), "x") == 0;
			bool y = json_key(part) != NULL && strcmp(json_key(part), "y") == 0;

			if (!(x && named[3]) && !(y && named[4]))
				return false;
			if (y && (json_len(part) > 1 ||
				  (json_type(part) == JSON_OBJECT && json_len(part) > 0)))
				return false; /* of its elements only the first is named */
		}
	}
	return true;
}

static void worst(enum outcome *result, enum outcome outcome)
{
	if (outcome < *result)
		*result = outcome;
}

static void naive_test_time(const struct naive_when *when, int64_t now, bool allow,
			    enum outcome *result)
{
	enum outcome lacking = allow ? OUTCOME_FAILS : OUTCOME_UNCLEAR;
	int64_t local = now, day, minute;
	bool known = now >= 1704067200 && now < 3313526400;

	if (when->odd_zone && now >= 1800000000)
		local = now + 20700;
	if (when->odd_zone && now >= 1800500000)
		local = now - 3600;
	day = local / 86400;
	minute = local % 86400 / 60;
	if (when->from_day > 0)
		worst(result, !known ? lacking : (enum outcome)(2 * (day >= when->from_day)));
	if (when->until_day > 0)
		worst(result, !known ? lacking : (enum outcome)(2 * (day <= when->until_day)));
	if (when->weekdays != 0) {
		int weekday = date_weekday(date_from_days(day));

		worst(result,
		      !known ? lacking : (enum outcome)(2 * ((when->weekdays >> weekday) & 1)));
	}
	if (when->hour_until > 0)
		worst(result, !known ? lacking
				     : (enum outcome)(2 * (minute >= when->hour_from &&
							   minute < when->hour_until)));
}

static enum outcome naive_test_when(const struct naive_when *when, const struct call_facts *facts,
				    bool allow)
{
	enum outcome lacking = allow ? OUTCOME_FAILS : OUTCOME_UNCLEAR;
	enum outcome result = when->phase == RULE_LISTING ? OUTCOME_FAILS : OUTCOME_HOLDS;
	const char *tenant = facts->subject.tenant;
	const char *environment = facts->setting.environment;

	if (when->tenants != 0)
		worst(&result,
		      tenant == NULL
			      ? lacking
			      : (enum outcome)(2 * ((when->tenants >> (tenant[0] == 'a')) & 1)));
	if (when->environments != 0)
		worst(&result,
		      environment == NULL
			      ? lacking
			      : (enum outcome)(
					2 * ((when->environments >> (environment[0] == 'l')) & 1)));
	if (when->time)
		naive_test_time(when, facts->setting.now_s, allow, &result);
	for (size_t i = 0; i < ARRAY_LEN(naive_attributes); i++)
		if (when->attributes[i] != NAIVE_NONE)
			worst(&result,
			      naive_one(when->attributes[i],
					json_get(facts->subject.attributes, naive_attributes[i]),
					allow));
	for (size_t i = 0; i < ARRAY_LEN(naive_paths); i++)
		if (when->arguments[i] != NAIVE_NONE)
			worst(&result, naive_argument(when, i, facts->arguments, allow));
	if (allow && when->has_arguments && !naive_closed(when, facts->arguments))
		worst(&result, OUTCOME_FAILS);
	return result;
}

/* ---- random calls ---- */

static const char *naive_value(void)
{
	return naive_values[below(ARRAY_LEN(naive_values))];
}

static struct json *naive_random_arguments(void)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *json = NULL;

	if (chance(5))
		return NULL;
	buf_add_str(&text, "{\"z\":0");
	if (chance(80))
		buf_reset(&text), buf_add_str(&text, "{\"rows\":2");
	if (chance(40))
		buf_addf(&text, ",\"sql\":%s", naive_value());
	if (chance(30))
		buf_addf(&text, ",\"f\":{\"x\":%s,\"y\":[%s]}", naive_value(), naive_value());
	else if (chance(20))
		buf_addf(&text, ",\"f\":{\"y\":%s}", naive_value());
	else if (chance(20))
		buf_addf(&text, ",\"f\":%s", naive_value());
	if (chance(30))
		buf_addf(&text, ",\"l\":[%s,%s]", naive_value(), naive_value());
	else if (chance(20))
		buf_addf(&text, ",\"l\":%s", naive_value());
	buf_add_char(&text, '}');
	if (json_parse_str(buf_str(&text), &json, NULL) < 0)
		abort();
	return json;
}

static struct json *naive_random_attributes(void)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *json = NULL;

	if (chance(20))
		return NULL;
	buf_add_str(&text, "{\"none\":0");
	for (size_t i = 0; i < ARRAY_LEN(naive_attributes); i++)
		if (chance(60))
			buf_addf(&text, ",\"%s\":%s", naive_attributes[i], naive_value());
	buf_add_char(&text, '}');
	if (json_parse_str(buf_str(&text), &json, NULL) < 0)
		abort();
	return json;
}

/* Around the days and changes that rules speak of, and now and then where no zone is known. */
static int64_t naive_random_now(void)
{
	if (chance(3))
		return chance(50) ? 0 : 3313526400 + (int64_t)below(10);
	return 1799800000 + (int64_t)below(1000000);
}

#endif
