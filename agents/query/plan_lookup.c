/*
 * "The AI project", where one thing is spoken of and several could be meant: their names are looked
 * up first, and asked about when there is more than one.
 */
#include "agents/query/draft.h"

#include <string.h>

/* The dataset of which "the AI project" or "the project" names exactly one row. */
static const struct model_dataset *one_of(const struct draft *draft, size_t noun, size_t first)
{
	static const char *const articles[] = {"the", "this", "that", NULL};
	const struct item *item = &draft->items.list[noun];
	const struct item *lead = first > 0 ? &draft->items.list[first - 1] : NULL;

	if (item_is_plural(&draft->sentence, item) || lead == NULL || lead->count != 1 ||
	    !word_in(&draft->sentence.items[lead->first], articles))
		return NULL;
	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_DATASET)
			return item->readings[i].dataset;
	return NULL;
}

static bool lookup_names(struct draft *draft, const struct model_field *name, const char *part,
			 const struct model_field *field, size_t value)
{
	const struct item *item = &draft->items.list[value];
	struct metric_query *query = metric_query_new();

	metric_query_add_dimension(query, name->id, BUCKET_NONE);
	for (size_t i = 0; field != NULL && i < item->reading_count; i++)
		if (item->readings[i].kind == READ_VALUE && item->readings[i].field == field)
			add_filter_value(query, field->id, OP_IN, item->readings[i].value);
	metric_query_free(draft->query);
	draft->query = query;
	draft->plan->kind = PLAN_LOOKUP;
	draft->plan->lookup = mem_str(part);
	return false;
}

static bool ask_names(struct draft *draft, const char *part, const struct json *names, size_t noun,
		      size_t first)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, first, noun - first + 1);
	struct json *choices = choices_new();

	json_each(name, names) if (json_str(name) != NULL)
		choices_add(choices, json_str(name), json_str(name));
	draft_ask_part(draft, part, choices);
	return draft_ask(draft, mem_format("\"the %s\" can be any of %zu. Which is meant?", text,
					   json_len(names)));
}

static bool settle_one(struct draft *draft, const struct model_dataset *dataset, size_t noun,
		       size_t first, const struct model_field *field, size_t value)
{
	CLEANUP(mem_freep) char *part = part_name(draft, noun);
	const struct model_field *name = dataset_name_field(dataset);
	const struct json *names = json_get(draft->input->lookups, part);
	const char *choice = draft_choice(draft, part);

	if (name == NULL || !field_usable(draft, name) || name == field)
		return true;
	if (choice != NULL) {
		metric_query_add_filter_str(draft->query, name->id, OP_IN, choice);
		return true;
	}
	if (names == NULL)
		return lookup_names(draft, name, part, field, value);
	return json_len(names) > 1 ? ask_names(draft, part, names, noun, first) : true;
}

static bool is_grouped_by(const struct draft *draft, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_DIM && draft->fields[i] != NULL &&
		    draft->fields[i]->dataset == dataset)
			return true;
	return false;
}

static bool lookup_value(struct draft *draft, size_t value)
{
	size_t noun = draft->roles.parts[value].qualifier;
	size_t first = noun != NO_ITEM && noun < value ? noun : value;
	const struct model_dataset *dataset = NULL;

	if (noun == NO_ITEM || draft->roles.parts[value].negated || value == draft->column_value ||
	    draft->roles.parts[noun].role != ROLE_QUALIFIER)
		return true;
	dataset = one_of(draft, noun, first);
	if (dataset == NULL || draft->fields[value]->dataset != dataset ||
	    is_grouped_by(draft, dataset))
		return true;
	return settle_one(draft, dataset, noun, first, draft->fields[value], value);
}

/* "the project" with nothing that says which */
static bool lookup_context(struct draft *draft, size_t noun)
{
	const struct model_dataset *dataset = one_of(draft, noun, noun);

	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_VALUE &&
		    draft->roles.parts[i].qualifier == noun)
			return true; /* the value says which */
	if (dataset == NULL || is_grouped_by(draft, dataset) ||
	    (draft->metric_count > 0 && draft->metrics[0]->dataset == dataset))
		return true;
	return settle_one(draft, dataset, noun, noun, NULL, noun);
}

bool plan_lookup(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		enum role role = draft->roles.parts[i].role;

		if (role == ROLE_VALUE && !lookup_value(draft, i))
			return false;
		if (role == ROLE_CONTEXT && !lookup_context(draft, i))
			return false;
	}
	return true;
}
