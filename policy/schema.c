/* See schema.h. Each function makes the schema of one thing of a scope file. */
#include "policy/schema.h"

#include <string.h>

#include "policy/condition.h"
#include "policy/vocabulary.h"

static struct json *text_schema(void)
{
	struct json *schema = json_object();

	json_set_str(schema, "type", "string");
	json_set_int(schema, "minLength", 1);
	return schema;
}

static struct json *pattern_schema(const char *pattern, const char *about)
{
	struct json *schema = text_schema();

	json_set_str(schema, "pattern", pattern);
	if (about != NULL)
		json_set_str(schema, "description", about);
	return schema;
}

static struct json *about(struct json *schema, const char *text)
{
	json_set_str(schema, "description", text);
	return schema;
}

static struct json *enum_schema(struct json *names)
{
	struct json *schema = json_object();

	json_set(schema, "enum", names);
	return schema;
}

static struct json *const_schema(const char *word)
{
	struct json *words = json_array();

	json_push_str(words, word);
	return enum_schema(words);
}

static struct json *any_of(struct json *one, struct json *other)
{
	struct json *schema = json_object();
	struct json *list = json_array();

	json_push(list, one);
	json_push(list, other);
	json_set(schema, "anyOf", list);
	return schema;
}

/* A list of at least one item; a named list may stand for items. */
static struct json *list_schema(struct json *item)
{
	struct json *schema = json_object();

	json_set_str(schema, "type", "array");
	json_set_int(schema, "minItems", 1);
	json_set(schema, "items", any_of(item, pattern_schema("^list:.", "a list of this file")));
	return schema;
}

static struct json *word_or_list(const char *word, struct json *item)
{
	return any_of(const_schema(word), list_schema(item));
}

static struct json *names_json(const char *const *items, size_t count)
{
	struct json *names = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(names, items[i]);
	return names;
}

/* One of the names; any text when none is known. */
static struct json *one_of_names(struct json *names)
{
	if (json_len(names) > 0)
		return enum_schema(names);
	json_free(names);
	return text_schema();
}

/* A map with these members alone. required is NULL-terminated, or NULL. */
static struct json *map_schema(struct json *properties, const char *const *required)
{
	struct json *schema = json_object();
	struct json *keys = json_array();

	json_set_str(schema, "type", "object");
	json_set_bool(schema, "additionalProperties", false);
	json_set(schema, "properties", properties);
	for (size_t i = 0; required != NULL && required[i] != NULL; i++)
		json_push_str(keys, required[i]);
	if (json_len(keys) > 0)
		json_set(schema, "required", keys);
	else
		json_free(keys);
	return schema;
}

/* A map from any name to the same thing. */
static struct json *names_to(struct json *value)
{
	struct json *schema = json_object();

	json_set_str(schema, "type", "object");
	json_set(schema, "additionalProperties", value);
	return schema;
}

static struct json *duration_schema(void)
{
	return pattern_schema("^(0|[1-9][0-9]*)(s|m|h)$",
			      "a whole number and s, m or h: 90s, 5m, 2h");
}

static struct json *size_schema(void)
{
	return pattern_schema("^(0|[1-9][0-9]*)(B|KiB|MiB|GiB)$",
			      "a whole number and B, KiB, MiB or GiB: 64MiB");
}

static struct json *count_schema(int64_t min)
{
	struct json *schema = json_object();

	json_set_str(schema, "type", "integer");
	json_set_int(schema, "minimum", min);
	return schema;
}

static struct json *object_schema(void)
{
	struct json *schema = json_object();

	json_set_str(schema, "type", "object");
	return schema;
}

/* ---- agents ---- */

static struct json *budget_schema(void)
{
	static const char *const counts[] = {"tool_calls", "tool_errors", "model_calls",
					     "attempts"};
	struct json *members = json_object();

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_set(members, counts[i], count_schema(0));
	json_set(members, "time", duration_schema());
	json_set(members, "scan", size_schema());
	return map_schema(members, NULL);
}

static struct json *agent_schema(const struct schema_world *world)
{
	static const char *const required[] = {"id", "role", NULL};
	struct json *members = json_object();
	struct json *roles = json_array();

	for (size_t i = 0; role_words[i] != NULL; i++)
		json_push_str(roles, role_words[i]);
	json_set(members, "id", about(text_schema(), "one agent, one URI"));
	json_set(members, "role", enum_schema(roles));
	json_set(members, "token", about(duration_schema(), "life of its tokens, at most 5m"));
	json_set(members, "per_task", about(budget_schema(), "what it may spend in one task"));
	json_set(members, "hands_to",
		 about(list_schema(one_of_names(names_json(world->agents, world->agent_count))),
		       "the agents it may hand its result to"));
	return map_schema(members, required);
}

/* ---- data ---- */

static struct json *column_names(const struct json *table)
{
	struct json *names = json_array();

	json_each(column, json_get(table, "columns"))
		json_push_str(names, json_get_str(column, "name"));
	return names;
}

static struct json *table_schema(struct json *columns)
{
	static const char *const required[] = {"columns", NULL};
	struct json *members = json_object();

	/* Rules that take away name columns in any case, so a name is offered but never refused. */
	json_set(members, "columns",
		 word_or_list("all", any_of(one_of_names(columns), text_schema())));
	return map_schema(members, required);
}

/* The tables of all databases: which belongs to which is check's to say. */
static struct json *tables_schema(const struct schema_world *world)
{
	struct json *schema = json_object();
	struct json *tables = json_object();

	json_each(catalog, world->catalogs) json_each(table, json_get(catalog, "tables"))
	{
		const char *name = json_get_str(table, "name");

		if (name != NULL && json_get(tables, name) == NULL)
			json_set(tables, name, table_schema(column_names(table)));
	}
	json_set_str(schema, "type", "object");
	json_set(schema, "properties", tables);
	json_set(schema, "additionalProperties", table_schema(json_array()));
	return schema;
}

static struct json *function_names(void)
{
	struct json *names = json_array();

	for (size_t i = 0; i < function_list_count; i++)
		json_push_str(names, function_lists[i].name);
	return names;
}

static struct json *data_schema(const struct schema_world *world)
{
	static const char *const required[] = {"database", NULL};
	struct json *members = json_object();
	struct json *words = json_array();

	json_push_str(words, "all");
	json_push_str(words, "none");
	json_set(members, "database",
		 about(one_of_names(names_json(world->databases.items, world->databases.count)),
		       "a source of writ.yaml"));
	json_set(members, "tables",
		 about(any_of(const_schema("all"), tables_schema(world)),
		       "table: {columns: [a, b]} or {columns: all}"));
	json_set(members, "functions",
		 about(list_schema(enum_schema(function_names())), "named lists of SQL functions"));
	json_set(members, "tags",
		 about(list_schema(text_schema()), "columns that carry one of these tags"));
	return any_of(enum_schema(words), map_schema(members, required));
}

/* ---- rules ---- */

static void add_people(struct json *names, const struct json *user)
{
	const char *tenant = json_get_str(user, "tenant");
	const char *name = json_get_str(user, "name");

	if (name != NULL) {
		CLEANUP(mem_freep) char *text = mem_format("user:%s", name);

		json_push_str(names, text);
	}
	if (tenant != NULL) {
		CLEANUP(mem_freep) char *text = mem_format("tenant:%s", tenant);

		json_push_str(names, text);
	}
	json_each(group, json_get(user, "groups"))
	{
		CLEANUP(mem_freep) char *text = mem_format("group:%s", json_str(group));

		json_push_str(names, text);
	}
}

static struct json *unique(const struct json *names)
{
	struct json *once = json_array();

	json_each(name, names)
	{
		bool known = false;

		json_each(other, once) known = known || json_equal(name, other);
		if (!known)
			json_push(once, json_copy(name));
	}
	return once;
}

/* Known names are offered; other users of the machine may exist. */
static struct json *users_schema(const struct schema_world *world)
{
	CLEANUP(json_freep) struct json *names = json_array();
	struct json *any = pattern_schema("^(user|group|tenant):.", NULL);

	json_each(user, json_get(world->users, "users")) add_people(names, user);
	add_people(names, json_get(world->users, "anyone"));
	if (json_len(names) == 0)
		return word_or_list("everyone", any);
	return word_or_list("everyone", any_of(enum_schema(unique(names)), any));
}

static struct json *tool_names(void)
{
	struct json *names = json_array();

	for (size_t i = 0; i < tool_word_count; i++)
		json_push_str(names, tool_words[i].name);
	return names;
}

static struct json *limits_schema(void)
{
	struct json *members = json_object();

	json_set(members, "rows", count_schema(1));
	json_set(members, "bytes", size_schema());
	json_set(members, "scan", size_schema());
	json_set(members, "time", duration_schema());
	return map_schema(members, NULL);
}

/* What the table of conditions says of it. */
static const char *condition_about(const char *name)
{
	for (size_t i = 0; i < CONDITION_KIND_COUNT; i++)
		if (strcmp(condition_types[i].name, name) == 0)
			return condition_types[i].about;
	return NULL;
}

static void add_subject(struct json *members, const struct schema_world *world)
{
	json_set(members, "agents",
		 about(word_or_list("all",
				    one_of_names(names_json(world->agents, world->agent_count))),
		       condition_about("agents")));
	json_set(members, "users", about(users_schema(world), condition_about("users")));
	json_set(members, "tools",
		 about(word_or_list("all", any_of(enum_schema(tool_names()), text_schema())),
		       condition_about("tools")));
}

static struct json *effect_schema(void)
{
	static const char *const effects[] = {"allow", "ask", "deny"};

	return about(enum_schema(names_json(effects, ARRAY_LEN(effects))),
		     "deny beats ask beats allow; deny and ask match when any part of a call does, "
		     "an allow must cover the whole call alone");
}

static struct json *rule_schema(const struct schema_world *world)
{
	static const char *const required[] = {"id",	"effect", "agents", "users",
					       "tools", "data",	  NULL};
	static const char *const further[] = {"phase",	      "tenants", "attributes",
					      "environments", "time",	 "arguments"};
	struct json *members = json_object();

	json_set(members, "id",
		 about(text_schema(),
		       "once in the whole workspace; stands in every record it decides"));
	json_set(members, "effect", effect_schema());
	add_subject(members, world);
	json_set(members, "data", about(data_schema(world), "what a call touches"));
	json_set(members, "per_call",
		 about(limits_schema(), "the smallest of all rules that allow a call counts"));
	for (size_t i = 0; i < ARRAY_LEN(further); i++) {
		const char *text = condition_about(further[i]);
		struct json *any = json_object();

		json_set(members, further[i], text == NULL ? any : about(any, text));
	}
	json_set(members, "limits", about(json_object(), "how often, and how many at once"));
	json_set(members, "approval", about(object_schema(), "who may approve, and for how long"));
	return map_schema(members, required);
}

struct json *policy_schema(const struct schema_world *world)
{
	static const char *const required[] = {"writ", "scope", "owner", NULL};
	struct json *members = json_object();
	struct json *rules = json_object();
	struct json *version = json_array();
	struct json *schema;

	json_push_int(version, 1);
	json_set(members, "writ", about(enum_schema(version), "the version of the format"));
	json_set(members, "scope", about(text_schema(), "its name, once in a workspace"));
	json_set(members, "owner",
		 about(text_schema(), "who answers for its agents: team:sales-data"));
	json_set(members, "timezone", about(text_schema(), "an IANA name; default UTC"));
	json_set(members, "agents", names_to(agent_schema(world)));
	json_set(members, "lists", about(object_schema(), "names for lists, used as list:NAME"));
	json_set(members, "tags", about(object_schema(), "tag: {database: {table: [columns]}}"));
	json_set_str(rules, "type", "array");
	json_set(rules, "items", rule_schema(world));
	json_set(members, "rules", rules);
	schema = map_schema(members, required);
	json_set_str(schema, "$schema", "http://json-schema.org/draft-07/schema#");
	json_set_str(schema, "title", "writ scope file");
	return schema;
}
