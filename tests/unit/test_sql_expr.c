/* Expressions as sql_parse.h lays them out: written again in prefix form and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/check/sql_parse.h"

static void write_expr(const struct sql_expr *expr, struct buf *out)
{
	static const char *const kinds[] = {"col",	"int",	"real",	  "text",  "bool", "null",
					    "op",	"cmp",	"same",	  "like",  "btw",  "in",
					    "isnull",	"and",	"or",	  "not",   "call", "case",
					    "coalesce", "cast", "exists", "query", "other"};

	buf_addf(out, "%s%s", expr->negated ? "!" : "", kinds[expr->kind]);
	if (expr->kind == SQL_EXPR_COLUMN)
		buf_addf(out, ":%s%s%s", expr->column.table ? expr->column.table : "",
			 expr->column.table ? "." : "", expr->column.name);
	else if (expr->name)
		buf_addf(out, ":%s", expr->name);
	buf_addf(out, "%s%s%s%s%s", expr->distinct ? " distinct" : "", expr->star ? " star" : "",
		 expr->window ? " window" : "", expr->filtered ? " filtered" : "",
		 expr->query ? " query" : "");
	if (expr->arg_count == 0)
		return;
	buf_add_char(out, '(');
	for (size_t i = 0; i < expr->arg_count; i++) {
		buf_add_str(out, i > 0 ? " " : "");
		write_expr(expr->args[i], out);
	}
	buf_add_char(out, ')');
}

static struct sql_statement *parse(enum sql_dialect dialect, const char *sql)
{
	struct sql_statement *statement = NULL;
	struct err err = {0};

	if (sql_parse_as(dialect, sql, &statement, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
	return statement;
}

static void assert_output(enum sql_dialect dialect, const char *expression, const char *wanted)
{
	CLEANUP(mem_freep) char *sql = mem_format("SELECT %s FROM t", expression);
	struct sql_statement *statement = parse(dialect, sql);
	struct buf out = BUF_INIT;

	assert_non_null(statement->top->outputs[0].expr);
	write_expr(statement->top->outputs[0].expr, &out);
	assert_string_equal(buf_str(&out), wanted);
	buf_clear(&out);
	sql_statement_free(statement);
}

#define LITE(expression, wanted) assert_output(SQL_DIALECT_SQLITE, expression, wanted)
#define POST(expression, wanted) assert_output(SQL_DIALECT_POSTGRES, expression, wanted)

static void leaves_keep_their_text(void **state)
{
	(void)state;
	LITE("t.a", "col:t.a");
	LITE("A", "col:a");
	LITE("\"A b\"", "col:A b");
	LITE("0", "int:0");
	LITE("12", "int:12");
	LITE("99999999999", "int:99999999999");
	LITE("1.50", "real:1.50");
	LITE("1e3", "real:1e3");
	LITE("'it''s'", "text:it's");
	LITE("''", "text:");
	LITE("NULL", "null");
	LITE("TRUE", "bool:true");
	LITE("false", "bool:false");
	LITE("CURRENT_DATE", "call:current_date");
}

static void operators_and_tests_have_kinds_of_their_own(void **state)
{
	(void)state;
	LITE("a + 1 * b", "op:+(col:a op:*(int:1 col:b))");
	LITE("-a", "op:-(col:a)");
	LITE("a || 'x'", "op:||(col:a text:x)");
	LITE("a == 1", "cmp:=(col:a int:1)");
	LITE("a != 1", "cmp:<>(col:a int:1)");
	LITE("a IS 1", "same(col:a int:1)");
	LITE("a IS NOT 1", "!same(col:a int:1)");
	LITE("a IS DISTINCT FROM b", "!same(col:a col:b)");
	LITE("a LIKE 'x%'", "like(col:a text:x%)");
	LITE("a NOT LIKE 'x%'", "!like(col:a text:x%)");
	LITE("a BETWEEN 1 AND 2", "btw(col:a int:1 int:2)");
	LITE("a NOT BETWEEN 1 AND 2", "!btw(col:a int:1 int:2)");
	LITE("a IN (1, 2)", "in(col:a int:1 int:2)");
	LITE("a NOT IN (1)", "!in(col:a int:1)");
	LITE("a IS NULL", "isnull(col:a)");
	LITE("a IS NOT NULL", "!isnull(col:a)");
}

static void not_is_taken_into_the_test(void **state)
{
	(void)state;
	LITE("NOT a IN (1)", "!in(col:a int:1)");
	LITE("NOT (a IS NOT NULL)", "isnull(col:a)");
	LITE("NOT (a NOT LIKE 'x')", "like(col:a text:x)");
	LITE("NOT NOT a", "col:a");
	LITE("NOT a = 1", "not(cmp:=(col:a int:1))");
	LITE("NOT EXISTS (SELECT 1)", "!exists query");
	LITE("a AND b OR NOT c", "or(and(col:a col:b) not(col:c))");
}

static void calls_carry_what_they_are_called_with(void **state)
{
	(void)state;
	LITE("COUNT(*)", "call:count star");
	LITE("COUNT(DISTINCT a)", "call:count distinct(col:a)");
	LITE("SUM(a) FILTER (WHERE b > 1)", "call:sum filtered(col:a cmp:>(col:b int:1))");
	LITE("SUM(a) OVER (ORDER BY b)", "call:sum window(col:a)");
	LITE("IFNULL(a, 0)", "coalesce:ifnull(col:a int:0)");
	LITE("COALESCE(a, b, 0)", "coalesce(col:a col:b int:0)");
	LITE("NULLIF(a, 0)", "call:nullif(col:a int:0)");
	LITE("Round(AVG(a), 2)", "call:round(call:avg(col:a) int:2)");
	LITE("CAST(a AS REAL)", "cast:float4(col:a)");
	LITE("CAST(a AS DECIMAL(10,2))", "cast:numeric(col:a)");
}

static void both_forms_of_case_are_conditions_and_results(void **state)
{
	(void)state;
	LITE("CASE WHEN a > 1 THEN b ELSE 0 END", "case(cmp:>(col:a int:1) col:b int:0)");
	LITE("CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END",
	     "case(cmp:=(col:a int:1) text:x cmp:=(col:a int:2) text:y null)");
}

static void sub_queries_are_linked(void **state)
{
	(void)state;
	LITE("(SELECT MAX(b) FROM u)", "query query");
	LITE("a IN (SELECT b FROM u)", "in query(col:a)");
	LITE("a NOT IN (SELECT b FROM u)", "!in query(col:a)");
	LITE("EXISTS (SELECT 1 FROM u)", "exists query");
	POST("a > ALL (SELECT b FROM u)", "other query(col:a)");
}

static void what_has_no_shape_keeps_its_columns(void **state)
{
	(void)state;
	POST("ARRAY[a, b]", "other(col:a col:b)");
	POST("GREATEST(a, 1)", "other(col:a int:1)");
	POST("(a, b) = (1, 2)", "cmp:=(other(col:a col:b) other(int:1 int:2))");
}

static void postgresql_is_read_as_it_stands(void **state)
{
	(void)state;
	POST("a::numeric / 2", "op:/(cast:numeric(col:a) int:2)");
	POST("E'it\\'s'", "text:it's");
	POST("$tag$it's$tag$", "text:it's");
	POST("DATE '2025-03-01'", "cast:date(text:2025-03-01)");
	POST("a ILIKE 'x%'", "like(col:a text:x%)");
	POST("extract(month from a)", "call:extract(text:month col:a)");
	POST("a /* one /* two */ still */ + 1", "op:+(col:a int:1)");
	POST("arr[1]", "other(col:arr int:1)");
}

static void a_level_has_its_clauses(void **state)
{
	struct sql_statement *statement =
		parse(SQL_DIALECT_SQLITE,
		      "SELECT a, COUNT(*) FROM t JOIN u ON u.id = t.id WHERE b > 1 GROUP BY a "
		      "HAVING COUNT(*) > 2 ORDER BY 2 DESC, a LIMIT 5");
	const struct sql_select *top = statement->top;
	const struct sql_expr *parts[] = {top->joins[0].on, top->where,	   top->groups[0].expr,
					  top->having,	    top->order[0], top->order[1],
					  top->limit};
	static const char *const wanted[] = {"cmp:=(col:u.id col:t.id)",
					     "cmp:>(col:b int:1)",
					     "col:a",
					     "cmp:>(call:count star int:2)",
					     "int:2",
					     "col:a",
					     "int:5"};

	(void)state;
	assert_int_equal(top->order_count, 2);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct buf out = BUF_INIT;

		assert_non_null(parts[i]);
		write_expr(parts[i], &out);
		assert_string_equal(buf_str(&out), wanted[i]);
		buf_clear(&out);
	}
	sql_statement_free(statement);
}

static void an_expression_fixes_the_column_it_equals(void **state)
{
	struct sql_statement *statement = parse(
		SQL_DIALECT_SQLITE, "SELECT 1 FROM v JOIN s ON s.id = CAST(v.ref AS INTEGER)");
	const struct sql_equality *equality = &statement->top->equalities[0];

	(void)state;
	assert_int_equal(statement->top->equality_count, 1);
	assert_false(equality->constant);
	assert_string_equal(equality->left.name, "id");
	assert_int_equal(equality->from.count, 1);
	assert_string_equal(equality->from.items[0].name, "ref");
	sql_statement_free(statement);
}

static void a_text_made_of_a_column_fixes_it_in_turn(void **state)
{
	struct sql_statement *statement =
		parse(SQL_DIALECT_SQLITE, "SELECT 1 FROM v JOIN s ON CAST(s.id AS TEXT) = v.ref");
	struct sql_statement *same =
		parse(SQL_DIALECT_SQLITE, "SELECT 1 FROM v JOIN s ON CAST(s.id AS TEXT) IS v.ref");

	(void)state;
	assert_int_equal(statement->top->equality_count, 2);
	assert_string_equal(statement->top->equalities[0].left.name, "ref");
	assert_string_equal(statement->top->equalities[1].left.name, "id");
	assert_string_equal(statement->top->equalities[1].from.items[0].name, "ref");
	/* two missing values are the same to IS */
	assert_int_equal(same->top->equality_count, 0);
	sql_statement_free(statement);
	sql_statement_free(same);
}

static void words_of_the_other_dialect_are_refused(void **state)
{
	static const struct {
		enum sql_dialect dialect;
		const char *sql;
	} cases[] = {{SQL_DIALECT_SQLITE, "SELECT a::int FROM t"},
		     {SQL_DIALECT_SQLITE, "SELECT $$x$$"},
		     {SQL_DIALECT_POSTGRES, "SELECT `a` FROM t"},
		     {SQL_DIALECT_POSTGRES, "SELECT $1"},
		     {SQL_DIALECT_POSTGRES, "SELECT $tag$ open"},
		     {SQL_DIALECT_POSTGRES, "SELECT E'open\\'"},
		     {SQL_DIALECT_POSTGRES, "SELECT 1 /* /* */"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sql_statement *statement = NULL;
		struct err err = {0};

		assert_true(sql_parse_as(cases[i].dialect, cases[i].sql, &statement, &err) < 0);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_null(statement);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_keep_their_text),
		cmocka_unit_test(operators_and_tests_have_kinds_of_their_own),
		cmocka_unit_test(not_is_taken_into_the_test),
		cmocka_unit_test(calls_carry_what_they_are_called_with),
		cmocka_unit_test(both_forms_of_case_are_conditions_and_results),
		cmocka_unit_test(sub_queries_are_linked),
		cmocka_unit_test(what_has_no_shape_keeps_its_columns),
		cmocka_unit_test(postgresql_is_read_as_it_stands),
		cmocka_unit_test(a_level_has_its_clauses),
		cmocka_unit_test(an_expression_fixes_the_column_it_equals),
		cmocka_unit_test(a_text_made_of_a_column_fixes_it_in_turn),
		cmocka_unit_test(words_of_the_other_dialect_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
