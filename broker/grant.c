/*
 * The one place where a token is made or believed. A revocation may arrive while a token is being
 * signed: the agent is marked in memory, and the row is only added if parent and agent still stand,
 * so no token outlives the revocation that should have caught it.
 */
#include "broker/grant.h"

#include <string.h>

#include "base/log.h"
#include "broker/agent.h"
#include "broker/approval.h"
#include "broker/call.h"
#include "broker/peer.h"
#include "broker/task.h"
#include "broker/token/delegation.h"
#include "broker/tool.h"
#include "broker/trail.h"
#include "writ/limits.h"

#define PURGE_SECONDS 60

static int verify(const struct broker *broker, const char *text, struct token_claims *ret_claims,
		  struct err *err)
{
	const struct signer_public *keys = signer_client_keys(broker->signer);
	struct token_rules rules = {.now = broker_now_s(broker), .key_count = 1};

	if (keys == NULL)
		return err_set(err, ERR_UNAVAILABLE, "no signer has told its keys");
	rules.keys = &keys->token;
	rules.iss = keys->iss;
	rules.aud = keys->aud;
	return token_verify(text, strlen(text), &rules, ret_claims, err);
}

/* Cached, or verified and cached. */
static int check_text(const struct broker *broker, const struct held_token *token,
		      const struct token_claims **ret_claims, struct err *err)
{
	int64_t epoch = token_store_epoch(broker->store);
	int64_t now = broker_now_s(broker);
	size_t len = strlen(token->text);
	const struct token_claims *claims =
		token_cache_get(broker->cache, token->text, len, epoch, now);
	struct token_claims fresh = {0};

	if (claims == NULL) {
		if (token_store_check(broker->store, token->jti, now, err) < 0 ||
		    verify(broker, token->text, &fresh, err) < 0)
			return -1;
		claims = token_cache_put(broker->cache, token->text, len, epoch, &fresh);
	}
	*ret_claims = claims;
	return 0;
}

int grant_check(const struct agent *agent, const struct token_claims **ret_claims, struct err *err)
{
	const struct token_claims *claims;

	if (agent->revoked || agent->task->revoked)
		return err_set(err, ERR_DENIED, "the token is revoked");
	if (agent->token == NULL)
		return err_set(err, ERR_DENIED, "the agent holds no token; call token.issue");
	if (check_text(agent->peer.broker, agent->token, &claims, err) < 0)
		return -1;
	if (strcmp(claims->client_id, agent->name) != 0 ||
	    strcmp(claims->txn, agent->task->id) != 0 ||
	    strcmp(claims->sub, agent->peer.session->su) != 0)
		return err_set(err, ERR_DENIED, "the token is not bound to this channel");
	*ret_claims = claims;
	return 0;
}

struct issue {
	struct broker *broker;
	uint64_t peer;
	int64_t id;
	char jti[UUID_LEN + 1];
};

static void fill_delegation(const struct agent *agent, const struct agent_def *def,
			    const struct signer_public *keys, const struct token_claims *parent,
			    struct delegation_facts *facts)
{
	const struct agent_def *giver =
		bundle_agent(agent->peer.broker->config->bundle, parent->client_id);

	*facts = (struct delegation_facts){
		.now = broker_now_s(agent->peer.broker),
		.parent_held = true, /* the task holds it; agent.start named it */
		.child_agent_id = def->id,
		.current_kid = keys->token.kid,
		.child_kid = keys->token.kid,
		.child_row_parent = agent->parent_jti,
		.iss = keys->iss,
		.aud = keys->aud,
	};
	for (size_t i = 0; giver != NULL && giver->hands_to[i] != NULL; i++)
		facts->policy_permits |= strcmp(giver->hands_to[i], agent->name) == 0;
}

static int find_parent(const struct agent *agent, const struct token_claims **ret_parent,
		       struct err *err)
{
	const struct held_token *held;

	*ret_parent = NULL;
	if (agent->parent_jti == NULL)
		return 0;
	held = task_token(agent->task, agent->parent_jti);
	if (held == NULL)
		return err_set(err, ERR_DENIED, "the parent token is not this task's");
	return check_text(agent->peer.broker, held, ret_parent, err) < 0
		       ? err_wrap(err, "parent token")
		       : 0;
}

static int64_t lifetime(const struct agent *agent, const struct agent_def *def)
{
	int64_t left_ms = task_time_left(agent->task, agent->use, &def->budget);
	int64_t now_us = agent->peer.broker->now_us();
	/* Tokens count whole seconds, so the one in which the time ends belongs to it. */
	int64_t seconds = (now_us + left_ms * 1000 + 999999) / 1000000 - now_us / 1000000;

	if (left_ms <= 0)
		return 0;
	if (def->token_seconds < seconds)
		seconds = def->token_seconds;
	return seconds < WRIT_TOKEN_SECONDS_MAX ? seconds : WRIT_TOKEN_SECONDS_MAX;
}

static struct json *make_claims(const struct agent *agent, const struct agent_def *def,
				const struct token_claims *parent, int64_t seconds)
{
	const struct broker *broker = agent->peer.broker;
	struct subject subject = agent_subject(agent);
	struct setting setting = broker_setting(broker);
	CLEANUP(json_freep)
	struct json *details = policy_grant(broker->config->bundle, agent->name, &subject, &setting);
	char digest[8 + SHA256_HEX_LEN + 1] = "sha256:";
	struct token_fields fields = {
		.sub = agent->peer.session->su,
		.client_id = agent->name,
		.agent_id = def->id,
		.txn = agent->task->id,
		.now = broker_now_s(broker),
		.seconds = seconds,
		.details = details,
		.del_max_depth =
			parent != NULL || def->hands_to[0] != NULL ? WRIT_DELEGATION_DEPTH_MAX : 0,
		.owner = def->owner,
		.policy_digest = digest,
		.policy_epoch = token_store_epoch(broker->store),
		.parent = parent,
	};

	strncat(digest, bundle_digest(broker->config->bundle), SHA256_HEX_LEN);
	return token_claims_new(&fields);
}

static int check_child(const struct agent *agent, const struct agent_def *def,
		       const struct token_claims *parent, const struct json *params,
		       struct err *err)
{
	CLEANUP(token_claims_clear) struct token_claims child = {0};
	struct delegation_facts facts;

	if (token_claims_read(json_copy(params), false, &child, err) < 0)
		return -1;
	if (parent == NULL)
		return delegation_check_root(&child, agent->parent_jti, err);
	fill_delegation(agent, def, signer_client_keys(agent->peer.broker->signer), parent, &facts);
	return delegation_check(parent, &child, &facts, err);
}

struct json *grant_limits_left(const struct agent *agent)
{
	const struct agent_def *def = agent_def_now(agent);
	struct task_budget none = {0};
	const struct task_budget *budget = def == NULL ? &none : &def->budget;
	const struct budget_use *use = &agent->use->use;
	struct json *limits = json_object();

	json_set_int(limits, "tool_calls_left", budget_left(budget->tool_calls, use->tool_calls));
	json_set_int(limits, "tool_errors_left",
		     budget_left(budget->tool_errors, use->tool_errors));
	json_set_int(limits, "attempts_left", budget_left(budget->attempts, use->attempts));
	json_set_int(limits, "time_left_ms", task_time_left(agent->task, agent->use, budget));
	json_set_int(limits, "scan_left", budget_left(budget->scan_bytes, use->scan_bytes));
	return limits;
}

static struct json *answer(const struct agent *agent, const struct token_claims *claims)
{
	struct json *result = json_object();
	struct json *tools = json_array();

	json_each(tool, claims->tools)
	{
		json_push_str(tools, json_key(tool));
	}
	json_set_str(result, "jti", claims->jti);
	json_set_int(result, "expires", claims->exp);
	json_set(result, "tools", tools);
	json_set(result, "limits", grant_limits_left(agent));
	return result;
}

static void purge(struct broker *broker)
{
	int64_t now = broker_now_s(broker);
	struct err err;

	if (now - broker->purged_at < PURGE_SECONDS)
		return;
	broker->purged_at = now;
	if (token_store_purge(broker->store, now, &err) < 0)
		log_error("%s", err.text); /* old rows are only larger lists */
	if (approval_purge(broker->store, now, &err) < 0)
		log_error("%s", err.text);
}

/* The signed token is back: believed only after it verified and names what was asked for. */
static int take_token(struct agent *agent, const char *jti, const char *text,
		      const struct token_claims **ret_claims, struct err *err)
{
	struct broker *broker = agent->peer.broker;
	CLEANUP(token_claims_clear) struct token_claims claims = {0};
	const struct held_token *held;

	if (agent->revoked || agent->task->revoked)
		return err_set(err, ERR_DENIED, "revoked while the token was being signed");
	if (verify(broker, text, &claims, err) < 0)
		return err_wrap(err, "the token that came back");
	if (strcmp(claims.jti, jti) != 0 || strcmp(claims.client_id, agent->name) != 0 ||
	    strcmp(claims.txn, agent->task->id) != 0 ||
	    strcmp(claims.sub, agent->peer.session->su) != 0)
		return err_set(err, ERR_INTERNAL, "the signer signed other claims than asked for");
	if (agent->task->token_count == TOKENS_PER_TASK_MAX)
		return err_set(err, ERR_LIMIT, "the task has had %d tokens", TOKENS_PER_TASK_MAX);
	if (token_store_add(broker->store,
			    &(struct token_row){.jti = claims.jti,
						.parent = agent->parent_jti,
						.agent = agent->name,
						.sub = claims.sub,
						.user = agent->peer.session->user.name,
						.txn = claims.txn,
						.kid = claims.kid,
						.issued = claims.iat,
						.expires = claims.exp},
			    broker_now_s(broker), err) < 0)
		return -1;
	held = task_hold_token(agent->task, claims.jti, text, agent->name);
	agent->token = held;
	*ret_claims = token_cache_put(broker->cache, text, strlen(text),
				      token_store_epoch(broker->store), &claims);
	purge(broker);
	return 0;
}

static void on_signed(void *data, const struct json *result, const struct err *err)
{
	struct issue *issue = data;
	struct peer *peer = peer_find(issue->broker, issue->peer);
	const struct token_claims *claims;
	const char *text;
	struct err why;

	if (peer == NULL)
		goto out; /* the channel closed meanwhile; the token was never stored */
	peer->agent->issuing = false;
	if (err != NULL) {
		peer_fail(peer, issue->id, err->kind, "token.sign: %s", err->text);
	} else if (json_want_str(result, "token", &text, &why) < 0 ||
		   take_token(peer->agent, issue->jti, text, &claims, &why) < 0) {
		peer_fail(peer, issue->id, why.kind, "%s", why.text);
	} else {
		trail_token_issue(peer->agent, claims, text);
		channel_reply(peer->channel, issue->id, answer(peer->agent, claims));
	}
out:
	mem_free(issue);
}

static int prepare(struct agent *agent, struct json **ret_params, struct err *err)
{
	const struct agent_def *def = agent_def_now(agent);
	const struct token_claims *parent;
	CLEANUP(json_freep) struct json *params = NULL;
	int64_t seconds;

	if (agent->issuing)
		return err_set(err, ERR_LIMIT, "a token is being issued already");
	if (agent->revoked || agent->task->revoked)
		return err_set(err, ERR_DENIED, "this agent's authority in this task was revoked");
	if (def == NULL)
		return err_set(err, ERR_DENIED, "no scope file defines this agent any more");
	if (signer_client_keys(agent->peer.broker->signer) == NULL)
		return err_set(err, ERR_UNAVAILABLE, "no signer has told its keys");
	seconds = lifetime(agent, def);
	if (seconds <= 0)
		return err_set(err, ERR_LIMIT, "the time of this task is up");
	if (find_parent(agent, &parent, err) < 0)
		return -1;
	params = make_claims(agent, def, parent, seconds);
	if (check_child(agent, def, parent, params, err) < 0)
		return -1;
	*ret_params = TAKE(params);
	return 0;
}

void grant_issue(struct agent *agent, int64_t id)
{
	struct json *params = NULL;
	struct issue *issue;
	struct err err;

	if (prepare(agent, &params, &err) < 0) {
		peer_fail(&agent->peer, id, err.kind, "%s", err.text);
		return;
	}
	issue = mem_alloc(sizeof(*issue));
	issue->broker = agent->peer.broker;
	issue->peer = agent->peer.handle;
	issue->id = id;
	strncpy(issue->jti, json_get_str(params, "jti"), UUID_LEN);
	agent->issuing = true;
	signer_client_call(agent->peer.broker->signer, "token.sign", params, on_signed, issue);
}
