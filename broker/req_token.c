/* token.issue (agents), token.list and token.revoke (people: their own; the owner: everyone's). */
#include <string.h>

#include "broker/dispatch.h"
#include "broker/grant.h"
#include "broker/peer.h"
#include "broker/task.h"
#include "broker/trail.h"

#define CAUSE_BYTES_MAX 256

static bool takes_nothing(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const none[] = {NULL};
	struct err err;

	if (json_only(params, none, &err) == 0)
		return true;
	peer_fail(peer, id, err.kind, "%s", err.text);
	return false;
}

void req_token_issue(struct peer *peer, int64_t id, const struct json *params)
{
	struct err err;

	if (!takes_nothing(peer, id, params))
		return;
	if (task_is_full(peer->agent->task, &err))
		peer_fail(peer, id, err.kind, "%s", err.text);
	else
		grant_issue(peer->agent, id);
}

void req_token_list(struct peer *peer, int64_t id, const struct json *params)
{
	const struct session *session = peer->session;
	struct json *result;
	struct json *list;
	struct err err;

	if (!takes_nothing(peer, id, params))
		return;
	if (token_store_list(peer->broker->store, session->user.owner ? NULL : session->su, &list,
			     &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return;
	}
	result = json_object();
	json_set(result, "tokens", list);
	channel_reply(peer->channel, id, result);
}

static const struct choice {
	const char *member;
	enum token_choice by;
	bool owner_only;
} choices[] = {
	{"token", TOKEN_BY_JTI, false},
	{"task", TOKEN_BY_TASK, false},
	{"agent", TOKEN_BY_AGENT, true},
	{"user", TOKEN_BY_USER, true},
};

static int read_choice(const struct json *params, const struct choice **ret_choice,
		       const char **ret_value, const char **ret_cause, struct err *err)
{
	static const char *const members[] = {"token", "task", "agent", "user", "cause", NULL};
	const struct choice *found = NULL;

	if (json_only(params, members, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
		if (json_is_null(json_get(params, choices[i].member)))
			continue;
		if (found != NULL)
			return err_set(err, ERR_INVALID, "name one of token, task, agent, user");
		found = &choices[i];
		if (json_want_str(params, found->member, ret_value, err) < 0)
			return -1;
	}
	if (found == NULL)
		return err_set(err, ERR_INVALID, "name one of token, task, agent, user");
	*ret_cause = "revoked";
	if (!json_is_null(json_get(params, "cause")) &&
	    json_want_str(params, "cause", ret_cause, err) < 0)
		return -1;
	if (strlen(*ret_cause) > CAUSE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "\"cause\" is longer than %d bytes",
			       CAUSE_BYTES_MAX);
	*ret_choice = found;
	return 0;
}

static void answer_revoked(struct peer *peer, int64_t id, int64_t count, uint64_t seq)
{
	struct json *result = json_object();

	json_set_int(result, "revoked", count);
	if (seq == TRAIL_NONE) {
		json_set_null(result, "record"); /* the log has stopped; revoked all the same */
		channel_reply(peer->channel, id, result);
		return;
	}
	json_set_int(result, "record", (int64_t)seq);
	peer_reply_when_durable(peer, id, seq, result, REPLY_EVEN_UNRECORDED);
}

void req_token_revoke(struct peer *peer, int64_t id, const struct json *params)
{
	const struct session *session = peer->session;
	struct token_selector selector = {0};
	char su[PSEUDONYM_LEN + 1];
	const struct choice *choice;
	const char *cause;
	int64_t count;
	uint64_t seq;
	struct err err;

	if (read_choice(params, &choice, &selector.value, &cause, &err) < 0) {
		peer_fail(peer, id, err.kind, "token.revoke: %s", err.text);
		return;
	}
	if (choice->owner_only && !session->user.owner) {
		peer_fail(peer, id, ERR_DENIED,
			  "only the owner of the workspace may revoke by agent or user");
		return;
	}
	selector.by = choice->by;
	selector.sub = session->user.owner ? NULL : session->su;
	if (choice->by == TOKEN_BY_USER) {
		token_store_pseudonym(peer->broker->store, selector.value, su);
		selector.value = su;
	}
	if (grant_revoke(peer->broker, &selector, cause, session->su, &count, &seq, &err) < 0) {
		peer_fail(peer, id, err.kind, "token.revoke: %s", err.text);
		return;
	}
	answer_revoked(peer, id, count, seq);
}
