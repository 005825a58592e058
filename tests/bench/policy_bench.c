/*
 * policy_bench FOLDER: times the evaluator, the compiler and the swap of a bundle, and prints one
 * row a line (name, value, unit, target, method; tabs between) for tests/bench/run.sh. FOLDER also
 * gets rules-N.json and calls-N.json: the same rules and calls in plain words, for other engines.
 *
 * Rules are spread so that an agent and a tool have at most 16 of them; "all on one" puts every
 * rule on one agent and tool. Each decision is timed by itself with the monotonic clock, whose own
 * cost is taken off.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/file.h"
#include "policy/compile.h"
#include "policy/facts.h"

#define RULES_PER_PAIR 16
#define CALLS 4096
#define ROUNDS 16

static const char *const tools[] = {"run_query", "list_tables", "describe_table", "explain_query"};
#define TOOLS 4

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int64_t clock_cost(void)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 10000; i++) {
		int64_t from = now_ns();
		int64_t took = now_ns() - from;

		if (took < best)
			best = took;
	}
	return best;
}

struct shape {
	size_t rules;
	bool all_on_one;
};

static size_t agents_of(const struct shape *shape)
{
	size_t per_agent = (RULES_PER_PAIR - 1) * TOOLS; /* and the rule for all */

	return shape->all_on_one ? 1 : (shape->rules + per_agent - 1) / per_agent;
}

/* Rule i: its agent, tool, group and table, in a pattern that both bundle and calls know. */
static size_t rule_agent(const struct shape *shape, size_t i)
{
	return shape->all_on_one ? 0 : i / TOOLS % agents_of(shape);
}

static const char *rule_tool(const struct shape *shape, size_t i)
{
	return tools[shape->all_on_one ? 0 : i % TOOLS];
}

static void write_scope(const struct shape *shape, struct buf *out)
{
	buf_add_str(out, "writ: 1\nscope: s\nowner: team:s\nagents:\n");
	for (size_t i = 0; i < agents_of(shape); i++)
		buf_addf(out, "  agent-%zu: {id: 'urn:agent:%zu', role: query, token: 5m}\n", i, i);
	buf_add_str(out,
		    "rules:\n  - {id: never-payroll, effect: deny, agents: all, users: everyone, "
		    "tools: all, data: {database: db, tables: {payroll: {columns: all}}}}\n");
	for (size_t i = 1; i < shape->rules; i++)
		buf_addf(out,
			 "  - id: rule-%zu\n    effect: allow\n    agents: [agent-%zu]\n"
			 "    users: ['group:group-%zu']\n    tools: [%s]\n    data:\n"
			 "      database: db\n      tables: {table-%zu: {columns: [a, b, c]}}\n"
			 "      functions: [aggregates]\n",
			 i, rule_agent(shape, i), i % 64, rule_tool(shape, i), i % 32);
}

static void write_plain(const struct shape *shape, const char *folder)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/rules-%zu.json", folder, shape->rules);
	FILE *file = fopen(path, "w");

	if (file == NULL) {
		perror(path);
		exit(3);
	}
	fputs("[", file);
	for (size_t i = 1; i < shape->rules; i++)
		fprintf(file,
			"%s{\"id\":\"rule-%zu\",\"agent\":\"agent-%zu\",\"group\":\"group-%zu\","
			"\"tool\":\"%s\",\"table\":\"table-%zu\"}",
			i > 1 ? "," : "", i, rule_agent(shape, i), i % 64, rule_tool(shape, i),
			i % 32);
	fputs("]\n", file);
	fclose(file);
}

/* A call that rule i allows, or that no rule does. */
struct call {
	char agent[24], user[24], group[24], table[24], columns[3][32];
	const char *groups[1], *tables[1], *column_list[3], *functions[1];
	struct call_facts facts;
};

static void make_call(const struct shape *shape, size_t i, bool hit, struct call *call)
{
	snprintf(call->agent, sizeof(call->agent), "agent-%zu", rule_agent(shape, i));
	snprintf(call->user, sizeof(call->user), "user-%zu", i % 1000);
	snprintf(call->group, sizeof(call->group), "group-%zu", hit ? i % 64 : 64 + i % 64);
	snprintf(call->table, sizeof(call->table), "table-%zu", i % 32);
	for (size_t c = 0; c < 3; c++) {
		snprintf(call->columns[c], sizeof(call->columns[c]), "%s.%c", call->table,
			 (char)('a' + c));
		call->column_list[c] = call->columns[c];
	}
	call->groups[0] = call->group;
	call->tables[0] = call->table;
	call->functions[0] = "count";
	call->facts = (struct call_facts){
		.agent = call->agent,
		.subject = {.user = call->user, .groups = {call->groups, 1}},
		.tool = rule_tool(shape, i),
		.database = "db",
		.tables = {call->tables, 1},
		.columns = {call->column_list, 3},
		.functions = {call->functions, 1},
		.setting = {.now_s = 1796083300},
	};
}

static void row(const char *name, double value, const char *unit, const char *target,
		const char *method)
{
	printf("%s\t%.3f\t%s\t%s\t%s\n", name, value, unit, target, method);
}

static void compile_at(const char *folder, const struct shape *shape, struct buf *ret_bytes,
		       double *ret_ms)
{
	CLEANUP(mem_freep)
	char *dir = mem_format("%s/w-%zu-%d", folder, shape->rules, shape->all_on_one);
	CLEANUP(mem_freep) char *scopes = mem_format("%s/scopes", dir);
	struct problems problems = PROBLEMS_INIT;
	struct buf text = BUF_INIT;
	struct err err = {0};
	int64_t from;
	int fd, scopes_fd;

	mkdir(dir, 0700);
	mkdir(scopes, 0700);
	write_scope(shape, &text);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scopes_fd = open(scopes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file_replace_at(scopes_fd, "s.yaml", 0600, text.bytes, text.len, false, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	from = now_ns();
	if (policy_compile(fd, NULL, ret_bytes, &problems, &err) < 0 || problems.error_count > 0) {
		problems_print(&problems, stderr);
		fprintf(stderr, "compile: %s\n", err.text);
		exit(3);
	}
	*ret_ms = (double)(now_ns() - from) / 1e6;
	close(fd);
	close(scopes_fd);
	buf_clear(&text);
	problems_clear(&problems);
}

struct times {
	int64_t *items;
	size_t count;
};

static double at(const struct times *times, double part)
{
	size_t place = (size_t)((double)times->count * part);

	return (double)times->items[place < times->count ? place : times->count - 1] / 1000;
}

static void report(const char *what, const struct shape *shape, struct times *times,
		   const char *target, const char *method)
{
	CLEANUP(mem_freep)
	char *name = mem_format("%s, %zu rules%s", what, shape->rules,
				shape->all_on_one ? " all on one" : "");
	CLEANUP(mem_freep) char *tail = mem_format("%s, p99", name);

	qsort(times->items, times->count, sizeof(*times->items), by_value);
	row(name, at(times, 0.5), "us", target, method);
	row(tail, at(times, 0.99), "us", shape->all_on_one ? "" : "<= 3 x p50", method);
}

static void time_decisions(const struct bundle *bundle, const struct shape *shape, int64_t cost)
{
	struct call *calls = mem_array(CALLS, sizeof(*calls));
	struct times parsed = {mem_array(CALLS * ROUNDS, sizeof(int64_t)), 0};
	struct times interned = {mem_array(CALLS * ROUNDS, sizeof(int64_t)), 0};
	struct fact_ids *ids = mem_alloc(sizeof(*ids));
	size_t allowed = 0;

	for (size_t i = 0; i < CALLS; i++)
		make_call(shape, 1 + (i * 2654435761u) % (shape->rules - 1), i % 4 != 0, &calls[i]);
	for (size_t r = 0; r <= ROUNDS; r++) /* the first warms up */
		for (size_t i = 0; i < CALLS; i++) {
			struct verdict verdict;
			int64_t from = now_ns(), between;

			policy_decide(bundle, &calls[i].facts, &verdict);
			between = now_ns();
			allowed += verdict.effect == EFFECT_ALLOW;
			if (r > 0)
				parsed.items[parsed.count++] = between - from - cost;
			if (!facts_read(bundle, &calls[i].facts, ids))
				exit(3);
			from = now_ns();
			policy_decide_ids(bundle, ids, &verdict);
			between = now_ns();
			facts_clear(ids);
			if (r > 0)
				interned.items[interned.count++] = between - from - cost;
		}
	if (allowed != CALLS / 4 * 3 * (ROUNDS + 1)) {
		fprintf(stderr, "%zu allowed: the bench does not measure what it says\n", allowed);
		exit(3);
	}
	report("decision on interned facts", shape, &interned, shape->all_on_one ? "" : "<= 1",
	       "65,536 decisions, each timed, 3 of 4 allowed; 1 table, 3 columns, 1 function");
	report("decision from a parsed call", shape, &parsed, shape->all_on_one ? "" : "<= 3",
	       "as above, names looked up in the same time");
	mem_free(calls);
	mem_free(parsed.items);
	mem_free(interned.items);
	mem_free(ids);
}

static void measure(const char *folder, const struct shape *shape, int64_t cost)
{
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct buf bytes = BUF_INIT;
	struct err err = {0};
	double compile_ms, read_ms = 1e9;

	compile_at(folder, shape, &bytes, &compile_ms);
	if (!shape->all_on_one)
		write_plain(shape, folder);
	for (int i = 0; i < 5; i++) {
		int64_t from = now_ns();
		double ms;

		bundle_free(bundle);
		bundle = NULL;
		if (bundle_read(bytes.bytes, bytes.len, &bundle, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			exit(3);
		}
		ms = (double)(now_ns() - from) / 1e6;
		read_ms = ms < read_ms ? ms : read_ms;
	}
	time_decisions(bundle, shape, cost);
	if (shape->rules == 10000 && !shape->all_on_one) {
		row("10,000 rules checked and compiled", compile_ms, "ms", "<= 1000",
		    "one file, read, checked, compiled and read back");
		row("10,000 rules read by the broker", read_ms, "ms", "<= 50",
		    "bundle bytes to a bundle ready to decide; best of 5");
	}
	buf_clear(&bytes);
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {{10, false},    {100, false}, {1000, false},
					      {10000, false}, {1000, true}, {10000, true}};
	int64_t cost;

	if (argc != 2) {
		fprintf(stderr, "usage: policy_bench FOLDER\n");
		return 2;
	}
	crypto_init();
	cost = clock_cost();
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		measure(argv[1], &shapes[i], cost);
	return 0;
}
