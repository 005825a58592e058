/*
 * writ policy apply and rollback: another bundle takes effect, in a running service at once. What
 * does not pass the gate, or what the service refuses, leaves the last good bundle in force.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/policy.h"
#include "cli/policy_gate.h"
#include "cli/policy_store.h"
#include "cli/policy_swap.h"

struct application {
	const char *what; /* "apply" or "rollback" */
	char digest[SHA256_HEX_LEN + 1];
	char before[SHA256_HEX_LEN + 1];
	char refused[300];
	size_t cases;
	size_t invariants;
	struct swap_result swap;
};

static int workspace_open(const struct args *args, char **ret_path, struct policy_store *store)
{
	CLEANUP(fd_closep) int fd = -1;
	struct err err = {0};

	if (cli_workspace_find(args->workspace, ret_path, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	fd = open(*ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || policy_store_open(fd, store, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "only the owner of %s can: %s", *ret_path,
				err.text);
	return EXIT_FINE;
}

static void print_json(const struct application *outcome)
{
	struct json *json = json_object();

	json_set_bool(json, "ok", outcome->refused[0] == '\0');
	json_set_str(json, "digest", outcome->digest[0] != '\0' ? outcome->digest : NULL);
	json_set_str(json, "before", outcome->before[0] != '\0' ? outcome->before : NULL);
	json_set_int(json, "tests", (int64_t)outcome->cases);
	json_set_int(json, "invariants", (int64_t)outcome->invariants);
	json_set_bool(json, "service", outcome->swap.running);
	if (outcome->swap.running)
		json_set_int(json, "took_us", outcome->swap.took_us);
	json_set_str(json, "refused", outcome->refused[0] != '\0' ? outcome->refused : NULL);
	cli_print_json(json);
	json_free(json);
}

static void print_text(const struct application *outcome)
{
	if (outcome->refused[0] != '\0') {
		fprintf(stderr, "writ: refused: %s; %.12s stays in force\n", outcome->refused,
			outcome->before[0] != '\0' ? outcome->before : "nothing");
		return;
	}
	printf("policy %.12s in force", outcome->digest);
	if (strcmp(outcome->digest, outcome->before) == 0)
		printf(", as before");
	else if (outcome->before[0] != '\0')
		printf(", was %.12s", outcome->before);
	if (outcome->cases > 0)
		printf("; %zu test%s passed", outcome->cases, plural(outcome->cases));
	if (outcome->invariants > 0)
		printf("; %zu invariant%s proven", outcome->invariants,
		       plural(outcome->invariants));
	if (outcome->swap.running)
		printf("; the service obeys it after %.1f ms\n",
		       (double)outcome->swap.took_us / 1000);
	else
		printf("; no service runs, the next one begins with it\n");
}

static int finish(const struct args *args, const struct application *outcome)
{
	if (args->json)
		print_json(outcome);
	else
		print_text(outcome);
	return outcome->refused[0] == '\0' ? EXIT_FINE : EXIT_NEGATIVE;
}

/* A service that refuses keeps what it has, and so must its next start. */
static int swap_or_undo(const char *path, const struct policy_store *store, const char *held_before,
			struct application *outcome)
{
	struct policy_attempt attempt = {.what = outcome->what, .digest = outcome->digest};
	struct err err = {0};

	if (policy_swap(path, outcome->digest, &outcome->swap, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	if (!outcome->swap.running || outcome->swap.applied)
		return EXIT_FINE;
	snprintf(outcome->refused, sizeof(outcome->refused), "by the service: %s",
		 outcome->swap.reason);
	attempt.reason = outcome->refused;
	if ((outcome->before[0] != '\0' &&
	     policy_activate(store, outcome->before, held_before[0] != '\0', &err) < 0) ||
	    policy_history_add(store, &attempt, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	return EXIT_FINE;
}

static int run_apply(int argc, char **argv)
{
	CLEANUP(policy_store_close) struct policy_store store = {0};
	CLEANUP(mem_freep) char *path = NULL;
	CLEANUP(args_clear) struct args args = {0};
	struct application outcome = {.what = "apply"};
	char held[SHA256_HEX_LEN + 1];
	struct gate_result gate = {.refused = ""};
	int code = args_read(argc, argv, NULL, 0, 0, &args);

	if (code == 0)
		code = workspace_open(&args, &path, &store);
	if (code != 0)
		return code;
	policy_active(&store, outcome.before);
	policy_held(&store, held);
	code = policy_gate_apply(path, true, stderr, &gate);
	if (code != EXIT_FINE && code != EXIT_NEGATIVE)
		return code;
	memcpy(outcome.digest, gate.digest, sizeof(outcome.digest));
	memcpy(outcome.refused, gate.refused, sizeof(gate.refused));
	outcome.cases = gate.cases;
	outcome.invariants = gate.invariants;
	code = gate.refused[0] != '\0' ? EXIT_FINE : swap_or_undo(path, &store, held, &outcome);
	return code != EXIT_FINE ? code : finish(&args, &outcome);
}

/* An old bundle must still be one that this version reads. */
static int check_bundle(const struct policy_store *store, const char *hash)
{
	CLEANUP(mem_freep) char *name = mem_format("%s.json", hash);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct err err = {0};

	if (file_read_at(store->fd, name, 32u << 20, &bytes, &err) < 0 ||
	    bundle_read(buf_str(&bytes), bytes.len, &bundle, &err) < 0)
		return cli_fail(EXIT_NEGATIVE, "%.12s cannot be used: %s", hash, err.text);
	if (strcmp(bundle_digest(bundle), hash) != 0)
		return cli_fail(EXIT_NEGATIVE, "%.12s was changed on disk", hash);
	return EXIT_FINE;
}

static int roll_back(const char *path, const struct policy_store *store,
		     struct application *outcome)
{
	struct policy_attempt attempt = {.what = "rollback", .digest = outcome->digest};
	char held[SHA256_HEX_LEN + 1];
	struct err err = {0};

	policy_held(store, held);
	if (policy_activate(store, outcome->digest, true, &err) < 0 ||
	    policy_history_add(store, &attempt, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	return swap_or_undo(path, store, held, outcome);
}

static int run_rollback(int argc, char **argv)
{
	CLEANUP(policy_store_close) struct policy_store store = {0};
	CLEANUP(mem_freep) char *path = NULL;
	CLEANUP(args_clear) struct args args = {0};
	struct application outcome = {.what = "rollback"};
	int code = args_read(argc, argv, NULL, 0, 1, &args);

	if (code == 0 && args.word_count == 0)
		return cli_usage(argv[0], "name the bundle, as writ policy log shows it");
	if (code == 0)
		code = workspace_open(&args, &path, &store);
	if (code == 0)
		code = policy_hash_find(store.fd, args.words[0], outcome.digest);
	if (code == 0)
		code = check_bundle(&store, outcome.digest);
	if (code != 0)
		return code;
	policy_active(&store, outcome.before);
	code = roll_back(path, &store, &outcome);
	return code != EXIT_FINE ? code : finish(&args, &outcome);
}

const struct policy_command policy_apply = {
	.name = "apply",
	.summary = "the files take effect, if they pass checks and tests",
	.help = "usage: writ policy apply [-C DIR] [--json]\n"
		"\n"
		"Checks the files, runs the tests of scopes/tests/ and proves "
		"scopes/invariants.yaml.\n"
		"Only when all pass is state/ written, and a running service obeys the new bundle "
		"in\n"
		"one step. Otherwise the last good bundle stays, and status, log and exit code "
		"say\n"
		"so. Every attempt is kept (writ policy log). Ends what a rollback holds.\n"
		"SIGHUP to writ serve does the same, but respects a rollback.\n"
		"\n"
		"  --json  {ok, digest, before, tests, invariants, service, took_us, refused}\n"
		"\n"
		"examples:\n"
		"  writ policy diff && writ policy apply\n"
		"\n"
		"exit: 0 in force, 1 refused, 2 wrong usage or unreadable files, 3 not the owner, "
		"or\n"
		"the service did not answer\n",
	.run = run_apply,
};

const struct policy_command policy_rollback = {
	.name = "rollback",
	.summary = "an earlier bundle takes effect, whatever the files say",
	.help = "usage: writ policy rollback HASH [-C DIR] [--json]\n"
		"\n"
		"Makes an earlier bundle active again, in a running service at once, and holds it: "
		"a\n"
		"start or reload of the service does not go back to the files until someone runs\n"
		"writ policy apply. HASH may be its first 6 figures or more (writ policy log).\n"
		"\n"
		"  --json  {ok, digest, before, tests, service, took_us, refused}\n"
		"\n"
		"examples:\n"
		"  writ policy log\n"
		"  writ policy rollback 3f9c2a41\n"
		"\n"
		"exit: 0 in force, 1 refused or unreadable, 2 wrong usage or no such bundle, 3 not "
		"the\n"
		"owner, or the service did not answer\n",
	.run = run_rollback,
};
