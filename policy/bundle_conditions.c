/*
 * The conditions of a rule: which kinds it has, in the order of the table, each with its place in
 * the scope file. The list is made from the rule as it stands in a bundle; the compiler makes the
 * same one to say the places in its order ("24:12 25:3 ..."). Fails on places that are not one
 * "line:column" for each condition.
 */
#include <string.h>

#include "policy/condition.h"

struct listing {
	bool allow;
	condition_fn *add;
	void *data;
};

static void add(const struct listing *listing, enum condition_kind kind, const char *key,
		const char *member, const struct json *want)
{
	listing->add(listing->data, kind, key, member, want);
}

static void add_if(const struct listing *listing, enum condition_kind kind, const char *key,
		   const struct json *want)
{
	if (want != NULL)
		add(listing, kind, key, NULL, want);
}

static void add_members(const struct listing *listing, enum condition_kind kind, const char *key,
			const struct json *object)
{
	json_each(want, object) add(listing, kind, key, json_key(want), want);
}

static void add_time(const struct listing *listing, const struct json *time)
{
	static const struct {
		enum condition_kind kind;
		const char *member;
	} parts[] = {{CONDITION_FROM, "from"},
		     {CONDITION_UNTIL, "until"},
		     {CONDITION_DAYS, "days"},
		     {CONDITION_HOURS, "hours"}};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (json_get(time, parts[i].member) != NULL)
			add(listing, parts[i].kind, "time", parts[i].member,
			    json_get(time, parts[i].member));
}

static void add_data(const struct listing *listing, const struct json *data)
{
	const struct json *tables = json_get(data, "tables");

	if (json_type(data) !=
	    JSON_OBJECT) { /* all asks nothing of a call, none that it has none */
		if (listing->allow)
			add(listing, CONDITION_DATABASE, "data", NULL, data);
		return;
	}
	add(listing, CONDITION_DATABASE, "data", "database", json_get(data, "database"));
	if (!listing->allow) {
		add(listing, CONDITION_TOUCHES, "data", NULL, data);
		return;
	}
	add(listing, CONDITION_TABLES, "data", "tables", tables);
	add(listing, CONDITION_COLUMNS, "data", "tables", tables);
	add(listing, CONDITION_FUNCTIONS, "data", "functions", json_get(data, "functions"));
}

void conditions_each(const struct json *rule, bool allow, condition_fn *each, void *data)
{
	const struct listing listing = {allow, each, data};

	add(&listing, CONDITION_AGENTS, "agents", NULL, json_get(rule, "agents"));
	add(&listing, CONDITION_TOOLS, "tools", NULL, json_get(rule, "tools"));
	add_if(&listing, CONDITION_PHASE, "phase", json_get(rule, "phase"));
	add(&listing, CONDITION_USERS, "users", NULL, json_get(rule, "users"));
	add_if(&listing, CONDITION_TENANTS, "tenants", json_get(rule, "tenants"));
	add_if(&listing, CONDITION_ENVIRONMENTS, "environments", json_get(rule, "environments"));
	add_time(&listing, json_get(rule, "time"));
	add_members(&listing, CONDITION_ATTRIBUTE, "attributes", json_get(rule, "attributes"));
	add_data(&listing, json_get(rule, "data"));
	add_members(&listing, CONDITION_ARGUMENT, "arguments", json_get(rule, "arguments"));
	if (allow)
		add_if(&listing, CONDITION_CLOSED, "arguments", json_get(rule, "arguments"));
}

struct reading {
	struct rule *rule;
	const char *places; /* what is left of them; NULL without */
	bool sound;
};

static bool read_number(const char **text, uint32_t *ret_number)
{
	size_t digits = strspn(*text, "0123456789");

	*ret_number = 0;
	for (size_t i = 0; i < digits && digits < 10; i++)
		*ret_number = *ret_number * 10 + (uint32_t)((*text)[i] - '0');
	*text += digits;
	return digits > 0 && digits < 10;
}

static bool read_place(const char **text, struct place *ret_place)
{
	if (!read_number(text, &ret_place->line) || **text != ':')
		return false;
	++*text;
	if (!read_number(text, &ret_place->column))
		return false;
	if (**text == ' ')
		++*text;
	return true;
}

static const char *static_key(const char *key, const char *member)
{
	static const struct {
		const char *key, *member, *whole;
	} known[] = {{"data", "tables", "data.tables"},	      {"data", "database", "data.database"},
		     {"data", "functions", "data.functions"}, {"time", "from", "time.from"},
		     {"time", "until", "time.until"},	      {"time", "days", "time.days"},
		     {"time", "hours", "time.hours"}};

	if (member == NULL)
		return key;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].key, key) == 0 && strcmp(known[i].member, member) == 0)
			return known[i].whole;
	return NULL;
}

static void take(void *data, enum condition_kind kind, const char *key, const char *member,
		 const struct json *want)
{
	struct reading *reading = data;
	struct rule *rule = reading->rule;
	struct condition *condition = &rule->conditions[rule->condition_count];

	*condition = (struct condition){.kind = kind, .want = want};
	condition->key = static_key(key, member);
	if (condition->key == NULL) {
		condition->owned_key = mem_format("%s.%s", key, member);
		condition->key = condition->owned_key;
	}
	if (rule->condition_count > 0 && condition[-1].kind == kind)
		condition->item = condition[-1].item + 1;
	if (reading->places != NULL && !read_place(&reading->places, &condition->place))
		reading->sound = false;
	rule->condition_count++;
}

int bundle_conditions_read(struct rule *rule, const struct json *json, struct err *err)
{
	const struct json *places = json_get(json, "places");
	struct reading reading = {rule, json_str(places), true};
	struct condition all[CONDITION_KIND_COUNT + 2 * RULE_MATCHERS_MAX]; /* few are there */

	rule->conditions = all;
	conditions_each(json, rule->effect == EFFECT_ALLOW, take, &reading);
	rule->conditions = mem_array(rule->condition_count, sizeof(*rule->conditions));
	memcpy(rule->conditions, all, rule->condition_count * sizeof(*rule->conditions));
	if ((places != NULL && reading.places == NULL) || !reading.sound ||
	    (reading.places != NULL && *reading.places != '\0'))
		return err_set(err, ERR_INVALID,
			       "places must be line:column for each condition, in their order");
	return 0;
}
