/* The table of allowed moves behind call_move(); nothing here can fail. */
#include "broker/call_state.h"

#include <stddef.h>

#define TO(state) (1u << (state))

static const struct {
	const char *name;
	unsigned int next;
} states[CALL_STATE_COUNT] = {
	[CALL_RECEIVED] = {"RECEIVED", TO(CALL_TOKEN) | TO(CALL_DECIDED)},
	[CALL_TOKEN] = {"TOKEN", TO(CALL_PREPARED) | TO(CALL_DECIDED)},
	[CALL_PREPARED] = {"PREPARED", TO(CALL_DECIDED)},
	[CALL_DECIDED] = {"DECIDED", TO(CALL_INTENT)},
	[CALL_INTENT] = {"INTENT", TO(CALL_EXECUTING) | TO(CALL_RECORDED)},
	[CALL_EXECUTING] = {"EXECUTING", TO(CALL_RECORDED)},
	[CALL_RECORDED] = {"RECORDED", TO(CALL_DURABLE) | TO(CALL_REPLIED)},
	[CALL_DURABLE] = {"DURABLE", TO(CALL_REPLIED) | TO(CALL_RECORDED)},
	[CALL_REPLIED] = {"REPLIED", 0},
};

const char *call_state_name(enum call_state state)
{
	return states[state].name;
}

bool call_state_may_follow(enum call_state from, enum call_state to)
{
	return (states[from].next & TO(to)) != 0;
}
