/*
 * From a question to a plan, in the order in which doubt is cheapest to settle: is data to be
 * changed, is every word known, what is measured, by what is it grouped, which rows, which period,
 * in which order. The first step that cannot go on ends it with a question or a refusal.
 */
#include "agents/query/planner.h"

#include <string.h>
#include <strings.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/draft.h"
#include "agents/query/intent.h"
#include "agents/query/typo.h"

static bool check_intent(struct draft *draft)
{
	if (draft->sentence.count == 0)
		return draft_refuse(draft, "empty", mem_str("There is no question."),
				    metrics_text(draft));
	if (!intent_changes_data(&draft->sentence, &draft->items))
		return true;
	return draft_refuse(draft, "change",
			    mem_str("This asks for data to be changed. I can only read."),
			    mem_str("Ask a question about the data instead."));
}

/* Who asks is no value of the data here, and a place or time is asked for by its name. */
static bool check_unread(struct draft *draft)
{
	size_t item = intent_unread_word(&draft->sentence, &draft->items);
	CLEANUP(mem_freep) char *text = NULL;
	bool first = item == 0;

	if (item == draft->items.count)
		return true;
	text = draft_text(draft, item, 1);
	return draft_refuse(
		draft, "unclear",
		first && strcasecmp(text, "my") != 0 && strcasecmp(text, "i") != 0
			? mem_format("\"%s\" does not say what is to be shown.", text)
			: mem_format("\"%s\" means whoever asks, and the data does not say who "
				     "that is.",
				     text),
		mem_str("Name the person, or the field that is asked for."));
}

static bool check_roles(struct draft *draft)
{
	CLEANUP(mem_freep) char *text = NULL;

	if (draft->roles.bad == NO_ITEM)
		return true;
	text = draft_text(draft, draft->roles.bad, 1);
	return draft_refuse(draft, "unclear",
			    mem_format("I cannot read \"%s\" in this question: %s.", text,
				       draft->roles.bad_why),
			    mem_str("Put it in other words: what is measured, by what, for which "
				    "period."));
}

static void read_items(struct draft *draft, bool ranges)
{
	const struct period_rules rules = {
		.today = draft->input->today,
		.fiscal_start = model_fiscal_start(draft->input->model),
		.ranges = ranges,
	};

	items_read(&draft->items, &draft->sentence, draft->input->question, &draft->vocabulary,
		   &rules);
	follow_accept_words(draft);
	roles_read(&draft->roles, &draft->sentence, &draft->items);
}

/* "growth from Q1 to Q2" compares two ends; "growth between 2026-01-01 and 2026-03-31" is a range.
 */
static bool ends_are_compared(const struct draft *draft)
{
	const struct item *range = NULL;
	bool compares = false;

	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		compares = compares || item_is_op(item, OPW_COMPARE);
		if (item->kind != ITEM_PERIOD)
			continue;
		if (range != NULL)
			return false;
		range = item;
	}
	return compares && range != NULL && range->period.has_from && range->period.has_to &&
	       range->period.unit == UNIT_NONE;
}

static bool has_day(const struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->items.list[i].kind == ITEM_PERIOD &&
		    draft->items.list[i].period.unit == UNIT_DAY)
			return true;
	return false;
}

static void read_question(struct draft *draft)
{
	read_items(draft, true);
	if (!ends_are_compared(draft))
		return;
	for (int ranges = 0; ranges <= 1; ranges++) {
		roles_clear(&draft->roles);
		items_clear(&draft->items);
		read_items(draft, ranges == 1);
		if (period_items(draft) == 2 && !has_day(draft))
			return;
	}
}

/* What was read in place of what was written. */
static void mend_typos(struct draft *draft)
{
	CLEANUP(json_freep) struct json *mended = json_array();

	if (!typo_mend(&draft->sentence, &draft->items, &draft->vocabulary, mended))
		return;
	roles_clear(&draft->roles);
	items_clear(&draft->items);
	read_question(draft);
	json_each(word, mended)
		draft_note(draft, "spelling",
			   mem_format("\"%s\" was read as \"%s\".", json_get_str(word, "written"),
				      json_get_str(word, "read")));
}

static bool add_metrics(struct draft *draft)
{
	for (size_t i = 0; i < draft->metric_count; i++)
		metric_query_add_metric(draft->query, draft->metrics[i]->name);
	return true;
}

static bool check_listing(struct draft *draft)
{
	if (!draft->listing || draft->query->dimension_count > 0)
		return true;
	return draft_refuse(draft, "unclear",
			    mem_str("The question does not say what is to be shown."),
			    metrics_text(draft));
}

static bool names_dataset(const struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		for (size_t j = 0; j < item->reading_count; j++) {
			const struct reading *reading = &item->readings[j];

			if (reading->deed) /* "who ordered gizmos" */
				return true;
			if ((reading->kind == READ_DATASET &&
			     strcmp(reading->dataset->name, name) == 0) ||
			    ((reading->kind == READ_METRIC || reading->kind == READ_COUNT) &&
			     strcmp(reading->metric->dataset->name, name) == 0))
				return true;
		}
	}
	return false;
}

/* A listing whose fields meet only in the rows of something that the question does not speak of:
 * "projects of the Sales department" are not those with an issue that someone in Sales has. */
static bool check_listed_through(struct draft *draft, const struct compiled_query *compiled)
{
	const char *base = json_get_str(compiled->plan, "dataset");
	const struct metric_query *query = draft->query;

	if (!draft->listing || draft->follows || base == NULL || names_dataset(draft, base))
		return true;
	for (size_t i = 0; i < query->dimension_count; i++)
		if (strcmp(model_field(draft->input->model, query->dimensions[i].field)
				   ->dataset->name,
			   base) == 0)
			return true;
	return draft_refuse(draft, "unclear",
			    mem_format("What is to be listed and what it is filtered on meet only "
				       "in %s, which the question does not speak of.",
				       base),
			    dimensions_text(draft));
}

/* What cannot be made sound SQL is no plan; a named column is only known to the database. */
static bool check_compiles(struct draft *draft)
{
	struct compiled_query *compiled = NULL;
	struct err err = {0};
	bool sound = true;

	if (draft->plan->column != NULL)
		return true;
	if (metric_query_compile(draft->query, draft->input->model, &compiled, &err) < 0)
		return draft_refuse(draft, "unsupported",
				    mem_format("There is no sound query for this: %s.", err.text),
				    mem_str("Ask for one thing at a time."));
	sound = check_listed_through(draft, compiled);
	compiled_query_free(compiled);
	return sound;
}

typedef bool step_fn(struct draft *draft);

static void run(struct draft *draft)
{
	static step_fn *const steps[] = {
		check_intent, plan_column,   plan_unknown_words, check_unread,	    check_roles,
		plan_metrics, add_metrics,   plan_dimensions,	 follow_dimensions, settle_values,
		plan_lookup,  plan_filters,  follow_filters,	 plan_period,	    plan_shape,
		follow_shape, check_listing, check_compiles,
	};

	draft->plan->kind = PLAN_QUERY;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (!steps[i](draft))
			break;
	if (draft->plan->kind == PLAN_QUERY || draft->plan->kind == PLAN_LOOKUP)
		draft->plan->query = TAKE(draft->query);
}

static void draft_clear(struct draft *draft)
{
	buf_clear(&draft->kept);
	mem_free(draft->fields);
	roles_clear(&draft->roles);
	items_clear(&draft->items);
	vocabulary_clear(&draft->vocabulary);
	sentence_clear(&draft->sentence);
	metric_query_free(draft->query);
}

int plan_make(const struct plan_input *input, struct plan **ret_plan, struct err *err)
{
	struct draft draft = {.input = input, .column_value = NO_ITEM};

	if (sentence_read(input->question, &draft.sentence, err) < 0)
		return err_wrap(err, "question");
	vocabulary_init(&draft.vocabulary, input->model, input->matches);
	draft.query = metric_query_new();
	draft.plan = mem_alloc(sizeof(*draft.plan));
	draft.plan->notes = json_array();
	read_question(&draft);
	mend_typos(&draft);
	follow_decide(&draft);
	draft.fields = mem_array(draft.items.count + 1, sizeof(*draft.fields));
	run(&draft);
	*ret_plan = draft.plan;
	draft_clear(&draft);
	return 0;
}

void plan_free(struct plan *plan)
{
	if (plan == NULL)
		return;
	metric_query_free(plan->query);
	json_free(plan->question);
	json_free(plan->notes);
	mem_free(plan->lookup);
	mem_free(plan->code);
	mem_free(plan->reason);
	mem_free(plan->hint);
	mem_free(plan->column_dataset);
	mem_free(plan->column);
	mem_free(plan);
}

void plan_freep(struct plan **plan)
{
	plan_free(*plan);
}
