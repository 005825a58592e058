/*
 * The frame of an agent that works through tools: read this first.
 *
 * A turn holds the agent's channel, its token, what is left of its budget and its deadline. It
 * makes one tool call at a time and shows each one to the trace. The broker counts and decides; the
 * turn only keeps an agent from asking for what it knows to be used up.
 *
 *   start fails    => nothing is called, fd is closed
 *   start succeeds => first on_token or on_end, later
 *   a call         => done is called once, later; or, when the turn ends first, on_end instead
 *   on_end         => at most once: the channel is gone, the time is up, a call could not be made;
 *                     nothing is called afterwards
 *   turn_close     => nothing is called afterwards; the turn frees itself
 */
#ifndef AGENTS_TURN_H
#define AGENTS_TURN_H

#include <uv.h>

#include "agents/handoff.h"
#include "base/channel.h"

struct turn;

/* A failed tool call, in the words of docs/protocol.md, "Error". */
struct tool_error {
	const char *text; /* verbatim; lent */
	const char *by;	  /* database, statement, limit, policy, budget, token, ... */
	const char *hint; /* the next action */
	const char *approval; /* a person's approval would allow it: its id; NULL otherwise */
};

struct turn_handlers {
	void (*on_token)(void *owner, const struct json *token);
	/* kind: ERR_TIMEOUT (the task's time), ERR_CANCELED (turn_cancel), ERR_LIMIT (tool calls),
	 * ERR_UNAVAILABLE (the broker), ERR_DENIED (no token) */
	void (*on_end)(void *owner, const struct err *why);
};

/* result is set when the call went well, error otherwise. Both are lent. */
typedef void turn_done(void *owner, const struct json *result, const struct tool_error *error);

MUST_CHECK int turn_start(uv_loop_t *loop, int fd, const char *name,
			  const struct turn_handlers *handlers, trace_fn *trace, void *trace_data,
			  void *owner, struct turn **ret_turn, struct err *err);
void turn_close(struct turn *turn); /* NULL is fine */

/* arguments are taken; shown is what the trace says of the call. */
void turn_call(struct turn *turn, const char *tool, struct json *arguments, const char *shown,
	       turn_done *done);
/* Stops the running call, if any, and leads to on_end with ERR_CANCELED, soon, from the loop. */
void turn_cancel(struct turn *turn);

bool turn_may(const struct turn *turn, const char *tool); /* the token names the tool */
const char *turn_jti(const struct turn *turn);		  /* NULL before the token */
int64_t turn_calls_left(const struct turn *turn);
int64_t turn_calls_made(const struct turn *turn);
int64_t turn_attempts_left(const struct turn *turn); /* as of the token; not counted down here */
int64_t turn_scan_left(const struct turn *turn);     /* bytes; INT64_MAX when not limited */
int64_t turn_scanned(const struct turn *turn);	     /* bytes of all calls so far */
/* For a helper that makes calls of its own on the channel. */
struct channel *turn_channel(struct turn *turn);
void turn_count_calls(struct turn *turn, int64_t calls, int64_t bytes_scanned);
void turn_trace(const struct turn *turn, const char *event, const char *text,
		const struct json *detail);

#endif
