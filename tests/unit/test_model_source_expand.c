/* Fields that read other fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/metrics/model_source.h"
#include "base/mem.h"

static struct json *fields_of(const char *const (*fields)[2], size_t count)
{
	struct json *list = json_array();

	for (size_t i = 0; i < count; i++) {
		struct json *field = json_object();

		json_set_str(field, "name", fields[i][0]);
		json_set_str(field, "expression", fields[i][1]);
		json_push(list, field);
	}
	return list;
}

/* The first field over columns; or the name that a circle leads back to. */
static void gives(const char *const (*fields)[2], size_t count, const char *wanted,
		  const char *wanted_circle)
{
	CLEANUP(json_freep) struct json *list = fields_of(fields, count);
	const char *circle;
	CLEANUP(mem_freep) char *text = source_expanded(list, "orders", json_at(list, 0), &circle);

	if (!wanted_circle && circle)
		fail_msg("%s leads back to %s", fields[0][1], circle);
	if (wanted_circle) {
		assert_non_null(circle);
		assert_string_equal(circle, wanted_circle);
	} else if (strcmp(text, wanted) != 0) {
		fail_msg("%s gives %s, wanted %s", fields[0][1], text, wanted);
	}
}

#define GIVES(wanted, circle, ...)                                                                 \
	do {                                                                                       \
		static const char *const fields[][2] = {__VA_ARGS__};                              \
		gives(fields, ARRAY_LEN(fields), wanted, circle);                                  \
	} while (0)

static void test_a_name_of_another_field_is_that_field(void **state)
{
	(void)state;
	GIVES("(qty * price) * 0.9", NULL, {"net", "total * 0.9"}, {"total", "qty * price"});
	GIVES("((a + 1) * 2) - (a + 1)", NULL, {"z", "y - x"}, {"x", "a + 1"}, {"y", "x * 2"});
	GIVES("COALESCE((qty * price), 0)", NULL, {"net", "COALESCE(orders.total, 0)"},
	      {"total", "qty * price"});
	GIVES("1 + (qty)", NULL, {"net", "1 + \"total\""}, {"total", "qty"});
	GIVES("1 + (qty) - 2", NULL, {"net", "1 + orders . \"total\" - 2"}, {"total", "qty"});
	GIVES("CASE WHEN (ROW_NUMBER() OVER (ORDER BY id)) = 1 THEN amount END", NULL,
	      {"first", "CASE WHEN place = 1 THEN amount END"},
	      {"place", "ROW_NUMBER() OVER (ORDER BY id)"});
	GIVES("(a) + (A2)", NULL, {"s", "ONE + two"}, {"one", "a"}, {"Two", "A2"});
}

static void test_its_own_name_and_other_names_are_columns(void **state)
{
	(void)state;
	GIVES("amount", NULL, {"amount", "amount"});
	GIVES("amount + 1", NULL, {"amount", "amount + 1"});
	GIVES("COALESCE(discount, 0)", NULL, {"discount", "COALESCE(discount, 0)"},
	      {"price", "price_cents"});
	GIVES("price - (COALESCE(discount, 0))", NULL, {"net", "price - discount"},
	      {"discount", "COALESCE(discount, 0)"});
	GIVES("'total' || name", NULL, {"x", "'total' || name"}, {"total", "qty"});
	GIVES("customers.total", NULL, {"x", "customers.total"}, {"total", "qty"});
	GIVES("total +", NULL, {"x", "total +"}, {"total", "qty"}); /* said elsewhere */
}

static void test_a_circle_is_told(void **state)
{
	(void)state;
	GIVES(NULL, "a", {"a", "b + 1"}, {"b", "a - 1"});
	GIVES(NULL, "a", {"a", "b"}, {"b", "c"}, {"c", "a"});
	GIVES(NULL, "b", {"a", "b"}, {"b", "c"}, {"c", "b"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_of_another_field_is_that_field),
		cmocka_unit_test(test_its_own_name_and_other_names_are_columns),
		cmocka_unit_test(test_a_circle_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
