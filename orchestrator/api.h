/*
 * The handlers of a person's connection, by family. params were checked against the row of the
 * table in api.c: each member has its type, and those a method needs are there. A handler answers
 * id itself, now or later, or fails; then api.c answers with the error.
 */
#ifndef ORCHESTRATOR_API_H
#define ORCHESTRATOR_API_H

#include "orchestrator/orchestrator.h"

#define API_BROKER_MS 15000 /* what the broker answers at once, with a flush at most */

typedef int api_handler(struct session *session, int64_t id, const struct json *params,
			struct err *err);

/* api_tasks.c */
api_handler api_ask, api_task_list, api_task_show, api_task_answer, api_task_cancel;
/* api_forward.c: what the broker answers */
api_handler api_token_list, api_token_revoke, api_status;
api_handler api_audit_note, api_audit_lines, api_audit_openings, api_audit_prove, api_audit_redact,
	api_audit_hold, api_audit_anchor;
api_handler api_approval_list, api_approval_give, api_approval_refuse;
/* api_calls.c: single tool calls */
api_handler api_call, api_mcp_open, api_mcp_call, api_mcp_cancel;

#endif
