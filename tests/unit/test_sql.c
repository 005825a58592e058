/* Quoting and walking SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sql.h"

static void quotes(void quote(const char *text, struct buf *out), const char *text,
		   const char *wanted)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;

	quote(text, &out);
	assert_string_equal(buf_str(&out), wanted);
}

static void test_names_and_texts_cannot_leave_their_quotes(void **state)
{
	(void)state;
	quotes(sql_name, "a", "\"a\"");
	quotes(sql_name, "a\"; DROP TABLE t; --", "\"a\"\"; DROP TABLE t; --\"");
	quotes(sql_name, "", "\"\"");
	quotes(sql_text, "it's", "'it''s'");
	quotes(sql_text, "''", "''''''");
	quotes(sql_text, "\"", "'\"'");
}

/* "word:SELECT quoted:a b" */
static void lexes(const char *sql, const char *wanted)
{
	static const char *const kinds[] = {"end", "word", "quoted", "string", "other"};
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	struct sql_lexeme lexeme;

	while ((lexeme = sql_lex_next(&sql)).kind != SQL_LEX_END) {
		CLEANUP(mem_freep) char *name = sql_lex_name(&lexeme);

		buf_addf(&out, "%s%s:%s", out.len ? " " : "", kinds[lexeme.kind], name);
	}
	assert_string_equal(buf_str(&out), wanted);
}

static void test_tokens_begin_and_end_where_the_database_sees_them(void **state)
{
	(void)state;
	lexes("SELECT \"a\"\"b\", [c d], `e` FROM t1",
	      "word:SELECT quoted:a\"b other:, quoted:c d other:, quoted:e word:FROM word:t1");
	lexes("x='it''s' -- no 'more'\n/* nor \"this\" */;", "word:x other:= string:it's other:;");
	lexes("1.5e3a+$b", "other:1.5e3a other:+ word:$b");
	lexes("'open", "string:ope"); /* reaches to the end; its name is cut short */
	lexes("/* open", "");
	lexes("\xEF\xBB\xBF"
	      "a",
	      "word:a");
	lexes("", "");
}

static void test_words_compare_without_case_and_quoted_ones_do_not(void **state)
{
	const char *sql = "Select \"select\"";
	struct sql_lexeme word = sql_lex_next(&sql), quoted = sql_lex_next(&sql);

	(void)state;
	assert_true(sql_lex_is(&word, "SELECT"));
	assert_false(sql_lex_is(&word, "SELEC"));
	assert_false(sql_lex_is(&word, "SELECTS"));
	assert_false(sql_lex_is(&quoted, "select"));
}

static void test_blanks_comments_and_semicolons_are_nothing(void **state)
{
	(void)state;
	assert_true(sql_lex_is_blank(""));
	assert_true(sql_lex_is_blank(" ; -- x\n/* y */;\t"));
	assert_false(sql_lex_is_blank("; a"));
	assert_false(sql_lex_is_blank("''"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_texts_cannot_leave_their_quotes),
		cmocka_unit_test(test_tokens_begin_and_end_where_the_database_sees_them),
		cmocka_unit_test(test_words_compare_without_case_and_quoted_ones_do_not),
		cmocka_unit_test(test_blanks_comments_and_semicolons_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
