/* A handoff as JSON, and its end. */
#include "agents/handoff.h"

#include <string.h>

static void set_copy(struct json *to, const char *key, const struct json *value)
{
	json_set(to, key, value != NULL ? json_copy(value) : json_object());
}

struct json *handoff_to_json(const struct handoff *handoff)
{
	struct json *json = json_object();

	json_set_str(json, "task", handoff->task);
	json_set_str(json, "to", handoff->to);
	json_set_str(json, "objective", handoff->objective);
	json_set_str(json, "expected_output", handoff->expected_output);
	set_copy(json, "context", handoff->context);
	set_copy(json, "constraints", handoff->constraints);
	return json;
}

void handoff_clear(struct handoff *handoff)
{
	json_free(handoff->context);
	json_free(handoff->constraints);
	memset(handoff, 0, sizeof(*handoff));
}
