/*
 * Which part each item of a question plays: what is measured, grouped by, filtered on, compared.
 * Fields are still open here (two datasets may both have a "region"); resolve.c settles them. Pure.
 */
#ifndef AGENTS_QUERY_ROLES_H
#define AGENTS_QUERY_ROLES_H

#include "agents/query/items.h"

#define NO_ITEM ((size_t)-1)

enum role {
	ROLE_NONE,
	ROLE_METRIC,
	ROLE_DEFERRED,	/* "orders": a metric or just the rows spoken of; settled at the end */
	ROLE_DIM,	/* grouped by */
	ROLE_QUALIFIER, /* says which field a value beside it belongs to */
	ROLE_CONTEXT,	/* names the rows spoken of */
	ROLE_COUNTED,	/* "how many X" where no metric counts X */
	ROLE_VALUE,	/* filtered on */
	ROLE_NUMBER,	/* a number for the field of qualifier: "store 12", "quantity over 10" */
	ROLE_ABSENT,	/* "without region" */
	ROLE_FLAG,	/* a yes/no field: "active customers" */
	ROLE_TIME,	/* a time field that the period is about */
	ROLE_SORT,	/* a dimension to sort by */
};

struct part {
	enum role role;
	bool negated;
	bool subject;	  /* DIM that the question asks for ("which regions"), not "by region" */
	bool averaged;	  /* DIM behind "per" */
	size_t qualifier; /* VALUE, NUMBER: the noun beside it, or NO_ITEM */
	size_t chained;	  /* VALUE: the value it is listed with, or NO_ITEM */
	enum filter_kind {
		FILTER_EQUAL,
		FILTER_MORE,
		FILTER_LESS,
		FILTER_AT_LEAST,
		FILTER_AT_MOST
	} compare;
};

enum superlative { SUPER_NONE, SUPER_HIGH, SUPER_LOW, SUPER_BEST, SUPER_WORST };

struct roles {
	struct part *parts; /* one per item; owned */
	enum superlative super;
	size_t super_item;
	int64_t limit; /* "top 5"; 0: none said */
	bool sorted;   /* ranked or sorted without an end */
	bool counts, share, compare, average, distinct, over_time, previous, year_ago, each_value;
	bool who;	     /* asks for persons without naming what they are here */
	bool listing;	     /* list, show, which */
	size_t column;	     /* item that names a column ("the severity column"), or NO_ITEM */
	size_t column_words; /* items of that name */
	size_t bad;	     /* an item whose part cannot be told, or NO_ITEM */
	const char *bad_why;
};

void roles_read(struct roles *roles, const struct sentence *sentence, struct items *items);
void roles_clear(struct roles *roles);

/* How many items have the role; the n-th of them. */
size_t roles_count(const struct roles *roles, const struct items *items, enum role role);
size_t roles_nth(const struct roles *roles, const struct items *items, enum role role, size_t n);

bool reading_fits(const struct reading *value, const struct reading *noun);
bool item_is_noun(const struct item *item);
bool item_is_value(const struct item *item);
bool item_names_metric(const struct item *item);
/* The word of the item that carries number: singular when it equals its own stem. */
bool item_is_plural(const struct sentence *sentence, const struct item *item);
bool item_text_is(const struct sentence *sentence, const struct item *item, const char *text);

#endif
