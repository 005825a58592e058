/*
 * writ policy: check and show. Both compile the workspace's files in this process and write
 * nothing; neither needs the service or the data.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/policy_show.h"
#include "policy/compile.h"
#include "policy/workspace.h"

struct checked {
	struct problems problems;
	struct buf bundle; /* empty when there are errors */
	char digest[SHA256_HEX_LEN + 1];
	char in_force[SHA256_HEX_LEN + 1]; /* "" when unknown */
	size_t agent_count;
	size_t rule_count;
};

static void checked_clear(struct checked *checked)
{
	problems_clear(&checked->problems);
	buf_clear(&checked->bundle);
}

static int read_bundle(struct checked *checked, const struct workspace *workspace, struct err *err)
{
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	CLEANUP(json_freep) struct json *json = NULL;

	if (checked->bundle.len == 0)
		return 0;
	if (bundle_read(checked->bundle.bytes, checked->bundle.len, &bundle, err) < 0 ||
	    json_parse(checked->bundle.bytes, checked->bundle.len, checked->bundle.len, &json,
		       err) < 0)
		return -1;
	workspace_check_agents(workspace, bundle, &checked->problems);
	memcpy(checked->digest, bundle_digest(bundle), sizeof(checked->digest));
	checked->agent_count = bundle_agent_count(bundle);
	checked->rule_count = json_len(json_get(json, "rules"));
	return 0;
}

static void read_in_force(int workspace_fd, struct checked *checked)
{
	CLEANUP(buf_clear) struct buf active = BUF_INIT;

	/* Only the owner can look; for everyone else it stays unknown. */
	if (file_read_at(workspace_fd, "state/config/policy/active", 128, &active, NULL) == 0 &&
	    active.len == SHA256_HEX_LEN + 1)
		memcpy(checked->in_force, active.bytes, SHA256_HEX_LEN);
}

static int check_files(const char *path, struct checked *checked, struct err *err)
{
	CLEANUP(workspace_clear) struct workspace workspace = {0};
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct names databases;

	if (fd < 0)
		return err_errno(err, "%s", path);
	if (workspace_read(fd, path, WORKSPACE_NO_DATA, &workspace, &checked->problems, err) < 0)
		return -1;
	databases = (struct names){workspace.sources, workspace.source_count};
	if (policy_compile(fd, databases.count == 0 ? NULL : &databases, &checked->bundle,
			   &checked->problems, err) < 0 ||
	    read_bundle(checked, &workspace, err) < 0)
		return -1;
	problems_sort(&checked->problems);
	read_in_force(fd, checked);
	return 0;
}

static int check_workspace(const struct args *args, struct checked *checked)
{
	CLEANUP(mem_freep) char *path = NULL;
	struct err err = {0};

	if (cli_workspace_find(args->workspace, &path, &err) < 0 ||
	    check_files(path, checked, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	return EXIT_FINE;
}

static void print_check_json(const struct checked *checked)
{
	struct json *json = json_object();
	bool fine = checked->problems.error_count == 0;

	json_set_bool(json, "ok", fine);
	json_set_int(json, "errors", (int64_t)checked->problems.error_count);
	json_set(json, "problems", problems_json(&checked->problems));
	json_set_str(json, "digest", fine ? checked->digest : NULL);
	json_set_int(json, "agents", (int64_t)checked->agent_count);
	json_set_int(json, "rules", (int64_t)checked->rule_count);
	cli_print_json(json);
	json_free(json);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static int run_check(const struct args *args)
{
	CLEANUP(checked_clear) struct checked checked = {0};
	int code = check_workspace(args, &checked);
	size_t errors = checked.problems.error_count;

	if (code != EXIT_FINE)
		return code;
	if (args->json)
		print_check_json(&checked);
	else
		problems_print(&checked.problems, stdout);
	if (errors == 0 && !args->json)
		printf("policy %.12s: %zu agent%s, %zu rule%s, no mistake\n", checked.digest,
		       checked.agent_count, plural(checked.agent_count), checked.rule_count,
		       plural(checked.rule_count));
	else if (errors > 0)
		fprintf(stderr, "writ: %zu mistake%s\n", errors, plural(errors));
	return errors > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

static void print_state(const struct checked *checked)
{
	printf("Policy %s\n", checked->digest);
	if (checked->in_force[0] == '\0')
		return;
	if (strcmp(checked->digest, checked->in_force) == 0)
		printf("as last compiled for the service\n");
	else
		printf("not yet compiled for the service, which has %.12s\n", checked->in_force);
}

static int run_show(const struct args *args)
{
	CLEANUP(checked_clear) struct checked checked = {0};
	CLEANUP(json_freep) struct json *bundle = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct err err = {0};
	int code = check_workspace(args, &checked);

	if (code != EXIT_FINE)
		return code;
	if (checked.problems.error_count > 0) {
		problems_print(&checked.problems, stderr);
		return cli_fail(EXIT_NEGATIVE, "a policy with mistakes cannot be shown");
	}
	if (json_parse(checked.bundle.bytes, checked.bundle.len, checked.bundle.len, &bundle,
		       &err) < 0)
		return cli_fail_err(&err, "policy");
	if (args->json) {
		cli_print_json(bundle);
		return EXIT_FINE;
	}
	print_state(&checked);
	policy_show(bundle, &text);
	printf("\n%s", buf_str(&text));
	return EXIT_FINE;
}

static int cmd_policy(int argc, char **argv)
{
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, NULL, 0, 1, &args);

	if (code != 0)
		return code;
	if (args.word_count == 0)
		return cli_usage("policy", "say what to do: check or show");
	if (strcmp(args.words[0], "check") == 0)
		return run_check(&args);
	if (strcmp(args.words[0], "show") == 0)
		return run_show(&args);
	return cli_usage("policy", "no \"%s\"; there are check and show", args.words[0]);
}

const struct command command_policy = {
	.name = "policy",
	.summary = "check and show the rules",
	.help = "usage: writ policy check [-C DIR] [--json]\n"
		"       writ policy show  [-C DIR] [--json]\n"
		"\n"
		"check reads writ.yaml and every scope file and shows all mistakes at their\n"
		"place. show prints agents, rules and limits as the broker will obey them, each\n"
		"with file and line, and the named lists of functions. Neither changes anything\n"
		"nor needs the service.\n"
		"\n"
		"  -C DIR   the workspace; otherwise the nearest folder upward with a writ.yaml\n"
		"  --json   check: {ok, errors, problems, digest, agents, rules}; show: the "
		"bundle\n"
		"\n"
		"examples:\n"
		"  writ policy check -C examples/sales\n"
		"  writ policy show --json | jq '.rules[].id'\n"
		"\n"
		"exit: 0 no mistake, 1 mistakes, 2 wrong usage or unreadable files\n",
	.run = cmd_policy,
};
