/*
 * The conditions of a rule that was read: which kinds it has, in the order of the table, each with
 * its place in the scope file. Fails on places that are not "line:column".
 */
#include <stdio.h>
#include <string.h>

#include "policy/condition.h"

struct reading {
	struct rule *rule;
	const struct json *places;
};

static void find_place(const struct json *places, const char *key, struct place *ret_place)
{
	const char *text = json_get_str(places, key);

	*ret_place = (struct place){0, 0};
	if (text != NULL)
		IGNORE(sscanf(text, "%9u:%9u", &ret_place->line, &ret_place->column) != 2,
		       "check_places() has seen it");
}

static void add(struct reading *reading, enum condition_kind kind, const char *key,
		const struct json *want)
{
	struct rule *rule = reading->rule;
	struct condition *condition = &rule->conditions[rule->condition_count++];

	*condition = (struct condition){.kind = kind, .key = key, .want = want};
	find_place(reading->places, key, &condition->place);
}

static void add_if(struct reading *reading, enum condition_kind kind, const char *key,
		   const struct json *want)
{
	if (want != NULL)
		add(reading, kind, key, want);
}

/* One condition for each member: "arguments.rows". */
static void add_members(struct reading *reading, enum condition_kind kind, const char *key,
			const struct json *object)
{
	uint32_t item = 0;

	json_each(want, object)
	{
		char *owned = mem_format("%s.%s", key, json_key(want));
		struct condition *condition;

		add(reading, kind, owned, want);
		condition = &reading->rule->conditions[reading->rule->condition_count - 1];
		condition->owned_key = owned;
		condition->item = item++;
	}
}

static void add_time(struct reading *reading, const struct json *time)
{
	add_if(reading, CONDITION_FROM, "time.from", json_get(time, "from"));
	add_if(reading, CONDITION_UNTIL, "time.until", json_get(time, "until"));
	add_if(reading, CONDITION_DAYS, "time.days", json_get(time, "days"));
	add_if(reading, CONDITION_HOURS, "time.hours", json_get(time, "hours"));
}

static void add_data(struct reading *reading, const struct json *data)
{
	const struct json *tables = json_get(data, "tables");
	const struct json *functions = json_get(data, "functions");

	if (reading->rule->data.kind == DATA_ALL)
		return; /* nothing is asked of the call */
	if (reading->rule->data.kind == DATA_NONE) {
		add(reading, CONDITION_DATABASE, "data", data);
		return;
	}
	add(reading, CONDITION_DATABASE, "data.database", json_get(data, "database"));
	if (reading->rule->effect != EFFECT_ALLOW) {
		add(reading, CONDITION_TOUCHES, "data", data);
		return;
	}
	add(reading, CONDITION_TABLES, "data.tables", tables);
	add(reading, CONDITION_COLUMNS, "data.tables", tables);
	add(reading, CONDITION_FUNCTIONS, "data.functions", functions);
}

/* Digits, a colon, digits, and nothing else. */
static bool is_place(const char *text)
{
	size_t line = text == NULL ? 0 : strspn(text, "0123456789");
	size_t column = line == 0 || text[line] != ':' ? 0 : strspn(text + line + 1, "0123456789");

	return line > 0 && line < 10 && column > 0 && column < 10 &&
	       text[line + 1 + column] == '\0';
}

static int check_places(const struct json *places, struct err *err)
{
	if (places != NULL && json_type(places) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "places must be an object");
	json_each(place, places) if (!is_place(json_str(place))) return err_set(
		err, ERR_INVALID, "places: %.80s is not line:column", json_key(place));
	return 0;
}

int bundle_conditions_read(struct rule *rule, const struct json *json, struct err *err)
{
	struct reading reading = {rule, json_get(json, "places")};

	if (check_places(reading.places, err) < 0)
		return -1;
	rule->conditions =
		mem_array(CONDITION_KIND_COUNT + rule->attribute_count + rule->argument_count,
			  sizeof(*rule->conditions));
	add(&reading, CONDITION_AGENTS, "agents", json_get(json, "agents"));
	add(&reading, CONDITION_TOOLS, "tools", json_get(json, "tools"));
	add_if(&reading, CONDITION_PHASE, "phase", json_get(json, "phase"));
	add(&reading, CONDITION_USERS, "users", json_get(json, "users"));
	add_if(&reading, CONDITION_TENANTS, "tenants", json_get(json, "tenants"));
	add_if(&reading, CONDITION_ENVIRONMENTS, "environments", json_get(json, "environments"));
	add_time(&reading, json_get(json, "time"));
	add_members(&reading, CONDITION_ATTRIBUTE, "attributes", json_get(json, "attributes"));
	add_data(&reading, json_get(json, "data"));
	add_members(&reading, CONDITION_ARGUMENT, "arguments", json_get(json, "arguments"));
	if (rule->effect == EFFECT_ALLOW)
		add_if(&reading, CONDITION_CLOSED, "arguments", json_get(json, "arguments"));
	return 0;
}
