/* Texts held against results: what passes, what fails and why; the built-in report always passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report_sample.h"

static const char question[] = "Which regions had the highest net sales last quarter?";

static void assert_passes(const char *sample_text, const char *text)
{
	struct sample sample;
	struct err err = {0};

	sample_init(&sample, question, sample_text);
	if (report_check(&sample.input, text, &err) < 0)
		fail_msg("\"%s\": %s", text, err.text);
	sample_clear(&sample);
}

static void assert_fails(const char *sample_text, const char *text, const char *why)
{
	struct sample sample;
	struct err err = {0};

	sample_init(&sample, question, sample_text);
	if (report_check(&sample.input, text, &err) == 0)
		fail_msg("\"%s\" passes", text);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, why);
	sample_clear(&sample);
}

static void numbers_in_their_usual_forms_pass(void **state)
{
	static const char *const texts[] = {
		"East $420",
		"East 420.00 USD",
		"East: $420.00, West: $300",
		"East had net sales of 420 USD.",
		"In USD: East 420, West 300.0, South 90, Unknown 40.",
		"East led with $420.00; West followed with $300.00.",
		"$420.00 came from East.",
		"All 4 regions: East 420.00 USD.",
		"The four regions are East ($420), West ($300), South ($90) and Unknown ($40).",
		"Net sales last quarter (2026-07-01 to before 2026-10-01): East 420.00 USD",
		"From 2026-07-01 through 2026-09-30 East had $420.",
		"From July 1, 2026 to September 30, 2026, East had $420.",
		"In July to September 2026, East had $420.",
		"In Q3 2026 East had $420.",
		"Completed orders only, missing discount 0. East: $420",
		"- East: $420\n- West: $300\n",
		"Nothing that holds a number.",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_passes(SAMPLE_SALES, texts[i]);
}

static void swapped_labels_fail(void **state)
{
	(void)state;
	assert_fails(SAMPLE_SALES, "West 420.00 USD, East 300.00 USD",
		     "420.00 USD stands with West, the result has it for East");
	assert_fails(SAMPLE_SALES, "West 420.00, East 300.00",
		     "420.00 stands where net sales is in USD");
	assert_fails(SAMPLE_SALES, "USD: West 420.00, East 300.00",
		     "420.00 stands with West, the result has it for East");
	assert_fails(SAMPLE_SALES, "West and East had $420",
		     "$420 stands with West and East, which is no row of the result");
}

static void another_unit_fails(void **state)
{
	(void)state;
	assert_fails(SAMPLE_SALES, "East 420 %", "420 % stands where net sales is in USD");
	assert_fails(SAMPLE_SALES, "East 420 percent",
		     "420 percent stands where net sales is in USD");
	assert_fails(SAMPLE_SALES,
		     "East \xE2\x82\xAC"
		     "420",
		     "\xE2\x82\xAC"
		     "420 stands where net sales is in USD");
	assert_fails(SAMPLE_SALES, "East 420 EUR", "420 EUR stands where net sales is in USD");
}

static void numbers_that_are_not_in_the_result_fail(void **state)
{
	(void)state;
	assert_fails(SAMPLE_SALES, "East $421",
		     "$421 stands with East, the result has no such net sales there");
	assert_fails(SAMPLE_SALES, "East $420.01",
		     "$420.01 stands with East, the result has no such net sales there");
	assert_fails(SAMPLE_SALES, "East -420 USD",
		     "-420 USD stands with East, the result has no such net sales there");
	assert_fails(SAMPLE_SALES, "In total $850.00.", "$850.00 stands with no row of the result");
	assert_fails(SAMPLE_SALES, "East $0.42k", "$0.42k is not a number of the result");
	assert_fails(SAMPLE_SALES, "5 regions: East $420", "5 rows are named, the result has 4");
	assert_fails(SAMPLE_SALES, "East had four hundred twenty USD",
		     "\"hundred\" cannot be checked: write it in digits");
	assert_fails(SAMPLE_SALES, "East no value.", "no value is said where the result has one");
	assert_fails(SAMPLE_SALES, "East W33 $420", "W33 is not in the result");
}

static void numbers_written_around_the_check_fail(void **state)
{
	(void)state;
	assert_passes(SAMPLE_SALES, "East USD 420, West USD 300");
	assert_fails(SAMPLE_SALES, "In USD: East EUR 420", "420 stands where net sales is in USD");
	assert_fails(SAMPLE_SALES, "In USD: East 420 k", "420 is not a number of the result");
	assert_fails(SAMPLE_SALES, "East 420 CHF", "420 CHF stands where net sales is in USD");
	assert_fails(SAMPLE_SALES, "East \xD9\xA4\xD9\xA2\xD9\xA0 USD",
		     "\xD9\xA4\xD9\xA2\xD9\xA0 is not in the result");
	assert_fails(SAMPLE_SALES, "East 420\xC2\xBD USD",
		     "420\xC2\xBD is not a number of the result");
	assert_fails(SAMPLE_SALES, "East \xEF\xBC\x94 USD", "\xEF\xBC\x94 is not in the result");
}

#define CURRENCIES                                                                                 \
	"{\"result\":{\"columns\":[\"currency\",\"n\"],\"types\":[\"text\",\"integer\"],\"rows\":" \
	"[[\"EUR\",5],[\"USD\",7]],\"row_count\":2},\"columns\":[{\"name\":\"currency\","          \
	"\"label\":"                                                                               \
	"\"currency\",\"role\":\"dimension\"},{\"name\":\"n\",\"label\":\"orders\",\"role\":"      \
	"\"metric\",\"decimals\":0}]}"

static void a_label_that_reads_like_a_unit_is_a_label(void **state)
{
	(void)state;
	assert_passes(CURRENCIES, "EUR 5, USD 7");
	assert_fails(CURRENCIES, "EUR 7, USD 5", "7 stands with EUR, the result has it for USD");
}

static void another_measure_fails_although_the_numbers_are_right(void **state)
{
	(void)state;
	assert_fails(SAMPLE_SALES, "Profit: East $420",
		     "profit is named, the result does not measure it");
	assert_fails(SAMPLE_SALES, "The average of East is $420",
		     "average is named, the result does not measure it");
	assert_fails(SAMPLE_SALES, "East's share: $420",
		     "share is named, the result does not measure it");
	assert_passes(SAMPLE_SALES, "Net sales: East $420");
	assert_passes(SAMPLE_SALES, "Sales of East: $420"); /* the question says sales */
	assert_passes(SAMPLE_SALES, "Quantity times price: East $420"); /* the definition does */
	assert_passes(SAMPLE_SALES, "A profitable region: East $420");
}

static void another_period_fails(void **state)
{
	static const char *const texts[] = {
		"2026-07-02",
		"From 2026-10-01",
		"2026-07-01 to 2026-10-01",
		"July 2026",
		"In 2026",
		"Q2 2026",
		"last month",
		"the past 30 days",
		"yesterday",
		"before 2026-09-30",
		"July to October 2026",
		"July 1, 2025",
		"2026-Q4",
		"2026-08",
		"1 August 2026",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct sample sample;
		struct err err = {0};

		sample_init(&sample, question, SAMPLE_SALES);
		if (report_check(&sample.input, texts[i], &err) == 0)
			fail_msg("\"%s\" passes", texts[i]);
		if (!strstr(err.text, "is named, the result is of 2026-07-01 to before 2026-10-01"))
			fail_msg("\"%s\": %s", texts[i], err.text);
		sample_clear(&sample);
	}
	assert_fails("{\"result\":{\"columns\":[\"n\"],\"types\":[\"integer\"],\"rows\":[[9]],"
		     "\"row_count\":1}}",
		     "In July 2026: 9", "July 2026 is named, the result has no period");
}

static void each_value_stands_with_its_own_measure(void **state)
{
	(void)state;
	assert_passes(SAMPLE_SHARES, "East: net sales $420, share of net sales 49.4 %, orders 2");
	assert_passes(SAMPLE_SHARES, "East 49.4 %, \"North East\" 35.3 %");
	assert_passes(SAMPLE_SHARES, "North East had net sales of $300 (orders: 1).");
	assert_passes(SAMPLE_SHARES, "(missing): net sales 130.50 USD");
	assert_fails(SAMPLE_SHARES, "East orders 420 USD",
		     "420 USD stands where orders is in no unit");
	assert_fails(SAMPLE_SHARES, "East orders 1",
		     "1 stands with East, the result has it for North East");
	assert_fails(SAMPLE_SHARES, "East share of net sales 420 %",
		     "420 % stands with East, the result has no such share of net sales there");
	assert_fails(SAMPLE_SHARES, "North East $420",
		     "$420 stands with North East, the result has it for East");
}

/* Two columns of labels: one alone does not name a row. */
#define TWO_LABELS                                                                                 \
	"{\"result\":{\"columns\":[\"region\",\"product\",\"n\"],\"types\":[\"text\",\"text\","    \
	"\"integer\"],\"rows\":[[\"East\",\"Pen\",5],[\"East\",\"Ink\",3],[\"West\",\"Pen\",5]],"  \
	"\"row_count\":3},\"columns\":[{\"name\":\"region\",\"label\":\"region\",\"role\":"        \
	"\"dimension\"},{\"name\":\"product\",\"label\":\"product\",\"role\":\"dimension\"},"      \
	"{\"name\":\"n\",\"label\":\"orders\",\"role\":\"metric\",\"decimals\":0}]}"

static void a_row_of_two_labels_needs_both(void **state)
{
	(void)state;
	assert_passes(TWO_LABELS, "East / Pen 5; East / Ink 3; West / Pen 5");
	assert_passes(TWO_LABELS, "Pen 5"); /* it is 5 wherever it was sold */
	assert_fails(TWO_LABELS, "East 5", "5 stands with East, the result has it for East / Pen");
	assert_fails(TWO_LABELS, "West / Ink 3",
		     "3 stands with West and Ink, which is no row of the result");
}

static void numbers_beyond_a_double_are_compared_digit_by_digit(void **state)
{
	static const char big[] =
		"{\"result\":{\"columns\":[\"n\"],\"types\":[\"bigint\"],\"rows\":"
		"[[\"9007199254740993\"]],\"row_count\":1}}";

	(void)state;
	assert_passes(big, "n 9007199254740993");
	assert_passes(big, "n 9,007,199,254,740,993");
	assert_fails(big, "n 9007199254740992", "9007199254740992 is not the result's n");
}

static void thousands_separators_are_read(void **state)
{
	static const char one[] = "{\"result\":{\"columns\":[\"total\"],\"types\":[\"real\"],"
				  "\"rows\":[[1200.5]],\"row_count\":1}}";

	(void)state;
	assert_passes(one, "total 1,200.50");
	assert_passes(one, "total 1200.5");
	assert_passes(one, "total 1.2005e3");
	assert_fails(one, "total 1,200", "1,200 is not the result's total");
	assert_fails(one, "total 1,2005", "1 is not the result's total");
}

/* ---- the built-in report over random results ---- */

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

static void random_label(struct buf *out)
{
	static const char *const pieces[] = {
		"East",	    "North",   "West", "net",	  "sales",	  "USD",
		"420",	    "5",       "Q3",   "may",	  "May",	  "two",
		"last",	    "quarter", "%",    "$",	  "\"",		  "\\",
		",",	    ".",       ":",    "/",	  "\xC3\x84pfel", "\xE6\x9D\xB1",
		"-",	    "(x)",     "2026", "2026-07", "orders",	  "share",
		"no value", "region",  "\n",   "rows",	  "1e5",	  "product"};
	uint32_t count = random_below(5);

	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && random_below(4) > 0)
			buf_add_char(out, ' ');
		buf_add_str(out, pieces[random_below(ARRAY_LEN(pieces))]);
	}
	if (random_below(40) == 0) {
		for (int i = 0; i < 50; i++)
			buf_add_str(out, " long\xC3\xA4");
	}
}

static struct json *random_cell(bool label)
{
	struct buf text = BUF_INIT;
	struct json *cell;

	if (random_below(12) == 0)
		return json_new_null();
	if (!label)
		switch (random_below(5)) {
		case 0:
			return json_new_int((int64_t)random_below(600) - 100);
		case 1:
			return json_new_real(((double)random_below(2000000) - 500000) / 100);
		case 2:
			return json_new_real((double)random_below(1000) * 1e15 / 7);
		case 3:
			return json_new_str("9223372036854775807");
		default:
			return json_new_int(5);
		}
	if (random_below(8) == 0)
		return json_new_int(random_below(500));
	random_label(&text);
	cell = json_new_str(buf_str(&text));
	buf_clear(&text);
	return cell;
}

static void add_column(struct json *tree, size_t index, bool label, bool declared)
{
	static const char *const labels[] = {
		"net sales", "share of net sales", "orders", "region", "product", "5", "orders 5",
		"rows",	     "SUM(a)/100.0",	   "2026",   "x, y",   "USD"};
	static const char *const units[] = {"USD", "%", "kg", "USD per 100 g"};
	struct json *result = json_get_mut(tree, "result"), *column = json_object();
	CLEANUP(mem_freep) char *name = mem_format("%s", labels[random_below(ARRAY_LEN(labels))]);

	json_push_str(json_get_mut(result, "columns"), name);
	json_push_str(json_get_mut(result, "types"), label ? "text" : "real");
	if (!declared) {
		json_free(column);
		return;
	}
	json_set_str(column, "name", name);
	json_set_str(column, "label", labels[(index * 3 + random_below(3)) % ARRAY_LEN(labels)]);
	json_set_str(column, "role", label ? "dimension" : random_below(2) ? "metric" : "share");
	if (!label && random_below(3) > 0)
		json_set_str(column, "unit", units[random_below(ARRAY_LEN(units))]);
	json_set_int(column, "decimals", random_below(4));
	json_push(json_get_mut(tree, "columns"), column);
}

static struct json *random_tree(void)
{
	struct json *tree = json_object(), *result = json_object(), *rows = json_array();
	size_t labels = random_below(3), values = random_below(4);
	size_t count = random_below(4) == 0 ? 13 + random_below(20) : random_below(7);
	bool declared = random_below(2);

	json_set(tree, "result", result);
	json_set(tree, "columns", json_array());
	json_set(result, "columns", json_array());
	json_set(result, "types", json_array());
	for (size_t i = 0; i < labels + values; i++)
		add_column(tree, i, i < labels, declared);
	for (size_t i = 0; i < count; i++) {
		struct json *row = json_array();

		for (size_t j = 0; j < labels + values; j++)
			json_push(row, random_cell(j < labels));
		json_push(rows, row);
	}
	json_set(result, "rows", rows);
	json_set_int(result, "row_count", (int64_t)count);
	json_set_bool(result, "truncated", random_below(5) == 0);
	return tree;
}

static void the_built_in_report_passes_over_random_results(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 2000; seed++) {
		struct json *tree;
		struct report_input input = {.question = "?"};
		struct buf text = BUF_INIT;
		struct err err = {0};

		random_state = seed;
		tree = random_tree();
		input.result = json_get(tree, "result");
		input.columns =
			json_len(json_get(tree, "columns")) ? json_get(tree, "columns") : NULL;
		report_builtin(&input, &text);
		if (report_check(&input, buf_str(&text), &err) < 0)
			fail_msg("seed %u: %s\n%s", seed, err.text, buf_str(&text));
		buf_clear(&text);
		json_free(tree);
	}
}

/* A changed digit is noticed, wherever it stands behind the header. */
static void a_changed_value_fails_over_random_results(void **state)
{
	static const char *const names[] = {"Ost", "Nord Ost", "West", "\xC3\x9C"};

	(void)state;
	for (uint32_t seed = 1; seed <= 500; seed++) {
		struct buf json = BUF_INIT, text = BUF_INIT;
		struct sample sample;
		uint32_t changed, values[4];
		char *place;
		char number[32];

		random_state = seed;
		changed = random_below(4);
		buf_add_str(&json,
			    "{\"result\":{\"columns\":[\"region\",\"n\"],\"types\":[\"text\","
			    "\"integer\"],\"rows\":[");
		for (uint32_t i = 0; i < 4; i++) {
			values[i] = 1000 + random_below(8000) * 10;
			buf_addf(&json, "%s[\"%s\",%u]", i ? "," : "", names[i], values[i]);
		}
		buf_add_str(&json, "],\"row_count\":4}}");
		sample_init(&sample, "?", buf_str(&json));
		report_builtin(&sample.input, &text);
		assert_int_equal(report_check(&sample.input, buf_str(&text), NULL), 0);
		snprintf(number, sizeof(number), "n %u", values[changed]);
		place = strstr(text.bytes, number);
		assert_non_null(place);
		place[strlen(number) - 1] = (char)('1' + random_below(9)); /* it ended in 0 */
		if (report_check(&sample.input, buf_str(&text), NULL) == 0)
			fail_msg("seed %u passes: %s", seed, buf_str(&text));
		sample_clear(&sample);
		buf_clear(&json);
		buf_clear(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_in_their_usual_forms_pass),
		cmocka_unit_test(swapped_labels_fail),
		cmocka_unit_test(another_unit_fails),
		cmocka_unit_test(numbers_that_are_not_in_the_result_fail),
		cmocka_unit_test(numbers_written_around_the_check_fail),
		cmocka_unit_test(a_label_that_reads_like_a_unit_is_a_label),
		cmocka_unit_test(another_measure_fails_although_the_numbers_are_right),
		cmocka_unit_test(another_period_fails),
		cmocka_unit_test(each_value_stands_with_its_own_measure),
		cmocka_unit_test(a_row_of_two_labels_needs_both),
		cmocka_unit_test(numbers_beyond_a_double_are_compared_digit_by_digit),
		cmocka_unit_test(thousands_separators_are_read),
		cmocka_unit_test(the_built_in_report_passes_over_random_results),
		cmocka_unit_test(a_changed_value_fails_over_random_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
