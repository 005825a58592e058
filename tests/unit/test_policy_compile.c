/* policy/source.c, check.c, compile*.c, guard.c: scope files into a bundle, mistakes into problems.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/crypto.h"
#include "policy/compile.h"
#include "policy/vocabulary.h"
#include "tests/unit/workspace_dir.h"

static const char *const database_words[] = {"sales", "db"};
static const struct names databases = {database_words, 2};

struct compiled {
	struct buf bundle;
	struct problems problems;
	char *text; /* problems as printed */
	struct err err;
	int result;
};

static void compiled_clear(struct compiled *compiled)
{
	buf_clear(&compiled->bundle);
	problems_clear(&compiled->problems);
	free(compiled->text);
}

static void compile(const struct workspace_dir *dir, struct compiled *compiled)
{
	size_t len;
	FILE *out = open_memstream(&compiled->text, &len);

	compiled->result = policy_compile(dir->fd, &(struct policy_world){.databases = &databases},
					  &compiled->bundle, &compiled->problems, &compiled->err);
	problems_print(&compiled->problems, out);
	fclose(out);
}

/* One file, no more. */
static void compile_text(const char *text, struct compiled *compiled)
{
	struct workspace_dir dir = workspace_dir_make();

	workspace_dir_put(&dir, "scopes/x.yaml", text);
	compile(&dir, compiled);
	workspace_dir_remove(&dir);
}

static void test_every_mistake_is_shown_at_its_place(void **state)
{
	CLEANUP(mem_freep) char *text = source_file("tests/unit/fixtures/policy/mistakes.yaml");
	CLEANUP(mem_freep) char *golden = source_file("tests/unit/fixtures/policy/mistakes.txt");
	CLEANUP(compiled_clear) struct compiled compiled = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	workspace_dir_put(&dir, "scopes/mistakes.yaml", text);
	compile(&dir, &compiled);
	workspace_dir_remove(&dir);
	assert_int_equal(compiled.result, 0);
	assert_string_equal(compiled.text, golden);
	assert_int_equal(compiled.problems.error_count, compiled.problems.count);
	assert_int_equal(compiled.bundle.len, 0); /* nothing half-understood comes out */
}

static void test_a_scope_file_gives_these_bytes(void **state)
{
	CLEANUP(mem_freep) char *text = source_file("tests/unit/fixtures/policy/good.yaml");
	CLEANUP(mem_freep) char *golden = source_file("tests/unit/fixtures/policy/good.json");
	CLEANUP(compiled_clear) struct compiled compiled = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	golden[strcspn(golden, "\n")] = '\0';
	workspace_dir_put(&dir, "scopes/good.yaml", text);
	compile(&dir, &compiled);
	workspace_dir_remove(&dir);
	assert_string_equal(compiled.text, "");
	assert_int_equal(compiled.result, 0);
	assert_string_equal(buf_str(&compiled.bundle), golden);
}

#define HEAD "writ: 1\nscope: s\nowner: team:s\n"
#define AGENT                                                                                      \
	"agents:\n"                                                                                \
	"  a: {id: 'urn:a', role: query, token: 5m}\n"
#define RULE(body) HEAD AGENT "rules:\n  - {id: r, " body "}\n"

static void test_files_are_read_in_the_order_of_their_names(void **state)
{
	CLEANUP(compiled_clear) struct compiled one = {0};
	CLEANUP(compiled_clear) struct compiled two = {0};
	struct workspace_dir first = workspace_dir_make();
	struct workspace_dir second = workspace_dir_make();
	static const char a[] = HEAD AGENT "rules:\n  - {id: ra, effect: deny, agents: [b], "
					   "users: everyone, tools: all, data: all}\n";
	static const char b[] = "writ: 1\nscope: t\nowner: team:t\nagents:\n"
				"  b: {id: 'urn:b', role: report, token: 5m, hands_to: [a]}\n"
				"rules:\n  - {id: rb, effect: deny, agents: [a], "
				"users: everyone, tools: all, data: all}\n";

	(void)state;
	workspace_dir_put(&first, "scopes/a.yaml", a);
	workspace_dir_put(&first, "scopes/b.yaml", b);
	workspace_dir_put(&second, "scopes/b.yaml", b);
	workspace_dir_put(&second, "scopes/a.yaml", a);
	workspace_dir_put(&second, "scopes/README.md", "not a scope file");
	workspace_dir_put(&second, "scopes/.a.yaml.swp", "nor this");
	workspace_dir_put(&second, "scopes/tests/t.yaml", "nor what lies below");
	compile(&first, &one);
	compile(&second, &two);
	workspace_dir_remove(&first);
	workspace_dir_remove(&second);
	assert_string_equal(one.text, "");
	assert_string_equal(buf_str(&one.bundle), buf_str(&two.bundle));
	assert_true(strstr(one.bundle.bytes, "\"ra\"") < strstr(one.bundle.bytes, "\"rb\""));
}

static void test_a_scope_that_grants_nothing_is_fine(void **state)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};

	(void)state;
	compile_text(HEAD, &compiled);
	assert_string_equal(compiled.text, "");
	assert_string_equal(
		buf_str(&compiled.bundle),
		"{\"agents\":{},\"functions\":{},\"rules\":[],\"scopes\":{\"s\":{\"at\":"
		"\"scopes/x.yaml:2\",\"owner\":\"team:s\",\"timezone\":\"UTC\"}},"
		"\"writ_bundle\":1}");
}

static void says(const char *text, const char *problem)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};

	compile_text(text, &compiled);
	assert_int_equal(compiled.result, 0);
	if (strstr(compiled.text, problem) == NULL)
		fail_msg("said \"%s\", not \"%s\"", compiled.text, problem);
	assert_true(compiled.problems.error_count > 0);
	assert_int_equal(compiled.bundle.len, 0);
}

static void test_a_misspelt_key_refuses_everything(void **state)
{
	(void)state;
	says(HEAD "rule: []\n", "scopes/x.yaml:4:1: unknown key of a scope file \"rule\": did you "
				"mean \"rules\"?");
	says(RULE("effect: deny, agents: all, user: everyone, tools: all, data: all"),
	     "did you mean \"users\"?");
	says(RULE("effect: deny, agents: all, users: everyone, tools: all, data: {database: db, "
		  "table: {pay: {columns: all}}}"),
	     "did you mean \"tables\"?");
}

static void test_nothing_is_implied(void **state)
{
	static const char *const keys[] = {"agents", "users", "tools", "data"};
	static const char *const full[] = {"agents: all", "users: everyone", "tools: all",
					   "data: all"};

	(void)state;
	for (size_t left_out = 0; left_out < ARRAY_LEN(keys); left_out++) {
		struct buf text = BUF_INIT;
		CLEANUP(mem_freep) char *missing = mem_format("has no \"%s\"", keys[left_out]);
		CLEANUP(mem_freep) char *empty = mem_format("%s must be", keys[left_out]);

		buf_add_str(&text, HEAD AGENT "rules:\n  - {id: r, effect: deny");
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (i != left_out)
				buf_addf(&text, ", %s", full[i]);
		buf_add_str(&text, "}\n");
		says(buf_str(&text), missing);
		buf_clear(&text);
		buf_addf(&text, HEAD AGENT "rules:\n  - {id: r, effect: deny, %s: }\n",
			 keys[left_out]);
		says(buf_str(&text), empty);
		buf_clear(&text);
	}
}

static void test_only_rules_that_take_away_speak_of_everything(void **state)
{
	(void)state;
	says(RULE("effect: allow, agents: all, users: everyone, tools: all, data: all"),
	     "an allow rule names its database and tables");
	says(RULE("effect: allow, agents: all, users: everyone, tools: all, data: {database: db, "
		  "tables: all}"),
	     "an allow rule names each table");
	says(RULE("effect: deny, agents: all, users: everyone, tools: all, data: none"),
	     "would match nothing");
	says(RULE("effect: ask, agents: all, users: everyone, tools: all, data: {database: db}"),
	     "data names no table");
	says(RULE("effect: allow, agents: all, users: everyone, tools: all, data: {database: db, "
		  "functions: [standard]}"),
	     "data names no table");
}

static void test_tokens_live_five_minutes_at_most(void **state)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};

	(void)state;
	compile_text(HEAD "agents:\n  a: {id: 'urn:a', role: query, token: 300s}\n", &compiled);
	assert_string_equal(compiled.text, "");
	says(HEAD "agents:\n  a: {id: 'urn:a', role: query, token: 301s}\n",
	     "scopes/x.yaml:5:40: the life of a token may be 5m at most");
	says(HEAD "agents:\n  a: {id: 'urn:a', role: query}\n", "agent a has no \"token\"");
	says(HEAD "agents:\n  a: {id: 'urn:a', role: query, token: never}\n", "a duration");
	says("writ: 1\nscope: s\n", "a scope file has no \"owner\"");
}

static void test_quantities_have_one_form(void **state)
{
	static const char *const bad[] = {"5",	 "5 s",	 "s",	 "-5s", "5.5s", "05s", "5S",
					  "5ms", "5sec", "0x5s", "",	"5d",	"1MiB"};
	static const char *const large[] = {"87000s", "25h", "9223372036854775807s",
					    "9223372036854775808s", "99999999999999999999999h"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(mem_freep)
		char *text = mem_format("%sagents:\n  a: {id: 'urn:a', role: query, token: 5m, "
					"per_task: {time: %s}}\n",
					HEAD, bad[i]);

		says(text, "time must be a duration");
	}
	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		CLEANUP(mem_freep)
		char *text = mem_format("%sagents:\n  a: {id: 'urn:a', role: query, token: 5m, "
					"per_task: {time: %s}}\n",
					HEAD, large[i]);

		says(text, "time may be 24h at most");
	}
}

static void test_one_agent_one_uri_over_all_files(void **state)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	workspace_dir_put(&dir, "scopes/a.yaml", HEAD AGENT);
	workspace_dir_put(&dir, "scopes/b.yaml",
			  "writ: 1\nscope: s\nowner: o\nagents:\n"
			  "  a: {id: 'urn:x', role: query, token: 5m}\n"
			  "  b: {id: 'urn:a', role: query, token: 5m}\n");
	compile(&dir, &compiled);
	workspace_dir_remove(&dir);
	assert_string_equal(compiled.problems.items[0].message,
			    "scope s is defined twice, first at scopes/a.yaml:2");
	assert_string_equal(compiled.problems.items[1].message,
			    "agent a is defined twice, first at scopes/a.yaml:5");
	assert_string_equal(compiled.problems.items[2].message,
			    "agent a has this id already (scopes/a.yaml:5): one agent, one URI");
	assert_string_equal(compiled.problems.items[2].file, "scopes/b.yaml");
	assert_int_equal(compiled.problems.items[2].line, 6);
	assert_int_equal(compiled.problems.count, 3);
}

static void test_a_workspace_without_scope_files_is_refused(void **state)
{
	CLEANUP(compiled_clear) struct compiled without = {0};
	CLEANUP(compiled_clear) struct compiled empty = {0};
	struct workspace_dir dir = workspace_dir_make();
	static const char text[] =
		"scopes/ holds no scope file (*.yaml): nothing says what agents may do\n";

	(void)state;
	compile(&dir, &without);
	workspace_dir_put(&dir, "scopes/README.md", "");
	compile(&dir, &empty);
	workspace_dir_remove(&dir);
	assert_string_equal(without.text, text);
	assert_string_equal(empty.text, text);
	assert_int_equal(empty.bundle.len, 0);
}

static void test_what_would_be_passed_over_is_a_mistake(void **state)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	workspace_dir_put(&dir, "scopes/a.yaml", HEAD);
	workspace_dir_put(&dir, "scopes/b.yml", HEAD);
	compile(&dir, &compiled);
	workspace_dir_remove(&dir);
	assert_string_equal(compiled.text,
			    "scopes/b.yml is no scope file by its name; rename it to "
			    "end in .yaml\n");
	assert_int_equal(compiled.bundle.len, 0);
}

static void test_a_file_that_is_no_yaml_does_not_hide_the_others(void **state)
{
	CLEANUP(compiled_clear) struct compiled compiled = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	workspace_dir_put(&dir, "scopes/a.yaml", "writ: [1\n");
	workspace_dir_put(&dir, "scopes/b.yaml", "writ: 1\nwrit: 1\n");
	workspace_dir_put(&dir, "scopes/c.yaml", "writ: 1\nscope: s\n");
	workspace_dir_put(&dir, "scopes/d.yaml", "- a list\n");
	workspace_dir_put(&dir, "scopes/e.yaml", "scope: &x s\n");
	compile(&dir, &compiled);
	workspace_dir_remove(&dir);
	assert_int_equal(compiled.problems.count, 5);
	assert_string_equal(compiled.problems.items[0].file, "scopes/a.yaml");
	assert_non_null(strstr(compiled.problems.items[1].text,
			       "scopes/b.yaml:2:1: duplicate key \"writ\", first at line 1"));
	assert_non_null(strstr(compiled.problems.items[2].text, "has no \"owner\""));
	assert_non_null(strstr(compiled.problems.items[3].text, "must be a map"));
	assert_non_null(strstr(compiled.problems.items[4].text, "anchors"));
}

static void test_scope_files_of_others_are_not_obeyed(void **state)
{
	CLEANUP(compiled_clear) struct compiled writable = {0};
	CLEANUP(compiled_clear) struct compiled linked = {0};
	CLEANUP(compiled_clear) struct compiled folder = {0};
	struct workspace_dir dir = workspace_dir_make();

	(void)state;
	workspace_dir_put(&dir, "scopes/a.yaml", HEAD);
	assert_int_equal(fchmodat(dir.fd, "scopes/a.yaml", 0664, 0), 0);
	compile(&dir, &writable);
	assert_string_equal(writable.text,
			    "scopes/a.yaml can be written by others; run: chmod go-w "
			    "scopes/a.yaml\n");
	assert_int_equal(fchmodat(dir.fd, "scopes/a.yaml", 0644, 0), 0);
	renameat(dir.fd, "scopes/a.yaml", dir.fd, "elsewhere");
	assert_int_equal(symlinkat("../elsewhere", dir.fd, "scopes/a.yaml"), 0);
	compile(&dir, &linked);
	assert_string_equal(linked.text, "scopes/a.yaml is a link; put the file itself there\n");
	assert_int_equal(fchmodat(dir.fd, "scopes", 0777, 0), 0);
	compile(&dir, &folder);
	assert_int_equal(folder.result, -1);
	assert_string_equal(folder.err.text,
			    "scopes can be written by others; run: chmod go-w scopes");
	workspace_dir_remove(&dir);
}

static void test_databases_may_be_unknown(void **state)
{
	struct workspace_dir dir = workspace_dir_make();
	struct problems problems = PROBLEMS_INIT;
	struct buf bundle = BUF_INIT;
	struct err err = {0};

	(void)state;
	workspace_dir_put(&dir, "scopes/a.yaml",
			  RULE("effect: deny, agents: all, users: everyone, tools: all, data: "
			       "{database: any, tables: all}"));
	assert_int_equal(policy_compile(dir.fd, NULL, &bundle, &problems, &err), 0);
	assert_int_equal(problems.count, 0);
	assert_true(bundle.len > 0);
	workspace_dir_remove(&dir);
	buf_clear(&bundle);
	problems_clear(&problems);
}

static bool lists(const char *list, const char *name)
{
	const struct function_list *found = function_list_find(list);

	for (size_t i = 0; found->functions[i] != NULL; i++)
		if (strcmp(found->functions[i], name) == 0)
			return true;
	return false;
}

static void test_function_lists_leave_out_what_is_dangerous(void **state)
{
	static const char *const out[] = {
		"load_extension", "zeroblob",	   "randomblob",     "random",
		"printf",	  "format",	   "fts3_tokenizer", "readfile",
		"writefile",	  "edit",	   "sqlite_version", "changes",
		"quote",	  "sqlite_offset", "likely",	     "last_insert_rowid"};
	static const char *const in[] = {"sum",		 "count",    "coalesce", "like",
					 "glob",	 "round",    "date",	 "->>",
					 "json_extract", "strftime", "substr"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(out); i++)
		assert_false(lists("standard", out[i]));
	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		assert_true(lists("standard", in[i]));
	assert_true(lists("aggregates", "sum"));
	assert_false(lists("aggregates", "lower"));
	assert_null(function_list_find("none"));
	for (size_t l = 0; l < function_list_count; l++)
		for (size_t i = 1; function_lists[l].functions[i] != NULL; i++)
			assert_true(strcmp(function_lists[l].functions[i - 1],
					   function_lists[l].functions[i]) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_mistake_is_shown_at_its_place),
		cmocka_unit_test(test_a_scope_file_gives_these_bytes),
		cmocka_unit_test(test_files_are_read_in_the_order_of_their_names),
		cmocka_unit_test(test_a_scope_that_grants_nothing_is_fine),
		cmocka_unit_test(test_a_misspelt_key_refuses_everything),
		cmocka_unit_test(test_nothing_is_implied),
		cmocka_unit_test(test_only_rules_that_take_away_speak_of_everything),
		cmocka_unit_test(test_tokens_live_five_minutes_at_most),
		cmocka_unit_test(test_quantities_have_one_form),
		cmocka_unit_test(test_one_agent_one_uri_over_all_files),
		cmocka_unit_test(test_a_workspace_without_scope_files_is_refused),
		cmocka_unit_test(test_what_would_be_passed_over_is_a_mistake),
		cmocka_unit_test(test_a_file_that_is_no_yaml_does_not_hide_the_others),
		cmocka_unit_test(test_scope_files_of_others_are_not_obeyed),
		cmocka_unit_test(test_databases_may_be_unknown),
		cmocka_unit_test(test_function_lists_leave_out_what_is_dangerous),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
