/* What is measured: sums, counts, averages and ratios, some over chosen rows only. */
#include "tests/lib/random/world.h"

#include <stdlib.h>

struct metric *metric_add(struct world *world, size_t table, enum measure measure)
{
	struct metric *metric = &world->metrics[world->metric_count];

	if (world->metric_count == WORLD_METRICS)
		abort();
	world->metric_count++;
	*metric = (struct metric){.table = table, .measure = measure, .scale = 1, .decimals = -1};
	metric->name = phrase_new(world, "_");
	if (rng_chance(&world->rng, 50))
		metric->label = phrase_new(world, " ");
	metric->synonym = phrase_new(world, " ");
	metric->better = rng_chance(&world->rng, 60);
	return metric;
}

static void metric_filter(struct world *world, struct metric *metric, size_t table)
{
	struct spot spot = spot_of(world, table, ROLE_CLASS);
	const struct column *column = spot_column(world, spot);

	metric->filtered = true;
	metric->filter = spot;
	metric->value = column->values[rng_below(&world->rng, (uint32_t)column->value_count)];
}

static void money(struct world *world, struct metric *metric)
{
	static const int scales[] = {1, 10, 100, 1000};

	metric->scale = scales[rng_below(&world->rng, ARRAY_LEN(scales))];
	metric->decimals = metric->scale == 1000 ? 3 : 2;
	metric->unit = world_keep(world, mem_format("%.3s", word_new(world)));
	for (char *c = metric->unit; *c != '\0'; c++)
		*c = (char)(*c - 'a' + 'A');
}

/* "total X" and "average X", "X per Y": what people call metrics. */
static void name_twins(struct world *world, struct metric *sum, struct metric *average)
{
	world->twin_word = world_keep(world, mem_str(word_new(world)));
	sum->name = world_keep(world, mem_format("total_%s", world->twin_word));
	average->name = world_keep(world, mem_format("average_%s", world->twin_word));
	sum->label = NULL;
	average->label = NULL;
}

void fact_metrics(struct world *world, size_t fact, size_t state)
{
	struct table *table = &world->tables[fact];
	struct metric *net = metric_add(world, fact, MEASURE_NET);
	struct metric *sum = NULL, *average, *ratio;

	money(world, net);
	if (rng_chance(&world->rng, 60))
		metric_filter(world, net, state);
	metric_add(world, fact, MEASURE_ROWS)->star = rng_chance(&world->rng, 50);
	if (rng_chance(&world->rng, 60))
		metric_add(world, fact, MEASURE_PIECES);
	if (rng_chance(&world->rng, 60))
		sum = metric_add(world, fact, MEASURE_SCORES);
	average = metric_add(world, fact, MEASURE_AVERAGE);
	if (sum != NULL && rng_chance(&world->rng, 60))
		name_twins(world, sum, average);
	metric_add(world, fact, MEASURE_DISTINCT)->link = column_of(table, ROLE_LINK);
	if (rng_chance(&world->rng, 60)) {
		ratio = metric_add(world, fact, MEASURE_RATIO);
		ratio->link = column_of(table, ROLE_LINK);
		ratio->scale = net->scale;
		ratio->decimals = 2;
		ratio->unit = net->unit;
		if (rng_chance(&world->rng, 50))
			ratio->synonym = world_keep(
				world, mem_format("%s per %s", word_new(world), word_new(world)));
	}
	metric_add(world, fact, MEASURE_SECRET)->link = column_of(table, ROLE_SECRET);
}

bool metric_additive(const struct metric *metric)
{
	return metric->measure == MEASURE_NET || metric->measure == MEASURE_PIECES ||
	       metric->measure == MEASURE_SCORES || metric->measure == MEASURE_ROWS;
}

bool metric_exact(const struct metric *metric)
{
	return metric->measure == MEASURE_NET || metric->measure == MEASURE_PIECES ||
	       metric->measure == MEASURE_ROWS || metric->measure == MEASURE_DISTINCT;
}
