/* Building the answer object; docs/answer.md is its description. */
#include "orchestrator/answer.h"

#include <string.h>

static const char *const result_members[] = {"columns", "row_count", "rows", "truncated", "types"};

static void copy_member(struct json *to, const char *key, const struct json *value)
{
	if (value != NULL)
		json_set(to, key, json_copy(value));
}

static void set_text(struct json *answer, const char *key, const char *text)
{
	if (text != NULL)
		json_set_str(answer, key, text);
}

/* One unit per column; null where there is none. Free SQL has no declared columns. */
static struct json *units_of(const struct query_outcome *outcome)
{
	struct json *units = json_array();
	size_t count = json_len(json_get(outcome->result, "columns"));

	for (size_t i = 0; i < count; i++)
		json_push(units, json_new_str(json_get_str(json_at(outcome->columns, i), "unit")));
	return units;
}

static void add_result(struct json *answer, const struct query_outcome *outcome)
{
	for (size_t i = 0; i < ARRAY_LEN(result_members); i++)
		copy_member(answer, result_members[i],
			    json_get(outcome->result, result_members[i]));
	copy_member(answer, "bytes_scanned", json_get(outcome->result, "bytes_scanned"));
	json_set(answer, "units", units_of(outcome));
	if (outcome->period != NULL)
		copy_member(answer, "period", outcome->period);
	else
		json_set_null(answer, "period");
}

static struct json *usage_of(const struct query_outcome *outcome)
{
	struct json *usage = json_object();

	json_set_str(usage, "model", "builtin");
	json_set_int(usage, "model_calls", 0);
	json_set_int(usage, "tool_calls", outcome->tool_calls);
	json_set_int(usage, "bytes_scanned", outcome->bytes_scanned);
	json_set_int(usage, "input_tokens", 0);
	json_set_int(usage, "output_tokens", 0);
	return usage;
}

static void copy_array(struct json *answer, const char *key, const struct json *value)
{
	json_set(answer, key, value != NULL ? json_copy(value) : json_array());
}

struct json *answer_from_outcome(const struct query_outcome *outcome)
{
	struct json *answer = json_object();

	json_set_str(answer, "status", outcome->status);
	set_text(answer, "reason", outcome->reason);
	set_text(answer, "hint", outcome->hint);
	set_text(answer, "approval", outcome->approval);
	copy_member(answer, "question", outcome->question);
	set_text(answer, "sql", outcome->sql);
	if (outcome->result != NULL)
		add_result(answer, outcome);
	copy_array(answer, "definitions", outcome->definitions);
	copy_array(answer, "flags", outcome->flags);
	copy_array(answer, "attempts", outcome->attempts);
	copy_member(answer, "plan", outcome->plan);
	copy_member(answer, "query", outcome->query);
	if (outcome->seeded)
		json_set_bool(answer, "seeded", true);
	json_set(answer, "usage", usage_of(outcome));
	return answer;
}

struct json *answer_from_failure(const char *status, const char *reason, const char *hint)
{
	struct query_outcome outcome = {.status = status, .reason = reason, .hint = hint};

	return answer_from_outcome(&outcome);
}

struct json *answer_facts(const struct query_outcome *outcome)
{
	struct json *facts = json_object();

	copy_member(facts, "result", outcome->result);
	copy_member(facts, "columns", outcome->columns);
	copy_member(facts, "words", outcome->words);
	copy_member(facts, "period", outcome->period);
	copy_member(facts, "definitions", outcome->definitions);
	copy_member(facts, "flags", outcome->flags);
	return facts;
}

void answer_add_flag(struct json *answer, const char *code, const char *severity,
		     const char *message)
{
	struct json *flag = json_object();

	json_set_str(flag, "code", code);
	json_set_str(flag, "severity", severity);
	json_set_str(flag, "message", message);
	json_push(json_get_mut(answer, "flags"), flag);
}

struct json *answer_result(const struct json *answer)
{
	struct json *result = json_object();

	for (size_t i = 0; i < ARRAY_LEN(result_members); i++)
		copy_member(result, result_members[i], json_get(answer, result_members[i]));
	return result;
}
