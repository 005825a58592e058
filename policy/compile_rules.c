/*
 * The rules of a scope file. Nothing is implied: whoever means all agents, everyone, all tools or
 * all data writes so, and what a rule leaves out is a problem, not a default. Only limits have
 * defaults, and those are written into the bundle.
 */
#include <string.h>
#include <strings.h>

#include "policy/compile_parts.h"
#include "policy/vocabulary.h"
#include "writ/limits.h"

static const char *const rule_keys[] = {"id",	 "effect", "agents",   "users",
					"tools", "data",   "per_call", NULL};

static bool is_word(const struct yaml *node, const char *word)
{
	return yaml_text(node) != NULL && strcmp(yaml_text(node), word) == 0;
}

/* Adds a name once; two spellings of one name count as the same where folded. */
static void push_name(struct compile *compile, struct json *list, const struct yaml *node,
		      const char *name, bool folded)
{
	json_each(known, list) if ((folded ? strcasecmp : strcmp)(json_str(known), name) == 0)
	{
		check_fail(&compile->check, "duplicate", node, "\"%s\" stands twice", name);
		return;
	}
	json_push_str(list, name);
}

/* The word alone, or a list of names of which none is the word. */
static bool is_list_not_word(struct compile *compile, const struct yaml *node, const char *what,
			     const char *word)
{
	bool sound = true;

	if (!yaml_is_null(node) && yaml_kind(node) != YAML_LIST) {
		check_fail(&compile->check, "wrong_type", node,
			   "%s must be the word %s or a list like [a, b]", what, word);
		return false;
	}
	if (!check_list(&compile->check, node, what))
		return false;
	for (size_t i = 0; i < yaml_len(node); i++)
		if (is_word(yaml_at(node, i), word)) {
			check_fail(&compile->check, "bad_value", yaml_at(node, i),
				   "\"%s\" stands alone, without a list: %s: %s", word, what, word);
			sound = false;
		}
	return sound;
}

static struct json *compile_all_or(struct compile *compile, const struct yaml *node,
				   const char *what, const char *one, struct words words)
{
	struct json *list;

	if (node == NULL)
		return NULL;
	if (is_word(node, "all"))
		return json_new_str("all");
	if (!is_list_not_word(compile, node, what, "all"))
		return NULL;
	list = json_array();
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name = check_word(&compile->check, yaml_at(node, i), one, words);

		if (name != NULL)
			push_name(compile, list, yaml_at(node, i), name, false);
	}
	return list;
}

static void compile_user(struct compile *compile, const struct yaml *node, struct json *list)
{
	static const char *const prefixes[] = {"user:", "group:", "tenant:"};
	const char *text = check_text(&compile->check, node, "a user");

	if (text == NULL)
		return;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], len) == 0 && text[len] != '\0') {
			push_name(compile, list, node, text, false);
			return;
		}
	}
	check_fail(&compile->check, "bad_value", node,
		   "\"%.80s\" says neither user:NAME, group:NAME nor tenant:NAME; for everybody "
		   "write users: everyone",
		   text);
}

static struct json *compile_users(struct compile *compile, const struct yaml *node)
{
	struct json *list;

	if (node == NULL)
		return NULL;
	if (is_word(node, "everyone"))
		return json_new_str("everyone");
	if (!is_list_not_word(compile, node, "users", "everyone"))
		return NULL;
	list = json_array();
	for (size_t i = 0; i < yaml_len(node); i++)
		compile_user(compile, yaml_at(node, i), list);
	return list;
}

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

static struct json *compile_columns(struct compile *compile, const struct yaml *table,
				    const char *name, bool folded)
{
	static const char *const keys[] = {"columns", NULL};
	CLEANUP(mem_freep) char *what = mem_format("table %s", name);
	const struct yaml *node;
	struct json *list;

	if (!check_map(&compile->check, table, what, keys))
		return NULL;
	node = check_member(&compile->check, table, what, "columns",
			    "columns: [a, b], or columns: all");
	if (node == NULL)
		return NULL;
	if (is_word(node, "all"))
		return json_new_str("all");
	if (!is_list_not_word(compile, node, "columns", "all"))
		return NULL;
	list = json_array();
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *column = data_name(compile, yaml_at(node, i), "a column");

		if (column != NULL)
			push_name(compile, list, yaml_at(node, i), column, folded);
	}
	return list;
}

static void compile_table(struct compile *compile, const struct yaml *key, const struct yaml *value,
			  bool folded, struct json *tables)
{
	const char *name = data_name(compile, key, "a table");
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
	columns = compile_columns(compile, value, name, folded);
	if (columns != NULL)
		json_set(tables, name, columns);
}

static struct json *compile_tables(struct compile *compile, const struct yaml *node,
				   bool takes_away)
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
		compile_table(compile, yaml_key(node, i), yaml_value(node, i), takes_away, tables);
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
	struct json *list = json_array();

	for (size_t i = 0; i < function_list_count; i++)
		names[i] = function_lists[i].name;
	if (node == NULL || !check_list(&compile->check, node, "functions"))
		return list;
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name =
			check_word(&compile->check, yaml_at(node, i), "list of functions",
				   (struct words){names, function_list_count});

		if (name == NULL)
			continue;
		push_name(compile, list, yaml_at(node, i), name, false);
		use_list(compile, function_list_find(name));
	}
	return list;
}

static const char *compile_database(struct compile *compile, const struct yaml *data)
{
	const struct yaml *node =
		check_member(&compile->check, data, "data", "database", "database: sales");

	if (compile->databases == NULL)
		return check_name(&compile->check, node, "database");
	return check_word(&compile->check, node, "database",
			  (struct words){compile->databases->items, compile->databases->count});
}

static struct json *compile_data(struct compile *compile, const struct yaml *node, bool takes_away)
{
	static const char *const keys[] = {"database", "tables", "functions", NULL};
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
	json_set_str(data, "database", compile_database(compile, node));
	json_set(data, "tables", compile_tables(compile, yaml_get(node, "tables"), takes_away));
	json_set(data, "functions", compile_functions(compile, yaml_get(node, "functions")));
	nothing = yaml_len(yaml_get(node, "tables")) == 0 &&
		  !is_word(yaml_get(node, "tables"), "all");
	if (nothing && (!takes_away || yaml_get(node, "functions") == NULL))
		check_fail(&compile->check, "missing_key", node,
			   "data names no table; write, for example, tables: {orders: {columns: "
			   "all}}");
	return data;
}

struct limit_key {
	const char *key;
	const char *member; /* of the bundle */
	int64_t fallback;
	int64_t max;
	bool (*read)(struct check *check, const struct yaml *node, const char *what, int64_t max,
		     int64_t *ret);
};

static bool read_rows(struct check *check, const struct yaml *node, const char *what, int64_t max,
		      int64_t *ret)
{
	if (yaml_want_int(node, 1, max, ret, NULL) == 0)
		return true;
	check_fail(check, "bad_value", node, "%s must be a whole number from 1 to %lld", what,
		   (long long)max);
	return false;
}

static const struct limit_key limit_keys[] = {
	{"rows", "rows", WRIT_ROWS_MAX, WRIT_ROWS_MAX, read_rows},
	{"bytes", "bytes", WRIT_RESULT_BYTES_DEFAULT, WRIT_RESULT_BYTES_DEFAULT, check_size},
	{"scan", "scan_bytes", WRIT_SCAN_BYTES_DEFAULT, 1LL << 50, check_size},
	{"time", "time_ms", WRIT_STATEMENT_MS_DEFAULT, WRIT_TOKEN_SECONDS_MAX * 1000LL,
	 check_duration_ms},
};

static struct json *compile_limits(struct compile *compile, const struct yaml *node)
{
	static const char *const keys[] = {"rows", "bytes", "scan", "time", NULL};
	struct json *limits = json_object();
	bool given = node != NULL && check_map(&compile->check, node, "per_call", keys);

	for (size_t i = 0; i < ARRAY_LEN(limit_keys); i++) {
		const struct limit_key *key = &limit_keys[i];
		const struct yaml *value = given ? yaml_get(node, key->key) : NULL;
		int64_t number = key->fallback;

		if (value != NULL)
			key->read(&compile->check, value, key->key, key->max, &number);
		json_set_int(limits, key->member, number);
	}
	return limits;
}

static const char *compile_rule_id(struct compile *compile, const struct yaml *rule)
{
	const struct yaml *node =
		check_member(&compile->check, rule, "a rule", "id", "id: read-sales");
	const char *id = check_name(&compile->check, node, "the id of a rule");
	CLEANUP(mem_freep) char *at = NULL;
	const char *known = id == NULL ? NULL : json_get_str(compile->rule_places, id);

	if (known != NULL)
		check_fail(&compile->check, "duplicate", node,
			   "rule %s is defined twice, first at %s", id, known);
	if (id == NULL)
		return NULL;
	at = place_of(node);
	json_set_str(compile->rule_places, id, at);
	return id;
}

static void set_if(struct json *json, const char *key, struct json *value)
{
	if (value != NULL)
		json_set(json, key, value);
}

static void compile_rule_subject(struct compile *compile, const struct yaml *rule,
				 struct json *json)
{
	static const char what[] = "a rule";
	struct check *check = &compile->check;
	CLEANUP(mem_freep) const char **tools = mem_array(tool_word_count, sizeof(*tools));

	for (size_t i = 0; i < tool_word_count; i++)
		tools[i] = tool_words[i].name;
	set_if(json, "agents",
	       compile_all_or(compile,
			      check_member(check, rule, what, "agents", "agents: [sales-query-01]"),
			      "agents", "agent",
			      (struct words){compile->agent_names, compile->agent_count}));
	set_if(json, "users",
	       compile_users(compile,
			     check_member(check, rule, what, "users", "users: [group:sales]")));
	set_if(json, "tools",
	       compile_all_or(compile,
			      check_member(check, rule, what, "tools", "tools: [run_query]"),
			      "tools", "tool", (struct words){tools, tool_word_count}));
}

static void add_place(struct json *places, const char *key, const struct yaml *node)
{
	CLEANUP(mem_freep) char *text = NULL;

	if (node == NULL)
		return;
	text = mem_format("%d:%d", yaml_line(node), yaml_column(node));
	json_set_str(places, key, text);
}

/* Where each condition stands, for traces and messages; the rule's own place names the file. */
static struct json *compile_places(const struct yaml *rule)
{
	static const char *const keys[] = {"agents", "users", "tools", "data"};
	static const char *const data_keys[] = {"database", "tables", "functions"};
	struct json *places = json_object();
	const struct yaml *data = yaml_get(rule, "data");

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		add_place(places, keys[i], yaml_get(rule, keys[i]));
	for (size_t i = 0; i < ARRAY_LEN(data_keys); i++) {
		CLEANUP(mem_freep) char *key = mem_format("data.%s", data_keys[i]);

		if (data != NULL && yaml_kind(data) == YAML_MAP)
			add_place(places, key, yaml_get(data, data_keys[i]));
	}
	return places;
}

static void compile_rule(struct compile *compile, const struct yaml *rule)
{
	static const char *const effects[] = {"allow", "ask", "deny"};
	struct check *check = &compile->check;
	struct json *json;
	const char *effect;
	CLEANUP(mem_freep) char *at = place_of(rule);
	const struct yaml *limits;

	if (!check_map(check, rule, "a rule", rule_keys))
		return;
	json = json_object();
	limits = yaml_get(rule, "per_call");
	json_set_str(json, "at", at);
	json_set(json, "places", compile_places(rule));
	json_set_str(json, "id", compile_rule_id(compile, rule));
	effect = check_word(check, check_member(check, rule, "a rule", "effect", "effect: allow"),
			    "effect", (struct words){effects, ARRAY_LEN(effects)});
	json_set_str(json, "effect", effect);
	compile_rule_subject(compile, rule, json);
	/* Without an effect nobody knows what data may say; its own mistake comes first. */
	if (effect != NULL)
		set_if(json, "data",
		       compile_data(compile,
				    check_member(check, rule, "a rule", "data",
						 "data: {database: sales, tables: {orders: "
						 "{columns: all}}}"),
				    strcmp(effect, "allow") != 0));
	if (effect != NULL && strcmp(effect, "allow") == 0)
		json_set(json, "per_call", compile_limits(compile, limits));
	else if (effect != NULL && limits != NULL)
		check_fail(check, "unknown_key", limits,
			   "per_call limits what a rule allows; a rule that %s has none",
			   strcmp(effect, "deny") == 0 ? "denies" : "asks");
	json_push(compile->rules, json);
}

void compile_rules(struct compile *compile, const struct yaml *rules)
{
	if (rules == NULL)
		return;
	if (yaml_is_null(rules) || yaml_kind(rules) != YAML_LIST) {
		check_fail(&compile->check, "wrong_type", rules,
			   "rules must be a list; each rule begins with \"- id: ...\"");
		return;
	}
	for (size_t i = 0; i < yaml_len(rules); i++)
		compile_rule(compile, yaml_at(rules, i));
}
