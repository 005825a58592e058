/*
 * Numbers of a question: the key of a row ("store 12"), a bound for a field ("quantity over 10"),
 * or for what is measured of each group ("more than 5 orders").
 */
#include "agents/query/draft.h"

#include <stdio.h>
#include <string.h>

static bool is_number_field(const struct draft *draft, const struct model_field *field)
{
	return field != NULL && field_usable(draft, field) &&
	       (field->type == TYPE_INTEGER || field->type == TYPE_DECIMAL);
}

static const struct model_field *number_field(const struct draft *draft, const struct item *noun,
					      bool equal)
{
	for (size_t i = 0; i < noun->reading_count; i++)
		if (noun->readings[i].kind == READ_FIELD &&
		    is_number_field(draft, noun->readings[i].field))
			return noun->readings[i].field;
	for (size_t i = 0; i < noun->reading_count; i++) {
		const struct model_dataset *dataset = noun->readings[i].dataset;

		if (noun->readings[i].kind != READ_DATASET || !equal)
			continue;
		/* "store 12" means the key, even where rows have names too. */
		for (size_t j = 0; j < dataset->field_count; j++)
			if (dataset->primary_key.count == 1 &&
			    strcmp(dataset->primary_key.items[0], dataset->fields[j].name) == 0 &&
			    is_number_field(draft, &dataset->fields[j]))
				return &dataset->fields[j];
	}
	return NULL;
}

/* The metric of the question that the item names; NULL when it names none, or several. */
static const struct model_metric *named_metric(const struct draft *draft, size_t item)
{
	const struct item *noun = &draft->items.list[item];
	const struct model_metric *found = NULL;

	for (size_t i = 0; noun->kind == ITEM_MODEL && i < noun->reading_count; i++)
		for (size_t j = 0; j < draft->metric_count; j++) {
			if (noun->readings[i].metric != draft->metrics[j])
				continue;
			if (found != NULL && found != draft->metrics[j])
				return NULL;
			found = draft->metrics[j];
		}
	return found;
}

/* "net sales by region, only regions over 100": the groups are spoken of once more, and what is
 * measured of each is compared. */
static bool is_grouped(const struct draft *draft, size_t item)
{
	const struct item *noun = &draft->items.list[item];

	for (size_t i = 0; noun->kind == ITEM_MODEL && i < noun->reading_count; i++)
		for (size_t d = 0; d < draft->query->dimension_count; d++)
			if (noun->readings[i].kind == READ_FIELD &&
			    strcmp(noun->readings[i].field->id,
				   draft->query->dimensions[d].field) == 0)
				return true;
	return false;
}

/* What "more than 5" is said of: "more than 5 orders", "net sales over 300", or the one thing that
 * is measured. */
static const struct model_metric *conditioned_metric(const struct draft *draft, size_t item)
{
	size_t noun = draft->roles.parts[item].qualifier;
	const struct model_metric *metric = NULL;

	if (noun != NO_ITEM && draft->roles.parts[noun].role == ROLE_VALUE)
		noun = draft->roles.parts[noun].qualifier; /* "more than 5 completed orders" */
	if (noun != NO_ITEM && noun < item && draft->metric_count == 1 && is_grouped(draft, noun))
		return draft->metrics[0];
	if (noun != NO_ITEM)
		return named_metric(draft, noun);
	for (size_t i = item; i-- > 0 && metric == NULL;)
		if (draft->roles.parts[i].role == ROLE_METRIC)
			metric = named_metric(draft, i);
	if (metric != NULL || draft->metric_count != 1)
		return metric;
	return draft->metrics[0];
}

static char *number_text(double number)
{
	char text[64];
	size_t len;

	snprintf(text, sizeof(text), "%.6f", number);
	len = strlen(text);
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[len - 1] = '\0';
	return mem_str(text);
}

static bool refuse_number(struct draft *draft, size_t item)
{
	bool compares = draft->roles.parts[item].compare != FILTER_EQUAL && item > 0;
	CLEANUP(mem_freep)
	char *text = draft_text(draft, compares ? item - 1 : item, compares ? 2 : 1);

	return draft_refuse(draft, "unsupported",
			    mem_format("I cannot tell what \"%s\" is said of: no metric of the "
				       "question, and no field that holds numbers.",
				       text),
			    mem_str("Say it behind what is measured: \"regions with net sales over "
				    "300\"."));
}

/* "net sales over 300": a condition on groups, once they are added up. */
static bool condition_number(struct draft *draft, size_t item)
{
	static const enum filter_op ops[] = {OP_IN, OP_MORE, OP_LESS, OP_AT_LEAST, OP_AT_MOST};
	const struct part *part = &draft->roles.parts[item];
	const struct model_metric *metric = conditioned_metric(draft, item);
	const struct word *word = &draft->sentence.items[draft->items.list[item].first];
	CLEANUP(mem_freep) char *value = NULL;

	if (metric == NULL || part->compare == FILTER_EQUAL || word->percent || word->number > 1e15)
		return refuse_number(draft, item);
	if (draft->roles.average)
		return draft_refuse(draft, "unsupported",
				    mem_str("A condition on an average cannot be asked yet."),
				    mem_str("Ask for the averages without the condition."));
	value = number_text(word->number);
	metric_query_add_condition(draft->query, metric->name, ops[part->compare], value);
	return true;
}

bool filter_number(struct draft *draft, size_t item)
{
	static const enum filter_op ops[] = {OP_IN, OP_MORE, OP_LESS, OP_AT_LEAST, OP_AT_MOST};
	const struct part *part = &draft->roles.parts[item];
	const struct item *noun =
		part->qualifier != NO_ITEM ? &draft->items.list[part->qualifier] : NULL;
	const struct model_field *field =
		noun != NULL ? number_field(draft, noun, part->compare == FILTER_EQUAL) : NULL;
	const struct word *word = &draft->sentence.items[draft->items.list[item].first];
	struct json *values = NULL;

	if (field == NULL || (item_names_metric(noun) && part->compare != FILTER_EQUAL))
		return condition_number(draft, item);
	values = json_array();
	json_push(values,
		  word->real ? json_new_real(word->number) : json_new_int((int64_t)word->number));
	metric_query_add_filter(draft->query, field->id, ops[part->compare], values);
	return true;
}
