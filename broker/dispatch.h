/* The one way from a message to what it does: the table in dispatch.c. */
#ifndef BROKER_DISPATCH_H
#define BROKER_DISPATCH_H

#include "broker/broker.h"

/* Runs the method's handler, or refuses, records and closes. The peer may be gone afterwards. */
void dispatch(struct peer *peer, int64_t id, const char *method, const struct json *params);

/* For tests: may this kind of channel call the method? */
bool dispatch_allows(enum peer_kind kind, const char *method);
const char *dispatch_method_at(size_t index); /* NULL behind the last */

/* Handlers, one file per family. params is an object, lent. */
void req_task_reserve(struct peer *peer, int64_t id, const struct json *params);
void req_task_open(struct peer *peer, int64_t id, const struct json *params);
void req_task_event(struct peer *peer, int64_t id, const struct json *params);
void req_task_close(struct peer *peer, int64_t id, const struct json *params);
void req_agent_start(struct peer *peer, int64_t id, const struct json *params);
void req_approval_list(struct peer *peer, int64_t id, const struct json *params);
void req_approval_give(struct peer *peer, int64_t id, const struct json *params);
void req_approval_refuse(struct peer *peer, int64_t id, const struct json *params);
void req_token_list(struct peer *peer, int64_t id, const struct json *params);
void req_token_revoke(struct peer *peer, int64_t id, const struct json *params);
void req_token_issue(struct peer *peer, int64_t id, const struct json *params);
void req_status(struct peer *peer, int64_t id, const struct json *params);
void req_audit_note(struct peer *peer, int64_t id, const struct json *params);
void req_audit_lines(struct peer *peer, int64_t id, const struct json *params);
void req_audit_openings(struct peer *peer, int64_t id, const struct json *params);
void req_audit_prove(struct peer *peer, int64_t id, const struct json *params);
void req_audit_redact(struct peer *peer, int64_t id, const struct json *params);
void req_audit_hold(struct peer *peer, int64_t id, const struct json *params);
void req_audit_anchor(struct peer *peer, int64_t id, const struct json *params);
void req_tool_list(struct peer *peer, int64_t id, const struct json *params);
void req_tool_call(struct peer *peer, int64_t id, const struct json *params);
void req_tool_cancel(struct peer *peer, int64_t id, const struct json *params);

#endif
