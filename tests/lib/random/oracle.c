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
#include "tests/lib/random/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 1024
#define ROWS_SHOWN 60 /* well below what one answer holds */

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
			tally_add(oracle, row, ask->metric, &group->now);
		if (before)
			tally_add(oracle, row, second, &group->before);
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
			struct value one = tally_value(ask->metric, &a->now, false);
			struct value other = tally_value(ask->metric, &b->now, false);
			double step = (one.number - other.number) * ask->order;
			struct group held = *a;

			if (other.missing || (!one.missing && step >= 0))
				break;
			*a = *b;
			*b = held;
		}
	}
	for (size_t i = 1; i < oracle->group_count && (ask->limit == 0 || i <= ask->limit); i++) {
		struct value one = value_scaled(
			oracle, tally_value(ask->metric, &oracle->groups[i - 1].now, false));
		struct value other = value_scaled(
			oracle, tally_value(ask->metric, &oracle->groups[i].now, false));

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
	struct value average = value_none();
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < oracle->group_count; i++) {
		struct value value = tally_value(oracle->metric, &oracle->groups[i].now, false);

		if (value.missing || oracle->groups[i].key_count == 0)
			continue;
		sum += value.number;
		count++;
	}
	if (count > 0)
		average = value_of(sum / (double)count);
	json_push(row, value_json(oracle, value_scaled(oracle, average), true));
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
		json_push(rows, group_json(oracle, &oracle->groups[i]));
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
