/*
 * The grant of a token: for each tool the agent may use, one constraint per argument that
 * policy_call_arguments() makes. An upper bound: where rules grant different things the constraint
 * admits each of them and also their mixtures, which the bundle then denies at the call. Pure.
 */
#include <string.h>

#include "policy/scope.h"
#include "policy/vocabulary.h"
#include "writ/limits.h"

enum detail { DETAIL_COLUMNS, DETAIL_TABLES, DETAIL_DATABASES }; /* from fine to coarse */

struct tool_grant {
	struct json *databases; /* arrays of names, with doubles */
	struct json *tables;
	struct json *columns;
	bool every_column; /* of some table */
	int64_t rows;
};

static void add_table(struct tool_grant *grant, const struct rule_table *table)
{
	json_push_str(grant->tables, table->name);
	grant->every_column = grant->every_column || table->all;
	if (table->all)
		return;
	json_each(column, table->source)
	{
		CLEANUP(mem_freep) char *name = mem_format("%s.%s", table->name, json_str(column));

		json_push_str(grant->columns, name);
	}
}

static void add_rule(struct tool_grant *grant, const struct rule *rule)
{
	/* Any rule also covers a call that touches no database. */
	json_push_str(grant->databases, "");
	if (rule->data.kind == DATA_SOME)
		json_push_str(grant->databases, rule->data.database_name);
	for (size_t i = 0; i < rule->data.table_count; i++)
		add_table(grant, &rule->data.tables[i]);
	if (rule->limits.rows > grant->rows)
		grant->rows = rule->limits.rows;
}

static struct json *constraint(const char *type)
{
	struct json *json = json_object();

	json_set_str(json, "constraint_type", type);
	return json;
}

static struct json *names_constraint(const char *type, const char *key, struct json *names)
{
	struct json *json = constraint(type);

	json_set(json, key, names);
	return json;
}

static struct json *subset_or_any(const struct json *names, bool any)
{
	if (!any)
		return names_constraint("subset", "allowed", names_sorted(names));
	return constraint("wildcard");
}

static struct json *tool_constraints(const struct tool_grant *grant, bool row_limit,
				     enum detail detail)
{
	struct json *json = json_object();

	json_set(json, "database",
		 names_constraint("one_of", "values", names_sorted(grant->databases)));
	json_set(json, "tables", subset_or_any(grant->tables, detail >= DETAIL_DATABASES));
	json_set(json, "columns",
		 subset_or_any(grant->columns, grant->every_column || detail >= DETAIL_TABLES));
	if (row_limit) {
		struct json *range = constraint("range");

		json_set_int(range, "min", 1);
		json_set_int(range, "max", grant->rows);
		json_set(json, "row_limit", range);
	}
	return json;
}

static bool takes_rows(const char *tool)
{
	const struct tool_word *word = tool_word_find(tool);

	return word != NULL && word->row_limit;
}

static void add_tool(const struct bundle *bundle, const char *agent, const struct subject *subject,
		     const struct setting *setting, const char *tool, enum detail detail,
		     struct json *tools)
{
	struct tool_grant grant = {json_array(), json_array(), json_array(), false, 1};
	CLEANUP(scope_rules_clear) struct scope_rules rules;
	bool any = false;

	scope_rules_find(bundle, agent, subject, setting, tool, SCOPE_UPPER_BOUND, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.items[i]->effect != EFFECT_ALLOW)
			continue;
		add_rule(&grant, rules.items[i]);
		any = true;
	}
	if (any && !scope_is_closed(&rules))
		json_set(tools, tool, tool_constraints(&grant, takes_rows(tool), detail));
	json_free(grant.databases);
	json_free(grant.tables);
	json_free(grant.columns);
}

static struct json *grant_with_detail(const struct bundle *bundle, const char *agent,
				      const struct subject *subject, const struct setting *setting,
				      enum detail detail)
{
	struct json *details = json_array();
	struct json *entry = json_object();
	struct json *tools = json_object();

	for (size_t i = 0; i < tool_word_count; i++)
		add_tool(bundle, agent, subject, setting, tool_words[i].name, detail, tools);
	json_set_str(entry, "type", "writ_tools_v1");
	json_set(entry, "tools", tools);
	json_push(details, entry);
	return details;
}

struct json *policy_grant(const struct bundle *bundle, const char *agent,
			  const struct subject *subject, const struct setting *setting)
{
	for (enum detail detail = DETAIL_COLUMNS;; detail++) {
		struct json *grant = grant_with_detail(bundle, agent, subject, setting, detail);
		struct buf bytes = BUF_INIT;
		size_t len;

		json_write(grant, &bytes);
		len = bytes.len;
		buf_clear(&bytes);
		if (len <= POLICY_GRANT_BYTES_MAX || detail == DETAIL_DATABASES)
			return grant;
		json_free(grant);
	}
}

static struct json *name_array(const struct names *names, bool skip_empty_columns)
{
	struct json *array = json_array();

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		size_t len = strlen(name);

		if (!skip_empty_columns || len == 0 || name[len - 1] != '.')
			json_push_str(array, name);
	}
	return array;
}

struct json *policy_call_arguments(const struct call_facts *facts, int64_t rows)
{
	struct json *arguments = json_object();

	json_set_str(arguments, "database", facts->database == NULL ? "" : facts->database);
	json_set(arguments, "tables", name_array(&facts->tables, false));
	json_set(arguments, "columns", name_array(&facts->columns, true));
	if (takes_rows(facts->tool))
		json_set_int(arguments, "row_limit", rows);
	return arguments;
}
