/*
 * The rules of a bundle and the lists of functions they name. Strict like bundle.c: what is not
 * understood refuses the bundle. Names of rules that take away are folded (symbols.h).
 */
#include <stdlib.h>
#include <string.h>

#include "include/writ/limits.h"
#include "base/give_way.h"
#include "policy/condition.h"

int bundle_functions_read(struct bundle *bundle, const struct json *lists, struct err *err)
{
	bundle->functions = mem_array(json_len(lists), sizeof(*bundle->functions));
	json_each(list, lists)
	{
		struct function_set *set = &bundle->functions[bundle->function_set_count++];

		set->name = json_key(list);
		if (names_read(bundle, list, false, &set->functions, err) < 0)
			return err_wrap(err, "functions %s", set->name);
	}
	return 0;
}

static int read_users(struct bundle *bundle, const struct json *json, struct rule *rule,
		      struct err *err)
{
	static const char *const prefixes[] = {"user:", "group:", "tenant:"};
	struct symbol_set *const sets[] = {&rule->users, &rule->groups, &rule->tenants};
	const char *word = json_str(json);

	if (word != NULL && strcmp(word, "everyone") == 0) {
		rule->everyone = true;
		return 0;
	}
	if (json_type(json) != JSON_ARRAY || json_len(json) == 0)
		return err_set(err, ERR_INVALID, "users must be \"everyone\" or a list");
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		sets[i]->items = mem_array(json_len(json), sizeof(symbol_t));
	json_each(item, json)
	{
		const char *text = json_str(item) == NULL ? "" : json_str(item);
		size_t kind = 0;

		while (kind < ARRAY_LEN(prefixes) &&
		       strncmp(text, prefixes[kind], strlen(prefixes[kind])) != 0)
			kind++;
		if (kind == ARRAY_LEN(prefixes) || text[strlen(prefixes[kind])] == '\0')
			return err_set(err, ERR_INVALID,
				       "a user must be user:NAME, group:NAME or tenant:NAME");
		sets[kind]->items[sets[kind]->count++] =
			symbols_add(&bundle->symbols, text + strlen(prefixes[kind]));
	}
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		if (symbol_set_sort(sets[i], err) < 0)
			return -1;
	return 0;
}

static int read_limits(const struct json *json, enum effect effect, struct call_limits *limits,
		       struct err *err)
{
	static const char *const keys[] = {"bytes", "rows", "scan_bytes", "time_ms", NULL};

	if (effect != EFFECT_ALLOW)
		return json == NULL ? 0
				    : err_set(err, ERR_INVALID, "only an allow rule has per_call");
	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "per_call is missing");
	if (json_only(json, keys, err) < 0 ||
	    json_want_int(json, "bytes", 1, WRIT_RESULT_BYTES_DEFAULT, &limits->bytes, err) < 0 ||
	    json_want_int(json, "rows", 1, WRIT_ROWS_MAX, &limits->rows, err) < 0 ||
	    json_want_int(json, "scan_bytes", 1, JSON_INT_MAX, &limits->scan_bytes, err) < 0 ||
	    json_want_int(json, "time_ms", 1, WRIT_TOKEN_SECONDS_MAX * 1000LL, &limits->time_ms,
			  err) < 0)
		return err_wrap(err, "per_call");
	return 0;
}

static int read_effect(const char *word, enum effect *ret_effect, struct err *err)
{
	static const char *const words[] = {
		[EFFECT_DENY] = "deny", [EFFECT_ASK] = "ask", [EFFECT_ALLOW] = "allow"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret_effect = (enum effect)i;
			return 0;
		}
	return err_set(err, ERR_INVALID, "unknown effect \"%s\"", word);
}

static int check_rule_agents(const struct bundle *bundle, const struct json *names, struct err *err)
{
	json_each(name, names) if (json_str(name) != NULL &&
				   bundle_agent(bundle, json_str(name)) ==
					   NULL) return err_set(err, ERR_INVALID,
								"unknown agent %s", json_str(name));
	return 0;
}

static int read_rule(struct bundle *bundle, const struct json *json, struct rule *rule,
		     struct err *err)
{
	static const char *const keys[] = {
		"agents", "approval",	  "arguments", "at",	 "attributes", "data",
		"effect", "environments", "id",	       "limits", "per_call",   "phase",
		"places", "tenants",	  "time",      "tools",	 "users",      NULL};
	const char *effect;

	if (json_only(json, keys, err) < 0 || json_want_str(json, "id", &rule->id, err) < 0 ||
	    json_want_str(json, "at", &rule->at, err) < 0 ||
	    json_want_str(json, "effect", &effect, err) < 0 ||
	    read_effect(effect, &rule->effect, err) < 0)
		return -1;
	if (names_read_or_all(bundle, json_get(json, "agents"), &rule->agents_all, &rule->agents,
			      err) < 0 ||
	    check_rule_agents(bundle, json_get(json, "agents"), err) < 0)
		return err_wrap(err, "agents");
	if (names_read_or_all(bundle, json_get(json, "tools"), &rule->tools_all, &rule->tools,
			      err) < 0)
		return err_wrap(err, "tools");
	if (read_users(bundle, json_get(json, "users"), rule, err) < 0)
		return -1;
	if (bundle_data_read(bundle, json_get(json, "data"), rule->effect, &rule->data, err) < 0)
		return err_wrap(err, "data");
	if (read_limits(json_get(json, "per_call"), rule->effect, &rule->limits, err) < 0 ||
	    bundle_when_read(bundle, json, rule, err) < 0 ||
	    bundle_matchers_read(json, rule, err) < 0 || bundle_terms_read(json, rule, err) < 0)
		return -1;
	bundle->uses_arguments = bundle->uses_arguments || rule->argument_count > 0;
	return bundle_conditions_read(rule, json, err);
}

int bundle_rules_read(struct bundle *bundle, const struct json *rules, struct err *err)
{
	bundle->rules = mem_array(json_len(rules), sizeof(*bundle->rules));
	json_each(json, rules)
	{
		struct rule *rule = &bundle->rules[bundle->rule_count++];

		if (bundle->rule_count % RULES_A_TURN == 0)
			give_way();
		if (read_rule(bundle, json, rule, err) < 0)
			return err_wrap(err, "rule %zu (%s)", bundle->rule_count,
					rule->at == NULL ? "no position" : rule->at);
	}
	return bundle_index_build(bundle, err);
}

void rule_clear(struct rule *rule)
{
	rule_data_clear(&rule->data);
	for (size_t i = 0; i < rule->condition_count; i++)
		mem_free(rule->conditions[i].owned_key);
	for (size_t i = 0; i < rule->attribute_count; i++)
		matcher_free(rule->attributes[i].matcher);
	for (size_t i = 0; i < rule->argument_count; i++) {
		json_path_clear(&rule->arguments[i].path);
		matcher_free(rule->arguments[i].matcher);
	}
	mem_free(rule->attributes);
	mem_free(rule->arguments);
	mem_free(rule->rates);
	mem_free(rule->approvers);
	mem_free(rule->users.items);
	mem_free(rule->groups.items);
	mem_free(rule->tenants.items);
	mem_free(rule->only_tenants.items);
	mem_free(rule->environments.items);
	mem_free(rule->agents.items);
	mem_free(rule->tools.items);
	mem_free(rule->conditions);
}
