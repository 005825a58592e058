/*
 * The tests that ship with the examples hold their rules in place: whichever condition, or entry of
 * a list, is taken out of the compiled rules, a case fails or the coverage falls below 100 %.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/compile.h"
#include "policy/tests.h"
#include "tests/unit/workspace_dir.h"

struct example {
	int fd;
	struct json *json; /* the bundle */
	struct policy_tests tests;
	size_t mutants;
	size_t survivors;
};

static void example_open(const char *name, struct example *example)
{
	const char *root = getenv("WRIT_SOURCE");
	CLEANUP(mem_freep) char *path = mem_format("%s/examples/%s", root ? root : ".", name);
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct err err = {0};

	*example = (struct example){.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	assert_true(example->fd >= 0);
	assert_int_equal(policy_compile(example->fd, NULL, &bytes, &problems, &err), 0);
	problems_print(&problems, stderr);
	assert_int_equal(problems.error_count, 0);
	assert_int_equal(bundle_read(bytes.bytes, bytes.len, &bundle, &err), 0);
	assert_int_equal(json_parse(bytes.bytes, bytes.len, bytes.len, &example->json, &err), 0);
	assert_int_equal(policy_tests_read(example->fd, bundle, &example->tests, &problems, &err),
			 0);
	problems_print(&problems, stderr);
	assert_int_equal(problems.error_count, 0);
}

static void example_close(struct example *example)
{
	policy_tests_clear(&example->tests);
	json_free(example->json);
	close(example->fd);
}

/* Do the tests notice? A bundle that is refused is noticed as well. */
static bool is_noticed(const struct example *example, const struct json *json)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct tests_result result;
	bool noticed;

	json_write_canonical(json, &bytes);
	if (bundle_read(bytes.bytes, bytes.len, &bundle, NULL) < 0)
		return true;
	policy_tests_run(bundle, &example->tests, &result);
	noticed = result.failed > 0 || tests_cover_percent(&result.cover) < 100;
	tests_result_clear(&result);
	return noticed;
}

static struct json *rule_of(struct json *json, size_t at)
{
	struct json *rules = json_get_mut(json, "rules");

	return (struct json *)(uintptr_t)json_at(rules, at);
}

static void try_mutant(struct example *example, struct json *mutant, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes the mutant. */
static void try_mutant(struct example *example, struct json *mutant, const char *format, ...)
{
	va_list args;

	example->mutants++;
	if (!is_noticed(example, mutant)) {
		example->survivors++;
		va_start(args, format);
		fputs("no test notices: ", stderr);
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
		va_end(args);
	}
	json_free(mutant);
}

static struct json *without(const struct json *list, size_t at)
{
	struct json *left = json_array();

	for (size_t i = 0; i < json_len(list); i++)
		if (i != at)
			json_push(left, json_copy(json_at(list, i)));
	return left;
}

/* Widened to the word, and less each entry of its list. */
static void mutate_member(struct example *example, size_t at, const char *key, const char *word)
{
	const struct json *rule = json_at(json_get(example->json, "rules"), at);
	const char *id = json_get_str(rule, "id");
	const struct json *list = json_get(rule, key);

	if (json_type(list) != JSON_ARRAY)
		return;
	for (size_t i = 0; i <= json_len(list); i++) {
		struct json *mutant = json_copy(example->json);

		json_set(rule_of(mutant, at), key,
			 i == json_len(list) ? json_new_str(word) : without(list, i));
		try_mutant(example, mutant, "%s: %s %s", id, key,
			   i == json_len(list) ? word : json_str(json_at(list, i)));
	}
}

static struct json *data_of(struct json *mutant, size_t at)
{
	return json_get_mut(rule_of(mutant, at), "data");
}

static void mutate_table(struct example *example, size_t at, const struct json *table)
{
	const char *name = json_key(table);
	struct json *mutant = json_copy(example->json);

	json_remove(json_get_mut(data_of(mutant, at), "tables"), name);
	try_mutant(example, mutant, "rule %zu: without table %s", at, name);
	if (json_type(table) != JSON_ARRAY)
		return;
	for (size_t i = 0; i <= json_len(table); i++) {
		mutant = json_copy(example->json);
		json_set(json_get_mut(data_of(mutant, at), "tables"), name,
			 i == json_len(table) ? json_new_str("all") : without(table, i));
		try_mutant(example, mutant, "rule %zu: columns of %s, %zu", at, name, i);
	}
}

static void mutate_data(struct example *example, size_t at)
{
	const struct json *rule = json_at(json_get(example->json, "rules"), at);
	const struct json *data = json_get(rule, "data");
	bool allows = strcmp(json_get_str(rule, "effect"), "allow") == 0;
	struct json *mutant;

	if (json_type(data) != JSON_OBJECT)
		return;
	json_each(table, json_get(data, "tables")) mutate_table(example, at, table);
	for (size_t i = 0; i < json_len(json_get(data, "functions")); i++) {
		mutant = json_copy(example->json);
		json_set(data_of(mutant, at), "functions", without(json_get(data, "functions"), i));
		try_mutant(example, mutant, "rule %zu: functions, %zu", at, i);
	}
	mutant = json_copy(example->json);
	json_set_str(data_of(mutant, at), "database", "archive");
	try_mutant(example, mutant, "rule %zu: another database", at);
	if (allows)
		return;
	mutant = json_copy(example->json);
	json_set_str(rule_of(mutant, at), "data", "all");
	try_mutant(example, mutant, "rule %zu: data all", at);
	mutant = json_copy(example->json);
	json_set_str(data_of(mutant, at), "tables", "all");
	try_mutant(example, mutant, "rule %zu: tables all", at);
}

static void mutate_limits(struct example *example, size_t at)
{
	const struct json *limits =
		json_get(json_at(json_get(example->json, "rules"), at), "per_call");

	json_each(limit, limits)
	{
		struct json *mutant = json_copy(example->json);

		json_set_int(json_get_mut(rule_of(mutant, at), "per_call"), json_key(limit),
			     json_int(limit) - 1);
		try_mutant(example, mutant, "rule %zu: %s", at, json_key(limit));
	}
}

static void no_mutant_survives(const char *name)
{
	struct example example;

	example_open(name, &example);
	assert_true(example.tests.count > 0);
	assert_false(is_noticed(&example, example.json));
	for (size_t at = 0; at < json_len(json_get(example.json, "rules")); at++) {
		struct json *mutant = json_copy(example.json);

		json_set(mutant, "rules", without(json_get(example.json, "rules"), at));
		example.mutants++;
		/* The coverage of the rule that is gone cannot be asked for: a case must fail. */
		example.survivors += !is_noticed(&example, mutant);
		json_free(mutant);
		mutate_member(&example, at, "agents", "all");
		mutate_member(&example, at, "users", "everyone");
		mutate_member(&example, at, "tools", "all");
		mutate_data(&example, at);
		mutate_limits(&example, at);
	}
	assert_true(example.mutants > 20);
	assert_int_equal(example.survivors, 0);
	example_close(&example);
}

static void test_no_condition_of_the_sales_example_can_go_unnoticed(void **state)
{
	(void)state;
	no_mutant_survives("sales");
}

static void test_no_condition_of_the_widgets_example_can_go_unnoticed(void **state)
{
	(void)state;
	no_mutant_survives("widgets");
}

static void test_no_condition_of_the_company_example_can_go_unnoticed(void **state)
{
	(void)state;
	no_mutant_survives("company");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_condition_of_the_sales_example_can_go_unnoticed),
		cmocka_unit_test(test_no_condition_of_the_widgets_example_can_go_unnoticed),
		cmocka_unit_test(test_no_condition_of_the_company_example_can_go_unnoticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
