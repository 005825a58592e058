/*
 * A view lists tables with "all" or their columns, and under "except" what is taken away again.
 * Anything of another shape shows nothing. Cannot fail.
 */
#include "broker/view.h"

#include <string.h>
#include <strings.h>

bool name_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && strncasecmp(a, b, a_len) == 0; /* ASCII: we never set a locale */
}

static const struct json *member_of(const struct json *object, const char *name, size_t len)
{
	json_each(child, object)
	{
		if (name_equal(json_key(child), strlen(json_key(child)), name, len))
			return child;
	}
	return NULL;
}

static bool is_all(const struct json *columns)
{
	return json_str(columns) != NULL && strcmp(json_str(columns), "all") == 0;
}

static bool has_column(const struct json *columns, const char *column)
{
	if (is_all(columns))
		return true;
	json_each(child, columns)
	{
		const char *name = json_str(child);

		if (name != NULL && name_equal(name, strlen(name), column, strlen(column)))
			return true;
	}
	return false;
}

static const struct json *find_table(const struct json *view, const char *table, size_t len)
{
	const struct json *found = member_of(json_get(view, "tables"), table, len);

	if (found == NULL || is_all(member_of(json_get(view, "except"), table, len)))
		return NULL;
	return found;
}

const char *view_table(const struct json *view, const char *table)
{
	const struct json *found = find_table(view, table, strlen(table));

	return found == NULL ? NULL : json_key(found);
}

bool view_column(const struct json *view, const char *table, size_t table_len, const char *column)
{
	const struct json *found = find_table(view, table, table_len);

	return found != NULL && has_column(found, column) &&
	       !has_column(member_of(json_get(view, "except"), table, table_len), column);
}

static bool reads_visible(const struct json *view, const struct json *reads)
{
	json_each(child, reads)
	{
		const char *read = json_str(child);
		const char *dot = read == NULL ? NULL : strchr(read, '.');

		if (dot == NULL || !view_column(view, read, (size_t)(dot - read), dot + 1))
			return false;
	}
	return true;
}

static bool columns_visible(const struct json *view, const char *table, const struct json *columns)
{
	json_each(child, columns)
	{
		if (json_str(child) == NULL ||
		    !view_column(view, table, strlen(table), json_str(child)))
			return false;
	}
	return true;
}

/* Statements (verified queries) stand there word by word: of one that does not say what it reads, a
 * proposal, nobody knows whether it names what is hidden. */
static bool element_visible(const struct json *view, const struct json *element)
{
	const char *table = json_get_str(element, "table");

	if (json_type(element) != JSON_OBJECT)
		return true;
	if (table != NULL && view_table(view, table) == NULL)
		return false;
	if (json_get(element, "sql") != NULL && json_len(json_get(element, "reads")) == 0)
		return false;
	return reads_visible(view, json_get(element, "reads"));
}

static struct json *filter(const struct json *view, const struct json *value);

static struct json *filter_array(const struct json *view, const struct json *array)
{
	struct json *kept = json_array();

	json_each(child, array)
	{
		if (element_visible(view, child))
			json_push(kept, filter(view, child));
	}
	return kept;
}

/* Names of key columns are no expressions, so "reads" does not cover them. */
static struct json *filter_unique_keys(const struct json *view, const char *table,
				       const struct json *keys)
{
	struct json *kept = json_array();

	json_each(key, keys)
	{
		if (columns_visible(view, table, key))
			json_push(kept, json_copy(key));
	}
	return kept;
}

/* Are rows kept back from this view? Then a total over all of them is not its to see. */
static bool keeps_rows_back(const struct json *view)
{
	return json_get(view, "rows") != NULL || json_get(view, "require") != NULL;
}

static struct json *filter_object(const struct json *view, const struct json *object)
{
	const char *table = json_get_str(object, "table");
	struct json *kept = json_object();

	json_each(child, object)
	{
		const char *key = json_key(child);

		if (table != NULL && strcmp(key, "primary_key") == 0) {
			json_set(kept, key,
				 columns_visible(view, table, child) ? json_copy(child)
								     : json_array());
		} else if (table != NULL && strcmp(key, "unique_keys") == 0) {
			json_set(kept, key, filter_unique_keys(view, table, child));
		} else if (strcmp(key, "expected") == 0 && keeps_rows_back(view)) {
			continue;
		} else if (element_visible(view, child)) {
			json_set(kept, key, filter(view, child));
		}
	}
	return kept;
}

static struct json *filter(const struct json *view, const struct json *value)
{
	switch (json_type(value)) {
	case JSON_ARRAY:
		return filter_array(view, value);
	case JSON_OBJECT:
		return filter_object(view, value);
	default:
		return json_copy(value);
	}
}

struct json *view_filter_model(const struct json *view, const struct json *model)
{
	return filter(view, model);
}
