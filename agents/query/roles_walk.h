/* The walk over the items of a question: what roles.c, roles_pair.c and roles_settle.c share. */
#ifndef AGENTS_QUERY_ROLES_WALK_H
#define AGENTS_QUERY_ROLES_WALK_H

#include "agents/query/roles.h"

struct walk {
	struct roles *roles;
	const struct sentence *sentence;
	struct items *items;
	/* What is due next. */
	bool group_open;
	bool per_open;
	bool which_open;
	bool super_open;
	bool most_open; /* "most": what follows is measured */
	bool count_open;
	bool sort_open;
	size_t super_metric; /* the metric right behind a superlative, or NO_ITEM */
	size_t group_last; /* the last dimension of "by A and B", or NO_ITEM */
};

struct item *walk_item(const struct walk *walk, size_t i); /* NULL beyond the end */
bool walk_is(const struct walk *walk, size_t i, const char *text);
const struct word *walk_word(const struct walk *walk, size_t i); /* its first word */
bool walk_joint(const struct walk *walk, size_t i);		 /* and, or */
bool walk_has_dims(const struct walk *walk);
bool walk_qualifies(const struct walk *walk, size_t noun); /* some value belongs to the noun */
bool item_has_time(const struct item *item);		   /* it can name a time field */
/* The first item that cannot be read is kept, with why. */
void walk_bad(struct walk *walk, size_t i, const char *why);
/* Takes the number at i as "top N", if it is one. */
void walk_limit(struct walk *walk, size_t i);

/* roles_pair.c */
void walk_pair_values(struct walk *walk);

/* roles_settle.c */
void walk_find_column(struct walk *walk);
void walk_settle_deferred(struct walk *walk);
void walk_settle_numbers(struct walk *walk);
void walk_settle_not(struct walk *walk);
void walk_check_metrics(struct walk *walk);
void walk_check_spent(struct walk *walk);

#endif
