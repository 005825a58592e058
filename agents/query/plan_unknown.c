/*
 * Words that nothing explains. One that only occurs in the names of metrics leads to a question, so
 * does one that is like a stored value; any other to a refusal that says what exists.
 */
#include "agents/query/draft.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"

/* The words of a metric spoken of in part: the other names are then what is spoken of. */
static void demote_metrics(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		struct part *part = &draft->roles.parts[i];

		if (part->role == ROLE_METRIC && item_is_noun(&draft->items.list[i]))
			part->role = ROLE_CONTEXT;
	}
}

static bool refuse_unknown(struct draft *draft, size_t at, size_t count)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, at, count);
	CLEANUP(mem_freep) char *metrics = metrics_text(draft);
	size_t known = 0;

	for (size_t i = 0; i < draft->items.count; i++)
		known += draft->items.list[i].kind == ITEM_MODEL ? 1 : 0;
	if (known == 0 && roles_count(&draft->roles, &draft->items, ROLE_METRIC) == 0)
		return draft_refuse(
			draft, "undefined",
			mem_format(
				"\"%s\" is not defined: no metric, field or value of that name is "
				"recorded in the data I may read.",
				text),
			mem_format("I only answer from this data. %s", metrics));
	if (roles_count(&draft->roles, &draft->items, ROLE_METRIC) == 0)
		return draft_refuse(
			draft, "undefined",
			mem_format("No metric \"%s\" is defined, and no column of that name is "
				   "recorded: what it is made of is missing here.",
				   text),
			mem_format("%s An analyst can define \"%s\" once its data is recorded.",
				   metrics, text));
	return draft_refuse(
		draft, "unknown_word",
		mem_format("I do not know what \"%s\" means here: it is no name of a metric "
			   "or field and no stored value.",
			   text),
		mem_format("Leave it out or name a stored value. %s", metrics));
}

static bool near_choices(const struct draft *draft, size_t at, struct json *choices)
{
	const struct word *word = &draft->sentence.items[draft->items.list[at].first];

	for (size_t i = 0; i < draft->vocabulary.near_count; i++) {
		const struct near *near = &draft->vocabulary.near[i];
		CLEANUP(mem_freep) char *label = NULL;

		if (!phrase_has_word(&near->words, word) || offers(choices, near->value))
			continue;
		label = mem_format("%s (%s)", near->value, near->field->label);
		choices_add(choices, near->value, label);
	}
	return json_len(choices) > 0;
}

/* Makes the unknown word the value that was chosen for it. */
static bool adopt_near(struct draft *draft, size_t at, const char *choice)
{
	struct item *item = &draft->items.list[at];

	for (size_t i = 0; i < draft->vocabulary.near_count; i++) {
		const struct near *near = &draft->vocabulary.near[i];

		if (strcmp(near->value, choice) != 0)
			continue;
		item->readings = mem_grow(item->readings,
					  (item->reading_count + 1) * sizeof(struct reading));
		item->readings[item->reading_count++] = (struct reading){
			.kind = READ_VALUE, .field = near->field, .value = near->value};
		item->kind = ITEM_MODEL;
		draft->roles.parts[at].role = ROLE_VALUE;
	}
	return item->kind == ITEM_MODEL;
}

static bool settle_near(struct draft *draft, size_t at, struct json *choices)
{
	CLEANUP(mem_freep) char *name = part_name(draft, at);
	CLEANUP(mem_freep) char *text = draft_text(draft, at, 1);
	const char *choice = draft_choice(draft, name);

	if (choice != NULL && offers(choices, choice) && adopt_near(draft, at, choice)) {
		json_free(choices);
		return true;
	}
	draft_ask_part(draft, name, choices);
	return draft_ask(draft,
			 mem_format("No stored value is \"%s\". Is one of these meant?", text));
}

static bool settle_unknown(struct draft *draft, size_t at, size_t count)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, at, count);
	struct json *choices = partly_named_choices(draft, at, count);
	bool near = false;

	if (json_len(choices) > 0 && adopt_choice(draft, choices)) {
		json_free(choices);
		demote_metrics(draft);
		return true;
	}
	if (json_len(choices) > 0 && draft->metric_count == 0)
		return ask_metric(draft, choices,
				  mem_format("\"%s\" alone is not the name of a metric.", text));
	json_free(choices);
	choices = choices_new();
	near = count == 1 && near_choices(draft, at, choices);
	if (near)
		return settle_near(draft, at, choices);
	json_free(choices);
	return refuse_unknown(draft, at, count);
}

/* A value compared with a column that only the question knows need not be stored anywhere. */
static bool is_column_value(const struct draft *draft, size_t at)
{
	return draft->column_value == at;
}

static size_t unknown_run(const struct draft *draft, size_t at)
{
	size_t count = 0;

	while (at + count < draft->items.count &&
	       draft->items.list[at + count].kind == ITEM_UNKNOWN &&
	       !draft->items.list[at + count].spent && !is_column_value(draft, at + count) &&
	       (count == 0 ||
		draft->sentence.items[draft->items.list[at + count].first].mark != ','))
		count++;
	return count;
}

/* "in USD", "how much money" add nothing when every metric that is named is in USD. */
static bool is_unit(const struct draft *draft, size_t at)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, at, 1);
	bool money = strcasecmp(text, "money") == 0;
	size_t metrics = 0;

	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		for (size_t j = 0; j < item->reading_count; j++) {
			const struct model_metric *metric = item->readings[j].metric;

			if (item->readings[j].kind != READ_METRIC)
				continue;
			if (metric->unit == NULL || (strcasecmp(metric->unit, text) != 0 &&
						     !(money && metric_is_money(metric))))
				return false;
			metrics++;
		}
	}
	return metrics > 0;
}

/* The only metric that the names of the question can mean; NULL when there are several or none. */
static const struct model_metric *only_named(const struct draft *draft)
{
	const struct model_metric *only = NULL;

	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		for (size_t j = 0; j < item->reading_count; j++) {
			const struct model_metric *metric = item->readings[j].metric;

			if (item->readings[j].kind != READ_METRIC)
				continue;
			if (only != NULL && only != metric)
				return NULL;
			only = metric;
		}
	}
	return only;
}

/* "Which product sold the most units": "sold" says no more than "units sold", what is measured. */
static bool repeats_name(const struct draft *draft, size_t at)
{
	const struct model_metric *metric = only_named(draft);

	return metric != NULL && draft->items.list[at].count == 1 &&
	       !draft->sentence.items[draft->items.list[at].first].quoted &&
	       partly_named(draft, metric, at, 1);
}

static void spend_units(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->items.list[i].kind == ITEM_UNKNOWN &&
		    (is_unit(draft, i) || repeats_name(draft, i)))
			draft->items.list[i].spent = true;
}

bool plan_unknown_words(struct draft *draft)
{
	spend_units(draft);
	for (size_t i = 0; i < draft->items.count; i++) {
		size_t count = unknown_run(draft, i);

		if (count == 0)
			continue;
		if (!settle_unknown(draft, i, count))
			return false;
		i += count - 1;
	}
	return true;
}
