/* Tokens of SQL, words of people, and sets of names. */
#include "tests/lib/sqlite_fixture.h"

#include "broker/connectors/sqlite_text.h"
#include "broker/connectors/sqlite_words.h"

static void test_names_are_quoted_with_inner_quotes_doubled(void **state)
{
	static const char *const cases[][2] = {
		{"a", "\"a\""}, {"", "\"\""}, {"a\"b", "\"a\"\"b\""}, {"\"", "\"\"\"\""}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = BUF_INIT;

		sql_name(cases[i][0], &out);
		assert_string_equal(buf_str(&out), cases[i][1]);
		buf_clear(&out);
	}
}

/* Kinds as letters: w word, q quoted, s string, o other; names in brackets. */
static char *tokens_of(const char *sql)
{
	struct buf out = BUF_INIT;

	for (;;) {
		struct sql_lexeme token = sql_lex_next(&sql);
		CLEANUP(mem_freep) char *name = NULL;

		if (token.kind == SQL_LEX_END)
			return buf_take(&out);
		buf_add_char(&out, "ewqso"[token.kind]);
		if (token.kind == SQL_LEX_WORD || token.kind == SQL_LEX_QUOTED) {
			name = sql_lex_name(&token);
			buf_addf(&out, "[%s]", name);
		}
	}
}

static void test_tokens_end_where_the_database_ends_them(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"  \t\r\n\f", ""},
		{"SELECT 1", "w[SELECT]o"},
		{"a.b", "w[a]ow[b]"},
		{"'a;b'", "s"},
		{"'a''b'c", "sw[c]"},
		{"'open", "s"},
		{"\"a\"\"b\"", "q[a\"b]"},
		{"`a``b`", "q[a`b]"},
		{"[a]]", "q[a]o"},
		{"[a b]", "q[a b]"},
		{"-- x\ny", "w[y]"},
		{"--x", ""},
		{"/* x */y", "w[y]"},
		{"/* x", ""},
		{"/**/", ""},
		{"a--b\n/*c*/d", "w[a]w[d]"},
		{"x'00'", "w[x]s"},
		{"1e5 0x1F 1.5", "ooo"},
		{"a->>'b'", "w[a]ooos"},
		{"Ж_1$", "w[Ж_1$]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *got = tokens_of(cases[i][0]);

		assert_string_equal(got, cases[i][1]);
	}
}

static void test_a_tail_is_blank_or_it_is_not(void **state)
{
	(void)state;
	assert_true(sql_lex_is_blank(""));
	assert_true(sql_lex_is_blank(" ; ;; -- DROP\n /* DELETE */"));
	assert_true(sql_lex_is_blank("\xEF\xBB\xBF; \xEF\xBB\xBF")); /* as SQLite reads it */
	assert_false(sql_lex_is_blank("\xEF\xBB\xBE"));
	assert_false(sql_lex_is_blank("; a"));
	assert_false(sql_lex_is_blank("'"));
	assert_false(sql_lex_is_blank("*/"));
}

static char *joins_of(const char *sql)
{
	struct sql_joins joins = {0};
	struct buf out = BUF_INIT;

	sql_joins_add(&joins, sql);
	buf_add_str(&out, joins.natural ? "natural" : "");
	for (size_t i = 0; i < joins.using_count; i++)
		buf_addf(&out, " %s", joins.using_columns[i]);
	sql_joins_clear(&joins);
	return buf_take(&out);
}

static void test_joins_by_name_are_found(void **state)
{
	static const char *const cases[][2] = {
		{"SELECT 1 FROM a JOIN b USING (x)", " x"},
		{"SELECT 1 FROM a JOIN b using(x, \"y z\", [w], 'v')", " x y z w v"},
		{"SELECT 1 FROM a JOIN b USING /* c */ (x) JOIN c USING (y)", " x y"},
		{"SELECT 'USING (x)' -- USING (y)\n", ""},
		{"SELECT \"using\" FROM a", ""},
		{"SELECT 1 FROM a NATURAL JOIN b", "natural"},
		{"SELECT 1 FROM a natural left outer join b", "natural"},
		{"SELECT 1 FROM a NATURAL/**/FULL\nJOIN b", "natural"},
		{"SELECT natural FROM a LEFT JOIN b", ""},
		{"SELECT 'NATURAL JOIN'", ""},
		{"USING (", ""},
		{"USING", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *got = joins_of(cases[i][0]);

		assert_string_equal(got, cases[i][1]);
	}
}

static void test_words_are_folded(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"East", "east"},
		{"Training Sets", "training set"},
		{"boxes dishes classes cities", "box dish class city"},
		{"bus gas its glass analysis as", "bus gas its glass analysis as"},
		{"Acme's  -- sales!", "acme sale"},
		{"KÖLN ÀÉ", "köln àé"},
		{"ΑΘΗΝΑ МОСКВА Ё", "αθηνα москва ё"},
		{"ŁÓDŹ", "łódź"},
		{"a1-b2", "a1 b2"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *got = NULL;
		struct words words;

		words_split(&words, cases[i][0], 64);
		got = words_join(&words, 0, words.count);
		assert_string_equal(got, cases[i][1]);
		words_clear(&words);
	}
}

static void test_one_word_more_than_wanted_is_counted(void **state)
{
	struct words words;

	(void)state;
	words_split(&words, "a b c d e", 3);
	assert_int_equal(words.count, 4);
	words_clear(&words);
	words_split(&words, "a b c", 3);
	assert_int_equal(words.count, 3);
	words_clear(&words);
}

static void test_distance_counts_slips_up_to_a_bound(void **state)
{
	static const struct {
		const char *a, *b;
		size_t max, distance;
	} cases[] = {
		{"east", "east", 1, 0},		 {"east", "esat", 1, 1}, {"east", "eas", 1, 1},
		{"east", "xeast", 1, 1},	 {"east", "west", 1, 2}, {"east", "west", 2, 2},
		{"east", "wosk", 2, 3},		 {"", "ab", 2, 2},	 {"", "abc", 2, 3},
		{"headphone", "headfone", 2, 2}, {"ca", "abc", 3, 3},	 {"abcd", "badc", 2, 2},
	};
	char text[130];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(words_distance(cases[i].a, cases[i].b, cases[i].max),
				 cases[i].distance);
		assert_int_equal(words_distance(cases[i].b, cases[i].a, cases[i].max),
				 cases[i].distance);
	}
	memset(text, 'a', sizeof(text));
	text[129] = '\0';
	assert_int_equal(words_distance(text, text, 2), 3); /* too long to look at */
	text[128] = '\0';
	assert_int_equal(words_distance(text, text, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_quoted_with_inner_quotes_doubled),
		cmocka_unit_test(test_tokens_end_where_the_database_ends_them),
		cmocka_unit_test(test_a_tail_is_blank_or_it_is_not),
		cmocka_unit_test(test_joins_by_name_are_found),
		cmocka_unit_test(test_words_are_folded),
		cmocka_unit_test(test_one_word_more_than_wanted_is_counted),
		cmocka_unit_test(test_distance_counts_slips_up_to_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
