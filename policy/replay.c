/* See replay.h. */
#include "policy/replay.h"

#include <string.h>

#include "base/clock.h"
#include "policy/call_spec.h"
#include "policy/condition.h"
#include "writ/record.h"

struct names_room { /* users that rules name */
	const char **items;
	size_t count;
};

static void add_name(struct names_room *room, const char *name)
{
	for (size_t i = 0; i < room->count; i++)
		if (strcmp(room->items[i], name) == 0)
			return;
	room->items = mem_grow(room->items, (room->count + 1) * sizeof(*room->items));
	room->items[room->count++] = name;
}

static void add_users(struct names_room *room, const struct bundle *bundle)
{
	for (size_t r = 0; r < bundle->rule_count; r++)
		for (size_t i = 0; i < bundle->rules[r].users.count; i++)
			add_name(room,
				 symbols_text(&bundle->symbols, bundle->rules[r].users.items[i]));
}

/* What the record holds, as a call; the user is the pseudonym. */
static int read_call(const struct json *record, struct call_spec **ret_spec, struct err *err)
{
	static const char *const lists[] = {"tables", "columns", "functions", "groups", "approved"};
	const struct json *facts = json_get(record, REC_FACTS);
	CLEANUP(json_freep) struct json *call = json_object();
	char time[TIMESTAMP_LEN + 1];
	int64_t now_us = 0;

	if (facts == NULL)
		return err_set(err, ERR_INVALID, "no facts");
	json_set_str(call, "agent", json_get_str(record, REC_CLIENT));
	json_set_str(call, "user", json_get_str(record, REC_SUBJECT));
	json_set_str(call, "tool", json_get_str(record, REC_TOOL));
	if (json_get(record, REC_TENANT) != NULL)
		json_set_str(call, "tenant", json_get_str(record, REC_TENANT));
	if (json_get(record, REC_RESOURCE) != NULL)
		json_set_str(call, "database", json_get_str(record, REC_RESOURCE));
	if (json_get(facts, "environment") != NULL)
		json_set_str(call, "environment", json_get_str(facts, "environment"));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (json_len(json_get(facts, lists[i])) > 0)
			json_set(call, lists[i], json_copy(json_get(facts, lists[i])));
	if (json_get(facts, "now") != NULL)
		now_us = json_get_int(facts, "now", 0) * 1000000;
	else if (timestamp_read(json_get_str(record, REC_TIME), &now_us, err) < 0)
		return -1;
	timestamp_write(now_us, time);
	json_set_str(call, "time", time);
	return call_spec_read(call, ret_spec, err);
}

/* Facts that no record holds, and that a rule for this agent and tool asks for. */
static const char *unknown_fact(const struct bundle *bundle, const struct call_facts *facts)
{
	static const struct {
		const char *kind;
		const char *reason;
	} unknown[] = {{"attributes", "attributes"},
		       {"arguments", "arguments"},
		       {"arguments.closed", "arguments"}};
	const struct bundle_agent *agent = bundle_agent_find(bundle, facts->agent);
	struct candidates candidates;

	if (agent == NULL)
		return NULL;
	candidates =
		bundle_candidates(bundle, agent->name,
				  symbols_find(&bundle->symbols, facts->tool, strlen(facts->tool)));
	for (size_t s = 0; s < candidates.count; s++)
		for (size_t i = 0; i < candidates.spans[s]->count; i++) {
			const struct rule *rule =
				&bundle->rules[bundle->index.rules[candidates.spans[s]->start + i]];

			for (size_t c = 0; c < rule->condition_count; c++)
				for (size_t u = 0; u < ARRAY_LEN(unknown); u++)
					if (strcmp(condition_types[rule->conditions[c].kind].name,
						   unknown[u].kind) == 0)
						return unknown[u].reason;
		}
	return NULL;
}

static const char *effect_word(enum effect effect)
{
	static const char *const words[] = {"deny", "ask", "allow"};

	return words[effect];
}

/* Was the call decided by rules? Token, budget and connector have codes of their own. */
static bool decided_by_rules(const char *code)
{
	static const char *const codes[] = {"allowed",	     "rule_denies",	"rule_asks",
					    "rule_unclear",  "too_many_limits", "no_rule",
					    "unknown_agent", "malformed"};

	for (size_t i = 0; code != NULL && i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Could the user have had this name? Not if the recorded bundle would have decided otherwise. */
static bool fits(const struct bundle *recorded, const struct call_facts *facts,
		 const struct json *record)
{
	struct verdict verdict;

	if (recorded == NULL || unknown_fact(recorded, facts) != NULL)
		return true;
	policy_decide(recorded, facts, &verdict);
	return same_text(effect_word(verdict.effect), json_get_str(record, REC_DECISION)) &&
	       same_text(verdict.rule, json_get_str(record, REC_RULE));
}

/* False when the names that are possible give different answers. */
static bool decide_for_all(const struct bundle *bundle, const struct bundle *recorded,
			   const struct call_facts *facts, const struct json *record,
			   struct verdict *ret_verdict)
{
	struct names_room room = {0};
	struct call_facts tried = *facts;
	struct verdict verdict;
	bool decided = false, agree = true;

	add_name(&room, facts->subject.user);
	add_users(&room, bundle);
	if (recorded != NULL)
		add_users(&room, recorded);
	for (size_t i = 0; i < room.count && agree; i++) {
		tried.subject.user = room.items[i];
		if (!fits(recorded, &tried, record))
			continue;
		policy_decide(bundle, &tried, &verdict);
		if (decided && verdict.effect != ret_verdict->effect)
			agree = false;
		else if (!decided)
			*ret_verdict = verdict;
		decided = true;
	}
	mem_free(room.items);
	return decided && agree;
}

static enum replay_class compare(const char *was, enum effect effect)
{
	enum effect before = EFFECT_DENY;

	while (before < EFFECT_ALLOW && !same_text(effect_word(before), was))
		before++;
	if (before == effect)
		return REPLAY_UNCHANGED;
	return effect > before ? REPLAY_WOULD_ALLOW : REPLAY_WOULD_DENY;
}

static void not_replayable(struct replay_line *line, const char *reason)
{
	line->class = REPLAY_NOT_REPLAYABLE;
	line->reason = reason;
}

static void replay_call(const struct bundle *bundle, const struct json *record,
			const struct bundle *recorded, struct replay_line *line)
{
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	const struct call_facts *facts;
	const char *unknown;

	if (read_call(record, &spec, NULL) < 0) {
		not_replayable(line, "no_facts");
		return;
	}
	facts = call_spec_facts(spec);
	line->call = call_spec_json(facts);
	unknown = unknown_fact(bundle, facts);
	if (unknown != NULL)
		not_replayable(line, unknown);
	else if (!decide_for_all(bundle, recorded, facts, record, &line->verdict))
		not_replayable(line, "user");
	else
		line->class = compare(line->was, line->verdict.effect);
}

void replay_record(const struct bundle *bundle, const struct json *record, replay_find_fn *find,
		   void *data, struct replay_line *ret_line)
{
	const char *digest = json_get_str(record, REC_POLICY);
	struct replay_line line = {.class = REPLAY_NO_DECISION};

	if (same_text(json_get_str(record, REC_EVENT), EV_TOOL_INTENT)) {
		line.was = json_get_str(record, REC_DECISION);
		if (decided_by_rules(json_get_str(record, REC_CODE)))
			replay_call(bundle, record, digest == NULL ? NULL : find(data, digest),
				    &line);
		else
			not_replayable(&line, "decided_elsewhere");
	}
	*ret_line = line;
}

void replay_line_clear(struct replay_line *line)
{
	json_free(line->call);
	*line = (struct replay_line){.class = REPLAY_NO_DECISION};
}

const char *replay_class_name(enum replay_class class)
{
	static const char *const names[] = {
		[REPLAY_UNCHANGED] = "unchanged",     [REPLAY_WOULD_ALLOW] = "would_allow",
		[REPLAY_WOULD_DENY] = "would_deny",   [REPLAY_NOT_REPLAYABLE] = "not_replayable",
		[REPLAY_NO_DECISION] = "no_decision",
	};

	return names[class];
}
