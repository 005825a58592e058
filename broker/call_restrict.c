/*
 * What the policy keeps back of a call's tables (docs/protocol.md, "connector"): handed to the
 * connector with its view, remembered while the call runs, told with the result. A call goes by the
 * restrictions that its statement was prepared under; when they are others by the time it is
 * decided on, or by the time its result is ready, it is refused.
 */
#include <string.h>
#include <strings.h>

#include "broker/call_model.h"

static const char *const members[] = {"rows", "masks", "require"};

static char *restrictions_text(const struct json *view)
{
	CLEANUP(json_freep) struct json *kept = json_object();
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_get(view, members[i]) != NULL)
			json_set(kept, members[i], json_copy(json_get(view, members[i])));
	json_write_canonical(kept, &text);
	return buf_take(&text);
}

static bool has_hash(const struct json *view)
{
	json_each(table, json_get(view, "masks"))
	{
		json_each(mask, table)
		{
			if (strcmp(json_str(mask), "hash") == 0)
				return true;
		}
	}
	return false;
}

struct json *call_connector_view(struct call *call)
{
	const struct json *own = call_own_view(call, call->database);
	struct json *view = json_copy(own);
	uint8_t key[TOKEN_STORE_KEY_LEN];
	char hex[2 * TOKEN_STORE_KEY_LEN + 1];

	mem_free(call->restrictions);
	call->restrictions = restrictions_text(own);
	if (!has_hash(own))
		return view;
	token_store_mask_key(call->broker->store, call->database, key);
	hex_write(key, sizeof(key), hex);
	json_set_str(view, "mask_key", hex);
	bytes_wipe(key, sizeof(key));
	bytes_wipe(hex, sizeof(hex));
	return view;
}

bool call_restrictions_hold(const struct call *call)
{
	CLEANUP(mem_freep) char *now = NULL;

	if (call->restrictions == NULL)
		return true; /* nothing was asked of a connector */
	now = restrictions_text(call_own_view(call, call->database));
	return strcmp(now, call->restrictions) == 0;
}

static bool touches(const struct call *call, const char *table)
{
	for (size_t i = 0; i < call->tables.count; i++)
		if (strcasecmp(call->tables.items[i], table) == 0)
			return true;
	return false;
}

static void add_masked(const struct call *call, const struct json *table, struct json *list)
{
	json_each(mask, table)
	{
		CLEANUP(mem_freep)
		char *column = mem_format("%s.%s", json_key(table), json_key(mask));

		for (size_t i = 0; i < call->columns.count; i++)
			if (strcasecmp(call->columns.items[i], column) == 0)
				json_push_str(list, call->columns.items[i]);
	}
}

void call_tell_restrictions(struct call *call)
{
	CLEANUP(json_freep) struct json *kept = NULL;
	CLEANUP(json_freep) struct json *rows = json_array();
	CLEANUP(json_freep) struct json *masks = json_array();
	struct json *told;
	struct err err;

	if (call->restrictions == NULL || json_parse_str(call->restrictions, &kept, &err) < 0)
		return;
	json_each(table, json_get(kept, "rows")) if (touches(call, json_key(table)))
		json_push_str(rows, json_key(table));
	json_each(table, json_get(kept, "masks")) add_masked(call, table, masks);
	if (json_len(rows) + json_len(masks) == 0)
		return;
	told = json_object();
	json_set(told, "rows", TAKE(rows));
	json_set(told, "masks", TAKE(masks));
	json_set(call->result, "restricted", told);
}
