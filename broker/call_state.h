/*
 * The states of one tool call, as data.
 *
 *   RECEIVED --> TOKEN --> PREPARED --> DECIDED --> INTENT --> EXECUTING --> RECORDED
 *      |           |           |           ^           |                        | ^
 *      +-----------+-----------+-(refused)-+           +-----(denied)-----------+ | withheld
 *                                                                               v |
 *                                                           REPLIED <-------- DURABLE
 *
 * A refusal at any point is a decision too: it goes through DECIDED and INTENT like an allowed
 * call, so no call ends without its record. RECORDED -> REPLIED is the one way around DURABLE: the
 * log has stopped, and the reply says only that.
 */
#ifndef BROKER_CALL_STATE_H
#define BROKER_CALL_STATE_H

#include <stdbool.h>

enum call_state {
	CALL_RECEIVED,	/* asked for */
	CALL_TOKEN,	/* the agent's token is good now: budget and arguments come next */
	CALL_PREPARED,	/* what the call would touch is known */
	CALL_DECIDED,	/* allowed or refused */
	CALL_INTENT,	/* the intent record is queued */
	CALL_EXECUTING, /* at the connector */
	CALL_RECORDED,	/* the last record of the call is queued */
	CALL_DURABLE,	/* all its records are durable and signed */
	CALL_REPLIED,	/* answered, or nobody is left to answer */
	CALL_STATE_COUNT,
};

const char *call_state_name(enum call_state state);
bool call_state_may_follow(enum call_state from, enum call_state to);

#endif
