/* Reading a YAML tree. NULL nodes answer like an absent value, so look-ups can be chained; only the
 * yaml_want_ functions can fail. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml_node.h"

#define INT_DIGITS_MAX 18 /* always fits into 64 bits */
#define QUOTED_MAX 60	  /* of a wrong value, in messages */

enum yaml_kind yaml_kind(const struct yaml *node)
{
	return node != NULL ? node->kind : YAML_SCALAR;
}

const char *yaml_file(const struct yaml *node)
{
	return node != NULL ? node->source->where : "";
}

int yaml_line(const struct yaml *node)
{
	return node != NULL ? node->line : 0;
}

int yaml_column(const struct yaml *node)
{
	return node != NULL ? node->column : 0;
}

bool yaml_quoted(const struct yaml *node)
{
	return node != NULL && node->quoted;
}

bool yaml_is_null(const struct yaml *node)
{
	if (node == NULL)
		return true;
	if (node->kind != YAML_SCALAR || node->quoted)
		return false;
	return node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
	       strcmp(node->text, "null") == 0;
}

const char *yaml_text(const struct yaml *scalar)
{
	return scalar != NULL ? scalar->text : NULL;
}

size_t yaml_len(const struct yaml *container)
{
	return container != NULL ? container->len : 0;
}

const struct yaml *yaml_at(const struct yaml *list, size_t index)
{
	if (list == NULL || list->kind != YAML_LIST || index >= list->len)
		return NULL;
	return list->items[index];
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	size_t low = 0, high;

	if (map == NULL || map->kind != YAML_MAP)
		return NULL;
	high = map->len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t index = map->sorted[middle];
		int order = strcmp(key, map->keys[index]->text);

		if (order == 0)
			return map->items[index];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct yaml *yaml_key(const struct yaml *map, size_t index)
{
	if (map == NULL || map->kind != YAML_MAP || index >= map->len)
		return NULL;
	return map->keys[index];
}

const struct yaml *yaml_value(const struct yaml *map, size_t index)
{
	if (map == NULL || map->kind != YAML_MAP || index >= map->len)
		return NULL;
	return map->items[index];
}

size_t yaml_stray_key(const struct yaml *map, size_t at, const char *const *keys,
		      const char **ret_near)
{
	size_t count = 0;

	*ret_near = NULL;
	while (keys[count])
		count++;
	for (; at < yaml_len(map); at++) {
		const char *key = yaml_text(yaml_key(map, at));
		bool known = false;

		for (size_t k = 0; k < count; k++)
			known = known || strcmp(key, keys[k]) == 0;
		if (known)
			continue;
		*ret_near = nearest_word(key, keys, count);
		return at;
	}
	return at;
}

/* Says what was found instead; wanted ends the sentence "wanted ...". */
static int not_wanted(const struct yaml *node, const char *wanted, struct err *err)
{
	static const char *const containers[] = {[YAML_LIST] = "a list", [YAML_MAP] = "a map"};

	if (node == NULL)
		return yaml_error(node, err, "wanted %s, found nothing", wanted);
	if (node->kind != YAML_SCALAR)
		return yaml_error(node, err, "wanted %s, found %s", wanted, containers[node->kind]);
	return yaml_error(node, err, "wanted %s, found %s\"%.*s\"", wanted,
			  node->quoted ? "the text " : "", QUOTED_MAX, node->text);
}

/* Decimal without a sign of plus, leading zeros or separators: what a reader takes it for. */
static bool read_int(const char *text, int64_t *ret)
{
	const char *digits = text[0] == '-' ? text + 1 : text;
	size_t len = strspn(digits, "0123456789");

	if (len == 0 || len > INT_DIGITS_MAX || digits[len] != '\0' ||
	    (digits[0] == '0' && (len > 1 || digits != text)))
		return false;
	*ret = strtoll(text, NULL, 10);
	return true;
}

int yaml_want_int(const struct yaml *node, int64_t min, int64_t max, int64_t *ret, struct err *err)
{
	char wanted[80];
	int64_t value;

	if (node != NULL && node->kind == YAML_SCALAR && !node->quoted &&
	    read_int(node->text, &value) && value >= min && value <= max) {
		*ret = value;
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "a whole number from %" PRId64 " to %" PRId64, min, max);
	return not_wanted(node, wanted, err);
}

int yaml_want_bool(const struct yaml *node, bool *ret, struct err *err)
{
	bool scalar = node != NULL && node->kind == YAML_SCALAR && !node->quoted;

	if (scalar && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
		*ret = node->text[0] == 't';
		return 0;
	}
	return not_wanted(node, "true or false", err);
}
