/* Editing queries/ as text: what a person wrote stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/query_file.h"

#define TWO                                                                                        \
	"# ours\n"                                                                                 \
	"verified_queries:\n"                                                                      \
	"  - question: a   # first\n"                                                              \
	"    sql: |\n"                                                                             \
	"      SELECT 1\n"                                                                         \
	"      shape: no key\n"                                                                    \
	"    shape: old\n"                                                                         \
	"    metrics:\n"                                                                           \
	"      net_sales: x\n"                                                                     \
	"\n"                                                                                       \
	"  # about b\n"                                                                            \
	"  - question: b\n"                                                                        \
	"    sql: SELECT 2\n"

static void is(struct buf *out, const char *wanted)
{
	assert_string_equal(buf_str(out), wanted);
	buf_clear(out);
}

static void test_a_query_is_put_behind_the_last(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	query_file_add("", "n", "Net \"sales\"?", "SELECT 1\nFROM t", NULL, &out);
	is(&out, "verified_queries:\n"
		 "  - question: \"Net \\\"sales\\\"?\"\n"
		 "    name: \"n\"\n"
		 "    sql: |-\n"
		 "      SELECT 1\n"
		 "      FROM t\n");
	query_file_add("verified_queries:\n- question: a\n  sql: b", NULL, "c", "SELECT\t1", "w",
		       &out);
	is(&out, "verified_queries:\n- question: a\n  sql: b\n"
		 "- question: \"c\"\n"
		 "  when: \"w\"\n"
		 "  sql: \"SELECT\\t1\"\n");
}

static void test_keys_are_set_at_the_end_of_their_query(void **state)
{
	static const struct query_key keys[] = {
		{"shape", "new"}, {"metrics", NULL}, {"verified_by", "me"}};
	struct buf out = BUF_INIT;

	(void)state;
	query_file_set(TWO, 3, keys, 3, &out);
	is(&out, "# ours\n"
		 "verified_queries:\n"
		 "  - question: a   # first\n"
		 "    sql: |\n"
		 "      SELECT 1\n"
		 "      shape: no key\n"
		 "    shape: new\n"
		 "    verified_by: me\n"
		 "\n"
		 "  # about b\n"
		 "  - question: b\n"
		 "    sql: SELECT 2\n");
	query_file_set(TWO, 12, keys, 3, &out);
	assert_non_null(strstr(buf_str(&out), "    sql: SELECT 2\n    shape: new\n    "
					      "verified_by: me\n"));
	assert_non_null(strstr(buf_str(&out), "    shape: old\n"));
	buf_clear(&out);
}

static void test_setting_twice_is_setting_once(void **state)
{
	static const struct query_key keys[] = {{"shape", "new"}, {"reads", "[a.b]"}};
	struct buf once = BUF_INIT, twice = BUF_INIT;

	(void)state;
	query_file_set(TWO, 3, keys, 2, &once);
	query_file_set(buf_str(&once), 3, keys, 2, &twice);
	assert_string_equal(buf_str(&once), buf_str(&twice));
	buf_clear(&once);
	buf_clear(&twice);
}

static void test_a_query_is_taken_out_and_the_others_stay(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	query_file_remove(TWO, 3, &out);
	is(&out, "# ours\nverified_queries:\n\n  # about b\n  - question: b\n    sql: SELECT 2\n");
	query_file_remove(TWO, 12, &out);
	assert_null(strstr(buf_str(&out), "question: b"));
	assert_non_null(strstr(buf_str(&out), "net_sales: x\n"));
	buf_clear(&out);
	query_file_remove("verified_queries:\n  - question: a\n    sql: b\n", 2, &out);
	is(&out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_query_is_put_behind_the_last),
		cmocka_unit_test(test_keys_are_set_at_the_end_of_their_query),
		cmocka_unit_test(test_setting_twice_is_setting_once),
		cmocka_unit_test(test_a_query_is_taken_out_and_the_others_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
