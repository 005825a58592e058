/*
 * Pairing by augmenting paths (bipartite matching), for values within a row and for rows, since
 * with a tolerance "equal" does not carry over from one pair to the next and the first fit can be
 * wrong.
 */
#include "cli/eval/compare.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

typedef bool can_pair(const void *context, size_t left, size_t right);

struct pairing {
	can_pair *can;
	const void *context;
	size_t right_count;
	size_t *owner; /* of each right one: left + 1, or 0 */
	bool *seen;
};

static bool place(struct pairing *pairing, size_t left)
{
	for (size_t r = 0; r < pairing->right_count; r++) {
		if (pairing->seen[r] || !pairing->can(pairing->context, left, r))
			continue;
		pairing->seen[r] = true;
		if (pairing->owner[r] && !place(pairing, pairing->owner[r] - 1))
			continue;
		pairing->owner[r] = left + 1;
		return true;
	}
	return false;
}

/* Does every left one find a right one of its own? */
static bool all_pair(size_t left_count, size_t right_count, can_pair *can, const void *context)
{
	CLEANUP(mem_freep) size_t *owner = mem_array(right_count + 1, sizeof(*owner));
	CLEANUP(mem_freep) bool *seen = mem_array(right_count + 1, sizeof(*seen));
	struct pairing pairing = {can, context, right_count, owner, seen};

	for (size_t left = 0; left < left_count; left++) {
		memset(seen, 0, right_count * sizeof(*seen));
		if (!place(&pairing, left))
			return false;
	}
	return true;
}

static bool is_number(const struct json *value)
{
	return json_type(value) == JSON_INT || json_type(value) == JSON_REAL;
}

static bool same_value(const struct json *a, const struct json *b, double tolerance)
{
	if (json_is_null(a) || json_is_null(b))
		return json_is_null(a) && json_is_null(b);
	if (is_number(a) && is_number(b))
		return fabs(json_real(a) - json_real(b)) <= tolerance + 1e-12 * fabs(json_real(a));
	return json_equal(a, b);
}

struct cells { /* arrays of JSON children, so that a look-up is one step */
	const struct json **items;
	size_t count;
};

static struct cells cells_of(const struct json *array)
{
	struct cells cells = {mem_array(json_len(array) + 1, sizeof(*cells.items)), 0};

	json_each(item, array) cells.items[cells.count++] = item;
	return cells;
}

static void cells_clear(struct cells *cells)
{
	mem_free(cells->items);
}

struct row_pair {
	struct cells right, got;
	double tolerance;
};

static bool values_pair(const void *context, size_t left, size_t right)
{
	const struct row_pair *pair = context;

	return same_value(pair->right.items[left], pair->got.items[right], pair->tolerance);
}

static bool same_row(const struct json *right, const struct json *got,
		     const struct compare_rules *rules)
{
	struct row_pair pair;
	bool same;

	if (json_len(right) > json_len(got) || (!rules->extra && json_len(right) != json_len(got)))
		return false;
	pair = (struct row_pair){cells_of(right), cells_of(got), rules->tolerance};
	same = all_pair(pair.right.count, pair.got.count, values_pair, &pair);
	cells_clear(&pair.right);
	cells_clear(&pair.got);
	return same;
}

struct table_pair {
	struct cells right, got;
	const struct compare_rules *rules;
};

static bool rows_pair(const void *context, size_t left, size_t right)
{
	const struct table_pair *pair = context;

	return same_row(pair->right.items[left], pair->got.items[right], pair->rules);
}

static bool same_order(const struct table_pair *pair)
{
	for (size_t i = 0; i < pair->right.count; i++)
		if (!rows_pair(pair, i, i))
			return false;
	return true;
}

bool compare_rows(const struct json *right, const struct json *got,
		  const struct compare_rules *rules)
{
	struct table_pair pair;
	bool same;

	if (json_len(right) != json_len(got))
		return false;
	pair = (struct table_pair){cells_of(right), cells_of(got), rules};
	same = rules->ordered ? same_order(&pair)
			      : all_pair(pair.right.count, pair.got.count, rows_pair, &pair);
	cells_clear(&pair.right);
	cells_clear(&pair.got);
	return same;
}
