/*
 * writ policy shadow: a candidate bundle is decided beside the live one. What would differ is
 * counted and stands in the records; nothing of it is obeyed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ask_service.h"
#include "cli/policy.h"
#include "cli/policy_store.h"
#include "cli/policy_swap.h"

static int open_store(const struct args *args, char **ret_path, struct policy_store *store)
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

static int write_candidate(const struct policy_store *store, const struct policy_source *source,
			   struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(mem_freep) char *name = mem_format("%s.json", bundle_digest(source->bundle));

	json_write_canonical(source->json, &bytes);
	if (file_replace_at(store->fd, name, 0600, bytes.bytes, bytes.len, true, err) < 0)
		return -1;
	return policy_candidate(store, bundle_digest(source->bundle), err);
}

/* The active bundle stays; the service only looks again. */
static int tell_service(const char *path, const struct policy_store *store, const char *candidate,
			bool as_json)
{
	char active[SHA256_HEX_LEN + 1];
	struct swap_result swap;
	struct json *json;
	struct err err = {0};

	policy_active(store, active);
	if (policy_swap(path, active, &swap, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	if (!as_json) {
		printf("candidate %.12s%s\n", candidate == NULL ? "none" : candidate,
		       swap.running ? "" : "; no service runs, the next one decides it too");
		return EXIT_FINE;
	}
	json = json_object();
	json_set_str(json, "candidate", candidate);
	json_set_bool(json, "service", swap.running);
	cli_print_json(json);
	json_free(json);
	return EXIT_FINE;
}

static int set(const struct args *args, const char *name)
{
	CLEANUP(policy_source_clear) struct policy_source source = {0};
	CLEANUP(policy_store_close) struct policy_store store = {0};
	CLEANUP(mem_freep) char *path = NULL;
	bool off = strcmp(name, "off") == 0;
	struct err err = {0};
	int code = open_store(args, &path, &store);

	if (code == EXIT_FINE && !off)
		code = policy_source_open(args, name, &source);
	if (code != EXIT_FINE)
		return code;
	if (off ? policy_candidate(&store, NULL, &err) < 0
		: write_candidate(&store, &source, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	return tell_service(path, &store, off ? NULL : bundle_digest(source.bundle), args->json);
}

static int show(const struct args *args)
{
	CLEANUP(json_freep) struct json *status = NULL;
	const struct json *candidate;
	int code = service_ask(args->workspace, 0, "status", NULL, NULL, NULL, &status);

	if (code != 0)
		return code;
	candidate = json_get(json_get(status, "policy"), "candidate");
	if (args->json) {
		struct json *json = candidate == NULL ? json_object() : json_copy(candidate);

		cli_print_json(json);
		json_free(json);
	} else if (candidate == NULL) {
		printf("no candidate is decided beside the live policy\n");
	} else {
		printf("candidate %.12s: %lld decisions, %lld differ\n",
		       json_get_str(candidate, "digest"),
		       (long long)json_get_int(candidate, "decisions", 0),
		       (long long)json_get_int(candidate, "differences", 0));
	}
	return json_get_int(candidate, "differences", 0) > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

static int run(int argc, char **argv)
{
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, NULL, 0, 1, &args);

	if (code != 0)
		return code;
	return args.word_count == 0 ? show(&args) : set(&args, args.words[0]);
}

const struct policy_command policy_shadow = {
	.name = "shadow",
	.summary = "a candidate decided beside the live policy, obeyed by nobody",
	.help = "usage: writ policy shadow [P|off] [-C DIR] [--json]\n"
		"\n"
		"With P (files, a hash, a workspace or a bundle's file, as for writ policy diff) "
		"the\n"
		"broker decides every call under that policy as well and notes where it says\n"
		"something else: in the records (cb, cd) and as a count. Nothing of it is obeyed.\n"
		"off ends that. Without a word: how many decisions, and how many differ.\n"
		"\n"
		"  --json  {digest, decisions, differences}; with P {candidate, service}\n"
		"\n"
		"examples:\n"
		"  writ policy shadow files\n"
		"  writ policy shadow\n"
		"  writ audit show --json | jq 'select(.cd)'\n"
		"\n"
		"exit: 0 set, or no decision differs, 1 some differ or the files have mistakes,\n"
		"2 wrong usage or unreadable files, 3 no service, or not the owner\n",
	.run = run,
};
