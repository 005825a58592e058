/*
 * approval.list, approval.give and approval.refuse: of those whom the ask rule in force names, and
 * the owner's list of all. Who may decide is looked up in the bundle of this moment.
 */
#include <string.h>

#include "broker/approval.h"
#include "broker/dispatch.h"
#include "broker/peer.h"
#include "broker/trail.h"

static bool is_prefixed(const char *text, const char *prefix, const char *name)
{
	size_t len = strlen(prefix);

	return name != NULL && strncmp(text, prefix, len) == 0 && strcmp(text + len, name) == 0;
}

static bool names_user(const char *approver, const struct user *user)
{
	if (strcmp(approver, "owner") == 0)
		return user->owner;
	for (size_t i = 0; i < user->group_count; i++)
		if (is_prefixed(approver, "group:", user->groups[i]))
			return true;
	return is_prefixed(approver, "user:", user->name) ||
	       is_prefixed(approver, "tenant:", user->tenant);
}

static bool names_me(const struct session *session, const struct approval_terms *terms)
{
	for (size_t i = 0; i < terms->by.count; i++)
		if (names_user(terms->by.items[i], &session->user))
			return true;
	return false;
}

/* The rules whose questions this user may see; which of them to decide, may_decide() says. */
static struct json *rules_that_name_me(const struct session *session)
{
	const struct bundle *bundle = session->peer.broker->config->bundle;
	struct json *rules = json_array();

	for (size_t i = 0; i < bundle_rule_count(bundle); i++) {
		const struct approval_terms *terms;
		const char *rule = policy_asking(bundle, i, &terms);

		if (rule != NULL && names_me(session, terms))
			json_push_str(rules, rule);
	}
	return rules;
}

static int may_decide(const struct session *session, const char *rule, const char *sub,
		      struct err *err)
{
	const struct approval_terms *terms =
		policy_approval(session->peer.broker->config->bundle, rule);

	if (terms == NULL)
		return err_set(err, ERR_DENIED, "rule %s asks for nothing any more", rule);
	if (!terms->own && strcmp(sub, session->su) == 0)
		return err_set(err, ERR_DENIED,
			       "rule %s wants someone else than the asking user to approve", rule);
	if (names_me(session, terms))
		return 0;
	if (session->user.owner || strcmp(sub, session->su) == 0)
		return err_set(err, ERR_DENIED, "rule %s does not name you to approve", rule);
	return err_set(err, ERR_NOT_FOUND, "there is no such approval for you to decide");
}

void req_approval_list(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const none[] = {NULL};
	const struct session *session = peer->session;
	CLEANUP(json_freep) struct json *rules = rules_that_name_me(session);
	CLEANUP(json_freep) struct json *found = NULL;
	const struct approval_viewer viewer = {session->user.owner, session->su, rules};
	struct json *list, *result;
	struct err err;

	if (json_only(params, none, &err) < 0 ||
	    approval_list(peer->broker->store, &viewer, broker_now_s(peer->broker), &found, &err) <
		    0) {
		peer_fail(peer, id, err.kind, "approval.list: %s", err.text);
		return;
	}
	list = json_array();
	json_each(row, found)
	{
		const char *sub = json_get_str(row, "sub");
		bool may = may_decide(session, json_get_str(row, "rule"), sub, &err) == 0;
		struct json *copy = json_copy(row);

		json_remove(copy, "sub");
		json_set_bool(copy, "may_decide", may);
		json_push(list, copy);
	}
	result = json_object();
	json_set(result, "approvals", list);
	channel_reply(peer->channel, id, result);
}

static void decide(struct peer *peer, int64_t id, const struct json *params, bool give)
{
	static const char *const members[] = {"approval", NULL};
	const struct session *session = peer->session;
	CLEANUP(approval_row_clear) struct approval_row row = {0};
	struct broker *broker = peer->broker;
	const char *approval;
	struct json *result;
	uint64_t seq;
	struct err err;

	if (json_only(params, members, &err) < 0 ||
	    json_want_str(params, "approval", &approval, &err) < 0 ||
	    approval_read(broker->store, approval, &row, &err) < 0 ||
	    may_decide(session, row.rule, row.sub, &err) < 0 ||
	    approval_decide(broker->store, approval, give, session->su, broker_now_s(broker),
			    &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return;
	}
	seq = trail_approval(broker, &row, approval, give, session->su);
	result = json_object();
	json_set_str(result, "approval", approval);
	json_set_str(result, "state", give ? "given" : "refused");
	json_set_int(result, "expires", row.expires);
	json_set_int(result, "record", (int64_t)seq);
	peer_reply_when_durable(peer, id, seq, result, 0);
}

void req_approval_give(struct peer *peer, int64_t id, const struct json *params)
{
	decide(peer, id, params, true);
}

void req_approval_refuse(struct peer *peer, int64_t id, const struct json *params)
{
	decide(peer, id, params, false);
}
