/*
 * Scope tokens of agents: issuing them through the signer, and checking the one an agent holds.
 *
 *   token.issue -> claims from the bundle -> (a child: rules I1 to I6) -> signer -> verified when
 * it comes back -> row in broker.db, with the parent looked at again -> cached -> record -> reply
 */
#ifndef BROKER_GRANT_H
#define BROKER_GRANT_H

#include "broker/broker.h"

/* Starts issuing; the answer goes to request id of the agent's channel. */
void grant_issue(struct agent *agent, int64_t id);

/* The claims of the agent's token if it counts now: verified, not revoked, in its time, of this
 * agent and task. Lent until the next token is looked at. ERR_DENIED otherwise. */
MUST_CHECK int grant_check(const struct agent *agent, const struct token_claims **ret_claims,
			   struct err *err);

/*
 * Marks tokens in the store, keeps agents in memory from getting new ones, cancels their running
 * calls and appends the record. ret_seq is TRAIL_NONE when the log has stopped: revoking works even
 * then. by is a pseudonym or "broker".
 */
MUST_CHECK int grant_revoke(struct broker *broker, const struct token_selector *selector,
			    const char *cause, const char *by, int64_t *ret_count,
			    uint64_t *ret_seq, struct err *err);

/* {"tool_calls_left",...} of the agent. */
struct json *grant_limits_left(const struct agent *agent);

#endif
