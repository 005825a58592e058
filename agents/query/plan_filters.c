/*
 * Which rows count: values, numbers, yes/no fields, missing values, a column named in the question,
 * and "the AI project", where one thing is spoken of and several could be meant.
 */
#include "agents/query/draft.h"

#include <stdio.h>
#include <string.h>

/* The value that "using the severity column" is about: the next one behind it, else the last
 * before. */
static size_t value_for_column(const struct draft *draft)
{
	size_t before = NO_ITEM;

	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];
		bool candidate = draft->roles.parts[i].role == ROLE_VALUE ||
				 (item->kind == ITEM_UNKNOWN && !item->spent);

		if (!candidate)
			continue;
		if (i > draft->roles.column)
			return i;
		before = i;
	}
	return before;
}

static char *column_name(const struct draft *draft)
{
	CLEANUP(mem_freep)
	char *text = draft_text(draft, draft->roles.column, draft->roles.column_words);

	for (char *c = text; *c != '\0'; c++)
		if (*c == ' ' || *c == '-')
			*c = '_';
	return mem_str(text);
}

static bool refuse_column(struct draft *draft, const char *why)
{
	CLEANUP(mem_freep) char *column = column_name(draft);

	return draft_refuse(draft, "unclear",
			    mem_format("The question names a column \"%s\", but %s.", column, why),
			    mem_str("Say which value the column must have."));
}

static bool note_distrusted(struct draft *draft, size_t value)
{
	CLEANUP(mem_freep) char *column = column_name(draft);
	CLEANUP(mem_freep) char *text = draft_text(draft, value, 1);
	const struct item *item = &draft->items.list[value];
	const struct model_field *field = NULL;

	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_VALUE)
			field = item->readings[i].field;
	if (field == NULL)
		return true;
	draft_note(draft, "column.replaced",
		   mem_format("There is no column \"%s\"; \"%s\" is a value of %s, which was used.",
			      column, text, field->id));
	return true;
}

bool plan_column(struct draft *draft)
{
	size_t value = NO_ITEM;

	draft->column_value = NO_ITEM;
	if (draft->roles.column == NO_ITEM ||
	    draft->items.list[draft->roles.column].kind == ITEM_MODEL)
		return true;
	value = value_for_column(draft);
	if (value == NO_ITEM)
		return refuse_column(draft, "no value to look for in it");
	if (draft->input->distrust_column)
		return note_distrusted(draft, value);
	draft->column_value = value;
	return true;
}

/* The stored spelling where one is known, else the word as asked. */
static char *column_literal(const struct draft *draft)
{
	const struct item *item = &draft->items.list[draft->column_value];

	for (size_t i = 0; i < item->reading_count; i++)
		if (item->readings[i].kind == READ_VALUE)
			return mem_str(item->readings[i].value);
	return draft_text(draft, draft->column_value, 1);
}

static bool filter_column(struct draft *draft)
{
	CLEANUP(mem_freep) char *literal = NULL;
	CLEANUP(mem_freep) char *field = NULL;

	if (draft->column_value == NO_ITEM)
		return true;
	if (draft->metric_count == 0)
		return refuse_column(draft, "nothing is measured");
	literal = column_literal(draft);
	draft->plan->column = column_name(draft);
	draft->plan->column_dataset = mem_str(draft->metrics[0]->dataset->name);
	field = mem_format("%s.%s", draft->plan->column_dataset, draft->plan->column);
	metric_query_add_filter_str(draft->query, field, OP_IN, literal);
	draft_note(draft, "column.named",
		   mem_format("The column \"%s\" was used because the question names it.",
			      draft->plan->column));
	return true;
}

static struct query_filter *find_filter(struct metric_query *query, const char *field,
					enum filter_op op)
{
	for (size_t i = 0; i < query->filter_count; i++)
		if (query->filters[i].op == op && strcmp(query->filters[i].field, field) == 0)
			return &query->filters[i];
	return NULL;
}

static bool holds(const struct json *values, const char *value)
{
	json_each(item, values) if (json_str(item) != NULL &&
				    strcmp(json_str(item), value) == 0) return true;
	return false;
}

static void add_value(struct metric_query *query, const char *field, enum filter_op op,
		      const char *value)
{
	struct query_filter *filter = find_filter(query, field, op);

	if (filter == NULL)
		metric_query_add_filter_str(query, field, op, value);
	else if (!holds(filter->values, value))
		json_push_str(filter->values, value);
}

static size_t head_of(const struct draft *draft, size_t item)
{
	while (draft->roles.parts[item].chained != NO_ITEM)
		item = draft->roles.parts[item].chained;
	return item;
}

static bool same_values(const struct item *a, const struct item *b)
{
	for (size_t i = 0; i < a->reading_count; i++)
		for (size_t j = 0; j < b->reading_count; j++)
			if (a->readings[i].value != NULL && b->readings[j].value != NULL &&
			    strcmp(a->readings[i].value, b->readings[j].value) == 0)
				return true;
	return false;
}

/* Two values of one field that are not listed together: both at once, or either? Comparing: either.
 */
static bool check_repeated(struct draft *draft, size_t item)
{
	for (size_t i = 0; i < item; i++) {
		CLEANUP(mem_freep) char *a = NULL;
		CLEANUP(mem_freep) char *b = NULL;

		if (draft->roles.parts[i].role != ROLE_VALUE ||
		    draft->fields[i] != draft->fields[item] ||
		    head_of(draft, i) == head_of(draft, item) || draft->roles.compare ||
		    draft->roles.parts[i].negated != draft->roles.parts[item].negated ||
		    same_values(&draft->items.list[i], &draft->items.list[item]))
			continue;
		a = draft_text(draft, i, 1);
		b = draft_text(draft, item, 1);
		return draft_refuse(
			draft, "unclear",
			mem_format("\"%s\" and \"%s\" are both values of %s; it is not clear "
				   "how they go together.",
				   a, b, draft->fields[item]->label),
			mem_format("Say \"%s and %s\" or \"%s or %s\".", a, b, a, b));
	}
	return true;
}

/* A missing value cannot be listed together with stored ones. */
static bool filter_missing(struct draft *draft, size_t item)
{
	const struct model_field *field = draft->fields[item];
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);

	for (size_t i = 0; i < draft->items.count; i++)
		if (i != item && draft->roles.parts[i].role == ROLE_VALUE &&
		    draft->fields[i] == field)
			return draft_refuse(
				draft, "unsupported",
				mem_format("\"%s\" stands for a missing %s and cannot be "
					   "listed together with stored values.",
					   text, field->label),
				mem_format("Ask by %s instead.", field->label));
	metric_query_add_filter(draft->query, field->id,
				draft->roles.parts[item].negated ? OP_PRESENT : OP_MISSING, NULL);
	return true;
}

static bool filter_value(struct draft *draft, size_t item)
{
	const struct item *value = &draft->items.list[item];
	const struct model_field *field = draft->fields[item];
	enum filter_op op = draft->roles.parts[item].negated ? OP_NOT : OP_IN;
	bool stored = false;
	bool missing = false;

	if (!check_repeated(draft, item))
		return false;
	for (size_t i = 0; i < value->reading_count; i++) {
		if (value->readings[i].field != field)
			continue;
		missing = missing || value->readings[i].kind == READ_MISSING;
		if (value->readings[i].kind != READ_VALUE)
			continue;
		add_value(draft->query, field->id, op, value->readings[i].value);
		stored = true;
	}
	if (missing && stored)
		return draft_refuse(
			draft, "unclear",
			mem_format("\"%s\" is a stored %s and also stands for a missing one.",
				   value->readings[0].value, field->label),
			mem_format("Ask by %s instead.", field->label));
	return missing ? filter_missing(draft, item) : true;
}

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

static bool filter_number(struct draft *draft, size_t item)
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

static bool filter_flag(struct draft *draft, size_t item)
{
	const struct model_field *field = NULL;
	struct json *values = NULL;

	if (!settle_noun(draft, item, &field))
		return false;
	values = json_array();
	json_push(values, json_new_bool(!draft->roles.parts[item].negated));
	metric_query_add_filter(draft->query, field->id, OP_IN, values);
	return true;
}

static bool filter_absent(struct draft *draft, size_t item)
{
	const struct model_field *field = NULL;

	if (!settle_noun(draft, item, &field))
		return false;
	metric_query_add_filter(draft->query, field->id, OP_MISSING, NULL);
	return true;
}

/* In a share the value is one line of the whole, not a filter on it; plan_shape() groups by it. */
static bool is_share_value(const struct draft *draft, size_t item)
{
	if (!draft->roles.share || draft->roles.parts[item].negated)
		return false;
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_DIM && draft->fields[i] != NULL)
			return draft->fields[i] == draft->fields[item];
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_VALUE && i != draft->column_value &&
		    !draft->roles.parts[i].negated && draft->fields[i] != draft->fields[item])
			return false;
	return true;
}

static bool filter_item(struct draft *draft, size_t item)
{
	switch (draft->roles.parts[item].role) {
	case ROLE_VALUE:
		if (item == draft->column_value || is_share_value(draft, item))
			return true;
		return filter_value(draft, item);
	case ROLE_NUMBER:
		return filter_number(draft, item);
	case ROLE_FLAG:
		return filter_flag(draft, item);
	case ROLE_ABSENT:
		return filter_absent(draft, item);
	default:
		return true;
	}
}

/* The rows spoken of must be those that are measured, or lead there; "of orders" then adds nothing.
 */
static bool check_context(struct draft *draft, size_t item)
{
	const struct item *noun = &draft->items.list[item];
	CLEANUP(mem_freep) char *text = NULL;

	for (size_t i = 0; i < noun->reading_count; i++) {
		const struct model_dataset *dataset = noun->readings[i].dataset;

		if (noun->readings[i].kind != READ_DATASET)
			continue;
		if (draft->metric_count == 0)
			return true;
		if (model_path(draft->input->model, draft->metrics[0]->dataset, dataset, NULL,
			       NULL) != PATH_NONE)
			return true;
	}
	text = draft_text(draft, item, 1);
	return draft_refuse(draft, "unreachable",
			    mem_format("%s is not measured over \"%s\".",
				       draft->metric_count > 0 ? draft->metrics[0]->label : "It",
				       text),
			    metrics_text(draft));
}

bool plan_filters(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		if (!filter_item(draft, i))
			return false;
		if (draft->roles.parts[i].role == ROLE_CONTEXT && !check_context(draft, i))
			return false;
	}
	return filter_column(draft);
}

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
			add_value(query, field->id, OP_IN, item->readings[i].value);
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
