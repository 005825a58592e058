/* scopes/data.yaml and writ.yaml: everything is granted by name but what is hidden. */
#include <string.h>

#include "tests/lib/random/world.h"

static void add_text(struct buf *out, const char *text)
{
	json_write_string(text, strlen(text), out);
}

static void add_columns(struct buf *out, const struct table *table)
{
	const char *joint = "";

	if (!has_column(table, ROLE_SECRET)) {
		buf_add_str(out, "{columns: all}");
		return;
	}
	buf_add_str(out, "{columns: [");
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].hidden)
			continue;
		buf_add_str(out, joint);
		add_text(out, table->columns[i].name);
		joint = ", ";
	}
	buf_add_str(out, "]}");
}

static void add_vault_rule(const struct world *world, struct buf *out)
{
	buf_add_str(out, "\n  - id: never\n    effect: deny\n    agents: all\n    users: everyone\n"
			 "    tools: all\n    data:\n      database: data\n      tables:\n");
	for (size_t i = 0; i < world->table_count; i++) {
		if (!world->tables[i].hidden)
			continue;
		buf_add_str(out, "        ");
		add_text(out, world->tables[i].name);
		buf_add_str(out, ": {columns: all}\n");
	}
}

char *world_scope_yaml(const struct world *world)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out,
		    "writ: 1\nscope: data\nowner: team:data\ntimezone: UTC\n\nagents:\n"
		    "  query-01:\n    id: spiffe://corp.example/agent/query-01\n    role: query\n"
		    "    token: 5m\n    hands_to: [report-01]\n"
		    "  report-01:\n    id: spiffe://corp.example/agent/report-01\n"
		    "    role: report\n    token: 5m\n\nrules:\n"
		    "  - id: read\n    effect: allow\n    agents: [query-01]\n"
		    "    users: [group:readers]\n    tools: [list_tables, describe_table, "
		    "search_schema, search_values,\n            list_metrics, explain_query, "
		    "run_query]\n    data:\n      database: data\n      tables:\n");
	for (size_t i = 0; i < world->table_count; i++) {
		if (world->tables[i].hidden)
			continue;
		buf_add_str(&out, "        ");
		add_text(&out, world->tables[i].name);
		buf_add_str(&out, ": ");
		add_columns(&out, &world->tables[i]);
		buf_add_char(&out, '\n');
	}
	buf_add_str(&out, "      functions: [standard]\n"
			  "    per_call: {rows: 500, bytes: 1MiB, scan: 64MiB, time: 5s}\n");
	if (world->seed % 2 == 0)
		add_vault_rule(world, &out);
	return buf_take(&out);
}

char *world_service_yaml(const struct world *world)
{
	char today[DATE_LEN + 1];

	date_write(world->today, today);
	return mem_format("today: %s\ntimezone: UTC\nusers:\n  anyone: {groups: [readers]}\n"
			  "sources:\n  data: {sqlite: data/data.db}\n"
			  "agents: {query: query-01, report: report-01}\n",
			  today);
}
