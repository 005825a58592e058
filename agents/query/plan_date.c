/*
 * Which date: rows may carry several (opened, closed). The one that the question names, else the
 * metrics' own. Where a value says the same as another date does ("closed issues last month":
 * closed then, or opened then and closed by now?) the two readings give different numbers, so it
 * asks.
 */
#include "agents/query/draft.h"

#include <string.h>

/* The only other time field in reach, for metrics without a date of their own. */
static const struct model_field *only_time_field(const struct draft *draft)
{
	const struct model *model = draft->input->model;
	const struct model_field *only = NULL;

	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *dataset = model_dataset_at(model, i);

		for (size_t j = 0; j < dataset->field_count; j++) {
			const struct model_field *field = &dataset->fields[j];

			if (!field->is_time || !field_usable(draft, field))
				continue;
			if (only != NULL)
				return NULL;
			only = field;
		}
	}
	return only;
}

static bool counts_with(const struct draft *draft, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < draft->metric_count; i++) {
		const struct model_metric *metric = draft->metrics[i];
		const struct model_field *own =
			metric->time != NULL ? model_field(draft->input->model, metric->time)
					     : NULL;

		if (metric->dataset == dataset || (own != NULL && own->dataset == dataset))
			return true;
	}
	return false;
}

/* Does another word of the question speak of the dataset: its noun, or one of its fields? */
static bool speaks_of(const struct draft *draft, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		for (size_t j = 0; j < item->reading_count; j++) {
			const struct reading *reading = &item->readings[j];

			if (reading->dataset == dataset ||
			    (reading->field != NULL && !reading->field->is_time &&
			     reading->field->dataset == dataset))
				return true;
		}
	}
	return false;
}

/* "issues due in September", where only projects are due: of the issues it is not said. */
static bool check_bearer(struct draft *draft, const struct model_field *field)
{
	if (draft->metric_count == 0 || counts_with(draft, field->dataset) ||
	    speaks_of(draft, field->dataset))
		return true;
	return draft_refuse(
		draft, "period",
		mem_format("\"%s\" is a date of %s, which the question does not name.",
			   field->label, field->dataset->label),
		mem_format("Say of which %s, or ask without that date.", field->dataset->label));
}

/* The date that the question names; NULL when it names none. */
static bool named_date(struct draft *draft, const struct model_field **ret_field)
{
	size_t count = roles_count(&draft->roles, &draft->items, ROLE_TIME);
	const struct model_field *first = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct model_field *field = NULL;

		if (!settle_noun(draft, roles_nth(&draft->roles, &draft->items, ROLE_TIME, i),
				 &field))
			return false;
		if (first != NULL && field != first)
			return draft_refuse(
				draft, "period",
				mem_format("Two dates are named, %s and %s, and a period can be "
					   "about one.",
					   first->label, field->label),
				mem_str("Ask for one of them at a time."));
		first = field;
	}
	*ret_field = first;
	return first == NULL || check_bearer(draft, first);
}

/* The time field of the value's own dataset that the value is a name of: "closed", closed_on. */
static const struct model_field *date_of_value(const struct draft *draft,
					       const struct reading *reading)
{
	const struct vocabulary *vocabulary = &draft->vocabulary;
	const struct model_field *found = NULL;
	struct sentence words;
	struct err ignored;

	if (reading->kind != READ_VALUE || sentence_read(reading->value, &words, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < vocabulary->count && found == NULL; i++) {
		const struct phrase *phrase = &vocabulary->phrases[i];
		const struct model_field *field = phrase->reading.field;

		if (phrase->reading.kind == READ_FIELD && field->is_time &&
		    field->dataset == reading->field->dataset && field_usable(draft, field) &&
		    phrase->words.count == words.count &&
		    sentence_match(&words, 0, &phrase->words) > 0)
			found = field;
	}
	sentence_clear(&words);
	return found;
}

/* A date that a value of the question suggests, other than `own`; NULL: there is no doubt. */
static const struct model_field *suggested_date(const struct draft *draft, const char *own,
						size_t *ret_item)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		if (draft->roles.parts[i].role != ROLE_VALUE || draft->roles.parts[i].negated)
			continue;
		for (size_t j = 0; j < item->reading_count; j++) {
			const struct model_field *field = date_of_value(draft, &item->readings[j]);

			*ret_item = i;
			if (field != NULL && strcmp(field->id, own) != 0)
				return field;
		}
	}
	return NULL;
}

static void add_date_choice(struct json *choices, const struct model_field *field)
{
	CLEANUP(mem_freep)
	char *label = mem_format("%s%s%s", field->label, field->description[0] ? ": " : "",
				 field->description);

	choices_add(choices, field->id, label);
}

static bool ask_date(struct draft *draft, size_t item, const struct model_field *a,
		     const struct model_field *b)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	struct json *choices = choices_new();

	add_date_choice(choices, a);
	add_date_choice(choices, b);
	draft_ask_part(draft, "date", choices);
	return draft_ask(draft, mem_format("\"%s\" can be when it happened or how it stands now. "
					   "Which date is meant?",
					   text));
}

/* own: the metrics' own date. */
static bool chosen_date(struct draft *draft, const char *own, const struct model_field **ret_field)
{
	const struct model_field *of_metric = model_field(draft->input->model, own);
	const struct model_field *other = NULL;
	const char *choice = draft_choice(draft, "date");
	size_t item = NO_ITEM;

	*ret_field = NULL;
	other = suggested_date(draft, own, &item);
	if (other == NULL || of_metric == NULL)
		return true;
	if (choice != NULL && strcmp(choice, own) == 0)
		return true;
	if (choice == NULL || strcmp(choice, other->id) != 0)
		return ask_date(draft, item, of_metric, other);
	*ret_field = other;
	return true;
}

bool date_of_period(struct draft *draft, const char **ret_field)
{
	const struct model_field *field = NULL;
	bool dated = draft->metric_count > 0;

	*ret_field = NULL;
	if (!named_date(draft, &field))
		return false;
	if (field == NULL)
		field = follow_date(draft);
	for (size_t i = 0; i < draft->metric_count; i++)
		dated = dated && draft->metrics[i]->time != NULL;
	if (field == NULL && dated && !chosen_date(draft, draft->metrics[0]->time, &field))
		return false;
	if (field == NULL && dated)
		return true;
	if (field == NULL)
		field = only_time_field(draft);
	if (field == NULL)
		return draft_refuse(
			draft, "period",
			mem_format("%s has no date, so it cannot be limited to a period.",
				   draft->metric_count > 0 ? draft->metrics[0]->label
							   : "This listing"),
			mem_str("Ask without a period."));
	*ret_field = field->id;
	return true;
}

/* The time field that all metrics are dated by; each by its own when they differ. */
static bool common_date(struct draft *draft, bool *ret_differ)
{
	*ret_differ = false;
	for (size_t i = 0; i < draft->metric_count; i++) {
		const struct model_metric *metric = draft->metrics[i];

		if (metric->time == NULL)
			return draft_refuse(
				draft, "period",
				mem_format("%s has no date to group by.", metric->label),
				metrics_text(draft));
		*ret_differ = *ret_differ || strcmp(metric->time, draft->metrics[0]->time) != 0;
		if (*ret_differ && metric->dataset == draft->metrics[0]->dataset)
			return draft_refuse(draft, "period",
					    mem_format("%s and %s are dated by different fields.",
						       draft->metrics[0]->label, metric->label),
					    mem_str("Ask for one metric at a time."));
	}
	return true;
}

static void add_present(struct draft *draft, const char *field)
{
	for (size_t i = 0; i < draft->query->filter_count; i++)
		if (draft->query->filters[i].op == OP_PRESENT &&
		    strcmp(draft->query->filters[i].field, field) == 0)
			return;
	metric_query_add_filter(draft->query, field, OP_PRESENT, NULL);
}

bool date_of_grouping(struct draft *draft, const char **ret_field)
{
	const struct model_field *field = NULL;
	bool differ = false;

	if (draft->metric_count == 0)
		return draft_refuse(draft, "unsupported",
				    mem_str("A listing cannot be grouped by time."),
				    metrics_text(draft));
	if (!named_date(draft, &field))
		return false;
	if (field == NULL)
		field = follow_date(draft);
	if (field == NULL && (!common_date(draft, &differ) ||
			      (!differ && !chosen_date(draft, draft->metrics[0]->time, &field))))
		return false;
	/* "closed per month" is about what was closed. */
	if (field != NULL && period_items(draft) == 0)
		add_present(draft, field->id);
	if (field == NULL && differ)
		draft_note(draft, "time.own", mem_str("Each metric is dated by its own date."));
	*ret_field = field != NULL ? field->id : differ ? QUERY_TIME : draft->metrics[0]->time;
	return true;
}
