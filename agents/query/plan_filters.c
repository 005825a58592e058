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

void add_filter_value(struct metric_query *query, const char *field, enum filter_op op,
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
		add_filter_value(draft->query, field->id, op, value->readings[i].value);
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
