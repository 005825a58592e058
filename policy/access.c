/* See access.h. Nothing is judged here: each cell is a view, a verdict or a list of tools. */
#include "policy/access.h"

#include <string.h>
#include <strings.h>

#include "policy/bundle_model.h"
#include "policy/vocabulary.h"

/* ---- people ---- */

static struct person *add_person(struct people *people, char *label)
{
	people->items = mem_grow(people->items, (people->count + 1) * sizeof(*people->items));
	people->items[people->count] = (struct person){.label = label};
	return &people->items[people->count++];
}

static void set_groups(struct person *person, const struct json *groups)
{
	size_t count = 0;

	person->groups = mem_array(json_len(groups) + 1, sizeof(*person->groups));
	json_each(group, groups) person->groups[count++] = json_str(group);
	person->subject.groups = (struct names){person->groups, count};
}

static void add_user(struct people *people, const struct json *user, const char *name)
{
	struct person *person = add_person(people, mem_str(name));

	person->subject.user = name;
	person->subject.tenant = json_get_str(user, "tenant");
	person->subject.attributes = json_get(user, "attributes");
	set_groups(person, json_get(user, "groups"));
}

static bool is_listed(const struct people *people, const char *label)
{
	for (size_t i = 0; i < people->count; i++)
		if (strcmp(people->items[i].label, label) == 0)
			return true;
	return false;
}

static void add_entry(struct people *people, const char *entry)
{
	CLEANUP(mem_freep) char *label = mem_format("whoever has %s", entry);
	const char *name = strchr(entry, ':');
	struct person *person;

	if (name == NULL || is_listed(people, label) || is_listed(people, name + 1))
		return;
	person = add_person(people, TAKE(label));
	person->subject.user = "somebody";
	person->groups = mem_array(1, sizeof(*person->groups));
	if (strncmp(entry, "user:", 5) == 0) {
		person->subject.user = name + 1;
	} else if (strncmp(entry, "tenant:", 7) == 0) {
		person->subject.tenant = name + 1;
	} else {
		person->groups[0] = name + 1;
		person->subject.groups = (struct names){person->groups, 1};
	}
}

void people_find(const struct json *users, const struct bundle *bundle, struct people *ret_people)
{
	struct people people = {0};

	json_each(user, json_get(users, "users"))
		add_user(&people, user, json_get_str(user, "name"));
	if (json_get(users, "anyone") != NULL)
		add_user(&people, json_get(users, "anyone"), "anyone");
	json_each(rule, json_get(bundle->source, "rules")) json_each(entry, json_get(rule, "users"))
		add_entry(&people, json_str(entry));
	*ret_people = people;
}

void people_clear(struct people *people)
{
	for (size_t i = 0; i < people->count; i++) {
		mem_free(people->items[i].label);
		mem_free(people->items[i].groups);
	}
	mem_free(people->items);
	*people = (struct people){0};
}

const struct person *people_named(const struct people *people, const char *name)
{
	for (size_t i = 0; i < people->count; i++)
		if (strcmp(people->items[i].label, name) == 0 ||
		    strcmp(people->items[i].subject.user, name) == 0)
			return &people->items[i];
	return NULL;
}

/* ---- what an agent may do ---- */

static bool is_in(const struct json *list, const char *text)
{
	json_each(item, list) if (strcmp(json_str(item), text) == 0) return true;
	return false;
}

/* The databases that any rule names. */
static struct json *databases_of(const struct bundle *bundle)
{
	struct json *names = json_array();

	for (size_t i = 0; i < bundle->rule_count; i++) {
		const struct rule_data *data = &bundle->rules[i].data;

		if (data->kind == DATA_SOME && !is_in(names, data->database_name))
			json_push_str(names, data->database_name);
	}
	return names;
}

/* Built in, and those that rules name beside them. */
static struct json *tools_of(const struct bundle *bundle)
{
	struct json *tools = json_array();

	for (size_t i = 0; i < tool_word_count; i++)
		json_push_str(tools, tool_words[i].name);
	for (size_t r = 0; r < bundle->rule_count; r++)
		for (size_t i = 0; i < bundle->rules[r].tools.count; i++) {
			const char *name =
				symbols_text(&bundle->symbols, bundle->rules[r].tools.items[i]);

			if (!is_in(tools, name))
				json_push_str(tools, name);
		}
	return tools;
}

static struct json *row_of(struct json *rows, const char *database, const char *table)
{
	struct json *row;

	json_each(known, rows) if (strcmp(json_get_str(known, "database"), database) == 0 &&
				   strcmp(json_get_str(known, "table"), table) == 0)
	{
		return json_get_mut((struct json *)(uintptr_t)known, "access");
	}
	row = json_object();
	json_set_str(row, "database", database);
	json_set_str(row, "table", table);
	json_set(row, "access", json_object());
	json_push(rows, row);
	return json_get_mut(row, "access");
}

/* "all", less what deny rules of any spelling take away. */
static struct json *cell_of(const struct json *columns, const char *table,
			    const struct json *except)
{
	struct json *cell;

	if (json_type(columns) == JSON_ARRAY)
		return json_copy(columns);
	json_each(taken, except)
	{
		if (strcasecmp(json_key(taken), table) != 0 || json_type(taken) != JSON_ARRAY)
			continue;
		cell = json_object();
		json_set(cell, "all_but", json_copy(taken));
		return cell;
	}
	return json_new_str("all");
}

static void add_tables(struct json *rows, const char *tool, const struct json *view)
{
	json_each(columns, json_get(view, "tables"))
	{
		struct json *access =
			row_of(rows, json_get_str(view, "database"), json_key(columns));

		json_set(access, tool,
			 cell_of(columns, json_key(columns), json_get(view, "except")));
	}
}

struct json *policy_access(const struct bundle *bundle, const char *agent,
			   const struct person *person, const struct setting *setting)
{
	const struct agent_def *def = bundle_agent(bundle, agent);
	CLEANUP(json_freep) struct json *databases = databases_of(bundle);
	CLEANUP(json_freep) struct json *tools = tools_of(bundle);
	struct json *result = json_object();
	struct json *usable = json_array();
	struct json *rows = json_array();

	json_each(tool, tools)
	{
		if (!policy_tool_visible(bundle, agent, &person->subject, setting, json_str(tool),
					 false))
			continue;
		json_push_str(usable, json_str(tool));
		json_each(database, databases)
		{
			CLEANUP(json_freep)
			struct json *view = policy_view(bundle, agent, &person->subject, setting,
							json_str(tool), NULL, json_str(database));

			add_tables(rows, json_str(tool), view);
		}
	}
	json_set_str(result, "agent", agent);
	json_set_str(result, "role", def->role);
	json_set_str(result, "owner", def->owner);
	json_set_str(result, "at", def->at);
	json_set(result, "tools", usable);
	json_set(result, "tables", rows);
	return result;
}

/* ---- who reaches a column ---- */

static struct json *line_of(struct json *lines, const char *agent, const struct person *person,
			    const struct verdict *verdict)
{
	const char *effect = verdict->effect == EFFECT_ASK ? "ask" : "allow";
	struct json *line;

	json_each(known, lines) if (strcmp(json_get_str(known, "agent"), agent) == 0 &&
				    strcmp(json_get_str(known, "person"), person->label) == 0 &&
				    strcmp(json_get_str(known, "effect"), effect) == 0 &&
				    strcmp(json_get_str(known, "rule"), verdict->rule) == 0)
	{
		return json_get_mut((struct json *)(uintptr_t)known, "tools");
	}
	line = json_object();
	json_set_str(line, "agent", agent);
	json_set_str(line, "person", person->label);
	json_set_str(line, "effect", effect);
	json_set_str(line, "rule", verdict->rule);
	json_set_str(line, "at", verdict->at);
	json_set(line, "tools", json_array());
	json_push(lines, line);
	return json_get_mut(line, "tools");
}

struct json *policy_who(const struct bundle *bundle, const struct people *people,
			const struct setting *setting, const char *database, const char *table,
			const char *column)
{
	CLEANUP(json_freep) struct json *tools = tools_of(bundle);
	CLEANUP(mem_freep) char *name = mem_format("%s.%s", table, column == NULL ? "" : column);
	const char *const tables[] = {table}, *const columns[] = {name};
	struct json *lines = json_array();

	for (size_t a = 0; a < bundle_agent_count(bundle); a++)
		for (size_t p = 0; p < people->count; p++)
			json_each(tool, tools)
			{
				const char *agent = bundle_agent_at(bundle, a)->name;
				const struct call_facts facts = {
					.agent = agent,
					.subject = people->items[p].subject,
					.tool = json_str(tool),
					.database = database,
					.tables = {tables, 1},
					.columns = {columns, 1},
					.setting = *setting,
				};
				struct verdict verdict;

				policy_decide(bundle, &facts, &verdict);
				if (verdict.effect != EFFECT_DENY)
					json_push_str(
						line_of(lines, agent, &people->items[p], &verdict),
						json_str(tool));
			}
	return lines;
}
