/*
 * Sets of names as symbols, read from JSON lists: ascending, without a name that stands twice.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/bundle_model.h"

static int compare_symbols(const void *left, const void *right)
{
	symbol_t a = *(const symbol_t *)left;
	symbol_t b = *(const symbol_t *)right;

	return a < b ? -1 : a > b;
}

bool symbol_set_has(const struct symbol_set *set, symbol_t id)
{
	size_t low = 0;
	size_t high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle] == id)
			return id != SYMBOL_NONE;
		if (set->items[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

int symbol_set_sort(struct symbol_set *set, struct err *err)
{
	if (set->count > 0)
		qsort(set->items, set->count, sizeof(*set->items), compare_symbols);
	for (size_t i = 1; i < set->count; i++)
		if (set->items[i] == set->items[i - 1])
			return err_set(err, ERR_INVALID, "a name stands twice in one list");
	return 0;
}

int name_read(const struct json *item, const char **ret_name, struct err *err)
{
	const char *name = json_str(item);

	if (name == NULL || name[0] == '\0')
		return err_set(err, ERR_INVALID, "a name must be a string with at least one byte");
	*ret_name = name;
	return 0;
}

int names_read(struct bundle *bundle, const struct json *list, bool folded, struct symbol_set *set,
	       struct err *err)
{
	if (json_type(list) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "a list of names was expected, not %s",
			       json_type_name(json_type(list)));
	set->items = mem_array(json_len(list), sizeof(*set->items));
	json_each(item, list)
	{
		const char *name;

		if (name_read(item, &name, err) < 0)
			return -1;
		set->items[set->count++] = folded ? symbols_add_folded(&bundle->symbols, name)
						  : symbols_add(&bundle->symbols, name);
	}
	return symbol_set_sort(set, err);
}

int names_read_or_all(struct bundle *bundle, const struct json *value, bool *ret_all,
		      struct symbol_set *set, struct err *err)
{
	const char *text = json_str(value);

	if (text != NULL && strcmp(text, "all") == 0) {
		*ret_all = true;
		return 0;
	}
	if (json_len(value) == 0 && json_type(value) == JSON_ARRAY)
		return err_set(err, ERR_INVALID, "an empty list");
	return names_read(bundle, value, false, set, err);
}
