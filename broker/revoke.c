/*
 * Revoking: the store marks the subtree, then everyone in memory who was chosen, or whose token is
 * marked now, loses the right to get another one, and their running calls are cancelled. What ends
 * is what exists: a task opened afterwards starts with the rights of policy and user map.
 */
#include <string.h>

#include "broker/agent.h"
#include "broker/call.h"
#include "broker/grant.h"
#include "broker/trail.h"

static bool chosen(const struct token_selector *selector, const struct agent *agent)
{
	const struct session *session = agent->peer.session;

	if (selector->sub != NULL && strcmp(selector->sub, session->su) != 0)
		return false;
	switch (selector->by) {
	case TOKEN_BY_TASK:
		return strcmp(selector->value, agent->task->id) == 0;
	case TOKEN_BY_AGENT:
		return strcmp(selector->value, agent->name) == 0;
	case TOKEN_BY_USER:
		return strcmp(selector->value, session->su) == 0;
	case TOKEN_BY_JTI:
	case TOKEN_BY_KID:
		break; /* by the rows alone */
	}
	return false;
}

static void mark_agent(struct broker *broker, const struct token_selector *selector,
		       struct agent *agent)
{
	struct err err = {0};

	if (agent->token != NULL)
		IGNORE(token_store_check(broker->store, agent->token->jti, broker_now_s(broker),
					 &err) < 0,
		       "the kind tells a revoked token from one that merely ended");
	if ((err.kind == ERR_NONE || err.kind == ERR_TIMEOUT) && !chosen(selector, agent))
		return;
	agent->revoked = true;
	calls_cancel(agent, CANCEL_REVOKED);
}

/* An agent that is started later in a revoked task gets nothing either. */
static void mark_task(const struct token_selector *selector, struct task *task)
{
	const struct session *session = task->session;

	if (selector->sub != NULL && strcmp(selector->sub, session->su) != 0)
		return;
	if ((selector->by == TOKEN_BY_TASK && strcmp(selector->value, task->id) == 0) ||
	    (selector->by == TOKEN_BY_USER && strcmp(selector->value, session->su) == 0))
		task->revoked = true;
}

static void mark_memory(struct broker *broker, const struct token_selector *selector)
{
	for (struct session *session = broker->sessions; session != NULL; session = session->next) {
		for (struct task *task = session->tasks; task != NULL; task = task->next) {
			mark_task(selector, task);
			for (struct agent *agent = task->agents; agent != NULL; agent = agent->next)
				mark_agent(broker, selector, agent);
		}
	}
}

int grant_revoke(struct broker *broker, const struct token_selector *selector, const char *cause,
		 const char *by, int64_t *ret_count, uint64_t *ret_seq, struct err *err)
{
	int64_t count;
	struct revocation revocation = {.by = by, .cause = cause};

	if (token_store_revoke(broker->store, selector, cause, true, broker_now_s(broker), &count,
			       err) < 0)
		return -1;
	mark_memory(broker, selector);
	revocation.count = count;
	revocation.jti = selector->by == TOKEN_BY_JTI ? selector->value : NULL;
	revocation.task = selector->by == TOKEN_BY_TASK ? selector->value : NULL;
	revocation.agent = selector->by == TOKEN_BY_AGENT ? selector->value : NULL;
	revocation.su = selector->by == TOKEN_BY_USER ? selector->value : NULL;
	*ret_seq = trail_token_revoke(broker, &revocation);
	*ret_count = count;
	return 0;
}
