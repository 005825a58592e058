/*
 * A question as a row of items: the reading of its words that explains most of them with the
 * longest phrases. Every word lies in exactly one item, so nothing is dropped in silence. Pure.
 */
#ifndef AGENTS_QUERY_ITEMS_H
#define AGENTS_QUERY_ITEMS_H

#include "agents/query/period.h"
#include "agents/query/vocabulary.h"

enum item_kind {
	ITEM_UNKNOWN, /* a word that nothing explains */
	ITEM_FILLER,  /* carries no meaning of its own */
	ITEM_MODEL,   /* a name or value: see readings */
	ITEM_PERIOD,
	ITEM_OP,
	ITEM_UNIT, /* day, week, month, quarter, year */
	ITEM_NUMBER,
};

enum op {
	OPW_COUNT, /* how many, number of */
	OPW_GROUP, /* by, per, each */
	OPW_PER,   /* per: also what an average runs over */
	OPW_HIGHEST,
	OPW_LOWEST,
	OPW_MOST, /* most orders */
	OPW_FEWEST,
	OPW_BEST,
	OPW_WORST,
	OPW_TOP,
	OPW_BOTTOM,
	OPW_SORT, /* sorted by */
	OPW_ASCENDING,
	OPW_DESCENDING,
	OPW_SHARE,
	OPW_COMPARE,  /* compare, versus, change, growth */
	OPW_PREVIOUS, /* the quarter before */
	OPW_YEAR_AGO, /* the same period last year */
	OPW_AVERAGE,
	OPW_TOTAL,
	OPW_NOT,
	OPW_NONE, /* "no assignee" */
	OPW_MORE, /* more than N, and so on */
	OPW_LESS,
	OPW_AT_LEAST,
	OPW_AT_MOST,
	OPW_COLUMN, /* column, field */
	OPW_DISTINCT,
	OPW_AND,
	OPW_OR,
	OPW_OVER_TIME,
	OPW_ACROSS_ALL,
};

struct item {
	enum item_kind kind;
	size_t first; /* words of the sentence */
	size_t count;
	enum op op;
	enum period_unit unit;
	struct period period;
	struct reading *readings; /* owned */
	size_t reading_count;
	bool spent; /* its meaning has been used */
};

struct items {
	struct item *list; /* owned */
	size_t count;
};

void items_read(struct items *items, const struct sentence *sentence, const char *question,
		const struct vocabulary *vocabulary, const struct period_rules *rules);
void items_clear(struct items *items);

/* The phrases of operators one by one; NULL behind the last. */
const char *items_operator(size_t index);

bool item_is_op(const struct item *item, enum op op);
bool item_has(const struct item *item, enum reading_kind kind);

#endif
