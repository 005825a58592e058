/* A short list; see restarts.h. Cannot fail. */
#include "broker/restarts.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text == NULL ? "" : text);
}

void restarts_add(struct restarts *restarts, int64_t now_us, const struct json *message)
{
	struct restart *restart;

	if (restarts->count == RESTARTS_MAX) {
		memmove(&restarts->items[0], &restarts->items[1],
			(RESTARTS_MAX - 1) * sizeof(restarts->items[0]));
		restarts->count--;
	}
	restart = &restarts->items[restarts->count++];
	restart->at_us = now_us;
	copy(restart->program, sizeof(restart->program), json_get_str(message, "ended"));
	copy(restart->why, sizeof(restart->why), json_get_str(message, "why"));
}

struct json *restarts_status(const struct restarts *restarts)
{
	struct json *list = json_array();

	for (size_t i = 0; i < restarts->count; i++) {
		const struct restart *restart = &restarts->items[i];
		struct json *item = json_object();
		char at[TIMESTAMP_LEN + 1];

		timestamp_write(restart->at_us, at);
		json_set_str(item, "program", restart->program);
		json_set_str(item, "at", at);
		json_set_str(item, "why", restart->why);
		json_push(list, item);
	}
	return list;
}
