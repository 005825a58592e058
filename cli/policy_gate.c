/* See policy_gate.h. Everything is read and judged first; only then is anything written. */
#include "cli/policy_gate.h"

#include <string.h>

#include "agents/query/verified/verified_source.h"
#include "cli/catalog.h"
#include "cli/policy.h"
#include "cli/policy_store.h"
#include "policy/prove.h"
#include "policy/tests.h"

static void check_mistakes(const struct policy_files *files, FILE *out, struct gate_result *result)
{
	size_t errors = files->problems.error_count;

	problems_print(&files->problems, out);
	if (errors > 0)
		snprintf(result->refused, sizeof(result->refused), "%zu mistake%s in the files",
			 errors, plural(errors));
	else
		memcpy(result->digest, bundle_digest(files->bundle), sizeof(result->digest));
}

static void print_failures(const struct policy_tests *tests, const struct tests_result *outcome,
			   FILE *out)
{
	for (size_t i = 0; i < outcome->count; i++)
		if (!outcome->cases[i].passed)
			fprintf(out, "%s: %s: %s\n", tests->cases[i].at, tests->cases[i].name,
				outcome->cases[i].wrong);
}

static int run_tests(const struct policy_files *files, FILE *out, struct gate_result *result,
		     struct err *err)
{
	CLEANUP(policy_tests_clear) struct policy_tests tests = {0};
	CLEANUP(tests_result_clear) struct tests_result outcome = {0};
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	if (policy_tests_read(files->fd, files->bundle, &tests, &problems, err) < 0)
		return -1;
	problems_print(&problems, out);
	if (problems.error_count > 0) {
		snprintf(result->refused, sizeof(result->refused), "%zu mistake%s in the tests",
			 problems.error_count, plural(problems.error_count));
		return 0;
	}
	policy_tests_run(files->bundle, &tests, &outcome);
	print_failures(&tests, &outcome, out);
	result->cases = outcome.count;
	if (outcome.failed > 0)
		snprintf(result->refused, sizeof(result->refused), "%zu test%s of %zu fail%s",
			 outcome.failed, plural(outcome.failed), outcome.count,
			 outcome.failed == 1 ? "s" : "");
	return 0;
}

static int prove(const struct policy_files *files, FILE *out, struct gate_result *result,
		 struct err *err)
{
	CLEANUP(policy_proof_clear) struct policy_proof proof = {0};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t open;

	if (files->extended == NULL)
		return 0;
	if (policy_prove(files->bundle, files->extended, &proof, err) < 0)
		return -1;
	policy_proof_write(&proof, false, &text);
	fputs(buf_str(&text), out);
	open = proof.broken + proof.not_proven;
	result->invariants = proof.proven;
	if (open > 0)
		snprintf(result->refused, sizeof(result->refused), "%zu invariant%s not proven",
			 open, open == 1 ? " is" : "s are");
	return 0;
}

static int judge(const struct policy_files *files, FILE *out, struct gate_result *result,
		 struct err *err)
{
	check_mistakes(files, out, result);
	if (result->refused[0] == '\0' && run_tests(files, out, result, err) < 0)
		return -1;
	return result->refused[0] == '\0' ? prove(files, out, result, err) : 0;
}

static int write_state(const struct policy_files *files, bool on_purpose, FILE *out,
		       struct gate_result *result, struct err *err)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	if (workspace_apply(files->fd, files->path, on_purpose ? result->digest : NULL,
			    verified_models_compile, catalogs_read, &problems, err) < 0)
		return -1;
	if (problems.error_count > 0) {
		problems_print(&problems, out);
		snprintf(result->refused, sizeof(result->refused), "%zu mistake%s in the models",
			 problems.error_count, plural(problems.error_count));
	}
	return 0;
}

static int apply(const struct policy_files *files, bool on_purpose, FILE *out,
		 struct gate_result *result, struct err *err)
{
	CLEANUP(policy_store_close) struct policy_store store = {0};
	struct policy_attempt attempt = {.what = on_purpose ? "apply" : "reload"};
	char held[SHA256_HEX_LEN + 1];

	if (judge(files, out, result, err) < 0 ||
	    (result->refused[0] == '\0' && write_state(files, on_purpose, out, result, err) < 0) ||
	    policy_store_open(files->fd, &store, err) < 0)
		return -1;
	policy_held(&store, held);
	result->held = held[0] != '\0' && result->refused[0] == '\0';
	attempt.digest = result->digest[0] != '\0' ? result->digest : NULL;
	if (result->refused[0] != '\0')
		attempt.reason = result->refused;
	else if (result->held)
		attempt.reason = "a rollback holds another bundle";
	return policy_history_add(&store, &attempt, err);
}

int policy_gate_apply(const char *workspace, bool on_purpose, FILE *out,
		      struct gate_result *ret_result)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	const struct args args = {.workspace = workspace};
	struct gate_result result = {.refused = ""};
	struct err err = {0};
	/* A reload takes what a start takes: somebody whom a rule names may be let in later. */
	int code = policy_files_read(
		&args, on_purpose ? POLICY_WITH_DATA : POLICY_WITH_DATA | POLICY_AS_A_START,
		&files);

	if (code != EXIT_FINE)
		return code;
	if (apply(&files, on_purpose, out, &result, &err) < 0)
		return cli_fail(err.kind == ERR_INVALID ? EXIT_USAGE : EXIT_UNAVAILABLE, "%s",
				err.text);
	*ret_result = result;
	return result.refused[0] != '\0' ? EXIT_NEGATIVE : EXIT_FINE;
}
