/*
 * Building a tree. Nothing here fails: memory for what we build ourselves is there or the process
 * ends, and a text that a peer would refuse is mended first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_node.h"
#include "base/utf8.h"

void *json_or_abort(void *memory)
{
	static const char text[] = "out of memory for JSON\n";

	if (memory == NULL) {
		IGNORE(write(STDERR_FILENO, text, sizeof(text) - 1) < 0, "aborting anyway");
		abort();
	}
	return memory;
}

static cJSON *new_node(int type)
{
	cJSON *node = json_or_abort(cJSON_CreateNull());

	node->type = type;
	return node;
}

struct json *json_object(void)
{
	return json_of(new_node(cJSON_Object));
}

struct json *json_array(void)
{
	return json_of(new_node(cJSON_Array));
}

struct json *json_new_null(void)
{
	return json_of(new_node(cJSON_NULL));
}

/* Every byte that is not UTF-8, and NUL, becomes U+FFFD (three bytes): a peer would refuse it. */
static char *clean_text(const char *text, size_t len)
{
	size_t bad = 0, step;
	char *copy, *out;

	if (utf8_plain_len(text, len) == len) { /* nearly always */
		copy = json_or_abort(cJSON_malloc(len + 1));
		memcpy(copy, text, len);
		copy[len] = '\0';
		return copy;
	}

	for (size_t at = 0; at<len; at += step> 0 ? step : 1) {
		step = utf8_char_len(text + at, len - at);
		bad += step == 0 || text[at] == '\0';
	}
	copy = out = json_or_abort(cJSON_malloc(len + bad * strlen(JSON_REPLACEMENT) + 1));
	for (size_t at = 0; at<len; at += step> 0 ? step : 1) {
		step = utf8_char_len(text + at, len - at);
		if (step == 0 || text[at] == '\0')
			out = mempcpy(out, JSON_REPLACEMENT, strlen(JSON_REPLACEMENT));
		else
			out = mempcpy(out, text + at, step);
	}
	*out = '\0';
	return copy;
}

struct json *json_new_strn(const char *text, size_t len)
{
	cJSON *node;

	if (text == NULL)
		return json_new_null();
	node = new_node(cJSON_String);
	node->valuestring = clean_text(text, len);
	return json_of(node);
}

struct json *json_new_str(const char *text)
{
	return json_new_strn(text, text != NULL ? strlen(text) : 0);
}

struct json *json_new_int(int64_t value)
{
	char text[24];
	cJSON *node;

	if (value > JSON_INT_MAX || value < -JSON_INT_MAX) {
		snprintf(text, sizeof(text), "%" PRId64, value);
		return json_new_str(text);
	}
	node = new_node(cJSON_Number);
	node->valuedouble = (double)value;
	return json_of(node);
}

struct json *json_new_real(double value)
{
	cJSON *node;

	if (!isfinite(value))
		return json_new_null();
	node = new_node(cJSON_Number | NODE_REAL);
	node->valuedouble = value;
	return json_of(node);
}

struct json *json_new_bool(bool value)
{
	return json_of(new_node(value ? cJSON_True : cJSON_False));
}

static void name_node(cJSON *node, const char *key)
{
	cJSON_free(node->string);
	node->string = key != NULL ? clean_text(key, strlen(key)) : NULL;
}

void json_set(struct json *object, const char *key, struct json *child)
{
	cJSON *old = node_of(json_get_mut(object, key));
	cJSON *node = node_of(child != NULL ? child : json_new_null());

	name_node(node, key);
	if (old != NULL)
		cJSON_ReplaceItemViaPointer(node_of(object), old, node);
	else
		cJSON_AddItemToArray(node_of(object), node);
}

void json_set_str(struct json *object, const char *key, const char *text)
{
	json_set(object, key, json_new_str(text));
}

void json_set_int(struct json *object, const char *key, int64_t value)
{
	json_set(object, key, json_new_int(value));
}

void json_set_real(struct json *object, const char *key, double value)
{
	json_set(object, key, json_new_real(value));
}

void json_set_bool(struct json *object, const char *key, bool value)
{
	json_set(object, key, json_new_bool(value));
}

void json_set_null(struct json *object, const char *key)
{
	json_set(object, key, json_new_null());
}

void json_push(struct json *array, struct json *child)
{
	cJSON *node = node_of(child != NULL ? child : json_new_null());

	name_node(node, NULL);
	cJSON_AddItemToArray(node_of(array), node);
}

void json_push_str(struct json *array, const char *text)
{
	json_push(array, json_new_str(text));
}

void json_push_int(struct json *array, int64_t value)
{
	json_push(array, json_new_int(value));
}

void json_remove(struct json *object, const char *key)
{
	cJSON *node = node_of(json_get_mut(object, key));

	if (node != NULL)
		cJSON_Delete(cJSON_DetachItemViaPointer(node_of(object), node));
}

struct json *json_copy(const struct json *json)
{
	cJSON *copy;

	if (json == NULL)
		return json_new_null();
	copy = json_or_abort(cJSON_Duplicate(node_of_const(json), true));
	cJSON_free(copy->string);
	copy->string = NULL;
	return json_of(copy);
}
