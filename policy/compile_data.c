/*
 * The data of a rule: database, tables, columns, tags, lists of functions. Tags become the columns
 * that carry them, here and now, so the bundle knows columns only.
 */
#include <string.h>
#include <strings.h>

#include "policy/compile_parts.h"
#include "policy/vocabulary.h"

struct where {		      /* a list of columns stands */
	const char *database; /* NULL when it was no name */
	const char *table;
	bool folded;
};

/* Tables and columns: any name a database can have but one with a dot, which no call can name. */
static const char *data_name(struct compile *compile, const struct yaml *node, const char *what)
{
	const char *name = check_text(&compile->check, node, what);

	if (name == NULL || strchr(name, '.') == NULL)
		return name;
	check_fail(&compile->check, "bad_value", node, "%s \"%.80s\" holds a dot; write %s", what,
		   name, "the table, and its columns below it");
	return NULL;
}

/* "tag:pii": the columns of this table that carry it; false when the item is no tag. */
static bool push_tagged(struct compile *compile, const struct yaml *item, const struct where *where,
			struct json *list)
{
	const char *text = yaml_text(item);
	const struct json *tables;

	if (text == NULL || strncmp(text, "tag:", 4) != 0)
		return false;
	tables = tag_tables(compile, item, text + 4, where->database);
	json_each(columns, tables)
	{
		if ((where->folded ? strcasecmp : strcmp)(json_key(columns), where->table) != 0)
			continue;
		json_each(column, columns)
			push_name(compile, list, item, json_str(column), where->folded);
	}
	return true;
}

static struct json *compile_column_list(struct compile *compile, const struct yaml *node,
					const struct where *where)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();

	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *column;

		if (push_tagged(compile, items.nodes[i], where, list))
			continue;
		column = data_name(compile, items.nodes[i], "a column");
		if (column != NULL)
			push_name(compile, list, items.nodes[i], column, where->folded);
	}
	return list;
}

static bool is_known(const struct compile *compile, const char *database)
{
	return database != NULL && json_get(compile->world->catalogs, database) != NULL;
}

static struct json *compile_except(struct compile *compile, const struct yaml *except,
				   const struct where *where)
{
	struct json *all_but = json_object();

	if (where->folded)
		check_fail(&compile->check, "bad_value", except,
			   "except is for allow rules; a rule that takes away names what it takes");
	else if (!is_known(compile, where->database))
		check_fail(&compile->check, "unknown_tables", except,
			   "except needs the columns there are, and the tables of %s could not be "
			   "read",
			   where->database == NULL ? "this database" : where->database);
	else if (check_list(&compile->check, except, "except")) {
		json_set(all_but, "all_but", compile_column_list(compile, except, where));
		return all_but;
	}
	json_free(all_but);
	return NULL;
}

static struct json *compile_columns(struct compile *compile, const struct yaml *table,
				    const struct where *where)
{
	static const char *const keys[] = {"columns", "except", "rows", "masks", "require", NULL};
	CLEANUP(mem_freep) char *what = mem_format("table %s", where->table);
	const struct yaml *node;
	const struct yaml *except;
	struct json *list;
	size_t errors;

	if (!check_map(&compile->check, table, what, keys))
		return NULL;
	node = check_member(&compile->check, table, what, "columns",
			    "columns: [a, b], or columns: all");
	except = yaml_get(table, "except");
	if (node == NULL)
		return NULL;
	if (is_word(node, "all") && except != NULL)
		return compile_except(compile, except, where);
	if (is_word(node, "all"))
		return json_new_str("all");
	if (except != NULL)
		check_fail(&compile->check, "bad_value", except,
			   "except stands beside columns: all; here, leave the columns out");
	if (!is_list_not_word(compile, node, "columns", "all"))
		return NULL;
	errors = compile->check.problems->error_count;
	list = compile_column_list(compile, node, where);
	if (json_len(list) == 0 && compile->check.problems->error_count == errors)
		check_fail(&compile->check, "bad_value", node,
			   "no column of %s carries any of these tags", where->table);
	return list;
}

static void compile_table(struct compile *compile, const struct yaml *key, const struct yaml *value,
			  const char *database, bool folded, struct json *tables)
{
	const char *name = data_name(compile, key, "a table");
	struct where where = {database, name, folded};
	struct json *columns;

	if (name == NULL)
		return;
	json_each(known, tables) if (folded && strcasecmp(json_key(known), name) == 0)
	{
		check_fail(&compile->check, "duplicate", key,
			   "\"%s\" stands twice: rules that take away do not tell upper "
			   "from lower case",
			   name);
		return;
	}
	columns = compile_columns(compile, value, &where);
	if (columns != NULL)
		json_set(tables, name, columns);
}

static struct json *compile_tables(struct compile *compile, const struct yaml *node,
				   const char *database, bool takes_away)
{
	struct json *tables;

	if (node != NULL && is_word(node, "all")) {
		if (takes_away)
			return json_new_str("all");
		check_fail(&compile->check, "bad_value", node,
			   "an allow rule names each table; tables: all is for deny and ask");
		return json_object();
	}
	tables = json_object();
	if (node == NULL)
		return tables;
	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", node,
			   "tables must be a map like {orders: {columns: all}}");
		return tables;
	}
	for (size_t i = 0; i < yaml_len(node); i++)
		compile_table(compile, yaml_key(node, i), yaml_value(node, i), database, takes_away,
			      tables);
	return tables;
}

/* The list's functions go into the bundle, so that it says all by itself. */
static void use_list(struct compile *compile, const struct function_list *list)
{
	struct json *names;

	if (json_get(compile->functions, list->name) != NULL)
		return;
	names = json_array();
	for (size_t i = 0; list->functions[i] != NULL; i++)
		json_push_str(names, list->functions[i]);
	json_set(compile->functions, list->name, names);
}

static struct json *compile_functions(struct compile *compile, const struct yaml *node)
{
	CLEANUP(mem_freep)
	const char **names = mem_array(function_list_count, sizeof(const char *));
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();

	for (size_t i = 0; i < function_list_count; i++)
		names[i] = function_lists[i].name;
	if (node == NULL || !check_list(&compile->check, node, "functions"))
		return list;
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *name = check_word(&compile->check, items.nodes[i], "list of functions",
					      (struct words){names, function_list_count});

		if (name == NULL)
			continue;
		push_name(compile, list, items.nodes[i], name, false);
		use_list(compile, function_list_find(name));
	}
	return list;
}

static const char *compile_database(struct compile *compile, const struct yaml *data)
{
	const struct yaml *node =
		check_member(&compile->check, data, "data", "database", "database: sales");

	if (compile->world->databases == NULL)
		return check_name(&compile->check, node, "database");
	return check_word(
		&compile->check, node, "database",
		(struct words){compile->world->databases->items, compile->world->databases->count});
}

static struct json *find_folded(struct json *tables, const char *name)
{
	json_each(columns, tables) if (strcasecmp(json_key(columns), name) ==
				       0) return json_get_mut(tables, json_key(columns));
	return NULL;
}

static void merge_columns(struct json *tables, const char *name, const struct json *columns)
{
	struct json *known = find_folded(tables, name);

	if (known == NULL) {
		json_set(tables, name, json_copy(columns));
		return;
	}
	if (json_type(known) != JSON_ARRAY)
		return; /* all of it is named already */
	json_each(column, columns)
	{
		bool there = false;

		json_each(item, known) there =
			there || strcasecmp(json_str(item), json_str(column)) == 0;
		if (!there)
			json_push_str(known, json_str(column));
	}
}

/* "tags: [pii]": every column of the database that carries one of them. */
static void add_tagged(struct compile *compile, const struct yaml *tags, const char *database,
		       struct json *tables)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};

	if (!check_list(&compile->check, tags, "tags"))
		return;
	list_items_of(compile, tags, &items);
	for (size_t i = 0; i < items.count; i++) {
		const struct json *tagged =
			tag_tables(compile, items.nodes[i], yaml_text(items.nodes[i]), database);

		json_each(columns, tagged) merge_columns(tables, json_key(columns), columns);
	}
}

struct json *compile_data(struct compile *compile, const struct yaml *node, bool takes_away)
{
	static const char *const keys[] = {"database", "tables", "tags", "functions", NULL};
	const struct yaml *tags;
	const char *database;
	struct json *tables;
	const char *word = takes_away ? "all" : "none";
	struct json *data;
	bool nothing;

	if (node == NULL)
		return NULL;
	if (is_word(node, word))
		return json_new_str(word);
	if (is_word(node, takes_away ? "none" : "all")) {
		check_fail(&compile->check, "bad_value", node,
			   takes_away ? "a deny or ask rule without data would match nothing"
				      : "an allow rule names its database and tables; data: all is "
					"for deny and ask");
		return NULL;
	}
	if (!check_map(&compile->check, node, "data", keys))
		return NULL;
	data = json_object();
	database = compile_database(compile, node);
	tables = compile_tables(compile, yaml_get(node, "tables"), database, takes_away);
	tags = yaml_get(node, "tags");
	if (tags != NULL && !takes_away)
		check_fail(&compile->check, "bad_value", tags,
			   "tags beside tables are for deny and ask; an allow rule writes except: "
			   "[tag:NAME] or columns: [tag:NAME] at a table");
	else if (tags != NULL && database != NULL && json_type(tables) == JSON_OBJECT)
		add_tagged(compile, tags, database, tables);
	json_set_str(data, "database", database);
	json_set(data, "tables", tables);
	json_set(data, "functions", compile_functions(compile, yaml_get(node, "functions")));
	compile_restrictions(compile, yaml_get(node, "tables"), database, takes_away, data);
	nothing = yaml_len(yaml_get(node, "tables")) == 0 && tags == NULL &&
		  !is_word(yaml_get(node, "tables"), "all");
	if (nothing && (!takes_away || yaml_get(node, "functions") == NULL))
		check_fail(&compile->check, "missing_key", node,
			   "data names no table; write, for example, tables: {orders: {columns: "
			   "all}}");
	return data;
}
