/* See prove.h. */
#include "policy/prove.h"

#include <string.h>

#include "policy/call_spec.h"
#include "policy/compare.h"
#include "policy/source.h"

void policy_proof_clear(struct policy_proof *proof)
{
	json_free(proof->invariants);
	*proof = (struct policy_proof){0};
}

static bool is_invariant(const struct json *rule)
{
	static const char prefix[] = SCOPE_INVARIANTS ":";
	const char *at = json_get_str(rule, "at");

	return at != NULL && strncmp(at, prefix, strlen(prefix)) == 0;
}

/* The policy with this one invariant. */
static int with_rule(const struct json *extended, const struct json *rule,
		     struct bundle **ret_bundle, struct err *err)
{
	CLEANUP(json_freep) struct json *json = json_copy(extended);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct json *rules = json_array();

	json_each(other, json_get(extended, "rules")) if (other == rule || !is_invariant(other))
		json_push(rules, json_copy(other));
	json_set(json, "rules", rules);
	json_write_canonical(json, &bytes);
	if (bundle_read(bytes.bytes, bytes.len, ret_bundle, err) < 0)
		return err_wrap(err, "invariant %s", json_get_str(rule, "id"));
	return 0;
}

static void set_counterexample(struct json *result, const struct difference *difference)
{
	struct json *verdict = json_object();

	json_set_str(verdict, "rule", difference->more.rule);
	json_set_str(verdict, "at", difference->more.at);
	json_set_str(verdict, "reason", difference->more.reason);
	json_set(result, "call", json_copy(difference->call));
	json_set(result, "verdict", verdict);
}

/* True when this agent with this tool settles it: the invariant is broken. */
static bool try_pair(const struct bundle *bundle, const struct bundle *stricter, const char *agent,
		     const char *tool, const char **ret_not_proven, struct json *result)
{
	struct differences found;
	bool broken;

	policy_wider(stricter, bundle, agent, tool, &found);
	broken = found.count > 0;
	if (broken)
		set_counterexample(result, &found.items[0]);
	else if (!found.complete)
		*ret_not_proven = found.not_proven;
	differences_clear(&found);
	return broken;
}

static const char *try_all(const struct bundle *bundle, const struct bundle *stricter,
			   struct json *result)
{
	size_t count;
	CLEANUP(mem_freep) const char **tools = compare_tools(bundle, stricter, &count);
	const char *not_proven = NULL;

	for (size_t a = 0; a < bundle_agent_count(bundle); a++)
		for (size_t t = 0; t < count; t++)
			if (try_pair(bundle, stricter, bundle_agent_at(bundle, a)->name, tools[t],
				     &not_proven, result))
				return "broken";
	if (not_proven == NULL)
		return "proven";
	json_set_str(result, "why", not_proven);
	return "not_proven";
}

static int prove_one(const struct bundle *bundle, const struct json *extended,
		     const struct json *rule, struct policy_proof *proof, struct err *err)
{
	CLEANUP(bundle_freep) struct bundle *stricter = NULL;
	const char *effect = json_get_str(rule, "effect");
	struct json *result;
	const char *state;

	if (effect == NULL || strcmp(effect, "allow") == 0)
		return err_set(err, ERR_INVALID,
			       "%s: invariant %s must deny or ask: it says what no other rule may "
			       "allow",
			       json_get_str(rule, "at"), json_get_str(rule, "id"));
	if (with_rule(extended, rule, &stricter, err) < 0)
		return -1;
	result = json_object();
	json_set_str(result, "id", json_get_str(rule, "id"));
	json_set_str(result, "at", json_get_str(rule, "at"));
	state = try_all(bundle, stricter, result);
	json_set_str(result, "state", state);
	json_push(proof->invariants, result);
	proof->proven += strcmp(state, "proven") == 0;
	proof->broken += strcmp(state, "broken") == 0;
	proof->not_proven += strcmp(state, "not_proven") == 0;
	return 0;
}

int policy_prove(const struct bundle *bundle, const struct json *extended,
		 struct policy_proof *ret_proof, struct err *err)
{
	struct policy_proof proof = {.invariants = json_array()};

	json_each(rule, json_get(extended, "rules"))
	{
		if (!is_invariant(rule) || prove_one(bundle, extended, rule, &proof, err) == 0)
			continue;
		policy_proof_clear(&proof);
		return -1;
	}
	*ret_proof = proof;
	return 0;
}

static void write_broken(const struct json *result, struct buf *out)
{
	struct call_spec *spec = NULL;

	buf_addf(out, "broken      %s (%s)\n            ", json_get_str(result, "id"),
		 json_get_str(result, "at"));
	if (call_spec_read(json_get(result, "call"), &spec, NULL) == 0)
		call_spec_say(call_spec_facts(spec), out);
	call_spec_free(spec);
	buf_addf(out, "\n            %s\n", json_get_str(json_get(result, "verdict"), "reason"));
}

void policy_proof_write(const struct policy_proof *proof, bool all, struct buf *out)
{
	json_each(result, proof->invariants)
	{
		const char *state = json_get_str(result, "state");

		if (strcmp(state, "broken") == 0)
			write_broken(result, out);
		else if (strcmp(state, "not_proven") == 0)
			buf_addf(out, "not proven  %s (%s): %s\n", json_get_str(result, "id"),
				 json_get_str(result, "at"), json_get_str(result, "why"));
		else if (all)
			buf_addf(out, "proven      %s (%s)\n", json_get_str(result, "id"),
				 json_get_str(result, "at"));
	}
}
