/* broker/approval.c: one call, one approval, one use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "broker/approval.h"

static struct err err;
static char folder[] = "/tmp/approval-test-XXXXXX";
static char path[64];

static struct token_store *open_store(void)
{
	struct token_store *store = NULL;

	if (token_store_open(path, &store, &err) < 0)
		fail_msg("%s", err.text);
	return store;
}

static const struct approval_wish refunds = {.task = "t-1",
					     .agent = "q1",
					     .sub = "user:1",
					     .user = "ann",
					     .tool = "run_query",
					     .database = "sales",
					     .rule = "ask-refunds",
					     .digest = "abc",
					     .shown = "{\"sql\":\"SELECT 1\"}"};

#define NOW 1000
#define END 2000

static void asked(struct token_store *store, const struct approval_wish *wish, char *id)
{
	if (approval_ask(store, wish, NOW, END, id, &err) < 0)
		fail_msg("%s", err.text);
}

static void not_given(struct token_store *store, const struct approval_wish *wish, int64_t now)
{
	char id[APPROVAL_ID_LEN + 1];

	assert_int_equal(approval_find_given(store, wish, now, id, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void test_an_approval_is_asked_given_and_used_once(void **state)
{
	struct token_store *store = open_store();
	char id[APPROVAL_ID_LEN + 1], found[APPROVAL_ID_LEN + 1];
	const char *const ids[] = {id};

	(void)state;
	asked(store, &refunds, id);
	assert_int_equal(strlen(id), APPROVAL_ID_LEN);
	not_given(store, &refunds, NOW);
	asked(store, &refunds, found); /* asked already: the same */
	assert_string_equal(found, id);
	assert_int_equal(approvals_use(store, ids, 1, NOW, &err), -1); /* not given yet */
	assert_int_equal(approval_decide(store, id, true, "user:2", NOW + 1, &err), 0);
	assert_int_equal(approval_find_given(store, &refunds, NOW + 2, found, &err), 0);
	assert_string_equal(found, id);
	assert_int_equal(approvals_use(store, ids, 1, NOW + 3, &err), 0);
	not_given(store, &refunds, NOW + 4);
	assert_int_equal(approvals_use(store, ids, 1, NOW + 4, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_int_equal(approvals_use(store, NULL, 0, NOW, &err), 0);
	token_store_close(store);
}

static void test_it_is_for_that_very_call_and_no_other(void **state)
{
	struct token_store *store = open_store();
	struct approval_wish other = refunds;
	char id[APPROVAL_ID_LEN + 1], found[APPROVAL_ID_LEN + 1];

	(void)state;
	other.digest = "other";
	other.task = "t-2";
	asked(store, &other, id);
	assert_int_equal(approval_decide(store, id, true, "user:2", NOW, &err), 0);
	assert_int_equal(approval_find_given(store, &other, NOW, found, &err), 0);
#define DIFFERS(member, value)                                                                     \
	do {                                                                                       \
		struct approval_wish wish = other;                                                 \
		wish.member = value;                                                               \
		not_given(store, &wish, NOW);                                                      \
	} while (0)
	DIFFERS(task, "t-3");
	DIFFERS(agent, "q2");
	DIFFERS(sub, "user:3");
	DIFFERS(tool, "explain_query");
	DIFFERS(rule, "ask-other");
	DIFFERS(digest, "abc");
	not_given(store, &other, END); /* over */
	assert_int_equal(approval_find_given(store, &other, END - 1, found, &err), 0);
	/* A later task that follows the asking one has it too. */
	other.task = "t-4";
	other.follows = "t-2";
	assert_int_equal(approval_find_given(store, &other, NOW, found, &err), 0);
	assert_string_equal(found, id);
	token_store_close(store);
}

static void test_a_decision_stands_and_comes_in_time(void **state)
{
	struct token_store *store = open_store();
	struct approval_wish wish = refunds;
	struct approval_row row;
	char id[APPROVAL_ID_LEN + 1];
	const char *const ids[] = {id};

	(void)state;
	wish.task = "t-5";
	asked(store, &wish, id);
	assert_int_equal(approval_decide(store, id, false, "user:2", NOW, &err), 0);
	assert_int_equal(approval_decide(store, id, true, "user:2", NOW, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(approvals_use(store, ids, 1, NOW, &err), -1);
	assert_int_equal(approval_read(store, id, &row, &err), 0);
	assert_string_equal(row.state, "refused");
	assert_string_equal(row.rule, "ask-refunds");
	assert_int_equal(row.expires, END);
	approval_row_clear(&row);
	wish.task = "t-6";
	asked(store, &wish, id);
	assert_int_equal(approval_decide(store, id, true, "user:2", END, &err), -1);
	assert_int_equal(approval_decide(store, "ap-none", true, "user:2", NOW, &err), -1);
	assert_int_equal(approval_read(store, "ap-none", &row, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	token_store_close(store);
}

static void test_using_several_is_all_or_nothing(void **state)
{
	struct token_store *store = open_store();
	struct approval_wish wish = refunds;
	char first[APPROVAL_ID_LEN + 1], second[APPROVAL_ID_LEN + 1];
	const char *const ids[] = {first, second};

	(void)state;
	wish.task = "t-7";
	asked(store, &wish, first);
	wish.rule = "ask-more";
	asked(store, &wish, second);
	assert_int_equal(approval_decide(store, first, true, "user:2", NOW, &err), 0);
	assert_int_equal(approvals_use(store, ids, 2, NOW, &err), -1);
	assert_int_equal(approval_decide(store, second, true, "user:2", NOW, &err), 0);
	assert_int_equal(approvals_use(store, ids, 2, NOW, &err), 0); /* the first was not used */
	token_store_close(store);
}

static void test_a_user_can_have_so_many_open_and_no_more(void **state)
{
	struct token_store *store = open_store();
	struct approval_wish wish = refunds;
	char id[APPROVAL_ID_LEN + 1];

	(void)state;
	wish.sub = "user:flood";
	for (int i = 0; i < APPROVALS_OPEN_MAX; i++) {
		char digest[16];

		snprintf(digest, sizeof(digest), "d%d", i);
		wish.digest = digest;
		asked(store, &wish, id);
	}
	wish.digest = "more";
	assert_int_equal(approval_ask(store, &wish, NOW, END, id, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(approval_ask(store, &wish, END, END + 10, id, &err),
			 0); /* those are over */
	token_store_close(store);
}

static const struct approval_viewer everything = {.all = true};

static size_t listed(struct token_store *store, const char *sub, const char *rules,
		     const char *wanted_rule)
{
	CLEANUP(json_freep) struct json *names = NULL;
	CLEANUP(json_freep) struct json *list = NULL;
	struct approval_viewer viewer = {.sub = sub};
	int64_t last = INT64_MAX;

	assert_int_equal(json_parse(rules, strlen(rules), 4096, &names, &err), 0);
	viewer.rules = names;
	if (approval_list(store, &viewer, NOW, &list, &err) < 0)
		fail_msg("%s", err.text);
	json_each(row, list)
	{
		assert_true(json_get_int(row, "created", 0) <= last);
		last = json_get_int(row, "created", 0);
		if (wanted_rule != NULL)
			assert_string_equal(json_get_str(row, "rule"), wanted_rule);
	}
	return json_len(list);
}

/* One that waits for a person must not be hidden by what waits for others. */
static void test_what_others_see_hides_nothing_from_who_decides(void **state)
{
	struct token_store *store;
	struct approval_wish wish = refunds;
	char id[APPROVAL_ID_LEN + 1];

	(void)state;
	unlink(path);
	store = open_store();
	wish.rule = "ask-old";
	asked(store, &wish, id);
	wish.rule = "ask-it's";
	asked(store, &wish, id);
	wish.rule = "ask-new";
	for (int i = 0; i < APPROVALS_LISTED_MAX + 1; i++) {
		CLEANUP(mem_freep) char *sub = mem_format("user:new-%d", i / 60);
		CLEANUP(mem_freep) char *digest = mem_format("d%d", i);

		wish.sub = sub;
		wish.digest = digest;
		if (approval_ask(store, &wish, NOW + 1 + i, END, id, &err) < 0)
			fail_msg("%s", err.text);
	}
	assert_int_equal(listed(store, "user:7", "[\"ask-old\"]", "ask-old"), 1);
	assert_int_equal(listed(store, "user:7", "[\"ask-it's\"]", "ask-it's"), 1);
	assert_int_equal(listed(store, "user:7", "[\"ask-old\",\"ask-it's\",\"none\"]", NULL), 2);
	assert_int_equal(listed(store, "user:1", "[]", NULL), 2);
	assert_int_equal(listed(store, "user:1", "[\"ask-old\"]", NULL), 2);
	assert_int_equal(listed(store, "user:new-0", "[]", "ask-new"), 60);
	assert_int_equal(listed(store, "user:7", "[]", NULL), 0);
	assert_int_equal(listed(store, "user:7", "[\"ask-new\"]", "ask-new"), APPROVALS_LISTED_MAX);
	token_store_close(store);
	unlink(path);
}

static void test_the_list_tells_what_became_of_each(void **state)
{
	struct token_store *store = open_store();
	struct json *list = NULL;
	bool used = false, over = false, refused = false;

	(void)state;
	assert_int_equal(approval_list(store, &everything, END, &list, &err), 0);
	json_each(row, list)
	{
		const char *status = json_get_str(row, "state");

		assert_string_equal(json_get_str(row, "database"), "sales");
		assert_non_null(json_get_str(row, "approval"));
		used = used || strcmp(status, "used") == 0;
		over = over || strcmp(status, "over") == 0;
		refused = refused || strcmp(status, "refused") == 0;
	}
	assert_true(used && over && refused);
	json_free(list);
	assert_int_equal(approval_purge(store, END + 8 * 86400, &err), 0);
	assert_int_equal(approval_list(store, &everything, END, &list, &err), 0);
	assert_int_equal(json_len(list), 0);
	json_free(list);
	token_store_close(store);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_approval_is_asked_given_and_used_once),
		cmocka_unit_test(test_it_is_for_that_very_call_and_no_other),
		cmocka_unit_test(test_a_decision_stands_and_comes_in_time),
		cmocka_unit_test(test_using_several_is_all_or_nothing),
		cmocka_unit_test(test_a_user_can_have_so_many_open_and_no_more),
		cmocka_unit_test(test_the_list_tells_what_became_of_each),
		cmocka_unit_test(test_what_others_see_hides_nothing_from_who_decides),
	};
	int failed;

	crypto_init();
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/broker.db", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
