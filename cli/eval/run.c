/* One session, one question after the other. What can fail: reaching the service; a case that fails
 * is a result like any other. */
#include "cli/eval/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask_service.h"
#include "cli/eval/compare.h"

static const char *const names[EVAL_OUTCOMES] = {"right",   "wrong", "asked",
						 "refused", "other", "excluded"};

const char *eval_outcome_name(enum eval_outcome outcome)
{
	return names[outcome];
}

static enum eval_outcome of_status(const char *status)
{
	if (strcmp(status, "completed") == 0)
		return EVAL_WRONG;
	if (strcmp(status, "needs_input") == 0)
		return EVAL_ASKED;
	return strcmp(status, "refused") == 0 ? EVAL_REFUSED : EVAL_OTHER;
}

enum eval_outcome eval_judge(const struct json *suite, const struct json *item,
			     const struct json *gold, const struct json *answer)
{
	const char *status = json_get_str(answer, "status");
	const char *expect = json_get_str(item, "expect");
	const char *columns = json_get_str(suite, "columns");
	const struct compare_rules rules = {
		.ordered = json_get_bool(item, "ordered", false),
		.extra = columns && strcmp(columns, "extra") == 0,
		.tolerance = json_real(json_get(suite, "tolerance")),
	};

	if (!status)
		return EVAL_OTHER;
	if (strcmp(status, expect) != 0)
		return of_status(status);
	if (strcmp(expect, "completed") != 0)
		return EVAL_RIGHT;
	return compare_rows(gold, json_get(answer, "rows"), &rules) ? EVAL_RIGHT : EVAL_WRONG;
}

/* The rows that are right: written down, or what the case's SQL gives. NULL when neither is there
 * or the SQL failed, which err says. */
static struct json *gold_of(struct trial *trial, const struct json *item, struct err *err)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *arguments;

	if (json_get(item, "rows"))
		return json_copy(json_get(item, "rows"));
	if (!json_get_str(item, "sql"))
		return NULL;
	arguments = json_object();
	json_set_str(arguments, "sql", json_get_str(item, "sql"));
	json_set_int(arguments, "rows", 500);
	if (trial_call(trial, "run_query", arguments, &result, err) < 0)
		return NULL;
	return json_copy(json_get(result, "rows"));
}

static int ask_one(struct trial *trial, const char *question, const char *workflow,
		   const char *after, struct json **ret_answer, struct err *err)
{
	struct json *params = json_object();
	int asked;

	json_set_str(params, "question", question);
	json_set_str(params, "workflow", workflow);
	json_set_bool(params, "unverified", true);
	if (after)
		json_set_str(params, "after", after);
	if (trial->open)
		return client_call(trial->service.client, "ask", params, NULL, NULL, ret_answer,
				   NULL, err);
	asked = service_first_call(trial->workspace, SERVICE_ABSENT_OK, &trial->service, "ask",
				   params, NULL, NULL, ret_answer, err);
	json_free(params);
	trial->open = asked == 0;
	return asked;
}

/* The question in its conversation: what stands before it is asked first. Of an answer that cannot
 * be followed up, the question stands alone. */
static int ask(struct trial *trial, const struct json *item, const char *workflow,
	       struct json **ret_answer, struct err *err)
{
	CLEANUP(json_freep) struct json *before = NULL;

	json_each(question, json_get(item, "after"))
	{
		struct json *answer = NULL;
		const char *after = json_get(before, "query") ? json_get_str(before, "task") : NULL;

		if (ask_one(trial, json_str(question), workflow, after, &answer, err) < 0)
			return -1;
		json_free(before);
		before = answer;
	}
	return ask_one(trial, json_get_str(item, "question"), workflow,
		       json_get(before, "query") ? json_get_str(before, "task") : NULL, ret_answer,
		       err);
}

static struct json *flag_codes(const struct json *answer, bool notes)
{
	struct json *codes = json_array();

	json_each(flag, json_get(answer, "flags"))
	{
		const char *severity = json_get_str(flag, "severity");

		if (notes || (severity && strcmp(severity, "note") != 0))
			json_push_str(codes, json_get_str(flag, "code"));
	}
	return codes;
}

static void add_cost(const struct json *answer, struct json *result)
{
	const struct json *cost = json_get(answer, "cost");
	const char *amount = json_get_str(cost, "amount");

	if (!amount)
		return;
	json_set_real(result, "cost", json_real(json_get(result, "cost")) + strtod(amount, NULL));
	json_set_str(result, "currency", json_get_str(cost, "currency"));
}

static void add_usage(const struct json *answer, struct json *result)
{
	static const char *const keys[] = {"tool_calls", "model_calls", "input_tokens",
					   "output_tokens"};
	const struct json *usage = json_get(answer, "usage");

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		json_set_int(result, keys[i],
			     json_get_int(result, keys[i], 0) + json_get_int(usage, keys[i], 0));
}

/* The outcome of most runs; of equally many the worse. */
static enum eval_outcome majority(const size_t counts[EVAL_OUTCOMES])
{
	static const enum eval_outcome worst_first[] = {EVAL_WRONG, EVAL_OTHER, EVAL_REFUSED,
							EVAL_ASKED, EVAL_RIGHT, EVAL_EXCLUDED};
	enum eval_outcome best = EVAL_WRONG;
	size_t most = 0;

	for (size_t i = 0; i < ARRAY_LEN(worst_first); i++) {
		if (counts[worst_first[i]] <= most)
			continue;
		most = counts[worst_first[i]];
		best = worst_first[i];
	}
	return best;
}

static void keep_answer(const struct json *answer, const struct json *gold, struct json *result)
{
	static const char *const kept[] = {"status", "reason", "rows", "sql"};

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_get(answer, kept[i]))
			json_set(result, kept[i], json_copy(json_get(answer, kept[i])));
	json_set(result, "flags", flag_codes(answer, true));
	json_set(result, "warnings", flag_codes(answer, false));
	json_set_int(result, "failed_attempts", (int64_t)json_len(json_get(answer, "attempts")));
	if (gold)
		json_set(result, "right", json_copy(gold));
}

/* All runs of a case on one state; result is filled as eval_run() says. */
static int run_state(struct trial *trial, const struct json *suite, const struct json *item,
		     const struct eval_options *options, struct json *result,
		     enum eval_outcome *ret_outcome, struct err *err)
{
	size_t counts[EVAL_OUTCOMES] = {0};
	struct err gold_err = {0};
	CLEANUP(json_freep) struct json *gold = gold_of(trial, item, &gold_err);
	int64_t start_us = clock_mono_us();

	json_set(result, "runs", json_array());
	if (!gold && json_get_str(item, "sql")) {
		json_set_str(result, "reason", gold_err.text);
		*ret_outcome = EVAL_OTHER;
		return 0;
	}
	if (gold && json_len(gold) == 0) {
		json_set_str(result, "reason", "the right answer has no row");
		*ret_outcome = EVAL_EXCLUDED;
		return 0;
	}
	for (int64_t run = 0; run < options->runs; run++) {
		CLEANUP(json_freep) struct json *answer = NULL;
		enum eval_outcome outcome;

		if (ask(trial, item, options->workflow, &answer, err) < 0)
			return -1;
		outcome = eval_judge(suite, item, gold, answer);
		counts[outcome]++;
		json_push_str(json_get_mut(result, "runs"), names[outcome]);
		add_usage(answer, result);
		add_cost(answer, result);
		keep_answer(answer, gold, result);
	}
	json_set_real(result, "latency_ms",
		      (double)(clock_mono_us() - start_us) / 1000.0 / (double)options->runs);
	*ret_outcome = majority(counts);
	return 0;
}

enum eval_outcome eval_worse(enum eval_outcome shipped, enum eval_outcome changed)
{
	size_t counts[EVAL_OUTCOMES] = {0};

	if (changed == EVAL_EXCLUDED || changed == shipped)
		return shipped;
	if (shipped == EVAL_EXCLUDED)
		return changed;
	counts[shipped] = counts[changed] = 1;
	return majority(counts);
}

/* The same on changed data: what was right there by luck is not any more. What is told of the case
 * is told of the state where it is worse; times and calls are always those of the shipped one. */
static int run_second(const struct json *suite, const struct json *item,
		      const struct eval_options *options, enum eval_outcome shipped,
		      struct json *result, enum eval_outcome *ret_outcome, struct err *err)
{
	static const char *const told[] = {"status", "reason", "rows",	  "right",
					   "sql",    "flags",  "warnings"};
	CLEANUP(json_freep) struct json *second = json_object();
	struct json *states = json_object();
	enum eval_outcome changed;

	if (run_state(options->second, suite, item, options, second, &changed, err) < 0) {
		json_free(states);
		return err_wrap(err, "second state");
	}
	json_set_str(states, "shipped", names[shipped]);
	json_set_str(states, "changed", names[changed]);
	json_set(result, "states", states);
	*ret_outcome = eval_worse(shipped, changed);
	if (*ret_outcome == shipped)
		return 0;
	json_set_str(result, "state", "changed");
	for (size_t i = 0; i < ARRAY_LEN(told); i++)
		if (json_get(second, told[i]))
			json_set(result, told[i], json_copy(json_get(second, told[i])));
	return 0;
}

static int run_case(struct trial *trial, const struct json *suite, const struct json *item,
		    const struct eval_options *options, struct json *result, struct err *err)
{
	enum eval_outcome outcome;

	if (run_state(trial, suite, item, options, result, &outcome, err) < 0)
		return -1;
	if (options->second && json_get_str(item, "sql") &&
	    run_second(suite, item, options, outcome, result, &outcome, err) < 0)
		return -1;
	json_set_str(result, "outcome", names[outcome]);
	return 0;
}

static struct json *case_result(const struct json *item)
{
	static const char *const kept[] = {"id", "question", "at", "expect", "after"};
	struct json *result = json_object();

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (json_get(item, kept[i]))
			json_set(result, kept[i], json_copy(json_get(item, kept[i])));
	if (json_get(item, "flags"))
		json_set(result, "wanted_flags", json_copy(json_get(item, "flags")));
	return result;
}

static void count(struct json *run)
{
	struct json *counts = json_object();

	for (size_t i = 0; i < EVAL_OUTCOMES; i++)
		json_set_int(counts, names[i], 0);
	json_each(item, json_get(run, "cases"))
	{
		const char *outcome = json_get_str(item, "outcome");

		json_set_int(counts, outcome, json_get_int(counts, outcome, 0) + 1);
	}
	json_set(run, "counts", counts);
}

int eval_run(struct trial *trial, const struct json *suite, const struct eval_options *options,
	     eval_progress *progress, void *data, struct json **ret_run, struct err *err)
{
	CLEANUP(json_freep) struct json *run = json_object();
	struct json *cases = json_array();
	size_t done = 0, all = json_len(json_get(suite, "cases"));

	json_set_str(run, "suite", json_get_str(suite, "suite"));
	json_set_str(run, "workflow", options->workflow);
	json_set_int(run, "runs", options->runs);
	json_set_str(run, "columns", json_get_str(suite, "columns"));
	json_set(run, "tolerance", json_copy(json_get(suite, "tolerance")));
	json_set_int(run, "states", options->second ? 2 : 1);
	if (options->second)
		json_set_int(run, "seed", options->seed);
	json_set(run, "cases", cases);
	cases = json_get_mut(run, "cases");
	json_each(item, json_get(suite, "cases"))
	{
		struct json *result = case_result(item);

		if (options->stopped && *options->stopped) {
			json_free(result);
			return err_set(err, ERR_CANCELED, "stopped");
		}
		json_push(cases, result);
		if (run_case(trial, suite, item, options, result, err) < 0)
			return err_wrap(err, "%s", json_get_str(item, "at"));
		if (progress)
			progress(data, ++done, all, result);
	}
	count(run);
	*ret_run = TAKE(run);
	return 0;
}
