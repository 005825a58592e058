/*
 * Tests of a policy: the files of scopes/tests/, written by its author (docs/policy-tools.md). A
 * case says what is given (agents, users, calls) and what is expected; every combination of what is
 * given is one check. Reading links libyaml; running is pure and asks the evaluator itself.
 */
#ifndef POLICY_TESTS_H
#define POLICY_TESTS_H

#include "base/problems.h"
#include "policy/call_spec.h"

struct expectation { /* NULL, or -1: not said, so anything will do */
	enum effect effect;
	const char *rule; /* "" for none */
	const char *code;
	struct call_limits limits;
};

struct policy_check_case { /* one combination */
	char *name;	   /* "sales people read orders [sales-query-01, anna, count orders]" */
	char *at;	   /* scopes/tests/sales.yaml:12 */
	struct call_spec *spec;
	struct expectation expect; /* borrowed from the tests' memory */
};

struct policy_tests {
	struct policy_check_case *cases; /* in the order of files and of writing */
	size_t count;
	struct json *memory; /* owns the texts of expectations */
};

#define POLICY_TEST_CASES_MAX 100000u
#define POLICY_TEST_FILE_MAX (4u << 20)

/*
 * Reads every file of scopes/tests/ that ends in .yaml. Mistakes become problems (codes as of scope
 * files: unknown_key, missing_key, wrong_type, unknown_word, bad_value); with an error among them
 * the cases are not complete. A workspace without tests has none. bundle: agents and rules that
 * tests may name.
 */
MUST_CHECK int policy_tests_read(int workspace_fd, const struct bundle *bundle,
				 struct policy_tests *ret_tests, struct problems *problems,
				 struct err *err);
void policy_tests_clear(struct policy_tests *tests);

struct case_result {
	struct verdict verdict;
	bool passed;
	char *wrong; /* what differs, for people; NULL when passed */
};

/*
 * What the cases show of the rules, by the trace of the very decisions. A rule is shown when a case
 * meets all of its conditions; a condition is shown when in a case it alone fails, so that the
 * outcome hangs on it. What cannot fail (agents: all, users: everyone) has nothing to show.
 */
struct condition_cover {
	const char *kind; /* of condition.h */
	char *at;
	char *want;
	size_t alone; /* cases in which it alone fails */
};

struct rule_cover {
	const char *rule; /* of the bundle, as at and kind */
	const char *at;
	size_t applies; /* cases that meet it whole */
	struct condition_cover *conditions;
	size_t condition_count;
};

struct tests_cover {
	struct rule_cover *rules;
	size_t rule_count;
	size_t shown; /* of what there is to show */
	size_t total;
};

struct tests_result {
	struct case_result *cases; /* as the tests' */
	size_t count;
	size_t failed;
	struct tests_cover cover;
};

/* Whole per cent, never rounded up to 100. */
unsigned tests_cover_percent(const struct tests_cover *cover);
struct json *tests_cover_json(const struct tests_cover *cover);
/* What is not shown, for people; nothing when all is. */
void tests_cover_write(const struct tests_cover *cover, struct buf *out);

/* tests_cover.c, for policy_tests_run() */
void tests_cover_begin(const struct bundle *bundle, struct tests_cover *cover);
void tests_cover_add(struct tests_cover *cover, const struct bundle *bundle,
		     const struct policy_trace *trace);
void tests_cover_end(struct tests_cover *cover);
void tests_cover_clear(struct tests_cover *cover);

void policy_tests_run(const struct bundle *bundle, const struct policy_tests *tests,
		      struct tests_result *ret_result);
void tests_result_clear(struct tests_result *result);

/* What came out, in the ways people and programs read it. */
void tests_write_tap(const struct policy_tests *tests, const struct tests_result *result,
		     struct buf *out); /* version 14 */
void tests_write_junit(const struct policy_tests *tests, const struct tests_result *result,
		       struct buf *out);
struct json *tests_json(const struct policy_tests *tests, const struct tests_result *result);

extern const char *const effect_words[]; /* by enum effect: deny, ask, allow */

#endif
