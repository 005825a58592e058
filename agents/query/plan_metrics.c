/*
 * What is measured. A metric must be named by its own words; a word that only occurs in the names
 * of metrics leads to a question, an unknown word to a refusal that says what exists.
 */
#include "agents/query/draft.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"

/* Its unit is a currency, as ISO 4217 writes them. */
static bool metric_is_money(const struct model_metric *metric)
{
	return metric->unit != NULL && strlen(metric->unit) == 3 &&
	       strspn(metric->unit, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static bool phrase_has_word(const struct sentence *phrase, const struct word *word)
{
	for (size_t i = 0; i < phrase->count; i++)
		if (word_same(&phrase->items[i], word))
			return true;
	return false;
}

/* Every word of the items from `at` on occurs in one phrase that names the metric. */
static bool partly_named(const struct draft *draft, const struct model_metric *metric, size_t at,
			 size_t count)
{
	for (size_t i = 0; i < draft->vocabulary.count; i++) {
		const struct phrase *phrase = &draft->vocabulary.phrases[i];
		bool all = phrase->reading.kind == READ_METRIC && phrase->reading.metric == metric;
		const struct item *first = &draft->items.list[at];
		const struct item *last = &draft->items.list[at + count - 1];

		for (size_t w = first->first; all && w < last->first + last->count; w++)
			all = phrase_has_word(&phrase->words, &draft->sentence.items[w]);
		if (all)
			return true;
	}
	return false;
}

static struct json *partly_named_choices(const struct draft *draft, size_t at, size_t count)
{
	struct json *choices = choices_new();

	for (size_t i = 0; i < model_metric_count(draft->input->model); i++) {
		const struct model_metric *metric = model_metric_at(draft->input->model, i);

		if (partly_named(draft, metric, at, count))
			choices_add_metric(choices, metric);
	}
	return choices;
}

static bool offers(const struct json *choices, const char *value)
{
	json_each(choice, choices) if (value != NULL && strcmp(json_get_str(choice, "value"),
							       value) == 0) return true;
	return false;
}

/* Is "and for which period" due as well: nothing said of time, and time would matter? */
static bool period_is_open(const struct draft *draft, const struct json *choices)
{
	if (period_items(draft) > 0 || draft_choice(draft, "period") != NULL)
		return false;
	json_each(choice, choices)
	{
		const struct model_metric *metric =
			model_metric(draft->input->model, json_get_str(choice, "value"));

		if (metric != NULL && metric->time != NULL)
			return true;
	}
	return false;
}

bool ask_metric(struct draft *draft, struct json *choices, char *text)
{
	CLEANUP(mem_freep) char *start = text;
	bool period = period_is_open(draft, choices);

	draft_ask_part(draft, "metric", choices);
	if (period) {
		struct json *periods = choices_new();

		choices_add_periods(periods, draft);
		draft_ask_part(draft, "period", periods);
	}
	return draft_ask(draft, mem_format("%s Which metric is meant%s?", start,
					   period ? ", and for which period" : ""));
}

static bool adopt_choice(struct draft *draft, const struct json *choices)
{
	const char *choice = draft_choice(draft, "metric");
	const struct model_metric *metric =
		choice != NULL ? model_metric(draft->input->model, choice) : NULL;

	if (metric == NULL || (choices != NULL && !offers(choices, choice)))
		return false;
	draft->metrics[0] = metric;
	draft->metric_count = 1;
	return true;
}

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

struct metric_list {
	const struct model_metric *items[16];
	size_t count;
};

static void add_metric(struct metric_list *list, const struct model_metric *metric)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == metric)
			return;
	if (list->count < ARRAY_LEN(list->items))
		list->items[list->count++] = metric;
}

/* The metrics an item names; those it names in full before those that only count it. */
static struct metric_list metrics_of(const struct item *item)
{
	struct metric_list list = {.count = 0};
	enum reading_kind kinds[] = {READ_METRIC, READ_COUNT};

	for (size_t k = 0; list.count == 0 && k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < item->reading_count; i++)
			if (item->readings[i].kind == kinds[k])
				add_metric(&list, item->readings[i].metric);
	return list;
}

static bool add_draft_metric(struct draft *draft, const struct model_metric *metric)
{
	for (size_t i = 0; i < draft->metric_count; i++)
		if (draft->metrics[i] == metric)
			return true;
	if (draft->metric_count == DRAFT_METRICS_MAX)
		return draft_refuse(
			draft, "unsupported",
			mem_format("More than %d metrics in one question.", DRAFT_METRICS_MAX),
			mem_str("Ask for fewer at a time."));
	draft->metrics[draft->metric_count++] = metric;
	return true;
}

static bool says_how_much(const struct draft *draft)
{
	for (size_t i = 0; i < draft->sentence.count; i++)
		if (sentence_spell(&draft->sentence, i, "how much") > 0)
			return true;
	return false;
}

static struct metric_list only_money(const struct metric_list *list, bool money)
{
	struct metric_list kept = {.count = 0};

	for (size_t i = 0; i < list->count; i++)
		if (metric_is_money(list->items[i]) == money)
			add_metric(&kept, list->items[i]);
	return kept;
}

static struct metric_list named_elsewhere(const struct draft *draft, const struct metric_list *list,
					  size_t item)
{
	struct metric_list kept = {.count = 0};

	for (size_t i = 0; i < draft->items.count; i++) {
		struct metric_list other = {.count = 0};

		if (i == item || draft->roles.parts[i].role != ROLE_METRIC)
			continue;
		other = metrics_of(&draft->items.list[i]);
		for (size_t k = 0; other.count == 1 && k < list->count; k++)
			if (list->items[k] == other.items[0])
				add_metric(&kept, other.items[0]);
	}
	return kept;
}

/* A word that several metrics share ("sold": so many, or for so much) is the one that the question
 * names in full elsewhere; else "how many" asks for no money, and "how much" for nothing else. */
static struct metric_list narrow_metrics(const struct draft *draft, struct metric_list list,
					 size_t item)
{
	struct metric_list kept = {.count = 0};

	if (list.count > 1)
		kept = named_elsewhere(draft, &list, item);
	if (list.count > 1 && kept.count == 0 && draft->roles.counts)
		kept = only_money(&list, false);
	else if (list.count > 1 && kept.count == 0 && says_how_much(draft))
		kept = only_money(&list, true);
	return kept.count > 0 ? kept : list;
}

static bool settle_metric(struct draft *draft, size_t item)
{
	const struct metric_list list =
		narrow_metrics(draft, metrics_of(&draft->items.list[item]), item);
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	struct json *choices = NULL;
	const char *choice = draft_choice(draft, "metric");

	if (list.count == 1)
		return add_draft_metric(draft, list.items[0]);
	choices = choices_new();
	for (size_t i = 0; i < list.count; i++)
		choices_add_metric(choices, list.items[i]);
	if (offers(choices, choice)) {
		json_free(choices);
		return add_draft_metric(draft, model_metric(draft->input->model, choice));
	}
	return ask_metric(draft, choices, mem_format("\"%s\" names more than one metric.", text));
}

/* "how many X" where nothing counts X: other metrics that speak of X may be meant, never assumed.
 */
static bool refuse_counted(struct draft *draft, size_t item)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	CLEANUP(mem_freep) char *metrics = metrics_text(draft);
	struct json *choices = partly_named_choices(draft, item, 1);

	if (adopt_choice(draft, choices)) {
		json_free(choices);
		draft->roles.parts[item].role = ROLE_CONTEXT;
		return true;
	}
	if (json_len(choices) > 0)
		return ask_metric(draft, choices,
				  mem_format("No metric counts \"%s\" as such.", text));
	json_free(choices);
	return draft_refuse(draft, "undefined",
			    mem_format("No metric that counts \"%s\" is defined.", text),
			    mem_str(metrics));
}

/* Every dimension of the question must be in reach of a metric that is offered. */
bool metrics_reach(const struct model *model, const struct model_metric *metric,
		   const struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];
		bool reached = item->kind == ITEM_UNIT;

		if (draft->roles.parts[i].role != ROLE_DIM)
			continue;
		for (size_t j = 0; j < item->reading_count; j++) {
			const struct model_field *field =
				item->readings[j].kind == READ_DATASET
					? dataset_name_field(item->readings[j].dataset)
					: item->readings[j].field;

			reached = reached || (field != NULL && model_reaches(model, metric, field));
		}
		if (!reached)
			return false;
	}
	return true;
}

static bool ask_any_metric(struct draft *draft)
{
	struct json *choices = choices_new();
	const struct model *model = draft->input->model;

	for (size_t i = 0; i < model_metric_count(model); i++)
		if (metrics_reach(model, model_metric_at(model, i), draft))
			choices_add_metric(choices, model_metric_at(model, i));
	if (json_len(choices) == 0) {
		json_free(choices);
		return draft_refuse(
			draft, "undefined",
			mem_str("The question does not say what is measured, and no metric "
				"fits what it asks about."),
			metrics_text(draft));
	}
	return ask_metric(draft, choices, mem_str("The question does not say what is measured."));
}

/* "Team Leads per department": so many for each, of something. */
static bool says_per(const struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_DIM && draft->roles.parts[i].averaged)
			return true;
	return false;
}

/* Does it speak of something measured, though it names no metric? */
static bool measures(const struct draft *draft)
{
	const struct roles *roles = &draft->roles;

	return roles->super != SUPER_NONE || roles->share || roles->counts || roles->average ||
	       roles->compare || roles->previous || roles->year_ago || roles->over_time ||
	       period_items(draft) > 0 || draft_choice(draft, "metric") != NULL || says_per(draft);
}

static bool needs_metric(const struct draft *draft)
{
	return measures(draft) || roles_count(&draft->roles, &draft->items, ROLE_DIM) == 0;
}

/* "estimate by team": a field alone, and nothing says that its values are to be listed. */
static bool names_field_alone(const struct draft *draft, size_t *ret_item)
{
	if (draft->roles.listing || draft->roles.who)
		return false;
	for (size_t i = 0; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_DIM || !draft->roles.parts[i].subject)
			continue;
		*ret_item = i;
		return draft->items.list[i].kind == ITEM_MODEL &&
		       !item_is_plural(&draft->sentence, &draft->items.list[i]);
	}
	return false;
}

static bool ask_alone(struct draft *draft, size_t item)
{
	CLEANUP(mem_freep) char *text = draft_text(draft, item, 1);
	struct json *choices = partly_named_choices(draft, item, 1);

	if (json_len(choices) > 0)
		return ask_metric(draft, choices,
				  mem_format("\"%s\" alone is not the name of a metric.", text));
	json_free(choices);
	return ask_any_metric(draft);
}

/* A value right before one of two metrics may belong to that one alone. */
static bool check_shared_values(struct draft *draft)
{
	for (size_t i = 0; draft->metric_count > 1 && i + 1 < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_VALUE ||
		    draft->roles.parts[i + 1].role != ROLE_METRIC)
			continue;
		CLEANUP(mem_freep) char *text = draft_text(draft, i, 1);

		return draft_refuse(
			draft, "unclear",
			mem_format("It is not clear whether \"%s\" holds for every metric of "
				   "the question.",
				   text),
			mem_str("Ask for one metric at a time."));
	}
	return true;
}

/* "How many sales": an amount of money is no answer to how many. */
static bool check_counted_money(struct draft *draft)
{
	const struct model *model = draft->input->model;
	struct json *choices = NULL;

	if (!draft->roles.counts || draft_choice(draft, "metric") != NULL)
		return true;
	for (size_t i = 0; i < draft->metric_count; i++)
		if (!metric_is_money(draft->metrics[i]))
			return true;
	choices = choices_new();
	choices_add_metric(choices, draft->metrics[0]);
	for (size_t i = 0; i < model_metric_count(model); i++)
		if (!metric_is_money(model_metric_at(model, i)) &&
		    metrics_reach(model, model_metric_at(model, i), draft))
			choices_add_metric(choices, model_metric_at(model, i));
	return ask_metric(draft, choices,
			  mem_format("The question asks how many, and %s is an amount in %s.",
				     draft->metrics[0]->label, draft->metrics[0]->unit));
}

bool plan_metrics(struct draft *draft)
{
	const char *choice = draft_choice(draft, "metric");
	size_t item = 0;

	if (choice != NULL && model_metric(draft->input->model, choice) == NULL)
		return draft_refuse(draft, "undefined",
				    mem_format("There is no metric \"%s\".", choice),
				    metrics_text(draft));
	for (size_t i = 0; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role == ROLE_COUNTED && !refuse_counted(draft, i))
			return false;
		if (draft->roles.parts[i].role == ROLE_METRIC && !settle_metric(draft, i))
			return false;
	}
	if (draft->metric_count > 0)
		return check_counted_money(draft) && check_shared_values(draft);
	if (adopt_choice(draft, NULL))
		return true;
	if (draft->follows && (draft->input->previous->metric_count > 0 || !measures(draft))) {
		draft->listing = draft->input->previous->metric_count == 0;
		return follow_metrics(draft);
	}
	if (needs_metric(draft))
		return ask_any_metric(draft);
	if (names_field_alone(draft, &item))
		return ask_alone(draft, item);
	draft->listing = true;
	return true;
}
