/* Old tasks leave the store by themselves, in bounded steps, after the time the workspace says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "orchestrator/retention.h"
#include "orchestrator/store.h"

#define HOUR_US (3600 * 1000000LL)
#define DAY_US (24 * HOUR_US)

struct place {
	char folder[64];
	char path[96];
	uv_loop_t loop;
	struct json *config;
	struct orchestrator orchestrator;
};

static void open_place(struct place *place, const char *config)
{
	struct err err = {0};

	*place = (struct place){.folder = "/tmp/writ-retention.XXXXXX"};
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/tasks.db", place->folder);
	assert_int_equal(json_parse_str(config, &place->config, &err), 0);
	assert_int_equal(store_open(place->path, clock_now_us(), &place->orchestrator.store, &err),
			 0);
	uv_loop_init(&place->loop);
	place->orchestrator.loop = &place->loop;
	place->orchestrator.config = place->config;
}

static void close_place(struct place *place)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	store_close(place->orchestrator.store);
	json_free(place->config);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s", place->path, suffixes[i]);
		unlink(path);
	}
	rmdir(place->folder);
}

static void add(struct place *place, const char *task, int64_t age_us)
{
	CLEANUP(json_freep) struct json *answer = json_object();
	int64_t then = clock_now_us() - age_us;
	struct err err = {0};

	json_set_str(answer, "status", "completed");
	assert_int_equal(
		store_add(place->orchestrator.store, task, "alice", "How many?", then, &err), 0);
	assert_int_equal(store_finish(place->orchestrator.store, task, answer, then, &err), 0);
}

static size_t left(struct place *place)
{
	const struct store_page page = {.limit = STORE_LIST_MAX};
	struct json *list = NULL;
	struct err err = {0};
	size_t count;
	bool more;

	assert_int_equal(
		store_list(place->orchestrator.store, &page, clock_now_us(), &list, &more, &err),
		0);
	count = json_len(list);
	json_free(list);
	return count;
}

/* Until the next step is an hour away. */
static void prune(struct place *place)
{
	int turns = 0;

	retention_init(&place->orchestrator);
	do {
		uv_run(&place->loop, UV_RUN_NOWAIT);
		usleep(500);
	} while (uv_timer_get_due_in(&place->orchestrator.retention_timer) < 60 * 1000 &&
		 turns++ < 20000);
	assert_true(turns < 20000);
	retention_close(&place->orchestrator);
	uv_run(&place->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&place->loop), 0);
}

static void test_what_is_older_than_the_workspace_says_is_removed(void **state)
{
	struct place place;

	(void)state;
	open_place(&place, "{\"retention\":{\"tasks_s\":7200}}");
	add(&place, "t-1", 3 * HOUR_US);
	add(&place, "t-2", HOUR_US);
	add(&place, "t-3", 0);
	prune(&place);
	assert_int_equal(left(&place), 2);
	close_place(&place);
}

static void test_without_a_word_they_are_kept_for_ninety_days(void **state)
{
	struct place place;

	(void)state;
	open_place(&place, "{}");
	add(&place, "t-1", 91 * DAY_US);
	add(&place, "t-2", 89 * DAY_US);
	prune(&place);
	assert_int_equal(left(&place), 1);
	close_place(&place);
}

static void test_more_than_one_step_removes_go_in_several(void **state)
{
	struct place place;

	(void)state;
	open_place(&place, "{}");
	for (int i = 0; i < 2 * STORE_PRUNE_MAX + 1; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t-%d", i);
		add(&place, name, 100 * DAY_US);
	}
	add(&place, "t-new", 0);
	prune(&place);
	assert_int_equal(left(&place), 1);
	close_place(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_older_than_the_workspace_says_is_removed),
		cmocka_unit_test(test_without_a_word_they_are_kept_for_ninety_days),
		cmocka_unit_test(test_more_than_one_step_removes_go_in_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
