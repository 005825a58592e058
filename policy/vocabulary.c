/*
 * Data only. The lists of functions name what SQLite reports for a statement, lower case.
 *
 * Left out on purpose: printf and format (a width of 10^9 fills memory), zeroblob and randomblob
 * (the same), random (an answer that nobody can repeat), load_extension, fts3_tokenizer, readfile,
 * writefile, edit, and everything that tells about the connection or the build (sqlite_version,
 * sqlite_source_id, sqlite_compileoption_*, changes, last_insert_rowid, sqlite_offset).
 * Functions that read the clock are in: they tell nothing about the data.
 */
#include "policy/vocabulary.h"

#include <string.h>

const struct tool_word tool_words[] = {
	{"describe_table", false, true, false, {{"table", false}}},
	{"explain_query", true, false, false, {{"sql", false}}},
	{"list_metrics", false, false, false, {{NULL, false}}},
	{"list_tables", false, false, false, {{NULL, false}}},
	{"run_query", true, false, true, {{"sql", false}, {"rows", true}}},
	{"search_schema", false, false, false, {{"text", false}, {"limit", true}}},
	{"search_values", false, false, false, {{"text", false}, {"limit", true}}},
};
const size_t tool_word_count = sizeof(tool_words) / sizeof(tool_words[0]);

const char *const role_words[] = {"query", "report", NULL};

static const char *const aggregates[] = {
	"avg", "count", "max", "min", "sum", "total", NULL,
};

/* Core, aggregate, window, date, mathematics and JSON readers of SQLite. The JSON operators are
 * reported as functions of their own name. */
static const char *const standard[] = {
	"->",		"->>",
	"abs",		"acos",
	"acosh",	"asin",
	"asinh",	"atan",
	"atan2",	"atanh",
	"avg",		"ceil",
	"ceiling",	"char",
	"coalesce",	"concat",
	"concat_ws",	"cos",
	"cosh",		"count",
	"cume_dist",	"current_date",
	"current_time", "current_timestamp",
	"date",		"datetime",
	"degrees",	"dense_rank",
	"exp",		"first_value",
	"floor",	"glob",
	"group_concat", "hex",
	"ifnull",	"iif",
	"instr",	"json_array_length",
	"json_extract", "json_type",
	"json_valid",	"julianday",
	"lag",		"last_value",
	"lead",		"length",
	"like",		"ln",
	"log",		"log10",
	"log2",		"lower",
	"ltrim",	"max",
	"min",		"mod",
	"nth_value",	"ntile",
	"nullif",	"octet_length",
	"percent_rank", "pi",
	"pow",		"power",
	"radians",	"rank",
	"replace",	"round",
	"row_number",	"rtrim",
	"sign",		"sin",
	"sinh",		"sqrt",
	"strftime",	"string_agg",
	"substr",	"substring",
	"sum",		"tan",
	"tanh",		"time",
	"timediff",	"total",
	"trim",		"trunc",
	"typeof",	"unicode",
	"unixepoch",	"upper",
	NULL,
};

const struct function_list function_lists[] = {
	{"aggregates", "counting and adding up, nothing else", aggregates},
	{"standard", "aggregates, windows, dates, text, mathematics, reading of JSON", standard},
};
const size_t function_list_count = sizeof(function_lists) / sizeof(function_lists[0]);

const struct tool_word *tool_word_find(const char *name)
{
	for (size_t i = 0; i < tool_word_count; i++)
		if (strcmp(tool_words[i].name, name) == 0)
			return &tool_words[i];
	return NULL;
}

const struct function_list *function_list_find(const char *name)
{
	for (size_t i = 0; i < function_list_count; i++)
		if (strcmp(function_lists[i].name, name) == 0)
			return &function_lists[i];
	return NULL;
}
