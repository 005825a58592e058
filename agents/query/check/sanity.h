/*
 * The checks of checks.h, with their probe run through the agent's own channel: under its token, in
 * its scope, counted in its budget. A probe that is refused or fails leaves the verdict open and
 * says so in a note. Tables that the input does not describe are described first (describe_table),
 * as far as a verdict depends on their keys.
 *
 *   done is called exactly once, later or at once: flags is the caller's to free.
 */
#ifndef AGENTS_QUERY_SANITY_H
#define AGENTS_QUERY_SANITY_H

#include "agents/query/check/checks.h"
#include "base/channel.h"

#define SANITY_DESCRIBE_MAX 4 /* calls; a budget of six has to do for the question as well */

struct sanity_spent {
	int tool_calls;
	int64_t bytes_scanned;
	const struct json *verdicts; /* checks_verdicts(); lent until done returns */
};

typedef void sanity_done(void *data, struct json *flags, const struct sanity_spent *spent);

/* input and result are lent until done; channel carries tool.call to the broker. */
void sanity_start(struct channel *channel, const struct checks_input *input,
		  const struct json *result, sanity_done *done, void *data);

#endif
