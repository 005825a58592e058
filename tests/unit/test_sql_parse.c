/*
 * SQLite's statements as the checks see them. describe() writes a level as text:
 *   sources; joins; equalities (@ and the join, w: WHERE); aggregates with their terms; groups
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/check/sql_parse.h"

static struct sql_statement *parse(const char *sql)
{
	struct sql_statement *statement = NULL;
	struct err err = {0};

	if (sql_parse(sql, &statement, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
	return statement;
}

static void add_column(const struct sql_column *column, struct buf *out)
{
	if (column->table)
		buf_addf(out, "%s.", column->table);
	buf_add_str(out, column->name ? column->name : "*");
}

static void add_columns(const struct sql_columns *columns, struct buf *out)
{
	for (size_t i = 0; i < columns->count; i++) {
		buf_add_str(out, i ? "," : "");
		add_column(&columns->items[i], out);
	}
}

static void add_aggregate(const struct sql_statement *statement,
			  const struct sql_aggregate *aggregate, struct buf *out)
{
	buf_add_str(out, " ");
	sql_tokens_write(&statement->tokens, aggregate->text.first, aggregate->text.end, out);
	buf_addf(out, "%s%s[", aggregate->distinct ? " distinct" : "",
		 aggregate->window ? " window" : "");
	for (size_t i = 0; i < aggregate->term_count; i++) {
		buf_add_str(out, i ? " + " : "");
		add_columns(&aggregate->terms[i].values, out);
		if (aggregate->terms[i].conditions.count)
			buf_add_str(out, "|");
		add_columns(&aggregate->terms[i].conditions, out);
		buf_add_str(out, aggregate->terms[i].opaque ? "?" : "");
	}
	buf_add_str(out, "]");
}

static void describe(const struct sql_statement *statement, const struct sql_select *select,
		     struct buf *out)
{
	static const char *const kinds[] = {"inner", "left", "right", "full"};

	for (size_t i = 0; i < select->source_count; i++) {
		const struct sql_source *source = &select->sources[i];

		buf_addf(out, "%s%s:%s", i ? " " : "", source->alias,
			 source->kind == SQL_TABLE   ? source->table
			 : source->kind == SQL_QUERY ? "(query)"
						     : "(opaque)");
	}
	for (size_t i = 0; i < select->join_count; i++)
		buf_addf(out, "; %s %llu-%llu", kinds[select->joins[i].kind],
			 (unsigned long long)select->joins[i].left,
			 (unsigned long long)select->joins[i].right);
	for (size_t i = 0; i < select->equality_count; i++) {
		const struct sql_equality *equality = &select->equalities[i];

		buf_add_str(out, "; ");
		add_column(&equality->left, out);
		buf_add_str(out, "=");
		if (equality->constant)
			buf_add_str(out, "const");
		else if (equality->from.count > 0)
			buf_addf(out, "made of %zu", equality->from.count);
		else
			add_column(&equality->right, out);
		if (equality->join == SQL_IN_WHERE)
			buf_add_str(out, "@w");
		else
			buf_addf(out, "@%d", equality->join);
	}
	if (select->aggregate_count)
		buf_add_str(out, ";");
	for (size_t i = 0; i < select->aggregate_count; i++)
		add_aggregate(statement, &select->aggregates[i], out);
	for (size_t i = 0; i < select->group_count; i++) {
		buf_add_str(out, i ? ", " : "; by ");
		sql_tokens_write(&statement->tokens, select->groups[i].text.first,
				 select->groups[i].text.end, out);
	}
}

static void assert_level(const char *sql, size_t level, const char *wanted)
{
	struct sql_statement *statement = parse(sql);
	struct buf text = BUF_INIT;

	if (level >= statement->select_count)
		fail_msg("%s: only %zu levels", sql, statement->select_count);
	describe(statement, statement->selects[level], &text);
	assert_string_equal(buf_str(&text), wanted);
	buf_clear(&text);
	sql_statement_free(statement);
}

static void assert_top(const char *sql, const char *wanted)
{
	assert_level(sql, 0, wanted);
}

static void assert_refused(const char *sql, enum err_kind kind, const char *why)
{
	struct sql_statement *statement = NULL;
	struct err err = {0};

	if (sql_parse(sql, &statement, &err) == 0)
		fail_msg("%s is understood", sql);
	assert_null(statement);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", sql, err.text);
}

static void joins_aggregates_and_groups_are_laid_out(void **state)
{
	(void)state;
	assert_top(
		"SELECT d.category_name, SUM(o.amount_cents)/100.0 AS r, COUNT(DISTINCT o.id), "
		"count(*) FROM orders o JOIN order_items AS i ON i.order_id = o.order_id "
		"LEFT JOIN dim_sku d ON d.sku = i.sku AND d.kind = 'x' "
		"WHERE o.order_date >= '2025-04-01' AND d.c IN ('a') GROUP BY 1, d.x",
		"o:orders i:order_items d:dim_sku; inner 1-2; left 3-4; i.order_id=o.order_id@0; "
		"d.sku=i.sku@1; d.kind=const@1; d.c=const@w; SUM(o.amount_cents)[o.amount_cents] "
		"COUNT(DISTINCT o.id) distinct[o.id] count(*)[]; by 1, d.x");
	assert_top(
		"SELECT 1 FROM a, b CROSS JOIN c JOIN d USING (x, y) WHERE a.i = b.i AND 5 = c.i",
		"a:a b:b c:c d:d; inner 2-4; inner 6-8; x=x@1; y=y@1; a.i=b.i@w; c.i=const@w");
}

static void a_join_without_a_condition_is_a_product(void **state)
{
	(void)state;
	assert_top("SELECT 1 FROM a JOIN b JOIN c ON c.i = b.i WHERE a.i = b.i",
		   "a:a b:b c:c; inner 1-2; inner 3-4; c.i=b.i@1; a.i=b.i@w");
}

static void equalities_under_or_and_not_are_none(void **state)
{
	(void)state;
	assert_top("SELECT 1 FROM a JOIN b ON a.x = b.x OR a.y = b.y WHERE NOT a.z = 1",
		   "a:a b:b; inner 1-2");
	assert_top("SELECT 1 FROM a, b WHERE a.x = b.x + 1 AND a.y = NULL AND a.z IN (1, 2) AND "
		   "a.w IS b.w AND a.v IS 5 AND a.u == b.u",
		   "a:a b:b; a.x=made of 1@w; a.v=const@w; a.u=b.u@w");
}

static void an_argument_is_cut_where_it_is_added(void **state)
{
	(void)state;
	assert_top("SELECT SUM(i.qty*i.price - COALESCE(i.discount, 0) + o.fee) FROM i, o",
		   "i:i o:o; SUM(i.qty*i.price - COALESCE(i.discount, 0) + o.fee)[i.qty,i.price + "
		   "i.discount + o.fee]");
	assert_top("SELECT SUM(CASE WHEN o.s = 'x' THEN i.a ELSE 0 END), COUNT(CASE WHEN o.s = 'x' "
		   "THEN 1 END), SUM(1), SUM((i.a - o.b) / 100.0) FROM i, o",
		   "i:i o:o; SUM(CASE WHEN o.s = 'x' THEN i.a ELSE 0 END)[i.a|o.s] COUNT(CASE WHEN "
		   "o.s = 'x' THEN 1 END)[|o.s] SUM(1)[] SUM((i.a - o.b) / 100.0)[i.a + o.b]");
	assert_top(
		"SELECT SUM(CAST(ROUND(a) AS REAL)), SUM(iif(b, c, d)), SUM((SELECT 1) + e), "
		"COUNT(a + b) FROM t",
		"t:t; SUM(CAST(ROUND(a) AS REAL))[a] SUM(iif(b, c, d))[c|b + d|b] SUM((SELECT 1) + "
		"e)[? + e] COUNT(a + b)[a,b]");
}

static void min_and_max_of_two_values_are_no_aggregates(void **state)
{
	(void)state;
	assert_top("SELECT MAX(a, b), MIN(a), AVG(b) FILTER (WHERE a > 1), SUM(a) OVER (PARTITION "
		   "BY b), SUM(SUM(a)) OVER () FROM t",
		   "t:t; MIN(a)[a] AVG(b) FILTER (WHERE a > 1)[b] SUM(a) window[a] SUM(a)[a]");
}

static void levels_are_found_outer_before_inner(void **state)
{
	static const char sql[] =
		"WITH p AS (SELECT order_id, SUM(amount) AS s FROM pay GROUP BY order_id) "
		"SELECT o.id, p.s, (SELECT COUNT(*) FROM x WHERE x.o = o.id) FROM orders o "
		"LEFT JOIN p ON p.order_id = o.id JOIN (SELECT a FROM t LIMIT 1) ON 1 = 1 "
		"WHERE EXISTS (SELECT 1 FROM y)";
	struct sql_statement *statement = parse(sql);

	(void)state;
	assert_int_equal(statement->select_count, 5);
	assert_int_equal(statement->selects[0]->role, SQL_TOP);
	assert_int_equal(statement->selects[1]->role, SQL_CTE);
	assert_int_equal(statement->selects[2]->role, SQL_DERIVED);
	assert_true(statement->selects[2]->limited);
	assert_int_equal(statement->selects[3]->role, SQL_SUBQUERY);
	assert_ptr_equal(statement->selects[3]->parent, statement->top);
	assert_int_equal(statement->selects[4]->role, SQL_SUBQUERY);
	assert_true(statement->top->sources[1].is_cte);
	assert_ptr_equal(statement->top->sources[1].query, statement->selects[1]);
	assert_string_equal(statement->selects[1]->outputs[1].name, "s");
	assert_true(statement->selects[1]->outputs[1].aggregated);
	sql_statement_free(statement);
	assert_level(sql, 1, "pay:pay; SUM(amount)[amount]; by order_id");
	assert_level(sql, 4, "x:x; x.o=o.id@w; COUNT(*)[]");
}

static void set_operations_have_arms(void **state)
{
	struct sql_statement *all = parse("SELECT a FROM t UNION ALL SELECT b FROM u UNION ALL "
					  "SELECT c FROM v LIMIT 3");
	struct sql_statement *distinct = parse("SELECT a FROM t UNION SELECT b FROM u");
	struct sql_statement *single = parse("SELECT DISTINCT a FROM t");

	(void)state;
	assert_int_equal(all->top->arm_count, 2);
	assert_int_equal(all->top->arms[0]->arm_count, 2);
	assert_false(all->top->distinct);
	assert_true(all->top->limited);
	assert_true(distinct->top->distinct);
	assert_true(single->top->distinct);
	assert_string_equal(distinct->top->outputs[0].name, "a");
	sql_statement_free(all);
	sql_statement_free(distinct);
	sql_statement_free(single);
}

static void recursive_queries_are_opaque_to_themselves(void **state)
{
	static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
				  "WHERE i < 9) SELECT SUM(i) FROM n";

	(void)state;
	assert_top(sql, "n:(query); SUM(i)[i]");
	assert_level(sql, 3, "n:(opaque)");
}

static void assert_text(const char *sql, struct sql_range range, const char *wanted,
			const struct sql_statement *statement)
{
	struct buf text = BUF_INIT;

	(void)sql;
	sql_tokens_write(&statement->tokens, range.first, range.end, &text);
	assert_string_equal(buf_str(&text), wanted);
	buf_clear(&text);
}

static void ranges_give_the_text_back_without_comments(void **state)
{
	static const char sql[] =
		"WITH c AS (SELECT 1 AS x FROM t) SELECT/* no */ round(SUM(a)/100.0, 2)  AS [the "
		"sum], b x FROM t -- tables\n, u WHERE a > 'GROUP' GROUP BY b, u.c ORDER BY 1";
	struct sql_statement *statement = parse(sql);
	const struct sql_select *top = statement->top;

	(void)state;
	assert_text(sql, top->from, "FROM t , u WHERE a > 'GROUP'", statement);
	assert_text(sql, top->with, "WITH c AS (SELECT 1 AS x FROM t)", statement);
	assert_text(sql, top->outputs[0].text, "round(SUM(a)/100.0, 2)", statement);
	assert_text(sql, top->outputs[1].text, "b", statement);
	assert_string_equal(top->outputs[0].name, "the sum");
	assert_text(sql, top->groups[0].text, "b", statement);
	assert_text(sql, top->groups[1].text, "u.c", statement);
	assert_text(sql, top->aggregates[0].argument, "a", statement);
	sql_statement_free(statement);
}

static void columns_compared_with_values_are_noted(void **state)
{
	struct sql_statement *statement = parse(
		"SELECT SUM(CASE WHEN d >= '2026' THEN 1 END) FROM t JOIN u ON t.i = u.i WHERE "
		"strftime('%Y', t.e) = '2026' AND f BETWEEN 1 AND 2 AND g IS NOT NULL");
	struct buf text = BUF_INIT;

	(void)state;
	add_columns(&statement->top->compared, &text);
	assert_string_equal(buf_str(&text), "t.e,f,d");
	buf_clear(&text);
	sql_statement_free(statement);
}

static void sqlites_own_forms_are_understood(void **state)
{
	static const char *const statements[] = {
		"SELECT `a b`, [c], \"d\" FROM `t` WHERE [c] GLOB 'x*' LIMIT 5, 10;",
		"SELECT a FROM t INDEXED BY i WHERE a IS 1 AND b IS NOT 2 AND c IS NOT NULL",
		"SELECT a FROM t NOT INDEXED WHERE a IN u AND b NOT IN main.v AND c == 0x1F",
		"SELECT x.a FROM (SELECT a FROM t), (SELECT b FROM u) WHERE 1",
		"SELECT user, array FROM t WHERE a REGEXP 'x' AND b MATCH 'y' AND glob('a', c)",
		"SELECT COUNT(*) FROM (t JOIN (SELECT a FROM u) USING (a))",
		"SELECT a<-1, 'it''s -- no comment', x'00ff' FROM t /* open to the end */",
		"SELECT a ->> '$.b', c -> 1 FROM t ORDER BY a COLLATE NOCASE DESC NULLS LAST",
		"SELECT SUBSTR(a, 1, 4) || '-' || b, CAST(c AS INTEGER) % 2 FROM t",
		"SELECT \xC3\xA4 FROM t WHERE a IS DISTINCT FROM b AND a IS NOT DISTINCT FROM c",
		"VALUES (1, 2), (3, 4)",
		"SELECT 1 FROM a JOIN b INNER JOIN c JOIN d ON c.x = d.x NATURAL JOIN e",
		"SELECT 1 FROM a INNER JOIN (b JOIN c) NATURAL INNER JOIN d WHERE a.x = b.x",
		"SELECT 1 FROM a JOIN b, c INNER JOIN d",
		"SELECT 1.5e3, .5, 2. ; ;",
		"SELECT a FROM t, json_each(t.b) WHERE t.c LIKE '%training set%'",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(statements); i++)
		sql_statement_free(parse(statements[i]));
}

static void quoted_names_come_out_bare(void **state)
{
	struct sql_statement *statement =
		parse("SELECT `a``b`, [c\"d], \"e\"\"f\" FROM [t 1] LIMIT 1");

	(void)state;
	assert_string_equal(statement->top->outputs[0].name, "a`b");
	assert_string_equal(statement->top->outputs[1].name, "c\"d");
	assert_string_equal(statement->top->outputs[2].name, "e\"f");
	assert_string_equal(statement->top->sources[0].table, "t 1");
	sql_statement_free(statement);
}

static void what_is_not_understood_is_refused(void **state)
{
	(void)state;
	assert_refused("SELECT a FROM t WHERE a = ?", ERR_INVALID, "parameters");
	assert_refused("SELECT a FROM t WHERE a = :x", ERR_INVALID, "parameters");
	assert_refused("SELECT a FROM t WHERE a = @x", ERR_INVALID, "parameters");
	assert_refused("SELECT 1; SELECT 2", ERR_INVALID, "more than one statement");
	assert_refused("DELETE FROM t", ERR_INVALID, "not one SELECT");
	assert_refused("WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x", ERR_INVALID,
		       "WITH holds no SELECT");
	assert_refused("SELECT 1 INTO t", ERR_INVALID, "not a plain SELECT");
	assert_refused("SELECT a FROM t FOR UPDATE", ERR_INVALID, "not a plain SELECT");
	assert_refused("SELECT 'open", ERR_INVALID, "' is not closed");
	assert_refused("SELECT \"open", ERR_INVALID, "\" is not closed");
	assert_refused("SELECT [open", ERR_INVALID, "] is not closed");
	assert_refused("SELECT 1 /* open", ERR_INVALID, "a comment is not closed");
	assert_refused("SELECT (1", ERR_INVALID, "\"(\" is not closed");
	assert_refused("SELECT 1)", ERR_INVALID, "\")\" closes nothing");
	assert_refused("SELECT 1x", ERR_INVALID, "unrecognized token \"1x\"");
	assert_refused("SELECT \\ 1", ERR_INVALID, "unrecognized token");
	assert_refused("", ERR_INVALID, "no statement");
	assert_refused(" ; -- x", ERR_INVALID, "no statement");
	assert_refused("SELECT FROM WHERE", ERR_INVALID, "not understood");
	assert_refused("SELECT \xff FROM t", ERR_INVALID, "");
}

static char *repeated(const char *before, const char *part, int count, const char *after)
{
	struct buf text = BUF_INIT;

	buf_add_str(&text, before);
	for (int i = 0; i < count; i++)
		buf_add_str(&text, part);
	buf_add_str(&text, after);
	return buf_take(&text);
}

static void great_depth_and_size_are_limits_and_nothing_worse(void **state)
{
	char *within = repeated("SELECT ", "(", SQL_DEPTH_MAX, "1");
	char *over = repeated("SELECT ", "(", SQL_DEPTH_MAX + 1, "1");
	char *sum = repeated("SELECT 1", "+1", 30000, "");
	char *nots = repeated("SELECT ", "NOT ", 16000, "1");
	char *list = repeated("SELECT a FROM t WHERE a IN (1", ",1", 30000, ")");
	char *big = repeated("SELECT 1", " ", 65536 - 8 + 1, "");
	char *fits = repeated("SELECT 1", " ", 65536 - 8, "");

	(void)state;
	assert_refused(within, ERR_INVALID, "is not closed");
	assert_refused(over, ERR_LIMIT, "more than 64 parentheses");
	assert_refused(sum, ERR_LIMIT, "");
	assert_refused(nots, ERR_INVALID, "not understood");
	assert_refused(list, ERR_LIMIT, "");
	assert_refused(big, ERR_LIMIT, "more than 65536 bytes");
	sql_statement_free(parse(fits));
	mem_free(within);
	mem_free(over);
	mem_free(sum);
	mem_free(nots);
	mem_free(list);
	mem_free(big);
	mem_free(fits);
}

static void sixty_four_tables_are_read_and_one_more_is_not(void **state)
{
	char *within = repeated("SELECT 1 FROM t", ", t", SQL_SOURCES_MAX - 1, "");
	char *over = repeated("SELECT 1 FROM t", ", t", SQL_SOURCES_MAX, "");

	(void)state;
	sql_statement_free(parse(within));
	assert_refused(over, ERR_LIMIT, "more than 64 tables");
	mem_free(within);
	mem_free(over);
}

/* Any cut or changed byte of a statement is read or refused, and nothing leaks or crashes. */
static void damaged_statements_do_no_harm(void **state)
{
	static const char sql[] =
		"WITH c AS (SELECT `a`, SUM(b) s FROM t GROUP BY 1) SELECT [x], CASE WHEN a IN u "
		"THEN "
		"COUNT(DISTINCT b) ELSE 'q''q' END FROM c JOIN (SELECT 1) ON c.a IS 1 LIMIT 1, 2";
	static const char bytes[] = "()'\"`[],.;-*/ aS0=?\n";
	char copy[sizeof(sql)];
	struct sql_statement *statement;

	(void)state;
	for (size_t i = 0; i < sizeof(sql); i++) {
		memcpy(copy, sql, sizeof(sql));
		copy[i] = '\0';
		statement = NULL;
		if (sql_parse(copy, &statement, NULL) == 0)
			sql_statement_free(statement);
		for (size_t j = 0; copy[i + 1 < sizeof(sql) ? i + 1 : i] && j < sizeof(bytes) - 1;
		     j++) {
			memcpy(copy, sql, sizeof(sql));
			copy[i] = bytes[j];
			statement = NULL;
			if (sql_parse(copy, &statement, NULL) == 0)
				sql_statement_free(statement);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_aggregates_and_groups_are_laid_out),
		cmocka_unit_test(a_join_without_a_condition_is_a_product),
		cmocka_unit_test(equalities_under_or_and_not_are_none),
		cmocka_unit_test(an_argument_is_cut_where_it_is_added),
		cmocka_unit_test(min_and_max_of_two_values_are_no_aggregates),
		cmocka_unit_test(levels_are_found_outer_before_inner),
		cmocka_unit_test(set_operations_have_arms),
		cmocka_unit_test(recursive_queries_are_opaque_to_themselves),
		cmocka_unit_test(ranges_give_the_text_back_without_comments),
		cmocka_unit_test(columns_compared_with_values_are_noted),
		cmocka_unit_test(sqlites_own_forms_are_understood),
		cmocka_unit_test(quoted_names_come_out_bare),
		cmocka_unit_test(what_is_not_understood_is_refused),
		cmocka_unit_test(great_depth_and_size_are_limits_and_nothing_worse),
		cmocka_unit_test(sixty_four_tables_are_read_and_one_more_is_not),
		cmocka_unit_test(damaged_statements_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
