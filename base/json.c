/*
 * Reading a tree: look-ups, comparing, and the checked members of a message, the only ones that
 * fail.
 */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_node.h"

const char *json_name_quoted(const char *name, char out[NAME_QUOTED_MAX])
{
	size_t len = strlen(name), at = 0;
	const size_t room = NAME_QUOTED_MAX - sizeof("\"...\"");
	bool cut = len > room;

	out[at++] = '"';
	for (size_t i = 0; i < (cut ? room : len); i++)
		out[at++] = (unsigned char)name[i] < 0x20 || name[i] == 0x7F ? '?' : name[i];
	while (cut && at > 1 && ((unsigned char)name[at - 1] & 0xC0) == 0x80)
		at--; /* not within a character */
	snprintf(out + at, NAME_QUOTED_MAX - at, cut ? "...\"" : "\"");
	return out;
}

void json_free(struct json *json)
{
	cJSON_Delete(node_of(json));
}

void json_freep(struct json **json)
{
	json_free(*json);
}

static bool members_equal(const cJSON *a, const cJSON *b)
{
	size_t count_a, count_b;
	const cJSON **sorted_a = json_or_abort((void *)json_sorted(a, &count_a));
	const cJSON **sorted_b = json_or_abort((void *)json_sorted(b, &count_b));
	bool equal = count_a == count_b;

	for (size_t i = 0; equal && i < count_a; i++)
		equal = strcmp(sorted_a[i]->string, sorted_b[i]->string) == 0 &&
			json_equal(json_of_const(sorted_a[i]), json_of_const(sorted_b[i]));
	cJSON_free((void *)sorted_a);
	cJSON_free((void *)sorted_b);
	return equal;
}

static bool elements_equal(const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;

	while (x != NULL && y != NULL && json_equal(json_of_const(x), json_of_const(y))) {
		x = x->next;
		y = y->next;
	}
	return x == NULL && y == NULL;
}

bool json_equal(const struct json *a, const struct json *b)
{
	enum json_type type = json_type(a);

	if (type != json_type(b))
		return false;
	switch (type) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return json_bool(a) == json_bool(b);
	case JSON_INT:
		return json_int(a) == json_int(b);
	case JSON_REAL:
		return json_real(a) == json_real(b);
	case JSON_STRING:
		return strcmp(json_str(a), json_str(b)) == 0;
	case JSON_ARRAY:
		return elements_equal(node_of_const(a), node_of_const(b));
	case JSON_OBJECT:
		return members_equal(node_of_const(a), node_of_const(b));
	}
	return false;
}

/* Reading */

enum json_type json_type(const struct json *json)
{
	const cJSON *node = node_of_const(json);

	switch (node != NULL ? node->type & 0xFF : cJSON_NULL) {
	case cJSON_True:
	case cJSON_False:
		return JSON_BOOL;
	case cJSON_Number:
		return (node->type & NODE_REAL) != 0 ? JSON_REAL : JSON_INT;
	case cJSON_String:
		return JSON_STRING;
	case cJSON_Array:
		return JSON_ARRAY;
	case cJSON_Object:
		return JSON_OBJECT;
	default:
		return JSON_NULL;
	}
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	  [JSON_BOOL] = "boolean",  [JSON_INT] = "integer",
		[JSON_REAL] = "real",	  [JSON_STRING] = "string", [JSON_ARRAY] = "array",
		[JSON_OBJECT] = "object",
	};

	return (size_t)type < ARRAY_LEN(names) ? names[type] : "unknown";
}

struct json *json_get_mut(struct json *object, const char *key)
{
	if (json_type(object) != JSON_OBJECT)
		return NULL;
	for (cJSON *child = node_of(object)->child; child != NULL; child = child->next)
		if (strcmp(child->string, key) == 0)
			return json_of(child);
	return NULL;
}

/* The first byte first: most names differ there, and most look-ups pass many names. */
const struct json *json_get(const struct json *object, const char *key)
{
	const cJSON *child = object != NULL ? node_of_const(object)->child : NULL;

	for (; child != NULL; child = child->next)
		if (child->string != NULL && child->string[0] == key[0] &&
		    strcmp(child->string, key) == 0)
			return json_of_const(child);
	return NULL;
}

const char *json_str(const struct json *json)
{
	return json_type(json) == JSON_STRING ? node_of_const(json)->valuestring : NULL;
}

int64_t json_int(const struct json *json)
{
	return json_type(json) == JSON_INT ? (int64_t)node_of_const(json)->valuedouble : 0;
}

double json_real(const struct json *json)
{
	enum json_type type = json_type(json);

	return type == JSON_REAL || type == JSON_INT ? node_of_const(json)->valuedouble : 0;
}

bool json_bool(const struct json *json)
{
	return json != NULL && cJSON_IsTrue(node_of_const(json));
}

bool json_is_null(const struct json *json)
{
	return json_type(json) == JSON_NULL;
}

size_t json_len(const struct json *json)
{
	size_t count = 0;

	json_each(child, json) count++;
	return count;
}

const struct json *json_at(const struct json *array, size_t index)
{
	json_each(child, array) if (index-- == 0) return child;
	return NULL;
}

const struct json *json_first(const struct json *container)
{
	return container != NULL ? json_of_const(node_of_const(container)->child) : NULL;
}

const struct json *json_next(const struct json *child)
{
	return child != NULL ? json_of_const(node_of_const(child)->next) : NULL;
}

const char *json_key(const struct json *child)
{
	return child != NULL ? node_of_const(child)->string : NULL;
}

const char *json_get_str(const struct json *object, const char *key)
{
	return json_str(json_get(object, key));
}

int64_t json_get_int(const struct json *object, const char *key, int64_t fallback)
{
	const struct json *json = json_get(object, key);

	return json_type(json) == JSON_INT ? json_int(json) : fallback;
}

bool json_get_bool(const struct json *object, const char *key, bool fallback)
{
	const struct json *json = json_get(object, key);

	return json_type(json) == JSON_BOOL ? json_bool(json) : fallback;
}

/* Checked members */

static int not_an_object(const struct json *json, struct err *err)
{
	return err_set(err, ERR_INVALID, "an object is expected, not %s",
		       json_type_name(json_type(json)));
}

static int want(const struct json *object, const char *key, enum json_type type,
		const struct json **ret, struct err *err)
{
	const struct json *json = json_get(object, key);

	if (json_type(object) != JSON_OBJECT)
		return not_an_object(object, err);
	if (json == NULL)
		return err_set(err, ERR_INVALID, "member \"%s\" is missing (%s)", key,
			       json_type_name(type));
	if (json_type(json) != type)
		return err_set(err, ERR_INVALID, "member \"%s\" must be of type %s, not %s", key,
			       json_type_name(type), json_type_name(json_type(json)));
	*ret = json;
	return 0;
}

int json_want_str(const struct json *object, const char *key, const char **ret, struct err *err)
{
	const struct json *json;

	if (want(object, key, JSON_STRING, &json, err) < 0)
		return -1;
	*ret = json_str(json);
	return 0;
}

int json_want_int(const struct json *object, const char *key, int64_t min, int64_t max,
		  int64_t *ret, struct err *err)
{
	const struct json *json;
	int64_t value;

	if (want(object, key, JSON_INT, &json, err) < 0)
		return -1;
	value = json_int(json);
	if (value < min || value > max)
		return err_set(err, ERR_INVALID,
			       "member \"%s\" is %" PRId64 ", it must lie between %" PRId64
			       " and %" PRId64,
			       key, value, min, max);
	*ret = value;
	return 0;
}

int json_want_object(const struct json *object, const char *key, const struct json **ret,
		     struct err *err)
{
	return want(object, key, JSON_OBJECT, ret, err);
}

int json_want_array(const struct json *object, const char *key, const struct json **ret,
		    struct err *err)
{
	return want(object, key, JSON_ARRAY, ret, err);
}

static bool listed(const char *key, const char *const *keys)
{
	while (*keys != NULL && ((*keys)[0] != key[0] || strcmp(*keys, key) != 0))
		keys++;
	return *keys != NULL;
}

int json_only(const struct json *object, const char *const *keys, struct err *err)
{
	char quoted[NAME_QUOTED_MAX];

	if (json_type(object) != JSON_OBJECT)
		return not_an_object(object, err);
	json_each(child, object) if (!listed(json_key(child), keys)) return err_set(
		err, ERR_INVALID, "unknown member %s", json_name_quoted(json_key(child), quoted));
	return 0;
}
