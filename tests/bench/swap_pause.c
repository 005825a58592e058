/*
 * swap_pause PROGRAMS RULES SWAPS: how long the real writ-broker keeps running calls waiting while
 * it takes another policy of so many rules. One request after the other that the broker answers
 * from memory, so that what is measured is its loop and not the disk. Prints
 *
 *   pause_ms p50_ms pause_ms_without swap_ms
 *
 * pause_ms: the longest request in each swap, of which the median, since other programs of the
 * machine cause longer ones now and then; pause_ms_without: the same in as many requests without a
 * swap. swap_ms: the median from the word to read the files to the first answer that goes by them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "tests/unit/broker_fixture.h"

#define AGENTS_OF 16 /* rules of one agent */
#define FREEING 200  /* requests while what was replaced is freed */

static const char *programs;
static long rules, swaps;

static char *make_scope(const char *zone)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "writ: 1\nscope: sales\nowner: team:sales-data\ntimezone: %s\nagents:\n",
		 zone);
	for (long i = 0; i < rules / AGENTS_OF + 1; i++)
		buf_addf(&text,
			 "  agent-%ld: {id: \"urn:agent:%ld\", role: query, token: 5m, per_task: "
			 "{tool_calls: 6, tool_errors: 2, model_calls: 7, attempts: 3, time: 60s, "
			 "scan: 256MiB}}\n",
			 i, i);
	buf_add_str(&text, "rules:\n");
	for (long i = 0; i < rules; i++)
		buf_addf(&text,
			 "  - {id: rule-%ld, effect: allow, agents: [agent-%ld], users: "
			 "[\"group:g%ld\"], tools: [run_query], data: {database: sales, tables: "
			 "{orders: {columns: [order_id, status]}}, functions: [standard]}, "
			 "per_call: {rows: 5, bytes: 1MiB, scan: 64KiB, time: 5s}}\n",
			 i, i / AGENTS_OF, i % 7);
	return buf_take(&text);
}

struct run {
	struct fx *fx;
	struct channel *session;
	int64_t *took_us; /* of each request */
	size_t count, room;
	bool answered;
	int64_t applied; /* swaps, as the last answer says */
};

static void on_status(void *data, const struct json *result, const struct err *err)
{
	struct run *run = data;

	if (err != NULL) {
		fprintf(stderr, "swap_pause: %s\n", err->text);
		exit(1);
	}
	run->applied = json_get_int(json_get(json_get(result, "policy"), "reloads"), "applied", 0);
	run->answered = true;
}

static void ask_once(struct run *run)
{
	int64_t from = clock_mono_us();

	run->answered = false;
	if (channel_call(run->session, "status", json_object(), 60000, on_status, run) == 0)
		exit(1);
	while (!run->answered)
		uv_run(&run->fx->loop, UV_RUN_ONCE);
	if (run->count == run->room) {
		run->room = run->room == 0 ? 4096 : run->room * 2;
		run->took_us = mem_grow(run->took_us, run->room * sizeof(*run->took_us));
	}
	run->took_us[run->count++] = clock_mono_us() - from;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static double at(int64_t *values, size_t count, double part)
{
	qsort(values, count, sizeof(*values), by_value);
	return (double)values[(size_t)((double)(count - 1) * part)] / 1000;
}

static int64_t longest(const struct run *run, size_t from, size_t until)
{
	int64_t most = 0;

	for (size_t i = from; i < until; i++)
		most = run->took_us[i] > most ? run->took_us[i] : most;
	return most;
}

static char *compile_one(struct fx *fx, const char *zone)
{
	CLEANUP(mem_freep) char *scope = make_scope(zone);
	CLEANUP(mem_freep) char *path = mem_format("%s/state/config/policy/active", fx->path);
	char line[128] = "";
	FILE *file;

	fx_put_scope(fx, scope);
	file = fopen(path, "r");
	if (file == NULL || fgets(line, sizeof(line), file) == NULL)
		exit(1);
	fclose(file);
	return mem_str(line);
}

struct swap {
	int64_t took_us;
	int64_t pause_us;
	int64_t pause_without_us;
};

static void swap_once(struct run *run, const char *policy, int64_t applied, struct swap *ret)
{
	size_t first = run->count, middle;
	int64_t from = clock_mono_us();

	fx_put(run->fx, "policy/active", policy);
	fx_control(run->fx, "{\"reload\":true}");
	while (run->applied < applied)
		ask_once(run);
	ret->took_us = clock_mono_us() - from;
	for (int i = 0; i < FREEING; i++)
		ask_once(run);
	middle = run->count;
	ret->pause_us = longest(run, first, middle);
	while (run->count < middle + (middle - first))
		ask_once(run);
	ret->pause_without_us = longest(run, middle, run->count);
}

static double median(const struct swap *all, size_t offset)
{
	int64_t *values = mem_array((size_t)swaps, sizeof(*values));
	double median_ms;

	for (long i = 0; i < swaps; i++)
		memcpy(&values[i], (const char *)&all[i] + offset, sizeof(*values));
	median_ms = at(values, (size_t)swaps, 0.5);
	mem_free(values);
	return median_ms;
}

static void bench(void **state)
{
	struct fx *fx = fx_open_broker(NULL, programs, NULL);
	struct run run = {.fx = fx};
	struct swap *all = mem_array((size_t)swaps, sizeof(*all));
	char *policies[2];

	(void)state;
	fx_start_signer(fx, programs);
	policies[0] = compile_one(fx, "UTC");
	policies[1] = compile_one(fx, "Europe/Berlin");
	run.session = fx_connect(fx, NULL, 0)->channel;
	for (int i = 0; i < 1000; i++)
		ask_once(&run); /* warm */
	for (long i = 0; i < swaps; i++)
		swap_once(&run, policies[i % 2], i + 1, &all[i]);
	printf("%.2f %.3f %.2f %.1f\n", median(all, offsetof(struct swap, pause_us)),
	       at(run.took_us, run.count, 0.5),
	       median(all, offsetof(struct swap, pause_without_us)),
	       median(all, offsetof(struct swap, took_us)));
	fflush(stdout);
	mem_free(policies[0]);
	mem_free(policies[1]);
	mem_free(all);
	mem_free(run.took_us);
	fx_control(fx, "{\"stop\":true}");
	if (fx_wait_broker(fx) != 0)
		exit(1);
	fx_close_programs(fx);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench)};

	if (argc != 4)
		return 2;
	programs = argv[1];
	rules = atol(argv[2]);
	swaps = atol(argv[3]);
	if (rules < 1 || swaps < 1)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
