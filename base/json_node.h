/*
 * What the files of the JSON door share; nobody else includes this.
 *
 * A struct json is a cJSON node. Two things are ours: the flag NODE_REAL tells 1.0 from 1, which
 * cJSON's doubles cannot, and strings are always valid UTF-8 without NUL. cJSON's own parser and
 * printer are never called.
 */
#ifndef BASE_JSON_NODE_H
#define BASE_JSON_NODE_H

#include <cjson/cJSON.h>

#include "base/json.h"

#define NODE_REAL (1 << 10) /* above every flag of cJSON's; its type tests look at the low byte */

static inline cJSON *node_of(struct json *json)
{
	return (cJSON *)(void *)json;
}

static inline const cJSON *node_of_const(const struct json *json)
{
	return (const cJSON *)(const void *)json;
}

static inline struct json *json_of(cJSON *node)
{
	return (struct json *)(void *)node;
}

static inline const struct json *json_of_const(const cJSON *node)
{
	return (const struct json *)(const void *)node;
}

void *json_or_abort(void *memory); /* for sizes we chose */

/* The children in the order of RFC 8785: names by UTF-16 code unit, equal names in their order.
 * Returns an array for cJSON_free(), or NULL when memory is out. */
const cJSON **json_sorted(const cJSON *object, size_t *ret_count);

/* A name for an error text: quoted, cut, control characters replaced; no allocation. */
#define NAME_QUOTED_MAX 80
const char *json_name_quoted(const char *name, char out[NAME_QUOTED_MAX]);

#endif
