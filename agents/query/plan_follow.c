/*
 * Follow-up questions: "and by month?", "only the East", "as a share", "last year instead".
 *
 * A question that does not stand alone is read together with the metric query before it. What it
 * says takes the place of the same part there (metric, grouping, filters on the same field, period,
 * order); every other part is kept, and a note says which. "Also" and "too" add to a grouping or a
 * filter instead. A part that cannot be kept is never dropped in silence: the plan is refused. What
 * can fail: names that the model does not have any more.
 */
#include "agents/query/draft.h"

#include <stdio.h>
#include <string.h>

static const char *const adding[] = {"also", "too", "additionally", "further", "well", NULL};
static const char *const changing[] = {"instead", "same", "only", "just", "but", NULL};

static const struct word *word_at(const struct draft *draft, size_t at)
{
	static const struct word none = {.text = NULL};

	return at < draft->sentence.count ? &draft->sentence.items[at] : &none;
}

static bool word_at_in(const struct draft *draft, size_t at, const char *const *list)
{
	const struct word *word = word_at(draft, at);

	return word->text != NULL && !word->quoted && word_in(word, list);
}

/* Is one of these words said, and as no name? */
static bool says(const struct draft *draft, const char *const *list)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->items.list[i].kind != ITEM_MODEL &&
		    word_at_in(draft, draft->items.list[i].first, list))
			return true;
	return false;
}

void follow_accept_words(struct draft *draft)
{
	static const char *const words[] = {"instead",	    "same",    "only", "just", "but", "too",
					    "additionally", "further", "well", "ones", NULL};

	for (size_t i = 0; draft->input->previous != NULL && i < draft->items.count; i++)
		if (draft->items.list[i].kind == ITEM_UNKNOWN && draft->items.list[i].count == 1 &&
		    word_at_in(draft, draft->items.list[i].first, words))
			draft->items.list[i].kind = ITEM_FILLER;
}

/* ---- does it stand alone? ---- */

/* "what about", "how about" */
static bool about_at(const struct draft *draft, size_t at)
{
	static const char *const first[] = {"what", "how", NULL};
	static const char *const second[] = {"about", NULL};

	return word_at_in(draft, at, first) && word_at_in(draft, at + 1, second);
}

static bool goes_on(const struct draft *draft)
{
	static const char *const openers[] = {"and", "or", "now", "then", NULL};

	return word_at_in(draft, 0, openers) || about_at(draft, 0) || says(draft, changing) ||
	       says(draft, adding);
}

/* A question of its own form: "which ...", "how many ...". */
static bool is_asked(const struct draft *draft)
{
	static const char *const openers[] = {"and", "or", "now", "then", "but", "also", NULL};
	static const char *const asking[] = {"which", "who",  "whose", "whom", "what",
					     "how",   "when", "where", "list", NULL};
	size_t at = word_at_in(draft, 0, openers) ? 1 : 0;

	return word_at_in(draft, at, asking) && !about_at(draft, at);
}

static bool has_subject(const struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_DIM && draft->roles.parts[i].subject)
			return true;
	return false;
}

static bool names_metric(const struct draft *draft)
{
	return roles_count(&draft->roles, &draft->items, ROLE_METRIC) > 0 ||
	       roles_count(&draft->roles, &draft->items, ROLE_COUNTED) > 0;
}

void follow_decide(struct draft *draft)
{
	const struct roles *roles = &draft->roles;

	draft->follows = false;
	if (draft->input->previous == NULL || draft->items.count == 0)
		return;
	if (names_metric(draft))
		draft->follows = goes_on(draft) && !(is_asked(draft) && has_subject(draft));
	else if (is_asked(draft))
		draft->follows = goes_on(draft) && !has_subject(draft);
	else
		draft->follows = goes_on(draft) || !has_subject(draft) ||
				 roles->super != SUPER_NONE || roles->share || roles->average;
}

/* ---- keeping what it does not say ---- */

static void kept(struct draft *draft, const char *what)
{
	buf_addf(&draft->kept, "%s%s", draft->kept.len > 0 ? ", " : "", what);
}

/* Always false. */
static bool refuse_part(struct draft *draft, const char *what, const char *name)
{
	return draft_refuse(draft, "follow",
			    mem_format("The question before had %s %s, which does not go with "
				       "this one.",
				       what, name),
			    mem_str("Ask the whole question."));
}

static bool is_usable(const struct draft *draft, const char *id)
{
	const struct model_field *field = model_field(draft->input->model, id);

	return field != NULL && field_usable(draft, field);
}

bool follow_metrics(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;

	for (size_t i = 0; i < previous->metric_count; i++) {
		const struct model_metric *metric =
			model_metric(draft->input->model, previous->metrics[i]);

		if (metric == NULL || draft->metric_count == DRAFT_METRICS_MAX)
			return refuse_part(draft, "the metric", previous->metrics[i]);
		draft->metrics[draft->metric_count++] = metric;
	}
	draft->kept_measure = true;
	if (previous->metric_count > 0)
		kept(draft, "the metric");
	return true;
}

/* A share or an average per something is part of what is measured. */
static bool keep_measure(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;
	struct metric_query *query = draft->query;

	if (!draft->kept_measure)
		return true;
	query->share = query->share || previous->share;
	if (previous->average_per == NULL || query->average_per != NULL)
		return true;
	if (!is_usable(draft, previous->average_per))
		return refuse_part(draft, "an average per", previous->average_per);
	query->average_per = mem_str(previous->average_per);
	return true;
}

static bool keep_dimensions(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;

	for (size_t i = 0; i < previous->dimension_count; i++) {
		const struct query_dimension *dimension = &previous->dimensions[i];

		if (!is_usable(draft, dimension->field))
			return refuse_part(draft, "a grouping by", dimension->field);
		add_dimension(draft, dimension->field, dimension->bucket);
	}
	return true;
}

/* "also by month": behind what there was. */
static bool add_to_dimensions(struct draft *draft)
{
	struct metric_query *query = draft->query;
	struct query_dimension *said = TAKE(query->dimensions);
	size_t count = query->dimension_count;
	bool ok;

	query->dimension_count = 0;
	ok = keep_dimensions(draft);
	for (size_t i = 0; i < count; i++) {
		if (ok)
			add_dimension(draft, said[i].field, said[i].bucket);
		mem_free(said[i].field);
	}
	mem_free(said);
	return ok;
}

bool follow_dimensions(struct draft *draft)
{
	bool said = draft->query->dimension_count > 0;

	if (!draft->follows)
		return true;
	draft->kept_grouping = !said;
	if (said && !says(draft, adding))
		return true;
	if (said ? !add_to_dimensions(draft) : !keep_dimensions(draft))
		return false;
	if (draft->input->previous->dimension_count > 0)
		kept(draft, "the grouping");
	return true;
}

static struct query_filter *filter_on(const struct metric_query *query, const char *field)
{
	for (size_t i = 0; i < query->filter_count; i++)
		if (strcmp(query->filters[i].field, field) == 0)
			return &query->filters[i];
	return NULL;
}

static bool has_value(const struct json *values, const struct json *value)
{
	json_each(own, values) if (json_equal(own, value)) return true;
	return false;
}

/* "also the West": one more of the values. */
static void add_to_filter(struct query_filter *filter, const struct query_filter *before)
{
	struct json *both = json_copy(before->values);

	json_each(value, filter->values) if (!has_value(both, value))
		json_push(both, json_copy(value));
	json_free(filter->values);
	filter->values = both;
}

bool follow_filters(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;
	size_t before = draft->query->filter_count;

	for (size_t i = 0; draft->follows && i < previous->filter_count; i++) {
		const struct query_filter *filter = &previous->filters[i];
		struct query_filter *said = filter_on(draft->query, filter->field);

		if (!is_usable(draft, filter->field))
			return refuse_part(draft, "a filter on", filter->field);
		if (said == NULL)
			metric_query_add_filter(draft->query, filter->field, filter->op,
						json_copy(filter->values));
		else if (says(draft, adding) && said->op == filter->op && said->op == OP_IN)
			add_to_filter(said, filter);
	}
	if (draft->query->filter_count > before)
		kept(draft, "the filters");
	return true;
}

static void copy_period(struct query_period *to, const struct query_period *from)
{
	struct err ignored;

	IGNORE(query_period_set(to, from->field, from->from, from->to, from->label, &ignored),
	       "it was a period before");
}

bool follow_period(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;

	if (!draft->follows || !previous->period.set)
		return false;
	copy_period(&draft->query->period, &previous->period);
	if (previous->compare.set)
		copy_period(&draft->query->compare, &previous->compare);
	kept(draft, "the period");
	return true;
}

/* "closed in September", "and in August?": the period is another, the date is not. */
const struct model_field *follow_date(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;
	const struct model_field *field = NULL;
	const char *id = NULL;

	if (!draft->follows || !draft->kept_measure)
		return NULL;
	id = previous->period.set ? previous->period.field : NULL;
	for (size_t i = 0; id == NULL && i < previous->dimension_count; i++)
		if (previous->dimensions[i].bucket != BUCKET_NONE)
			id = previous->dimensions[i].field;
	if (id == NULL || (draft->metric_count > 0 && draft->metrics[0]->time != NULL &&
			   strcmp(draft->metrics[0]->time, id) == 0))
		return NULL;
	field = model_field(draft->input->model, id);
	if (field == NULL || !field_usable(draft, field))
		return NULL;
	if (!draft->kept_date)
		kept(draft, "the date");
	draft->kept_date = true;
	return field;
}

bool follow_asks_about(const struct draft *draft)
{
	return about_at(draft, 0);
}

bool follow_compared(const struct draft *draft)
{
	return draft->follows && draft->input->previous->compare.set;
}

bool follow_period_bounds(const struct draft *draft, struct period *ret_period)
{
	const struct metric_query *previous = draft->input->previous;
	struct period period = {.has_from = true, .has_to = true};
	struct err ignored;

	if (!draft->follows || !previous->period.set ||
	    date_read(previous->period.from, &period.from, &ignored) < 0 ||
	    date_read(previous->period.to, &period.to, &ignored) < 0)
		return false;
	if (previous->period.label != NULL)
		snprintf(period.label, sizeof(period.label), "%s", previous->period.label);
	*ret_period = period;
	return true;
}

bool follow_period_words(const struct draft *draft, struct sentence *ret_words)
{
	const struct metric_query *previous = draft->input->previous;
	struct err ignored;

	return draft->follows && previous->period.set && previous->period.label != NULL &&
	       sentence_read(previous->period.label, ret_words, &ignored) == 0;
}

/* By what it was ordered: the metric that took the place of the one before, or what is shown. */
static const char *order_now(const struct draft *draft, const char *by)
{
	const struct metric_query *query = draft->query;
	const struct metric_query *previous = draft->input->previous;

	for (size_t i = 0; i < query->dimension_count; i++)
		if (strcmp(query->dimensions[i].field, by) == 0)
			return by;
	for (size_t i = 0; i < draft->metric_count; i++)
		if (strcmp(draft->metrics[i]->name, by) == 0)
			return by;
	if (strcmp(by, "change") == 0 || strcmp(by, "change_percent") == 0)
		return query->compare.set ? by : NULL;
	return previous->metric_count == 1 && draft->metric_count == 1 ? draft->metrics[0]->name
								       : NULL;
}

static void keep_order(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;

	for (size_t i = 0; i < previous->order_count; i++) {
		const char *by = order_now(draft, previous->order[i].by);

		if (by != NULL)
			metric_query_add_order(draft->query, by, previous->order[i].desc);
	}
	draft->query->limit = previous->limit;
	if (draft->query->order_count > 0)
		kept(draft, "the order");
}

bool follow_shape(struct draft *draft)
{
	const struct metric_query *previous = draft->input->previous;
	struct metric_query *query = draft->query;

	if (!draft->follows)
		return true;
	if (!keep_measure(draft))
		return false;
	if (draft->kept_grouping && query->order_count == 0)
		keep_order(draft);
	if (draft->listing && previous->dataset != NULL && query->dataset == NULL)
		query->dataset = mem_str(previous->dataset);
	if (draft->kept.len > 0)
		draft_note(draft, "follow.kept",
			   mem_format("Read together with the question before; kept from it: %s.",
				      buf_str(&draft->kept)));
	return true;
}
