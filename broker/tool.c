/* The table of tools; the schema that agents see and the check they meet are made from it. */
#include "broker/tool.h"

#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "writ/limits.h"

#define TABLE_NAME_MAX 256
#define MATCHES_MAX 100
#define MATCHES_DEFAULT 20

#define ARGUMENT_SQL                                                                               \
	{                                                                                          \
		"sql", ARGUMENT_TEXT, true, 1, WRIT_SQL_BYTES_MAX, 0,                              \
			"one SELECT statement in the database's own SQL"                           \
	}
#define ARGUMENT_WORDS(about)                                                                      \
	{                                                                                          \
		"text", ARGUMENT_TEXT, true, 1, WRIT_QUESTION_BYTES_MAX, 0, about                  \
	}
#define ARGUMENT_MATCHES                                                                           \
	{                                                                                          \
		"limit", ARGUMENT_INTEGER, false, 1, MATCHES_MAX, MATCHES_DEFAULT,                 \
			"how many matches at most"                                                 \
	}

static const struct tool tools[] = {
	{"list_tables",
	 "Lists the tables within reach, with what one row of each stands for.",
	 TOOL_VIEW,
	 false,
	 false,
	 {{NULL, 0, 0, 0, 0, 0, NULL}}},
	{"describe_table",
	 "Shows one table: columns, keys, what one row stands for, sample rows.",
	 TOOL_VIEW,
	 false,
	 false,
	 {{"table", ARGUMENT_TEXT, true, 1, TABLE_NAME_MAX, 0, "name of the table"}}},
	{"search_schema",
	 "Finds the tables and columns that fit some words.",
	 TOOL_VIEW,
	 false,
	 false,
	 {ARGUMENT_WORDS("words to look for in names"), ARGUMENT_MATCHES}},
	{"search_values",
	 "Finds the stored values that occur in a text.",
	 TOOL_VIEW,
	 false,
	 false,
	 {ARGUMENT_WORDS("text to look for values in"), ARGUMENT_MATCHES}},
	{"list_metrics",
	 "Shows the defined metrics, dimensions and how the tables meet.",
	 TOOL_BROKER,
	 false,
	 false,
	 {{NULL, 0, 0, 0, 0, 0, NULL}}},
	{"explain_query",
	 "Shows how the database would run a statement and what it would read, "
	 "without running it.",
	 TOOL_STATEMENT,
	 false,
	 true,
	 {ARGUMENT_SQL}},
	{"run_query",
	 "Runs one SELECT statement and returns its rows.",
	 TOOL_STATEMENT,
	 true,
	 false,
	 {ARGUMENT_SQL,
	  {"rows", ARGUMENT_INTEGER, false, 1, JSON_INT_MAX, WRIT_ROWS_DEFAULT,
	   "how many rows at most; cut to what the scope allows"}}},
};

size_t tool_count(void)
{
	return ARRAY_LEN(tools);
}

const struct tool *tool_at(size_t index)
{
	return &tools[index];
}

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	}
	return NULL;
}

static const struct tool_argument *argument_find(const struct tool *tool, const char *name)
{
	for (size_t i = 0; i < TOOL_ARGUMENTS_MAX && tool->arguments[i].name != NULL; i++) {
		if (strcmp(tool->arguments[i].name, name) == 0)
			return &tool->arguments[i];
	}
	return NULL;
}

static int refuse_unknown(const struct tool *tool, const char *name, struct err *err)
{
	const char *names[TOOL_ARGUMENTS_MAX];
	size_t count = 0;
	const char *near;
	CLEANUP(buf_clear) struct buf taken = BUF_INIT;

	while (count < TOOL_ARGUMENTS_MAX && tool->arguments[count].name != NULL) {
		names[count] = tool->arguments[count].name;
		count++;
	}
	near = nearest_word(name, names, count);
	if (near != NULL)
		return err_set(err, ERR_INVALID,
			       "%s takes no argument \"%.64s\"; did you mean "
			       "\"%s\"?",
			       tool->name, name, near);
	for (size_t i = 0; i < count; i++)
		buf_addf(&taken, "%s%s", i == 0 ? "; it takes " : ", ", names[i]);
	return err_set(err, ERR_INVALID, "%s takes no argument \"%.64s\"%s", tool->name, name,
		       buf_str(&taken));
}

static int check_text(const struct tool_argument *argument, const struct json *value,
		      struct err *err)
{
	const char *text = json_str(value);
	int64_t len;

	if (text == NULL)
		return err_set(err, ERR_INVALID, "argument \"%s\" must be a string, not %s",
			       argument->name, json_type_name(json_type(value)));
	len = (int64_t)strlen(text);
	if (len < argument->min)
		return err_set(err, ERR_INVALID, "argument \"%s\" is empty", argument->name);
	if (len > argument->max)
		return err_set(err, strcmp(argument->name, "sql") == 0 ? ERR_LIMIT : ERR_INVALID,
			       "argument \"%s\" is longer than %lld bytes", argument->name,
			       (long long)argument->max);
	return 0;
}

static int check_integer(const struct tool_argument *argument, const struct json *value,
			 struct err *err)
{
	if (json_type(value) != JSON_INT)
		return err_set(err, ERR_INVALID, "argument \"%s\" must be an integer, not %s",
			       argument->name, json_type_name(json_type(value)));
	if (json_int(value) < argument->min || json_int(value) > argument->max)
		return err_set(err, ERR_INVALID, "argument \"%s\" must lie between %lld and %lld",
			       argument->name, (long long)argument->min, (long long)argument->max);
	return 0;
}

int tool_check_arguments(const struct tool *tool, const struct json *arguments, struct err *err)
{
	if (arguments != NULL && json_type(arguments) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "\"arguments\" must be an object");
	json_each(value, arguments)
	{
		const struct tool_argument *argument = argument_find(tool, json_key(value));
		int failed;

		if (argument == NULL)
			return refuse_unknown(tool, json_key(value), err);
		failed = argument->type == ARGUMENT_TEXT ? check_text(argument, value, err)
							 : check_integer(argument, value, err);
		if (failed < 0)
			return -1;
	}
	for (size_t i = 0; i < TOOL_ARGUMENTS_MAX && tool->arguments[i].name != NULL; i++) {
		if (tool->arguments[i].required &&
		    json_get(arguments, tool->arguments[i].name) == NULL)
			return err_set(err, ERR_INVALID, "%s needs the argument \"%s\"", tool->name,
				       tool->arguments[i].name);
	}
	return 0;
}

struct json *tool_fill_defaults(const struct tool *tool, const struct json *arguments)
{
	struct json *filled = json_copy(arguments);

	for (size_t i = 0; i < TOOL_ARGUMENTS_MAX && tool->arguments[i].name != NULL; i++) {
		const struct tool_argument *argument = &tool->arguments[i];

		if (!argument->required && json_get(filled, argument->name) == NULL)
			json_set_int(filled, argument->name, argument->fallback);
	}
	return filled;
}

static struct json *describe_argument(const struct tool_argument *argument)
{
	struct json *schema = json_object();
	bool text = argument->type == ARGUMENT_TEXT;

	json_set_str(schema, "type", text ? "string" : "integer");
	json_set_str(schema, "description", argument->about);
	json_set_int(schema, text ? "minLength" : "minimum", argument->min);
	if (argument->max != JSON_INT_MAX)
		json_set_int(schema, text ? "maxLength" : "maximum", argument->max);
	if (!argument->required)
		json_set_int(schema, "default", argument->fallback);
	return schema;
}

static struct json *describe_database(const char *const *databases, size_t count)
{
	struct json *schema = json_object();
	struct json *names = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(names, databases[i]);
	json_set_str(schema, "type", "string");
	json_set_str(schema, "description", "which database");
	json_set(schema, "enum", names);
	return schema;
}

struct json *tool_describe(const struct tool *tool, const char *const *databases,
			   size_t database_count)
{
	struct json *description = json_object();
	struct json *schema = json_object();
	struct json *properties = json_object();
	struct json *required = json_array();

	for (size_t i = 0; i < TOOL_ARGUMENTS_MAX && tool->arguments[i].name != NULL; i++) {
		json_set(properties, tool->arguments[i].name,
			 describe_argument(&tool->arguments[i]));
		if (tool->arguments[i].required)
			json_push_str(required, tool->arguments[i].name);
	}
	if (database_count > 1) {
		json_set(properties, "database", describe_database(databases, database_count));
		json_push_str(required, "database");
	}
	json_set_str(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_set_str(schema, "type", "object");
	json_set(schema, "properties", properties);
	json_set(schema, "required", required);
	json_set_bool(schema, "additionalProperties", false);
	json_set_str(description, "name", tool->name);
	json_set_str(description, "description", tool->about);
	json_set(description, "inputSchema", schema);
	return description;
}
