/* Costs to the last digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "orchestrator/cost.h"

static struct json *read(const char *text)
{
	struct json *json = NULL;

	assert_int_equal(json_parse_str(text, &json, NULL), 0);
	return json;
}

static struct json *cost(const char *prices_text, const char *usage_text)
{
	CLEANUP(json_freep) struct json *prices = read(prices_text);
	CLEANUP(json_freep) struct json *usage = read(usage_text);

	return cost_of(prices, usage);
}

static void assert_amount(const char *prices, const char *usage, const char *wanted)
{
	CLEANUP(json_freep) struct json *made = cost(prices, usage);

	assert_non_null(made);
	if (wanted)
		assert_string_equal(json_get_str(made, "amount"), wanted);
	else
		assert_true(json_is_null(json_get(made, "amount")));
	assert_string_equal(json_get_str(made, "currency"), "USD");
}

#define TB "{\"scan\":{\"micros\":5000000,\"per\":\"TB\"}}"
#define TIB "{\"scan\":{\"micros\":5000000,\"per\":\"TiB\"}}"
#define TOKENS                                                                                     \
	"{\"input_tokens\":{\"micros\":5000000,\"per\":\"million\"},"                              \
	"\"output_tokens\":{\"micros\":25000000,\"per\":\"million\"}}"

static void scanned_bytes_cost_by_the_terabyte(void **state)
{
	(void)state;
	assert_amount(TB, "{\"bytes_scanned\":4000000000}", "0.02");
	assert_amount(TB, "{\"bytes_scanned\":2000000000000}", "10.00");
	assert_amount(TB, "{\"bytes_scanned\":0}", "0.00");
	assert_amount(TB, "{}", "0.00");
	assert_amount(TB, "{\"bytes_scanned\":1}", "0.000000000005");
	assert_amount(TB, "{\"bytes_scanned\":12288}", "0.00000006144");
	assert_amount("{\"scan\":{\"micros\":1,\"per\":\"TB\"}}", "{\"bytes_scanned\":1}",
		      "0.000000000000000001");
	assert_amount("{\"scan\":{\"micros\":6500000,\"per\":\"GB\"}}",
		      "{\"bytes_scanned\":3000000000}", "19.50");
}

static void binary_units_are_other_units(void **state)
{
	(void)state;
	assert_amount(TIB, "{\"bytes_scanned\":2199023255552}", "10.00"); /* 2 TiB */
	assert_amount(TIB, "{\"bytes_scanned\":1099511627776}", "5.00");
	assert_amount(TB, "{\"bytes_scanned\":1099511627776}", "5.49755813888");
	/* 5 / 2^40 USD is 0.00000000000454747350886...: rounded at the 18th decimal */
	assert_amount(TIB, "{\"bytes_scanned\":1}", "0.000000000004547474");
	assert_amount("{\"scan\":{\"micros\":1000000,\"per\":\"GiB\"}}",
		      "{\"bytes_scanned\":1610612736}", "1.50");
}

static void tokens_cost_by_the_million(void **state)
{
	CLEANUP(json_freep) struct json *made = NULL;
	struct buf text = BUF_INIT;

	(void)state;
	assert_amount(TOKENS, "{\"input_tokens\":29400,\"output_tokens\":1500}", "0.1845");
	made = cost(TOKENS, "{\"input_tokens\":29400,\"output_tokens\":1500}");
	json_write(json_get(made, "parts"), &text);
	assert_string_equal(
		buf_str(&text),
		"[{\"of\":\"input_tokens\",\"quantity\":29400,\"price\":\"5 USD/million\","
		"\"amount\":\"0.147\"},{\"of\":\"output_tokens\",\"quantity\":1500,\"price\":"
		"\"25 USD/million\",\"amount\":\"0.0375\"}]");
	buf_clear(&text);
}

static void parts_add_up_exactly(void **state)
{
	(void)state;
	assert_amount("{\"scan\":{\"micros\":5000000,\"per\":\"TB\"},\"input_tokens\":{\"micros\":"
		      "100000,\"per\":\"million\"}}",
		      "{\"bytes_scanned\":4000000000,\"input_tokens\":1}", "0.0200001");
}

static void without_a_price_there_is_no_cost(void **state)
{
	(void)state;
	assert_null(cost("{}", "{\"bytes_scanned\":4000000000}"));
	assert_null(cost_of(NULL, NULL));
}

static void what_cannot_be_counted_has_no_amount(void **state)
{
	(void)state;
	assert_amount("{\"scan\":{\"micros\":999999999000000,\"per\":\"TB\"}}",
		      "{\"bytes_scanned\":1000000000000000}", "999999999000.00");
	assert_amount("{\"scan\":{\"micros\":9007199254740991,\"per\":\"TiB\"}}",
		      "{\"bytes_scanned\":9007199254740991}", NULL);
	assert_amount("{\"scan\":{\"micros\":1,\"per\":\"barrel\"}}", "{\"bytes_scanned\":1}",
		      NULL);
	assert_amount(TB, "{\"bytes_scanned\":-1}", NULL);
}

static void prices_are_named(void **state)
{
	CLEANUP(json_freep)
	struct json *made = cost("{\"scan\":{\"micros\":250000,\"per\":\"TiB\"}}", "{}");

	(void)state;
	assert_string_equal(json_get_str(json_at(json_get(made, "parts"), 0), "price"),
			    "0.25 USD/TiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scanned_bytes_cost_by_the_terabyte),
		cmocka_unit_test(binary_units_are_other_units),
		cmocka_unit_test(tokens_cost_by_the_million),
		cmocka_unit_test(parts_add_up_exactly),
		cmocka_unit_test(without_a_price_there_is_no_cost),
		cmocka_unit_test(what_cannot_be_counted_has_no_amount),
		cmocka_unit_test(prices_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
