/* Prints what the broker will obey, from the bundle itself and not from the files, so that defaults
 * show too. Control characters cannot occur: the compiler refuses them. */
#include "cli/policy_show.h"

#include <string.h>

#include "policy/vocabulary.h"

#define LABEL_COLUMN 4
#define TEXT_COLUMN 14
#define LINE_COLUMNS 96

static void label(struct buf *out, const char *word)
{
	buf_addf(out, "%*s%-*s", LABEL_COLUMN, "", TEXT_COLUMN - LABEL_COLUMN, word);
}

/* "a, b, c", broken between names; column is where the text stands now. */
static void add_names(struct buf *out, const struct json *names, size_t column)
{
	size_t at = column;

	json_each(name, names)
	{
		const char *text = json_str(name);
		bool more = json_next(name) != NULL;

		if (at > column && at + strlen(text) + more > LINE_COLUMNS) {
			buf_addf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			buf_add_char(out, ' ');
			at++;
		}
		buf_addf(out, "%s%s", text, more ? "," : "");
		at += strlen(text) + more;
	}
	buf_add_char(out, '\n');
}

static void add_words_or_names(struct buf *out, const char *word, const struct json *value)
{
	label(out, word);
	if (json_type(value) == JSON_ARRAY)
		add_names(out, value, TEXT_COLUMN);
	else
		buf_addf(out, "%s\n", json_str(value));
}

static void add_duration(struct buf *out, int64_t ms)
{
	if (ms % 3600000 == 0)
		buf_addf(out, "%lldh", (long long)(ms / 3600000));
	else if (ms % 60000 == 0)
		buf_addf(out, "%lldm", (long long)(ms / 60000));
	else
		buf_addf(out, "%llds", (long long)(ms / 1000));
}

static void add_size(struct buf *out, int64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	size_t unit = 0;

	while (unit + 1 < ARRAY_LEN(units) && bytes > 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	buf_addf(out, "%lld%s", (long long)bytes, units[unit]);
}

static void show_agent(const struct json *agent, const struct json *scopes, struct buf *out)
{
	const struct json *task = json_get(agent, "per_task");
	const struct json *scope = json_get(scopes, json_get_str(agent, "scope"));

	buf_addf(out, "  %s  (%s)\n", json_key(agent), json_get_str(agent, "at"));
	label(out, "role");
	buf_addf(out, "%s, answered for by %s\n", json_get_str(agent, "role"),
		 json_get_str(scope, "owner"));
	label(out, "id");
	buf_addf(out, "%s\n", json_get_str(agent, "id"));
	label(out, "token");
	add_duration(out, json_get_int(agent, "token_seconds", 0) * 1000);
	buf_add_char(out, '\n');
	label(out, "per task");
	buf_addf(out, "%lld tool calls, %lld tool errors, %lld model calls, %lld attempts, ",
		 (long long)json_get_int(task, "tool_calls", 0),
		 (long long)json_get_int(task, "tool_errors", 0),
		 (long long)json_get_int(task, "model_calls", 0),
		 (long long)json_get_int(task, "attempts", 0));
	add_duration(out, json_get_int(task, "time_ms", 0));
	buf_add_str(out, ", ");
	add_size(out, json_get_int(task, "scan_bytes", 0));
	buf_add_str(out, " scanned\n");
	if (json_len(json_get(agent, "hands_to")) > 0)
		add_words_or_names(out, "hands to", json_get(agent, "hands_to"));
}

static void show_tables(const struct json *tables, struct buf *out)
{
	if (json_type(tables) == JSON_STRING) {
		buf_addf(out, "%*severy table\n", TEXT_COLUMN, "");
		return;
	}
	json_each(columns, tables)
	{
		buf_addf(out, "%*s%s: ", TEXT_COLUMN, "", json_key(columns));
		if (json_type(columns) == JSON_ARRAY)
			add_names(out, columns, TEXT_COLUMN + strlen(json_key(columns)) + 2);
		else
			buf_add_str(out, "every column\n");
	}
}

static void show_data(const struct json *data, struct buf *out)
{
	label(out, "data");
	if (json_type(data) == JSON_STRING) {
		buf_add_str(out, strcmp(json_str(data), "all") == 0
					 ? "all\n"
					 : "none: only calls that touch no database\n");
		return;
	}
	buf_addf(out, "database %s\n", json_get_str(data, "database"));
	show_tables(json_get(data, "tables"), out);
	if (json_len(json_get(data, "functions")) > 0)
		add_words_or_names(out, "functions", json_get(data, "functions"));
}

static void show_rule(const struct json *rule, struct buf *out)
{
	const struct json *limits = json_get(rule, "per_call");

	buf_addf(out, "  %s %s  (%s)\n", json_get_str(rule, "effect"), json_get_str(rule, "id"),
		 json_get_str(rule, "at"));
	add_words_or_names(out, "agents", json_get(rule, "agents"));
	add_words_or_names(out, "users", json_get(rule, "users"));
	add_words_or_names(out, "tools", json_get(rule, "tools"));
	show_data(json_get(rule, "data"), out);
	if (limits == NULL)
		return;
	label(out, "per call");
	buf_addf(out, "%lld rows, ", (long long)json_get_int(limits, "rows", 0));
	add_size(out, json_get_int(limits, "bytes", 0));
	buf_add_str(out, ", ");
	add_size(out, json_get_int(limits, "scan_bytes", 0));
	buf_add_str(out, " scanned, ");
	add_duration(out, json_get_int(limits, "time_ms", 0));
	buf_add_char(out, '\n');
}

static void show_functions(struct buf *out)
{
	for (size_t i = 0; i < function_list_count; i++) {
		struct json *names = json_array();

		for (size_t f = 0; function_lists[i].functions[f] != NULL; f++)
			json_push_str(names, function_lists[i].functions[f]);
		buf_addf(out, "  %s: %s\n%*s", function_lists[i].name, function_lists[i].about,
			 LABEL_COLUMN, "");
		add_names(out, names, LABEL_COLUMN);
		json_free(names);
	}
}

void policy_show(const struct json *bundle, struct buf *out)
{
	buf_add_str(out, "Agents\n");
	json_each(agent, json_get(bundle, "agents"))
		show_agent(agent, json_get(bundle, "scopes"), out);
	buf_add_str(out, "\nRules: deny beats ask beats allow; what no rule allows is denied\n");
	json_each(rule, json_get(bundle, "rules")) show_rule(rule, out);
	buf_add_str(out, "\nLists of functions\n");
	show_functions(out);
}
