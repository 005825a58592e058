/*
 * What can only be told once every item has been seen: a column that is named, names that are a
 * metric or just what is spoken of, numbers, negations; and that nothing that matters was left out.
 */
#include "agents/query/roles_walk.h"

#include <string.h>

/* "using the severity column": everything that only leads up to the name is spent. */
void walk_find_column(struct walk *walk)
{
	static const char *const leads[] = {"using",   "use", "based", "on",  "according",
					    "to",      "via", "with",  "the", "from",
					    "through", "in",  "by",    "per", NULL};
	size_t at = NO_ITEM;
	size_t from = 0;

	for (size_t i = 0; i < walk->items->count; i++)
		if (item_is_op(walk_item(walk, i), OPW_COLUMN))
			at = i;
	if (at == NO_ITEM || at == 0)
		return;
	from = at - 1;
	while (from > 0 && walk_item(walk, from)->kind == ITEM_UNKNOWN &&
	       walk_item(walk, from - 1)->kind == ITEM_UNKNOWN &&
	       !word_in(walk_word(walk, from - 1), leads))
		from--;
	if (walk_item(walk, from)->kind != ITEM_UNKNOWN &&
	    walk_item(walk, from)->kind != ITEM_MODEL)
		return;
	walk->roles->column = from;
	walk->roles->column_words = at - from;
	for (size_t i = from; i <= at; i++)
		walk_item(walk, i)->spent = true;
	for (size_t i = from; i-- > 0 && word_in(walk_word(walk, i), leads);) {
		walk_item(walk, i)->kind = ITEM_FILLER;
		walk_item(walk, i)->spent = true;
	}
}

/* "net sales and orders", "net sales and completed orders", "net sales, orders" */
static bool joined_by_and(const struct walk *walk, size_t i)
{
	bool joined = walk_word(walk, i)->mark == ',';

	for (size_t j = i; j-- > 0;) {
		enum role role = walk->roles->parts[j].role;

		if (role == ROLE_METRIC || role == ROLE_DEFERRED)
			return joined;
		if (item_is_op(walk_item(walk, j), OPW_AND) || walk_word(walk, j)->mark == ',')
			joined = true;
		else if (role != ROLE_VALUE && walk_item(walk, j)->kind != ITEM_FILLER)
			return false;
	}
	return false;
}

static bool same_metric(const struct item *a, const struct item *b)
{
	for (size_t i = 0; i < a->reading_count; i++)
		for (size_t j = 0; j < b->reading_count; j++)
			if (a->readings[i].metric != NULL &&
			    a->readings[i].metric == b->readings[j].metric)
				return true;
	return false;
}

static bool has_theirs(const struct walk *walk, size_t i)
{
	const struct item *joint = walk_item(walk, i + 1);

	return joint != NULL && item_is_op(joint, OPW_AND) &&
	       (walk_is(walk, i + 2, "their") || walk_is(walk, i + 2, "its"));
}

/* "customers and net sales": the metric stands behind. */
static bool joined_behind(const struct walk *walk, size_t i)
{
	bool joined = false;

	for (size_t j = i + 1; j < walk->items->count; j++) {
		if (walk->roles->parts[j].role == ROLE_METRIC)
			return joined || walk_word(walk, j)->mark == ',';
		if (item_is_op(walk_item(walk, j), OPW_AND) || walk_word(walk, j)->mark == ',')
			joined = true;
		else if (walk->roles->parts[j].role != ROLE_VALUE &&
			 walk_item(walk, j)->kind != ITEM_FILLER)
			return false;
	}
	return false;
}

/* "fewer than 3 completed orders": what the number is said of is measured. */
static bool is_conditioned(const struct walk *walk, size_t i)
{
	for (size_t j = 0; j < walk->items->count; j++) {
		const struct part *part = &walk->roles->parts[j];
		size_t noun = part->qualifier;

		if (part->role != ROLE_NUMBER || part->compare == FILTER_EQUAL || noun == NO_ITEM)
			continue;
		if (walk->roles->parts[noun].role == ROLE_VALUE)
			noun = walk->roles->parts[noun].qualifier;
		if (noun == i)
			return true;
	}
	return false;
}

static size_t settle_conditioned(struct walk *walk)
{
	size_t count = 0;

	for (size_t i = 0; i < walk->items->count; i++) {
		if (walk->roles->parts[i].role != ROLE_DEFERRED || !is_conditioned(walk, i) ||
		    !item_names_metric(walk_item(walk, i)))
			continue;
		walk->roles->parts[i].role = ROLE_METRIC;
		count++;
	}
	return count;
}

/* "customers with the highest net sales", "customers and their net sales", "customers with over 5
 * orders": what is shown. */
static bool is_subject(const struct walk *walk, size_t i)
{
	const struct roles *roles = walk->roles;
	const struct item *item = walk_item(walk, i);

	if (walk_has_dims(walk) || !item_is_noun(item) || !item_is_plural(walk->sentence, item) ||
	    i > roles_nth(roles, walk->items, ROLE_METRIC, 0))
		return false;
	return roles->super != SUPER_NONE || roles->sorted || has_theirs(walk, i) ||
	       is_conditioned(walk, roles_nth(roles, walk->items, ROLE_METRIC, 0));
}

static bool names_rows(const struct item *item)
{
	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_DATASET ||
		    (item->readings[i].kind == READ_FIELD && item->readings[i].field->names_row))
			return true;
	return false;
}

/* "list all customers in East": rows that a value picks, and nothing is measured. */
static void settle_listed(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		struct part *part = &walk->roles->parts[i];
		const struct item *item = walk_item(walk, i);

		if (part->role != ROLE_QUALIFIER || !item_is_plural(walk->sentence, item) ||
		    !names_rows(item))
			continue;
		part->role = ROLE_DIM;
		part->subject = true;
		return;
	}
}

/* "the article with the least revenue", "the project that has the highest number of issues": one of
 * them is asked for, and nothing but little words leads from it to the superlative. */
static void settle_super_subject(struct walk *walk)
{
	const struct roles *roles = walk->roles;
	size_t at = roles->super_item;

	if (roles->super == SUPER_NONE || walk_has_dims(walk))
		return;
	while (at-- > 0) {
		struct part *part = &walk->roles->parts[at];
		const struct item *item = walk_item(walk, at);

		if (item->kind == ITEM_FILLER)
			continue;
		if (part->role == ROLE_CONTEXT && item_is_noun(item))
			part->role = ROLE_DIM, part->subject = true;
		return;
	}
}

/* Words such as "orders": a metric when nothing else is measured, else what is spoken of. */
void walk_settle_deferred(struct walk *walk)
{
	size_t conditioned = settle_conditioned(walk);
	size_t metrics = roles_count(walk->roles, walk->items, ROLE_METRIC);
	size_t deferred = roles_count(walk->roles, walk->items, ROLE_DEFERRED);
	bool measured = metrics > 0;
	bool asks_rows = (walk->roles->listing || walk->roles->who) && !walk_has_dims(walk) &&
			 !walk->roles->share && !walk->roles->compare &&
			 walk->roles->super == SUPER_NONE;

	if (deferred > 1 && !measured && conditioned == 0) {
		size_t second = roles_nth(walk->roles, walk->items, ROLE_DEFERRED, 1);

		if (!joined_by_and(walk, second))
			walk_bad(walk, second, "two things could be counted");
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
	if (asks_rows && metrics + deferred == 0)
		settle_listed(walk);
	if (roles_count(walk->roles, walk->items, ROLE_METRIC) > 0)
		settle_super_subject(walk);
}

/* The noun of a number: "store 12", "quantity over 10"; but "more than 3 seats" is about seats. */
static size_t noun_of_number(const struct walk *walk, size_t i)
{
	static const char *const between[] = {"is", "are", "was", "were", "of",
					      "a",  "an",  "the", NULL};
	bool compares = walk->roles->parts[i].compare != FILTER_EQUAL;
	const struct item *next = walk_item(walk, i + 1);

	if (compares && next != NULL && next->kind == ITEM_MODEL &&
	    walk_word(walk, i + 1)->mark == 0)
		return i + 1;
	for (size_t j = compares ? i - 1 : i; j-- > 0;) {
		const struct item *item = walk_item(walk, j);

		if (item->kind == ITEM_MODEL)
			return item_is_noun(item) ? j : NO_ITEM;
		if (item->count != 1 || !word_in(walk_word(walk, j), between))
			break;
	}
	return NO_ITEM;
}

void walk_settle_numbers(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		struct item *item = walk_item(walk, i);
		struct part *part = &walk->roles->parts[i];
		enum role behind =
			i + 1 < walk->items->count ? walk->roles->parts[i + 1].role : ROLE_NONE;
		bool before_subject = behind == ROLE_DIM || behind == ROLE_DEFERRED;

		if (item->kind != ITEM_NUMBER || item->spent)
			continue;
		if (part->role != ROLE_NUMBER && before_subject &&
		    walk->roles->super != SUPER_NONE) {
			walk_limit(walk, i);
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
void walk_settle_not(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		struct item *item = walk_item(walk, i);
		struct item *next = walk_item(walk, i + 1);

		if ((!item_is_op(item, OPW_NOT) && !item_is_op(item, OPW_NONE)) || item->spent)
			continue;
		if (next != NULL && next->kind == ITEM_FILLER &&
		    (walk_is(walk, i + 1, "a") || walk_is(walk, i + 1, "an") ||
		     walk_is(walk, i + 1, "any") || walk_is(walk, i + 1, "the")))
			next = walk_item(walk, i + 2);
		if (next == NULL || !item_has(next, READ_FIELD) || item_names_metric(next))
			continue;
		if (walk->roles->parts[next - walk->items->list].role != ROLE_FLAG &&
		    !item_is_op(item, OPW_NONE) && !walk_is(walk, i, "without"))
			continue; /* "excluding region": excluding what of it? */
		walk->roles->parts[next - walk->items->list].role =
			walk->roles->parts[next - walk->items->list].role == ROLE_FLAG
				? ROLE_FLAG
				: ROLE_ABSENT;
		walk->roles->parts[next - walk->items->list].negated = true;
		item->spent = true;
	}
}

/* Metrics must be listed: "net sales and orders". "net sales orders" may mean something else. */
void walk_check_metrics(struct walk *walk)
{
	size_t before = NO_ITEM;

	for (size_t i = 0; i < walk->items->count; i++) {
		if (walk->roles->parts[i].role != ROLE_METRIC)
			continue;
		if (before != NO_ITEM &&
		    !same_metric(walk_item(walk, before), walk_item(walk, i)) &&
		    !joined_by_and(walk, i) && !walk->roles->compare)
			walk_bad(walk, i,
				 "I cannot tell how it goes together with the metric before");
		before = i;
	}
}

static bool matters(enum op op)
{
	return op == OPW_NOT || op == OPW_NONE || op == OPW_OR || op == OPW_COLUMN;
}

void walk_check_spent(struct walk *walk)
{
	for (size_t i = 0; i < walk->items->count; i++) {
		const struct item *item = walk_item(walk, i);

		if (item->spent)
			continue;
		if (item->kind == ITEM_NUMBER)
			walk_bad(walk, i, "a number that I cannot place");
		else if (item->kind == ITEM_OP && matters(item->op))
			walk_bad(walk, i, "I cannot tell what it applies to");
	}
}
