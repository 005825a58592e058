/* The task store: whose task is whose, and what is never lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "orchestrator/store.h"

#define MINUTE_US (60 * 1000000LL)

struct place {
	char folder[64];
	char path[96];
	struct store *store;
};

static int set_up(void **state)
{
	struct place *place = mem_alloc(sizeof(*place));
	struct err err = {0};

	snprintf(place->folder, sizeof(place->folder), "/tmp/writ-store.XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/tasks.db", place->folder);
	assert_int_equal(store_open(place->path, &place->store, &err), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	store_close(place->store);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s", place->path, suffixes[i]);
		unlink(path);
	}
	rmdir(place->folder);
	mem_free(place);
	return 0;
}

static void add(struct place *place, const char *task, const char *user, int64_t now_us)
{
	struct err err = {0};

	assert_int_equal(store_add(place->store, task, user, "How many?", now_us, &err), 0);
}

static void end(struct place *place, const char *task, const char *status, int64_t now_us)
{
	CLEANUP(json_freep) struct json *answer = json_object();
	struct err err = {0};

	json_set_str(answer, "status", status);
	assert_int_equal(store_finish(place->store, task, answer, now_us, &err), 0);
}

static struct json *list(struct place *place, const char *user, int64_t now_us)
{
	struct json *tasks = NULL;
	struct err err = {0};

	assert_int_equal(store_list(place->store, user, now_us, &tasks, &err), 0);
	return tasks;
}

static void test_everyone_sees_their_own_newest_first(void **state)
{
	struct place *place = *state;

	add(place, "t-1", "alice", 1);
	add(place, "t-2", "bob", 2);
	add(place, "t-3", "alice", 3);
	{
		CLEANUP(json_freep) struct json *hers = list(place, "alice", 10);
		CLEANUP(json_freep) struct json *all = list(place, NULL, 10);

		assert_int_equal(json_len(hers), 2);
		assert_string_equal(json_get_str(json_at(hers, 0), "task"), "t-3");
		assert_string_equal(json_get_str(json_at(hers, 0), "status"), "running");
		assert_int_equal(json_len(all), 3);
	}
}

static void test_a_task_of_another_does_not_exist(void **state)
{
	struct place *place = *state;
	struct json *shown = NULL;
	struct err err = {0};

	add(place, "t-1", "alice", 1);
	assert_int_equal(store_show(place->store, "t-1", "bob", 2, &shown, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_string_equal(err.text, "no task t-1");
	assert_int_equal(store_show(place->store, "t-1", NULL, 2, &shown, &err), 0);
	assert_true(json_is_null(json_get(shown, "answer")));
	json_free(shown);
}

static void test_a_question_back_expires_and_is_answered_once(void **state)
{
	struct place *place = *state;
	int64_t limit = STORE_NEEDS_INPUT_MINUTES * MINUTE_US;
	struct err err = {0};

	add(place, "t-1", "alice", 0);
	end(place, "t-1", "needs_input", 1);
	{
		CLEANUP(json_freep) struct json *in_time = list(place, "alice", limit);
		CLEANUP(json_freep) struct json *late = list(place, "alice", limit + 1);

		assert_string_equal(json_get_str(json_at(in_time, 0), "status"), "needs_input");
		assert_string_equal(json_get_str(json_at(late, 0), "status"), "cancelled");
	}
	assert_int_equal(store_answered(place->store, "t-1", "alice", &err), 0);
	assert_int_equal(store_answered(place->store, "t-1", "alice", &err), -1);
	assert_string_equal(err.text, "task t-1 was already answered");
}

static void test_what_ran_when_the_service_ended_is_shown_as_failed(void **state)
{
	struct place *place = *state;
	struct json *shown = NULL;
	struct err err = {0};

	add(place, "t-1", "alice", 1);
	add(place, "t-2", "alice", 2);
	end(place, "t-2", "completed", 3);
	store_close(TAKE(place->store));
	assert_int_equal(store_open(place->path, &place->store, &err), 0);
	assert_int_equal(store_show(place->store, "t-1", "alice", 5, &shown, &err), 0);
	assert_string_equal(json_get_str(json_get(shown, "task"), "status"), "failed");
	assert_string_equal(json_get_str(json_get(shown, "answer"), "reason"),
			    "the service ended while this task ran");
	json_free(shown);
	assert_int_equal(store_show(place->store, "t-2", "alice", 5, &shown, &err), 0);
	assert_string_equal(json_get_str(json_get(shown, "answer"), "status"), "completed");
	json_free(shown);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_everyone_sees_their_own_newest_first),
		CASE(test_a_task_of_another_does_not_exist),
		CASE(test_a_question_back_expires_and_is_answered_once),
		CASE(test_what_ran_when_the_service_ended_is_shown_as_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
