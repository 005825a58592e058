/* Rows of tokens: subtrees, epochs, races of issue and revoke, and the cache of verified ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "broker/token_cache.h"
#include "broker/token_store.h"

static char path[64];
static struct token_store *store;
static struct err err;

static int open_store(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/writ-store-XXXXXX");
	if (mkdtemp(path) == NULL)
		return -1;
	strcat(path, "/broker.db");
	err_clear(&err);
	return token_store_open(path, &store, &err);
}

static int close_store(void **state)
{
	static const char *const tails[] = {"", "-wal", "-shm"};

	(void)state;
	token_store_close(store);
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		CLEANUP(mem_freep) char *name = mem_format("%s%s", path, tails[i]);

		unlink(name);
	}
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

static int add(const char *jti, const char *parent, const char *agent, const char *sub,
	       const char *txn)
{
	return token_store_add(store,
			       &(struct token_row){.jti = jti,
						   .parent = parent,
						   .agent = agent,
						   .sub = sub,
						   .user = "alice",
						   .txn = txn,
						   .kid = "k",
						   .issued = 1000,
						   .expires = 1300},
			       1000, &err);
}

/* a -> b -> c, a -> d; e alone in another task, f of another user. */
static void add_tree(void)
{
	assert_int_equal(add("a", NULL, "q", "user:1", "t1"), 0);
	assert_int_equal(add("b", "a", "r", "user:1", "t1"), 0);
	assert_int_equal(add("c", "b", "s", "user:1", "t1"), 0);
	assert_int_equal(add("d", "a", "r", "user:1", "t1"), 0);
	assert_int_equal(add("e", NULL, "q", "user:1", "t2"), 0);
	assert_int_equal(add("f", NULL, "q", "user:2", "t3"), 0);
}

static bool live(const char *jti)
{
	return token_store_check(store, jti, 1001, &err) == 0;
}

static int64_t take_back(enum token_choice by, const char *value, const char *sub)
{
	struct token_selector selector = {by, value, sub};
	int64_t count = -1;

	if (token_store_revoke(store, &selector, "test", true, 1001, &count, &err) < 0)
		return -1;
	return count;
}

static void test_revoking_takes_the_subtree_and_leaves_siblings(void **state)
{
	int64_t epoch = token_store_epoch(store);

	(void)state;
	add_tree();
	assert_int_equal(take_back(TOKEN_BY_JTI, "b", NULL), 2);
	assert_true(live("a") && live("d") && live("e") && live("f"));
	assert_false(live("b"));
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, "the token is revoked");
	assert_false(live("c"));
	assert_int_equal(token_store_epoch(store), epoch + 1);
	assert_int_equal(take_back(TOKEN_BY_JTI, "a", NULL),
			 2); /* a and d: b and c are counted once */
}

static void test_revoking_works_by_task_agent_user_and_key(void **state)
{
	(void)state;
	add_tree();
	assert_int_equal(take_back(TOKEN_BY_TASK, "t2", NULL), 1);
	assert_false(live("e"));
	assert_int_equal(take_back(TOKEN_BY_AGENT, "r", NULL), 3); /* b with c, and d */
	assert_true(live("a") && live("f"));
	assert_int_equal(take_back(TOKEN_BY_USER, "user:2", NULL), 1);
	assert_false(live("f"));
	assert_int_equal(take_back(TOKEN_BY_KID, "k", NULL), 1);
	assert_false(live("a"));
	assert_int_equal(take_back(TOKEN_BY_KID, "k", NULL), 0);
}

static void test_a_user_revokes_only_own_tokens(void **state)
{
	(void)state;
	add_tree();
	assert_int_equal(take_back(TOKEN_BY_JTI, "f", "user:1"), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(take_back(TOKEN_BY_JTI, "nothing", NULL), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(take_back(TOKEN_BY_TASK, "t3", "user:1"), 0);
	assert_true(live("f"));
	assert_int_equal(take_back(TOKEN_BY_TASK, "t3", "user:2"), 1);
}

static void test_no_child_is_stored_under_a_revoked_or_absent_parent(void **state)
{
	(void)state;
	add_tree();
	assert_int_equal(take_back(TOKEN_BY_JTI, "a", NULL), 4);
	assert_int_equal(add("late", "a", "r", "user:1", "t1"), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, "store a token: the parent token is revoked");
	assert_int_equal(add("later", "c", "r", "user:1", "t1"), -1); /* by its ancestors */
	assert_int_equal(add("orphan", "never", "r", "user:1", "t1"), -1);
	assert_string_equal(err.text, "store a token: the parent token is not known");
	assert_false(live("late"));
	assert_string_equal(err.text, "the token is not known");
	assert_int_equal(add("a", NULL, "q", "user:1", "t1"), -1); /* a jti once */
}

static void test_a_token_ends_exactly_at_its_expiry(void **state)
{
	(void)state;
	add_tree();
	assert_int_equal(token_store_check(store, "a", 1299, &err), 0);
	assert_int_equal(token_store_check(store, "a", 1300, &err), -1);
	assert_int_equal(err.kind, ERR_TIMEOUT);
	assert_int_equal(token_store_add(store,
					 &(struct token_row){.jti = "x",
							     .parent = "a",
							     .agent = "r",
							     .sub = "user:1",
							     .user = "alice",
							     .txn = "t1",
							     .kid = "k",
							     .issued = 1300,
							     .expires = 1400},
					 1300, &err),
			 -1);
	assert_string_equal(err.text, "store a token: the parent token is expired");
}

static void test_rows_go_thirty_seconds_after_the_end(void **state)
{
	CLEANUP(json_freep) struct json *list = NULL;

	(void)state;
	add_tree();
	assert_int_equal(token_store_purge(store, 1330, &err), 0);
	assert_int_equal(token_store_list(store, NULL, &list, &err), 0);
	assert_int_equal(json_len(list), 6);
	json_freep(&list);
	assert_int_equal(token_store_purge(store, 1331, &err), 0);
	assert_int_equal(token_store_list(store, NULL, &list, &err), 0);
	assert_int_equal(json_len(list), 0);
}

static void test_a_list_shows_only_the_user_s_own(void **state)
{
	CLEANUP(json_freep) struct json *list = NULL;
	const struct json *row;

	(void)state;
	add_tree();
	take_back(TOKEN_BY_JTI, "f", NULL);
	assert_int_equal(token_store_list(store, "user:2", &list, &err), 0);
	assert_int_equal(json_len(list), 1);
	row = json_at(list, 0);
	assert_string_equal(json_get_str(row, "jti"), "f");
	assert_string_equal(json_get_str(row, "agent"), "q");
	assert_string_equal(json_get_str(row, "task"), "t3");
	assert_true(json_get_bool(row, "revoked", false));
	assert_string_equal(json_get_str(row, "cause"), "test");
	assert_int_equal(json_get_int(row, "expires", 0), 1300);
}

static void test_epoch_pseudonyms_and_revocations_outlive_the_process(void **state)
{
	char before[PSEUDONYM_LEN + 1];
	char after[PSEUDONYM_LEN + 1];
	int64_t epoch;

	(void)state;
	add_tree();
	take_back(TOKEN_BY_JTI, "a", NULL);
	epoch = token_store_epoch(store);
	token_store_pseudonym(store, "alice", before);
	token_store_close(store);
	assert_int_equal(token_store_open(path, &store, &err), 0);
	token_store_pseudonym(store, "alice", after);
	assert_string_equal(before, after);
	assert_int_equal(strlen(before), PSEUDONYM_LEN);
	assert_int_equal(strncmp(before, "user:", 5), 0);
	token_store_pseudonym(store, "alicf", after);
	assert_string_not_equal(before, after);
	assert_int_equal(token_store_epoch(store), epoch);
	assert_false(live("c"));
	assert_int_equal(token_store_raise_epoch(store, &err), 0);
	assert_int_equal(token_store_epoch(store), epoch + 1);
}

static struct token_claims claims_until(int64_t exp)
{
	return (struct token_claims){.payload = json_object(), .exp = exp};
}

static void test_a_cached_token_counts_only_in_its_epoch_and_time(void **state)
{
	struct token_cache *cache = token_cache_new();
	struct token_claims claims = claims_until(1300);

	(void)state;
	assert_null(token_cache_get(cache, "token", 5, 7, 1000));
	assert_int_equal(token_cache_put(cache, "token", 5, 7, &claims)->exp, 1300);
	assert_null(claims.payload); /* taken */
	assert_non_null(token_cache_get(cache, "token", 5, 7, 1299));
	assert_null(token_cache_get(cache, "token", 5, 7, 1300));
	assert_null(token_cache_get(cache, "token", 5, 8, 1000));
	assert_null(token_cache_get(cache, "tokem", 5, 7, 1000));
	claims = claims_until(1400);
	token_cache_put(cache, "token", 5, 8, &claims);
	assert_null(token_cache_get(cache, "token", 5, 7, 1000));
	assert_non_null(token_cache_get(cache, "token", 5, 8, 1399));
	token_cache_free(cache);
}

int main(void)
{
#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, open_store, close_store)
	const struct CMUnitTest tests[] = {
		WITH_STORE(test_revoking_takes_the_subtree_and_leaves_siblings),
		WITH_STORE(test_revoking_works_by_task_agent_user_and_key),
		WITH_STORE(test_a_user_revokes_only_own_tokens),
		WITH_STORE(test_no_child_is_stored_under_a_revoked_or_absent_parent),
		WITH_STORE(test_a_token_ends_exactly_at_its_expiry),
		WITH_STORE(test_rows_go_thirty_seconds_after_the_end),
		WITH_STORE(test_a_list_shows_only_the_user_s_own),
		WITH_STORE(test_epoch_pseudonyms_and_revocations_outlive_the_process),
		cmocka_unit_test(test_a_cached_token_counts_only_in_its_epoch_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
