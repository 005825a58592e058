/*
 * Runs the cases of a suite through the service, each question as a person would ask it. Verified
 * queries answer none of them (ask's "unverified"), so that an eval measures what is new; and
 * nothing of a case but its question leaves this program, but for sql, which runs as a call of its
 * own.
 */
#ifndef CLI_EVAL_RUN_H
#define CLI_EVAL_RUN_H

#include <signal.h>

#include "cli/eval/suite.h"
#include "cli/trial.h"

enum eval_outcome {
	EVAL_RIGHT,
	EVAL_WRONG,    /* a result, and not the right one: the worst */
	EVAL_ASKED,    /* needs_input where something else was expected */
	EVAL_REFUSED,  /* refused, likewise */
	EVAL_OTHER,    /* failed, too expensive, cut ... */
	EVAL_EXCLUDED, /* the right answer has no row: any empty answer would do */
	EVAL_OUTCOMES
};

struct eval_options {
	int64_t runs;	      /* of each case; the majority counts, a tie is the worse one */
	const char *workflow; /* "agent" or "fixed" */
	/* The service of a second state of the data (second.h); NULL for none. Cases with SQL are
	 * asked there as well, and their worse outcome counts. */
	struct trial *second;
	int64_t seed;			      /* that state's; told in the run */
	const volatile sig_atomic_t *stopped; /* ends the run before the next case; may be NULL */
};

const char *eval_outcome_name(enum eval_outcome outcome);

/* What one answer is worth for a case; gold is the rows that are right, NULL when none are known.
 */
enum eval_outcome eval_judge(const struct json *suite, const struct json *item,
			     const struct json *gold, const struct json *answer);

/* Of a case on both states; where one of them has no right row, the other counts. */
enum eval_outcome eval_worse(enum eval_outcome shipped, enum eval_outcome changed);

/* Called after each case, for showing progress. */
typedef void eval_progress(void *data, size_t done, size_t all, const struct json *result);

/*
 * {"suite","workflow","runs","columns","tolerance","cases":[{"id","question","at","expect",
 * "outcome","status","rows","right","flags","warnings",
 * "wanted_flags","failed_attempts","cost","currency","runs":["right",..],"latency_ms","tool_calls",
 * "model_calls","input_tokens","output_tokens","reason","states":{"shipped","changed"},
 * "state":"changed" when rows, right and the rest are of that
 * state}],"states":1|2,"seed","counts":{..}}. Fails when the service cannot be asked at all, or
 * with ERR_CANCELED.
 */
MUST_CHECK int eval_run(struct trial *trial, const struct json *suite,
			const struct eval_options *options, eval_progress *progress, void *data,
			struct json **ret_run, struct err *err);

#endif
