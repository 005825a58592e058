/*
 * The right answer, by loops over the rows: every row that counts goes into the tally of its group,
 * groups become rows. Written from what the words mean, not from the compiler: no SQL, no plan.
 *
 *  - A missing value is in no list of values, so "excluding East" keeps it; a label may stand for
 *    it in a grouping.
 *  - Two rows of one name stay apart where the name stands for its row.
 *  - A sum of nothing is missing; beside another period it is 0. A count of nothing is 0.
 *  - A share is a share of all groups. An average over things takes only those that have rows.
 */
#include "tests/lib/random/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 1024
#define SEEN_MAX 512  /* above the rows of any table that is linked to */
#define ROWS_SHOWN 60 /* well below what one answer holds */

struct tally {
	int64_t whole;
	double real;
	size_t values; /* that were not missing */
	size_t rows;
	int64_t *seen; /* distinct links; owned */
	size_t seen_count;
};

struct group {
	struct cell keys[2 * WORLD_DIMENSIONS + 2]; /* what tells groups apart */
	size_t key_count;
	struct cell shown[WORLD_DIMENSIONS];
	struct tally now;
	struct tally before; /* in the period compared with; or of the second metric */
};

struct value {
	bool missing;
	double number;
};

struct oracle {
	const struct world *world;
	const struct ask *ask;
	const struct metric *metric; /* whose value is worked out */
	size_t table;		     /* whose rows are counted */
	struct group *groups;
	size_t group_count;
	bool unsure; /* a value lies where rounding could go either way */
};

static bool same_cell(const struct cell *a, const struct cell *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CELL_NULL:
		return true;
	case CELL_INT:
		return a->number == b->number;
	case CELL_REAL:
		return memcmp(&a->real, &b->real, sizeof(a->real)) == 0;
	case CELL_TEXT:
		return strcmp(a->text, b->text) == 0;
	}
	return false;
}

/* The day of a date in whatever form it is stored. */
static bool cell_day(const struct cell *cell, struct date *ret_date)
{
	char text[DATE_LEN + 1] = "";
	struct err err;

	if (cell->kind == CELL_NULL)
		return false;
	if (cell->kind == CELL_INT) {
		*ret_date = date_from_days(cell->number / 86400);
		return true;
	}
	memcpy(text, cell->text, DATE_LEN);
	return date_read(text, ret_date, &err) == 0;
}

static bool in_range(const struct range *range, struct date day)
{
	if (range->has_from && date_compare(day, range->from) < 0)
		return false;
	return !range->has_to || date_compare(day, range->to) < 0;
}

static bool row_in_range(const struct oracle *oracle, size_t row, const struct range *range)
{
	struct cell cell;
	struct date day;

	if (!range->has_from && !range->has_to)
		return true;
	cell = world_cell(oracle->world, oracle->table, row, oracle->world->time[oracle->table]);
	return cell_day(&cell, &day) && in_range(range, day);
}

static bool among(const struct filter *filter, const struct cell *cell)
{
	for (size_t i = 0; cell->kind == CELL_TEXT && i < filter->value_count; i++)
		if (strcmp(cell->text, filter->values[i]) == 0)
			return true;
	return false;
}

static bool passes(const struct oracle *oracle, size_t row, const struct filter *filter)
{
	struct cell cell = world_cell(oracle->world, oracle->table, row, filter->spot);

	switch (filter->test) {
	case TEST_IN:
		return among(filter, &cell);
	case TEST_NOT:
		return !among(filter, &cell);
	case TEST_MISSING:
		return cell.kind == CELL_NULL;
	case TEST_EQUAL:
		return cell.kind == CELL_INT && cell.number == filter->number;
	case TEST_OVER:
		return cell.kind == CELL_INT && cell.number > filter->number;
	case TEST_AT_LEAST:
		return cell.kind == CELL_INT && cell.number >= filter->number;
	case TEST_UNDER:
		return cell.kind == CELL_INT && cell.number < filter->number;
	case TEST_AT_MOST:
		return cell.kind == CELL_INT && cell.number <= filter->number;
	}
	return false;
}

/* Is the row one of those that the metric is made of? */
static bool row_measured(const struct oracle *oracle, size_t row, const struct metric *metric)
{
	struct filter own = {.test = TEST_IN, .value_count = 1};

	if (metric == NULL || !metric->filtered)
		return true;
	own.spot = metric->filter;
	own.values[0] = metric->value;
	return passes(oracle, row, &own);
}

static bool row_counts(const struct oracle *oracle, size_t row)
{
	const struct ask *ask = oracle->ask;
	const struct table *table = &oracle->world->tables[oracle->table];

	if (has_column(table, ROLE_GONE) &&
	    table->cells[row * table->column_count + column_of(table, ROLE_GONE)].number == 1)
		return false;
	for (size_t i = 0; i < ask->filter_count; i++)
		if (!passes(oracle, row, &ask->filters[i]))
			return false;
	return true;
}

static struct cell bucket_cell(struct world *world, const struct cell *cell, enum bucket bucket)
{
	struct cell shown = {.kind = CELL_TEXT};
	char text[DATE_LEN + 1];
	struct date day;

	if (!cell_day(cell, &day))
		return (struct cell){.kind = CELL_NULL};
	switch (bucket) {
	case BY_VALUE:
		return *cell;
	case BY_WEEK:
		date_write(date_add_days(day, -date_weekday(day)), text);
		shown.text = world_keep(world, mem_str(text));
		break;
	case BY_MONTH:
		shown.text = world_keep(world, mem_format("%04d-%02d", day.year, day.month));
		break;
	case BY_QUARTER:
		shown.text =
			world_keep(world, mem_format("%04d-Q%d", day.year, (day.month + 2) / 3));
		break;
	case BY_YEAR:
		shown.text = world_keep(world, mem_format("%04d", day.year));
		break;
	}
	return shown;
}

static void add_key(struct group *group, struct cell cell)
{
	group->keys[group->key_count++] = cell;
}

/* A name stands for its row: the key of that row tells it from another of the same name. */
static void add_spot(const struct oracle *oracle, size_t row, struct spot spot, struct group *group,
		     struct cell shown)
{
	const struct table *table = &oracle->world->tables[spot.table];

	add_key(group, shown);
	if (table->columns[spot.column].role == ROLE_NAME) {
		struct spot key = {spot.table, column_of(table, ROLE_KEY)};

		add_key(group, world_cell(oracle->world, oracle->table, row, key));
	}
}

/* Texts that are made here live as long as the world, which is no one else's to look at. */
static struct world *keeper(const struct oracle *oracle)
{
	union {
		const struct world *lent;
		struct world *kept;
	} world = {.lent = oracle->world};

	return world.kept;
}

static struct group *group_of(struct oracle *oracle, size_t row)
{
	const struct ask *ask = oracle->ask;
	struct group wanted = {.key_count = 0};

	for (size_t i = 0; i < ask->dim_count; i++) {
		const struct dimension *dim = &ask->dims[i];
		const struct column *column = spot_column(oracle->world, dim->spot);
		struct cell cell = world_cell(oracle->world, oracle->table, row, dim->spot);

		if (dim->bucket != BY_VALUE)
			cell = bucket_cell(keeper(oracle), &cell, dim->bucket);
		else if (cell.kind == CELL_NULL && column->missing != NULL)
			cell = (struct cell){.kind = CELL_TEXT, .text = column->missing};
		wanted.shown[i] = cell;
		add_spot(oracle, row, dim->spot, &wanted, cell);
	}
	if (ask->average)
		add_spot(oracle, row, ask->per, &wanted,
			 world_cell(oracle->world, oracle->table, row, ask->per));
	for (size_t i = 0; i < oracle->group_count; i++) {
		struct group *group = &oracle->groups[i];
		bool same = true;

		for (size_t k = 0; same && k < wanted.key_count; k++)
			same = same_cell(&group->keys[k], &wanted.keys[k]);
		if (same)
			return group;
	}
	if (oracle->group_count == GROUPS_MAX)
		abort();
	oracle->groups[oracle->group_count] = wanted;
	return &oracle->groups[oracle->group_count++];
}

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

static void add_row(const struct oracle *oracle, size_t row, const struct metric *metric,
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

static struct value number(double value)
{
	return (struct value){false, value};
}

static struct value none(void)
{
	return (struct value){true, 0};
}

/* Before scaling. zero: nothing in a period that is compared is a sum of 0. */
static struct value raw_value(const struct metric *metric, const struct tally *tally, bool zero)
{
	bool empty = tally->values == 0;

	switch (metric->measure) {
	case MEASURE_NET:
	case MEASURE_PIECES:
		return empty && !zero ? none() : number((double)tally->whole);
	case MEASURE_SCORES:
		return empty && !zero ? none() : number(tally->real);
	case MEASURE_ROWS:
		return number((double)tally->rows);
	case MEASURE_DISTINCT:
		return number((double)tally->seen_count);
	case MEASURE_AVERAGE:
		return empty ? none() : number(tally->real / (double)tally->values);
	case MEASURE_RATIO:
		if (empty || tally->seen_count == 0)
			return none();
		return number((double)tally->whole / (double)tally->seen_count);
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

static struct value scaled(struct oracle *oracle, struct value raw)
{
	const struct metric *metric = oracle->metric;
	double value = raw.number / metric->scale;

	if (raw.missing)
		return raw;
	if (metric_exact(metric) && !oracle->ask->average)
		return number(value);
	return number(rounded(oracle, value, decimals_of(oracle)));
}

static struct json *value_json(const struct oracle *oracle, struct value value, bool plain)
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
		return none();
	return number(rounded(oracle, 100.0 * part / whole, 2));
}

static void add_compared(struct oracle *oracle, const struct group *group, struct json *row)
{
	const struct metric *metric = oracle->metric;
	bool zero = metric_additive(metric);
	struct value now = raw_value(metric, &group->now, zero);
	struct value before = raw_value(metric, &group->before, zero);
	bool both = !now.missing && !before.missing;
	struct value change = both ? number(now.number - before.number) : none();

	json_push(row, value_json(oracle, scaled(oracle, now), true));
	json_push(row, value_json(oracle, scaled(oracle, before), true));
	json_push(row, value_json(oracle, scaled(oracle, change), true));
	json_push(row,
		  value_json(oracle, both ? percent(oracle, change.number, before.number) : none(),
			     false));
}

static double total_of(const struct oracle *oracle)
{
	double total = 0;

	for (size_t i = 0; i < oracle->group_count; i++) {
		struct value value = raw_value(oracle->metric, &oracle->groups[i].now, false);

		total += value.missing ? 0 : value.number;
	}
	return total;
}

static struct json *row_json(struct oracle *oracle, const struct group *group)
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
	raw = raw_value(ask->metric, &group->now, false);
	json_push(row, value_json(oracle, scaled(oracle, raw), true));
	if (ask->second != NULL) {
		struct value second = raw_value(ask->second, &group->before, false);

		oracle->metric = ask->second;
		json_push(row, value_json(oracle, scaled(oracle, second), true));
		oracle->metric = ask->metric;
	}
	if (ask->share)
		json_push(row,
			  value_json(oracle,
				     raw.missing ? none()
						 : percent(oracle, raw.number, total_of(oracle)),
				     false));
	return row;
}

static void count_rows(struct oracle *oracle)
{
	const struct ask *ask = oracle->ask;

	for (size_t row = 0; row < oracle->world->tables[oracle->table].rows; row++) {
		const struct metric *second = ask->second != NULL ? ask->second : ask->metric;
		bool now = row_in_range(oracle, row, &ask->period);
		bool before = ask->compares ? row_in_range(oracle, row, &ask->before)
					    : ask->second != NULL && now;
		struct cell per = {.kind = CELL_INT};
		struct group *group;

		now = now && row_measured(oracle, row, ask->metric);
		before = before && row_measured(oracle, row, second);
		if ((!now && !before) || !row_counts(oracle, row))
			continue;
		if (ask->average)
			per = world_cell(oracle->world, oracle->table, row, ask->per);
		if (per.kind == CELL_NULL)
			continue;
		group = group_of(oracle, row);
		if (now)
			add_row(oracle, row, ask->metric, &group->now);
		if (before)
			add_row(oracle, row, second, &group->before);
	}
	if (oracle->group_count == 0 && ask->dim_count == 0)
		oracle->group_count = 1; /* a total of nothing is one row, too */
}

/* Groups in order; false when two that decide what is shown are equal. */
static bool sort_groups(struct oracle *oracle)
{
	const struct ask *ask = oracle->ask;
	bool apart = true;

	for (size_t i = 1; i < oracle->group_count; i++) {
		for (size_t j = i; j > 0; j--) {
			struct group *a = &oracle->groups[j - 1];
			struct group *b = &oracle->groups[j];
			struct value one = raw_value(ask->metric, &a->now, false);
			struct value other = raw_value(ask->metric, &b->now, false);
			double step = (one.number - other.number) * ask->order;
			struct group held = *a;

			if (other.missing || (!one.missing && step >= 0))
				break;
			*a = *b;
			*b = held;
		}
	}
	for (size_t i = 1; i < oracle->group_count && (ask->limit == 0 || i <= ask->limit); i++) {
		struct value one =
			scaled(oracle, raw_value(ask->metric, &oracle->groups[i - 1].now, false));
		struct value other =
			scaled(oracle, raw_value(ask->metric, &oracle->groups[i].now, false));

		if (one.missing == other.missing && fabs(one.number - other.number) < 1e-6)
			apart = false;
	}
	return apart;
}

/* "average X per Y": one group per Y, then the average of their values, without other groups. */
static struct json *average_rows(struct oracle *oracle)
{
	struct json *rows = json_array();
	struct json *row = json_array();
	struct value average = none();
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < oracle->group_count; i++) {
		struct value value = raw_value(oracle->metric, &oracle->groups[i].now, false);

		if (value.missing || oracle->groups[i].key_count == 0)
			continue;
		sum += value.number;
		count++;
	}
	if (count > 0)
		average = number(sum / (double)count);
	json_push(row, value_json(oracle, scaled(oracle, average), true));
	json_push(rows, row);
	return rows;
}

static void oracle_clear(struct oracle *oracle)
{
	for (size_t i = 0; i < oracle->group_count; i++) {
		mem_free(oracle->groups[i].now.seen);
		mem_free(oracle->groups[i].before.seen);
	}
	mem_free(oracle->groups);
}

static struct json *shown_rows(struct oracle *oracle)
{
	struct json *rows = json_array();
	size_t limit = oracle->ask->limit;

	for (size_t i = 0; i < oracle->group_count && (limit == 0 || i < limit); i++)
		json_push(rows, row_json(oracle, &oracle->groups[i]));
	return rows;
}

struct json *oracle_answer(const struct world *world, const struct ask *ask)
{
	struct oracle oracle = {.world = world, .ask = ask, .metric = ask->metric};
	struct json *rows = NULL;
	struct json *answer = NULL;
	bool apart = true;

	oracle.table = ask->metric != NULL ? ask->metric->table : ask->dims[0].spot.table;
	oracle.groups = mem_array(GROUPS_MAX, sizeof(*oracle.groups));
	count_rows(&oracle);
	if (ask->order != 0)
		apart = sort_groups(&oracle);
	rows = ask->average ? average_rows(&oracle) : shown_rows(&oracle);
	if (!oracle.unsure && (apart || ask->limit == 0) && json_len(rows) <= ROWS_SHOWN) {
		answer = json_object();
		json_set(answer, "rows", TAKE(rows));
		json_set_bool(answer, "ordered", ask->order != 0 && apart);
	}
	json_free(rows);
	oracle_clear(&oracle);
	return answer;
}
