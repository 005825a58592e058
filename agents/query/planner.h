/*
 * The built-in planner: read this first.
 *
 *   sentence*.c, period.c     the question as words, and phrases of time as dates
 *   vocabulary.c              everything that can be named, from the model and stored values
 *   items.c                   the reading of the words that explains most of them
 *   intent.c                  is data to be changed?
 *   roles.c, _pair, _settle   which name plays which part
 *   resolve.c                 names become one field each, or a question
 *   plan_follow.c             what a follow-up keeps of the question before it
 *   planner.c, plan_*.c       the parts become a metric query, a question or a refusal
 *
 * It knows no name in advance: all names come from the semantic model and from search_values. Every
 * word must be explained by a name, a period, an operator or the closed list of fillers; a word
 * that is not stops the plan. In doubt it asks, and it never puts one metric in the place of
 * another. Pure: no I/O, no clock; today is given.
 */
#ifndef AGENTS_QUERY_PLANNER_H
#define AGENTS_QUERY_PLANNER_H

#include "agents/query/metrics/metric_query.h"
#include "agents/query/metrics/model.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"

struct plan_input { /* everything is lent */
	const char *question;
	const struct model *model;
	const struct json *matches; /* `matches` of search_values; NULL: none */
	const struct json *choices; /* {"metric":"net_sales","period":"last quarter"}; NULL: none */
	const struct json
		*lookups; /* {"project":["Atlas","Phoenix"]}: rows of earlier PLAN_LOOKUPs */
	const struct metric_query *previous; /* of the question before in a conversation; NULL */
	struct date today;
	bool distrust_column; /* the column that the question names does not exist */
};

enum plan_kind {
	PLAN_QUERY,  /* query answers the question */
	PLAN_LOOKUP, /* run query, put its first column into lookups under lookup, plan again */
	PLAN_ASK,    /* needs_input: question */
	PLAN_REFUSE, /* reason and hint */
};

struct plan {
	enum plan_kind kind;
	struct metric_query *query; /* QUERY, LOOKUP */
	char *lookup;		    /* LOOKUP: name of the part: "project" */
	/* ASK: {"text","parts":[{"name","choices":[{"value","label"}]}]}; each part's choices
	 * answer that part alone. */
	struct json *question;
	char *code; /* REFUSE: change, undefined, unknown_word, off_topic, period, unsupported, ...
		     */
	char *reason; /* what is missing or wrong */
	char *hint;   /* what exists, or what to do */
	/* QUERY: how the question was read where another reading exists: [{"code","message"}] */
	struct json *notes;
	/* QUERY: the question names a column that the model does not have. The query filters on
	 * "dataset.column", which the caller adds to a copy of the model for this attempt. */
	char *column_dataset;
	char *column;
};

/* ERR_LIMIT, ERR_INVALID: the question is too long or not UTF-8. A question that cannot be planned
 * is no error: it is PLAN_ASK or PLAN_REFUSE. */
MUST_CHECK int plan_make(const struct plan_input *input, struct plan **ret_plan, struct err *err);
void plan_free(struct plan *plan); /* NULL is fine */
void plan_freep(struct plan **plan);

#endif
