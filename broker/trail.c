/*
 * Fields are identities, codes and numbers; whatever a person or a model wrote goes into the
 * commitments. Nothing here waits: the caller decides what must be durable before it answers.
 */
#include "broker/trail.h"

#include <string.h>

#include "broker/approval.h"

#define REFUSALS_PER_SECOND_MAX 10 /* enough to see who tries, too few to fill a disk */

static const char hex_or_code[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";

/* Reasons are written in clear only when they are codes of ours, not sentences. */
static bool is_code(const char *text)
{
	size_t len = text == NULL ? 0 : strlen(text);

	return len > 0 && len <= 64 && strspn(text, hex_or_code) == len;
}

static void set_if(struct json *fields, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_set_str(fields, key, text);
}

uint64_t trail_append(struct broker *broker, const char *event, struct json *fields,
		      struct json *secrets)
{
	if (broker->audit == NULL) {
		json_free(fields);
		json_free(secrets);
		return TRAIL_NONE;
	}
	json_set_str(fields, REC_EVENT, event);
	if (json_get(fields, REC_SOURCE) == NULL)
		json_set_str(fields, REC_SOURCE, "observed");
	return audit_append(broker->audit, fields, secrets, NULL);
}

/* Taken on a full disk too. */
static uint64_t append_ending(struct broker *broker, const char *event, struct json *fields,
			      struct json *secrets)
{
	if (broker->audit == NULL) {
		json_free(fields);
		json_free(secrets);
		return TRAIL_NONE;
	}
	json_set_str(fields, REC_EVENT, event);
	json_set_str(fields, REC_SOURCE, "observed");
	return audit_append_ending(broker->audit, fields, secrets);
}

static void set_policy(struct json *fields, const struct broker *broker)
{
	json_set_str(fields, REC_POLICY, bundle_digest(broker->config->bundle));
	json_set_int(fields, REC_EPOCH, token_store_epoch(broker->store));
}

void trail_service_start(struct broker *broker, const struct audit_opened *opened)
{
	struct json *fields = json_object();

	set_policy(fields, broker);
	json_set_str(fields, REC_CAUSE, opened->from_tail ? "tail" : "scan");
	if (opened->recovered_bytes > 0)
		json_set_int(fields, REC_COUNT, (int64_t)opened->recovered_bytes);
	trail_append(broker, EV_SERVICE_START, fields, NULL);
}

void trail_service_stop(struct broker *broker, const char *cause)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_CAUSE, cause);
	append_ending(broker, EV_SERVICE_STOP, fields, NULL);
}

void trail_policy_load(struct broker *broker, const struct err *why)
{
	struct json *fields = json_object();
	struct json *secrets = NULL;

	set_policy(fields, broker);
	json_set_str(fields, REC_STATUS, why == NULL ? "ok" : "error");
	if (why != NULL) {
		json_set_str(fields, REC_CODE, err_kind_name(why->kind));
		secrets = json_object();
		json_set_str(secrets, CM_ERROR, why->text);
	}
	trail_append(broker, EV_POLICY_LOAD, fields, secrets);
}

static void set_session(struct json *fields, const struct session *session)
{
	json_set_str(fields, REC_SUBJECT, session->su);
	json_set_str(fields, REC_SESSION, session->id);
	set_if(fields, REC_TENANT, session->user.tenant);
}

void trail_session_open(const struct session *session)
{
	struct json *fields = json_object();
	struct json *secrets = json_object();

	set_session(fields, session);
	json_set_str(secrets, CM_USER, session->user.name);
	trail_append(session->peer.broker, EV_SESSION_OPEN, fields, secrets);
}

/* Someone who is not let in must not be able to fill the log: what is skipped is counted, and the
 * next record has the number. */
static bool refusal_fits(struct broker *broker)
{
	int64_t now = broker_now_s(broker);

	if (now != broker->refused_second) {
		broker->refused_second = now;
		broker->refused_recorded = 0;
	}
	if (broker->refused_recorded == REFUSALS_PER_SECOND_MAX) {
		broker->refused_skipped++;
		return false;
	}
	broker->refused_recorded++;
	return true;
}

void trail_session_refused(struct broker *broker, int64_t uid, const char *code)
{
	struct json *fields, *secrets;

	if (!refusal_fits(broker))
		return;
	fields = json_object();
	secrets = json_object();
	json_set_str(fields, REC_CODE, code);
	if (broker->refused_skipped > 0)
		json_set_int(fields, REC_COUNT, broker->refused_skipped);
	broker->refused_skipped = 0;
	json_set_int(secrets, CM_USER, uid);
	trail_append(broker, EV_SESSION_REFUSED, fields, secrets);
}

void trail_channel_refused(const struct peer *peer, const char *code)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_CODE, code);
	if (peer->session != NULL)
		set_session(fields, peer->session);
	if (peer->agent != NULL) {
		json_set_str(fields, REC_CLIENT, peer->agent->name);
		json_set_str(fields, REC_TASK, peer->agent->task->id);
	}
	trail_append(peer->broker, EV_CHANNEL_REFUSED, fields, NULL);
}

void task_note_record(struct task *task, uint64_t seq)
{
	if (seq == TRAIL_NONE)
		return;
	if ((task->record_count & (task->record_count - 1)) == 0)
		task->records = mem_grow(task->records,
					 (task->record_count == 0 ? 1 : task->record_count * 2) *
						 sizeof(*task->records));
	task->records[task->record_count++] = seq;
}

static void set_task(struct json *fields, const struct task *task)
{
	set_session(fields, task->session);
	json_set_str(fields, REC_TASK, task->id);
	json_set_str(fields, REC_TRIAL, task->kind);
}

static uint64_t append_of_task(struct task *task, const char *event, struct json *fields,
			       struct json *secrets)
{
	uint64_t seq;

	set_task(fields, task);
	seq = trail_append(task->session->peer.broker, event, fields, secrets);
	task_note_record(task, seq);
	return seq;
}

uint64_t trail_task_open(struct task *task, const char *question, const char *workflow, bool seeded)
{
	struct json *fields = json_object();
	struct json *secrets = json_object();

	set_policy(fields, task->session->peer.broker);
	json_set_str(fields, REC_CAUSE, seeded ? "seeded" : workflow);
	json_set_str(secrets, CM_QUESTION, question);
	json_set_str(secrets, CM_USER, task->session->user.name);
	return append_of_task(task, EV_TASK_OPEN, fields, secrets);
}

uint64_t trail_task_event(struct task *task, const char *event, const char *agent,
			  const char *status, const char *name, const struct json *contents)
{
	struct json *fields = json_object();
	struct json *secrets = json_object();

	json_set_str(fields, REC_SOURCE, "reported");
	json_set_str(fields, REC_CLIENT, agent);
	json_set_str(fields, REC_STATUS, status);
	json_set(secrets, name, json_copy(contents));
	return append_of_task(task, event, fields, secrets);
}

static void commit_member(struct json *secrets, const struct json *answer, const char *name,
			  const char *as)
{
	const struct json *value = json_get(answer, name);

	if (!json_is_null(value))
		json_set(secrets, as, json_copy(value));
}

uint64_t trail_task_close(struct task *task, const char *status, const char *reason,
			  const struct json *answer, struct json **ret_disclosures)
{
	struct broker *broker = task->session->peer.broker;
	struct json *fields = json_object();
	struct json *secrets = json_object();
	uint64_t seq;

	set_task(fields, task);
	json_set_str(fields, REC_EVENT, EV_TASK_CLOSE);
	json_set_str(fields, REC_SOURCE, "reported");
	json_set_str(fields, REC_STATUS, status);
	if (is_code(reason))
		json_set_str(fields, REC_CAUSE, reason);
	else if (reason != NULL && reason[0] != '\0')
		json_set_str(secrets, CM_ERROR, reason);
	commit_member(secrets, answer, "question", CM_QUESTION);
	commit_member(secrets, answer, "sql", CM_SQL);
	commit_member(secrets, answer, "result", CM_RESULT);
	commit_member(secrets, answer, "text", CM_ANSWER);
	if (broker->audit == NULL) {
		json_free(fields);
		json_free(secrets);
		return TRAIL_NONE;
	}
	seq = audit_append(broker->audit, fields, secrets, ret_disclosures);
	task_note_record(task, seq);
	return seq;
}

uint64_t trail_token_issue(struct agent *agent, const struct token_claims *claims,
			   const char *token)
{
	struct json *fields = json_object();
	char hash[SHA256_HEX_LEN + 1];

	sha256_hex(token, strlen(token), hash);
	set_policy(fields, agent->peer.broker);
	json_set_str(fields, REC_AGENT, claims->agent_id);
	json_set_str(fields, REC_CLIENT, claims->client_id);
	json_set_str(fields, REC_JTI, claims->jti);
	set_if(fields, REC_PARENT_JTI, agent->parent_jti);
	json_set_int(fields, REC_EXPIRES, claims->exp);
	json_set_str(fields, REC_TOKEN_HASH, hash);
	return append_of_task(agent->task, EV_TOKEN_ISSUE, fields, NULL);
}

uint64_t trail_approval(struct broker *broker, const struct approval_row *row, const char *id,
			bool give, const char *by)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_APPROVAL, id);
	json_set_str(fields, REC_STATUS, give ? "given" : "refused");
	json_set_str(fields, REC_BY, by);
	json_set_str(fields, REC_SUBJECT, row->sub);
	json_set_str(fields, REC_TASK, row->task);
	json_set_str(fields, REC_CLIENT, row->agent);
	json_set_str(fields, REC_TOOL, row->tool);
	json_set_str(fields, REC_RULE, row->rule);
	json_set_int(fields, REC_EXPIRES, row->expires);
	return trail_append(broker, EV_APPROVAL, fields, NULL);
}

uint64_t trail_token_revoke(struct broker *broker, const struct revocation *revocation)
{
	struct json *fields = json_object();
	struct json *secrets = NULL;

	json_set_int(fields, REC_EPOCH, token_store_epoch(broker->store));
	json_set_str(fields, REC_BY, revocation->by);
	json_set_int(fields, REC_COUNT, revocation->count);
	set_if(fields, REC_JTI, revocation->jti);
	set_if(fields, REC_TASK, revocation->task);
	set_if(fields, REC_CLIENT, revocation->agent);
	set_if(fields, REC_SUBJECT, revocation->su);
	if (is_code(revocation->cause)) {
		json_set_str(fields, REC_CAUSE, revocation->cause);
	} else if (revocation->cause != NULL) {
		secrets = json_object();
		json_set_str(secrets, CM_ERROR, revocation->cause);
	}
	return append_ending(broker, EV_TOKEN_REVOKE, fields, secrets);
}
