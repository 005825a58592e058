/*
 * Every record the broker writes, one function each (fields: include/writ/record.h). Each returns
 * the record's number, or UINT64_MAX when the log took nothing; the caller asks broker_log_works()
 * or waits with audit_when_durable() to learn why.
 */
#ifndef BROKER_TRAIL_H
#define BROKER_TRAIL_H

#include "broker/broker.h"
#include "writ/record.h"

#define TRAIL_NONE UINT64_MAX

/* Adds src and appends; fields and secrets (may be NULL) are taken. */
uint64_t trail_append(struct broker *broker, const char *event, struct json *fields,
		      struct json *secrets);

void trail_service_start(struct broker *broker, const struct audit_opened *opened);
void trail_service_stop(struct broker *broker, const char *cause);
/* why NULL: the bundle in force is the broker's config. */
void trail_policy_load(struct broker *broker, const struct err *why);
void trail_session_open(const struct session *session);
void trail_session_refused(struct broker *broker, int64_t uid, const char *code);
void trail_channel_refused(const struct peer *peer, const char *code);

/* The task keeps the number. */
uint64_t trail_task_open(struct task *task, const char *question, const char *workflow,
			 bool seeded);
/* contents is lent and committed under the name. */
uint64_t trail_task_event(struct task *task, const char *event, const char *agent,
			  const char *status, const char *name, const struct json *contents);
/* answer (may be NULL) is lent; ret_disclosures as in audit_append(), may be NULL. */
uint64_t trail_task_close(struct task *task, const char *status, const char *reason,
			  const struct json *answer, struct json **ret_disclosures);
uint64_t trail_token_issue(struct agent *agent, const struct token_claims *claims,
			   const char *token);
struct revocation {
	const char *by; /* a pseudonym, or "broker" */
	const char *cause;
	int64_t count;
	const char *jti; /* what was chosen; the others are NULL */
	const char *task;
	const char *agent;
	const char *su;
};
struct approval_row;
uint64_t trail_approval(struct broker *broker, const struct approval_row *row, const char *id,
			bool give, const char *by);
uint64_t trail_token_revoke(struct broker *broker, const struct revocation *revocation);

void task_note_record(struct task *task, uint64_t seq);

#endif
