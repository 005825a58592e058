/* One objective of one user: its budgets, its agents, its tokens, and the time it has. */
#ifndef BROKER_TASK_H
#define BROKER_TASK_H

#include "broker/broker.h"

/*
 * A name for a task of this session that is opened later; lent. Only the last TASK_NAMES_MAX that
 * were not used yet can still be.
 */
#define TASK_NAMES_MAX 1024 /* four times the questions that one connection can have open */
const char *task_reserve(struct session *session);
/* True if the name was reserved in this session; it is no more. */
bool task_take_name(struct session *session, const char *id);
void task_names_free(struct session *session);

/* id: a name that was taken, or NULL for a new one. */
struct task *task_open(struct session *session, const char *kind, const char *id);
struct task *task_find(const struct session *session,
		       const char *id); /* NULL: not this session's */

/* Nothing new may be begun: TASK_RECORDS_MAX records are its most. Then true, with what to do. */
bool task_is_full(const struct task *task, struct err *ret_why);

/* The counters of one agent's name in this task, made at its first start. */
struct agent_use *task_use(struct task *task, const char *agent);
/* Milliseconds left for the agent in this task; 0 when its time or the task's is up. */
int64_t task_time_left(const struct task *task, const struct agent_use *use,
		       const struct task_budget *budget);

const struct held_token *task_token(const struct task *task, const char *jti); /* NULL: none */
/* Keeps copies; NULL when the task has TOKENS_PER_TASK_MAX already. */
const struct held_token *task_hold_token(struct task *task, const char *jti, const char *text,
					 const char *agent);

/*
 * Ends the task: calls are cancelled, agents lose their channels, tokens are revoked, and the
 * record is appended. Returns its number. The task is still there; free it with task_free().
 */
uint64_t task_end(struct task *task, const char *status, const char *reason,
		  const struct json *answer, struct json **ret_disclosures);
void task_free(struct task *task);
/* Both at once, for a task whose session went away. */
void task_abandon(struct task *task, const char *cause);

#endif
