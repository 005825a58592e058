/* writ policy who, and show USER|AGENT: the access review as tables. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "cli/policy.h"
#include "cli/policy_review.h"
#include "cli/table.h"
#include "policy/access.h"

static char *join(const struct json *names)
{
	struct buf out = BUF_INIT;

	json_each(name, names)
		buf_addf(&out, "%s%s", name == json_first(names) ? "" : ", ", json_str(name));
	return buf_take(&out);
}

/* "all", "3 columns", "all but 1", "-". */
static char *cell_text(const struct json *access)
{
	size_t count;

	if (access == NULL)
		return mem_str("-");
	if (json_str(access) != NULL)
		return mem_str(json_str(access));
	if (json_type(access) == JSON_OBJECT)
		return mem_format("all but %zu", json_len(json_get(access, "all_but")));
	count = json_len(access);
	return mem_format("%zu column%s", count, plural(count));
}

static void print_matrix(const struct json *access)
{
	const struct json *tools = json_get(access, "tools");
	size_t columns = json_len(tools) + 1, at = 1;
	CLEANUP(mem_freep) const char **cells = mem_array(columns, sizeof(*cells));
	struct table *table;

	cells[0] = "table";
	json_each(tool, tools) cells[at++] = json_str(tool);
	table = table_new(cells, columns);
	json_each(row, json_get(access, "tables"))
	{
		CLEANUP(mem_freep)
		char *name = mem_format("%s.%s", json_get_str(row, "database"),
					json_get_str(row, "table"));
		CLEANUP(mem_freep) char **texts = mem_array(columns, sizeof(*texts));

		cells[0] = name;
		at = 1;
		json_each(tool, tools)
		{
			texts[at] = cell_text(json_get(json_get(row, "access"), json_str(tool)));
			cells[at] = texts[at];
			at++;
		}
		table_add(table, cells);
		for (at = 1; at < columns; at++)
			mem_free(texts[at]);
	}
	table_print(table, stdout);
	table_free(table);
}

/* The columns behind the numbers, once per table and list. */
static void print_lists(const struct json *access)
{
	json_each(row, json_get(access, "tables"))
	{
		const struct json *said = NULL;

		json_each(cell, json_get(row, "access"))
		{
			const struct json *names =
				json_type(cell) == JSON_OBJECT ? json_get(cell, "all_but") : cell;
			CLEANUP(mem_freep) char *list = NULL;

			if (json_type(names) != JSON_ARRAY ||
			    (said != NULL && json_equal(said, cell)))
				continue;
			list = join(names);
			printf("  %s.%s%s: %s\n", json_get_str(row, "database"),
			       json_get_str(row, "table"), names == cell ? "" : " without", list);
			said = cell;
		}
	}
}

static void print_access(const struct json *access, const char *heading)
{
	printf("\n%s\n", heading);
	if (json_len(json_get(access, "tools")) == 0) {
		printf("  no tool\n");
		return;
	}
	if (json_len(json_get(access, "tables")) == 0) {
		CLEANUP(mem_freep) char *tools = join(json_get(access, "tools"));

		printf("  no table, with %s\n", tools);
		return;
	}
	print_matrix(access);
	print_lists(access);
}

static struct setting setting_now(void)
{
	return (struct setting){.now_s = clock_now_us() / 1000000};
}

static bool same_access(const struct json *one, const struct json *other)
{
	return json_equal(json_get(one, "tools"), json_get(other, "tools")) &&
	       json_equal(json_get(one, "tables"), json_get(other, "tables"));
}

/* Persons who may do the same share a matrix. */
static void print_by_person(const struct json *list)
{
	for (size_t i = 0; i < json_len(list); i++) {
		const struct json *access = json_at(list, i);
		CLEANUP(buf_clear) struct buf heading = BUF_INIT;
		bool told = false;

		for (size_t k = 0; k < i; k++)
			told = told || same_access(json_at(list, k), access);
		if (told)
			continue;
		buf_add_str(&heading, "for ");
		for (size_t k = i; k < json_len(list); k++)
			if (same_access(json_at(list, k), access))
				buf_addf(&heading, "%s%s", k > i ? ", " : "",
					 json_get_str(json_at(list, k), "person"));
		print_access(access, buf_str(&heading));
	}
}

static struct json *review_agent(const struct bundle *bundle, const char *agent,
				 const struct people *people, bool print)
{
	struct setting setting = setting_now();
	struct json *list = json_array();

	for (size_t i = 0; i < people->count; i++) {
		struct json *access = policy_access(bundle, agent, &people->items[i], &setting);

		json_set_str(access, "person", people->items[i].label);
		json_push(list, access);
	}
	if (print)
		print_by_person(list);
	return list;
}

static struct json *review_person(const struct bundle *bundle, const struct person *person,
				  bool print)
{
	struct setting setting = setting_now();
	struct json *list = json_array();

	for (size_t i = 0; i < bundle_agent_count(bundle); i++) {
		const char *agent = bundle_agent_at(bundle, i)->name;
		struct json *access = policy_access(bundle, agent, person, &setting);
		CLEANUP(mem_freep)
		char *heading =
			mem_format("%s (%s, %s answers for it)", agent,
				   json_get_str(access, "role"), json_get_str(access, "owner"));

		json_set_str(access, "person", person->label);
		if (print)
			print_access(access, heading);
		json_push(list, access);
	}
	return list;
}

static int unknown_name(const char *name, const struct bundle *bundle, const struct people *people)
{
	size_t count = bundle_agent_count(bundle) + people->count, at = 0;
	CLEANUP(mem_freep) const char **names = mem_array(count, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < bundle_agent_count(bundle); i++)
		names[at++] = bundle_agent_at(bundle, i)->name;
	for (size_t i = 0; i < people->count; i++)
		names[at++] = people->items[i].label;
	near = nearest_word(name, names, count);
	return cli_fail(EXIT_USAGE, "no agent and no user \"%s\"%s%s%s", name,
			near == NULL ? "; a user of the machine shows as anyone"
				     : "; did you mean ",
			near == NULL ? "" : near, near == NULL ? "" : "?");
}

int policy_review(const struct policy_files *files, const char *name, bool as_json)
{
	CLEANUP(people_clear) struct people people;
	CLEANUP(json_freep) struct json *list = NULL;
	const struct person *person;

	people_find(files->workspace.users, files->bundle, &people);
	person = people_named(&people, name);
	if (bundle_agent(files->bundle, name) == NULL && person == NULL)
		return unknown_name(name, files->bundle, &people);
	if (!as_json)
		printf("%s under policy %.12s\n", name, bundle_digest(files->bundle));
	if (bundle_agent(files->bundle, name) != NULL)
		list = review_agent(files->bundle, name, &people, !as_json);
	else
		list = review_person(files->bundle, person, !as_json);
	if (as_json)
		cli_print_json(list);
	return EXIT_FINE;
}

/* ---- who ---- */

static void print_who(const struct json *lines)
{
	static const char *const headings[] = {"agent", "for", "effect", "rule", "tools"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(line, lines)
	{
		CLEANUP(mem_freep)
		char *rule =
			mem_format("%s (%s)", json_get_str(line, "rule"), json_get_str(line, "at"));
		CLEANUP(mem_freep) char *tools = join(json_get(line, "tools"));
		const char *cells[] = {json_get_str(line, "agent"), json_get_str(line, "person"),
				       json_get_str(line, "effect"), rule, tools};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
}

static const char *only_source(const struct policy_files *files)
{
	return files->workspace.source_count == 1 ? files->workspace.sources[0] : NULL;
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	CLEANUP(people_clear) struct people people = {0};
	CLEANUP(json_freep) struct json *lines = NULL;
	CLEANUP(args_clear) struct args args = {0};
	const char *table = NULL, *column = NULL, *database = NULL;
	const struct arg_option options[] = {{"--table", NULL, &table},
					     {"--column", NULL, &column},
					     {"--database", NULL, &database}};
	struct setting setting = setting_now();
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code == 0 && table == NULL)
		return cli_usage(argv[0], "name a table: --table orders");
	if (code == 0)
		code = policy_files_want(&args, POLICY_WITH_DATA, &files);
	if (code != 0)
		return code;
	if (database == NULL)
		database = only_source(&files);
	if (database == NULL)
		return cli_usage(argv[0], "name the database: --database NAME");
	people_find(files.workspace.users, files.bundle, &people);
	lines = policy_who(files.bundle, &people, &setting, database, table, column);
	if (args.json)
		cli_print_json(lines);
	else if (json_len(lines) == 0)
		printf("nobody reaches %s.%s%s%s\n", database, table, column ? "." : "",
		       column ? column : "");
	else
		print_who(lines);
	return EXIT_FINE;
}

const struct policy_command policy_who_command = {
	.name = "who",
	.summary = "who reaches a table or a column",
	.help = "usage: writ policy who --table T [--column C] [--database D] [-C DIR] [--json]\n"
		"\n"
		"Lists every agent and person for whom a call that reads the column (without\n"
		"--column: touches the table) is allowed or asks for approval, by which rule and\n"
		"with which tools. Persons are the users of writ.yaml, anyone of the machine if "
		"they\n"
		"are let in, and whoever has a group, tenant or name that a rule speaks of.\n"
		"\n"
		"  --database D  may be left out when writ.yaml has one source\n"
		"  --json        [{agent, person, effect, rule, at, tools}]\n"
		"\n"
		"examples:\n"
		"  writ policy who --table customers --column name -C examples/sales\n"
		"\n"
		"exit: 0 shown, also when nobody does, 1 the files have mistakes, 2 wrong usage "
		"or\n"
		"unreadable files\n",
	.run = run,
};
