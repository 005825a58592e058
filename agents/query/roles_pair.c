/*
 * Values and the nouns beside them: "the AI team", "region East", "East and West". They are paired
 * before anything else is placed, so that each is one thing. Cannot fail.
 */
#include "agents/query/roles_walk.h"

#include <string.h>

struct item *walk_item(const struct walk *walk, size_t i)
{
	return i < walk->items->count ? &walk->items->list[i] : NULL;
}

bool walk_is(const struct walk *walk, size_t i, const char *text)
{
	const struct item *item = walk_item(walk, i);

	return item != NULL && item_text_is(walk->sentence, item, text);
}

const struct word *walk_word(const struct walk *walk, size_t i)
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

	if (walk_word(walk, i)->mark == ',' || walk_word(walk, i)->mark == ';')
		return NO_ITEM;
	for (size_t j = i; j-- > 0;) {
		const struct item *item = walk_item(walk, j);

		if (item->kind == ITEM_MODEL)
			return item_is_noun(item) && (fits(walk_item(walk, i), item, READ_FIELD) ||
						      fits(walk_item(walk, i), item, READ_DATASET))
				       ? j
				       : NO_ITEM;
		if (item_is_op(item, OPW_NOT))
			continue;
		if (item->count != 1 || !word_in(walk_word(walk, j), between) || i - j > 3)
			return NO_ITEM;
	}
	return NO_ITEM;
}

/* "East region", "AI project", "completed orders" */
static size_t noun_behind(const struct walk *walk, size_t i)
{
	const struct item *noun = walk_item(walk, i + 1);

	if (noun == NULL || noun->kind != ITEM_MODEL || walk_word(walk, i + 1)->mark == ',')
		return NO_ITEM;
	if (fits(walk_item(walk, i), noun, READ_FIELD) ||
	    fits(walk_item(walk, i), noun, READ_DATASET))
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
	return names_field(walk_item(walk, i), walk_item(walk, before)) ? before : behind;
}

bool walk_joint(const struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);

	return item_is_op(item, OPW_AND) || item_is_op(item, OPW_OR);
}

/* The value that this one is listed with: "East and West", "East, West". */
static size_t find_chain(const struct walk *walk, size_t i)
{
	size_t j = i;

	if (i == 0)
		return NO_ITEM;
	if (walk_joint(walk, i - 1))
		j = i - 1;
	else if (walk_word(walk, i)->mark != ',' && walk_word(walk, i)->mark != '/')
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
	static const char *const between[] = {"the",  "a",   "an", "in",  "from", "of", "those",
					      "with", "for", "by", "any", "on",	  "at", "to",
					      "as",   NULL};

	for (size_t j = i; j-- > 0;) {
		struct item *item = walk_item(walk, j);

		if (item_is_op(item, OPW_NOT)) {
			/* "customers without cancelled orders" is about customers that have none.
			 */
			if (walk_is(walk, j, "without") && walk->roles->parts[i].qualifier == i + 1)
				return false;
			item->spent = true;
			return true;
		}
		/* "excluding region East": the noun stands between. */
		if (walk->roles->parts[i].qualifier == j)
			continue;
		if (item->count != 1 || !word_in(walk_word(walk, j), between))
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
	if (chain != NO_ITEM && share_field(walk_item(walk, i), walk_item(walk, chain))) {
		part->chained = chain;
		part->negated = walk->roles->parts[chain].negated;
		walk_item(walk, i - 1)->spent = true;
	}
	if (negated(walk, i))
		part->negated = true;
}

bool item_has_time(const struct item *item)
{
	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_FIELD && item->readings[i].field->is_time)
			return true;
	return false;
}

/* "were closed", "got closed": what happened, where "are closed" is how it stands. */
static bool behind_happening(const struct walk *walk, size_t i)
{
	static const char *const verbs[] = {"was", "were", "got", "been", "being", "get", NULL};

	return i > 0 && walk_item(walk, i - 1)->count == 1 &&
	       word_in(walk_word(walk, i - 1), verbs);
}

static bool has_period(const struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++)
		if (walk_item(walk, i)->kind == ITEM_PERIOD)
			return true;
	return false;
}

/* The other side of "opened and closed", "opened versus closed": a date and nothing else. */
static bool beside_date(const struct walk *walk, size_t joint, size_t other)
{
	const struct item *item = walk_item(walk, other);

	return item != NULL && walk_item(walk, joint) != NULL &&
	       (walk_joint(walk, joint) || item_is_op(walk_item(walk, joint), OPW_COMPARE)) &&
	       item_has_time(item) && !item_is_value(item);
}

/* Is the name of a date meant as one: "closed last month", "closed by month", "In May, how many
 * were closed", "opened and closed issues"? */
static bool meant_as_date(const struct walk *walk, size_t i)
{
	const struct item *next = walk_item(walk, i + 1);
	const struct item *second = walk_item(walk, i + 2);

	if (next != NULL && next->kind == ITEM_PERIOD)
		return true;
	if (next != NULL && second != NULL && second->kind == ITEM_UNIT &&
	    (item_is_op(next, OPW_GROUP) || item_is_op(next, OPW_PER)))
		return true;
	if ((i >= 2 && beside_date(walk, i - 1, i - 2)) || beside_date(walk, i + 1, i + 2))
		return true;
	return behind_happening(walk, i) && has_period(walk);
}

/* A word that is a name as well is a value only in quotes or beside the noun it belongs to. In
 * "closed last month" it is the date of closing, in "closed issues" it is the status. */
static bool meant_as_value(const struct walk *walk, size_t i)
{
	const struct item *item = walk_item(walk, i);

	if (!item_is_value(item))
		return false;
	if (item_has_time(item))
		return !meant_as_date(walk, i);
	if (!item_is_noun(item) && !item_names_metric(item))
		return true;
	return walk_word(walk, i)->quoted || find_qualifier(walk, i) != NO_ITEM;
}

void walk_pair_values(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		walk->roles->parts[i].qualifier = NO_ITEM;
		walk->roles->parts[i].chained = NO_ITEM;
	}
	for (size_t i = 0; i < walk->items->count; i++)
		if (meant_as_value(walk, i))
			place_value(walk, i);
}

bool walk_qualifies(const struct walk *walk, size_t noun)
{
	for (size_t i = 0; i < walk->items->count; i++)
		if (walk->roles->parts[i].role == ROLE_VALUE &&
		    walk->roles->parts[i].qualifier == noun)
			return true;
	return false;
}
