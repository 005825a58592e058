/*
 * Checks through a channel, with the broker played by the far end: which tool it is asked for, what
 * it answers, and what the flags then say. Every test ends with uv_loop_close() == 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "agents/query/check/sanity.h"

#define STEPS_MAX 8

struct step { /* one expected call, in order */
	const char *tool;
	const char *argument; /* must occur in the arguments' JSON */
	const char *answer;   /* JSON; NULL: an error of the channel */
};

struct scene {
	uv_loop_t loop;
	struct channel *near;
	struct channel *far;
	const struct step *steps;
	int asked;
	bool hang_up; /* instead of the first answer */
	struct json *flags;
	int tool_calls;
	int64_t bytes_scanned;
	int done;
};

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct scene *scene = owner;
	const struct step *step = &scene->steps[scene->asked++];
	struct buf arguments = BUF_INIT;
	struct json *answer = NULL;
	struct err err = {0};

	assert_string_equal(method, "tool.call");
	assert_non_null(step->tool);
	assert_string_equal(json_get_str(params, "tool"), step->tool);
	json_write(json_get(params, "arguments"), &arguments);
	if (!strstr(buf_str(&arguments), step->argument))
		fail_msg("%s is not in %s", step->argument, buf_str(&arguments));
	buf_clear(&arguments);
	if (scene->hang_up) {
		channel_close(scene->far);
		scene->far = NULL;
		return;
	}
	if (!step->answer) {
		err_set(&err, ERR_UNAVAILABLE, "no connector");
		channel_fail(channel, id, &err, NULL);
		return;
	}
	assert_int_equal(json_parse_str(step->answer, &answer, &err), 0);
	channel_reply(channel, id, answer);
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct scene *scene = owner;

	(void)why;
	if (scene->near == channel)
		scene->near = NULL;
	if (scene->far == channel)
		scene->far = NULL;
}

static const struct channel_handlers handlers = {.on_request = on_request, .on_close = on_close};

static void on_done(void *data, struct json *flags, const struct sanity_spent *spent)
{
	struct scene *scene = data;

	scene->done++;
	scene->flags = flags;
	scene->tool_calls = spent->tool_calls;
	scene->bytes_scanned = spent->bytes_scanned;
	channel_close(scene->near);
	channel_close(scene->far);
	scene->near = NULL;
	scene->far = NULL;
}

static void play(struct scene *scene, const struct checks_input *input, const char *result_text)
{
	struct json *result = NULL;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(json_parse_str(result_text, &result, NULL), 0);
	assert_int_equal(uv_loop_init(&scene->loop), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	scene->near = channel_open(&scene->loop, fds[0], "near", &handlers, scene);
	scene->far = channel_open(&scene->loop, fds[1], "far", &handlers, scene);
	sanity_start(scene->near, input, result, on_done, scene);
	uv_run(&scene->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&scene->loop), 0);
	assert_int_equal(scene->done, 1);
	json_free(result);
}

static void assert_flags(const struct scene *scene, const char *wanted)
{
	struct buf text = BUF_INIT;

	json_each(flag, scene->flags)
		buf_addf(&text, "%s%s %s", text.len ? ", " : "", json_get_str(flag, "code"),
			 json_get_str(flag, "severity"));
	assert_string_equal(buf_str(&text), wanted);
	buf_clear(&text);
}

#define FAN_OUT "SELECT SUM(h.fee) AS f FROM hire h JOIN pay p ON p.hire_id = h.id"
#define RESULT_300 "{\"columns\":[\"f\"],\"types\":[\"integer\"],\"rows\":[[300]],\"row_count\":1}"
#define HIRE                                                                                       \
	"{\"ok\":true,\"table\":\"hire\",\"columns\":[{\"name\":\"id\"},{\"name\":\"fee\"}],"      \
	"\"primary_key\":[\"id\"],\"foreign_keys\":[]}"
#define PAY                                                                                        \
	"{\"ok\":true,\"table\":\"pay\",\"columns\":[{\"name\":\"id\"},{\"name\":\"hire_id\"}],"   \
	"\"primary_key\":[\"id\"],\"foreign_keys\":[]}"
#define PROBED                                                                                     \
	"{\"ok\":true,\"columns\":[\"shown1\",\"once1\",\"rows1\",\"distinct1\"],\"rows\":[[300,"  \
	"200,4,3]],\"row_count\":1,\"bytes_scanned\":4096}"

static void tables_are_described_and_the_probe_is_run(void **state)
{
	static const struct step steps[] = {{"describe_table", "\"table\":\"hire\"", HIRE},
					    {"describe_table", "\"table\":\"pay\"", PAY},
					    {"run_query", "AS \\\"once1\\\"", PROBED},
					    {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = FAN_OUT};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 3);
	assert_int_equal(scene.bytes_scanned, 4096);
	assert_flags(&scene, "fan_out.inflated error");
	assert_string_equal(
		json_get_str(json_at(scene.flags, 0), "message"),
		"SUM(h.fee) counts each row of hire once per row of pay: 300 shown, 200 "
		"without the repetition, factor 1.50");
	json_free(scene.flags);
}

static void described_tables_are_not_asked_for_again(void **state)
{
	static const struct step steps[] = {{"run_query", "\"database\":\"docks\"", PROBED}, {0}};
	struct scene scene = {.steps = steps};
	struct json *tables = NULL;
	struct checks_input input = {.sql = FAN_OUT, .database = "docks"};

	(void)state;
	assert_int_equal(json_parse_str("[" HIRE "," PAY "]", &tables, NULL), 0);
	input.tables = tables;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 1);
	assert_flags(&scene, "fan_out.inflated error");
	json_free(scene.flags);
	json_free(tables);
}

static void a_statement_that_needs_nothing_makes_no_call(void **state)
{
	static const struct step steps[] = {{0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = "SELECT fee AS f FROM hire WHERE id = 300"};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 0);
	assert_flags(&scene, "");
	json_free(scene.flags);
}

#define SCAN_LIMIT "{\"ok\":false,\"error\":\"scan limit\",\"rejected_by\":\"limit\"}"

static void a_refused_probe_leaves_the_verdict_open_with_a_note(void **state)
{
	static const struct step steps[] = {{"describe_table", "hire", HIRE},
					    {"describe_table", "pay", PAY},
					    {"run_query", "AS \\\"fact1\\\"", SCAN_LIMIT},
					    {"run_query", "AS \\\"once1\\\"", SCAN_LIMIT},
					    {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = FAN_OUT};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 4);
	assert_flags(&scene, "fan_out.possible warning, analysis.unmeasured note, "
			     "analysis.unmeasured note");
	assert_string_equal(json_get_str(json_at(scene.flags, 1), "message"),
			    "what the data could tell was not measured: scan limit");
	assert_string_equal(json_get_str(json_at(scene.flags, 2), "message"),
			    "the repetition of rows was not measured: scan limit");
	json_free(scene.flags);
}

static void a_refused_probe_is_tried_again_with_the_repetition_alone(void **state)
{
	static const struct step steps[] = {{"describe_table", "hire", HIRE},
					    {"describe_table", "pay", PAY},
					    {"run_query", "AS \\\"fact1\\\"", SCAN_LIMIT},
					    {"run_query", "AS \\\"once1\\\"", PROBED},
					    {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = FAN_OUT};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_flags(&scene, "fan_out.inflated error, analysis.unmeasured note");
	json_free(scene.flags);
}

static void a_table_that_is_not_described_is_a_note(void **state)
{
	static const struct step steps[] = {
		{"describe_table", "hire", HIRE},
		{"describe_table", "pay", "{\"ok\":false,\"error\":\"no such table: pay\"}"},
		{"run_query", "SELECT", PROBED}, /* the owner's key is enough to measure */
		{0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = "SELECT SUM(h.fee) AS f FROM hire h JOIN pay p ON "
					    "p.hire_id = h.id"};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 3);
	assert_flags(&scene, "fan_out.inflated error, analysis.unmeasured note");
	assert_string_equal(json_get_str(json_at(scene.flags, 1), "message"),
			    "the keys of pay were not read: no such table: pay");
	json_free(scene.flags);
}

static void an_error_of_the_channel_ends_the_calls(void **state)
{
	static const struct step steps[] = {{"describe_table", "hire", NULL}, {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = FAN_OUT};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 1);
	assert_flags(&scene, "analysis.unknown note, analysis.unmeasured note");
	assert_string_equal(json_get_str(json_at(scene.flags, 1), "message"),
			    "the keys of hire were not read: no connector");
	json_free(scene.flags);
}

static void a_channel_that_ends_still_gives_flags(void **state)
{
	static const struct step steps[] = {{"describe_table", "hire", NULL}, {0}};
	struct scene scene = {.steps = steps, .hang_up = true};
	struct checks_input input = {.sql = FAN_OUT};

	(void)state;
	play(&scene, &input, "{\"columns\":[\"f\"],\"rows\":[],\"row_count\":0}");
	assert_flags(&scene,
		     "analysis.unknown note, result.no_rows warning, analysis.unmeasured note");
	json_free(scene.flags);
}

#define PAID                                                                                       \
	"{\"ok\":true,\"table\":\"paid\",\"columns\":[{\"name\":\"fee\"}],\"primary_key\":[],"     \
	"\"foreign_keys\":[],\"grain\":\"grain unknown: a view\",\"definition\":\"CREATE VIEW "    \
	"paid "                                                                                    \
	"AS SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = h.id\"}"

static void a_view_is_read_and_its_tables_are_described_next(void **state)
{
	static const struct step steps[] = {{"describe_table", "\"table\":\"paid\"", PAID},
					    {"describe_table", "\"table\":\"hire\"", HIRE},
					    {"describe_table", "\"table\":\"pay\"", PAY},
					    {"run_query", "AS \\\"once1\\\"", PROBED},
					    {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = "SELECT SUM(fee) AS f FROM paid"};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 4);
	assert_flags(&scene, "fan_out.inflated error");
	json_free(scene.flags);
}

static void a_view_without_its_text_is_a_note(void **state)
{
	static const struct step steps[] = {
		{"describe_table", "\"table\":\"paid\"",
		 "{\"ok\":true,\"table\":\"paid\",\"columns\":[{\"name\":\"fee\"}],\"primary_key\":"
		 "[],"
		 "\"foreign_keys\":[],\"grain\":\"grain unknown: a view\"}"},
		{0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = "SELECT SUM(fee) AS f FROM paid"};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, 1);
	assert_flags(&scene, "analysis.unknown note");
	json_free(scene.flags);
}

static void at_most_four_tables_are_described(void **state)
{
	static const struct step steps[] = {{"describe_table", "\"a\"", "{\"ok\":false}"},
					    {"describe_table", "\"b\"", "{\"ok\":false}"},
					    {"describe_table", "\"c\"", "{\"ok\":false}"},
					    {"describe_table", "\"d\"", "{\"ok\":false}"},
					    {0}};
	struct scene scene = {.steps = steps};
	struct checks_input input = {.sql = "SELECT SUM(a.x) AS f FROM a, b, c, d, e"};

	(void)state;
	play(&scene, &input, RESULT_300);
	assert_int_equal(scene.tool_calls, SANITY_DESCRIBE_MAX);
	json_free(scene.flags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_described_and_the_probe_is_run),
		cmocka_unit_test(described_tables_are_not_asked_for_again),
		cmocka_unit_test(a_statement_that_needs_nothing_makes_no_call),
		cmocka_unit_test(a_refused_probe_leaves_the_verdict_open_with_a_note),
		cmocka_unit_test(a_refused_probe_is_tried_again_with_the_repetition_alone),
		cmocka_unit_test(a_table_that_is_not_described_is_a_note),
		cmocka_unit_test(an_error_of_the_channel_ends_the_calls),
		cmocka_unit_test(a_channel_that_ends_still_gives_flags),
		cmocka_unit_test(a_view_is_read_and_its_tables_are_described_next),
		cmocka_unit_test(a_view_without_its_text_is_a_note),
		cmocka_unit_test(at_most_four_tables_are_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
