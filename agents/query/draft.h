/*
 * A plan in the making: what the files plan_*.c share. Each step is a function that returns true to
 * go on, or false when it has settled the plan (a question, a refusal, a look-up). Internal to the
 * planner.
 */
#ifndef AGENTS_QUERY_DRAFT_H
#define AGENTS_QUERY_DRAFT_H

#include "agents/query/planner.h"
#include "agents/query/roles.h"

#define DRAFT_METRICS_MAX 4

struct draft {
	const struct plan_input *input;
	struct sentence sentence;
	struct vocabulary vocabulary;
	struct items items;
	struct roles roles;
	const struct model_metric *metrics[DRAFT_METRICS_MAX];
	size_t metric_count;
	bool listing; /* no metric: the distinct values themselves are asked for */
	const struct model_field **fields; /* per item: the field settled on; owned */
	size_t column_value;		   /* the item that the named column is compared with */
	bool follows;			   /* read together with input->previous */
	bool kept_measure;		   /* measures what the question before did */
	bool kept_grouping;		   /* grouped as the question before */
	bool kept_date;			   /* a date other than the metric's own */
	struct buf kept;		   /* what was kept from it, for the note */
	struct metric_query *query;	   /* owned */
	struct plan *plan;		   /* owned */
};

/* plan_text.c: ending a draft, and the texts for it. reason and hint are taken over. */
bool draft_refuse(struct draft *draft, const char *code, char *reason, char *hint);
/* One part more of the question; choices are taken over. */
void draft_ask_part(struct draft *draft, const char *name, struct json *choices);
bool draft_ask(struct draft *draft, char *text);		       /* text is taken over */
void draft_note(struct draft *draft, const char *code, char *message); /* message is taken over */
struct json *choices_new(void);
void choices_add(struct json *choices, const char *value, const char *label);
void choices_add_metric(struct json *choices, const struct model_metric *metric);
char *draft_text(const struct draft *draft, size_t item, size_t count); /* as in the question */
char *part_name(const struct draft *draft, size_t item);		/* "ship_region" */
char *metrics_text(const struct draft *draft);				/* "Defined metrics: ..." */
char *dimensions_text(const struct draft *draft);
const char *draft_choice(const struct draft *draft, const char *part); /* NULL when not answered */

/* resolve.c */
struct fields { /* distinct fields */
	const struct model_field *items[32];
	size_t count;
};
void fields_add(struct fields *fields, const struct model_field *field);
bool fields_has(const struct fields *fields, const struct model_field *field);
/* May every metric of the draft be grouped by and filtered on it? */
bool field_usable(const struct draft *draft, const struct model_field *field);
/* Settles the field of a noun, or asks, or refuses. */
bool settle_noun(struct draft *draft, size_t item, const struct model_field **ret_field);
/* Settles fields[] of all values. */
bool settle_values(struct draft *draft);
void add_field_choice(struct json *choices, const struct model_field *field);
struct fields name_fields(const struct draft *draft); /* usable fields that name rows */

/* plan_unknown.c */
bool plan_unknown_words(struct draft *draft);

/* plan_metrics.c */
bool plan_metrics(struct draft *draft);
bool metric_is_money(const struct model_metric *metric);
bool phrase_has_word(const struct sentence *phrase, const struct word *word);
/* Every word of the items from `at` on occurs in one phrase that names the metric; the metrics of
 * which that is so. */
bool partly_named(const struct draft *draft, const struct model_metric *metric, size_t at,
		  size_t count);
struct json *partly_named_choices(const struct draft *draft, size_t at, size_t count);
bool offers(const struct json *choices, const char *value);
/* The answer to "which metric", when it is one of choices (NULL: any). */
bool adopt_choice(struct draft *draft, const struct json *choices);
bool ask_metric(struct draft *draft, struct json *choices, char *text);
bool metrics_reach(const struct model *model, const struct model_metric *metric,
		   const struct draft *draft);

/* plan_filters.c */
bool plan_column(struct draft *draft);
bool plan_filters(struct draft *draft);
void add_filter_value(struct metric_query *query, const char *field, enum filter_op op,
		      const char *value); /* to the values of the same field and operator */

/* plan_numbers.c */
bool filter_number(struct draft *draft, size_t item);

/* plan_lookup.c */
bool plan_lookup(struct draft *draft);

/* plan_follow.c */
/* Words that only a follow-up has are accepted; before the roles are read. */
void follow_accept_words(struct draft *draft);
void follow_decide(struct draft *draft); /* sets follows */
/* Each keeps its part of the question before, where this one does not say another. */
bool follow_metrics(struct draft *draft);
bool follow_dimensions(struct draft *draft);
bool follow_filters(struct draft *draft);
bool follow_period(struct draft *draft); /* true if there was one */
bool follow_shape(struct draft *draft);
/* The date that the question before was about, where it was not the metric's own; or NULL. */
const struct model_field *follow_date(struct draft *draft);
/* It opens with "what about" or "how about". */
bool follow_asks_about(const struct draft *draft);
/* Two periods were compared. */
bool follow_compared(const struct draft *draft);
/* The period of the question before; false: none, or it is open at one end. */
bool follow_period_bounds(const struct draft *draft, struct period *ret_period);
/* The words of the period before, to be read again; the caller clears. False: there are none. */
bool follow_period_words(const struct draft *draft, struct sentence *ret_words);

/* plan_shape.c */
void add_dimension(struct draft *draft, const char *field, enum time_bucket bucket);
bool plan_dimensions(struct draft *draft);
bool plan_shape(struct draft *draft);

/* Are values of one field set against each other ("East with West")? */
bool compares_values(const struct draft *draft);

/* plan_date.c: the time field that a period or a grouping by time is about; or asks, or refuses. */
/* NULL in *ret_field: each metric's own. */
bool date_of_period(struct draft *draft, const char **ret_field);
bool date_of_grouping(struct draft *draft, const char **ret_field);

/* plan_period.c */
bool plan_period(struct draft *draft);
void choices_add_periods(struct json *choices, const struct draft *draft);
bool asks_growth(const struct draft *draft);
size_t period_items(const struct draft *draft);

#endif
