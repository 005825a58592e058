/*
 * What is measured. A metric must be named by its own words; a word that only occurs in the names
 * of metrics leads to a question, an unknown word to a refusal that says what exists.
 */
#include "agents/query/draft.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"

/* Its unit is a currency, as ISO 4217 writes them. */
bool metric_is_money(const struct model_metric *metric)
{
	return metric->unit != NULL && strlen(metric->unit) == 3 &&
	       strspn(metric->unit, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

bool phrase_has_word(const struct sentence *phrase, const struct word *word)
{
	for (size_t i = 0; i < phrase->count; i++)
		if (word_same(&phrase->items[i], word))
			return true;
	return false;
}

/* Every word of the items from `at` on occurs in one phrase that names the metric. */
bool partly_named(const struct draft *draft, const struct model_metric *metric, size_t at,
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

struct json *partly_named_choices(const struct draft *draft, size_t at, size_t count)
{
	struct json *choices = choices_new();

	for (size_t i = 0; i < model_metric_count(draft->input->model); i++) {
		const struct model_metric *metric = model_metric_at(draft->input->model, i);

		if (partly_named(draft, metric, at, count))
			choices_add_metric(choices, metric);
	}
	return choices;
}

bool offers(const struct json *choices, const char *value)
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

bool adopt_choice(struct draft *draft, const struct json *choices)
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
