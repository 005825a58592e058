/*
 * One walk over the items with a few open expectations: behind "by" a dimension is due, behind
 * "which" a subject, behind "highest" a metric or a subject, behind "how many" something counted.
 * Values and the nouns beside them are paired first, so that "the AI project" is one thing. What
 * cannot be placed is reported as bad, never skipped.
 */
#include "agents/query/roles.h"

#include <string.h>

struct walk {
	struct roles *roles;
	const struct sentence *sentence;
	struct items *items;
	bool group_open;
	bool per_open;
	bool which_open;
	bool super_open;
	bool most_open; /* "most": what follows is measured */
	bool count_open;
	bool sort_open;
	size_t group_last; /* the last dimension of "by A and B", or NO_ITEM */
};

static struct item *item_at(const struct walk *walk, size_t i)
{
	return i < walk->items->count ? &walk->items->list[i] : NULL;
}

static bool has_text(const struct walk *walk, size_t i, const char *text)
{
	const struct item *item = item_at(walk, i);

	return item != NULL && item_text_is(walk->sentence, item, text);
}

static const struct word *first_word(const struct walk *walk, size_t i)
{
	return &walk->sentence->items[walk->items->list[i].first];
}

bool item_text_is(const struct sentence *sentence, const struct item *item, const char *text)
{
	return item->count == 1 && strcmp(sentence->items[item->first].text, text) == 0;
}

bool item_is_noun(const struct item *item)
{
	return item_has(item, READ_FIELD) || item_has(item, READ_DATASET);
}

bool item_is_value(const struct item *item)
{
	return item_has(item, READ_VALUE) || item_has(item, READ_MISSING);
}

bool item_names_metric(const struct item *item)
{
	return item_has(item, READ_METRIC) || item_has(item, READ_COUNT);
}

bool item_is_plural(const struct sentence *sentence, const struct item *item)
{
	const struct word *last = &sentence->items[item->first + item->count - 1];

	return strcmp(last->text, last->stem) != 0;
}

static bool is_value_reading(const struct reading *reading)
{
	return reading->kind == READ_VALUE || reading->kind == READ_MISSING;
}

bool reading_fits(const struct reading *value, const struct reading *noun)
{
	if (!is_value_reading(value))
		return false;
	if (noun->kind == READ_FIELD) /* "team members" speaks of the rows that it names */
		return noun->field == value->field ||
		       (noun->field->names_row && noun->field->dataset == value->field->dataset);
	return noun->kind == READ_DATASET && noun->dataset == value->field->dataset;
}

static bool fits(const struct item *value, const struct item *noun, enum reading_kind kind)
{
	for (size_t i = 0; i < value->reading_count; i++)
		for (size_t j = 0; j < noun->reading_count; j++)
			if (noun->readings[j].kind == kind &&
			    reading_fits(&value->readings[i], &noun->readings[j]))
				return true;
	return false;
}

/* "region East", "region is East", "status of open", "project named Phoenix" */
static size_t noun_before(const struct walk *walk, size_t i)
{
	static const char *const between[] = {
		"is", "was", "are",  "were", "of", "the",  "named", "called", "not", "a",
		"an", "has", "have", "with", "to", "like", "at",    "in",     NULL};

	if (first_word(walk, i)->mark == ',' || first_word(walk, i)->mark == ';')
		return NO_ITEM;
	for (size_t j = i; j-- > 0;) {
		const struct item *item = item_at(walk, j);

		if (item->kind == ITEM_MODEL)
			return item_is_noun(item) && (fits(item_at(walk, i), item, READ_FIELD) ||
						      fits(item_at(walk, i), item, READ_DATASET))
				       ? j
				       : NO_ITEM;
		if (item_is_op(item, OPW_NOT))
			continue;
		if (item->count != 1 || !word_in(first_word(walk, j), between) || i - j > 3)
			return NO_ITEM;
	}
	return NO_ITEM;
}

/* "East region", "AI project", "completed orders" */
static size_t noun_behind(const struct walk *walk, size_t i)
{
	const struct item *noun = item_at(walk, i + 1);

	if (noun == NULL || noun->kind != ITEM_MODEL || first_word(walk, i + 1)->mark == ',')
		return NO_ITEM;
	if (fits(item_at(walk, i), noun, READ_FIELD) || fits(item_at(walk, i), noun, READ_DATASET))
		return i + 1;
	return NO_ITEM;
}

/* The noun is the name of the value's own field, not of the rows that have it. */
static bool names_field(const struct item *value, const struct item *noun)
{
	for (size_t i = 0; i < value->reading_count; i++)
		for (size_t j = 0; j < noun->reading_count; j++)
			if (is_value_reading(&value->readings[i]) &&
			    noun->readings[j].kind == READ_FIELD &&
			    noun->readings[j].field == value->readings[i].field)
				return true;
	return false;
}

/* In "members of the AI team" it is the team. */
static size_t find_qualifier(const struct walk *walk, size_t i)
{
	size_t before = noun_before(walk, i);
	size_t behind = noun_behind(walk, i);

	if (before == NO_ITEM || behind == NO_ITEM)
		return before == NO_ITEM ? behind : before;
	return names_field(item_at(walk, i), item_at(walk, before)) ? before : behind;
}

static bool is_joint(const struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);

	return item_is_op(item, OPW_AND) || item_is_op(item, OPW_OR);
}

/* The value that this one is listed with: "East and West", "East, West". */
static size_t find_chain(const struct walk *walk, size_t i)
{
	size_t j = i;

	if (i == 0)
		return NO_ITEM;
	if (is_joint(walk, i - 1))
		j = i - 1;
	else if (first_word(walk, i)->mark != ',' && first_word(walk, i)->mark != '/')
		return NO_ITEM;
	if (j == 0)
		return NO_ITEM;
	j--;
	if (walk->roles->parts[j].role == ROLE_VALUE)
		return j;
	/* "the East region and the West region" */
	if (j > 0 && walk->roles->parts[j - 1].role == ROLE_VALUE &&
	    walk->roles->parts[j - 1].qualifier == j)
		return j - 1;
	return NO_ITEM;
}

static bool share_field(const struct item *a, const struct item *b)
{
	for (size_t i = 0; i < a->reading_count; i++)
		for (size_t j = 0; j < b->reading_count; j++)
			if (is_value_reading(&a->readings[i]) &&
			    is_value_reading(&b->readings[j]) &&
			    a->readings[i].field == b->readings[j].field)
				return true;
	return false;
}

static bool negated(const struct walk *walk, size_t i)
{
	static const char *const between[] = {"the",   "a",    "an",  "in", "from", "of",
					      "those", "with", "for", "by", "any",  NULL};

	for (size_t j = i; j-- > 0;) {
		struct item *item = item_at(walk, j);

		if (item_is_op(item, OPW_NOT)) {
			/* "customers without cancelled orders" is about customers that have none.
			 */
			if (has_text(walk, j, "without") &&
			    walk->roles->parts[i].qualifier == i + 1)
				return false;
			item->spent = true;
			return true;
		}
		/* "excluding region East": the noun stands between. */
		if (walk->roles->parts[i].qualifier == j)
			continue;
		if (item->count != 1 || !word_in(first_word(walk, j), between))
			return false;
	}
	return false;
}

static void place_value(struct walk *walk, size_t i)
{
	struct part *part = &walk->roles->parts[i];
	size_t chain = find_chain(walk, i);

	part->role = ROLE_VALUE;
	part->qualifier = find_qualifier(walk, i);
	if (chain != NO_ITEM && share_field(item_at(walk, i), item_at(walk, chain))) {
		part->chained = chain;
		part->negated = walk->roles->parts[chain].negated;
		item_at(walk, i - 1)->spent = true;
	}
	if (negated(walk, i))
		part->negated = true;
}

static bool has_time_field(const struct item *item)
{
	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_FIELD && item->readings[i].field->is_time)
			return true;
	return false;
}

/* A word that is a name as well is a value only in quotes or beside the noun it belongs to. In
 * "closed last month" it is the date of closing, in "closed issues" it is the status. */
static bool meant_as_value(const struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);
	const struct item *next = item_at(walk, i + 1);

	if (!item_is_value(item))
		return false;
	if (has_time_field(item))
		return next == NULL || next->kind != ITEM_PERIOD;
	if (!item_is_noun(item) && !item_names_metric(item))
		return true;
	return first_word(walk, i)->quoted || find_qualifier(walk, i) != NO_ITEM;
}

static void place_values(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		walk->roles->parts[i].qualifier = NO_ITEM;
		walk->roles->parts[i].chained = NO_ITEM;
	}
	for (size_t i = 0; i < walk->items->count; i++)
		if (meant_as_value(walk, i))
			place_value(walk, i);
}

static bool qualifies_some(const struct walk *walk, size_t noun)
{
	for (size_t i = 0; i < walk->items->count; i++)
		if (walk->roles->parts[i].role == ROLE_VALUE &&
		    walk->roles->parts[i].qualifier == noun)
			return true;
	return false;
}

static bool has_dims(const struct walk *walk)
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

static void bad(struct walk *walk, size_t i, const char *why)
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
	const struct item *next = item_at(walk, i + 1);

	return qualifies_some(walk, i) && next != NULL && next->kind == ITEM_MODEL &&
	       first_word(walk, i + 1)->mark != ',' && walk->roles->parts[i + 1].role != ROLE_VALUE;
}

/* "by region and month": a dimension listed behind another. */
static bool continues_group(const struct walk *walk, size_t i)
{
	if (walk->group_last == NO_ITEM || i == 0)
		return false;
	if (is_joint(walk, i - 1))
		return walk->group_last + 2 == i;
	return walk->group_last + 1 == i && first_word(walk, i)->mark == ',';
}

static void spend_joint(struct walk *walk, size_t i)
{
	if (i > 0 && is_joint(walk, i - 1))
		item_at(walk, i - 1)->spent = true;
}

/* A bare noun: nothing before it says what it is for. */
static void place_bare(struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);
	bool metric = item_names_metric(item);

	if (item_has(item, READ_METRIC) && !item_has(item, READ_DATASET))
		place(walk, i, ROLE_METRIC, false);
	else if (metric && !(qualifies_some(walk, i) && !item_is_plural(walk->sentence, item)))
		place(walk, i, ROLE_DEFERRED, false);
	else if (qualifies_some(walk, i))
		place(walk, i, ROLE_QUALIFIER, false);
	else if (has_time_field(item))
		place(walk, i, ROLE_TIME, false);
	else if (i > 0 && walk->roles->parts[i - 1].role == ROLE_DIM &&
		 first_word(walk, i)->mark == 0)
		bad(walk, i, "I cannot tell how it goes together with the word before it");
	else if (item_is_plural(walk->sentence, item) || !item_has(item, READ_DATASET))
		place(walk, i, ROLE_DIM, true);
	else
		place(walk, i, ROLE_CONTEXT, false);
}

/* Behind "highest" and its like. */
static void place_super(struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);
	bool metric = item_names_metric(item);

	if (metric && (walk->most_open || !item_is_noun(item) || has_dims(walk)))
		place(walk, i, ROLE_METRIC, false);
	else
		place(walk, i, ROLE_DIM, true);
}

static void place_counted(struct walk *walk, size_t i)
{
	place(walk, i, item_names_metric(item_at(walk, i)) ? ROLE_METRIC : ROLE_COUNTED, false);
}

static void place_grouped(struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);
	bool ranked = walk->roles->super != SUPER_NONE || walk->roles->sorted;

	if (walk->per_open || !item_names_metric(item) || (item_is_noun(item) && !ranked)) {
		place(walk, i, item_is_noun(item) ? ROLE_DIM : ROLE_METRIC, false);
		return;
	}
	/* "top 3 regions by net sales" */
	place(walk, i, has_dims(walk) || !item_is_noun(item) ? ROLE_METRIC : ROLE_DIM, false);
}

static void walk_model(struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);

	if (walk->roles->parts[i].role == ROLE_VALUE) {
		walk->group_open = false;
		walk->per_open = false;
		return; /* "how many completed orders": what is due stays due */
	}
	if (i == walk->roles->column)
		return;
	if (has_text(walk, i, "who"))
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
		bad(walk, i, "two superlatives");
	walk->roles->super = super;
	walk->roles->super_item = i;
	walk->super_open = !most;
	walk->most_open = most;
}

static int64_t limit_of(const struct walk *walk, size_t i)
{
	const struct item *item = item_at(walk, i);
	const struct word *word = NULL;

	if (item == NULL || item->kind != ITEM_NUMBER)
		return 0;
	word = first_word(walk, i);
	return !word->real && !word->percent && word->number >= 1 && word->number <= 100000
		       ? (int64_t)word->number
		       : 0;
}

static void take_limit(struct walk *walk, size_t i)
{
	int64_t limit = limit_of(walk, i);

	if (limit == 0 || walk->roles->limit != 0)
		return;
	walk->roles->limit = limit;
	item_at(walk, i)->spent = true;
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
	take_limit(walk, i + 1);
	if (i > 0)
		take_limit(walk, i - 1);
	item_at(walk, i)->spent = true;
}

static void open_group(struct walk *walk, size_t i, bool per)
{
	if (i + 1 == walk->items->count && has_text(walk, i, "each"))
		walk->roles->each_value = true;
	else if (per)
		walk->per_open = true;
	else
		walk->group_open = true;
}

/* "more than 5 orders", "quantity over 10": settled when the walk has placed the nouns. */
static void walk_condition(struct walk *walk, size_t i, enum filter_kind kind)
{
	struct item *number = item_at(walk, i + 1);

	if (number == NULL || number->kind != ITEM_NUMBER) {
		bad(walk, i, "a comparison without a number");
		return;
	}
	walk->roles->parts[i + 1].role = ROLE_NUMBER;
	walk->roles->parts[i + 1].compare = kind;
	item_at(walk, i)->spent = true;
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
	item_at(walk, i)->spent = true;
}

static void walk_op(struct walk *walk, size_t i)
{
	struct item *item = item_at(walk, i);

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
		bad(walk, i, "it can mean one total or one line for each");
		return;
	default:
		walk_flags(walk, i, item->op);
	}
}

/* "by month", "monthly", "which month", "best month" */
static void walk_unit(struct walk *walk, size_t i)
{
	const struct word *word = first_word(walk, i);
	bool adverb = strcmp(word->stem, period_unit_name(item_at(walk, i)->unit)) != 0;

	if (walk->group_open || walk->per_open || adverb)
		place(walk, i, ROLE_DIM, false);
	else if (walk->which_open || walk->super_open)
		place(walk, i, ROLE_DIM, true);
	else if (continues_group(walk, i))
		spend_joint(walk, i), place(walk, i, ROLE_DIM, false);
	else
		bad(walk, i, "no period and no grouping that I can read");
}

static void walk_filler(struct walk *walk, size_t i)
{
	static const char *const asking[] = {"which", "what", "whose", NULL};
	static const char *const verbs[] = {"is",   "are",   "was", "were",  "do",
					    "does", "did",   "has", "have",  "had",
					    "will", "would", "can", "could", NULL};
	static const char *const listing[] = {"list", "show", "display", "give",
					      "find", "tell", "which",	 NULL};
	const struct word *word = first_word(walk, i);

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
				bad(walk, i, "a grouping cannot be a single period");
			break;
		case ITEM_NUMBER:
		case ITEM_UNKNOWN:
			break;
		}
	}
	if (walk->group_open || walk->per_open || walk->sort_open)
		bad(walk, walk->items->count - 1, "it is not said by what to group or sort");
}

/* "using the severity column": everything that only leads up to the name is spent. */
static void find_column(struct walk *walk)
{
	static const char *const leads[] = {"using",   "use", "based", "on",  "according",
					    "to",      "via", "with",  "the", "from",
					    "through", "in",  "by",    "per", NULL};
	size_t at = NO_ITEM;
	size_t from = 0;

	for (size_t i = 0; i < walk->items->count; i++)
		if (item_is_op(item_at(walk, i), OPW_COLUMN))
			at = i;
	if (at == NO_ITEM || at == 0)
		return;
	from = at - 1;
	while (from > 0 && item_at(walk, from)->kind == ITEM_UNKNOWN &&
	       item_at(walk, from - 1)->kind == ITEM_UNKNOWN &&
	       !word_in(first_word(walk, from - 1), leads))
		from--;
	if (item_at(walk, from)->kind != ITEM_UNKNOWN && item_at(walk, from)->kind != ITEM_MODEL)
		return;
	walk->roles->column = from;
	walk->roles->column_words = at - from;
	for (size_t i = from; i <= at; i++)
		item_at(walk, i)->spent = true;
	for (size_t i = from; i-- > 0 && word_in(first_word(walk, i), leads);) {
		item_at(walk, i)->kind = ITEM_FILLER;
		item_at(walk, i)->spent = true;
	}
}

/* "net sales and orders", "net sales and completed orders", "net sales, orders" */
static bool joined_by_and(const struct walk *walk, size_t i)
{
	bool joined = first_word(walk, i)->mark == ',';

	for (size_t j = i; j-- > 0;) {
		enum role role = walk->roles->parts[j].role;

		if (role == ROLE_METRIC || role == ROLE_DEFERRED)
			return joined;
		if (item_is_op(item_at(walk, j), OPW_AND) || first_word(walk, j)->mark == ',')
			joined = true;
		else if (role != ROLE_VALUE && item_at(walk, j)->kind != ITEM_FILLER)
			return false;
	}
	return false;
}

static bool has_theirs(const struct walk *walk, size_t i)
{
	const struct item *joint = item_at(walk, i + 1);

	return joint != NULL && item_is_op(joint, OPW_AND) &&
	       (has_text(walk, i + 2, "their") || has_text(walk, i + 2, "its"));
}

/* "customers and net sales": the metric stands behind. */
static bool joined_behind(const struct walk *walk, size_t i)
{
	bool joined = false;

	for (size_t j = i + 1; j < walk->items->count; j++) {
		if (walk->roles->parts[j].role == ROLE_METRIC)
			return joined || first_word(walk, j)->mark == ',';
		if (item_is_op(item_at(walk, j), OPW_AND) || first_word(walk, j)->mark == ',')
			joined = true;
		else if (walk->roles->parts[j].role != ROLE_VALUE &&
			 item_at(walk, j)->kind != ITEM_FILLER)
			return false;
	}
	return false;
}

/* "customers with the highest net sales", "customers and their net sales": what is shown. */
static bool is_subject(const struct walk *walk, size_t i)
{
	const struct roles *roles = walk->roles;
	const struct item *item = item_at(walk, i);

	if (has_dims(walk) || !item_is_noun(item) || !item_is_plural(walk->sentence, item) ||
	    i > roles_nth(roles, walk->items, ROLE_METRIC, 0))
		return false;
	return roles->super != SUPER_NONE || roles->sorted || has_theirs(walk, i);
}

/* Words such as "orders": a metric when nothing else is measured, else what is spoken of. */
static void settle_deferred(struct walk *walk)
{
	size_t metrics = roles_count(walk->roles, walk->items, ROLE_METRIC);
	size_t deferred = roles_count(walk->roles, walk->items, ROLE_DEFERRED);
	bool measured = metrics > 0;
	bool asks_rows = (walk->roles->listing || walk->roles->who) && !has_dims(walk) &&
			 !walk->roles->share && !walk->roles->compare &&
			 walk->roles->super == SUPER_NONE;

	if (deferred > 1 && !measured) {
		size_t second = roles_nth(walk->roles, walk->items, ROLE_DEFERRED, 1);

		if (!joined_by_and(walk, second))
			bad(walk, second, "two things could be counted");
	}
	for (size_t i = 0; i < walk->items->count; i++) {
		struct part *part = &walk->roles->parts[i];

		if (part->role != ROLE_DEFERRED)
			continue;
		if (measured && is_subject(walk, i))
			part->role = ROLE_DIM, part->subject = true;
		else if (measured && (joined_by_and(walk, i) || joined_behind(walk, i)))
			part->role = ROLE_METRIC;
		else if (measured)
			part->role = ROLE_CONTEXT;
		else if (asks_rows)
			part->role = ROLE_DIM, part->subject = true;
		else
			part->role = ROLE_METRIC;
	}
}

/* The noun of a number: "store 12", "quantity over 10"; but "more than 3 seats" is about seats. */
static size_t noun_of_number(const struct walk *walk, size_t i)
{
	static const char *const between[] = {"is", "are", "was", "were", "of",
					      "a",  "an",  "the", NULL};
	bool compares = walk->roles->parts[i].compare != FILTER_EQUAL;
	const struct item *next = item_at(walk, i + 1);

	if (compares && next != NULL && next->kind == ITEM_MODEL &&
	    first_word(walk, i + 1)->mark == 0)
		return i + 1;
	for (size_t j = compares ? i - 1 : i; j-- > 0;) {
		const struct item *item = item_at(walk, j);

		if (item->kind == ITEM_MODEL)
			return item_is_noun(item) ? j : NO_ITEM;
		if (item->count != 1 || !word_in(first_word(walk, j), between))
			break;
	}
	return NO_ITEM;
}

static void settle_numbers(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		struct item *item = item_at(walk, i);
		struct part *part = &walk->roles->parts[i];
		bool before_subject =
			i + 1 < walk->items->count && walk->roles->parts[i + 1].role == ROLE_DIM;

		if (item->kind != ITEM_NUMBER || item->spent)
			continue;
		if (part->role != ROLE_NUMBER && before_subject &&
		    walk->roles->super != SUPER_NONE) {
			take_limit(walk, i);
			continue;
		}
		part->qualifier = noun_of_number(walk, i);
		if (part->qualifier == NO_ITEM && part->role != ROLE_NUMBER)
			continue;
		part->role = ROLE_NUMBER;
		item->spent = true;
		if (part->qualifier != NO_ITEM &&
		    (walk->roles->parts[part->qualifier].role == ROLE_CONTEXT ||
		     walk->roles->parts[part->qualifier].role == ROLE_DIM))
			walk->roles->parts[part->qualifier].role = ROLE_QUALIFIER;
	}
}

/* "without region": the noun that "not" leads to has no value. */
static void settle_not(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		struct item *item = item_at(walk, i);
		struct item *next = item_at(walk, i + 1);

		if ((!item_is_op(item, OPW_NOT) && !item_is_op(item, OPW_NONE)) || item->spent)
			continue;
		if (next != NULL && next->kind == ITEM_FILLER &&
		    (has_text(walk, i + 1, "a") || has_text(walk, i + 1, "an") ||
		     has_text(walk, i + 1, "any") || has_text(walk, i + 1, "the")))
			next = item_at(walk, i + 2);
		if (next == NULL || !item_has(next, READ_FIELD) || item_names_metric(next))
			continue;
		walk->roles->parts[next - walk->items->list].role =
			walk->roles->parts[next - walk->items->list].role == ROLE_FLAG
				? ROLE_FLAG
				: ROLE_ABSENT;
		walk->roles->parts[next - walk->items->list].negated = true;
		item->spent = true;
	}
}

static bool matters(enum op op)
{
	return op == OPW_NOT || op == OPW_NONE || op == OPW_OR || op == OPW_COLUMN;
}

static void check_spent(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		const struct item *item = item_at(walk, i);

		if (item->spent)
			continue;
		if (item->kind == ITEM_NUMBER)
			bad(walk, i, "a number that I cannot place");
		else if (item->kind == ITEM_OP && matters(item->op))
			bad(walk, i, "I cannot tell what it applies to");
	}
}

void roles_read(struct roles *roles, const struct sentence *sentence, struct items *items)
{
	struct walk walk = {.roles = roles, .sentence = sentence, .items = items};

	memset(roles, 0, sizeof(*roles));
	roles->parts = mem_array(items->count + 1, sizeof(*roles->parts));
	roles->column = NO_ITEM;
	roles->bad = NO_ITEM;
	walk.group_last = NO_ITEM;
	find_column(&walk);
	place_values(&walk);
	walk_items(&walk);
	settle_numbers(&walk);
	settle_not(&walk);
	settle_deferred(&walk);
	check_spent(&walk);
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
