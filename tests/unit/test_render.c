/* An answer for people: questions back and the row of audit records. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/render.h"

static char *rendered(const char *text)
{
	struct json *answer = NULL;
	struct err err = {0};
	char *shown = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&shown, &len);

	assert_int_equal(json_parse_str(text, &answer, &err), 0);
	render_answer(answer, out);
	fclose(out);
	json_free(answer);
	return shown;
}

static void has(const char *answer, const char *part)
{
	char *shown = rendered(answer);

	if (strstr(shown, part) == NULL)
		fail_msg("%s\nis not in\n%s", part, shown);
	free(shown);
}

#define REFUSED(records)                                                                           \
	"{\"status\":\"refused\",\"reason\":\"no\",\"task\":\"t-1\",\"audit\":{"                   \
	"\"records\":" records "}}"

static void test_records_are_shown_as_runs(void **state)
{
	(void)state;
	has(REFUSED("[7]"), "record 7; task t-1");
	has(REFUSED("[7,8]"), "records 7, 8; task t-1");
	has(REFUSED("[4,5,6]"), "records 4 to 6; task t-1");
	has(REFUSED("[4,5,6,9,11,12]"), "records 4 to 6, 9, 11, 12; task t-1");
}

#define COST(amount)                                                                               \
	"{\"status\":\"completed\",\"answer\":\"a\",\"columns\":[\"n\"],\"types\":[\"integer\"],"  \
	"\"units\":[null],\"rows\":[[1]],\"row_count\":1,\"truncated\":false,\"sql\":\"S\","       \
	"\"bytes_scanned\":1024,\"latency_ms\":1,\"cost\":{\"amount\":\"" amount "\"}}"

static void test_a_cost_is_shown_as_an_amount_to_read(void **state)
{
	(void)state;
	has(COST("0.00000008192"), "1.0 KiB scanned, under 0.01 USD, 1.0 ms");
	has(COST("0.0099"), "under 0.01 USD");
	has(COST("0.01"), "1.0 KiB scanned, 0.01 USD, 1.0 ms");
	has(COST("0"), "1.0 KiB scanned, 0 USD, 1.0 ms");
}

static void test_a_question_back_says_each_choice_once_and_how_to_answer(void **state)
{
	static const char answer[] =
		"{\"status\":\"needs_input\",\"task\":\"t-1\",\"question\":{\"text\":\"Which?\","
		"\"parts\":[{\"name\":\"metric\",\"choices\":[{\"value\":\"net_sales\",\"label\":"
		"\"net sales: all\"},{\"value\":\"orders\"}]},{\"name\":\"period\",\"choices\":[{"
		"\"value\":\"last month\",\"label\":\"last month: 2026-09-01 to before "
		"2026-10-01\"}]},{\"name\":\"who\",\"choices\":[{\"value\":\"O'Connor\",\"label\":"
		"\"O'Connor\"}]}]}}";

	(void)state;
	has(answer, "Which?\n");
	has(answer, "\n    net_sales  net sales: all\n    orders\n");
	has(answer, "\n    last month: 2026-09-01 to before 2026-10-01\n");
	has(answer, "\n    O'Connor\n");
	has(answer, "answer with, for example: writ task answer t-1 metric=net_sales "
		    "period='last month' who='O'\\''Connor'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_shown_as_runs),
		cmocka_unit_test(test_a_cost_is_shown_as_an_amount_to_read),
		cmocka_unit_test(test_a_question_back_says_each_choice_once_and_how_to_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
