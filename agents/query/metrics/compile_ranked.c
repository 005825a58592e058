/*
 * The SELECT of a part whose one atom needs its values in order, or their mean, before it can be
 * taken: MEDIAN, percentiles, variances. No database at hand has all of them, so they are spelled
 * out, on every one in the same way:
 *
 *   SELECT dimensions, SUM(...) FROM (
 *     SELECT ..., ROW_NUMBER() OVER (group, by value) AS "place", COUNT(value) OVER (group) AS
 *     "count", AVG(value) OVER (group) AS "mean" FROM (
 *       SELECT dimensions, keys, value FROM base ...) AS "taken") AS "ranked" GROUP BY ...
 *
 * Missing values come last and are not counted, so their places lie behind the count. Fails only
 * for a filter that does not go with its field.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

/* The place is worked out in floating point: 0.7 * 10 is a little more than 7. */
#define PLACE_DECIMALS 9

struct value { /* a column of "taken": the value now, or in the period compared with */
	const char *suffix;
	const struct query_period *period;
};

static size_t values_of(const struct part *part, struct value values[2])
{
	const struct metric_query *query = part->compiler->query;

	values[0] = (struct value){"", query->compare.set ? &query->period : NULL};
	values[1] = (struct value){"_previous", &query->compare};
	return query->compare.set ? 2 : 1;
}

static void write_name(const char *name, const struct value *value, struct buf *out)
{
	compiler_suffixed(name, value->suffix, out);
}

/* The dimensions and their keys, by their names. */
static void write_group(const struct compiler *compiler, size_t *count, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	compiler_keys(compiler, ",\n  ", KEY_ALIAS, out);
}

static void write_taken(const struct part *part, struct buf *out)
{
	struct value values[2];
	size_t count = values_of(part, values);

	for (size_t i = 0; i < count; i++) {
		buf_add_str(out, part->compiler->dimension_count || i ? ",\n  " : "\n  ");
		part_argument(part, part->atoms[0], values[i].period, out);
		buf_add_str(out, " AS ");
		write_name("value", &values[i], out);
	}
}

static void write_over(const struct compiler *compiler, const char *order, struct buf *out)
{
	buf_add_str(out, " OVER (");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		buf_add_str(out, i == 0 ? "PARTITION BY " : ", ");
		sql_name(compiler->dimensions[i].name, out);
	}
	compiler_keys(compiler, ", ", KEY_ALIAS, out);
	if (order)
		buf_addf(out, "%sORDER BY %s NULLS LAST", compiler->dimension_count ? " " : "",
			 order);
	buf_add_char(out, ')');
}

static bool of_mean(const struct expr *expr)
{
	return strncmp(expr->text, "var", 3) == 0 || strncmp(expr->text, "std", 3) == 0;
}

static void write_ranks(const struct part *part, struct buf *out)
{
	const struct compiler *compiler = part->compiler;
	struct value values[2];
	size_t count = values_of(part, values), columns = 0;

	buf_add_str(out, "SELECT");
	write_group(compiler, &columns, out);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_clear) struct buf name = BUF_INIT;

		write_name("value", &values[i], &name);
		compiler_separator(&columns, out);
		buf_add_str(out, buf_str(&name));
		if (of_mean(part->atoms[0]->expression)) {
			buf_addf(out, ",\n  AVG(%s)", buf_str(&name));
			write_over(compiler, NULL, out);
			buf_add_str(out, " AS ");
			write_name("mean", &values[i], out);
			continue;
		}
		buf_add_str(out, ",\n  ROW_NUMBER()");
		write_over(compiler, buf_str(&name), out);
		buf_add_str(out, " AS ");
		write_name("place", &values[i], out);
		buf_addf(out, ",\n  COUNT(%s)", buf_str(&name));
		write_over(compiler, NULL, out);
		buf_add_str(out, " AS ");
		write_name("count", &values[i], out);
	}
}

struct names {
	struct buf value, place, count, mean;
};

static void names_clear(struct names *names)
{
	buf_clear(&names->value);
	buf_clear(&names->place);
	buf_clear(&names->count);
	buf_clear(&names->mean);
}

/* Between the two places that it lies between, by how far it is from each. */
static void write_continuous(const struct names *names, const char *share, struct buf *out)
{
	const char *v = buf_str(&names->value), *p = buf_str(&names->place);
	CLEANUP(mem_freep)
	char *at = mem_format("ROUND(%s * (%s - 1), %d)", share, buf_str(&names->count),
			      PLACE_DECIMALS);

	buf_addf(out,
		 "SUM(CASE WHEN %s = CAST(%s AS INTEGER) + 1 THEN %s * (1 - (%s - CAST(%s AS "
		 "INTEGER))) WHEN %s = CAST(%s AS INTEGER) + 2 AND %s <= %s THEN %s * (%s - "
		 "CAST(%s AS INTEGER)) END)",
		 p, at, v, at, at, p, at, p, buf_str(&names->count), v, at, at);
}

/* The first value up to which there are so many of all. */
static void write_discrete(const struct names *names, const char *share, struct buf *out)
{
	CLEANUP(mem_freep)
	char *at = mem_format("ROUND(%s * %s, %d)", share, buf_str(&names->count), PLACE_DECIMALS);

	buf_addf(out,
		 "MAX(CASE WHEN %s = CASE WHEN %s <= 1 THEN 1 ELSE CAST(%s AS INTEGER) + CASE WHEN "
		 "%s > CAST(%s AS INTEGER) THEN 1 ELSE 0 END END THEN %s END)",
		 buf_str(&names->place), at, at, at, at, buf_str(&names->value));
}

static void write_spread(const struct names *names, const char *function, struct buf *out)
{
	const char *v = buf_str(&names->value), *m = buf_str(&names->mean);
	bool root = strncmp(function, "std", 3) == 0;
	bool sample = strstr(function, "_pop") == NULL;

	buf_addf(out, "%sSUM((%s - %s) * (%s - %s)) / NULLIF(COUNT(%s)%s, 0)%s",
		 root ? "SQRT(" : "", v, m, v, m, v, sample ? " - 1" : "", root ? ")" : "");
}

static void write_final(const struct expr *expr, const struct value *value, struct buf *out)
{
	CLEANUP(names_clear) struct names names = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};

	write_name("value", value, &names.value);
	write_name("place", value, &names.place);
	write_name("count", value, &names.count);
	write_name("mean", value, &names.mean);
	if (of_mean(expr))
		write_spread(&names, expr->text, out);
	else if (strcmp(expr->text, "percentile_disc") == 0)
		write_discrete(&names, expr->kids[1]->text, out);
	else if (strcmp(expr->text, "percentile_cont") == 0)
		write_continuous(&names, expr->kids[1]->text, out);
	else /* whole numbers divide without a rest: of five the third, of four both in the middle
	      */
		buf_addf(out, "AVG(CASE WHEN %s IN ((%s + 1) / 2, (%s + 2) / 2) THEN %s END)",
			 buf_str(&names.place), buf_str(&names.count), buf_str(&names.count),
			 buf_str(&names.value));
}

int part_ranked(const struct part *part, struct buf *out, struct err *err)
{
	const struct compiler *compiler = part->compiler;
	const struct model_metric *atom = part->atoms[0];
	struct value values[2];
	size_t count = values_of(part, values), columns = 0;

	buf_add_str(out, "SELECT");
	write_group(compiler, &columns, out);
	for (size_t i = 0; i < count; i++) {
		compiler_separator(&columns, out);
		write_final(atom->expression, &values[i], out);
		buf_add_str(out, " AS ");
		compiler_suffixed(atom->name, values[i].suffix, out);
	}
	buf_add_str(out, "\nFROM (");
	write_ranks(part, out);
	buf_add_str(out, "\nFROM (");
	if (part_rows(part, write_taken, out, err) < 0)
		return -1;
	buf_add_str(out, ") AS \"taken\") AS \"ranked\"");
	part_group_by_names(compiler, out);
	return 0;
}
