/* What is said of a cut between equals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/ties.h"
#include "base/mem.h"

static struct column_info columns[] = {
	{.name = "region", .label = "region", .role = COLUMN_DIMENSION},
	{.name = "year", .label = "year", .role = COLUMN_DIMENSION},
	{.name = "net_sales", .label = "net sales", .role = COLUMN_METRIC, .metric = "net_sales"},
};

static void says(const char *rows_text, size_t shown, const char *wanted)
{
	const struct compiled_query compiled = {.columns = columns, .column_count = 3};
	CLEANUP(json_freep) struct json *rows = NULL;
	CLEANUP(mem_freep) char *text = NULL;
	struct err err;

	assert_int_equal(json_parse_str(rows_text, &rows, &err), 0);
	text = ties_text(rows, shown, &compiled, 2);
	if (wanted == NULL && text != NULL)
		fail_msg("%s says %s", rows_text, text);
	if (wanted != NULL && (text == NULL || strncmp(text, wanted, strlen(wanted)) != 0))
		fail_msg("%s says %s", rows_text, text ? text : "nothing");
}

static void test_a_next_row_that_differs_is_no_tie(void **state)
{
	(void)state;
	says("[[\"East\",2025,3],[\"West\",2025,2],[\"South\",2025,1]]", 2, NULL);
	says("[[\"East\",2025,3],[\"West\",2025,2]]", 2, NULL); /* there is no next one */
	says("[]", 2, NULL);
	says("[[\"East\",2025,3]]", 0, NULL);
	says("[[\"East\",2025,null],[\"West\",2025,0]]", 1, NULL);
}

static void test_equal_rows_behind_the_cut_are_named(void **state)
{
	(void)state;
	says("[[\"East\",2025,3],[\"West\",2025,3],[\"South\",2025,1]]", 1,
	     "West / 2025: the same net sales as the last one shown");
	says("[[\"East\",2025,null],[null,2024,null]]", 1, "missing / 2024: the same");
	says("[[\"A\",1,3],[\"B\",1,3],[\"C\",1,3],[\"D\",1,3],[\"E\",1,3],[\"F\",1,3]]", 1,
	     "B / 1, C / 1, D / 1 and 2 more: the same");
}

static void test_as_many_as_were_asked_may_be_more(void **state)
{
	CLEANUP(buf_clear) struct buf rows = BUF_INIT;

	(void)state;
	buf_add_str(&rows, "[[\"A\",0,7]");
	for (int i = 1; i <= TIES_MORE; i++)
		buf_addf(&rows, ",[\"A\",%d,7]", i);
	buf_add_str(&rows, "]");
	says(buf_str(&rows), 1, "A / 1, A / 2, A / 3 and at least 17 more: the same");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_next_row_that_differs_is_no_tie),
		cmocka_unit_test(test_equal_rows_behind_the_cut_are_named),
		cmocka_unit_test(test_as_many_as_were_asked_may_be_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
