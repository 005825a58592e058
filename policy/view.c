/*
 * What a tool may show to an agent: the union of what allow rules grant, less what other rules take
 * away. Never less than a decision allows for tools that run statements, never more than deny rules
 * leave. Tables of both kinds are gathered, sorted by name without regard to case, and then walked
 * group by group. Pure; malformed subjects see nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/condition.h"
#include "policy/restrict.h"
#include "policy/scope.h"
#include "policy/vocabulary.h"

/* Compares like rules that take away do: ASCII case does not count. strcasecmp() would follow the
 * locale of the process. */
static int compare_folded(const char *a, const char *b)
{
	for (;; a++, b++) {
		unsigned char x = (unsigned char)(*a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a);
		unsigned char y = (unsigned char)(*b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b);

		if (x != y || x == '\0')
			return x - y;
	}
}

struct table_ref {
	const struct rule_table *table;
	size_t order; /* in the bundle */
};

struct table_refs {
	struct table_ref *items;
	size_t count;
};

static void table_refs_clear(struct table_refs *refs)
{
	mem_free(refs->items);
}

static int compare_refs(const void *left, const void *right)
{
	const struct table_ref *a = left;
	const struct table_ref *b = right;
	int order = compare_folded(a->table->name, b->table->name);

	if (order == 0)
		order = strcmp(a->table->name, b->table->name);
	return order != 0 ? order : a->order < b->order ? -1 : a->order > b->order;
}

/* The tables of all rules that grant, or of all that take away. */
static struct table_refs gather_tables(const struct scope_rules *rules, bool grants)
{
	struct table_refs refs = {0};
	size_t most = 0;

	for (size_t i = 0; i < rules->count; i++)
		most += rules->items[i]->data.table_count;
	refs.items = mem_array(most, sizeof(*refs.items));
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = rules->items[i];

		if ((rule->effect == EFFECT_ALLOW) != grants)
			continue;
		for (size_t t = 0; t < rule->data.table_count; t++) {
			refs.items[refs.count] =
				(struct table_ref){&rule->data.tables[t], refs.count};
			refs.count++;
		}
	}
	if (refs.count > 0)
		qsort(refs.items, refs.count, sizeof(*refs.items), compare_refs);
	return refs;
}

/* How many refs from start on have the very same name. */
static size_t group_len(const struct table_refs *refs, size_t start)
{
	size_t end = start + 1;

	while (end < refs->count &&
	       strcmp(refs->items[end].table->name, refs->items[start].table->name) == 0)
		end++;
	return end - start;
}

/* Columns of one table as several rules name them: all if one does, else all lists together, or the
 * longest list (the first of those as long). */
static struct json *merge(const struct table_ref *refs, size_t count, bool longest_only)
{
	struct json *columns = json_array();
	struct json *sorted;
	const struct json *longest = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct rule_table *table = refs[i].table;

		if (table->all) {
			json_free(columns);
			return json_new_str("all");
		}
		if (longest == NULL || json_len(table->source) > json_len(longest))
			longest = table->source;
		if (longest_only)
			continue;
		json_each(column, table->source) json_push_str(columns, json_str(column));
	}
	sorted = names_sorted(longest_only ? longest : columns);
	json_free(columns);
	return sorted;
}

/* A copy of names without those that unwanted lists in any case. */
static struct json *without(const struct json *names, const struct json *unwanted)
{
	struct json *left = json_array();

	json_each(name, names)
	{
		bool keep = true;

		json_each(other, unwanted) keep =
			keep && compare_folded(json_str(name), json_str(other)) != 0;
		if (keep)
			json_push_str(left, json_str(name));
	}
	return left;
}

static void replace(struct json **json, struct json *other)
{
	json_free(*json);
	*json = other;
}

/* The first ref whose name is not before this one, whatever the case. */
static size_t find_refs(const struct table_refs *refs, const char *name)
{
	size_t low = 0;
	size_t high = refs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_folded(refs->items[middle].table->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Takes columns; NULL when the whole table is taken away. Of "all", the columns taken away stand
 * under "except". */
static struct json *less_taken(struct json *columns, const char *name,
			       const struct table_refs *taken)
{
	for (size_t i = find_refs(taken, name); i < taken->count; i++) {
		const struct rule_table *table = taken->items[i].table;

		if (compare_folded(table->name, name) != 0)
			break;
		if (table->all) {
			json_free(columns);
			return NULL;
		}
		if (json_type(columns) == JSON_ARRAY)
			replace(&columns, without(columns, table->source));
	}
	return columns;
}

static struct json *view_tables(const struct table_refs *granted, const struct table_refs *taken,
				bool shows_rows)
{
	struct json *tables = json_object();

	for (size_t i = 0, len; i < granted->count; i += len) {
		const char *name = granted->items[i].table->name;
		struct json *columns;

		len = group_len(granted, i);
		columns = less_taken(merge(granted->items + i, len, shows_rows), name, taken);
		if (columns != NULL)
			json_set(tables, name, columns);
	}
	return tables;
}

static struct json *view_except(const struct table_refs *taken)
{
	struct json *except = json_object();

	for (size_t i = 0, len; i < taken->count; i += len) {
		len = group_len(taken, i);
		json_set(except, taken->items[i].table->name, merge(taken->items + i, len, false));
	}
	return except;
}

static bool uses(const struct rule *rule, const struct symbol_set *functions)
{
	for (size_t i = 0; i < rule->data.function_list_count; i++)
		if (rule->data.functions[i] == functions)
			return true;
	return false;
}

/* The functions of every list that a rule that grants (or one that takes away) names. */
static struct json *gather_functions(const struct bundle *bundle, const struct scope_rules *rules,
				     bool grants)
{
	struct json *names = json_array();

	for (size_t s = 0; s < bundle->function_set_count; s++) {
		const struct symbol_set *functions = &bundle->functions[s].functions;
		bool used = false;

		for (size_t i = 0; i < rules->count && !used; i++)
			used = (rules->items[i]->effect == EFFECT_ALLOW) == grants &&
			       uses(rules->items[i], functions);
		for (size_t i = 0; used && i < functions->count; i++)
			json_push_str(names, symbols_text(&bundle->symbols, functions->items[i]));
	}
	return names;
}

static struct json *view_functions(const struct bundle *bundle, const struct scope_rules *rules)
{
	struct json *granted = gather_functions(bundle, rules, true);
	struct json *taken = gather_functions(bundle, rules, false);
	struct json *sorted;

	replace(&granted, without(granted, taken));
	sorted = names_sorted(granted);
	json_free(granted);
	json_free(taken);
	return sorted;
}

/* With the arguments of a call a rule is in or out; before there is one, see policy_view(). */
static bool arguments_let(const struct rule *rule, const struct fact_ids *ids)
{
	bool takes_away = rule->effect != EFFECT_ALLOW;
	enum outcome worst = OUTCOME_HOLDS;

	if (rule->argument_count == 0)
		return true;
	if (ids->facts->arguments == NULL)
		return !takes_away;
	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];
		enum outcome outcome = OUTCOME_HOLDS;
		size_t part;

		if (condition->kind >= CONDITION_ARGUMENT)
			outcome =
				condition_types[condition->kind].test(rule, condition, ids, &part);
		worst = outcome < worst ? outcome : worst;
	}
	return takes_away ? worst != OUTCOME_FAILS : worst == OUTCOME_HOLDS;
}

static bool concerns(const struct rule *rule, const char *database)
{
	return rule->data.kind == DATA_ALL || (rule->data.kind == DATA_SOME && database != NULL &&
					       strcmp(rule->data.database_name, database) == 0);
}

/* Keeps the rules that shape this view. Returns whether one of them takes everything away. */
static bool sort_out(struct scope_rules *rules, const struct fact_ids *ids, const char *database,
		     bool statement)
{
	size_t kept = 0;
	bool everything = false;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = rules->items[i];

		if (!concerns(rule, database) || !arguments_let(rule, ids) ||
		    (rule->effect == EFFECT_ASK && statement))
			continue;
		everything = everything || rule->data.kind == DATA_ALL || rule->data.tables_all;
		rules->items[kept++] = rule;
	}
	rules->count = kept;
	return everything;
}

struct json *policy_view(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const struct setting *setting,
			 const char *tool, const struct json *arguments, const char *database)
{
	const struct call_facts facts = {.arguments = arguments};

	const struct tool_word *word = tool == NULL ? NULL : tool_word_find(tool);
	CLEANUP(scope_rules_clear) struct scope_rules rules;
	CLEANUP(table_refs_clear) struct table_refs granted = {0};
	CLEANUP(table_refs_clear) struct table_refs taken = {0};
	struct json *view = json_object();
	bool nothing;

	scope_rules_find(bundle, agent, subject, setting, tool, SCOPE_CALL, &rules);
	nothing = sort_out(&rules, &(struct fact_ids){.facts = &facts}, database,
			   word != NULL && word->statement);
	granted = gather_tables(&rules, true);
	taken = gather_tables(&rules, false);
	json_set_str(view, "database", database);
	json_set(view, "tables",
		 nothing ? json_object()
			 : view_tables(&granted, &taken, word != NULL && word->shows_rows));
	json_set(view, "functions", nothing ? json_array() : view_functions(bundle, &rules));
	json_set(view, "except", view_except(&taken));
	restrict_view(&rules, subject, view);
	return view;
}
