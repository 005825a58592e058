/*
 * One walk over the items with a few open expectations: behind "by" a dimension is due, behind
 * "which" a subject, behind "highest" a metric or a subject, behind "how many" something counted.
 * What cannot be placed is reported as bad, never skipped.
 */
#include "agents/query/roles_walk.h"

#include <string.h>

bool walk_has_dims(const struct walk *walk)
{
	return roles_count(walk->roles, walk->items, ROLE_DIM) > 0;
}

static void close_all(struct walk *walk)
{
	walk->group_open = false;
	walk->per_open = false;
	walk->which_open = false;
	walk->super_open = false;
	walk->most_open = false;
	walk->count_open = false;
	walk->sort_open = false;
}

static void place(struct walk *walk, size_t i, enum role role, bool subject)
{
	struct part *part = &walk->roles->parts[i];

	part->role = role;
	part->subject = subject;
	part->averaged = role == ROLE_DIM && walk->per_open;
	walk->group_last = role == ROLE_DIM && (walk->group_open || walk->per_open ||
						walk->group_last != NO_ITEM)
				   ? i
				   : NO_ITEM;
	close_all(walk);
}

void walk_bad(struct walk *walk, size_t i, const char *why)
{
	if (walk->roles->bad != NO_ITEM)
		return;
	walk->roles->bad = i;
	walk->roles->bad_why = why;
}

static bool is_flag_field(const struct item *item)
{
	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind != READ_FIELD ||
		    item->readings[i].field->type != TYPE_BOOLEAN)
			return false;
	return item->reading_count > 0;
}

/* "the team members": a qualified noun right before another noun only tells which value is meant.
 */
static bool only_qualifies(const struct walk *walk, size_t i)
{
	size_t next = i + 1;

	/* "low priority open issues": another value may stand between */
	while (walk_item(walk, next) != NULL && walk->roles->parts[next].role == ROLE_VALUE &&
	       walk->roles->parts[next].qualifier != i && walk_word(walk, next)->mark != ',')
		next++;
	return walk_qualifies(walk, i) && walk_item(walk, next) != NULL &&
	       walk_item(walk, next)->kind == ITEM_MODEL && walk_word(walk, next)->mark != ',' &&
	       walk->roles->parts[next].role != ROLE_VALUE;
}

/* "by region and month": a dimension listed behind another. */
static bool continues_group(const struct walk *walk, size_t i)
{
	const struct item *next = walk_item(walk, i + 1);

	if (walk->group_last == NO_ITEM || i == 0)
		return false;
	/* "opened per month and closed per month": another date, not another grouping */
	if (next != NULL && (item_is_op(next, OPW_GROUP) || item_is_op(next, OPW_PER)))
		return false;
	if (walk_joint(walk, i - 1))
		return walk->group_last + 2 == i;
	return walk->group_last + 1 == i && walk_word(walk, i)->mark == ',';
}

static void spend_joint(struct walk *walk, size_t i)
{
	if (i > 0 && walk_joint(walk, i - 1))
		walk_item(walk, i - 1)->spent = true;
}

/* "status East", "where status is East": the field has no such value. */
static bool meets_other_value(const struct walk *walk, size_t i)
{
	size_t next = i + 1;

	if (item_is_plural(walk->sentence, walk_item(walk, i)))
		return false;
	while (walk_is(walk, next, "is") || walk_is(walk, next, "of") || walk_is(walk, next, "the"))
		next++;
	return walk_item(walk, next) != NULL && walk->roles->parts[next].role == ROLE_VALUE &&
	       walk_word(walk, next)->mark == 0;
}

/* A bare noun: nothing before it says what it is for. */
static void place_bare(struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);
	bool metric = item_names_metric(item);

	if (i > 0 && walk->super_metric == i - 1 && item_is_noun(item) && !walk_has_dims(walk) &&
	    walk_word(walk, i)->mark == 0) /* "the lowest revenue article" */
		place(walk, i, ROLE_DIM, true);
	else if (item_has(item, READ_METRIC) && !item_has(item, READ_DATASET))
		place(walk, i, ROLE_METRIC, false);
	else if (metric && !(walk_qualifies(walk, i) && !item_is_plural(walk->sentence, item)))
		place(walk, i, ROLE_DEFERRED, false);
	else if (walk_qualifies(walk, i))
		place(walk, i, ROLE_QUALIFIER, false);
	else if (item_has_time(item))
		place(walk, i, ROLE_TIME, false);
	else if (i > 0 && walk->roles->parts[i - 1].role == ROLE_DIM &&
		 walk_word(walk, i)->mark == 0)
		walk_bad(walk, i, "I cannot tell how it goes together with the word before it");
	else if (meets_other_value(walk, i))
		walk_bad(walk, i, "the value behind it is none of its values");
	else if (item_is_plural(walk->sentence, item) || !item_has(item, READ_DATASET))
		place(walk, i, ROLE_DIM, true);
	else
		place(walk, i, ROLE_CONTEXT, false);
}

/* Behind "highest" and its like. */
static void place_super(struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);
	bool metric = item_names_metric(item);

	if (metric && (walk->most_open || !item_is_noun(item) || walk_has_dims(walk))) {
		walk->super_metric = i;
		place(walk, i, ROLE_METRIC, false);
	} else {
		place(walk, i, ROLE_DIM, true);
	}
}

static void place_counted(struct walk *walk, size_t i)
{
	place(walk, i, item_names_metric(walk_item(walk, i)) ? ROLE_METRIC : ROLE_COUNTED, false);
}

static void place_grouped(struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);
	bool ranked = walk->roles->super != SUPER_NONE || walk->roles->sorted;

	if (!item_is_noun(item) &&
	    (walk->per_open || (!ranked && !walk_has_dims(walk) && !walk->roles->compare)))
		walk_bad(walk, i, "a metric is nothing to group by");
	if (item_is_noun(item) && (walk->per_open || !item_names_metric(item) || !ranked)) {
		place(walk, i, ROLE_DIM, false);
		return;
	}
	/* "top 3 regions by net sales" */
	place(walk, i, walk_has_dims(walk) || !item_is_noun(item) ? ROLE_METRIC : ROLE_DIM, false);
}

/* "which Team Leads have open issues": the things that have the value, not named as such. */
static bool is_asked_for(const struct walk *walk, size_t i)
{
	const struct item *next = walk_item(walk, i + 1);

	return i > 0 && walk_is(walk, i - 1, "which") && next != NULL &&
	       next->kind == ITEM_FILLER && walk->roles->parts[i].qualifier == NO_ITEM;
}

/* "customers ordered": nothing but the deed is said, so it names the rows spoken of. */
static bool is_deed(const struct item *item)
{
	for (size_t i = 0; i < item->reading_count; i++)
		if (!item->readings[i].deed)
			return false;
	return item->reading_count > 0;
}

static void walk_model(struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);

	if (is_deed(item)) {
		walk->roles->parts[i].role = ROLE_CONTEXT;
		return;
	}

	if (walk->roles->parts[i].role == ROLE_VALUE) {
		bool each = walk->group_open || walk->per_open;

		if (each && walk->roles->parts[i].qualifier == i + 1)
			return; /* "each AI employee": the noun is what is grouped by */
		if (is_asked_for(walk, i) || each)
			walk_bad(walk, i, "it is a value, and it is not said of what");
		walk->group_open = false;
		walk->per_open = false;
		return; /* "how many completed orders": what is due stays due */
	}
	if (i == walk->roles->column)
		return;
	if (walk_is(walk, i, "who"))
		walk->roles->listing = true;
	if (is_flag_field(item) && !walk->group_open && !walk->per_open) {
		walk->roles->parts[i].role = ROLE_FLAG;
		return;
	}
	if (only_qualifies(walk, i) && !item_names_metric(item)) {
		walk->roles->parts[i].role = ROLE_QUALIFIER;
		return;
	}
	if (walk->sort_open && item_is_noun(item) && !item_names_metric(item)) {
		place(walk, i, ROLE_SORT, false);
	} else if (walk->sort_open) {
		place(walk, i, ROLE_METRIC, false);
	} else if (walk->count_open) {
		place_counted(walk, i);
	} else if (walk->group_open || walk->per_open) {
		place_grouped(walk, i);
	} else if (item_is_noun(item) && continues_group(walk, i)) {
		spend_joint(walk, i);
		place(walk, i, ROLE_DIM, false);
	} else if (walk->which_open && item_is_noun(item)) {
		place(walk, i, ROLE_DIM, true);
	} else if (walk->super_open || walk->most_open) {
		place_super(walk, i);
	} else {
		place_bare(walk, i);
	}
}

static void set_super(struct walk *walk, size_t i, enum superlative super, bool most)
{
	if (walk->roles->super != SUPER_NONE && walk->roles->super != super)
		walk_bad(walk, i, "two superlatives");
	walk->roles->super = super;
	walk->roles->super_item = i;
	walk->super_open = !most;
	walk->most_open = most;
}

static int64_t limit_of(const struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);
	const struct word *word = NULL;

	if (item == NULL || item->kind != ITEM_NUMBER)
		return 0;
	word = walk_word(walk, i);
	return !word->real && !word->percent && word->number >= 1 && word->number <= 100000
		       ? (int64_t)word->number
		       : 0;
}

void walk_limit(struct walk *walk, size_t i)
{
	int64_t limit = limit_of(walk, i);

	if (limit == 0 || walk->roles->limit != 0)
		return;
	walk->roles->limit = limit;
	walk_item(walk, i)->spent = true;
}

static void walk_super(struct walk *walk, size_t i, enum op op)
{
	static const struct {
		enum op op;
		enum superlative super;
		bool most;
	} map[] = {
		{OPW_HIGHEST, SUPER_HIGH, false}, {OPW_LOWEST, SUPER_LOW, false},
		{OPW_MOST, SUPER_HIGH, true},	  {OPW_FEWEST, SUPER_LOW, true},
		{OPW_BEST, SUPER_BEST, false},	  {OPW_WORST, SUPER_WORST, false},
		{OPW_TOP, SUPER_HIGH, false},	  {OPW_BOTTOM, SUPER_LOW, false},
	};

	for (size_t k = 0; k < ARRAY_LEN(map); k++)
		if (map[k].op == op)
			set_super(walk, i, map[k].super, map[k].most);
	walk_limit(walk, i + 1);
	if (i > 0)
		walk_limit(walk, i - 1);
	walk_item(walk, i)->spent = true;
}

static void open_group(struct walk *walk, size_t i, bool per)
{
	if (i + 1 == walk->items->count && walk_is(walk, i, "each"))
		walk->roles->each_value = true;
	else if (per)
		walk->per_open = true;
	else
		walk->group_open = true;
}

/* "more than 5 orders", "quantity over 10": settled when the walk has placed the nouns. */
static void walk_condition(struct walk *walk, size_t i, enum filter_kind kind)
{
	struct item *number = walk_item(walk, i + 1);

	if (number == NULL || number->kind != ITEM_NUMBER) {
		walk_bad(walk, i, "a comparison without a number");
		return;
	}
	walk->roles->parts[i + 1].role = ROLE_NUMBER;
	walk->roles->parts[i + 1].compare = kind;
	walk_item(walk, i)->spent = true;
}

static void walk_flags(struct walk *walk, size_t i, enum op op)
{
	struct roles *roles = walk->roles;

	switch (op) {
	case OPW_SHARE:
		roles->share = true;
		walk->which_open = false; /* "what share of orders" */
		break;
	case OPW_COMPARE:
		roles->compare = true;
		break;
	case OPW_PREVIOUS:
		roles->previous = true;
		break;
	case OPW_YEAR_AGO:
		roles->year_ago = true;
		break;
	case OPW_AVERAGE:
		roles->average = true;
		walk->which_open = false;
		break;
	case OPW_TOTAL: /* says nothing but what "what" is about */
		walk->which_open = false;
		break;
	case OPW_DISTINCT:
		roles->distinct = true;
		break;
	case OPW_OVER_TIME:
		roles->over_time = true;
		break;
	case OPW_SORT:
		roles->sorted = true;
		walk->sort_open = true;
		break;
	case OPW_DESCENDING:
	case OPW_ASCENDING:
		roles->sorted = true;
		roles->super = op == OPW_DESCENDING ? SUPER_HIGH : SUPER_LOW;
		break;
	default: /* and, or, not and column are spent by what they join */
		return;
	}
	walk_item(walk, i)->spent = true;
}

static void walk_op(struct walk *walk, size_t i)
{
	struct item *item = walk_item(walk, i);

	switch (item->op) {
	case OPW_COUNT:
		walk->roles->counts = true;
		walk->count_open = true;
		walk->most_open = false;
		walk->super_open = false;
		item->spent = true;
		return;
	case OPW_GROUP:
	case OPW_PER:
		open_group(walk, i, item->op == OPW_PER);
		item->spent = true;
		return;
	case OPW_HIGHEST:
	case OPW_LOWEST:
	case OPW_MOST:
	case OPW_FEWEST:
	case OPW_BEST:
	case OPW_WORST:
	case OPW_TOP:
	case OPW_BOTTOM:
		walk_super(walk, i, item->op);
		return;
	case OPW_MORE:
		walk_condition(walk, i, FILTER_MORE);
		return;
	case OPW_LESS:
		walk_condition(walk, i, FILTER_LESS);
		return;
	case OPW_AT_LEAST:
		walk_condition(walk, i, FILTER_AT_LEAST);
		return;
	case OPW_AT_MOST:
		walk_condition(walk, i, FILTER_AT_MOST);
		return;
	case OPW_ACROSS_ALL:
		walk_bad(walk, i, "it can mean one total or one line for each");
		return;
	default:
		walk_flags(walk, i, item->op);
	}
}

/* "by month", "monthly", "which month", "best month" */
static void walk_unit(struct walk *walk, size_t i)
{
	const struct word *word = walk_word(walk, i);
	bool adverb = walk_item(walk, i)->count == 1 &&
		      strcmp(word->stem, period_unit_name(walk_item(walk, i)->unit)) != 0;

	if (walk->group_open || walk->per_open || adverb)
		place(walk, i, ROLE_DIM, false);
	else if (walk->which_open || walk->super_open)
		place(walk, i, ROLE_DIM, true);
	else if (continues_group(walk, i))
		spend_joint(walk, i), place(walk, i, ROLE_DIM, false);
	else
		walk_bad(walk, i, "no period and no grouping that I can read");
}

static void walk_filler(struct walk *walk, size_t i)
{
	static const char *const asking[] = {"which", "what", "whose", NULL};
	static const char *const verbs[] = {"is",   "are",   "was", "were",  "do",
					    "does", "did",   "has", "have",  "had",
					    "will", "would", "can", "could", NULL};
	static const char *const listing[] = {"list", "show", "display", "give",
					      "find", "tell", "which",	 NULL};
	const struct word *word = walk_word(walk, i);

	if (word_in(word, asking))
		walk->which_open = true;
	else if (word_in(word, verbs))
		walk->which_open = false;
	if (word_in(word, listing))
		walk->roles->listing = true;
	if (strcmp(word->text, "who") == 0)
		walk->roles->who = true;
	if (strcmp(word->text, "each") == 0 || strcmp(word->text, "every") == 0)
		walk->group_open = true;
}

static void walk_items(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		switch (walk->items->list[i].kind) {
		case ITEM_MODEL:
			walk_model(walk, i);
			break;
		case ITEM_OP:
			walk_op(walk, i);
			break;
		case ITEM_UNIT:
			walk_unit(walk, i);
			break;
		case ITEM_FILLER:
			walk_filler(walk, i);
			break;
		case ITEM_PERIOD:
			if (walk->group_open || walk->per_open)
				walk_bad(walk, i, "a grouping cannot be a single period");
			break;
		case ITEM_NUMBER:
		case ITEM_UNKNOWN:
			break;
		}
	}
	if (walk->group_open || walk->per_open || walk->sort_open)
		walk_bad(walk, walk->items->count - 1, "it is not said by what to group or sort");
}

void roles_read(struct roles *roles, const struct sentence *sentence, struct items *items)
{
	struct walk walk = {.roles = roles, .sentence = sentence, .items = items};

	memset(roles, 0, sizeof(*roles));
	roles->parts = mem_array(items->count + 1, sizeof(*roles->parts));
	roles->column = NO_ITEM;
	roles->bad = NO_ITEM;
	walk.group_last = NO_ITEM;
	walk.super_metric = NO_ITEM;
	walk_find_column(&walk);
	walk_pair_values(&walk);
	walk_items(&walk);
	walk_settle_numbers(&walk);
	walk_settle_not(&walk);
	walk_settle_deferred(&walk);
	walk_check_metrics(&walk);
	walk_check_spent(&walk);
}

void roles_clear(struct roles *roles)
{
	mem_free(roles->parts);
	roles->parts = NULL;
}

size_t roles_count(const struct roles *roles, const struct items *items, enum role role)
{
	size_t count = 0;

	for (size_t i = 0; i < items->count; i++)
		count += roles->parts[i].role == role ? 1 : 0;
	return count;
}

size_t roles_nth(const struct roles *roles, const struct items *items, enum role role, size_t n)
{
	for (size_t i = 0; i < items->count; i++)
		if (roles->parts[i].role == role && n-- == 0)
			return i;
	return NO_ITEM;
}
