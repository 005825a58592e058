/* task.open, task.event, task.close and agent.start: a session's own tasks. A task of another
 * session is not found, whoever owns it. */
#include <string.h>

#include "broker/agent.h"
#include "broker/approval.h"
#include "broker/call.h"
#include "broker/dispatch.h"
#include "broker/peer.h"
#include "broker/session.h"
#include "broker/task.h"
#include "broker/trail.h"
#include "writ/limits.h"

#define REASON_BYTES_MAX 4096
#define STATUS_BYTES_MAX 32

static bool one_of(const char *text, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0)
			return true;
	}
	return false;
}

void req_task_reserve(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {NULL};
	struct json *result;
	struct err err;

	if (json_only(params, members, &err) < 0) {
		peer_fail(peer, id, err.kind, "task.reserve: %s", err.text);
		return;
	}
	result = json_object();
	json_set_str(result, "task", task_reserve(peer->session));
	channel_reply(peer->channel, id, result);
}

struct open_params {
	const char *task; /* reserved; NULL */
	const char *kind;
	const char *question;
	const char *workflow;
	bool seeded;
	const char *approval; /* of an earlier task, to be used in this one; NULL */
};

static int read_open(const struct json *params, struct open_params *ret, struct err *err)
{
	static const char *const members[] = {"kind", "question", "workflow", "seeded",
					      "task", "approval", NULL};
	static const char *const kinds[] = {"ask", "trial", "mcp", NULL};
	static const char *const workflows[] = {"agent", "fixed", NULL};
	const struct json *seeded = json_get(params, "seeded");

	*ret = (struct open_params){.question = "", .workflow = "agent"};
	if (json_only(params, members, err) < 0 ||
	    json_want_str(params, "kind", &ret->kind, err) < 0)
		return -1;
	if (!one_of(ret->kind, kinds))
		return err_set(err, ERR_INVALID, "\"kind\" must be ask, trial or mcp");
	if (!json_is_null(json_get(params, "question")) &&
	    json_want_str(params, "question", &ret->question, err) < 0)
		return -1;
	if (strlen(ret->question) > WRIT_QUESTION_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "the question is longer than %d bytes",
			       WRIT_QUESTION_BYTES_MAX);
	if (!json_is_null(json_get(params, "workflow")) &&
	    json_want_str(params, "workflow", &ret->workflow, err) < 0)
		return -1;
	if (!one_of(ret->workflow, workflows))
		return err_set(err, ERR_INVALID, "\"workflow\" must be agent or fixed");
	if (!json_is_null(seeded) && json_type(seeded) != JSON_BOOL)
		return err_set(err, ERR_INVALID, "\"seeded\" must be true or false");
	ret->seeded = json_bool(seeded);
	if (!json_is_null(json_get(params, "task")) &&
	    json_want_str(params, "task", &ret->task, err) < 0)
		return -1;
	if (!json_is_null(json_get(params, "approval")) &&
	    json_want_str(params, "approval", &ret->approval, err) < 0)
		return -1;
	return 0;
}

/* The task that asked, when it was this user's. Which call it is for is looked at when it is made.
 */
static int find_asking_task(const struct session *session, const char *approval, char **ret_task,
			    struct err *err)
{
	CLEANUP(approval_row_clear) struct approval_row row = {0};

	if (approval == NULL)
		return 0;
	if (approval_read(session->peer.broker->store, approval, &row, err) < 0)
		return -1;
	if (strcmp(row.sub, session->su) != 0)
		return err_set(err, ERR_NOT_FOUND, "there is no approval %.64s", approval);
	*ret_task = TAKE(row.task);
	return 0;
}

/* The owner always has a session, to look after the service; asking takes rights. */
static bool may_ask(const struct peer *peer, struct err *ret_why)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	if (peer->session->user.mapped)
		return true;
	user_map_write_refusal(peer->session->uid, peer->session->user.name, &text);
	err_set(ret_why, ERR_DENIED, "%s", buf_str(&text));
	return false;
}

static bool may_open(const struct peer *peer, struct err *ret_why)
{
	struct broker *broker = peer->broker;

	if (!may_ask(peer, ret_why))
		return false;
	if (session_running_tasks(broker, peer->session->su) >= WRIT_RUNNING_TASKS_PER_USER) {
		err_set(ret_why, ERR_LIMIT, "%d tasks of this user are running; wait for one",
			WRIT_RUNNING_TASKS_PER_USER);
		return false;
	}
	if (!allowance_take(&broker->allowances, peer->session->su, OPENING_TASK,
			    broker->now_us())) {
		err_set(ret_why, ERR_LIMIT,
			"too many tasks: this user opened %d within a short time, and may open %d "
			"a second from now on; wait a moment",
			TASKS_BURST_MAX, TASKS_PER_SECOND_MAX);
		return false;
	}
	return true;
}

void req_task_open(struct peer *peer, int64_t id, const struct json *params)
{
	struct session *session = peer->session;
	struct open_params open;
	CLEANUP(mem_freep) char *asking = NULL;
	struct json *result;
	struct task *task;
	uint64_t seq;
	struct err err;

	if (read_open(params, &open, &err) < 0) {
		peer_fail(peer, id, err.kind, "task.open: %s", err.text);
		return;
	}
	if (strcmp(open.kind, "trial") == 0 && !session->user.owner) {
		peer_fail(peer, id, ERR_DENIED,
			  "only the owner of the workspace may try calls out");
		return;
	}
	if (find_asking_task(session, open.approval, &asking, &err) < 0 || !may_open(peer, &err)) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return;
	}
	if (open.task != NULL && !task_take_name(session, open.task)) {
		peer_fail(peer, id, ERR_NOT_FOUND, "no task of that name is reserved here");
		return;
	}
	task = task_open(session, open.kind, open.task);
	task->approved_by = TAKE(asking);
	seq = trail_task_open(task, open.question, open.workflow, open.seeded);
	if (seq == TRAIL_NONE) {
		task_free(task);
		peer_fail(peer, id, ERR_UNAVAILABLE, "the task could not be recorded");
		return;
	}
	result = json_object();
	json_set_str(result, "task", task->id);
	json_set_int(result, "record", (int64_t)seq);
	channel_reply(peer->channel, id, result);
}

/* NULL after answering. */
static struct task *own_task(struct peer *peer, int64_t id, const struct json *params)
{
	const char *name;
	struct task *task;
	struct err err;

	if (json_want_str(params, "task", &name, &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return NULL;
	}
	task = task_find(peer->session, name);
	if (task == NULL)
		peer_fail(peer, id, ERR_NOT_FOUND, "this session has no such task");
	return task;
}

/* One of our own words: letters and underscores. */
static bool is_word(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= STATUS_BYTES_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz_") == len;
}

static int read_event(const struct json *params, const char **ret_event, const char **ret_agent,
		      const char **ret_status, struct err *err)
{
	static const char *const members[] = {"task", "event", "agent", "status", "contents", NULL};
	static const char *const events[] = {EV_HANDOFF, EV_REPORT_CHECK, NULL};
	const struct json *contents;

	if (json_only(params, members, err) < 0 ||
	    json_want_str(params, "event", ret_event, err) < 0 ||
	    json_want_str(params, "agent", ret_agent, err) < 0 ||
	    json_want_str(params, "status", ret_status, err) < 0 ||
	    json_want_object(params, "contents", &contents, err) < 0)
		return -1;
	if (!one_of(*ret_event, events))
		return err_set(err, ERR_INVALID, "\"event\" must be handoff or report.check");
	if (!is_word(*ret_status))
		return err_set(err, ERR_INVALID,
			       "\"status\" must be one word of at most %d "
			       "letters",
			       STATUS_BYTES_MAX);
	return 0;
}

void req_task_event(struct peer *peer, int64_t id, const struct json *params)
{
	struct task *task = own_task(peer, id, params);
	const char *event, *agent, *status;
	struct json *result;
	uint64_t seq;
	struct err err;

	if (task == NULL)
		return;
	if (read_event(params, &event, &agent, &status, &err) < 0) {
		peer_fail(peer, id, err.kind, "task.event: %s", err.text);
		return;
	}
	if (bundle_agent(peer->broker->config->bundle, agent) == NULL) {
		peer_fail(peer, id, ERR_NOT_FOUND, "no scope file defines such an agent");
		return;
	}
	if (task_is_full(task, &err)) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return;
	}
	if (task->event_count == TASK_EVENTS_MAX) {
		peer_fail(peer, id, ERR_LIMIT, "the task has reported %d events, its most",
			  TASK_EVENTS_MAX);
		return;
	}
	task->event_count++;
	seq = trail_task_event(task, event, agent, status,
			       strcmp(event, EV_HANDOFF) == 0 ? CM_HANDOFF : CM_ANSWER,
			       json_get(params, "contents"));
	if (seq == TRAIL_NONE) {
		peer_fail(peer, id, ERR_UNAVAILABLE, "the event could not be recorded");
		return;
	}
	result = json_object();
	json_set_int(result, "record", (int64_t)seq);
	channel_reply(peer->channel, id, result);
}

static int read_close(const struct json *params, const char **ret_status, const char **ret_reason,
		      struct err *err)
{
	static const char *const members[] = {"task", "status", "reason", "answer", NULL};
	static const char *const parts[] = {"question", "sql", "result", "text", NULL};
	const struct json *answer = json_get(params, "answer");

	*ret_reason = "";
	if (json_only(params, members, err) < 0 ||
	    json_want_str(params, "status", ret_status, err) < 0)
		return -1;
	if (!is_word(*ret_status))
		return err_set(err, ERR_INVALID,
			       "\"status\" must be one word of at most %d "
			       "letters",
			       STATUS_BYTES_MAX);
	if (!json_is_null(json_get(params, "reason")) &&
	    json_want_str(params, "reason", ret_reason, err) < 0)
		return -1;
	if (strlen(*ret_reason) > REASON_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "\"reason\" is longer than %d bytes",
			       REASON_BYTES_MAX);
	if (!json_is_null(answer) && json_only(answer, parts, err) < 0)
		return err_wrap(err, "answer");
	return 0;
}

static struct json *record_list(const struct task *task)
{
	struct json *list = json_array();

	for (size_t i = 0; i < task->record_count; i++)
		json_push_int(list, (int64_t)task->records[i]);
	return list;
}

void req_task_close(struct peer *peer, int64_t id, const struct json *params)
{
	struct task *task = own_task(peer, id, params);
	const char *status, *reason;
	struct json *disclosures = NULL;
	struct json *result;
	uint64_t seq;
	struct err err;

	if (task == NULL)
		return;
	if (read_close(params, &status, &reason, &err) < 0) {
		peer_fail(peer, id, err.kind, "task.close: %s", err.text);
		return;
	}
	seq = task_end(task, status, reason, json_get(params, "answer"), &disclosures);
	if (seq == TRAIL_NONE) {
		json_free(disclosures);
		task_free(task);
		peer_fail(peer, id, ERR_UNAVAILABLE,
			  "the task is closed, but its record could not be written");
		return;
	}
	result = json_object();
	json_set(result, "records", record_list(task));
	json_set(result, "disclosures", disclosures == NULL ? json_array() : disclosures);
	task_free(task);
	peer_reply_when_durable(peer, id, seq, result, REPLY_CHECKPOINT);
}

static bool hands_to(const struct agent_def *giver, const char *name)
{
	for (size_t i = 0; giver != NULL && giver->hands_to[i] != NULL; i++) {
		if (strcmp(giver->hands_to[i], name) == 0)
			return true;
	}
	return false;
}

/* A parent is a token of this very task whose agent may hand over to the child. */
static int check_parent(const struct task *task, const char *jti, const char *child,
			struct err *err)
{
	const struct bundle *bundle = task->session->peer.broker->config->bundle;
	const struct held_token *parent = task_token(task, jti);

	if (parent == NULL)
		return err_set(err, ERR_DENIED, "the parent is not a token of this task");
	if (!hands_to(bundle_agent(bundle, parent->agent), child))
		return err_set(err, ERR_DENIED, "agent %s does not hand over to %s", parent->agent,
			       child);
	return 0;
}

static int start(struct task *task, const struct json *params, struct agent **ret_agent,
		 struct err *err)
{
	static const char *const members[] = {"task", "agent", "parent", NULL};
	const struct broker *broker = task->session->peer.broker;
	const struct agent_def *def;
	const char *parent = NULL;
	const char *name;

	if (json_only(params, members, err) < 0 || json_want_str(params, "agent", &name, err) < 0)
		return -1;
	if (!json_is_null(json_get(params, "parent")) &&
	    json_want_str(params, "parent", &parent, err) < 0)
		return -1;
	if (task->revoked)
		return err_set(err, ERR_DENIED, "the authority of this task was revoked");
	if (task->expired)
		return err_set(err, ERR_LIMIT, "the time of this task is up");
	def = bundle_agent(broker->config->bundle, name);
	if (def == NULL)
		return err_set(err, ERR_NOT_FOUND, "no scope file defines agent %.64s", name);
	if (parent != NULL && check_parent(task, parent, name, err) < 0)
		return -1;
	return agent_start(task, def, parent, ret_agent, err);
}

void req_agent_start(struct peer *peer, int64_t id, const struct json *params)
{
	struct task *task = own_task(peer, id, params);
	struct agent *agent;
	struct json *result;
	struct err err;

	if (task == NULL)
		return;
	if (start(task, params, &agent, &err) < 0) {
		peer_fail(peer, id, err.kind, "agent.start: %s", err.text);
		return;
	}
	result = json_object();
	json_set_str(result, "channel", agent->id);
	call_reach(agent, result);
	channel_reply(peer->channel, id, result);
}
