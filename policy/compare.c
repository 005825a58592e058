/*
 * See compare.h for why this is right. For each rule of b that grants, in each frame: its largest
 * call is put to a. Nothing here judges a call by itself: the evaluator does, on both sides.
 */
#include "policy/compare.h"

#include <stdlib.h>
#include <string.h>

#include "policy/call_spec.h"
#include "policy/compare_parts.h"
#include "policy/vocabulary.h"

#define OTHER_TOOL "any_other_tool"

struct search { /* one agent, one tool, one direction */
	struct side a;
	struct side b;
	struct differences *found;
};

static void not_proven(struct differences *found, const char *why)
{
	if (!found->complete)
		return;
	found->complete = false;
	found->not_proven = why;
}

/* ---- calls out of atoms ---- */

struct call_room { /* memory for the names of one call */
	const char **tables;
	const char **columns;
	const char **functions;
	char **made;
	size_t made_count;
};

static void room_clear(struct call_room *room)
{
	for (size_t i = 0; i < room->made_count; i++)
		mem_free(room->made[i]);
	mem_free(room->made);
	mem_free(room->tables);
	mem_free(room->columns);
	mem_free(room->functions);
}

static const char *column_name(struct call_room *room, const char *table, const char *column)
{
	room->made[room->made_count] = mem_format("%s.%s", table, column == NULL ? "" : column);
	return room->made[room->made_count++];
}

/* The atoms of one table follow each other; its first one touches it, the others read it. */
static void add_data(struct call_facts *facts, struct call_room *room, const struct atoms *atoms,
		     size_t at)
{
	const struct atom *atom = &atoms->items[at];
	bool seen = facts->tables.count > 0 &&
		    strcmp(room->tables[facts->tables.count - 1], atom->table) == 0;
	bool more = at + 1 < atoms->count && atoms->items[at + 1].table != NULL &&
		    strcmp(atoms->items[at + 1].table, atom->table) == 0;

	if (!seen)
		room->tables[facts->tables.count++] = atom->table;
	if (atom->column != NULL || !more)
		room->columns[facts->columns.count++] =
			column_name(room, atom->table, atom->column);
}

static void make_call(struct call_facts *facts, struct call_room *room, const struct atoms *atoms)
{
	*room = (struct call_room){
		.tables = mem_array(atoms->count + 1, sizeof(*room->tables)),
		.columns = mem_array(atoms->count + 1, sizeof(*room->columns)),
		.functions = mem_array(atoms->count + 1, sizeof(*room->functions)),
		.made = mem_array(atoms->count + 1, sizeof(*room->made)),
	};
	facts->tables.count = facts->columns.count = facts->functions.count = 0;
	for (size_t i = 0; i < atoms->count; i++) {
		if (atoms->items[i].function != NULL)
			room->functions[facts->functions.count++] = atoms->items[i].function;
		else
			add_data(facts, room, atoms, i);
	}
	facts->tables.items = room->tables;
	facts->columns.items = room->columns;
	facts->functions.items = room->functions;
}

static void decide(const struct side *side, const struct frame *frame, const struct atoms *atoms,
		   struct verdict *verdict)
{
	struct call_facts facts = frame->facts;
	CLEANUP(room_clear) struct call_room room;

	make_call(&facts, &room, atoms);
	policy_decide(side->bundle, &facts, verdict);
}

static bool allows(const struct side *side, const struct frame *frame, const struct atoms *atoms)
{
	struct verdict verdict;

	decide(side, frame, atoms, &verdict);
	return verdict.effect == EFFECT_ALLOW;
}

/* ---- the least that shows it ---- */

/* All atoms that a does not allow even alone. */
static size_t keep_single(const struct side *a, const struct frame *frame, struct atoms *atoms)
{
	struct atoms kept = {0};

	kept.items = mem_array(atoms->count + 1, sizeof(*kept.items));
	for (size_t i = 0; i < atoms->count; i++) {
		struct atoms one = {.items = &atoms->items[i], .count = 1};

		if (!allows(a, frame, &one))
			kept.items[kept.count++] = atoms->items[i];
	}
	if (kept.count > 0) {
		memcpy(atoms->items, kept.items, kept.count * sizeof(*kept.items));
		atoms->count = kept.count;
	}
	mem_free(kept.items);
	return kept.count;
}

/* Drops whatever is not needed for a to refuse. */
static void keep_needed(const struct side *a, const struct frame *frame, struct atoms *atoms)
{
	for (size_t i = atoms->count; i-- > 0;) {
		struct atom dropped = atoms->items[i];

		memmove(&atoms->items[i], &atoms->items[i + 1],
			(atoms->count - i - 1) * sizeof(*atoms->items));
		atoms->count--;
		if (!allows(a, frame, atoms))
			continue;
		memmove(&atoms->items[i + 1], &atoms->items[i],
			(atoms->count - i) * sizeof(*atoms->items));
		atoms->items[i] = dropped;
		atoms->count++;
	}
}

static void make_least(const struct side *a, const struct frame *frame, struct atoms *atoms)
{
	struct atoms none = {0};

	if (!allows(a, frame, &none))
		atoms->count = 0;
	else if (keep_single(a, frame, atoms) == 0)
		keep_needed(a, frame, atoms);
}

/* ---- what was found ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The same rules on both sides and the same data: that somebody else may do it too says no more. */
static bool is_known(const struct differences *found, const struct difference *difference)
{
	static const char *const keys[] = {"tables", "columns", "functions"};

	for (size_t i = 0; i < found->count; i++) {
		const struct difference *known = &found->items[i];
		bool same = known->kind == difference->kind &&
			    same_text(known->limit, difference->limit) &&
			    same_text(known->more.rule, difference->more.rule) &&
			    same_text(known->less.rule, difference->less.rule);

		for (size_t k = 0; k < ARRAY_LEN(keys) && same; k++)
			same = json_equal(json_get(known->call, keys[k]),
					  json_get(difference->call, keys[k]));
		if (same)
			return true;
	}
	return false;
}

static void note(struct search *search, const struct frame *frame, const struct atoms *atoms,
		 enum difference_kind kind, const char *limit)
{
	struct difference difference = {.kind = kind, .limit = limit};
	struct call_facts facts = frame->facts;
	CLEANUP(room_clear) struct call_room room;

	make_call(&facts, &room, atoms);
	policy_decide(search->b.bundle, &facts, &difference.more);
	policy_decide(search->a.bundle, &facts, &difference.less);
	difference.call = call_spec_json(&facts);
	if (is_known(search->found, &difference) ||
	    search->found->count == COMPARE_DIFFERENCES_MAX) {
		json_free(difference.call);
		return;
	}
	search->found->items =
		mem_grow(search->found->items, (search->found->count + 1) * sizeof(difference));
	search->found->items[search->found->count++] = difference;
}

/* ---- one rule in one frame ---- */

static const char *larger_limit(const struct call_limits *more, const struct call_limits *less)
{
	if (more->rows > less->rows)
		return "rows";
	if (more->bytes > less->bytes)
		return "bytes";
	if (more->scan_bytes > less->scan_bytes)
		return "scan";
	return more->time_ms > less->time_ms ? "time" : NULL;
}

/* Is one at least as strict as other? */
static bool is_stricter(const struct rule_limit *one, const struct rule_limit *other)
{
	bool calls = other->calls == 0 ||
		     (one->calls > 0 && one->calls <= other->calls && one->per_ms >= other->per_ms);
	bool running = other->running == 0 || (one->running > 0 && one->running <= other->running);

	return calls && running && one->each == other->each;
}

/* Each limit on how often of the one must have its like in the other. */
static bool looser_rates(const struct verdict *more, const struct verdict *less)
{
	for (size_t i = 0; i < less->rate_count; i++) {
		bool kept = false;

		for (size_t k = 0; k < more->rate_count; k++)
			kept = kept || is_stricter(more->rates[k], less->rates[i]);
		if (!kept)
			return true;
	}
	return false;
}

static const char *differs_in_limit(const struct search *search, const struct frame *frame,
				    const struct atoms *atoms)
{
	struct verdict more, less;

	decide(&search->b, frame, atoms, &more);
	decide(&search->a, frame, atoms, &less);
	if (more.effect != EFFECT_ALLOW || less.effect != EFFECT_ALLOW)
		return NULL;
	if (looser_rates(&more, &less))
		return "rate";
	return larger_limit(&more.limits, &less.limits);
}

/* Nothing, or a single piece, if that shows it as well. */
static void note_limit(struct search *search, const struct frame *frame, const struct atoms *atoms,
		       const char *limit)
{
	struct atoms least = *atoms;

	for (size_t i = 0; i <= atoms->count; i++) {
		struct atoms one = {.items = i == 0 ? NULL : &atoms->items[i - 1], .count = i > 0};

		if (differs_in_limit(search, frame, &one) == limit) {
			least = one;
			break;
		}
	}
	note(search, frame, &least, DIFFERENCE_LIMIT, limit);
}

/* The largest call that this rule of b and that rule of a both grant: on it b's limits are largest
 * and a's are still at most those of its rule. */
static void compare_limits(struct search *search, const struct frame *frame,
			   const struct atoms *atoms, const struct rule *other,
			   const struct active *a)
{
	CLEANUP(atoms_clear) struct atoms shared = atoms_copy(atoms);
	const char *limit;

	atoms_keep(&shared, search->a.bundle, other, &a->takes);
	limit = differs_in_limit(search, frame, &shared);
	if (limit != NULL)
		note_limit(search, frame, &shared, limit);
}

static bool lists_rule(const struct rule_list *list, const struct rule *rule)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == rule)
			return true;
	return false;
}

static void search_frame(struct search *search, const struct frame *frame, const struct rule *rule)
{
	CLEANUP(active_clear) struct active a;
	CLEANUP(active_clear) struct active b;
	CLEANUP(atoms_clear) struct atoms atoms = {0};

	active_find(&search->a, frame, &a);
	active_find(&search->b, frame, &b);
	if (!lists_rule(&b.grants, rule))
		return;
	if (frame->facts.database != NULL)
		atoms_of_rule(rule, &b.takes, &search->a, &search->b, &atoms);
	if (!allows(&search->b, frame, &atoms)) {
		if (atoms.count > 0)
			not_proven(search->found, "a call could not be made that must be allowed");
		return;
	}
	if (atoms.cut)
		not_proven(search->found, "a rule names more than one call can touch");
	for (size_t i = 0; i < a.grants.count; i++)
		compare_limits(search, frame, &atoms, a.grants.items[i], &a);
	if (allows(&search->a, frame, &atoms))
		return;
	make_least(&search->a, frame, &atoms);
	note(search, frame, &atoms, DIFFERENCE_ALLOWS, NULL);
}

static void search_rule(struct search *search, const struct call_facts *who,
			const struct rule *rule)
{
	CLEANUP(frames_clear) struct frames frames;
	struct frame frame = {*who};

	frames_find(rule, &search->a, &search->b, &frames);
	if (frames_count(&frames) > COMPARE_FRAMES_MAX)
		not_proven(search->found, "too many combinations of what rules ask for");
	if (!frames.attributes.complete || !frames.arguments.complete)
		not_proven(search->found, "a rule asks for a list in too many ways");
	for (size_t i = 0; i < frames_count(&frames) && i < COMPARE_FRAMES_MAX; i++) {
		frames_at(&frames, i, &frame.facts);
		search_frame(search, &frame, rule);
	}
}

/* ---- one agent and tool ---- */

static int by_place(const void *left, const void *right)
{
	const struct rule *a = *(const struct rule *const *)left;
	const struct rule *b = *(const struct rule *const *)right;

	return a < b ? -1 : a > b;
}

struct side compare_side(const struct bundle *bundle, const char *agent, const char *tool)
{
	const struct bundle_agent *known = bundle_agent_find(bundle, agent);
	struct side side = {.bundle = bundle};
	struct candidates candidates;
	size_t most = 0;

	if (known == NULL)
		return side;
	candidates = bundle_candidates(bundle, known->name,
				       symbols_find(&bundle->symbols, tool, strlen(tool)));
	for (size_t s = 0; s < candidates.count; s++)
		most += candidates.spans[s]->count;
	side.rules.items = mem_array(most + 1, sizeof(*side.rules.items));
	for (size_t s = 0; s < candidates.count; s++)
		for (size_t i = 0; i < candidates.spans[s]->count; i++)
			side.rules.items[side.rules.count++] =
				&bundle->rules[bundle->index.rules[candidates.spans[s]->start + i]];
	if (side.rules.count > 1)
		qsort(side.rules.items, side.rules.count, sizeof(*side.rules.items), by_place);
	return side;
}

static bool side_is_understood(const struct side *side)
{
	for (size_t i = 0; i < side->rules.count; i++)
		if (!rule_is_understood(side->rules.items[i]))
			return false;
	return true;
}

void policy_wider(const struct bundle *a, const struct bundle *b, const char *agent,
		  const char *tool, struct differences *ret_differences)
{
	struct differences found = {.complete = true};
	struct search search = {compare_side(a, agent, tool), compare_side(b, agent, tool), &found};
	struct call_facts who = {.agent = agent, .tool = tool};

	if (!side_is_understood(&search.a) || !side_is_understood(&search.b))
		not_proven(&found, "a rule asks something that has no finite number of cases");
	for (size_t i = 0; i < search.b.rules.count; i++)
		if (search.b.rules.items[i]->effect == EFFECT_ALLOW)
			search_rule(&search, &who, search.b.rules.items[i]);
	mem_free(search.a.rules.items);
	mem_free(search.b.rules.items);
	*ret_differences = found;
}

void differences_clear(struct differences *differences)
{
	for (size_t i = 0; i < differences->count; i++)
		json_free(differences->items[i].call);
	mem_free(differences->items);
	*differences = (struct differences){0};
}

/* ---- all agents and tools ---- */

struct name_list {
	const char **items;
	size_t count;
};

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void list_add(struct name_list *list, const char *name)
{
	list->items = mem_grow(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] = name;
}

static void list_sort(struct name_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), by_text);
	for (size_t i = 0; i < list->count; i++)
		if (kept == 0 || strcmp(list->items[i], list->items[kept - 1]) != 0)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static void add_rule_tools(const struct bundle *bundle, struct name_list *list)
{
	for (size_t r = 0; r < bundle->rule_count; r++)
		for (size_t i = 0; i < bundle->rules[r].tools.count; i++)
			list_add(list,
				 symbols_text(&bundle->symbols, bundle->rules[r].tools.items[i]));
}

const char **compare_tools(const struct bundle *a, const struct bundle *b, size_t *ret_count)
{
	struct name_list tools = {0};

	for (size_t i = 0; i < tool_word_count; i++)
		list_add(&tools, tool_words[i].name);
	add_rule_tools(a, &tools);
	add_rule_tools(b, &tools);
	list_add(&tools, OTHER_TOOL);
	list_sort(&tools);
	*ret_count = tools.count;
	return tools.items;
}

static struct name_list all_agents(const struct bundle *a, const struct bundle *b)
{
	struct name_list agents = {0};

	for (size_t i = 0; i < bundle_agent_count(a); i++)
		list_add(&agents, bundle_agent_at(a, i)->name);
	for (size_t i = 0; i < bundle_agent_count(b); i++)
		list_add(&agents, bundle_agent_at(b, i)->name);
	list_sort(&agents);
	return agents;
}

static bool same_rules(const struct bundle *bundle, const char *agent, const char *one,
		       const char *other)
{
	struct side a = compare_side(bundle, agent, one), b = compare_side(bundle, agent, other);
	bool same = a.rules.count == b.rules.count;

	for (size_t i = 0; i < a.rules.count && same; i++)
		same = a.rules.items[i] == b.rules.items[i];
	mem_free(a.rules.items);
	mem_free(b.rules.items);
	return same;
}

/* What one tool shows another shows too, if the same rules speak of both: only the verdicts are
 * taken anew. */
static void copy_differences(const struct bundle *less, const struct bundle *more, const char *tool,
			     const struct differences *from, struct differences *ret)
{
	*ret = (struct differences){.complete = from->complete, .not_proven = from->not_proven};
	ret->items = mem_array(from->count + 1, sizeof(*ret->items));
	for (size_t i = 0; i < from->count; i++) {
		CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
		struct difference *made = &ret->items[ret->count];

		*made = from->items[i];
		made->call = json_copy(from->items[i].call);
		json_set_str(made->call, "tool", tool);
		if (call_spec_read(made->call, &spec, NULL) < 0) {
			json_free(made->call); /* never: it was made of facts */
			continue;
		}
		policy_decide(more, call_spec_facts(spec), &made->more);
		policy_decide(less, call_spec_facts(spec), &made->less);
		ret->count++;
	}
}

static void compare_pair(const struct bundle *a, const struct bundle *b, struct comparison *result,
			 const char *agent, const char *tool)
{
	struct pair_comparison *pair = &result->pairs[result->count];

	pair->agent = agent;
	pair->tool = tool;
	for (size_t i = result->count; i-- > 0;) {
		const struct pair_comparison *known = &result->pairs[i];

		if (strcmp(known->agent, agent) != 0)
			break;
		if (!same_rules(a, agent, known->tool, tool) ||
		    !same_rules(b, agent, known->tool, tool))
			continue;
		copy_differences(a, b, tool, &known->wider, &pair->wider);
		copy_differences(b, a, tool, &known->narrower, &pair->narrower);
		result->count++;
		return;
	}
	policy_wider(a, b, agent, tool, &pair->wider);
	policy_wider(b, a, agent, tool, &pair->narrower);
	result->count++;
}

void policy_compare(const struct bundle *a, const struct bundle *b, struct comparison *ret_result)
{
	struct name_list agents = all_agents(a, b);
	size_t tool_count;
	CLEANUP(mem_freep) const char **tools = compare_tools(a, b, &tool_count);
	struct comparison result = {0};

	result.pairs = mem_array(agents.count * tool_count + 1, sizeof(*result.pairs));
	for (size_t i = 0; i < agents.count; i++)
		for (size_t t = 0; t < tool_count; t++)
			compare_pair(a, b, &result, agents.items[i], tools[t]);
	mem_free(agents.items);
	*ret_result = result;
}

void comparison_clear(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		differences_clear(&comparison->pairs[i].wider);
		differences_clear(&comparison->pairs[i].narrower);
	}
	mem_free(comparison->pairs);
	*comparison = (struct comparison){0};
}

enum relation pair_relation(const struct pair_comparison *pair)
{
	if (pair->wider.count > 0)
		return pair->narrower.count > 0 ? RELATION_MIXED : RELATION_WIDER;
	if (!pair->wider.complete)
		return RELATION_UNKNOWN;
	if (pair->narrower.count > 0)
		return RELATION_NARROWER;
	return pair->narrower.complete ? RELATION_SAME : RELATION_NARROWER;
}

const char *relation_name(enum relation relation)
{
	static const char *const names[] = {[RELATION_SAME] = "same",
					    [RELATION_NARROWER] = "narrower",
					    [RELATION_WIDER] = "wider",
					    [RELATION_MIXED] = "mixed",
					    [RELATION_UNKNOWN] = "not proven"};

	return names[relation];
}
