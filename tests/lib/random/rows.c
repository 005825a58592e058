/*
 * What stands in the tables: keys with gaps, missing links and values, names that two rows share,
 * dates around today, and secrets that occur nowhere else, so that one can be recognised anywhere.
 */
#include "tests/lib/random/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAYS_BACK 900 /* two and a half years */
#define DAYS_AHEAD 20 /* what is planned counts in "this month" */

static struct cell null_cell(void)
{
	return (struct cell){.kind = CELL_NULL};
}

static struct cell int_cell(int64_t number)
{
	return (struct cell){.kind = CELL_INT, .number = number};
}

static struct cell text_cell(const char *text)
{
	return (struct cell){.kind = CELL_TEXT, .text = text};
}

void world_date_write(struct date date, enum time_form form, int seconds, struct world *world,
		      struct cell *ret_cell)
{
	char text[DATE_LEN + 1];

	date_write(date, text);
	if (form == FORM_EPOCH)
		*ret_cell = int_cell(date_to_days(date) * 86400 + seconds);
	else if (form == FORM_DAY)
		*ret_cell = text_cell(world_keep(world, mem_str(text)));
	else
		*ret_cell = text_cell(
			world_keep(world, mem_format("%s %02d:%02d:%02d", text, seconds / 3600,
						     seconds / 60 % 60, seconds % 60)));
}

static struct cell date_cell(struct world *world, const struct column *column)
{
	struct date date =
		date_add_days(world->today, rng_between(&world->rng, -DAYS_BACK, DAYS_AHEAD));
	struct cell cell = null_cell();
	/* The first and the last second of a day are where a wrong bound shows. */
	int seconds = rng_chance(&world->rng, 20)   ? 0
		      : rng_chance(&world->rng, 20) ? 86399
						    : (int)rng_below(&world->rng, 86400);

	if (rng_chance(&world->rng, 4))
		return cell;
	if (rng_chance(&world->rng, 20)) /* and the first day of a month */
		date.day = 1;
	world_date_write(date, column->form, seconds, world, &cell);
	return cell;
}

static struct cell link_cell(struct world *world, const struct column *column)
{
	const struct table *target = &world->tables[column->target];

	if (rng_chance(&world->rng, 6))
		return null_cell();
	return target->cells[rng_below(&world->rng, (uint32_t)target->rows) * target->column_count +
			     column_of(target, ROLE_KEY)];
}

/* One row in eight has the name of the row before it. */
static struct cell name_cell(struct world *world, const struct table *table, size_t row,
			     size_t column)
{
	if (row > 0 && rng_chance(&world->rng, 12))
		return table->cells[(row - 1) * table->column_count + column];
	return text_cell(world_keep(world, mem_format("%s %s", word_title(world, word_new(world)),
						      word_title(world, word_new(world)))));
}

static struct cell secret_cell(struct world *world, const struct table *table)
{
	int64_t secret = world->next_secret;

	world->next_secret += 7 + rng_below(&world->rng, 90);
	if (table->fact)
		return int_cell(secret);
	return text_cell(world_keep(world, mem_format("Secret%" PRId64, secret)));
}

static struct cell cell_make(struct world *world, const struct table *table, size_t row, size_t at)
{
	const struct column *column = &table->columns[at];
	struct rng *rng = &world->rng;

	switch (column->role) {
	case ROLE_KEY:
		return int_cell(100 + (int64_t)row * 3);
	case ROLE_LINK:
		return link_cell(world, column);
	case ROLE_NAME:
		return name_cell(world, table, row, at);
	case ROLE_CLASS:
		if (rng_chance(rng, 8))
			return null_cell();
		return text_cell(column->values[rng_below(rng, (uint32_t)column->value_count)]);
	case ROLE_DATE:
		return date_cell(world, column);
	case ROLE_PIECES:
		return int_cell(rng_between(rng, 1, 9));
	case ROLE_CENTS:
		return int_cell(rng_between(rng, 5, 9999));
	case ROLE_OFF:
		return rng_chance(rng, 60) ? null_cell() : int_cell(rng_between(rng, 1, 400));
	case ROLE_SCORE:
		if (rng_chance(rng, 15))
			return null_cell();
		return (struct cell){.kind = CELL_REAL,
				     .real = (double)rng_between(rng, 0, 400) / 4};
	case ROLE_LEVEL:
		return rng_chance(rng, 5) ? null_cell() : int_cell(rng_between(rng, 1, 20));
	case ROLE_FLAG:
		return rng_chance(rng, 10) ? null_cell() : int_cell(rng_chance(rng, 50) ? 1 : 0);
	case ROLE_GONE:
		return int_cell(rng_chance(rng, 15) ? 1 : 0);
	case ROLE_SECRET:
		return secret_cell(world, table);
	}
	abort();
}

static size_t row_count(struct world *world, const struct table *table)
{
	if (table->fact)
		return (size_t)rng_between(&world->rng, 200, 400);
	if (has_column(table, ROLE_DATE))
		return (size_t)rng_between(&world->rng, 80, 150);
	return (size_t)rng_between(&world->rng, 6, 18);
}

void world_fill(struct world *world)
{
	for (size_t i = 0; i < world->table_count; i++) {
		struct table *table = &world->tables[i];
		size_t rows = row_count(world, table);

		table->cells = mem_array(rows * table->column_count, sizeof(*table->cells));
		for (size_t row = 0; row < rows; row++)
			for (size_t j = 0; j < table->column_count; j++)
				table->cells[row * table->column_count + j] =
					cell_make(world, table, row, j);
		table->rows = rows;
	}
}

bool world_leads(const struct world *world, size_t from, size_t to)
{
	const struct table *table = &world->tables[from];

	if (from == to)
		return true;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == ROLE_LINK &&
		    world_leads(world, table->columns[i].target, to))
			return true;
	return false;
}

static bool find_row(const struct table *table, const struct cell *key, size_t *ret_row)
{
	size_t column = column_of(table, ROLE_KEY);

	for (size_t row = 0; key->kind == CELL_INT && row < table->rows; row++) {
		if (table->cells[row * table->column_count + column].number != key->number)
			continue;
		*ret_row = row;
		return true;
	}
	return false;
}

struct cell world_cell(const struct world *world, size_t from, size_t row, struct spot spot)
{
	const struct table *table = &world->tables[from];
	const struct cell *cells = &table->cells[row * table->column_count];

	if (from == spot.table)
		return cells[spot.column];
	for (size_t i = 0; i < table->column_count; i++) {
		size_t target = table->columns[i].target;
		size_t found = 0;

		if (table->columns[i].role != ROLE_LINK || !world_leads(world, target, spot.table))
			continue;
		if (!find_row(&world->tables[target], &cells[i], &found))
			return null_cell();
		return world_cell(world, target, found, spot);
	}
	abort();
}
