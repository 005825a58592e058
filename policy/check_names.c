/*
 * Walks the rules of all scope files once more, as YAML, so that each problem stands at its word.
 * What has a wrong shape is passed over here: the compiler has spoken of it. Cannot fail but by
 * adding problems.
 */
#include "policy/check_names.h"

#include <string.h>
#include <strings.h>

#include "policy/check.h"
#include "policy/source.h"

struct name_list { /* borrowed names */
	const char **items;
	size_t count;
};

static void list_clear(struct name_list *list)
{
	mem_free(list->items);
}

static void list_add(struct name_list *list, const char *name)
{
	if (name == NULL)
		return;
	list->items = mem_grow(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] = name;
}

static bool list_has(const struct name_list *list, const char *name, bool folded)
{
	for (size_t i = 0; i < list->count; i++)
		if ((folded ? strcasecmp : strcmp)(list->items[i], name) == 0)
			return true;
	return false;
}

static struct name_list names_of(const struct json *items)
{
	struct name_list list = {0};

	json_each(item, items) list_add(&list, json_get_str(item, "name"));
	return list;
}

/* An exact rule that spells a name differently from the data grants nothing: the likeliest slip. */
static void fail_name(struct check *check, const char *code, const struct yaml *node,
		      const char *what, const struct name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcasecmp(list->items[i], yaml_text(node)) == 0) {
			check_fail(check, code, node,
				   "unknown %s \"%.80s\": the data spells it \"%.80s\", and rules "
				   "that grant compare exactly",
				   what, yaml_text(node), list->items[i]);
			return;
		}
	check_unknown(check, code, node, what, (struct words){list->items, list->count});
}

static void check_columns(struct check *check, const struct yaml *columns, const struct json *table,
			  bool folded)
{
	CLEANUP(list_clear) struct name_list known = names_of(json_get(table, "columns"));
	CLEANUP(mem_freep)
	char *what = mem_format("column of table %.80s", json_get_str(table, "name"));

	if (yaml_kind(columns) != YAML_LIST)
		return;
	for (size_t i = 0; i < yaml_len(columns); i++) {
		const struct yaml *column = yaml_at(columns, i);

		if (yaml_text(column) != NULL && !list_has(&known, yaml_text(column), folded))
			fail_name(check, "unknown_column", column, what, &known);
	}
}

/* Columns named by what is kept back: as the database compares them. */
static void check_restricted(struct check *check, const struct yaml *table_node,
			     const struct json *table)
{
	static const char *const keys[] = {"rows", "masks"};
	CLEANUP(list_clear) struct name_list known = names_of(json_get(table, "columns"));
	CLEANUP(mem_freep)
	char *what = mem_format("column of table %.80s", json_get_str(table, "name"));
	const struct yaml *require = yaml_get(table_node, "require");
	const struct yaml *of = NULL;

	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		const struct yaml *map = yaml_get(table_node, keys[k]);

		for (size_t i = 0; map != NULL && yaml_kind(map) == YAML_MAP && i < yaml_len(map);
		     i++) {
			const struct yaml *key = yaml_key(map, i);

			if (yaml_text(key) != NULL && strncmp(yaml_text(key), "tag:", 4) != 0 &&
			    !list_has(&known, yaml_text(key), true))
				fail_name(check, "unknown_column", key, what, &known);
		}
	}
	if (require != NULL && yaml_kind(require) == YAML_MAP)
		of = yaml_get(require, "of");
	if (of != NULL && yaml_text(of) != NULL && !list_has(&known, yaml_text(of), true))
		fail_name(check, "unknown_column", of, what, &known);
}

static const struct json *find_table(const struct json *catalog, const char *name, bool folded)
{
	json_each(table, json_get(catalog, "tables"))
	{
		const char *known = json_get_str(table, "name");

		if (known != NULL && (folded ? strcasecmp : strcmp)(known, name) == 0)
			return table;
	}
	return NULL;
}

static void check_data(struct check *check, const struct yaml *data, const struct json *catalogs,
		       bool folded)
{
	const char *database = yaml_text(yaml_get(data, "database"));
	const struct json *catalog = database == NULL ? NULL : json_get(catalogs, database);
	const struct yaml *tables = yaml_get(data, "tables");
	CLEANUP(list_clear) struct name_list known = names_of(json_get(catalog, "tables"));
	CLEANUP(mem_freep) char *what = mem_format("table of %.80s", database ? database : "?");

	if (catalog == NULL || tables == NULL || yaml_kind(tables) != YAML_MAP)
		return;
	for (size_t i = 0; i < yaml_len(tables); i++) {
		const struct yaml *key = yaml_key(tables, i);
		const struct json *table = find_table(catalog, yaml_text(key), folded);

		if (table == NULL)
			fail_name(check, "unknown_table", key, what, &known);
		else if (yaml_kind(yaml_value(tables, i)) == YAML_MAP) {
			check_columns(check, yaml_get(yaml_value(tables, i), "columns"), table,
				      folded);
			check_restricted(check, yaml_value(tables, i), table);
		}
	}
}

struct people {
	struct name_list users;
	struct name_list groups;
	struct name_list tenants;
	bool any_user; /* users of the machine need not be named */
};

static void people_clear(struct people *people)
{
	list_clear(&people->users);
	list_clear(&people->groups);
	list_clear(&people->tenants);
}

static void people_add(struct people *people, const struct json *user)
{
	list_add(&people->users, json_get_str(user, "name"));
	list_add(&people->tenants, json_get_str(user, "tenant"));
	json_each(group,
		  json_get(user, "groups")) if (!list_has(&people->groups, json_str(group), false))
		list_add(&people->groups, json_str(group));
}

static void people_read(const struct json *users, struct people *people)
{
	*people = (struct people){.any_user = json_get(users, "anyone") != NULL};
	json_each(user, json_get(users, "users")) people_add(people, user);
	people_add(people, json_get(users, "anyone"));
}

static void check_user(struct check *check, const struct yaml *node, const struct people *people)
{
	const struct {
		const char *prefix;
		const char *code;
		const char *what;
		const struct name_list *known;
		bool open;
	} kinds[] = {
		{"user:", "unknown_user", "user", &people->users, people->any_user},
		{"group:", "unknown_group", "group", &people->groups, false},
		{"tenant:", "unknown_tenant", "tenant", &people->tenants, false},
	};
	const char *text = yaml_text(node);

	for (size_t i = 0; text != NULL && i < ARRAY_LEN(kinds); i++) {
		size_t len = strlen(kinds[i].prefix);
		const char *near;

		if (strncmp(text, kinds[i].prefix, len) != 0 || text[len] == '\0' ||
		    kinds[i].open || list_has(kinds[i].known, text + len, false))
			continue;
		near = nearest_word(text + len, kinds[i].known->items, kinds[i].known->count);
		check_fail(check, kinds[i].code, node,
			   "unknown %s \"%.80s\": users in writ.yaml gives nobody that %s%s%s%s",
			   kinds[i].what, text + len, kinds[i].what,
			   near == NULL ? "" : "; did you mean \"", near == NULL ? "" : near,
			   near == NULL ? "" : "\"?");
	}
}

static void check_rule(struct check *check, const struct yaml *rule,
		       const struct known_names *known, const struct people *people)
{
	const char *effect = yaml_text(yaml_get(rule, "effect"));
	const struct yaml *users = yaml_get(rule, "users");
	const struct yaml *data = yaml_get(rule, "data");

	if (known->users != NULL && users != NULL && yaml_kind(users) == YAML_LIST)
		for (size_t i = 0; i < yaml_len(users); i++)
			check_user(check, yaml_at(users, i), people);
	if (known->catalogs != NULL && data != NULL && yaml_kind(data) == YAML_MAP)
		check_data(check, data, known->catalogs,
			   effect == NULL || strcmp(effect, "allow") != 0);
}

static void check_file(struct check *check, const struct yaml *root,
		       const struct known_names *known, const struct people *people)
{
	const struct yaml *rules = yaml_kind(root) == YAML_MAP ? yaml_get(root, "rules") : NULL;

	if (rules == NULL || yaml_kind(rules) != YAML_LIST)
		return;
	for (size_t i = 0; i < yaml_len(rules); i++)
		if (yaml_kind(yaml_at(rules, i)) == YAML_MAP)
			check_rule(check, yaml_at(rules, i), known, people);
}

int policy_check_names(int workspace_fd, const struct known_names *known, struct problems *problems,
		       struct err *err)
{
	CLEANUP(problems_clear) struct problems said_already = PROBLEMS_INIT;
	CLEANUP(scope_files_clear) struct scope_files files = {0};
	CLEANUP(people_clear) struct people people;
	struct check check = {problems};

	people_read(known->users, &people);
	if (scope_files_load(workspace_fd, &files, &said_already, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		check_file(&check, files.items[i].root, known, &people);
	return 0;
}
