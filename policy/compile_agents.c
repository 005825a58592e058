/* The agents of a scope file. A name and a URI stand for one agent in the whole workspace. */
#include <string.h>

#include "policy/compile_parts.h"
#include "policy/vocabulary.h"
#include "writ/limits.h"

#define COUNT_MAX 10000
#define TASK_MS_MAX (24LL * 3600 * 1000)
#define TASK_SCAN_MAX (1LL << 50)

static const char *const agent_keys[] = {"id", "role", "token", "per_task", "hands_to", NULL};

/* scheme:rest, without blanks (RFC 3986, as far as an identity needs it). */
static bool is_uri(const char *text)
{
	size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

	return text[0] >= 'a' && text[0] <= 'z' && text[scheme] == ':' &&
	       text[scheme + 1] != '\0' && strpbrk(text, " \"<>\\^`{|}") == NULL;
}

static void compile_uri(struct compile *compile, const struct yaml *agent, const char *what,
			struct json *json)
{
	const struct yaml *node = check_member(&compile->check, agent, what, "id",
					       "id: spiffe://corp.example/agent/name");
	const char *uri = check_text(&compile->check, node, "id");

	if (uri == NULL)
		return;
	if (!is_uri(uri)) {
		check_fail(&compile->check, "bad_value", node,
			   "id must be a URI like spiffe://corp.example/agent/name");
		return;
	}
	json_each(other, compile->agents) if (json_get_str(other, "id") != NULL &&
					      strcmp(json_get_str(other, "id"), uri) == 0)
	{
		check_fail(&compile->check, "duplicate", node,
			   "agent %s has this id already (%s): one agent, one URI", json_key(other),
			   json_get_str(other, "at"));
		return;
	}
	json_set_str(json, "id", uri);
}

static void compile_role(struct compile *compile, const struct yaml *agent, const char *what,
			 struct json *json)
{
	struct words words = {role_words, 0};

	while (role_words[words.count] != NULL)
		words.count++;
	json_set_str(json, "role",
		     check_word(&compile->check,
				check_member(&compile->check, agent, what, "role", "role: query"),
				"role", words));
}

static void compile_token(struct compile *compile, const struct yaml *agent, const char *what,
			  struct json *json)
{
	const struct yaml *node = check_member(&compile->check, agent, what, "token", "token: 5m");
	int64_t ms;

	if (node != NULL && check_duration_ms(&compile->check, node, "the life of a token",
					      WRIT_TOKEN_SECONDS_MAX * 1000LL, &ms))
		json_set_int(json, "token_seconds", ms / 1000);
}

struct budget_key {
	const char *key;
	const char *member; /* of the bundle */
	int64_t fallback;
	int64_t max;
	bool (*read)(struct check *check, const struct yaml *node, const char *what, int64_t max,
		     int64_t *ret);
};

static const struct budget_key budget_keys[] = {
	{"tool_calls", "tool_calls", WRIT_TOOL_CALLS_DEFAULT, COUNT_MAX, check_count},
	{"tool_errors", "tool_errors", WRIT_TOOL_ERRORS_DEFAULT, COUNT_MAX, check_count},
	{"model_calls", "model_calls", WRIT_MODEL_CALLS_DEFAULT, COUNT_MAX, check_count},
	{"attempts", "attempts", WRIT_ATTEMPTS_DEFAULT, COUNT_MAX, check_count},
	{"time", "time_ms", WRIT_TASK_MS_DEFAULT, TASK_MS_MAX, check_duration_ms},
	{"scan", "scan_bytes", WRIT_SCAN_BYTES_DEFAULT, TASK_SCAN_MAX, check_size},
};

static void compile_budget(struct compile *compile, const struct yaml *node, struct json *json)
{
	static const char *const keys[] = {"tool_calls", "tool_errors", "model_calls", "attempts",
					   "time",	 "scan",	NULL};
	struct json *budget = json_object();
	bool given = node != NULL && check_map(&compile->check, node, "per_task", keys);

	for (size_t i = 0; i < ARRAY_LEN(budget_keys); i++) {
		const struct budget_key *key = &budget_keys[i];
		const struct yaml *value = given ? yaml_get(node, key->key) : NULL;
		int64_t number = key->fallback;

		if (value != NULL)
			key->read(&compile->check, value, key->key, key->max, &number);
		json_set_int(budget, key->member, number);
	}
	json_set(json, "per_task", budget);
}

static void remember_agent(struct compile *compile, const struct yaml *key)
{
	size_t count = ++compile->agent_count;

	compile->agent_names =
		mem_grow(compile->agent_names, count * sizeof(*compile->agent_names));
	compile->agent_nodes =
		mem_grow(compile->agent_nodes, count * sizeof(*compile->agent_nodes));
	compile->agent_names[count - 1] = yaml_text(key);
	compile->agent_nodes[count - 1] = key;
}

static void compile_agent(struct compile *compile, const struct yaml *key, const struct yaml *agent,
			  const char *scope)
{
	const char *name = check_name(&compile->check, key, "the name of an agent");
	CLEANUP(mem_freep) char *what = mem_format("agent %s", yaml_text(key));
	CLEANUP(mem_freep) char *at = place_of(key);
	const char *known = json_get_str(json_get(compile->agents, yaml_text(key)), "at");
	struct json *json;

	if (name == NULL)
		return;
	if (strcmp(name, "all") == 0)
		check_fail(&compile->check, "bad_value", key,
			   "an agent cannot be called \"all\", which stands for every agent");
	if (known != NULL) {
		check_fail(&compile->check, "duplicate", key,
			   "agent %s is defined twice, first at %s", name, known);
		return;
	}
	remember_agent(compile, key);
	json = json_object();
	json_set_str(json, "at", at);
	json_set_str(json, "scope", scope);
	json_set(json, "hands_to", json_array());
	if (check_map(&compile->check, agent, what, agent_keys)) {
		compile_uri(compile, agent, what, json);
		compile_role(compile, agent, what, json);
		compile_token(compile, agent, what, json);
		compile_budget(compile, yaml_get(agent, "per_task"), json);
	}
	json_set(compile->agents, name, json);
}

void compile_agents(struct compile *compile, const struct yaml *agents, const char *scope)
{
	if (agents == NULL)
		return;
	if (yaml_is_null(agents) || yaml_kind(agents) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", agents,
			   "agents must be a map from the name of an agent to what it is");
		return;
	}
	for (size_t i = 0; i < yaml_len(agents); i++)
		compile_agent(compile, yaml_key(agents, i), yaml_value(agents, i), scope);
}

/* Only the file that defined the agent adds to it: a second definition is a problem already. */
static bool defines(const struct compile *compile, const struct yaml *key)
{
	for (size_t i = 0; i < compile->agent_count; i++)
		if (compile->agent_nodes[i] == key)
			return true;
	return false;
}

static void hands_to_one(struct compile *compile, const struct yaml *key, const struct yaml *item,
			 struct json *list)
{
	const char *name = check_word(&compile->check, item, "agent",
				      (struct words){compile->agent_names, compile->agent_count});

	if (name == NULL)
		return;
	if (strcmp(name, yaml_text(key)) == 0)
		check_fail(&compile->check, "bad_value", item, "agent %s hands to itself", name);
	json_each(known, list) if (strcmp(json_str(known), name) == 0)
		check_fail(&compile->check, "duplicate", item, "%s stands twice", name);
	json_push_str(list, name);
}

void compile_hands_to(struct compile *compile, const struct yaml *agents)
{
	if (agents == NULL || yaml_kind(agents) != YAML_MAP)
		return;
	for (size_t i = 0; i < yaml_len(agents); i++) {
		const struct yaml *key = yaml_key(agents, i);
		const struct yaml *agent = yaml_value(agents, i);
		const struct yaml *node =
			yaml_kind(agent) == YAML_MAP ? yaml_get(agent, "hands_to") : NULL;
		struct json *list;

		if (node == NULL || !defines(compile, key) ||
		    !check_list(&compile->check, node, "hands_to"))
			continue;
		list = json_array();
		for (size_t n = 0; n < yaml_len(node); n++)
			hands_to_one(compile, key, yaml_at(node, n), list);
		json_set(json_get_mut(compile->agents, yaml_text(key)), "hands_to", list);
	}
}
