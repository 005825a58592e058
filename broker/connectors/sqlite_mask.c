/*
 * Small scalar functions. What can fail: memory, a view without what it refers to; then the
 * statement fails and shows nothing.
 */
#include "broker/connectors/sqlite_mask.h"

#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/utf8.h"

#define HASH_DIGITS 16
#define LAST_LEN_MIN 8 /* of shorter texts four characters would be too much */

static const struct bound_values *values_of(sqlite3_context *context)
{
	const struct bound_values *const *values = sqlite3_user_data(context);

	return *values;
}

static void writ_bound(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	const struct bound_values *bound = values_of(context);
	const struct json *value =
		bound ? json_at(bound->values, (size_t)sqlite3_value_int64(arguments[0])) : NULL;

	(void)count;
	if (json_type(value) == JSON_INT)
		sqlite3_result_int64(context, json_int(value));
	else if (json_type(value) == JSON_STRING)
		sqlite3_result_text(context, json_str(value), -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_error(context, "a restriction has no value", -1);
}

/* Where the last MASK_SHOWN characters begin, or NULL when the text is too short. */
static const char *last_characters(const char *text, size_t len)
{
	size_t characters = 0;
	const char *last = text + len;

	while (last > text) {
		last--;
		if (((unsigned char)*last & 0xC0) == 0x80)
			continue;
		if (++characters == MASK_SHOWN)
			break;
	}
	for (const char *c = text; c < last; c++)
		characters += ((unsigned char)*c & 0xC0) != 0x80;
	return characters < LAST_LEN_MIN ? NULL : last;
}

static void writ_last4(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	const char *text, *last = NULL;
	char shown[4 + 4 * MASK_SHOWN + 1];
	size_t len;

	(void)count;
	if (sqlite3_value_type(arguments[0]) == SQLITE_NULL)
		return;
	text = (const char *)sqlite3_value_text(arguments[0]);
	len = (size_t)sqlite3_value_bytes(arguments[0]);
	if (text && utf8_valid(text, len))
		last = last_characters(text, len);
	sqlite3_snprintf(sizeof(shown), shown, "****%s", last ? last : "");
	sqlite3_result_text(context, shown, -1, SQLITE_TRANSIENT);
}

static void writ_redact(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	(void)count;
	if (sqlite3_value_type(arguments[0]) != SQLITE_NULL)
		sqlite3_result_text(context, "[redacted]", -1, SQLITE_STATIC);
}

static void writ_hash(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	const struct bound_values *bound = values_of(context);
	uint8_t digest[32];
	char hex[HASH_DIGITS + 1];
	const void *bytes;

	(void)count;
	if (sqlite3_value_type(arguments[0]) == SQLITE_NULL)
		return;
	if (!bound || !bound->has_mask_key) {
		sqlite3_result_error(context, "a restriction has no key", -1);
		return;
	}
	bytes = sqlite3_value_type(arguments[0]) == SQLITE_BLOB ? sqlite3_value_blob(arguments[0])
								: sqlite3_value_text(arguments[0]);
	blake2b_256(bytes ? bytes : "", (size_t)sqlite3_value_bytes(arguments[0]), bound->mask_key,
		    MASK_KEY_LEN, digest);
	hex_write(digest, HASH_DIGITS / 2, hex);
	sqlite3_result_text(context, hex, -1, SQLITE_TRANSIENT);
}

static const struct {
	const char *name;
	void (*run)(sqlite3_context *context, int count, sqlite3_value **arguments);
} functions[] = {
	{"writ_bound", writ_bound},
	{"writ_last4", writ_last4},
	{"writ_redact", writ_redact},
	{"writ_hash", writ_hash},
};

int mask_functions_add(sqlite3 *sqlite, const struct bound_values *const *values)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(functions); i++)
		rc = sqlite3_create_function_v2(sqlite, functions[i].name, 1, flags,
						(void *)(uintptr_t)values, functions[i].run, NULL,
						NULL, NULL);
	return rc;
}

bool mask_function_is(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (sqlite3_stricmp(functions[i].name, name) == 0)
			return true;
	return false;
}
