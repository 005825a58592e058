/* writ policy schema: the JSON Schema of this workspace's scope files, for editors. */
#include <stdio.h>

#include "cli/policy.h"
#include "policy/schema.h"

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	CLEANUP(mem_freep) const char **agents = NULL;
	CLEANUP(json_freep) struct json *schema = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(args_clear) struct args args = {0};
	struct schema_world world = {0};
	int code = args_read(argc, argv, NULL, 0, 0, &args);

	/* Files with mistakes are just what an editor is open for: then less is known. */
	if (code == 0)
		code = policy_files_read(&args, POLICY_WITH_DATA, &files);
	if (code != EXIT_FINE)
		return code;
	world.catalogs = files.catalogs;
	world.users = files.workspace.users;
	world.databases = (struct names){files.workspace.sources, files.workspace.source_count};
	if (files.bundle != NULL) {
		world.agent_count = bundle_agent_count(files.bundle);
		agents = mem_array(world.agent_count, sizeof(*agents));
		for (size_t i = 0; i < world.agent_count; i++)
			agents[i] = bundle_agent_at(files.bundle, i)->name;
		world.agents = agents;
	}
	schema = policy_schema(&world);
	if (args.json) {
		cli_print_json(schema);
		return EXIT_FINE;
	}
	json_write_pretty(schema, &text);
	printf("%s\n", buf_str(&text));
	return EXIT_FINE;
}

const struct policy_command policy_schema_command = {
	.name = "schema",
	.summary = "JSON Schema of scope files, for editors",
	.help = "usage: writ policy schema [-C DIR] [--json]\n"
		"\n"
		"Prints a JSON Schema (draft 7) made from the tables that check reads and from "
		"this\n"
		"workspace: agents, tools, tables, columns, groups. An editor with a YAML "
		"language\n"
		"server completes them, explains keys and marks what check would refuse. It "
		"refuses\n"
		"nothing that check accepts; check finds more.\n"
		"\n"
		"  --json  on one line\n"
		"\n"
		"example:\n"
		"  writ policy schema > scopes/.schema.json\n"
		"  # first line of a scope file:\n"
		"  # yaml-language-server: $schema=.schema.json\n"
		"\n"
		"exit: 0 printed, 2 wrong usage or unreadable files\n",
	.run = run,
};
