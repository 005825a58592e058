/*
 * bench_broker PROGRAMS CALLS: calls through the real writ-broker and writ-signer with token,
 * policy and durable audit, 64 in flight, on a connector that answers at once (in this process).
 * Prints the rate of calls, and what the broker itself took of a processor for each:
 *
 *   calls_per_s broker_us_per_call signer_us_per_call
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

#define IN_FLIGHT 64

static const char *programs;
static long calls;
static long sent, done;
/* A task has 4,096 records at most, and each call makes two. */
#define TASKS 4
#define CALLS_OF_TASK 2000
static struct channel *agents[TASKS];

static void on_answer(void *data, const struct json *result, const struct err *err);

static void send_one(struct channel *agent)
{
	struct json *params = json_object();
	struct json *arguments = json_object();

	if (sent == calls)
		return;
	sent++;
	json_set_str(arguments, "sql", "SELECT order_id FROM orders LIMIT 2");
	json_set_str(params, "tool", "run_query");
	json_set(params, "arguments", arguments);
	if (channel_call(agent, "tool.call", params, 60000, on_answer, agent) == 0)
		exit(1);
}

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	if (err != NULL || !json_get_bool(result, "ok", false)) {
		fprintf(stderr, "bench_broker: %s\n",
			err != NULL ? err->text : json_get_str(result, "error"));
		exit(1);
	}
	done++;
	send_one(data);
}

static double cpu_us(int pid)
{
	char path[64];
	FILE *file;
	unsigned long user = 0, system = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file == NULL ||
	    fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		   &system) != 2)
		exit(1);
	fclose(file);
	return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static void bench(void **state)
{
	static const char scope[] =
		"writ: 1\nscope: sales\nowner: team:sales-data\ntimezone: UTC\nagents:\n"
		"  sales-query-01:\n    id: spiffe://corp.example/agent/sales-query-01\n"
		"    role: query\n    token: 5m\n"
		"    per_task: {tool_calls: 10000, tool_errors: 2, model_calls: 7, attempts: "
		"10000, time: 1h, scan: 900GiB}\n"
		"rules:\n  - id: read-sales\n    effect: allow\n    agents: [sales-query-01]\n"
		"    users: [group:sales]\n    tools: [run_query]\n"
		"    data: {database: sales, tables: {orders: {columns: all}}, functions: "
		"[standard]}\n"
		"    per_call: {rows: 5, bytes: 1MiB, scan: 64KiB, time: 5s}\n";
	struct fx *fx = fx_open_broker(scope, programs, NULL);
	double broker, signer;
	int64_t begun;

	(void)state;
	fx_start_signer(fx, programs);
	fx_attach_connector(fx, "sales");
	for (int i = 0; i < TASKS; i++)
		agents[i] = fx_ready(fx, "ask", "sales-query-01");
	broker = cpu_us(fx->pids[0]);
	signer = cpu_us(fx->pids[1]);
	begun = clock_mono_us();
	for (int i = 0; i < IN_FLIGHT; i++)
		send_one(agents[i % TASKS]);
	while (done < calls)
		uv_run(&fx->loop, UV_RUN_ONCE);
	begun = clock_mono_us() - begun;
	printf("%.0f %.1f %.1f\n", (double)done * 1e6 / (double)begun,
	       (cpu_us(fx->pids[0]) - broker) / (double)done,
	       (cpu_us(fx->pids[1]) - signer) / (double)done);
	fflush(stdout);
	fx_control(fx, "{\"stop\":true}");
	if (fx_wait_broker(fx) != 0)
		exit(1);
	fx_close_programs(fx);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench)};

	if (argc != 3)
		return 2;
	programs = argv[1];
	calls = atol(argv[2]);
	if (calls > TASKS * CALLS_OF_TASK)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
