/*
 * The values of a group: tallies over its rows, then the number as it is shown. Where a number lies
 * almost on a half, nobody can say which way it is rounded: the oracle is then unsure.
 */
#include "tests/lib/random/oracle.h"

#include <math.h>
#include <stdlib.h>

#define SEEN_MAX 512 /* above the rows of any table that is linked to */

static void see(struct tally *tally, const struct cell *cell)
{
	if (cell->kind == CELL_NULL)
		return;
	for (size_t i = 0; i < tally->seen_count; i++)
		if (tally->seen[i] == cell->number)
			return;
	if (tally->seen == NULL)
		tally->seen = mem_array(SEEN_MAX, sizeof(*tally->seen));
	if (tally->seen_count == SEEN_MAX)
		abort();
	tally->seen[tally->seen_count++] = cell->number;
}

static void add_net(const struct table *table, const struct cell *cells, struct tally *tally)
{
	const struct cell *off = &cells[column_of(table, ROLE_OFF)];

	tally->whole += cells[column_of(table, ROLE_PIECES)].number *
				cells[column_of(table, ROLE_CENTS)].number -
			(off->kind == CELL_NULL ? 0 : off->number);
	tally->values++;
}

void tally_add(const struct oracle *oracle, size_t row, const struct metric *metric,
	       struct tally *tally)
{
	const struct table *table = &oracle->world->tables[oracle->table];
	const struct cell *cells = &table->cells[row * table->column_count];
	const struct cell *score;

	tally->rows++;
	if (metric == NULL)
		return;
	switch (metric->measure) {
	case MEASURE_RATIO:
		add_net(table, cells, tally);
		see(tally, &cells[metric->link]);
		return;
	case MEASURE_NET:
		add_net(table, cells, tally);
		return;
	case MEASURE_PIECES:
		tally->whole += cells[column_of(table, ROLE_PIECES)].number;
		tally->values++;
		return;
	case MEASURE_SCORES:
	case MEASURE_AVERAGE:
		score = &cells[column_of(table, ROLE_SCORE)];
		tally->real += score->kind == CELL_NULL ? 0 : score->real;
		tally->values += score->kind == CELL_NULL ? 0 : 1;
		return;
	case MEASURE_DISTINCT:
		see(tally, &cells[metric->link]);
		return;
	case MEASURE_ROWS:
	case MEASURE_SECRET:
		return;
	}
}

struct value value_of(double value)
{
	return (struct value){false, value};
}

struct value value_none(void)
{
	return (struct value){true, 0};
}

struct value tally_value(const struct metric *metric, const struct tally *tally, bool zero)
{
	bool empty = tally->values == 0;

	switch (metric->measure) {
	case MEASURE_NET:
	case MEASURE_PIECES:
		return empty && !zero ? value_none() : value_of((double)tally->whole);
	case MEASURE_SCORES:
		return empty && !zero ? value_none() : value_of(tally->real);
	case MEASURE_ROWS:
		return value_of((double)tally->rows);
	case MEASURE_DISTINCT:
		return value_of((double)tally->seen_count);
	case MEASURE_AVERAGE:
		return empty ? value_none() : value_of(tally->real / (double)tally->values);
	case MEASURE_RATIO:
		if (empty || tally->seen_count == 0)
			return value_none();
		return value_of((double)tally->whole / (double)tally->seen_count);
	case MEASURE_SECRET:
		break;
	}
	abort();
}

/* Half away from zero; where a value lies almost on a half, nobody can say which way. */
static double rounded(struct oracle *oracle, double value, int decimals)
{
	double factor = pow(10, decimals);
	double scaled = value * factor;

	if (fabs(fabs(scaled - trunc(scaled)) - 0.5) < 1e-6)
		oracle->unsure = true;
	return round(scaled) / factor;
}

static int decimals_of(const struct oracle *oracle)
{
	const struct metric *metric = oracle->metric;
	bool whole = metric_exact(metric) && metric->scale == 1;
	int decimals = metric->decimals >= 0 ? metric->decimals : whole ? 0 : 2;

	return oracle->ask->average && decimals < 2 ? 2 : decimals;
}

struct value value_scaled(struct oracle *oracle, struct value raw)
{
	const struct metric *metric = oracle->metric;
	double value = raw.number / metric->scale;

	if (raw.missing)
		return raw;
	if (metric_exact(metric) && !oracle->ask->average)
		return value_of(value);
	return value_of(rounded(oracle, value, decimals_of(oracle)));
}

struct json *value_json(const struct oracle *oracle, struct value value, bool plain)
{
	const struct metric *metric = oracle->metric;

	if (value.missing)
		return json_new_null();
	if (plain && metric_exact(metric) && metric->scale == 1 && !oracle->ask->average)
		return json_new_int((int64_t)value.number);
	return json_new_real(value.number);
}

static struct json *cell_json(const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_NULL:
		return json_new_null();
	case CELL_INT:
		return json_new_int(cell->number);
	case CELL_REAL:
		return json_new_real(cell->real);
	case CELL_TEXT:
		return json_new_str(cell->text);
	}
	return NULL;
}

static struct value percent(struct oracle *oracle, double part, double whole)
{
	if (whole <= 0)
		return value_none();
	return value_of(rounded(oracle, 100.0 * part / whole, 2));
}

static void add_compared(struct oracle *oracle, const struct group *group, struct json *row)
{
	const struct metric *metric = oracle->metric;
	bool zero = metric_additive(metric);
	struct value now = tally_value(metric, &group->now, zero);
	struct value before = tally_value(metric, &group->before, zero);
	bool both = !now.missing && !before.missing;
	struct value change = both ? value_of(now.number - before.number) : value_none();

	json_push(row, value_json(oracle, value_scaled(oracle, now), true));
	json_push(row, value_json(oracle, value_scaled(oracle, before), true));
	json_push(row, value_json(oracle, value_scaled(oracle, change), true));
	json_push(row,
		  value_json(oracle,
			     both ? percent(oracle, change.number, before.number) : value_none(),
			     false));
}

static double total_of(const struct oracle *oracle)
{
	double total = 0;

	for (size_t i = 0; i < oracle->group_count; i++) {
		struct value value = tally_value(oracle->metric, &oracle->groups[i].now, false);

		total += value.missing ? 0 : value.number;
	}
	return total;
}

struct json *group_json(struct oracle *oracle, const struct group *group)
{
	const struct ask *ask = oracle->ask;
	struct json *row = json_array();
	struct value raw;

	for (size_t i = 0; i < ask->dim_count; i++)
		json_push(row, cell_json(&group->shown[i]));
	if (ask->metric == NULL)
		return row;
	if (ask->compares) {
		add_compared(oracle, group, row);
		return row;
	}
	raw = tally_value(ask->metric, &group->now, false);
	json_push(row, value_json(oracle, value_scaled(oracle, raw), true));
	if (ask->second != NULL) {
		struct value second = tally_value(ask->second, &group->before, false);

		oracle->metric = ask->second;
		json_push(row, value_json(oracle, value_scaled(oracle, second), true));
		oracle->metric = ask->metric;
	}
	if (ask->share)
		json_push(row,
			  value_json(oracle,
				     raw.missing ? value_none()
						 : percent(oracle, raw.number, total_of(oracle)),
				     false));
	return row;
}
