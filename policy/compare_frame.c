/*
 * The frames of one agent and tool. Of each thing a rule can ask, only what the rules mention can
 * make a difference, so a name that none mentions stands for all the rest.
 *
 * Of users, groups and tenants few combinations are enough: rules ask for one of a list, never that
 * somebody is not in it. A call that b allows and a does not needs one entry that makes the
 * granting rule of b match, and at most one more that makes a rule of a take it away (or, where
 * both allow and limits differ, that makes the rule of a with the smaller limit match); with fewer
 * entries no further rule of b can take it away, and none of a can grant it.
 */
#include <string.h>
#include <strings.h>

#include "policy/compare_parts.h"

static bool mentions(const struct bundle *bundle, const char *name)
{
	return symbols_find_folded(&bundle->symbols, name, strlen(name)) != SYMBOL_NONE ||
	       symbols_find(&bundle->symbols, name, strlen(name)) != SYMBOL_NONE;
}

char *fresh_name(const struct bundle *a, const struct bundle *b, const char *like)
{
	char *name = mem_str(like);

	for (size_t i = 2; mentions(a, name) || mentions(b, name); i++) {
		mem_free(name);
		name = mem_format("%s_%zu", like, i);
	}
	return name;
}

/* ---- which rules matter in a frame ---- */

static bool is_about_data(enum condition_kind kind)
{
	return kind == CONDITION_TABLES || kind == CONDITION_COLUMNS ||
	       kind == CONDITION_FUNCTIONS || kind == CONDITION_TOUCHES;
}

bool rule_is_understood(const struct rule *rule)
{
	for (size_t i = 0; i < rule->condition_count; i++)
		switch (rule->conditions[i].kind) {
		case CONDITION_AGENTS:
		case CONDITION_TOOLS:
		case CONDITION_USERS:
		case CONDITION_DATABASE:
		case CONDITION_TABLES:
		case CONDITION_COLUMNS:
		case CONDITION_FUNCTIONS:
		case CONDITION_TOUCHES:
		case CONDITION_PHASE:
		case CONDITION_TENANTS:
		case CONDITION_ENVIRONMENTS:
		case CONDITION_FROM:
		case CONDITION_UNTIL:
		case CONDITION_DAYS:
		case CONDITION_HOURS:
		case CONDITION_ATTRIBUTE:
		case CONDITION_ARGUMENT:
		case CONDITION_CLOSED:
			break;
		default: /* a kind that is newer than this */
			return false;
		}
	return true;
}

static enum outcome try_frame(const struct rule *rule, const struct fact_ids *ids)
{
	enum outcome worst = OUTCOME_HOLDS;
	size_t part = 0;

	for (size_t i = 0; i < rule->condition_count && worst != OUTCOME_FAILS; i++) {
		const struct condition *condition = &rule->conditions[i];
		enum outcome outcome;

		if (is_about_data(condition->kind))
			continue;
		outcome = condition_types[condition->kind].test(rule, condition, ids, &part);
		if (outcome < worst)
			worst = outcome;
	}
	return worst;
}

const struct condition *frame_stops(const struct side *side, const struct frame *frame,
				    const struct rule *rule)
{
	CLEANUP(facts_clear) struct fact_ids ids;
	size_t part = 0;

	if (!facts_read(side->bundle, &frame->facts, &ids))
		return NULL;
	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];

		if (!is_about_data(condition->kind) &&
		    condition_types[condition->kind].test(rule, condition, &ids, &part) !=
			    OUTCOME_HOLDS)
			return condition;
	}
	return NULL;
}

static bool is_approved(const struct rule *rule, const struct names *approved)
{
	if (rule->effect != EFFECT_ASK)
		return false;
	for (size_t i = 0; i < approved->count; i++)
		if (strcmp(approved->items[i], rule->id) == 0)
			return true;
	return false;
}

static void list_add(struct rule_list *list, const struct rule *rule)
{
	list->items = mem_grow(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] = rule;
}

void active_find(const struct side *side, const struct frame *frame, struct active *ret_active)
{
	CLEANUP(facts_clear) struct fact_ids ids;

	memset(ret_active, 0, sizeof(*ret_active));
	if (!facts_read(side->bundle, &frame->facts, &ids))
		return;
	for (size_t i = 0; i < side->rules.count; i++) {
		const struct rule *rule = side->rules.items[i];
		enum outcome outcome = try_frame(rule, &ids);

		if (rule->effect == EFFECT_ALLOW && outcome == OUTCOME_HOLDS)
			list_add(&ret_active->grants, rule);
		else if (rule->effect != EFFECT_ALLOW && outcome != OUTCOME_FAILS &&
			 !(outcome == OUTCOME_HOLDS && is_approved(rule, &frame->facts.approved)))
			list_add(&ret_active->takes, rule);
	}
}

void active_clear(struct active *active)
{
	mem_free(active->grants.items);
	mem_free(active->takes.items);
}

/* ---- the frames ---- */

static void add_database(struct frames *frames, const char *name)
{
	for (size_t i = 0; i < frames->database_count; i++)
		if (frames->databases[i] != NULL && strcmp(frames->databases[i], name) == 0)
			return;
	frames->databases = mem_grow(frames->databases,
				     (frames->database_count + 1) * sizeof(*frames->databases));
	frames->databases[frames->database_count++] = name;
}

/* A granting rule of b reaches only its own database, and calls that touch none. */
static void find_databases(const struct rule *rule, struct frames *frames)
{
	frames->databases = mem_array(1, sizeof(*frames->databases));
	frames->database_count = 1; /* NULL */
	if (rule->data.kind == DATA_SOME)
		add_database(frames, rule->data.database_name);
}

enum who { WHO_NOBODY, WHO_USER, WHO_GROUP, WHO_TENANT };

struct entry { /* of users: */
	enum who who;
	const char *name;
};

struct entries {
	struct entry *items;
	size_t count;
};

static void add_entry(struct entries *entries, enum who who, const char *name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (entries->items[i].who == who &&
		    (who == WHO_NOBODY || strcmp(entries->items[i].name, name) == 0))
			return;
	entries->items = mem_grow(entries->items, (entries->count + 1) * sizeof(*entries->items));
	entries->items[entries->count++] = (struct entry){who, name};
}

static void add_set(struct entries *entries, const struct bundle *bundle, enum who who,
		    const struct symbol_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		add_entry(entries, who, symbols_text(&bundle->symbols, set->items[i]));
}

static void add_users(struct entries *entries, const struct bundle *bundle, const struct rule *rule)
{
	if (rule->everyone) {
		add_entry(entries, WHO_NOBODY, NULL);
		return;
	}
	/* a whole group makes the better example */
	add_set(entries, bundle, WHO_GROUP, &rule->groups);
	add_set(entries, bundle, WHO_TENANT, &rule->tenants);
	add_set(entries, bundle, WHO_USER, &rule->users);
}

static bool goes_together(const struct entry *one, const struct entry *other)
{
	if (one->who == WHO_NOBODY || other->who == WHO_NOBODY)
		return true;
	if (one->who != other->who)
		return true;
	return one->who == WHO_GROUP && strcmp(one->name, other->name) != 0;
}

static void add_to_subject(struct subject *subject, const struct entry *entry, const char **groups)
{
	switch (entry->who) {
	case WHO_USER:
		subject->user = entry->name;
		break;
	case WHO_TENANT:
		subject->tenant = entry->name;
		break;
	case WHO_GROUP:
		groups[subject->groups.count++] = entry->name;
		break;
	case WHO_NOBODY:
		break;
	}
}

static bool fixes_tenant(const struct entry *one, const struct entry *other)
{
	return one->who == WHO_TENANT || other->who == WHO_TENANT;
}

static void add_subject(const struct entry *one, const struct entry *other,
			const struct entry *tenant, struct frames *frames)
{
	const char **groups = &frames->groups[2 * frames->subject_count];
	struct subject *subject = &frames->subjects[frames->subject_count];

	if (!goes_together(one, other) || (tenant->who != WHO_NOBODY && fixes_tenant(one, other)))
		return;
	*subject = (struct subject){.user = frames->fresh_user, .groups = {groups, 0}};
	add_to_subject(subject, one, groups);
	add_to_subject(subject, other, groups);
	add_to_subject(subject, tenant, groups);
	frames->subject_count++;
}

/* tenants: those to be tried where no entry fixes one; the first is none at all. */
static void make_subjects(const struct entries *first, const struct entries *second,
			  const struct entries *tenants, struct frames *frames)
{
	size_t most = first->count * second->count * tenants->count;

	frames->subjects = mem_array(most + 1, sizeof(*frames->subjects));
	frames->groups = mem_array(2 * most + 1, sizeof(*frames->groups));
	for (size_t i = 0; i < first->count; i++)
		for (size_t j = 0; j < second->count; j++)
			for (size_t t = 0; t < tenants->count; t++)
				add_subject(&first->items[i], &second->items[j], &tenants->items[t],
					    frames);
}

/* The tenants that rules want beside users matter by being absent too. */
static void find_tenants(const struct side *side, struct entries *tenants)
{
	for (size_t i = 0; i < side->rules.count; i++)
		add_set(tenants, side->bundle, WHO_TENANT, &side->rules.items[i]->only_tenants);
}

static void find_subjects(const struct rule *rule, const struct side *a, const struct side *b,
			  struct frames *frames)
{
	struct entries first = {0}, second = {0}, tenants = {0};

	add_entry(&tenants, WHO_NOBODY, NULL);
	find_tenants(a, &tenants);
	find_tenants(b, &tenants);
	if (tenants.count > 1) {
		frames->fresh_tenant = fresh_name(a->bundle, b->bundle, "another_tenant");
		add_entry(&tenants, WHO_TENANT, frames->fresh_tenant);
	}
	frames->fresh_user = fresh_name(a->bundle, b->bundle, "someone");
	add_users(&first, b->bundle, rule);
	add_entry(&second, WHO_NOBODY, NULL);
	for (size_t i = 0; i < a->rules.count; i++)
		add_users(&second, a->bundle, a->rules.items[i]);
	make_subjects(&first, &second, &tenants, frames);
	mem_free(tenants.items);
	mem_free(first.items);
	mem_free(second.items);
}

static void find_approvals(const struct side *a, const struct side *b, struct frames *frames)
{
	const struct side *const sides[] = {a, b};
	size_t count = 0;

	frames->asks = mem_array(a->rules.count + b->rules.count + 1, sizeof(*frames->asks));
	for (size_t s = 0; s < ARRAY_LEN(sides); s++)
		for (size_t i = 0; i < sides[s]->rules.count; i++)
			if (sides[s]->rules.items[i]->effect == EFFECT_ASK)
				frames->asks[count++] = sides[s]->rules.items[i]->id;
	frames->approvals[1] = (struct names){frames->asks, count};
	frames->approval_count = count > 0 ? 2 : 1;
}

static void add_environment(struct frames *frames, const char *name)
{
	for (size_t i = 0; i < frames->environment_count; i++)
		if (frames->environments[i] != NULL && strcmp(frames->environments[i], name) == 0)
			return;
	frames->environments = mem_grow(frames->environments, (frames->environment_count +
							       1) * sizeof(*frames->environments));
	frames->environments[frames->environment_count++] = name;
}

static bool holds_at(const struct rule *rule, const struct fact_ids *ids)
{
	size_t part = 0;

	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];

		switch (condition->kind) {
		case CONDITION_FROM:
		case CONDITION_UNTIL:
		case CONDITION_DAYS:
		case CONDITION_HOURS:
			if (condition_types[condition->kind].test(rule, condition, ids, &part) !=
			    OUTCOME_HOLDS)
				return false;
			break;
		default:
			break;
		}
	}
	return true;
}

static void keep_times(const struct rule *rule, const struct bundle *bundle,
		       struct instants *instants)
{
	struct call_facts facts = {.agent = "-", .tool = "-", .subject = {.user = "-"}};
	size_t kept = 0;

	for (size_t i = 0; i < instants->count; i++) {
		CLEANUP(facts_clear) struct fact_ids ids;

		facts.setting.now_s = instants->items[i];
		if (facts_read(bundle, &facts, &ids) && holds_at(rule, &ids))
			instants->items[kept++] = instants->items[i];
	}
	instants->count = kept;
}

/* Only where the granting rule itself applies. */
static void find_environments(const struct rule *rule, const struct side *a, const struct side *b,
			      struct frames *frames)
{
	const struct side *const sides[] = {a, b};

	if (rule->environments.count > 0) {
		for (size_t i = 0; i < rule->environments.count; i++)
			add_environment(frames, symbols_text(&b->bundle->symbols,
							     rule->environments.items[i]));
		return;
	}

	frames->environments = mem_array(1, sizeof(*frames->environments));
	frames->environment_count = 1; /* NULL */
	for (size_t s = 0; s < ARRAY_LEN(sides); s++)
		for (size_t i = 0; i < sides[s]->rules.count; i++) {
			const struct symbol_set *set = &sides[s]->rules.items[i]->environments;

			for (size_t e = 0; e < set->count; e++)
				add_environment(frames, symbols_text(&sides[s]->bundle->symbols,
								     set->items[e]));
		}
	if (frames->environment_count == 1)
		return;
	frames->fresh_environment = fresh_name(a->bundle, b->bundle, "another_environment");
	add_environment(frames, frames->fresh_environment);
}

void frames_find(const struct rule *rule, const struct side *a, const struct side *b,
		 struct frames *ret_frames)
{
	struct frames frames = {0};

	find_databases(rule, &frames);
	find_subjects(rule, a, b, &frames);
	find_environments(rule, a, b, &frames);
	instants_find(a, b, &frames.instants);
	keep_times(rule, b->bundle, &frames.instants);
	attributes_find(rule, a, b, &frames.attributes);
	arguments_find(rule, a, b, &frames.arguments);
	find_approvals(a, b, &frames);
	*ret_frames = frames;
}

size_t frames_count(const struct frames *frames)
{
	const size_t counts[] = {frames->database_count,
				 frames->subject_count,
				 frames->environment_count,
				 frames->instants.count,
				 dimensions_count(&frames->attributes),
				 dimensions_count(&frames->arguments),
				 frames->approval_count};
	size_t all = 1;

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (__builtin_mul_overflow(all, counts[i], &all))
			return SIZE_MAX;
	return all;
}

static size_t take(size_t *index, size_t count)
{
	size_t at = *index % count;

	*index /= count;
	return at;
}

void frames_at(struct frames *frames, size_t index, struct call_facts *facts)
{
	size_t attributes = dimensions_count(&frames->attributes);
	size_t arguments = dimensions_count(&frames->arguments);

	facts->database = frames->databases[take(&index, frames->database_count)];
	facts->subject = frames->subjects[take(&index, frames->subject_count)];
	facts->setting.environment = frames->environments[take(&index, frames->environment_count)];
	facts->setting.now_s = frames->instants.items[take(&index, frames->instants.count)];
	json_free(frames->attributes_now);
	json_free(frames->arguments_now);
	frames->attributes_now = dimensions_at(&frames->attributes, take(&index, attributes));
	frames->arguments_now = dimensions_at(&frames->arguments, take(&index, arguments));
	facts->subject.attributes = frames->attributes_now;
	facts->arguments = frames->arguments_now;
	facts->approved = frames->approvals[take(&index, frames->approval_count)];
}

void frames_clear(struct frames *frames)
{
	mem_free(frames->databases);
	mem_free(frames->subjects);
	mem_free(frames->groups);
	mem_free(frames->asks);
	mem_free(frames->fresh_user);
	mem_free(frames->fresh_tenant);
	mem_free(frames->fresh_environment);
	mem_free(frames->environments);
	mem_free(frames->instants.items);
	dimensions_clear(&frames->attributes);
	dimensions_clear(&frames->arguments);
	json_free(frames->attributes_now);
	json_free(frames->arguments_now);
	*frames = (struct frames){0};
}
