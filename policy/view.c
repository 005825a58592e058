/*
 * What a tool may show to an agent: the union of what allow rules grant, less what other rules take
 * away. Never less than a decision allows for tools that run statements, never more than deny rules
 * leave. Pure; malformed subjects see nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/scope.h"
#include "policy/vocabulary.h"

/* Compares like rules that take away do: ASCII case does not count. strcasecmp() would follow the
 * locale of the process. */
static bool same_folded(const char *a, const char *b)
{
	for (;; a++, b++) {
		char x = (char)(*a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a);
		char y = (char)(*b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b);

		if (x != y)
			return false;
		if (x == '\0')
			return true;
	}
}

static bool lists(const struct json *array, const char *name)
{
	json_each(item, array) if (strcmp(json_str(item), name) == 0) return true;
	return false;
}

static void add_columns(struct json *tables, const struct rule_table *table)
{
	struct json *known = json_get_mut(tables, table->name);

	if (known == NULL || table->all) {
		json_set(tables, table->name, json_copy(table->source));
		return;
	}
	if (json_type(known) != JSON_ARRAY)
		return; /* all already */
	json_each(column, table->source) if (!lists(known, json_str(column)))
		json_push_str(known, json_str(column));
}

/* Keeps the wider of two grants of one table. */
static void keep_widest(struct json *tables, const struct rule_table *table)
{
	const struct json *known = json_get(tables, table->name);

	if (known != NULL && (json_type(known) == JSON_STRING ||
			      (!table->all && json_len(table->source) <= json_len(known))))
		return;
	json_set(tables, table->name, json_copy(table->source));
}

static void add_functions(const struct bundle *bundle, const struct rule_data *data,
			  struct json *functions)
{
	for (size_t i = 0; i < data->function_list_count; i++)
		for (size_t f = 0; f < data->functions[i]->count; f++) {
			const char *name =
				symbols_text(&bundle->symbols, data->functions[i]->items[f]);

			if (!lists(functions, name))
				json_push_str(functions, name);
		}
}

static void grant(const struct bundle *bundle, const struct rule *rule, bool shows_rows,
		  struct json *tables, struct json *functions)
{
	for (size_t i = 0; i < rule->data.table_count; i++) {
		if (shows_rows)
			keep_widest(tables, &rule->data.tables[i]);
		else
			add_columns(tables, &rule->data.tables[i]);
	}
	add_functions(bundle, &rule->data, functions);
}

/* A copy of array without the names that unwanted lists. */
static struct json *without(const struct json *array, const struct json *unwanted)
{
	struct json *left = json_array();

	json_each(item, array)
	{
		bool keep = true;

		json_each(other, unwanted) keep =
			keep && !same_folded(json_str(item), json_str(other));
		if (keep)
			json_push_str(left, json_str(item));
	}
	return left;
}

static void add_except(struct json *except, const struct rule_table *table)
{
	struct json *known = json_get_mut(except, table->name);

	if (known == NULL || table->all) {
		json_set(except, table->name, json_copy(table->source));
		return;
	}
	if (json_type(known) != JSON_ARRAY)
		return;
	json_each(column, table->source) json_push_str(known, json_str(column));
}

/* Takes one table of a rule out of the tables, whatever the case of its letters. */
static struct json *tables_without(const struct json *tables, const struct rule_table *table)
{
	struct json *left = json_object();

	json_each(value, tables)
	{
		bool hit = same_folded(json_key(value), table->name);

		if (!hit || (!table->all && json_type(value) == JSON_STRING))
			json_set(left, json_key(value), json_copy(value));
		else if (!table->all)
			json_set(left, json_key(value), without(value, table->source));
	}
	return left;
}

struct view {
	struct json *tables;
	struct json *functions;
	struct json *except;
};

static void replace(struct json **json, struct json *other)
{
	json_free(*json);
	*json = other;
}

static void take_away(const struct bundle *bundle, const struct rule *rule, struct view *view)
{
	struct json *functions;

	if (rule->data.kind == DATA_ALL || rule->data.tables_all) {
		replace(&view->tables, json_object());
		replace(&view->functions, json_array());
		return;
	}
	for (size_t i = 0; i < rule->data.table_count; i++) {
		replace(&view->tables, tables_without(view->tables, &rule->data.tables[i]));
		add_except(view->except, &rule->data.tables[i]);
	}
	functions = json_array();
	add_functions(bundle, &rule->data, functions);
	replace(&view->functions, without(view->functions, functions));
	json_free(functions);
}

static bool concerns(const struct rule *rule, const char *database)
{
	return rule->data.kind == DATA_ALL || (rule->data.kind == DATA_SOME && database != NULL &&
					       strcmp(rule->data.database_name, database) == 0);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static struct json *sorted_names(const struct json *names)
{
	size_t count = 0;
	CLEANUP(mem_freep) const char **texts = mem_array(json_len(names), sizeof(*texts));
	struct json *sorted = json_array();

	json_each(name, names) texts[count++] = json_str(name);
	if (count > 0)
		qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++)
		json_push_str(sorted, texts[i]);
	return sorted;
}

static struct json *sorted_tables(const struct json *tables)
{
	size_t count = 0;
	CLEANUP(mem_freep) const char **names = mem_array(json_len(tables), sizeof(*names));
	struct json *sorted = json_object();

	json_each(table, tables) names[count++] = json_key(table);
	if (count > 0)
		qsort(names, count, sizeof(*names), compare_texts);
	for (size_t i = 0; i < count; i++) {
		const struct json *columns = json_get(tables, names[i]);

		json_set(sorted, names[i],
			 json_type(columns) == JSON_ARRAY ? sorted_names(columns)
							  : json_copy(columns));
	}
	return sorted;
}

static struct json *view_finish(struct view *view, const char *database)
{
	struct json *json = json_object();

	json_set_str(json, "database", database);
	json_set(json, "tables", sorted_tables(view->tables));
	json_set(json, "functions", sorted_names(view->functions));
	json_set(json, "except", sorted_tables(view->except));
	json_free(view->tables);
	json_free(view->functions);
	json_free(view->except);
	return json;
}

struct json *policy_view(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const char *tool, const char *database)
{
	const struct tool_word *word = tool == NULL ? NULL : tool_word_find(tool);
	bool statement = word != NULL && word->statement;
	struct view view = {json_object(), json_array(), json_object()};
	CLEANUP(scope_rules_clear) struct scope_rules rules;

	scope_rules_find(bundle, agent, subject, tool, &rules);
	for (size_t i = 0; i < rules.count; i++)
		if (rules.items[i]->effect == EFFECT_ALLOW && concerns(rules.items[i], database))
			grant(bundle, rules.items[i], word != NULL && word->shows_rows, view.tables,
			      view.functions);
	for (size_t i = 0; i < rules.count; i++) {
		enum effect effect = rules.items[i]->effect;

		if (concerns(rules.items[i], database) &&
		    (effect == EFFECT_DENY || (effect == EFFECT_ASK && !statement)))
			take_away(bundle, rules.items[i], &view);
	}
	return view_finish(&view, database);
}
