/* writ status: what the service of a workspace is doing. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"

static void print_line(const char *what, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print_line(const char *what, const char *format, ...)
{
	va_list args;

	printf("%-13s ", what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static const char *text_of(const struct json *object, const char *key)
{
	const char *text = json_get_str(object, key);

	return text != NULL ? text : "unknown";
}

static long long int_of(const struct json *object, const char *key)
{
	return (long long)json_get_int(object, key, 0);
}

static void print_sandbox(const struct json *status)
{
	const struct json *sandbox = json_get(status, "sandbox");
	const struct json *own = json_get(status, "orchestrator");

	json_each(level, sandbox)
	{
		if (json_str(level) != NULL)
			print_line("sandbox", "%s: %s", json_key(level), json_str(level));
	}
	print_line("sandbox", "orchestrator: %s (%s system calls)", text_of(own, "sandbox"),
		   text_of(own, "sandbox_profile"));
}

static void print_reloads(const struct json *reloads)
{
	if (json_get(reloads, "last") == NULL)
		return;
	print_line("policy", "last reload %s at %s%s%s", text_of(reloads, "last"),
		   text_of(reloads, "at"), json_get(reloads, "reason") != NULL ? ": " : "",
		   json_get(reloads, "reason") != NULL ? text_of(reloads, "reason") : "");
}

static void print_status(const struct json *status)
{
	const struct json *policy = json_get(status, "policy");
	const struct json *audit = json_get(status, "audit");
	bool stopped = strcmp(text_of(audit, "state"), "stopped") == 0;
	bool is_waiting = strcmp(text_of(audit, "state"), "waiting") == 0;

	print_line("policy", "%.16s..., epoch %lld, %lld agents, %lld rules",
		   text_of(policy, "digest"), int_of(policy, "epoch"), int_of(policy, "agents"),
		   int_of(policy, "rules"));
	print_reloads(json_get(policy, "reloads"));
	print_line("audit log", "%lld records%s%s", int_of(audit, "size"),
		   stopped	? "; STOPPED: "
		   : is_waiting ? "; WAITING: "
				: "",
		   stopped || is_waiting ? text_of(audit, "reason") : "");
	print_line("signer", "%s", text_of(status, "signer"));
	json_each(connector, json_get(status, "connectors")) print_line(
		"connector", "%s: %s", text_of(connector, "name"), text_of(connector, "state"));
	json_each(restart, json_get(status, "restarts"))
		print_line("restarted", "%s at %s: it %s", text_of(restart, "program"),
			   text_of(restart, "at"), text_of(restart, "why"));
	print_line("sessions", "%lld", int_of(status, "sessions"));
	print_line("tasks", "%lld running, %lld queued",
		   int_of(json_get(status, "orchestrator"), "tasks_running"),
		   int_of(json_get(status, "orchestrator"), "tasks_queued"));
	print_sandbox(status);
}

static int run(int argc, char **argv)
{
	CLEANUP(json_freep) struct json *status = NULL;
	struct args args;
	int code = args_read(argc, argv, NULL, 0, 0, &args);

	if (code == 0)
		code = service_ask(args.workspace, 0, "status", NULL, NULL, NULL, &status);
	if (code == 0 && args.json)
		cli_print_json(status);
	else if (code == 0)
		print_status(status);
	args_clear(&args);
	return code;
}

const struct command command_status = {
	.name = "status",
	.summary = "what the running service is doing",
	.help = "usage: writ status [-C DIR] [--json]\n"
		"\n"
		"Shows policy, audit log, signer, connectors, sessions, tasks and how far each "
		"program is\n"
		"confined. The service must be running (writ serve).\n"
		"\n"
		"Example:\n"
		"  writ status -C /srv/writ/sales --json | jq .audit.size\n"
		"\n"
		"Exit codes: 0 shown; 2 wrong usage; 3 no service, or it could not answer.\n",
	.run = run,
};
