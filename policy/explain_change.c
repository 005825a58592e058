/*
 * The smallest change to one rule that would let it cover a call: each failing condition gets the
 * entry it lacks. Conditions that cannot be widened without taking something else away (the one
 * database of a rule) say so instead.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/explain_parts.h"
#include "policy/vocabulary.h"
#include "writ/limits.h"

void change_clear(struct change *change)
{
	json_free(change->texts);
	json_free(change->edits);
	mem_free(change->impossible);
	*change = (struct change){0};
}

static struct json *path_of(const char *const *steps, size_t count)
{
	struct json *path = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(path, steps[i]);
	return path;
}

static void add_edit(struct change *change, const struct rule *rule, const char *const *steps,
		     size_t count, const char *what, struct json *value)
{
	struct json *edit = json_object();

	json_set_str(edit, "rule", rule->id);
	json_set(edit, "path", path_of(steps, count));
	json_set(edit, what, value);
	json_push(change->edits, edit);
}

static void add_text(struct change *change, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_text(struct change *change, const char *at, const char *format, ...)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_addf(&out, "%s (%s)", text, at);
	json_push_str(change->texts, buf_str(&out));
}

static void add_word(struct change *change, const struct rule *rule, const char *at,
		     const char *key, const char *word)
{
	add_edit(change, rule, &key, 1, "add", json_new_str(word));
	add_text(change, at, "add %s to %s", word, key);
}

/* The columns of one table that the call reads. */
static struct json *columns_read(const struct call_facts *facts, const char *table)
{
	struct json *columns = json_array();
	size_t len = strlen(table);

	for (size_t i = 0; i < facts->columns.count; i++) {
		const char *name = facts->columns.items[i];

		if (strncmp(name, table, len) == 0 && name[len] == '.' && name[len + 1] != '\0')
			json_push_str(columns, name + len + 1);
	}
	return columns;
}

static const struct rule_table *find_table(const struct rule *rule, const char *name)
{
	for (size_t t = 0; t < rule->data.table_count; t++)
		if (strcmp(rule->data.tables[t].name, name) == 0)
			return &rule->data.tables[t];
	return NULL;
}

static bool lists_column(const struct rule_table *table, const char *column)
{
	json_each(name, table->source) if (strcmp(json_str(name), column) == 0) return true;
	return false;
}

static void join(const struct json *names, struct buf *out)
{
	json_each(name, names)
		buf_addf(out, "%s%s", name == json_first(names) ? "" : ", ", json_str(name));
}

static void add_table(struct change *change, const struct rule *rule, const char *at,
		      const char *table, struct json *columns)
{
	const char *const steps[] = {"data", "tables", table};
	CLEANUP(buf_clear) struct buf names = BUF_INIT;

	if (json_len(columns) == 0) {
		json_free(columns);
		columns = json_new_str("all");
		add_text(change, at, "add table %s with columns: all to data.tables", table);
	} else {
		join(columns, &names);
		add_text(change, at, "add table %s with columns [%s] to data.tables", table,
			 buf_str(&names));
	}
	add_edit(change, rule, steps, 3, "set", columns);
}

static void add_columns(struct change *change, const struct rule *rule, const char *at,
			const struct rule_table *table, const struct json *columns)
{
	const char *const steps[] = {"data", "tables", table->name};

	json_each(column, columns)
	{
		if (table->all || lists_column(table, json_str(column)))
			continue;
		add_edit(change, rule, steps, 3, "add", json_new_str(json_str(column)));
		add_text(change, at, "add column %s to table %s in data.tables", json_str(column),
			 table->name);
	}
}

static void change_tables(struct change *change, const struct rule *rule, const char *at,
			  const struct call_facts *facts)
{
	for (size_t i = 0; i < facts->tables.count; i++) {
		const char *name = facts->tables.items[i];
		const struct rule_table *table = find_table(rule, name);
		struct json *columns = columns_read(facts, name);

		if (table == NULL) {
			add_table(change, rule, at, name, columns);
			continue;
		}
		add_columns(change, rule, at, table, columns);
		json_free(columns);
	}
}

/* The shortest list that holds the function; NULL when none does. */
static const char *list_with(const char *function)
{
	const char *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < function_list_count; i++) {
		size_t len = 0;
		bool has = false;

		for (; function_lists[i].functions[len] != NULL; len++)
			has = has || strcmp(function_lists[i].functions[len], function) == 0;
		if (has && (best == NULL || len < best_len)) {
			best = function_lists[i].name;
			best_len = len;
		}
	}
	return best;
}

static bool has_function(const struct json *names, const char *name)
{
	json_each(known, names) if (strcmp(json_str(known), name) == 0) return true;
	return false;
}

/* The lists that hold all the functions; NULL, and the first function that none holds. */
static struct json *lists_for(const struct names *functions, const char **ret_without)
{
	struct json *lists = json_array();

	for (size_t i = 0; i < functions->count; i++) {
		const char *list = list_with(functions->items[i]);

		if (list == NULL) {
			*ret_without = functions->items[i];
			json_free(lists);
			return NULL;
		}
		if (!has_function(lists, list))
			json_push_str(lists, list);
	}
	return lists;
}

static void change_functions(struct change *change, const struct rule *rule, const char *at,
			     const struct call_facts *facts)
{
	static const char *const steps[] = {"data", "functions"};
	const char *without = NULL;
	CLEANUP(json_freep) struct json *lists = lists_for(&facts->functions, &without);

	if (lists == NULL) {
		change->impossible = mem_format("no list of functions holds %s", without);
		return;
	}
	json_each(list, lists)
	{
		add_edit(change, rule, steps, 2, "add", json_new_str(json_str(list)));
		add_text(change, at, "add %s to data.functions", json_str(list));
	}
}

static void cannot(struct change *change, const struct condition_trace *trace)
{
	change->impossible = mem_format("%s wants something else: %s, saw %s", trace->kind,
					trace->want, trace->saw);
}

static void add_if(struct change *change, const struct rule *rule,
		   const struct condition_trace *trace, const char *key, const char *word)
{
	if (word != NULL)
		add_word(change, rule, trace->at, key, word);
	else
		cannot(change, trace);
}

static void drop_time(struct change *change, const struct rule *rule,
		      const struct condition_trace *trace, const char *key)
{
	const char *const steps[] = {"time", key};

	add_edit(change, rule, steps, 2, "drop", json_new_bool(true));
	add_text(change, trace->at, "drop %s of time", key);
}

/* The value that was seen, beside what is wanted: for names of a single step and plain values. */
static void widen(struct change *change, const struct rule *rule, const struct condition *condition,
		  const struct condition_trace *trace, const char *key, const struct json *values)
{
	const char *name = json_key(condition->want);
	const char *const steps[] = {key, name};
	const struct json *value = json_get(values, name);
	enum json_type type = json_type(value);
	struct json *exact, *any, *list;
	CLEANUP(buf_clear) struct buf shown = BUF_INIT;

	if (value == NULL || (type != JSON_STRING && type != JSON_INT && type != JSON_BOOL)) {
		cannot(change, trace);
		return;
	}
	exact = json_object();
	json_set_str(exact, "constraint_type", "exact");
	json_set(exact, "value", json_copy(value));
	list = json_array();
	json_push(list, json_copy(condition->want));
	json_push(list, exact);
	any = json_object();
	json_set_str(any, "constraint_type", "any");
	json_set(any, "constraints", list);
	add_edit(change, rule, steps, 2, "set", any);
	json_write(value, &shown);
	add_text(change, trace->at, "let %s.%s be %s as well", key, name, buf_str(&shown));
}

static void change_condition(struct change *change, const struct rule *rule,
			     const struct condition *condition, const struct condition_trace *trace,
			     const struct call_facts *facts)
{
	CLEANUP(mem_freep) char *user = NULL;

	switch (condition->kind) {
	case CONDITION_AGENTS:
		add_word(change, rule, trace->at, "agents", facts->agent);
		return;
	case CONDITION_TOOLS:
		add_word(change, rule, trace->at, "tools", facts->tool);
		return;
	case CONDITION_USERS:
		user = mem_format("user:%s", facts->subject.user);
		add_word(change, rule, trace->at, "users", user);
		return;
	case CONDITION_TABLES:
	case CONDITION_COLUMNS:
		change_tables(change, rule, trace->at, facts);
		return;
	case CONDITION_FUNCTIONS:
		change_functions(change, rule, trace->at, facts);
		return;
	case CONDITION_TENANTS:
		add_if(change, rule, trace, "tenants", facts->subject.tenant);
		return;
	case CONDITION_ENVIRONMENTS:
		add_if(change, rule, trace, "environments", facts->setting.environment);
		return;
	case CONDITION_FROM:
		drop_time(change, rule, trace, "from");
		return;
	case CONDITION_UNTIL:
		drop_time(change, rule, trace, "until");
		return;
	case CONDITION_DAYS:
		drop_time(change, rule, trace, "days");
		return;
	case CONDITION_HOURS:
		drop_time(change, rule, trace, "hours");
		return;
	case CONDITION_ATTRIBUTE:
		widen(change, rule, condition, trace, "attributes", facts->subject.attributes);
		return;
	case CONDITION_ARGUMENT:
		widen(change, rule, condition, trace, "arguments", facts->arguments);
		return;
	default:
		cannot(change, trace);
	}
}

void change_find(const struct rule *rule, const struct rule_trace *trace,
		 const struct call_facts *facts, struct change *ret_change)
{
	struct change change = {json_array(), json_array(), NULL};
	bool tables_done = false;

	for (size_t i = 0; i < trace->condition_count && change.impossible == NULL; i++) {
		enum condition_kind kind = rule->conditions[i].kind;
		bool about_tables = kind == CONDITION_TABLES || kind == CONDITION_COLUMNS;

		if (trace->conditions[i].outcome == OUTCOME_HOLDS || (about_tables && tables_done))
			continue;
		tables_done = tables_done || about_tables;
		change_condition(&change, rule, &rule->conditions[i], &trace->conditions[i], facts);
	}
	*ret_change = change;
}

bool edits_allow(const struct json *bundle, const struct json *edits,
		 const struct call_facts *facts)
{
	CLEANUP(json_freep) struct json *edited = policy_edit(bundle, edits);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *changed = NULL;
	struct verdict verdict;

	json_write_canonical(edited, &bytes);
	if (bundle_read(bytes.bytes, bytes.len, &changed, NULL) < 0)
		return false;
	policy_decide(changed, facts, &verdict);
	return verdict.effect == EFFECT_ALLOW;
}

/* ---- a rule of its own ---- */

static struct json *one_text(const char *text)
{
	struct json *list = json_array();

	json_push_str(list, text);
	return list;
}

static struct json *own_data(const struct call_facts *facts, struct json *lists)
{
	struct json *data = json_object();
	struct json *tables = json_object();

	json_set_str(data, "database", facts->database);
	for (size_t i = 0; i < facts->tables.count; i++) {
		struct json *columns = columns_read(facts, facts->tables.items[i]);

		if (json_len(columns) == 0) {
			json_free(columns);
			columns = json_new_str("all");
		}
		json_set(tables, facts->tables.items[i], columns);
	}
	json_set(data, "tables", tables);
	json_set(data, "functions", lists);
	return data;
}

static struct json *default_limits(void)
{
	struct json *limits = json_object();

	json_set_int(limits, "rows", WRIT_ROWS_MAX);
	json_set_int(limits, "bytes", WRIT_RESULT_BYTES_DEFAULT);
	json_set_int(limits, "scan_bytes", WRIT_SCAN_BYTES_DEFAULT);
	json_set_int(limits, "time_ms", WRIT_STATEMENT_MS_DEFAULT);
	return limits;
}

static void write_flow(const struct json *json, struct buf *out)
{
	bool map = json_type(json) == JSON_OBJECT, first = true;

	if (json_str(json) != NULL) {
		buf_add_str(out, json_str(json));
		return;
	}
	buf_add_char(out, map ? '{' : '[');
	json_each(item, json)
	{
		buf_add_str(out, first ? "" : ", ");
		if (map)
			buf_addf(out, "%s: ", json_key(item));
		if (map && strcmp(json_key(item), "tables") != 0 &&
		    strcmp(json_key(item), "functions") != 0 &&
		    strcmp(json_key(item), "database") != 0) {
			buf_add_str(out, "{columns: ");
			write_flow(item, out);
			buf_add_char(out, '}');
		} else {
			write_flow(item, out);
		}
		first = false;
	}
	buf_add_char(out, map ? '}' : ']');
}

static char *own_text(const struct json *rule)
{
	static const char *const keys[] = {"effect", "agents", "users", "tools", "data"};
	struct buf out = BUF_INIT;

	buf_addf(&out, "- id: %s\n", json_get_str(rule, "id"));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		buf_addf(&out, "  %s: ", keys[i]);
		write_flow(json_get(rule, keys[i]), &out);
		buf_add_char(&out, '\n');
	}
	return buf_take(&out);
}

static bool rule_exists(const struct bundle *bundle, const char *id)
{
	for (size_t i = 0; i < bundle->rule_count; i++)
		if (strcmp(bundle->rules[i].id, id) == 0)
			return true;
	return false;
}

struct json *own_rule(const struct bundle *bundle, const struct call_facts *facts, char **ret_text)
{
	CLEANUP(mem_freep) char *user = mem_format("user:%s", facts->subject.user);
	CLEANUP(mem_freep) char *id = mem_format("%s-%s", facts->agent, facts->tool);
	const char *without = NULL;
	struct json *lists, *rule;

	if (bundle_agent_find(bundle, facts->agent) == NULL || rule_exists(bundle, id))
		return NULL;
	lists = lists_for(&facts->functions, &without);
	if (lists == NULL || (facts->database != NULL && facts->tables.count == 0)) {
		json_free(lists);
		return NULL;
	}
	rule = json_object();
	json_set_str(rule, "id", id);
	json_set_str(rule, "at", "scopes/new.yaml:1");
	json_set_str(rule, "effect", "allow");
	json_set(rule, "agents", one_text(facts->agent));
	json_set(rule, "users", one_text(user));
	json_set(rule, "tools", one_text(facts->tool));
	if (facts->database == NULL) {
		json_set_str(rule, "data", "none");
		json_free(lists);
	} else {
		json_set(rule, "data", own_data(facts, lists));
	}
	json_set(rule, "per_call", default_limits());
	*ret_text = own_text(rule);
	return rule;
}
