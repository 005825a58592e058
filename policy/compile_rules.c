/*
 * The rules of a scope file. Nothing is implied: whoever means all agents, everyone, all tools or
 * all data writes so, and what a rule leaves out is a problem, not a default. Only limits have
 * defaults, and those are written into the bundle.
 */
#include <string.h>
#include <strings.h>

#include "policy/compile_parts.h"
#include "policy/condition.h"
#include "policy/vocabulary.h"
#include "writ/limits.h"

static const char *const rule_keys[] = {"id",	    "effect",  "phase",	     "agents",
					"users",    "tenants", "attributes", "environments",
					"time",	    "tools",   "arguments",  "data",
					"per_call", "limits",  "approval",   NULL};

static bool push_role(struct compile *compile, struct json *list, const struct yaml *node,
		      bool takes_away);

/* roles: the items may be roles of agents. */
static struct json *compile_all_or(struct compile *compile, const struct yaml *node,
				   const char *what, const char *one, struct words words,
				   bool roles, bool takes_away)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list;

	if (node == NULL)
		return NULL;
	if (is_word(node, "all"))
		return json_new_str("all");
	if (!is_list_not_word(compile, node, what, "all"))
		return NULL;
	list = json_array();
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *name;

		if (roles && push_role(compile, list, items.nodes[i], takes_away))
			continue;
		name = check_word(&compile->check, items.nodes[i], one, words);
		if (name != NULL)
			push_name(compile, list, items.nodes[i], name, false);
	}
	return list;
}

/* "role:report" stands for every agent of that role, now and later: in rules that take away only,
 * since nobody should be granted something by being defined. */
static bool push_role(struct compile *compile, struct json *list, const struct yaml *node,
		      bool takes_away)
{
	static const char prefix[] = "role:";
	const char *text = yaml_text(node);
	const char *role = text == NULL || strncmp(text, prefix, strlen(prefix)) != 0
				   ? NULL
				   : text + strlen(prefix);
	size_t found = 0, roles = 0;

	if (role == NULL)
		return false;
	if (!takes_away) {
		check_fail(&compile->check, "bad_value", node,
			   "an allow rule names each agent; role:%.40s is for deny and ask", role);
		return true;
	}
	json_each(agent, compile->agents)
	{
		const char *of = json_get_str(agent, "role");

		if (of == NULL || strcmp(of, role) != 0)
			continue;
		push_name(compile, list, node, json_key(agent), false);
		found++;
	}
	while (role_words[roles] != NULL)
		roles++;
	if (found == 0)
		check_unknown_text(&compile->check, "unknown_word", node, "role of an agent", role,
				   (struct words){role_words, roles});
	return true;
}

const char *user_text(struct compile *compile, const struct yaml *node)
{
	static const char *const prefixes[] = {"user:", "group:", "tenant:"};
	const char *text = check_text(&compile->check, node, "a user");

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], len) == 0 && text[len] != '\0')
			return text;
	}
	check_fail(&compile->check, "bad_value", node,
		   "\"%.80s\" says neither user:NAME, group:NAME nor tenant:NAME; for everybody "
		   "write users: everyone",
		   text);
	return NULL;
}

static struct json *compile_users(struct compile *compile, const struct yaml *node)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list;

	if (node == NULL)
		return NULL;
	if (is_word(node, "everyone"))
		return json_new_str("everyone");
	if (!is_list_not_word(compile, node, "users", "everyone"))
		return NULL;
	list = json_array();
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *text = user_text(compile, items.nodes[i]);

		if (text != NULL)
			push_name(compile, list, items.nodes[i], text, false);
	}
	return list;
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
	symbol_t symbol;

	if (id == NULL)
		return NULL;
	symbol = symbols_add(&compile->rule_ids, id);
	if (symbol < compile->rule_place_count) {
		check_fail(&compile->check, "duplicate", node,
			   "rule %s is defined twice, first at %s", id,
			   compile->rule_places[symbol]);
		return id;
	}
	/* Symbols are handed out in order, so each new one is the next. */
	if (symbol >= compile->rule_place_room) {
		compile->rule_place_room = symbol * 2 + 64;
		compile->rule_places =
			mem_grow(compile->rule_places, compile->rule_place_room * sizeof(char *));
	}
	while (compile->rule_place_count <= symbol)
		compile->rule_places[compile->rule_place_count++] = NULL;
	compile->rule_places[symbol] = place_of(node);
	return id;
}

static void set_if(struct json *json, const char *key, struct json *value)
{
	if (value != NULL)
		json_set(json, key, value);
}

static void compile_rule_subject(struct compile *compile, const struct yaml *rule, bool takes_away,
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
			      (struct words){compile->agent_names, compile->agent_count}, true,
			      takes_away));
	set_if(json, "users",
	       compile_users(compile,
			     check_member(check, rule, what, "users", "users: [group:sales]")));
	set_if(json, "tools",
	       compile_all_or(
		       compile, check_member(check, rule, what, "tools", "tools: [run_query]"),
		       "tools", "tool", (struct words){tools, tool_word_count}, false, takes_away));
}

struct placing {
	const struct yaml *rule;
	struct buf text;
};

static void add_place(void *data, enum condition_kind kind, const char *key, const char *member,
		      const struct json *want)
{
	struct placing *placing = data;
	const struct yaml *node = yaml_get(placing->rule, key);
	const struct yaml *inner = NULL;

	(void)kind;
	(void)want;
	if (member != NULL && node != NULL && yaml_kind(node) == YAML_MAP)
		inner = yaml_get(node, member);
	node = inner != NULL ? inner : node != NULL ? node : placing->rule;
	buf_addf(&placing->text, "%s%d:%d", placing->text.len > 0 ? " " : "", yaml_line(node),
		 yaml_column(node));
}

/* Where each condition stands, for traces and messages; the rule's own place names the file. */
static void compile_places(const struct yaml *rule, bool allow, struct json *json)
{
	struct placing placing = {rule, BUF_INIT};

	conditions_each(json, allow, add_place, &placing);
	json_set_str(json, "places", buf_str(&placing.text));
	buf_clear(&placing.text);
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
	json_set_str(json, "id", compile_rule_id(compile, rule));
	effect = check_word(check, check_member(check, rule, "a rule", "effect", "effect: allow"),
			    "effect", (struct words){effects, ARRAY_LEN(effects)});
	json_set_str(json, "effect", effect);
	compile_rule_subject(compile, rule, effect != NULL && strcmp(effect, "allow") != 0, json);
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
	if (effect != NULL) {
		compile_when(compile, rule, effect, json);
		compile_matchers(compile, rule, effect, json);
		compile_terms(compile, rule, effect, json);
		compile_places(rule, strcmp(effect, "allow") == 0, json);
	}
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
