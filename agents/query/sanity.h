/*
 * The checks of checks.h, with their probe run through the agent's own channel: under its token, in
 * its scope, counted in its budget. A probe that is refused or fails leaves the verdict open and
 * says so in a note.
 *
 *   done is called exactly once, later or at once: flags is the caller's to free.
 */
#ifndef AGENTS_QUERY_SANITY_H
#define AGENTS_QUERY_SANITY_H

#include "agents/query/checks.h"
#include "base/channel.h"

typedef void sanity_done(void *data, struct json *flags, int tool_calls);

/* input and result are lent until done; channel carries tool.call to the broker. */
void sanity_start(struct channel *channel, const struct checks_input *input,
		  const struct json *result, sanity_done *done, void *data);

#endif
