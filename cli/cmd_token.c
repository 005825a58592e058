/* writ token: list and revoke scope tokens. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/table.h"

static const char *state_of(const struct json *token, char room[32])
{
	int64_t left = json_get_int(token, "expires", 0) - clock_now_us() / 1000000;

	if (json_get_bool(token, "revoked", false))
		return "revoked";
	if (left <= 0)
		return "expired";
	snprintf(room, 32, "%lld s left", (long long)left);
	return room;
}

static void print_tokens(const struct json *tokens)
{
	static const char *const headings[] = {"TOKEN", "AGENT", "USER", "TASK", "STATE", "CAUSE"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(token, tokens)
	{
		char room[32];
		const char *const cells[] = {
			json_get_str(token, "jti"),  json_get_str(token, "agent"),
			json_get_str(token, "user"), json_get_str(token, "task"),
			state_of(token, room),	     json_get_str(token, "cause")};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
}

static int list(const struct args *args)
{
	CLEANUP(json_freep) struct json *result = NULL;
	int code = service_ask(args->workspace, 0, "token.list", NULL, NULL, NULL, &result);

	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		print_tokens(json_get(result, "tokens"));
	return EXIT_FINE;
}

struct revoke_options {
	const char *task;
	const char *agent;
	const char *user;
	const char *cause;
};

static struct json *revoke_params(const struct args *args, const struct revoke_options *options)
{
	struct json *params = json_object();

	if (args->word_count == 2)
		json_set_str(params, "token", args->words[1]);
	if (options->task != NULL)
		json_set_str(params, "task", options->task);
	if (options->agent != NULL)
		json_set_str(params, "agent", options->agent);
	if (options->user != NULL)
		json_set_str(params, "user", options->user);
	return params;
}

static int revoke(const struct args *args, const struct revoke_options *options)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = revoke_params(args, options);
	int code;

	if (json_len(params) != 1) {
		json_free(params);
		return cli_usage("token revoke",
				 "name exactly one of TOKEN, --task, --agent, --user");
	}
	json_set_str(params, "cause", options->cause != NULL ? options->cause : "on request");
	code = service_ask(args->workspace, 0, "token.revoke", params, NULL, NULL, &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		printf("revoked %lld (record %lld)\n",
		       (long long)json_get_int(result, "revoked", 0),
		       (long long)json_get_int(result, "record", -1));
	return json_get_int(result, "revoked", 0) > 0 ? EXIT_FINE : EXIT_NEGATIVE;
}

static int run(int argc, char **argv)
{
	struct revoke_options revoking = {0};
	const struct arg_option options[] = {{"--task", NULL, &revoking.task},
					     {"--agent", NULL, &revoking.agent},
					     {"--user", NULL, &revoking.user},
					     {"--cause", NULL, &revoking.cause}};
	struct args args;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 2, &args);

	if (code != 0)
		;
	else if (args.word_count == 1 && strcmp(args.words[0], "list") == 0)
		code = list(&args);
	else if (args.word_count >= 1 && strcmp(args.words[0], "revoke") == 0)
		code = revoke(&args, &revoking);
	else
		code = cli_usage("token", "say list or revoke");
	args_clear(&args);
	return code;
}

const struct command command_token = {
	.name = "token",
	.summary = "list and revoke scope tokens",
	.help = "usage: writ token list [-C DIR] [--json]\n"
		"       writ token revoke (TOKEN | --task ID | --agent NAME | --user NAME)\n"
		"                         [--cause TEXT] [-C DIR] [--json]\n"
		"\n"
		"A user sees and revokes the tokens of their own tasks; the workspace's owner "
		"those of\n"
		"everyone. Revoking takes effect at the next call and takes every token along that "
		"was\n"
		"delegated from it. It works even when the audit log cannot be written.\n"
		"\n"
		"Examples:\n"
		"  writ token list -C /srv/writ/sales\n"
		"  writ token revoke --agent sales-query-01 --cause \"odd questions at night\"\n"
		"\n"
		"Exit codes: 0 done; 1 nothing to revoke; 2 wrong usage; 3 no service, or it could "
		"not.\n",
	.run = run,
};
