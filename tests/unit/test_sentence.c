/* Words of a question: cutting, folding, stems, numbers, dates. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agents/query/sentence.h"
#include "base/buf.h"

/* The words with blanks between them. */
static char *cut(const char *text)
{
	struct buf out = BUF_INIT;
	struct sentence sentence;
	struct err err = {0};

	if (sentence_read(text, &sentence, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sentence.count; i++)
		buf_addf(&out, "%s%s", i > 0 ? " " : "", sentence.items[i].text);
	sentence_clear(&sentence);
	return buf_take(&out);
}

static void check(const char *text, const char *want)
{
	CLEANUP(mem_freep) char *got = cut(text);

	assert_string_equal(got, want);
}

static void test_names_and_questions_are_cut_alike(void **state)
{
	(void)state;
	check("net_sales", "net sales");
	check("Net-Sales", "net sales");
	check("Which AI-team members?", "which ai team members");
	check("the region's sales", "the region sales");
	check("customers\xe2\x80\x99 orders", "customers orders");
	check("don't can't isn't", "do not can not is not");
	check("what's O'Brien's", "what obrien");
	check("", "");
	check("?!", "");
	check("Éclair ΑΒ Ж", "éclair αβ ж");
	check("a;b(c)d", "a b c d");
	check("what % of", "what percent of");
}

static void test_stems_undo_plurals_only(void **state)
{
	static const char *const pairs[][2] = {
		{"categories", "category"},
		{"boxes", "box"},
		{"sales", "sale"},
		{"status", "status"},
		{"statuses", "status"},
		{"branches", "branch"},
		{"warehouses", "warehouse"},
		{"people", "person"},
		{"movies", "movy"},
		{"movie", "movy"},
		{"caches", "cach"},
		{"cache", "cach"},
		{"heroes", "hero"},
		{"shoes", "shoe"},
		{"class", "class"},
		{"classes", "class"},
		{"analysis", "analysis"},
		{"ids", "id"},
		{"is", "is"},
		{"a", "a"},
		{"", ""},
		{"completed", "completed"},
		{"selling", "selling"},
		{"taxes", "tax"},
		{"licenses", "license"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		CLEANUP(mem_freep) char *stem = word_stem(pairs[i][0]);

		assert_string_equal(stem, pairs[i][1]);
	}
}

static void test_numbers_are_read(void **state)
{
	static const struct {
		const char *text;
		double number;
		bool ordinal, percent, real;
	} cases[] = {
		{"42", 42, false, false, false},
		{"1,000", 1000, false, false, false},
		{"1,234,567", 1234567, false, false, false},
		{"2.5", 2.5, false, false, true},
		{"10k", 10000, false, false, false},
		{"3M", 3e6, false, false, false},
		{"15%", 15, false, true, false},
		{"3rd", 3, true, false, false},
		{"1st", 1, true, false, false},
		{"three", 3, false, false, false},
		{"third", 3, true, false, false},
		{"$100", 100, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sentence sentence;
		struct err err = {0};

		assert_int_equal(sentence_read(cases[i].text, &sentence, &err), 0);
		assert_int_equal(sentence.count, 1);
		assert_true(sentence.items[0].has_number);
		assert_true(sentence.items[0].number == cases[i].number);
		assert_int_equal(sentence.items[0].ordinal, cases[i].ordinal);
		assert_int_equal(sentence.items[0].percent, cases[i].percent);
		assert_int_equal(sentence.items[0].real, cases[i].real);
		sentence_clear(&sentence);
	}
	check("3com 12ab", "3com 12ab");
	check("1,2", "1 2");
	check("10, 20", "10 20");
}

static void test_dates_are_one_word(void **state)
{
	struct sentence sentence;
	struct err err = {0};

	(void)state;
	assert_int_equal(
		sentence_read("2026-07-01 2026-07 2025-02-30 2025-13 2024-02-29", &sentence, &err),
		0);
	assert_int_equal(sentence.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(sentence.items[i].kind, WORD_DATE);
	assert_true(sentence.items[0].date_ok);
	assert_int_equal(sentence.items[0].date.day, 1);
	assert_true(sentence.items[1].date_ok);
	assert_int_equal(sentence.items[1].date.day, 0);
	assert_false(sentence.items[2].date_ok);
	assert_false(sentence.items[3].date_ok);
	assert_true(sentence.items[4].date_ok);
	sentence_clear(&sentence);
}

static void test_marks_quotes_and_capitals_are_kept(void **state)
{
	struct sentence sentence;
	struct err err = {0};

	(void)state;
	assert_int_equal(sentence_read("East, \"Acorn Ltd\"; drop", &sentence, &err), 0);
	assert_int_equal(sentence.count, 4);
	assert_true(sentence.items[0].capital);
	assert_false(sentence.items[0].quoted);
	assert_int_equal(sentence.items[1].mark, ',');
	assert_true(sentence.items[1].quoted);
	assert_true(sentence.items[2].quoted);
	assert_int_equal(sentence.items[3].mark, ';');
	assert_false(sentence.items[3].quoted);
	sentence_clear(&sentence);
}

static void test_phrases_match_word_by_word(void **state)
{
	struct sentence sentence;
	struct sentence phrase;
	struct err err = {0};

	(void)state;
	assert_int_equal(sentence_read("total net sales by regions", &sentence, &err), 0);
	assert_int_equal(sentence_read("net_sale", &phrase, &err), 0);
	assert_int_equal(sentence_match(&sentence, 1, &phrase), 2);
	assert_int_equal(sentence_match(&sentence, 0, &phrase), 0);
	assert_int_equal(sentence_match(&sentence, 4, &phrase), 0);
	assert_int_equal(sentence_spell(&sentence, 3, "by regions"), 2);
	assert_int_equal(sentence_spell(&sentence, 3, "by region"), 0);
	assert_int_equal(sentence_spell(&sentence, 4, "regions now"), 0);
	assert_true(word_is(&sentence.items[4], "region"));
	sentence_clear(&phrase);
	sentence_clear(&sentence);
}

static void test_bad_bytes_and_too_many_words_are_errors(void **state)
{
	CLEANUP(buf_clear) struct buf many = BUF_INIT;
	struct sentence sentence;
	struct err err = {0};

	(void)state;
	assert_int_equal(sentence_read("ab\xff", &sentence, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, "byte 2 of the text is not UTF-8");
	assert_int_equal(sentence_read("\xc3", &sentence, &err), -1);
	for (int i = 0; i < SENTENCE_WORDS_MAX; i++)
		buf_add_str(&many, "w ");
	buf_add_str(&many, "?");
	assert_int_equal(sentence_read(buf_str(&many), &sentence, &err), 0);
	assert_int_equal(sentence.count, SENTENCE_WORDS_MAX);
	sentence_clear(&sentence);
	buf_add_str(&many, "w");
	assert_int_equal(sentence_read(buf_str(&many), &sentence, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_add_str(&many, " don't don't");
	assert_int_equal(sentence_read(buf_str(&many), &sentence, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_questions_are_cut_alike),
		cmocka_unit_test(test_stems_undo_plurals_only),
		cmocka_unit_test(test_numbers_are_read),
		cmocka_unit_test(test_dates_are_one_word),
		cmocka_unit_test(test_marks_quotes_and_capitals_are_kept),
		cmocka_unit_test(test_phrases_match_word_by_word),
		cmocka_unit_test(test_bad_bytes_and_too_many_words_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
