/*
 * Tasks belong to their session's list. Revoking at the end can fail when the disk does: the tokens
 * then still end with their channels, because a token that never left the broker is of no use
 * without the channel it is bound to.
 */
#include "broker/task.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "broker/agent.h"
#include "broker/call.h"
#include "broker/trail.h"
#include "writ/limits.h"

static void on_deadline(void *data)
{
	struct task *task = data;

	timer_stop(TAKE(task->deadline));
	task->expired = true;
	for (struct agent *agent = task->agents; agent != NULL; agent = agent->next)
		calls_cancel(agent, CANCEL_TIME);
}

static void make_name(char out[TASK_ID_SIZE])
{
	char uuid[UUID_LEN + 1];

	uuid7(uuid);
	snprintf(out, TASK_ID_SIZE, "t-%s", uuid);
}

/* Oldest first. */
struct task_names {
	size_t count;
	size_t room;
	char (*ids)[TASK_ID_SIZE];
};

static void drop_name(struct task_names *names, size_t at)
{
	names->count--;
	memmove(names->ids + at, names->ids + at + 1, (names->count - at) * TASK_ID_SIZE);
}

const char *task_reserve(struct session *session)
{
	struct task_names *names = session->names;

	if (names == NULL)
		names = session->names = mem_alloc(sizeof(*names));
	if (names->count == TASK_NAMES_MAX)
		drop_name(names, 0);
	if (names->count == names->room) {
		names->room = names->room == 0 ? 4 : names->room * 2;
		names->ids = mem_grow(names->ids, names->room * TASK_ID_SIZE);
	}
	make_name(names->ids[names->count]);
	return names->ids[names->count++];
}

bool task_take_name(struct session *session, const char *id)
{
	struct task_names *names = session->names;

	for (size_t i = 0; names != NULL && i < names->count; i++)
		if (strcmp(names->ids[i], id) == 0) {
			drop_name(names, i);
			return true;
		}
	return false;
}

void task_names_free(struct session *session)
{
	if (session->names != NULL)
		mem_free(session->names->ids);
	mem_free(TAKE(session->names));
}

struct task *task_open(struct session *session, const char *kind, const char *id)
{
	struct broker *broker = session->peer.broker;
	struct task *task = mem_alloc(sizeof(*task));

	if (id != NULL)
		snprintf(task->id, sizeof(task->id), "%s", id);
	else
		make_name(task->id);
	task->handle = handle_add(&broker->tasks, task);
	task->session = session;
	task->kind = mem_str(kind);
	task->trial = strcmp(kind, "trial") == 0;
	task->deadline_ms = (int64_t)(uv_now(broker->loop) + broker->task_ms);
	task->deadline = timer_start(broker->loop, broker->task_ms, on_deadline, task);
	task->next = session->tasks;
	session->tasks = task;
	return task;
}

struct task *task_find(const struct session *session, const char *id)
{
	for (struct task *task = session->tasks; task != NULL; task = task->next) {
		if (strcmp(task->id, id) == 0)
			return task;
	}
	return NULL;
}

bool task_is_full(const struct task *task, struct err *ret_why)
{
	if (task->record_count < TASK_RECORDS_MAX)
		return false;
	err_set(ret_why, ERR_LIMIT,
		"the task has %d records, its most; close it and go on in another",
		TASK_RECORDS_MAX);
	return true;
}

struct agent_use *task_use(struct task *task, const char *agent)
{
	struct agent_use *use;

	for (use = task->uses; use != NULL; use = use->next) {
		if (strcmp(use->agent, agent) == 0)
			return use;
	}
	use = mem_alloc(sizeof(*use));
	use->agent = mem_str(agent);
	use->started_ms = (int64_t)uv_now(task->session->peer.broker->loop);
	use->next = task->uses;
	task->uses = use;
	return use;
}

int64_t task_time_left(const struct task *task, const struct agent_use *use,
		       const struct task_budget *budget)
{
	int64_t now = (int64_t)uv_now(task->session->peer.broker->loop);
	int64_t left = task->deadline_ms - now;
	int64_t own = use->started_ms + budget->time_ms - now;

	if (own < left)
		left = own;
	return task->expired || left < 0 ? 0 : left;
}

const struct held_token *task_token(const struct task *task, const char *jti)
{
	for (const struct held_token *token = task->tokens; token != NULL; token = token->next) {
		if (strcmp(token->jti, jti) == 0)
			return token;
	}
	return NULL;
}

const struct held_token *task_hold_token(struct task *task, const char *jti, const char *text,
					 const char *agent)
{
	struct held_token *token;

	if (task->token_count == TOKENS_PER_TASK_MAX)
		return NULL;
	token = mem_alloc(sizeof(*token));
	token->jti = mem_str(jti);
	token->text = mem_str(text);
	token->agent = mem_str(agent);
	token->next = task->tokens;
	task->tokens = token;
	task->token_count++;
	return token;
}

static void revoke_tokens(struct task *task)
{
	struct broker *broker = task->session->peer.broker;
	struct token_selector selector = {TOKEN_BY_TASK, task->id, NULL};
	int64_t count;
	struct err err;

	if (task->token_count == 0)
		return;
	if (token_store_revoke(broker->store, &selector, "task closed", false, broker_now_s(broker),
			       &count, &err) < 0)
		log_error("task %s: %s", task->id, err.text);
}

uint64_t task_end(struct task *task, const char *status, const char *reason,
		  const struct json *answer, struct json **ret_disclosures)
{
	task->revoked = true;
	while (task->agents != NULL)
		agent_close(task->agents);
	revoke_tokens(task);
	return trail_task_close(task, status, reason, answer, ret_disclosures);
}

static void free_tokens(struct task *task)
{
	while (task->tokens != NULL) {
		struct held_token *token = task->tokens;

		task->tokens = token->next;
		bytes_wipe(token->text, strlen(token->text));
		mem_free(token->text);
		mem_free(token->jti);
		mem_free(token->agent);
		mem_free(token);
	}
}

static void free_uses(struct task *task)
{
	while (task->uses != NULL) {
		struct agent_use *use = task->uses;

		task->uses = use->next;
		mem_free(use->agent);
		mem_free(use);
	}
}

void task_free(struct task *task)
{
	struct task **link = &task->session->tasks;

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	handle_drop(&task->session->peer.broker->tasks, task->handle);
	timer_stop(task->deadline);
	free_tokens(task);
	free_uses(task);
	mem_free(task->records);
	mem_free(task->approved_by);
	mem_free(task->kind);
	mem_free(task);
}

void task_abandon(struct task *task, const char *cause)
{
	task_end(task, "cancelled", cause, NULL, NULL);
	task_free(task);
}
