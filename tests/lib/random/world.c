/*
 * Tables, columns and links. The shape varies, the promise does not: links form a tree, so that
 * each fact leads to a table in one way only, and the oracle needs no choice.
 *
 *   fact -> [header ->] person [-> place]      second fact -> person      a table granted to nobody
 *        \-> thing
 */
#include "tests/lib/random/world.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const column_keywords[] = {"order", "group", "select", "update", "index",
					      "from",  "where", "desc",	  "values", "default",
					      "check", "limit", "case",	  "to",	    "left"};
static const char *const table_keywords[] = {"order", "group", "table",	      "index",
					     "union", "join",  "transaction", "select"};

static bool name_taken(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcasecmp(table->columns[i].name, name) == 0)
			return true;
	return false;
}

/* What databases call columns: plain, in capitals, a word of SQL, with a blank or an apostrophe. */
static char *column_name(struct world *world, const struct table *table)
{
	uint32_t roll = rng_below(&world->rng, 100);
	const char *first = word_new(world);
	const char *keyword = column_keywords[rng_below(&world->rng, ARRAY_LEN(column_keywords))];

	if (roll < 12 && !name_taken(table, keyword))
		return world_keep(world, mem_str(keyword));
	if (roll < 25)
		return world_keep(world,
				  mem_format("%s%s", first, word_title(world, word_new(world))));
	if (roll < 35)
		return world_keep(world, mem_format("%s %s", first, word_new(world)));
	if (roll < 38)
		return world_keep(world, mem_format("%s'%s", first, word_new(world)));
	if (roll < 60)
		return world_keep(world, mem_format("%s_%s", first, word_new(world)));
	return world_keep(world, mem_str(first));
}

static char *table_name(struct world *world)
{
	const char *keyword = table_keywords[rng_below(&world->rng, ARRAY_LEN(table_keywords))];
	const char *word = word_new(world);

	if (rng_chance(&world->rng, 20)) {
		bool taken = false;

		for (size_t i = 0; i < world->table_count; i++)
			taken = taken || strcasecmp(world->tables[i].name, keyword) == 0;
		if (!taken)
			return world_keep(world, mem_str(keyword));
	}
	if (rng_chance(&world->rng, 20))
		return word_title(world, word);
	if (rng_chance(&world->rng, 20))
		return world_keep(world, mem_format("%s_%s", word, word_new(world)));
	return world_keep(world, mem_str(word));
}

char *phrase_new(struct world *world, const char *joint)
{
	const char *first = word_new(world);

	if (rng_chance(&world->rng, 65))
		return world_keep(world, mem_str(first));
	return world_keep(world, mem_format("%s%s%s", first, joint, word_new(world)));
}

static struct column *column_add(struct world *world, struct table *table, enum world_role role)
{
	struct column *column = &table->columns[table->column_count];

	if (table->column_count == WORLD_COLUMNS)
		abort();
	*column = (struct column){.role = role, .hidden = role == ROLE_SECRET};
	/* A plain word for what is hidden, so that replies can be compared but for the name. */
	column->name = column->hidden ? word_new(world) : column_name(world, table);
	table->column_count++;
	return column;
}

/* A column that the model speaks of. Half of them are called in the model as in the database. */
static struct column *field_add(struct world *world, struct table *table, enum world_role role)
{
	struct column *column = column_add(world, table, role);

	column->field = phrase_new(world, "_");
	if (!column->hidden && rng_chance(&world->rng, 50) && !name_taken(table, column->field))
		column->name = column->field;
	if (rng_chance(&world->rng, 40))
		column->label = phrase_new(world, " ");
	if (rng_chance(&world->rng, 60))
		column->synonym = phrase_new(world, " ");
	return column;
}

static struct column *class_add(struct world *world, struct table *table)
{
	static const char *const endings[] = {"type", "group", "year",	 "month", "number",
					      "code", "name",  "status", "class", "level"};
	struct column *column = field_add(world, table, ROLE_CLASS);

	column->value_count = (size_t)rng_between(&world->rng, 3, 7);
	for (size_t i = 0; i < column->value_count; i++)
		column->values[i] = value_new(world);
	if (rng_chance(&world->rng, 20))
		column->synonym = world_keep(
			world, mem_format("%s %s", word_new(world),
					  endings[rng_below(&world->rng, ARRAY_LEN(endings))]));
	if (rng_chance(&world->rng, 40))
		column->nickname = phrase_new(world, " ");
	if (rng_chance(&world->rng, 50))
		column->missing = word_title(world, word_new(world));
	return column;
}

static void date_add(struct world *world, struct table *table)
{
	struct column *column = field_add(world, table, ROLE_DATE);

	column->form = (enum time_form)rng_below(&world->rng, 3);
}

static void link_add(struct world *world, struct table *table, size_t target)
{
	column_add(world, table, ROLE_LINK)->target = target;
}

static size_t table_add(struct world *world)
{
	struct table *table = &world->tables[world->table_count];

	table->name = table_name(world);
	table->dataset = phrase_new(world, "_");
	if (rng_chance(&world->rng, 40))
		table->label = phrase_new(world, " ");
	table->synonym = phrase_new(world, " ");
	column_add(world, table, ROLE_KEY);
	return world->table_count++;
}

static size_t place_make(struct world *world)
{
	size_t place = table_add(world);

	class_add(world, &world->tables[place]);
	if (rng_chance(&world->rng, 40))
		field_add(world, &world->tables[place], ROLE_LEVEL);
	return place;
}

static size_t person_make(struct world *world, bool placed, size_t place)
{
	size_t person = table_add(world);
	struct table *table = &world->tables[person];

	field_add(world, table, ROLE_NAME);
	table->named = true;
	class_add(world, table);
	if (placed)
		link_add(world, table, place);
	if (rng_chance(&world->rng, 60))
		field_add(world, table, ROLE_FLAG);
	field_add(world, table, ROLE_SECRET);
	return person;
}

static size_t thing_make(struct world *world)
{
	size_t thing = table_add(world);
	struct table *table = &world->tables[thing];

	class_add(world, table);
	class_add(world, table);
	if (rng_chance(&world->rng, 50))
		field_add(world, table, ROLE_LEVEL);
	return thing;
}

static size_t header_make(struct world *world, size_t person)
{
	size_t header = table_add(world);
	struct table *table = &world->tables[header];

	link_add(world, table, person);
	date_add(world, table);
	class_add(world, table);
	return header;
}

struct spot spot_of(const struct world *world, size_t table, enum world_role role)
{
	return (struct spot){table, column_of(&world->tables[table], role)};
}

static void fact_make(struct world *world, size_t parent, bool dated, size_t thing)
{
	size_t fact = table_add(world);
	struct table *table = &world->tables[fact];

	table->fact = true;
	link_add(world, table, parent);
	link_add(world, table, thing);
	if (!dated) {
		date_add(world, table);
		class_add(world, table);
	}
	field_add(world, table, ROLE_PIECES);
	field_add(world, table, ROLE_CENTS);
	field_add(world, table, ROLE_OFF);
	field_add(world, table, ROLE_SCORE);
	field_add(world, table, ROLE_LEVEL);
	if (rng_chance(&world->rng, 40))
		column_add(world, table, ROLE_GONE);
	field_add(world, table, ROLE_SECRET);
	world->timed[fact] = true;
	world->time[fact] = spot_of(world, dated ? parent : fact, ROLE_DATE);
}

static void second_fact_make(struct world *world, size_t person)
{
	size_t fact = table_add(world);
	struct table *table = &world->tables[fact];

	table->fact = true;
	link_add(world, table, person);
	class_add(world, table);
	field_add(world, table, ROLE_PIECES);
	field_add(world, table, ROLE_SCORE);
	if (!rng_chance(&world->rng, 70))
		return;
	date_add(world, table);
	world->timed[fact] = true;
	world->time[fact] = spot_of(world, fact, ROLE_DATE);
}

static void vault_make(struct world *world)
{
	struct table *table = &world->tables[table_add(world)];

	table->hidden = true;
	table->name = word_new(world);
	field_add(world, table, ROLE_NAME);
	field_add(world, table, ROLE_SECRET);
}

/* One word for two things, so that it must be asked which is meant. */
static void share_words(struct world *world, size_t person, size_t thing)
{
	struct table *persons = &world->tables[person];
	struct table *things = &world->tables[thing];
	struct column *a = &persons->columns[column_of(persons, ROLE_CLASS)];
	struct column *b = &things->columns[column_of(things, ROLE_CLASS)];

	world->shared_value = word_title(world, word_new(world));
	a->values[a->value_count++] = world->shared_value;
	b->values[b->value_count++] = world->shared_value;
	world->shared_field = phrase_new(world, " ");
	world->shared_metric = phrase_new(world, " ");
}

static void world_build(struct world *world)
{
	bool placed = rng_chance(&world->rng, 60);
	bool headed = rng_chance(&world->rng, 50);
	size_t place = placed ? place_make(world) : 0;
	size_t person = person_make(world, placed, place);
	size_t thing = thing_make(world);
	size_t parent = headed ? header_make(world, person) : person;
	size_t fact = world->table_count;

	fact_make(world, parent, headed, thing);
	fact_metrics(world, fact, headed ? parent : fact);
	metric_add(world, person, MEASURE_ROWS);
	if (headed) {
		metric_add(world, parent, MEASURE_ROWS);
		world->timed[parent] = true;
		world->time[parent] = spot_of(world, parent, ROLE_DATE);
	}
	if (rng_chance(&world->rng, 50)) {
		size_t second = world->table_count;

		second_fact_make(world, person);
		metric_add(world, second, MEASURE_ROWS);
		metric_add(world, second,
			   rng_chance(&world->rng, 50) ? MEASURE_PIECES : MEASURE_AVERAGE);
	}
	vault_make(world);
	share_words(world, person, thing);
}

struct world *world_make(uint64_t seed)
{
	struct world *world = mem_alloc(sizeof(*world));
	struct date first = {2019, 1, 1};

	world->seed = seed;
	world->rng.state = seed;
	world->next_secret = 700000000 + (int64_t)rng_below(&world->rng, 1000000) * 100;
	world->today = date_add_days(first, rng_below(&world->rng, 4000));
	world_build(world);
	world_fill(world);
	return world;
}

void world_rename(struct world *world)
{
	for (size_t i = 0; i < world->table_count; i++) {
		struct table *table = &world->tables[i];

		for (size_t j = 0; j < table->column_count; j++)
			if (!table->columns[j].hidden && rng_chance(&world->rng, 40))
				table->columns[j].name = column_name(world, table);
	}
}

void world_free(struct world *world)
{
	if (world == NULL)
		return;
	for (size_t i = 0; i < world->table_count; i++)
		mem_free(world->tables[i].cells);
	for (size_t i = 0; i < world->word_count; i++)
		mem_free(world->words[i]);
	for (size_t i = 0; i < world->kept_count; i++)
		mem_free(world->kept[i]);
	mem_free(world->kept);
	mem_free(world);
}

bool has_column(const struct table *table, enum world_role role)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role)
			return true;
	return false;
}

size_t column_of(const struct table *table, enum world_role role)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role)
			return i;
	abort();
}

const struct column *spot_column(const struct world *world, struct spot spot)
{
	return &world->tables[spot.table].columns[spot.column];
}
