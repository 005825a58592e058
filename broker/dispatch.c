/*
 * The heart of the broker: which method exists, which kinds of channel may call it, and what must
 * hold before its handler runs. A method that is not here, or not for this kind of channel, is
 * answered with a refusal, recorded, and costs the caller its channel: our own programs never send
 * one, so whoever does is broken or taken over.
 *
 * To add a method: a row here, a handler req_<family>_<verb>() in req_<family>.c, a line in
 * docs/protocol.md and a row in the test's table.
 */
#include "broker/dispatch.h"

#include <string.h>

#include "broker/agent.h"
#include "broker/peer.h"
#include "broker/session.h"
#include "broker/trail.h"

#define FROM(kind) (1u << (kind))

enum {
	NEEDS_LOG = 1,	  /* leads to a record that must not be lost */
	NEEDS_OPEN = 2,	  /* new work: not while the service stops */
	NOTIFICATION = 4, /* has no answer */
};

static const struct row {
	const char *method;
	unsigned int kinds;
	unsigned int flags;
	void (*handler)(struct peer *peer, int64_t id, const struct json *params);
} table[] = {
	{"task.reserve", FROM(PEER_SESSION), NEEDS_OPEN, req_task_reserve},
	{"task.open", FROM(PEER_SESSION), NEEDS_LOG | NEEDS_OPEN, req_task_open},
	{"task.event", FROM(PEER_SESSION), NEEDS_LOG, req_task_event},
	{"task.close", FROM(PEER_SESSION), 0, req_task_close},
	{"agent.start", FROM(PEER_SESSION), NEEDS_LOG | NEEDS_OPEN, req_agent_start},
	{"token.list", FROM(PEER_SESSION), 0, req_token_list},
	{"token.revoke", FROM(PEER_SESSION), 0, req_token_revoke},
	{"approval.list", FROM(PEER_SESSION), 0, req_approval_list},
	{"approval.give", FROM(PEER_SESSION), NEEDS_LOG, req_approval_give},
	{"approval.refuse", FROM(PEER_SESSION), NEEDS_LOG, req_approval_refuse},
	{"status", FROM(PEER_SESSION), 0, req_status},
	{"audit.note", FROM(PEER_SESSION), NEEDS_LOG, req_audit_note},
	{"audit.lines", FROM(PEER_SESSION), NEEDS_LOG, req_audit_lines},
	{"audit.openings", FROM(PEER_SESSION), NEEDS_LOG, req_audit_openings},
	{"audit.prove", FROM(PEER_SESSION), NEEDS_LOG, req_audit_prove},
	{"audit.redact", FROM(PEER_SESSION), NEEDS_LOG, req_audit_redact},
	{"audit.hold", FROM(PEER_SESSION), NEEDS_LOG, req_audit_hold},
	{"audit.anchor", FROM(PEER_SESSION), NEEDS_LOG, req_audit_anchor},
	{"token.issue", FROM(PEER_AGENT), NEEDS_LOG | NEEDS_OPEN, req_token_issue},
	{"tool.list", FROM(PEER_AGENT), 0, req_tool_list},
	{"tool.call", FROM(PEER_AGENT), NEEDS_OPEN,
	 req_tool_call}, /* answers a stopped log itself */
	{"tool.cancel", FROM(PEER_AGENT), NOTIFICATION, req_tool_cancel},
};

static const struct row *row_find(const char *method)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (strcmp(table[i].method, method) == 0)
			return &table[i];
	}
	return NULL;
}

bool dispatch_allows(enum peer_kind kind, const char *method)
{
	const struct row *row = row_find(method);

	return row != NULL && (row->kinds & FROM(kind)) != 0;
}

const char *dispatch_method_at(size_t index)
{
	return index < ARRAY_LEN(table) ? table[index].method : NULL;
}

static void refuse(struct peer *peer, int64_t id, const char *code)
{
	peer_fail(peer, id, ERR_DENIED, "this channel may not call that method");
	trail_channel_refused(peer, code);
	if (peer->kind == PEER_AGENT)
		agent_close(peer->agent);
	else
		session_close(peer->session, "refused");
}

static bool ready(struct peer *peer, int64_t id, unsigned int flags)
{
	struct err why;

	if ((flags & NEEDS_OPEN) && peer->broker->phase != PHASE_OPEN) {
		peer_fail(peer, id, ERR_UNAVAILABLE, "the service is stopping");
		return false;
	}
	if ((flags & NEEDS_LOG) && !broker_log_works(peer->broker, &why)) {
		peer_fail(peer, id, ERR_UNAVAILABLE, "%s", why.text);
		return false;
	}
	return true;
}

void dispatch(struct peer *peer, int64_t id, const char *method, const struct json *params)
{
	const struct row *row = row_find(method);
	CLEANUP(json_freep) struct json *empty = NULL;

	if (row == NULL || (row->kinds & FROM(peer->kind)) == 0) {
		refuse(peer, id, row == NULL ? "unknown_method" : "method_of_another_channel");
		return;
	}
	if (((row->flags & NOTIFICATION) != 0) != (id == 0)) {
		refuse(peer, id, "request_or_notification");
		return;
	}
	if (!ready(peer, id, row->flags))
		return;
	if (params == NULL)
		params = empty = json_object();
	row->handler(peer, id, params);
}
