/*
 * Constraints on attributes and arguments, how often a rule may be used, and who may approve.
 * Strict like bundle.c; a member that is absent asks nothing.
 */
#include <string.h>

#include "policy/bundle_model.h"
#include "policy/constraint.h"

#define RATES_PER_RULE_MAX 4u
#define APPROVERS_MAX 64u

static int want_matchers(const struct json *object, const char *key, struct err *err)
{
	size_t count = 0;

	if (json_type(object) != JSON_OBJECT || json_len(object) == 0 ||
	    json_len(object) > RULE_MATCHERS_MAX)
		return err_set(err, ERR_INVALID, "%s must be an object of 1 to %u constraints", key,
			       RULE_MATCHERS_MAX);
	json_each(constraint,
		  object) if (constraint_valid(constraint, RULE_MATCHERS_MAX, &count, err) <
			      0) return err_wrap(err, "%s.%s", key, json_key(constraint));
	return 0;
}

static int read_attributes(const struct json *object, struct rule *rule, struct err *err)
{
	if (object == NULL)
		return 0;
	if (want_matchers(object, "attributes", err) < 0)
		return -1;
	rule->attributes = mem_array(json_len(object), sizeof(*rule->attributes));
	json_each(constraint, object) rule->attributes[rule->attribute_count++] =
		(struct rule_attribute){json_key(constraint), matcher_new(constraint)};
	return 0;
}

static int read_arguments(const struct json *object, struct rule *rule, struct err *err)
{
	if (object == NULL)
		return 0;
	if (want_matchers(object, "arguments", err) < 0)
		return -1;
	if (rule->tools_all)
		return err_set(err, ERR_INVALID, "arguments need tools that are named");
	rule->arguments = mem_array(json_len(object), sizeof(*rule->arguments));
	json_each(constraint, object)
	{
		struct rule_argument *argument = &rule->arguments[rule->argument_count];

		if (json_path_read(json_key(constraint), &argument->path, err) < 0)
			return err_wrap(err, "arguments.%s", json_key(constraint));
		argument->matcher = matcher_new(constraint);
		rule->argument_count++;
	}
	return 0;
}

int bundle_matchers_read(const struct json *json, struct rule *rule, struct err *err)
{
	if (rule->phase == RULE_LISTING && json_get(json, "arguments") != NULL)
		return err_set(err, ERR_INVALID, "arguments are unknown when tools are listed");
	if (read_attributes(json_get(json, "attributes"), rule, err) < 0)
		return -1;
	return read_arguments(json_get(json, "arguments"), rule, err);
}

static int read_each(const struct json *list, unsigned *ret_each, struct err *err)
{
	static const struct {
		const char *word;
		enum rate_each bit;
	} words[] = {
		{"agent", RATE_EACH_AGENT}, {"user", RATE_EACH_USER}, {"tool", RATE_EACH_TOOL}};
	unsigned each = 0;

	if (json_type(list) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "each must be a list");
	json_each(item, list)
	{
		unsigned bit = 0;

		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (json_str(item) != NULL && strcmp(json_str(item), words[i].word) == 0)
				bit = words[i].bit;
		if (bit == 0)
			return err_set(err, ERR_INVALID, "each may name agent, user and tool");
		each |= bit;
	}
	*ret_each = each;
	return 0;
}

static int read_rate(const struct json *json, struct rule_limit *rate, struct err *err)
{
	static const char *const keys[] = {"calls", "each", "per_ms", "running", NULL};

	if (json_only(json, keys, err) < 0 ||
	    read_each(json_get(json, "each"), &rate->each, err) < 0)
		return -1;
	if (json_get(json, "running") != NULL)
		return json_want_int(json, "running", 1, 10000, &rate->running, err);
	if (json_want_int(json, "calls", 1, 1000000, &rate->calls, err) < 0)
		return -1;
	return json_want_int(json, "per_ms", 1000, 24LL * 3600 * 1000, &rate->per_ms, err);
}

static int read_rates(const struct json *list, struct rule *rule, struct err *err)
{
	if (list == NULL)
		return 0;
	if (rule->effect != EFFECT_ALLOW)
		return err_set(err, ERR_INVALID, "only an allow rule has limits");
	if (json_len(list) == 0 || json_len(list) > RATES_PER_RULE_MAX)
		return err_set(err, ERR_INVALID, "limits must be a list of 1 to %u",
			       RATES_PER_RULE_MAX);
	rule->rates = mem_array(json_len(list), sizeof(*rule->rates));
	json_each(json, list)
	{
		struct rule_limit *rate = &rule->rates[rule->rate_count];

		*rate = (struct rule_limit){.rule = rule->id, .index = rule->rate_count++};
		if (read_rate(json, rate, err) < 0)
			return err_wrap(err, "limits");
	}
	return 0;
}

static bool is_approver(const char *text)
{
	static const char *const prefixes[] = {"user:", "group:", "tenant:"};

	if (text == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return text[strlen(prefixes[i])] != '\0';
	return strcmp(text, "owner") == 0;
}

/* Without terms the owner of the workspace approves, within the hour, and not a call of their own
 * agent: what the compiler writes when a bundle of an earlier version is read. */
#define APPROVAL_MS_DEFAULT 3600000

static int read_approval(const struct json *json, struct rule *rule, struct err *err)
{
	static const char *const keys[] = {"by", "for_ms", "own", NULL};
	const struct json *by;

	if (rule->effect != EFFECT_ASK)
		return json == NULL ? 0
				    : err_set(err, ERR_INVALID, "only an ask rule has an approval");
	rule->approvers = mem_array(json_len(json_get(json, "by")) + 1, sizeof(*rule->approvers));
	rule->approval = (struct approval_terms){{rule->approvers, 1}, APPROVAL_MS_DEFAULT, false};
	rule->approvers[0] = "owner";
	if (json == NULL)
		return 0;
	if (json_only(json, keys, err) < 0 || json_want_array(json, "by", &by, err) < 0 ||
	    json_want_int(json, "for_ms", 1000, 7LL * 24 * 3600 * 1000, &rule->approval.for_ms,
			  err) < 0)
		return err_wrap(err, "approval");
	if (json_type(json_get(json, "own")) != JSON_BOOL)
		return err_set(err, ERR_INVALID, "approval: own must be true or false");
	rule->approval.own = json_get_bool(json, "own", false);
	rule->approval.by.count = 0;
	json_each(item, by)
	{
		if (!is_approver(json_str(item)) || rule->approval.by.count == APPROVERS_MAX)
			return err_set(err, ERR_INVALID,
				       "approval: by must list owner, user:NAME, group:NAME or "
				       "tenant:NAME");
		rule->approvers[rule->approval.by.count++] = json_str(item);
	}
	return rule->approval.by.count > 0 ? 0
					   : err_set(err, ERR_INVALID, "approval: by names nobody");
}

int bundle_terms_read(const struct json *json, struct rule *rule, struct err *err)
{
	if (rule->phase == RULE_LISTING && rule->effect == EFFECT_ASK)
		return err_set(err, ERR_INVALID, "an ask rule asks about calls, not about lists");
	if (rule->phase == RULE_LISTING && rule->effect == EFFECT_DENY &&
	    rule->data.kind != DATA_ALL)
		return err_set(err, ERR_INVALID, "data is unknown when tools are listed");
	if (read_rates(json_get(json, "limits"), rule, err) < 0)
		return -1;
	return read_approval(json_get(json, "approval"), rule, err);
}
