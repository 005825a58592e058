/*
 * The terms of what the rules allow: approvals of people, and limits on how often and how many at
 * once. An approval counts for the very call it was asked for (task or the one it follows, agent,
 * user, tool, rule, digest of the exact arguments) and once: using it is durable before anything is
 * dispatched. Limits are counted last, so that a call refused for another reason costs none.
 */
#include "broker/call_model.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "broker/agent.h"
#include "broker/approval.h"
#include "broker/task.h"

#define APPROVALS_PER_CALL_MAX 4u

struct wish { /* an approval_wish and what it borrows */
	struct approval_wish wish;
	char digest[SHA256_HEX_LEN + 1];
	struct buf shown;
};

static void wish_clear(struct wish *wish)
{
	buf_clear(&wish->shown);
}

static void make_wish(const struct call *call, const char *rule, struct wish *ret_wish)
{
	const struct session *session = call->agent->peer.session;
	const struct task *task = call->agent->task;
	CLEANUP(json_freep) struct json *exact = json_object();
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	memset(ret_wish, 0, sizeof(*ret_wish));
	json_set_str(exact, "tool", call->tool->name);
	json_set_str(exact, "database", call->database);
	json_set(exact, "arguments", json_copy(call->decided_on));
	json_write_canonical(exact, &bytes);
	sha256_hex(bytes.bytes, bytes.len, ret_wish->digest);
	json_write(call->decided_on, &ret_wish->shown);
	ret_wish->wish = (struct approval_wish){
		.task = task->id,
		.follows = task->approved_by,
		.agent = call->agent->name,
		.sub = session->su,
		.user = session->user.name,
		.tool = call->tool->name,
		.database = call->database == NULL ? "" : call->database,
		.rule = rule,
		.digest = ret_wish->digest,
		.shown = buf_str(&ret_wish->shown),
	};
}

void call_seek_approvals(struct call *call, struct verdict *verdict)
{
	struct broker *broker = call->broker;

	while (verdict->effect == EFFECT_ASK && call->approved.count < APPROVALS_PER_CALL_MAX) {
		CLEANUP(wish_clear) struct wish wish;
		char id[APPROVAL_ID_LEN + 1];
		struct call_facts facts;
		struct err err;

		make_wish(call, verdict->rule, &wish);
		if (approval_find_given(broker->store, &wish.wish, broker_now_s(broker), id, &err) <
		    0)
			return; /* none, or the database cannot tell: the rule goes on asking */
		fact_names_add(&call->approved, verdict->rule);
		fact_names_add(&call->approval_ids, id);
		call_facts(call, &facts);
		policy_decide(broker->config->bundle, &facts, verdict);
	}
}

void call_ask_approval(struct call *call, const struct verdict *verdict)
{
	struct broker *broker = call->broker;
	int64_t now = broker_now_s(broker);
	CLEANUP(wish_clear) struct wish wish;
	char id[APPROVAL_ID_LEN + 1];
	struct err err;

	make_wish(call, verdict->rule, &wish);
	fact_names_clear(&call->approved);
	fact_names_clear(&call->approval_ids);
	if (wish.shown.len > APPROVAL_SHOWN_BYTES) { /* nobody approves what is not all shown */
		call_refuse(call, "policy", call->code, "shorten the arguments",
			    "needs approval, and its arguments are longer than the %d bytes that "
			    "are shown to whoever approves",
			    APPROVAL_SHOWN_BYTES);
		return;
	}
	if (approval_ask(broker->store, &wish.wish, now,
			 now + (verdict->approval->for_ms + 999) / 1000, id, &err) < 0) {
		call_refuse(call, "policy", call->code, "try again later",
			    "needs approval, which cannot be asked for: %s", err.text);
		return;
	}
	fact_names_add(&call->approval_ids, id);
	call_refuse(call, "policy", call->code, "wait for the approval, then make this call again",
		    "needs approval: %s", id);
}

static const char *whose(const struct rule_limit *limit)
{
	static const char *const words[] = {
		"",
		" of this agent",
		" for this user",
		" of this agent for this user",
		" of this tool",
		" of this tool by this agent",
		" of this tool for this user",
		" of this tool by this agent for this user",
	};

	return words[limit->each & 7];
}

static void refuse_limit(struct call *call, enum limiter_answer answer,
			 const struct rule_limit *limit, int64_t wait_ms)
{
	call->retry_ms = wait_ms;
	if (answer == LIMITER_RATE)
		call_refuse(call, "limit", "rate_limit", "wait, then make this call again",
			    "at most %lld calls%s in %lld s; the next is possible in %lld s",
			    (long long)limit->calls, whose(limit), (long long)limit->per_ms / 1000,
			    (long long)(wait_ms + 999) / 1000);
	else if (answer == LIMITER_RUNNING)
		call_refuse(call, "limit", "running_limit", "wait for one of them to end",
			    "at most %lld calls%s at the same time, and so many run",
			    (long long)limit->running, whose(limit));
	else
		call_refuse(call, "limit", "limits_full", "try again later",
			    "more calls are being counted than the service can count");
}

static bool use_approvals(struct call *call)
{
	struct broker *broker = call->broker;
	struct err err;

	if (approvals_use(broker->store, (const char *const *)call->approval_ids.items,
			  call->approval_ids.count, broker_now_s(broker), &err) == 0)
		return true;
	call->effect = EFFECT_DENY;
	call_refuse(call, "policy", "rule_asks", "ask for a new approval", "%s", err.text);
	return false;
}

bool call_take_terms(struct call *call, const struct verdict *verdict)
{
	const struct limiter_who who = {.agent = call->agent->name,
					.user = call->agent->peer.session->su,
					.tool = call->tool->name};
	const struct rule_limit *reached = NULL;
	enum limiter_answer answer;
	int64_t wait_ms;

	answer = limiter_take(call->broker->limiter, verdict->rates, verdict->rate_count, &who,
			      clock_mono_us() / 1000, &call->hold, &reached, &wait_ms);
	if (answer != LIMITER_FINE) {
		refuse_limit(call, answer, reached, wait_ms);
		return false;
	}
	return use_approvals(call);
}
