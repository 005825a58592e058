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

#include "base/db.h"
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
	assert_int_equal(store_open(place->path, 1, &place->store, &err), 0);
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

static void start(struct place *place, const char *task)
{
	struct err err = {0};

	assert_int_equal(store_start(place->store, task, &err), 0);
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
	const struct store_page page = {.user = user, .limit = STORE_LIST_MAX};
	struct json *tasks = NULL;
	struct err err = {0};
	bool more = true;

	assert_int_equal(store_list(place->store, &page, now_us, &tasks, &more, &err), 0);
	assert_false(more);
	return tasks;
}

static void test_everyone_sees_their_own_newest_first(void **state)
{
	struct place *place = *state;

	add(place, "t-1", "alice", 1);
	add(place, "t-2", "bob", 2);
	add(place, "t-3", "alice", 3);
	start(place, "t-1");
	{
		CLEANUP(json_freep) struct json *hers = list(place, "alice", 10);
		CLEANUP(json_freep) struct json *all = list(place, NULL, 10);

		assert_int_equal(json_len(hers), 2);
		assert_string_equal(json_get_str(json_at(hers, 0), "task"), "t-3");
		assert_string_equal(json_get_str(json_at(hers, 0), "status"), "queued");
		assert_string_equal(json_get_str(json_at(hers, 1), "status"), "running");
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

static void check_shown(struct place *place, const char *task, int64_t now_us, const char *status,
			const char *finished, const char *reason)
{
	struct json *shown = NULL;
	const struct json *answer;
	struct err err = {0};

	assert_int_equal(store_show(place->store, task, NULL, now_us, &shown, &err), 0);
	answer = json_get(shown, "answer");
	assert_string_equal(json_get_str(json_get(shown, "task"), "status"), status);
	assert_string_equal(json_get_str(answer, "status"), status);
	assert_string_equal(json_get_str(json_get(shown, "task"), "finished"), finished);
	if (reason == NULL) {
		assert_null(json_get(answer, "reason"));
	} else {
		assert_string_equal(json_get_str(answer, "reason"), reason);
		assert_non_null(json_get(answer, "hint"));
	}
	json_free(shown);
}

static void test_a_question_back_expires_an_hour_after_it_was_put(void **state)
{
	struct place *place = *state;
	int64_t put = 5 * MINUTE_US; /* it waited for its turn before */
	int64_t limit = put + STORE_NEEDS_INPUT_MINUTES * MINUTE_US;

	add(place, "t-1", "alice", 0);
	start(place, "t-1");
	end(place, "t-1", "needs_input", put);
	check_shown(place, "t-1", limit, "needs_input", "1970-01-01T00:05:00.000000Z", NULL);
	check_shown(place, "t-1", limit + 1, "cancelled", "1970-01-01T01:05:00.000000Z",
		    "nobody answered its question within 60 minutes");
	{
		CLEANUP(json_freep) struct json *late = list(place, "alice", limit + 1);

		assert_string_equal(json_get_str(json_at(late, 0), "status"), "cancelled");
	}
}

static void test_an_expired_question_is_gone_from_the_kept_answer(void **state)
{
	struct place *place = *state;
	CLEANUP(json_freep) struct json *answer = json_object();
	CLEANUP(json_freep) struct json *shown = NULL;
	struct err err = {0};

	add(place, "t-1", "alice", 0);
	json_set_str(answer, "status", "needs_input");
	json_set(answer, "question", json_object());
	assert_int_equal(store_finish(place->store, "t-1", answer, 1, &err), 0);
	assert_int_equal(store_show(place->store, "t-1", "alice", 60 * MINUTE_US + 2, &shown, &err),
			 0);
	assert_null(json_get(json_get(shown, "answer"), "question"));
}

static void test_a_question_is_answered_once_and_stays_answered(void **state)
{
	struct place *place = *state;
	struct err err = {0};

	add(place, "t-1", "alice", 0);
	assert_int_equal(store_answered(place->store, "t-1", "t-2", &err), -1); /* asks nothing */
	end(place, "t-1", "needs_input", 1);
	assert_int_equal(store_answered(place->store, "t-1", "t-2", &err), 0);
	assert_int_equal(store_answered(place->store, "t-1", "t-3", &err), -1);
	assert_string_equal(err.text, "task t-1 was already answered");
	{
		CLEANUP(json_freep) struct json *later = list(place, "alice", 600 * MINUTE_US);
		const struct json *row = json_at(later, 0);

		assert_string_equal(json_get_str(row, "status"), "needs_input");
		assert_string_equal(json_get_str(row, "answered_by"), "t-2");
	}
	check_shown(place, "t-1", 600 * MINUTE_US, "needs_input", "1970-01-01T00:00:00.000001Z",
		    NULL);
}

static void test_a_task_goes_its_way_once(void **state)
{
	struct place *place = *state;
	CLEANUP(json_freep) struct json *answer = json_object();
	struct err err = {0};

	json_set_str(answer, "status", "completed");
	assert_int_equal(store_start(place->store, "t-1", &err), -1);
	assert_string_equal(err.text, "task t-1 does not wait to start");
	assert_int_equal(store_finish(place->store, "t-1", answer, 5, &err), -1);
	assert_string_equal(err.text, "task t-1 is not one that can end");
	add(place, "t-1", "alice", 1);
	assert_int_equal(store_add(place->store, "t-1", "alice", "Again?", 2, &err), -1);
	start(place, "t-1");
	assert_int_equal(store_start(place->store, "t-1", &err), -1);
	assert_int_equal(store_finish(place->store, "t-1", answer, 5, &err), 0);
	assert_int_equal(store_finish(place->store, "t-1", answer, 6, &err), -1);
	check_shown(place, "t-1", 7, "completed", "1970-01-01T00:00:00.000005Z", NULL);
}

/* The names on a page, from that task on. */
static void check_page(struct place *place, const char *user, const char *before, int64_t limit,
		       const char *names, bool more)
{
	const struct store_page page = {user, before, limit};
	CLEANUP(json_freep) struct json *tasks = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct err err = {0};
	bool got = !more;

	if (store_list(place->store, &page, 10, &tasks, &got, &err) < 0)
		fail_msg("%s", err.text);
	json_each(task, tasks)
		buf_addf(&text, "%s%s", text.len > 0 ? " " : "", json_get_str(task, "task"));
	assert_string_equal(buf_str(&text), names);
	assert_int_equal(got, more);
}

static void test_the_list_comes_in_pages(void **state)
{
	struct place *place = *state;
	const struct store_page foreign = {"bob", "t-3", 2};
	struct json *tasks = NULL;
	struct err err = {0};
	bool more;

	add(place, "t-1", "alice", 1);
	add(place, "t-2", "bob", 2);
	add(place, "t-3", "alice", 3);
	add(place, "t-4", "alice", 3); /* at the same time */
	add(place, "t-5", "alice", 4);
	check_page(place, "alice", NULL, 4, "t-5 t-4 t-3 t-1", false);
	check_page(place, "alice", NULL, 3, "t-5 t-4 t-3", true);
	check_page(place, "alice", NULL, 2, "t-5 t-4", true);
	check_page(place, "alice", "t-4", 2, "t-3 t-1", false);
	check_page(place, "alice", "t-1", 2, "", false);
	check_page(place, NULL, "t-4", 2, "t-3 t-2", true);
	check_page(place, NULL, "t-2", 2, "t-1", false);
	assert_int_equal(store_list(place->store, &foreign, 10, &tasks, &more, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_string_equal(err.text, "no task t-3");
}

static void test_old_tasks_are_removed_a_bounded_number_at_a_time(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	int64_t pruned = -1;

	for (int i = 0; i < STORE_PRUNE_MAX + 1; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t-%04d", i);
		add(place, name, "alice", i);
		end(place, name, "completed", 100 + i);
	}
	add(place, "t-live", "alice", 0);
	assert_int_equal(store_prune(place->store, 100, &pruned, &err), 0);
	assert_int_equal(pruned, 0);
	assert_int_equal(store_prune(place->store, 101, &pruned, &err), 0);
	assert_int_equal(pruned, 1);
	check_page(place, "alice", "t-0003", 9, "t-0002 t-0001 t-live", false);
	add(place, "t-more", "alice", 0);
	end(place, "t-more", "failed", 1);
	assert_int_equal(store_prune(place->store, 10000, &pruned, &err), 0);
	assert_int_equal(pruned, STORE_PRUNE_MAX);
	assert_int_equal(store_prune(place->store, 10000, &pruned, &err), 0);
	assert_int_equal(pruned, 1);
	check_page(place, "alice", NULL, 9, "t-live", false);
}

static void test_what_had_not_ended_with_the_service_is_shown_as_failed(void **state)
{
	struct place *place = *state;
	struct err err = {0};

	add(place, "t-1", "alice", 1);
	start(place, "t-1");
	add(place, "t-2", "alice", 2);
	end(place, "t-2", "completed", 3);
	add(place, "t-3", "alice", 4);
	store_close(TAKE(place->store));
	assert_int_equal(store_open(place->path, MINUTE_US, &place->store, &err), 0);
	check_shown(place, "t-1", MINUTE_US, "failed", "1970-01-01T00:01:00.000000Z",
		    "the service ended while this task ran");
	check_shown(place, "t-2", MINUTE_US, "completed", "1970-01-01T00:00:00.000003Z", NULL);
	check_shown(place, "t-3", MINUTE_US, "failed", "1970-01-01T00:01:00.000000Z",
		    "the service ended before this task began");
}

/* A store as version 1 of the schema left it. */
static void test_an_older_store_is_taken_over(void **state)
{
	struct place *place = *state;
	static const char *const first[] = {
		"CREATE TABLE task(id TEXT PRIMARY KEY, user TEXT NOT NULL, question TEXT NOT NULL,"
		" status TEXT NOT NULL, created_us INTEGER NOT NULL, finished_us INTEGER, answer "
		"TEXT,"
		" answered_by TEXT) WITHOUT ROWID;"
		"CREATE INDEX task_running ON task(status) WHERE status = 'running';"
		"INSERT INTO task VALUES('t-1','alice','How many?','failed',7000000,NULL,"
		"'{\"status\":\"failed\",\"reason\":\"r\",\"hint\":\"h\"}',NULL),"
		"('t-2','alice','How many?','running',8000000,NULL,NULL,NULL)"};
	struct db *db = NULL;
	struct err err = {0};

	store_close(TAKE(place->store));
	unlink(place->path);
	assert_int_equal(db_open(place->path, DB_SYNC_NORMAL, first, 1, &db, &err), 0);
	db_close(db);
	if (store_open(place->path, MINUTE_US, &place->store, &err) < 0)
		fail_msg("%s", err.text);
	check_shown(place, "t-1", MINUTE_US, "failed", "1970-01-01T00:00:07.000000Z", "r");
	check_shown(place, "t-2", MINUTE_US, "failed", "1970-01-01T00:01:00.000000Z",
		    "the service ended while this task ran");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_everyone_sees_their_own_newest_first),
		CASE(test_a_task_of_another_does_not_exist),
		CASE(test_a_question_back_expires_an_hour_after_it_was_put),
		CASE(test_an_expired_question_is_gone_from_the_kept_answer),
		CASE(test_a_question_is_answered_once_and_stays_answered),
		CASE(test_a_task_goes_its_way_once),
		CASE(test_the_list_comes_in_pages),
		CASE(test_old_tasks_are_removed_a_bounded_number_at_a_time),
		CASE(test_what_had_not_ended_with_the_service_is_shown_as_failed),
		CASE(test_an_older_store_is_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
