/*
 * WITH "grouped" AS (...): one part as it is, or several put together.
 *
 * Facts are each aggregated to the grain of the question before they meet, and meet in UNION ALL
 * under one GROUP BY. That is a full outer join on the dimensions in which a missing value equals a
 * missing value: every group of every fact is there once, and no row of one fact repeats a row of
 * another. Each fact has at most one row per group, so MAX() only picks it. What a fact does not
 * have in a group is what its aggregate gives over no rows: 0 for a count, missing otherwise.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

/* What the expression gives over no rows, where that is a value. */
static const char *empty_value(const struct expr *expr)
{
	if (expr->kind == EXPR_AGGREGATE)
		return strcmp(expr->text, "count") == 0 ? "0" : NULL;
	if (expr->kind == EXPR_NUMBER)
		return expr->text;
	if (expr->kind != EXPR_FUNCTION || strcmp(expr->text, "coalesce") != 0)
		return NULL;
	for (size_t i = 0; i < expr->count; i++) {
		const char *value = empty_value(expr->kids[i]);

		if (value)
			return value;
	}
	return NULL;
}

static void write_column(const char *name, const char *empty, struct buf *out)
{
	buf_add_str(out, empty ? "COALESCE(MAX(" : "MAX(");
	sql_name(name, out);
	if (empty)
		buf_addf(out, "), %s)", empty);
	else
		buf_add_char(out, ')');
	buf_add_str(out, " AS ");
	sql_name(name, out);
}

static const char *const suffixes[] = {"", "_previous"};

static size_t suffix_count(const struct compiler *compiler)
{
	return compiler->query->compare.set ? 2 : 1;
}

static void write_met(const struct compiler *compiler, struct buf *out)
{
	size_t count = 0;

	buf_add_str(out, "SELECT");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(&count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	compiler_keys(compiler, ",\n  ", KEY_ALIAS, out);
	for (size_t i = 0; i < compiler->atom_count; i++) {
		const struct model_metric *atom = compiler->atoms[i];
		bool zero = compiler->query->compare.set && atom->additivity == ADDITIVE;
		/* put together from parts, a count of nothing is still 0, an average none */
		bool count_then = atom->per && strcmp(atom->then, "count") == 0;
		const char *empty = atom->per ? (count_then ? "0" : NULL)
				    : zero    ? "0"
					      : empty_value(atom->expression);

		for (size_t j = 0; j < suffix_count(compiler); j++) {
			CLEANUP(mem_freep) char *name = mem_format("%s%s", atom->name, suffixes[j]);

			compiler_separator(&count, out);
			write_column(name, empty, out);
		}
	}
}

static bool has_atom(const struct part *part, const struct model_metric *atom)
{
	for (size_t i = 0; i < part->atom_count; i++) {
		if (part->atoms[i] == atom)
			return true;
	}
	return false;
}

static void write_branch(const struct compiler *compiler, size_t index, struct buf *out)
{
	size_t count = 0;

	buf_add_str(out, index == 0 ? "\nFROM (SELECT" : "\nUNION ALL SELECT");
	for (size_t i = 0; i < compiler->dimension_count; i++)
		buf_addf(out, "%s", count++ == 0 ? " " : ", "),
			sql_name(compiler->dimensions[i].name, out);
	compiler_keys(compiler, ", ", KEY_ALIAS, out);
	for (size_t i = 0; i < compiler->atom_count; i++) {
		for (size_t j = 0; j < suffix_count(compiler); j++) {
			buf_add_str(out, count++ == 0 ? " " : ", ");
			if (!has_atom(&compiler->parts[index], compiler->atoms[i]))
				buf_add_str(out, "NULL AS ");
			compiler_suffixed(compiler->atoms[i]->name, suffixes[j], out);
		}
	}
	buf_addf(out, " FROM \"fact_%zu\"", index + 1);
}

int compiler_grouped(const struct compiler *compiler, struct buf *out, struct err *err)
{
	buf_add_str(out, "WITH ");
	if (compiler->part_count == 1) {
		buf_add_str(out, "\"grouped\" AS (\n");
		if (part_select(&compiler->parts[0], true, false, out, err) < 0)
			return -1;
		buf_add_str(out, "\n)");
		return 0;
	}
	for (size_t i = 0; i < compiler->part_count; i++) {
		buf_addf(out, "\"fact_%zu\" AS (\n", i + 1);
		if (part_select(&compiler->parts[i], true, false, out, err) < 0)
			return -1;
		buf_add_str(out, "\n),\n");
	}
	buf_add_str(out, "\"grouped\" AS (\n");
	write_met(compiler, out);
	for (size_t i = 0; i < compiler->part_count; i++)
		write_branch(compiler, i, out);
	buf_add_str(out, ") AS \"facts\"");
	compiler_positions(compiler, out);
	compiler_keys(compiler, ", ", KEY_ALIAS, out);
	buf_add_str(out, "\n)");
	return 0;
}
