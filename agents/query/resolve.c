/*
 * From names to fields. A field counts only when every metric of the draft reaches it. Where two
 * fields remain, the noun beside a value, a list it stands in, or an earlier answer decides; else
 * the person is asked.
 */
#include "agents/query/draft.h"

#include <string.h>

#include "base/buf.h"

void fields_add(struct fields *fields, const struct model_field *field)
{
	if (!fields_has(fields, field) && fields->count < ARRAY_LEN(fields->items))
		fields->items[fields->count++] = field;
}

bool fields_has(const struct fields *fields, const struct model_field *field)
{
	for (size_t i = 0; i < fields->count; i++)
		if (fields->items[i] == field)
			return true;
	return false;
}

bool field_usable(const struct draft *draft, const struct model_field *field)
{
	if (!field->dimension)
		return false;
	for (size_t i = 0; i < draft->metric_count; i++)
		if (!model_reaches(draft->input->model, draft->metrics[i], field))
			return false;
	return true;
}

struct fields name_fields(const struct draft *draft)
{
	struct fields fields = {.count = 0};
	const struct model *model = draft->input->model;

	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_field *field = dataset_name_field(model_dataset_at(model, i));

		if (field != NULL && field_usable(draft, field))
			fields_add(&fields, field);
	}
	return fields;
}

void add_field_choice(struct json *choices, const struct model_field *field)
{
	CLEANUP(mem_freep)
	char *label = mem_format("%s of %s", field->label, field->dataset->label);

	choices_add(choices, field->id, label);
}

static bool ask_field(struct draft *draft, size_t item, const struct fields *fields)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	CLEANUP(mem_freep) char *name = part_name(draft, item);
	struct json *choices = choices_new();

	for (size_t i = 0; i < fields->count; i++)
		add_field_choice(choices, fields->items[i]);
	draft_ask_part(draft, name, choices);
	return draft_ask(
		draft,
		mem_format("\"%s\" can mean more than one thing here. Which is meant?", text));
}

/* One of fields by an earlier answer; NULL without a fitting one. */
static const struct model_field *chosen_field(const struct draft *draft, size_t item,
					      const struct fields *fields)
{
	CLEANUP(mem_freep) char *name = part_name(draft, item);
	const char *choice = draft_choice(draft, name);

	for (size_t i = 0; choice != NULL && i < fields->count; i++)
		if (strcmp(fields->items[i]->id, choice) == 0)
			return fields->items[i];
	return NULL;
}

static bool choose(struct draft *draft, size_t item, const struct fields *fields,
		   const struct model_field **ret_field)
{
	const struct model_field *chosen = chosen_field(draft, item, fields);

	if (chosen == NULL && fields->count > 1)
		return ask_field(draft, item, fields);
	*ret_field = chosen != NULL ? chosen : fields->items[0];
	return true;
}

static struct fields noun_fields(const struct draft *draft, const struct item *item, bool usable)
{
	struct fields fields = {.count = 0};

	for (size_t i = 0; i < item->reading_count; i++) {
		const struct model_field *field = item->readings[i].field;

		if (item->readings[i].kind == READ_FIELD && (!usable || field_usable(draft, field)))
			fields_add(&fields, field);
	}
	for (size_t i = 0; fields.count == 0 && i < item->reading_count; i++) {
		const struct model_field *field = NULL;

		if (item->readings[i].kind != READ_DATASET)
			continue;
		field = dataset_name_field(item->readings[i].dataset);
		if (field != NULL && (!usable || field_usable(draft, field)))
			fields_add(&fields, field);
	}
	return fields;
}

static bool refuse_noun(struct draft *draft, size_t item)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	CLEANUP(mem_freep) char *usable = dimensions_text(draft);
	const struct fields any = noun_fields(draft, &draft->items.list[item], false);
	char *hint = mem_format("It can be grouped by and filtered on: %s.", usable);

	if (any.count == 0)
		return draft_refuse(
			draft, "undefined",
			mem_format("No field tells one of \"%s\" from another here.", text), hint);
	if (!any.items[0]->dimension)
		return draft_refuse(draft, "undefined",
				    mem_format("\"%s\" is recorded (%s), but it is defined neither "
					       "as a metric nor "
					       "for grouping and filtering.",
					       text, any.items[0]->id),
				    hint);
	return draft_refuse(draft, "unreachable",
			    mem_format("%s cannot be told apart by \"%s\": no relationship leads "
				       "there without counting rows twice.",
				       draft->metric_count > 0 ? draft->metrics[0]->label : "It",
				       text),
			    hint);
}

/* "issues by status": the status of what is measured, where that has one, not that of a project. */
static struct fields own_fields(const struct draft *draft, struct fields fields)
{
	struct fields own = {.count = 0};

	for (size_t i = 0; i < fields.count; i++) {
		bool all = draft->metric_count > 0;

		for (size_t m = 0; m < draft->metric_count; m++)
			all = all && draft->metrics[m]->dataset == fields.items[i]->dataset;
		if (all)
			fields_add(&own, fields.items[i]);
	}
	return own.count == 1 ? own : fields;
}

bool settle_noun(struct draft *draft, size_t item, const struct model_field **ret_field)
{
	const struct fields fields =
		own_fields(draft, noun_fields(draft, &draft->items.list[item], true));

	if (fields.count == 0)
		return refuse_noun(draft, item);
	return choose(draft, item, &fields, ret_field);
}

static struct fields value_fields(const struct draft *draft, size_t item, bool usable)
{
	const struct item *value = &draft->items.list[item];
	struct fields fields = {.count = 0};

	for (size_t i = 0; i < value->reading_count; i++) {
		const struct reading *reading = &value->readings[i];

		if ((reading->kind == READ_VALUE || reading->kind == READ_MISSING) &&
		    (!usable || field_usable(draft, reading->field)))
			fields_add(&fields, reading->field);
	}
	return fields;
}

/* Keeps the fields that the noun speaks of, when any of them is among them. */
static void narrow_by_noun(struct fields *fields, const struct item *noun)
{
	struct fields kept = {.count = 0};
	enum reading_kind kinds[] = {READ_FIELD, READ_DATASET};

	for (size_t k = 0; kept.count == 0 && k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < fields->count; i++)
			for (size_t j = 0; j < noun->reading_count; j++) {
				const struct reading value = {.kind = READ_VALUE,
							      .field = fields->items[i]};

				if (noun->readings[j].kind == kinds[k] &&
				    reading_fits(&value, &noun->readings[j]))
					fields_add(&kept, fields->items[i]);
			}
	if (kept.count > 0)
		*fields = kept;
}

/* "the Phoenix project": of several fields of one dataset, the one that names its rows. */
static void narrow_by_name(struct fields *fields, const struct item *noun)
{
	for (size_t j = 0; j < noun->reading_count; j++) {
		const struct reading *reading = &noun->readings[j];
		const struct model_field *name =
			reading->kind == READ_DATASET ? dataset_name_field(reading->dataset)
			: reading->kind == READ_FIELD && reading->field->names_row ? reading->field
										   : NULL;

		if (name != NULL && fields->count > 1 && fields_has(fields, name)) {
			fields->items[0] = name;
			fields->count = 1;
		}
	}
}

static struct fields narrowed(const struct draft *draft, size_t item)
{
	struct fields fields = value_fields(draft, item, true);
	const struct part *part = &draft->roles.parts[item];
	size_t column = draft->roles.column;

	if (column != NO_ITEM && draft->items.list[column].kind == ITEM_MODEL)
		narrow_by_noun(&fields, &draft->items.list[column]);
	if (part->qualifier != NO_ITEM) {
		narrow_by_noun(&fields, &draft->items.list[part->qualifier]);
		narrow_by_name(&fields, &draft->items.list[part->qualifier]);
	}
	return fields;
}

static size_t chain_head(const struct draft *draft, size_t item)
{
	while (draft->roles.parts[item].chained != NO_ITEM)
		item = draft->roles.parts[item].chained;
	return item;
}

/* The fields that every value of the list can belong to. */
static struct fields common_fields(const struct draft *draft, size_t head)
{
	struct fields common = narrowed(draft, head);

	for (size_t i = head + 1; i < draft->items.count; i++) {
		struct fields own;
		struct fields both = {.count = 0};

		if (draft->roles.parts[i].role != ROLE_VALUE || chain_head(draft, i) != head)
			continue;
		own = narrowed(draft, i);
		for (size_t k = 0; k < common.count; k++)
			if (fields_has(&own, common.items[k]))
				fields_add(&both, common.items[k]);
		if (both.count > 0)
			common = both;
	}
	return common;
}

static bool refuse_value(struct draft *draft, size_t item)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	CLEANUP(mem_freep) char *usable = dimensions_text(draft);
	const struct fields any = value_fields(draft, item, false);

	return draft_refuse(
		draft, "unreachable",
		mem_format("\"%s\" is a value of %s, which %s cannot be filtered on.", text,
			   any.count > 0 ? any.items[0]->id : "no known field",
			   draft->metric_count > 0 ? draft->metrics[0]->label : "this listing"),
		mem_format("It can be filtered on: %s.", usable));
}

/* "list the projects of the Sales department": of fields of several datasets, that of what is
 * listed. */
static void narrow_by_listed(const struct draft *draft, struct fields *fields)
{
	struct fields kept = {.count = 0};

	for (size_t i = 0; draft->listing && i < draft->items.count; i++) {
		const struct model_field *shown = draft->fields[i];

		if (draft->roles.parts[i].role != ROLE_DIM || !draft->roles.parts[i].subject ||
		    shown == NULL)
			continue;
		for (size_t k = 0; k < fields->count; k++)
			if (fields->items[k]->dataset == shown->dataset)
				fields_add(&kept, fields->items[k]);
	}
	if (kept.count == 1)
		*fields = kept;
}

static bool settle_value(struct draft *draft, size_t item)
{
	size_t head = chain_head(draft, item);
	struct fields fields = common_fields(draft, head);
	struct fields own = narrowed(draft, item);
	const struct model_field *field = NULL;

	if (own.count == 0)
		return refuse_value(draft, item);
	for (size_t i = 0; i < fields.count; i++)
		if (!fields_has(&own, fields.items[i]))
			fields = own;
	if (fields.count == 0)
		fields = own;
	narrow_by_listed(draft, &fields);
	/* One answer for the whole list: the head asks. */
	if (head != item && fields_has(&own, draft->fields[head])) {
		draft->fields[item] = draft->fields[head];
		return true;
	}
	if (!choose(draft, item, &fields, &field))
		return false;
	draft->fields[item] = field;
	return true;
}

bool settle_values(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_VALUE || i == draft->column_value)
			continue;
		if (!settle_value(draft, i))
			return false;
	}
	return true;
}
