/* The words for things: any of the names that the model gives them, in one of several cases. */
#include "tests/lib/random/wording.h"

#include <stdlib.h>
#include <string.h>

static const char *one_of(struct world *world, const char *a, const char *b, const char *c)
{
	const char *all[] = {a, b, c};
	const char *chosen = NULL;

	while (chosen == NULL)
		chosen = all[rng_below(&world->rng, ARRAY_LEN(all))];
	return rng_chance(&world->rng, 8) ? word_title(world, chosen) : chosen;
}

const char *noun_of_rows(struct world *world, size_t table)
{
	const struct table *rows = &world->tables[table];

	return one_of(world, word_spaced(world, rows->dataset), rows->label, rows->synonym);
}

const char *noun_of_field(struct world *world, struct spot spot)
{
	const struct column *column = spot_column(world, spot);
	const char *noun =
		one_of(world, word_spaced(world, column->field), column->label, column->synonym);

	if (rng_chance(&world->rng, 20))
		return world_keep(world,
				  mem_format("%s %s", noun_of_rows(world, spot.table), noun));
	return noun;
}

const char *noun_of_metric(struct world *world, const struct metric *metric)
{
	return one_of(world, word_spaced(world, metric->name), metric->label, metric->synonym);
}

const char *noun_of_group(struct world *world, struct spot spot)
{
	if (spot_column(world, spot)->role == ROLE_NAME && rng_chance(&world->rng, 50))
		return noun_of_rows(world, spot.table);
	return noun_of_field(world, spot);
}

static bool visible(const struct column *column)
{
	return column->field != NULL && !column->hidden;
}

size_t spots_of(const struct world *world, size_t table, enum world_role role, struct spot *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *other = &world->tables[i];

		if (other->hidden || !world_leads(world, table, i))
			continue;
		for (size_t j = 0; j < other->column_count && count < SPOTS_MAX; j++)
			if (visible(&other->columns[j]) && other->columns[j].role == role)
				ret[count++] = (struct spot){i, j};
	}
	return count;
}

bool spot_same(struct spot a, struct spot b)
{
	return a.table == b.table && a.column == b.column;
}

const char *stored_value(struct world *world, struct spot spot)
{
	const struct table *table = &world->tables[spot.table];

	for (int tries = 0; tries < 100; tries++) {
		size_t row = rng_below(&world->rng, (uint32_t)table->rows);
		const struct cell *cell = &table->cells[row * table->column_count + spot.column];

		if (cell->kind == CELL_TEXT && strcmp(cell->text, world->shared_value) != 0)
			return cell->text;
	}
	abort();
}

const char *spoken_value(struct world *world, struct spot spot, const char *value)
{
	const struct column *column = spot_column(world, spot);

	if (column->nickname != NULL && strcmp(value, column->values[0]) == 0 &&
	    rng_chance(&world->rng, 60))
		return column->nickname;
	return !value_awkward(value) && rng_chance(&world->rng, 25) ? word_lower(world, value)
								    : value;
}

void say(struct buf *text, const char *words)
{
	if (words[0] == '\0')
		return;
	if (text->len > 0)
		buf_add_char(text, ' ');
	buf_add_str(text, words);
}

/* "in March" -> "March" */
const char *without_preposition(const char *phrase)
{
	if (strncmp(phrase, "in ", 3) == 0)
		return phrase + 3;
	return strncmp(phrase, "during ", 7) == 0 ? phrase + 7 : phrase;
}
