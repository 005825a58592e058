/*
 * How far a fact's data reach: the newest day of its rows that count, whatever the question picks
 * of them. Where the day is a column of the fact's own table, stored as text, MAX() alone is asked,
 * which an index answers.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static bool is_plain(const struct part *part)
{
	const struct model_field *time = part->time;

	return time->dataset == part->base && !part->base->filter && !time->instant &&
	       time->time_format == TIME_TEXT && time->expression->kind == EXPR_COLUMN;
}

/* The base and the way to the date; nothing that the question asks for. */
static struct part own_part(const struct part *part)
{
	struct part own = {.compiler = part->compiler,
			   .base = part->base,
			   .time = part->time,
			   .without_where = true};

	dataset_set_add(&own.counted, part->base);
	return own;
}

static void write_filters(const struct part *part, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < part->joined.count; i++) {
		const struct model_dataset *dataset = part->joined.items[i];
		struct expr_writer writer = {compiler_own_column, NULL, dataset};

		if (!dataset->filter)
			continue;
		buf_add_str(out, count++ == 0 ? "\nWHERE " : "\n  AND ");
		expr_write_operand(dataset->filter, &writer, out);
	}
}

char *part_freshness(const struct part *part)
{
	struct part own;
	struct dataset_set none = {.count = 0};
	struct buf out = BUF_INIT;
	struct err ignored;

	if (!part->time)
		return NULL;
	own = own_part(part);
	if (part_join_all(&own, &none, &ignored) < 0)
		return NULL; /* the query itself would have been refused */
	if (is_plain(part)) {
		buf_add_str(&out, "SELECT SUBSTR(MAX(");
		compiler_field(part->time, &out);
		buf_add_str(&out, "), 1, 10) AS \"until\"\n");
	} else {
		buf_add_str(&out, "SELECT MAX(");
		compiler_dimension(NULL, part->time, BUCKET_DAY, &out);
		buf_add_str(&out, ") AS \"until\"\n");
	}
	part_from(&own, false, &out);
	write_filters(&own, &out);
	return buf_take(&out);
}
