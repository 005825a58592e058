/* Requests that the broker answers, passed on over the session of whoever asked. */
#include <string.h>

#include "orchestrator/api.h"
#include "orchestrator/task.h"

struct forward {
	struct orchestrator *orchestrator;
	char session[SESSION_ID_MAX]; /* the id crosses the gap, the pointer does not */
	int64_t reply_to;
	bool status;
};

static void add_own_status(const struct orchestrator *orchestrator, struct json *status)
{
	struct json *own = json_object();
	int64_t running = 0, queued = 0;

	for (const struct task *task = orchestrator->tasks; task != NULL; task = task->next) {
		if (task->state == TASK_QUEUED)
			queued++;
		else
			running++;
	}
	json_set_int(own, "tasks_running", running);
	json_set_int(own, "tasks_queued", queued);
	json_set_str(own, "sandbox", orchestrator->sandbox == SANDBOX_FULL ? "full" : "reduced");
	json_set_str(own, "sandbox_profile", sandbox_profile_name());
	json_set(status, "orchestrator", own);
}

static void on_forwarded(void *data, const struct json *result, const struct err *err)
{
	struct forward *forward = data;
	struct session *session = session_find(forward->orchestrator, forward->session);

	if (session != NULL && session->client != NULL) {
		if (err != NULL) {
			channel_fail(session->client, forward->reply_to, err, NULL);
		} else {
			struct json *copy = json_copy(result);

			if (forward->status)
				add_own_status(forward->orchestrator, copy);
			channel_reply(session->client, forward->reply_to, copy);
		}
	}
	mem_free(forward);
}

static int forward(struct session *session, int64_t id, const char *method,
		   const struct json *params, struct err *err)
{
	struct forward *forward = mem_alloc(sizeof(*forward));

	forward->orchestrator = session->orchestrator;
	memcpy(forward->session, session->id, sizeof(forward->session));
	forward->reply_to = id;
	forward->status = strcmp(method, "status") == 0;
	if (channel_call(session->broker, method, json_copy(params), API_BROKER_MS, on_forwarded,
			 forward) > 0)
		return 0;
	mem_free(forward);
	return channel_why_not(session->broker, "the broker", err);
}

int api_token_list(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "token.list", params, err);
}

int api_token_revoke(struct session *session, int64_t id, const struct json *params,
		     struct err *err)
{
	return forward(session, id, "token.revoke", params, err);
}

int api_approval_list(struct session *session, int64_t id, const struct json *params,
		      struct err *err)
{
	return forward(session, id, "approval.list", params, err);
}

int api_approval_give(struct session *session, int64_t id, const struct json *params,
		      struct err *err)
{
	return forward(session, id, "approval.give", params, err);
}

int api_approval_refuse(struct session *session, int64_t id, const struct json *params,
			struct err *err)
{
	return forward(session, id, "approval.refuse", params, err);
}

int api_status(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "status", params, err);
}

int api_audit_note(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "audit.note", params, err);
}

int api_audit_lines(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "audit.lines", params, err);
}

int api_audit_openings(struct session *session, int64_t id, const struct json *params,
		       struct err *err)
{
	return forward(session, id, "audit.openings", params, err);
}

int api_audit_prove(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "audit.prove", params, err);
}

int api_audit_redact(struct session *session, int64_t id, const struct json *params,
		     struct err *err)
{
	return forward(session, id, "audit.redact", params, err);
}

int api_audit_hold(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	return forward(session, id, "audit.hold", params, err);
}

int api_audit_anchor(struct session *session, int64_t id, const struct json *params,
		     struct err *err)
{
	return forward(session, id, "audit.anchor", params, err);
}
