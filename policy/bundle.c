/*
 * Bundle bytes into memory. Strict: an unknown member, a missing member, a value out of range or a
 * combination that the compiler would not write refuses the whole bundle, since a bundle of which a
 * part is not understood cannot be obeyed. Errors say which rule or agent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/give_way.h"
#include "include/writ/limits.h"
#include "policy/bundle_model.h"

#define DIGEST_A_TURN (128u << 10)

static int read_budget(const struct json *json, struct task_budget *budget, struct err *err)
{
	static const char *const keys[] = {"attempts",	 "model_calls", "scan_bytes", "time_ms",
					   "tool_calls", "tool_errors", NULL};

	if (json_only(json, keys, err) < 0 ||
	    json_want_int(json, "attempts", 0, JSON_INT_MAX, &budget->attempts, err) < 0 ||
	    json_want_int(json, "model_calls", 0, JSON_INT_MAX, &budget->model_calls, err) < 0 ||
	    json_want_int(json, "scan_bytes", 0, JSON_INT_MAX, &budget->scan_bytes, err) < 0 ||
	    json_want_int(json, "time_ms", 1, JSON_INT_MAX, &budget->time_ms, err) < 0 ||
	    json_want_int(json, "tool_calls", 0, JSON_INT_MAX, &budget->tool_calls, err) < 0 ||
	    json_want_int(json, "tool_errors", 0, JSON_INT_MAX, &budget->tool_errors, err) < 0)
		return err_wrap(err, "per_task");
	return 0;
}

static int read_hands_to(const struct json *list, struct bundle_agent *agent, struct err *err)
{
	size_t count = 0;

	agent->hands_to = mem_array(json_len(list) + 1, sizeof(*agent->hands_to));
	json_each(item, list)
	{
		if (name_read(item, &agent->hands_to[count], err) < 0)
			return err_wrap(err, "hands_to");
		count++;
	}
	agent->def.hands_to = agent->hands_to;
	return 0;
}

static int read_agent(struct bundle *bundle, const struct json *json, const struct json *scopes,
		      struct bundle_agent *agent, struct err *err)
{
	static const char *const keys[] = {"at",    "hands_to",	     "id", "per_task", "role",
					   "scope", "token_seconds", NULL};
	struct agent_def *def = &agent->def;
	const struct json *budget;
	const struct json *hands_to;

	if (json_only(json, keys, err) < 0 || json_want_str(json, "at", &def->at, err) < 0 ||
	    json_want_str(json, "id", &def->id, err) < 0 ||
	    json_want_str(json, "role", &def->role, err) < 0 ||
	    json_want_str(json, "scope", &def->scope, err) < 0 ||
	    json_want_int(json, "token_seconds", 1, WRIT_TOKEN_SECONDS_MAX, &def->token_seconds,
			  err) < 0 ||
	    json_want_object(json, "per_task", &budget, err) < 0 ||
	    json_want_array(json, "hands_to", &hands_to, err) < 0 ||
	    read_budget(budget, &def->budget, err) < 0 || read_hands_to(hands_to, agent, err) < 0)
		return -1;
	def->owner = json_get_str(json_get(scopes, def->scope), "owner");
	if (def->owner == NULL)
		return err_set(err, ERR_INVALID, "its scope \"%s\" is not in the bundle",
			       def->scope);
	agent->name = symbols_add(&bundle->symbols, def->name);
	return 0;
}

static int compare_agents(const void *left, const void *right)
{
	const struct bundle_agent *a = left;
	const struct bundle_agent *b = right;

	return strcmp(a->def.name, b->def.name);
}

static int check_hands_to(const struct bundle *bundle, struct err *err)
{
	for (size_t i = 0; i < bundle->agent_count; i++)
		for (const char **to = bundle->agents[i].hands_to; *to != NULL; to++)
			if (bundle_agent(bundle, *to) == NULL)
				return err_set(err, ERR_INVALID,
					       "agent %s hands to the unknown agent %s",
					       bundle->agents[i].def.name, *to);
	return 0;
}

static int check_uris(const struct bundle *bundle, struct err *err)
{
	struct symbol_set seen = {mem_array(bundle->agent_count, sizeof(symbol_t)), 0};
	struct symbols uris;
	int result;

	symbols_init(&uris);
	for (size_t i = 0; i < bundle->agent_count; i++)
		seen.items[seen.count++] = symbols_add(&uris, bundle->agents[i].def.id);
	result = symbol_set_sort(&seen, NULL);
	mem_free(seen.items);
	symbols_clear(&uris);
	return result < 0 ? err_set(err, ERR_INVALID, "two agents have one id") : 0;
}

static int read_agents(struct bundle *bundle, const struct json *agents, const struct json *scopes,
		       struct err *err)
{
	bundle->agents = mem_array(json_len(agents), sizeof(*bundle->agents));
	json_each(json, agents)
	{
		struct bundle_agent *agent = &bundle->agents[bundle->agent_count++];

		agent->def.name = json_key(json);
		if (read_agent(bundle, json, scopes, agent, err) < 0)
			return err_wrap(err, "agent %s", json_key(json));
	}
	if (bundle->agent_count > 0)
		qsort(bundle->agents, bundle->agent_count, sizeof(*bundle->agents), compare_agents);
	if (check_hands_to(bundle, err) < 0)
		return -1;
	return check_uris(bundle, err);
}

static int read_scopes(const struct json *scopes, struct err *err)
{
	static const char *const keys[] = {"at", "owner", "timezone", NULL};

	json_each(scope, scopes)
	{
		const char *text;

		if (json_only(scope, keys, err) < 0 || json_want_str(scope, "at", &text, err) < 0 ||
		    json_want_str(scope, "owner", &text, err) < 0 ||
		    json_want_str(scope, "timezone", &text, err) < 0)
			return err_wrap(err, "scope %s", json_key(scope));
	}
	return 0;
}

static int read_all(struct bundle *bundle, struct err *err)
{
	static const char *const keys[] = {"agents", "functions",   "known", "rules",
					   "scopes", "writ_bundle", "zones", NULL};
	const struct json *scopes;
	const struct json *agents;
	const struct json *functions;
	const struct json *rules;
	int64_t version;

	bundle->source = json_doc_root(bundle->doc);
	if (json_type(bundle->source) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "not an object");
	if (json_want_int(bundle->source, "writ_bundle", BUNDLE_VERSION, BUNDLE_VERSION, &version,
			  err) < 0 ||
	    json_only(bundle->source, keys, err) < 0 ||
	    json_want_object(bundle->source, "scopes", &scopes, err) < 0 ||
	    json_want_object(bundle->source, "agents", &agents, err) < 0 ||
	    json_want_object(bundle->source, "functions", &functions, err) < 0 ||
	    json_want_array(bundle->source, "rules", &rules, err) < 0)
		return -1;
	if (read_scopes(scopes, err) < 0 || read_agents(bundle, agents, scopes, err) < 0 ||
	    bundle_functions_read(bundle, functions, err) < 0 ||
	    bundle_known_read(bundle, json_get(bundle->source, "known"), err) < 0 ||
	    bundle_zones_read(bundle, json_get(bundle->source, "zones"), err) < 0)
		return -1;
	if (bundle_rules_read(bundle, rules, err) < 0)
		return -1;
	bundle->is_agent = mem_array(bundle->symbols.count, sizeof(bool));
	for (size_t i = 0; i < bundle->agent_count; i++)
		bundle->is_agent[bundle->agents[i].name] = true;
	return 0;
}

static void read_digest(const char *bytes, size_t len, char digest[SHA256_HEX_LEN + 1])
{
	uint8_t hash[SHA256_LEN];
	struct sha256 state;

	sha256_init(&state);
	for (size_t at = 0; at < len; at += DIGEST_A_TURN) {
		sha256_add(&state, bytes + at, len - at < DIGEST_A_TURN ? len - at : DIGEST_A_TURN);
		give_way();
	}
	sha256_end(&state, hash);
	hex_write(hash, sizeof(hash), digest);
}

int bundle_read(const char *bytes, size_t len, struct bundle **ret_bundle, struct err *err)
{
	CLEANUP(bundle_freep) struct bundle *bundle = mem_alloc(sizeof(*bundle));

	symbols_init(&bundle->symbols);
	if (json_doc_parse(bytes, len, BUNDLE_BYTES_MAX, &bundle->doc, err) < 0 ||
	    read_all(bundle, err) < 0)
		return err_wrap(err, "bundle");
	read_digest(bytes, len, bundle->digest);
	*ret_bundle = TAKE(bundle);
	return 0;
}

void bundle_free(struct bundle *bundle)
{
	if (bundle == NULL)
		return;
	for (size_t i = 0; i < bundle->rule_count; i++) {
		rule_clear(&bundle->rules[i]);
		if (i % RULES_A_TURN == 0)
			give_way();
	}
	for (size_t i = 0; i < bundle->agent_count; i++)
		mem_free(bundle->agents[i].hands_to);
	for (size_t i = 0; i < bundle->function_set_count; i++)
		mem_free(bundle->functions[i].functions.items);
	bundle_world_clear(bundle);
	bundle_index_clear(&bundle->index);
	mem_free(bundle->rules);
	mem_free(bundle->is_agent);
	mem_free(bundle->agents);
	mem_free(bundle->functions);
	symbols_clear(&bundle->symbols);
	json_doc_free(bundle->doc);
	mem_free(bundle);
}

void bundle_freep(struct bundle **bundle)
{
	bundle_free(*bundle);
}

const char *bundle_digest(const struct bundle *bundle)
{
	return bundle->digest;
}

static int compare_name(const void *name, const void *agent)
{
	return strcmp(name, ((const struct bundle_agent *)agent)->def.name);
}

const struct bundle_agent *bundle_agent_find(const struct bundle *bundle, const char *name)
{
	if (name == NULL || bundle->agent_count == 0)
		return NULL;
	return bsearch(name, bundle->agents, bundle->agent_count, sizeof(*bundle->agents),
		       compare_name);
}

bool bundle_is_agent(const struct bundle *bundle, symbol_t name)
{
	return bundle->is_agent[name];
}

const struct agent_def *bundle_agent(const struct bundle *bundle, const char *name)
{
	const struct bundle_agent *agent = bundle_agent_find(bundle, name);

	return agent == NULL ? NULL : &agent->def;
}

size_t bundle_rule_count(const struct bundle *bundle)
{
	return bundle->rule_count;
}

const char *bundle_rule_id(const struct bundle *bundle, size_t index)
{
	return bundle->rules[index].id;
}

const char *bundle_rule_at(const struct bundle *bundle, size_t index)
{
	return bundle->rules[index].at;
}

const struct approval_terms *policy_approval(const struct bundle *bundle, const char *rule)
{
	for (size_t i = 0; i < bundle->rule_count; i++)
		if (bundle->rules[i].effect == EFFECT_ASK && strcmp(bundle->rules[i].id, rule) == 0)
			return &bundle->rules[i].approval;
	return NULL;
}

const char *policy_asking(const struct bundle *bundle, size_t index,
			  const struct approval_terms **ret_terms)
{
	const struct rule *rule = &bundle->rules[index];

	if (rule->effect != EFFECT_ASK)
		return NULL;
	*ret_terms = &rule->approval;
	return rule->id;
}

bool bundle_uses_time(const struct bundle *bundle)
{
	return bundle->uses_time;
}

bool bundle_uses_arguments(const struct bundle *bundle)
{
	return bundle->uses_arguments;
}

size_t bundle_agent_count(const struct bundle *bundle)
{
	return bundle->agent_count;
}

const struct agent_def *bundle_agent_at(const struct bundle *bundle, size_t index)
{
	return index < bundle->agent_count ? &bundle->agents[index].def : NULL;
}
