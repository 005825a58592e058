/* The terms of a rule: how often and how many at once (allow), who approves and for how long
 * (ask). */
#include <string.h>

#include "policy/compile_parts.h"

#define RATES_MAX 4u
#define RUNNING_MAX 10000
#define CALLS_MAX 1000000
#define PER_MS_MAX (24LL * 3600 * 1000)
#define APPROVAL_MS_MAX (7LL * 24 * 3600 * 1000)

static struct json *compile_each(struct compile *compile, const struct yaml *node)
{
	static const char *const words[] = {"agent", "user", "tool"};
	struct json *list = json_array();

	if (node == NULL || is_word(node, "together"))
		return list;
	if (!is_list_not_word(compile, node, "each", "together"))
		return list;
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *word = check_word(&compile->check, yaml_at(node, i), "each",
					      (struct words){words, ARRAY_LEN(words)});

		if (word != NULL)
			push_name(compile, list, yaml_at(node, i), word, false);
	}
	return list;
}

static bool positive(struct compile *compile, const struct yaml *node, const char *what,
		     int64_t max, int64_t *ret)
{
	if (yaml_want_int(node, 1, max, ret, NULL) == 0)
		return true;
	check_fail(&compile->check, "bad_value", node, "%s must be a whole number from 1 to %lld",
		   what, (long long)max);
	return false;
}

static struct json *compile_rate(struct compile *compile, const struct yaml *node)
{
	static const char *const keys[] = {"calls", "per", "running", "each", NULL};
	static const char what[] = "a limit";
	struct check *check = &compile->check;
	const struct yaml *running, *calls, *per;
	struct json *json;
	int64_t number, ms;

	if (!check_map(check, node, what, keys))
		return NULL;
	running = yaml_get(node, "running");
	calls = yaml_get(node, "calls");
	json = json_object();
	json_set(json, "each",
		 compile_each(compile, check_member(check, node, what, "each",
						    "each: [user], or each: together")));
	if ((running == NULL) == (calls == NULL)) {
		check_fail(check, "bad_value", node,
			   "a limit says either calls and per ({calls: 30, per: 1m, each: [user]}) "
			   "or running ({running: 2, each: [agent]})");
		return json;
	}
	if (running != NULL && positive(compile, running, "running", RUNNING_MAX, &number))
		json_set_int(json, "running", number);
	if (running != NULL && yaml_get(node, "per") != NULL)
		check_fail(check, "bad_value", yaml_get(node, "per"),
			   "per belongs to calls; running counts what runs at the same time");
	if (calls == NULL)
		return json;
	per = check_member(check, node, what, "per", "per: 1m");
	if (positive(compile, calls, "calls", CALLS_MAX, &number))
		json_set_int(json, "calls", number);
	if (per != NULL && check_duration_ms(check, per, "per", PER_MS_MAX, &ms))
		json_set_int(json, "per_ms", ms);
	return json;
}

static void compile_rates(struct compile *compile, const struct yaml *node, const char *effect,
			  struct json *json)
{
	struct json *list;

	if (node == NULL)
		return;
	if (strcmp(effect, "allow") != 0) {
		check_fail(&compile->check, "unknown_key", node,
			   "limits belong to rules that allow: they bound what is allowed");
		return;
	}
	if (!check_list(&compile->check, node, "limits"))
		return;
	if (yaml_len(node) > RATES_MAX)
		check_fail(&compile->check, "over_limit", node, "at most %u limits in one rule",
			   RATES_MAX);
	list = json_array();
	for (size_t i = 0; i < yaml_len(node); i++) {
		struct json *rate = compile_rate(compile, yaml_at(node, i));

		if (rate != NULL)
			json_push(list, rate);
	}
	json_set(json, "limits", list);
}

static struct json *compile_approvers(struct compile *compile, const struct yaml *node)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();

	if (node == NULL || !check_list(&compile->check, node, "by"))
		return list;
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		const char *text = is_word(items.nodes[i], "owner")
					   ? "owner"
					   : user_text(compile, items.nodes[i]);

		if (text != NULL)
			push_name(compile, list, items.nodes[i], text, false);
	}
	return list;
}

static void compile_approval(struct compile *compile, const struct yaml *rule, const char *effect,
			     struct json *json)
{
	static const char *const keys[] = {"by", "for", "own", NULL};
	static const char what[] = "approval";
	struct check *check = &compile->check;
	const struct yaml *node = yaml_get(rule, what);
	const struct yaml *life, *own_node;
	struct json *approval;
	bool own = false;
	int64_t ms;

	if (strcmp(effect, "ask") != 0) {
		if (node != NULL)
			check_fail(check, "unknown_key", node,
				   "approval belongs to rules whose effect is ask");
		return;
	}
	node = check_member(check, rule, "an ask rule", what,
			    "approval: {by: [group:leads], for: 1h}");
	if (node == NULL || !check_map(check, node, what, keys))
		return;
	approval = json_object();
	json_set(approval, "by",
		 compile_approvers(compile, check_member(check, node, what, "by",
							 "by: [owner, group:leads]")));
	life = check_member(check, node, what, "for", "for: 1h");
	if (life != NULL && check_duration_ms(check, life, "for", APPROVAL_MS_MAX, &ms))
		json_set_int(approval, "for_ms", ms);
	own_node = yaml_get(node, "own");
	if (own_node != NULL && yaml_want_bool(own_node, &own, NULL) < 0)
		check_fail(check, "bad_value", own_node, "own must be true or false");
	json_set_bool(approval, "own", own);
	json_set(json, what, approval);
}

void compile_terms(struct compile *compile, const struct yaml *rule, const char *effect,
		   struct json *json)
{
	compile_rates(compile, yaml_get(rule, "limits"), effect, json);
	compile_approval(compile, rule, effect, json);
}
