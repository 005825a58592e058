/*
 * The files of scopes/tests/ into cases. What is named at the top of a file (users, calls) is
 * looked up when a case names it; a case becomes the product of its lists. Each mistake stands at
 * its word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "policy/check.h"
#include "policy/compile_parts.h"
#include "policy/tests.h"
#include "policy/vocabulary.h"

const char *const effect_words[] = {"deny", "ask", "allow"};

struct reading {
	struct check check;
	const struct bundle *bundle;
	struct policy_tests *tests;
	const struct yaml *users; /* the named ones of this file */
	const struct yaml *calls;
	const char **agents; /* of the bundle */
	size_t agent_count;
};

struct item { /* one of the things given */
	char *label;
	struct json *members; /* of the call's JSON */
};

struct items {
	struct item *items;
	size_t count;
};

static void items_clear(struct items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		mem_free(items->items[i].label);
		json_free(items->items[i].members);
	}
	mem_free(items->items);
}

static void items_add(struct items *items, const char *label, struct json *members)
{
	items->items = mem_grow(items->items, (items->count + 1) * sizeof(*items->items));
	items->items[items->count++] = (struct item){mem_str(label), members};
}

/* YAML without implicit types but two: unquoted whole numbers, true and false. */
static struct json *value_of(const struct yaml *node)
{
	struct json *json;
	int64_t number;
	bool flag;

	switch (yaml_kind(node)) {
	case YAML_LIST:
		json = json_array();
		for (size_t i = 0; i < yaml_len(node); i++)
			json_push(json, value_of(yaml_at(node, i)));
		return json;
	case YAML_MAP:
		json = json_object();
		for (size_t i = 0; i < yaml_len(node); i++)
			json_set(json, yaml_text(yaml_key(node, i)), value_of(yaml_value(node, i)));
		return json;
	case YAML_SCALAR:
		break;
	}
	if (yaml_is_null(node))
		return json_new_null();
	if (yaml_want_int(node, -JSON_INT_MAX, JSON_INT_MAX, &number, NULL) == 0)
		return json_new_int(number);
	if (yaml_want_bool(node, &flag, NULL) == 0)
		return json_new_bool(flag);
	return json_new_str(yaml_text(node));
}

/* A map written out, or the name of one at the top of the file. */
static const struct yaml *resolve(struct reading *reading, const struct yaml *node,
				  const struct yaml *named, const char *what)
{
	CLEANUP(mem_freep) const char **names = NULL;
	const struct yaml *found;

	if (yaml_kind(node) == YAML_MAP)
		return node;
	if (check_text(&reading->check, node, what) == NULL)
		return NULL;
	found = yaml_get(named, yaml_text(node));
	if (found != NULL)
		return found;
	names = mem_array(yaml_len(named) + 1, sizeof(*names));
	for (size_t i = 0; i < yaml_len(named); i++)
		names[i] = yaml_text(yaml_key(named, i));
	check_unknown(&reading->check, "unknown_word", node, what,
		      (struct words){names, yaml_len(named)});
	return NULL;
}

static void read_given_map(struct reading *reading, const struct yaml *node, size_t number,
			   const char *what, const struct yaml *named, const char *const *keys,
			   struct items *items)
{
	const struct yaml *map = resolve(reading, node, named, what + 2);
	CLEANUP(mem_freep) char *label = NULL;

	if (map == NULL || !check_map(&reading->check, map, what, keys))
		return;
	label = map == node ? mem_format("%s %zu", what + 2, number + 1) : mem_str(yaml_text(node));
	items_add(items, label, value_of(map));
}

static bool given_list(struct reading *reading, const struct yaml *given, const char *key,
		       const char *example, const struct yaml **ret_list)
{
	*ret_list = check_member(&reading->check, given, "given", key, example);
	return *ret_list != NULL && check_list(&reading->check, *ret_list, key);
}

static void read_agents(struct reading *reading, const struct yaml *given, struct items *items)
{
	const struct yaml *list;

	if (!given_list(reading, given, "agents", "agents: [sales-query-01]", &list))
		return;
	for (size_t i = 0; i < yaml_len(list); i++) {
		const char *name =
			check_word(&reading->check, yaml_at(list, i), "agent",
				   (struct words){reading->agents, reading->agent_count});
		struct json *members;

		if (name == NULL)
			continue;
		members = json_object();
		json_set_str(members, "agent", name);
		items_add(items, name, members);
	}
}

static void read_users(struct reading *reading, const struct yaml *given, struct items *items)
{
	static const char *const keys[] = {"user", "groups", "tenant", "attributes", NULL};
	const struct yaml *list;

	if (!given_list(reading, given, "users", "users: [{user: anna, groups: [sales]}]", &list))
		return;
	for (size_t i = 0; i < yaml_len(list); i++)
		read_given_map(reading, yaml_at(list, i), i, "a user", reading->users, keys, items);
}

/* A test may ask for a tool that does not exist, to show that it is not granted: only a likely slip
 * of the pen is a mistake. */
static bool check_tool(struct reading *reading, const struct yaml *call)
{
	CLEANUP(mem_freep) const char **tools = mem_array(tool_word_count, sizeof(*tools));
	const struct yaml *node =
		check_member(&reading->check, call, "a call", "tool", "tool: run_query");
	const char *name = check_text(&reading->check, node, "tool");

	for (size_t i = 0; i < tool_word_count; i++)
		tools[i] = tool_words[i].name;
	if (name == NULL)
		return false;
	if (tool_word_find(name) != NULL || nearest_word(name, tools, tool_word_count) == NULL)
		return true;
	check_unknown(&reading->check, "unknown_word", node, "tool",
		      (struct words){tools, tool_word_count});
	return false;
}

static void read_calls(struct reading *reading, const struct yaml *given, struct items *items)
{
	static const char *const keys[] = {"tool",	"database",  "tables", "columns",
					   "functions", "arguments", "time",   "environment",
					   "approved",	NULL};
	const struct yaml *list;

	if (!given_list(reading, given, "calls", "calls: [{tool: list_tables, database: sales}]",
			&list))
		return;
	for (size_t i = 0; i < yaml_len(list); i++) {
		const struct yaml *call = yaml_at(list, i);
		const struct yaml *map = yaml_kind(call) == YAML_MAP
						 ? call
						 : yaml_get(reading->calls, yaml_text(call));

		if (map != NULL && yaml_kind(map) == YAML_MAP && !check_tool(reading, map))
			continue;
		read_given_map(reading, call, i, "a call", reading->calls, keys, items);
	}
}

static bool rule_exists(const struct bundle *bundle, const char *rule)
{
	for (size_t i = 0; i < bundle_rule_count(bundle); i++)
		if (strcmp(bundle_rule_id(bundle, i), rule) == 0)
			return true;
	return false;
}

static void read_rule(struct reading *reading, const struct yaml *node, struct expectation *expect)
{
	size_t count = bundle_rule_count(reading->bundle);
	CLEANUP(mem_freep) const char **ids = mem_array(count + 1, sizeof(*ids));
	const char *text = check_text(&reading->check, node, "rule");

	if (text == NULL)
		return;
	if (strcmp(text, "none") != 0 && !rule_exists(reading->bundle, text)) {
		for (size_t i = 0; i < count; i++)
			ids[i] = bundle_rule_id(reading->bundle, i);
		check_unknown(&reading->check, "unknown_word", node, "rule",
			      (struct words){ids, count});
		return;
	}
	json_push_str(reading->tests->memory, strcmp(text, "none") == 0 ? "" : text);
	expect->rule =
		json_str(json_at(reading->tests->memory, json_len(reading->tests->memory) - 1));
}

static void read_code(struct reading *reading, const struct yaml *node, struct expectation *expect)
{
	static const char *const codes[] = {"allowed",	   "rule_denies",   "rule_asks",
					    "no_rule",	   "unknown_agent", "malformed",
					    "rule_unclear"};

	expect->code =
		check_word(&reading->check, node, "code", (struct words){codes, ARRAY_LEN(codes)});
}

static bool read_limits(struct reading *reading, const struct yaml *node,
			struct call_limits *limits)
{
	struct check *check = &reading->check;
	const struct yaml *rows = yaml_get(node, "rows"), *bytes = yaml_get(node, "bytes");
	const struct yaml *scan = yaml_get(node, "scan"), *time = yaml_get(node, "time");

	return (rows == NULL || check_count(check, rows, "rows", 1LL << 50, &limits->rows)) &&
	       (bytes == NULL || check_size(check, bytes, "bytes", 1LL << 50, &limits->bytes)) &&
	       (scan == NULL || check_size(check, scan, "scan", 1LL << 50, &limits->scan_bytes)) &&
	       (time == NULL || check_duration_ms(check, time, "time", 86400000, &limits->time_ms));
}

static bool read_expect(struct reading *reading, const struct yaml *map, struct expectation *expect)
{
	static const char *const keys[] = {"effect", "rule", "code", "rows",
					   "bytes",  "scan", "time", NULL};
	struct check *check = &reading->check;
	const struct yaml *node = check_member(check, map, "a case", "expect",
					       "expect: {effect: allow, rule: read-sales}");
	const char *word;

	*expect = (struct expectation){.limits = {-1, -1, -1, -1}};
	if (node == NULL || !check_map(check, node, "expect", keys))
		return false;
	word = check_word(check, check_member(check, node, "expect", "effect", "effect: deny"),
			  "effect", (struct words){effect_words, 3});
	if (word == NULL || !read_limits(reading, node, &expect->limits))
		return false;
	while (strcmp(effect_words[expect->effect], word) != 0)
		expect->effect++;
	if (yaml_get(node, "rule") != NULL)
		read_rule(reading, yaml_get(node, "rule"), expect);
	if (yaml_get(node, "code") != NULL)
		read_code(reading, yaml_get(node, "code"), expect);
	return true;
}

static void merge(struct json *call, const struct json *members)
{
	json_each(member, members) json_set(call, json_key(member), json_copy(member));
}

static void add_case(struct reading *reading, const struct yaml *node, const char *name,
		     const struct item *agent, const struct item *user, const struct item *call,
		     const struct expectation *expect)
{
	struct policy_tests *tests = reading->tests;
	CLEANUP(json_freep) struct json *json = json_object();
	struct policy_check_case *made;
	struct call_spec *spec;
	struct err err = {0};

	merge(json, agent->members);
	merge(json, user->members);
	merge(json, call->members);
	if (call_spec_read(json, &spec, &err) < 0) {
		check_fail(&reading->check, "bad_value", node, "%s, %s: %s", user->label,
			   call->label, err.text);
		return;
	}
	if (tests->count % 64 == 0)
		tests->cases = mem_grow(tests->cases, (tests->count + 64) * sizeof(*tests->cases));
	made = &tests->cases[tests->count++];
	*made = (struct policy_check_case){
		.name = mem_format("%s [%s, %s, %s]", name, agent->label, user->label, call->label),
		.at = place_of(node),
		.spec = spec,
		.expect = *expect,
	};
}

static void add_cases(struct reading *reading, const struct yaml *node, const char *name,
		      const struct items *agents, const struct items *users,
		      const struct items *calls, const struct expectation *expect)
{
	size_t all = agents->count * users->count * calls->count;

	if (all > POLICY_TEST_CASES_MAX || reading->tests->count + all > POLICY_TEST_CASES_MAX) {
		check_fail(&reading->check, "too_many", node, "more than %u cases in all",
			   POLICY_TEST_CASES_MAX);
		return;
	}
	for (size_t a = 0; a < agents->count; a++)
		for (size_t u = 0; u < users->count; u++)
			for (size_t c = 0; c < calls->count; c++)
				add_case(reading, node, name, &agents->items[a], &users->items[u],
					 &calls->items[c], expect);
}

static void read_case(struct reading *reading, const struct yaml *node)
{
	static const char *const keys[] = {"name", "given", "expect", NULL};
	static const char *const given_keys[] = {"agents", "users", "calls", NULL};
	struct check *check = &reading->check;
	CLEANUP(items_clear) struct items agents = {0};
	CLEANUP(items_clear) struct items users = {0};
	CLEANUP(items_clear) struct items calls = {0};
	struct expectation expect;
	const struct yaml *given;
	const char *name;

	if (!check_map(check, node, "a case", keys))
		return;
	name = check_text(
		check,
		check_member(check, node, "a case", "name", "name: sales people read orders"),
		"name");
	given = check_member(check, node, "a case", "given",
			     "given: {agents: [a], users: [u], calls: [c]}");
	if (!read_expect(reading, node, &expect) || given == NULL ||
	    !check_map(check, given, "given", given_keys))
		return;
	read_agents(reading, given, &agents);
	read_users(reading, given, &users);
	read_calls(reading, given, &calls);
	if (name != NULL)
		add_cases(reading, node, name, &agents, &users, &calls, &expect);
}

static void read_root(struct reading *reading, const struct yaml *root)
{
	static const char *const keys[] = {"writ_tests", "users", "calls", "cases", NULL};
	static const char what[] = "a test file";
	struct check *check = &reading->check;
	const struct yaml *version, *cases;
	int64_t number;

	if (!check_map(check, root, what, keys))
		return;
	version = check_member(check, root, what, "writ_tests", "writ_tests: 1");
	if (version != NULL && yaml_want_int(version, 1, 1, &number, NULL) < 0)
		check_fail(check, "bad_value", version,
			   "writ_tests is the version of the format: write writ_tests: 1");
	reading->users = yaml_get(root, "users");
	reading->calls = yaml_get(root, "calls");
	cases = check_member(check, root, what, "cases", "cases: [{name: ..., given: ..., ...}]");
	if (cases == NULL || !check_list(check, cases, "cases"))
		return;
	for (size_t i = 0; i < yaml_len(cases); i++)
		read_case(reading, yaml_at(cases, i));
}

static void read_file(struct reading *reading, int folder_fd, const char *name)
{
	CLEANUP(mem_freep) char *shown = mem_format("scopes/tests/%s", name);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct yaml *root = NULL;
	struct err err = {0};

	if (file_read_at(folder_fd, name, POLICY_TEST_FILE_MAX, &bytes, &err) < 0)
		problems_add_err(reading->check.problems, "unreadable", &err);
	else if (yaml_parse(shown, buf_str(&bytes), bytes.len, &root, &err) < 0)
		problems_add_err(reading->check.problems, "yaml", &err);
	else
		read_root(reading, root);
	yaml_free(root);
}

static int is_test_file(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".yaml") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_folder(struct reading *reading, int folder_fd, struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++) {
		read_file(reading, folder_fd, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

int policy_tests_read(int workspace_fd, const struct bundle *bundle, struct policy_tests *ret_tests,
		      struct problems *problems, struct err *err)
{
	size_t count = bundle_agent_count(bundle);
	CLEANUP(mem_freep) const char **agents = mem_array(count + 1, sizeof(*agents));
	struct policy_tests tests = {.memory = json_array()};
	struct reading reading = {.check = {problems},
				  .bundle = bundle,
				  .tests = &tests,
				  .agents = agents,
				  .agent_count = count};
	struct dirent **entries = NULL;
	CLEANUP(fd_closep)
	int fd = openat(workspace_fd, "scopes/tests",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int found = fd < 0 ? 0 : scandirat(fd, ".", &entries, is_test_file, by_name);

	if ((fd < 0 && errno != ENOENT) || found < 0) {
		policy_tests_clear(&tests);
		return err_errno(err, "scopes/tests");
	}
	for (size_t i = 0; i < count; i++)
		agents[i] = bundle_agent_at(bundle, i)->name;
	read_folder(&reading, fd, entries, found);
	problems_sort(problems);
	*ret_tests = tests;
	return 0;
}

void policy_tests_clear(struct policy_tests *tests)
{
	for (size_t i = 0; i < tests->count; i++) {
		mem_free(tests->cases[i].name);
		mem_free(tests->cases[i].at);
		call_spec_free(tests->cases[i].spec);
	}
	mem_free(tests->cases);
	json_free(tests->memory);
	*tests = (struct policy_tests){0};
}
