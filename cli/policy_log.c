/* writ policy log: which bundles were tried, when, by whom, and what became of them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/policy.h"
#include "cli/policy_store.h"
#include "cli/table.h"

static void print_table(const struct json *lines, const char *active, const char *held)
{
	static const char *const headings[] = {"when", "what", "bundle", "by", "result"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(line, lines)
	{
		const char *digest = json_get_str(line, "digest");
		const char *reason = json_get_str(line, "reason");
		const char *at = json_get_str(line, "at");
		CLEANUP(mem_freep) char *when = mem_format("%.19sZ", at == NULL ? "?" : at);
		CLEANUP(mem_freep)
		char *bundle =
			mem_format("%.12s%s", digest == NULL ? "-" : digest,
				   digest != NULL && strcmp(digest, active) == 0 ? " *" : "");
		CLEANUP(mem_freep)
		char *result = mem_format("%s%s%s", json_get_str(line, "result"),
					  reason == NULL ? "" : ": ", reason == NULL ? "" : reason);
		const char *cells[] = {when, json_get_str(line, "what"), bundle,
				       json_get_str(line, "by"), result};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
	printf("active (*): %.12s%s\n", active[0] == '\0' ? "none" : active,
	       held[0] == '\0' ? "" : ", held by a rollback until writ policy apply");
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_store_close) struct policy_store store = {0};
	CLEANUP(json_freep) struct json *lines = NULL;
	CLEANUP(args_clear) struct args args = {0};
	char active[SHA256_HEX_LEN + 1], held[SHA256_HEX_LEN + 1];
	struct err err = {0};
	int code = args_read(argc, argv, NULL, 0, 0, &args);

	if (code == 0)
		code = policy_folder_open(&args, &store.fd);
	if (code != 0)
		return code;
	if (policy_history_read(&store, &lines, &err) < 0)
		return cli_fail_err(&err, "history");
	policy_active(&store, active);
	policy_held(&store, held);
	if (args.json) {
		struct json *json = json_object();

		json_set_str(json, "active", active[0] == '\0' ? NULL : active);
		json_set_str(json, "held", held[0] == '\0' ? NULL : held);
		json_set(json, "history", TAKE(lines));
		cli_print_json(json);
		json_free(json);
	} else {
		print_table(lines, active, held);
	}
	return EXIT_FINE;
}

const struct policy_command policy_log = {
	.name = "log",
	.summary = "which bundles took effect or were refused, and why",
	.help = "usage: writ policy log [-C DIR] [--json]\n"
		"\n"
		"Every apply, reload and rollback of this workspace, oldest first: when, by whom,\n"
		"which bundle, and why it was refused. The audit log holds the same under\n"
		"policy.load, signed.\n"
		"\n"
		"  --json  {active, held, history}\n"
		"\n"
		"example:\n"
		"  writ policy log --json | jq -r '.history[] | select(.result==\"refused\") | "
		".reason'\n"
		"\n"
		"exit: 0 shown, 2 nothing was compiled yet, or not the owner\n",
	.run = run,
};
