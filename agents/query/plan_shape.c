/*
 * How the answer is laid out: grouped by what, ordered, cut, averaged, as shares. Dimensions are
 * settled first, since filters look at them.
 */
#include "agents/query/draft.h"

#include <string.h>
#include <strings.h>

static enum time_bucket bucket_of(enum period_unit unit)
{
	static const enum time_bucket buckets[] = {
		BUCKET_NONE,	   BUCKET_DAY,	BUCKET_WEEK,	BUCKET_MONTH,
		BUCKET_QUARTER,	   BUCKET_YEAR, BUCKET_WEEKDAY, BUCKET_FISCAL_QUARTER,
		BUCKET_FISCAL_YEAR};

	return buckets[unit];
}

static bool has_dimension(const struct metric_query *query, const char *field,
			  enum time_bucket bucket)
{
	for (size_t i = 0; i < query->dimension_count; i++)
		if (query->dimensions[i].bucket == bucket &&
		    strcmp(query->dimensions[i].field, field) == 0)
			return true;
	return false;
}

void add_dimension(struct draft *draft, const char *field, enum time_bucket bucket)
{
	if (!has_dimension(draft->query, field, bucket))
		metric_query_add_dimension(draft->query, field, bucket);
}

static bool dimension_unit(struct draft *draft, size_t item)
{
	const char *field = NULL;

	if (draft->roles.parts[item].averaged && draft->roles.average)
		return draft_refuse(draft, "unsupported",
				    mem_format("An average per %s cannot be asked yet.",
					       period_unit_name(draft->items.list[item].unit)),
				    mem_format("Ask for the figures by %s.",
					       period_unit_name(draft->items.list[item].unit)));
	if (draft->items.list[item].unit > UNIT_WEEKDAY &&
	    model_fiscal_start(draft->input->model) == 0)
		return draft_refuse(draft, "undefined",
				    mem_str("No fiscal year is defined for this data."),
				    mem_str("Ask by quarter or year of the calendar."));
	if (!date_of_grouping(draft, &field))
		return false;
	add_dimension(draft, field, bucket_of(draft->items.list[item].unit));
	return true;
}

static bool dimension_noun(struct draft *draft, size_t item)
{
	const struct model_field *field = NULL;

	if (!settle_noun(draft, item, &field))
		return false;
	draft->fields[item] = field;
	if (draft->roles.parts[item].averaged && draft->roles.average) {
		if (draft->query->average_per != NULL)
			return draft_refuse(draft, "unsupported",
					    mem_str("An average can run over one thing only."),
					    mem_str("Name one thing behind \"per\"."));
		draft->query->average_per = mem_str(field->id);
		return true;
	}
	add_dimension(draft, field->id, field->is_time ? BUCKET_DAY : BUCKET_NONE);
	return true;
}

bool plan_dimensions(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++) {
		bool unit = draft->items.list[i].kind == ITEM_UNIT;

		if (draft->roles.parts[i].role != ROLE_DIM)
			continue;
		if (unit ? !dimension_unit(draft, i) : !dimension_noun(draft, i))
			return false;
	}
	return true;
}

static void add_time_choices(struct json *choices)
{
	static const char *const names[] = {"day", "week", "month", "quarter", "year"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		choices_add(choices, names[i], names[i]);
}

static bool shape_over_time(struct draft *draft)
{
	static const char *const names[] = {"", "day", "week", "month", "quarter", "year"};
	const char *choice = draft_choice(draft, "interval");
	const char *field = NULL;
	struct json *choices = NULL;

	for (size_t i = 0; i < draft->query->dimension_count; i++)
		if (draft->query->dimensions[i].bucket != BUCKET_NONE)
			return true;
	if (!draft->roles.over_time)
		return true;
	if (!date_of_grouping(draft, &field))
		return false;
	for (size_t i = UNIT_DAY; choice != NULL && i <= UNIT_YEAR; i++)
		if (strcmp(choice, names[i]) == 0) {
			add_dimension(draft, field, bucket_of((enum period_unit)i));
			return true;
		}
	choices = choices_new();
	add_time_choices(choices);
	draft_ask_part(draft, "interval", choices);
	return draft_ask(draft, mem_str("Over time in which steps?"));
}

/* Persons, projects, ...: what rows are called by, but for the rows that are measured. */
static bool names_others(const struct draft *draft, const struct model_field *field)
{
	return dataset_name_field(field->dataset) == field && field->names_row &&
	       (draft->metric_count == 0 || field->dataset != draft->metrics[0]->dataset);
}

static void add_dimension_choices(const struct draft *draft, struct json *choices, bool names_only)
{
	const struct model *model = draft->input->model;

	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *dataset = model_dataset_at(model, i);

		for (size_t j = 0; j < dataset->field_count; j++) {
			const struct model_field *field = &dataset->fields[j];

			if (field_usable(draft, field) && !field->is_time &&
			    (!names_only || dataset_name_field(dataset) == field))
				add_field_choice(choices, field);
		}
	}
}

/* The field that an earlier answer to `part` names. */
static const struct model_field *answered(const struct draft *draft, const char *part)
{
	const char *choice = draft_choice(draft, part);
	const struct model_field *field =
		choice != NULL ? model_field(draft->input->model, choice) : NULL;

	return field != NULL && field_usable(draft, field) ? field : NULL;
}

static bool ask_dimension(struct draft *draft, const char *part, bool names_only, const char *text)
{
	struct json *choices = choices_new();

	add_dimension_choices(draft, choices, names_only);
	if (json_len(choices) == 0 && names_only)
		add_dimension_choices(draft, choices, false);
	if (json_len(choices) == 0) {
		json_free(choices);
		return draft_refuse(draft, "unsupported",
				    mem_format("%s cannot be told apart by anything here.",
					       draft->metrics[0]->label),
				    metrics_text(draft));
	}
	draft_ask_part(draft, part, choices);
	return draft_ask(draft, mem_str(text));
}

static bool shape_who(struct draft *draft)
{
	const struct model_field *field = answered(draft, "dimension");
	const struct fields names = name_fields(draft);
	struct json *choices = NULL;

	if (!draft->roles.who || draft->query->dimension_count > 0 || draft->metric_count == 0)
		return true;
	choices = choices_new();
	for (size_t i = 0; i < names.count; i++)
		if (names_others(draft, names.items[i]))
			add_field_choice(choices, names.items[i]);
	if (field == NULL && json_len(choices) == 1)
		field = model_field(draft->input->model,
				    json_get_str(json_first(choices), "value"));
	if (field == NULL && json_len(choices) > 0) {
		draft_ask_part(draft, "dimension", choices);
		return draft_ask(draft, mem_str("Who or what is asked about?"));
	}
	json_free(choices);
	if (field == NULL)
		return draft_refuse(draft, "undefined",
				    mem_str("No names of persons are recorded for this."),
				    metrics_text(draft));
	add_dimension(draft, field->id, BUCKET_NONE);
	return true;
}

/* The one field that values single out in "share of East" or "compare East with West". */
static const struct model_field *value_field(const struct draft *draft, bool unnegated_only,
					     size_t *ret_count)
{
	const struct model_field *field = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_VALUE || draft->fields[i] == NULL ||
		    (unnegated_only && draft->roles.parts[i].negated))
			continue;
		if (field != NULL && field != draft->fields[i])
			return NULL;
		field = draft->fields[i];
		(*ret_count)++;
	}
	return field;
}

static size_t values_of(const struct draft *draft, const struct model_field *field)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_VALUE && draft->fields[i] == field &&
		    !draft->roles.parts[i].negated)
			count++;
	return count;
}

/* The field of which several values are named; *ret_more when there is another such field. */
static const struct model_field *compared_field(const struct draft *draft, bool *ret_more)
{
	const struct model_field *field = NULL;

	*ret_more = false;
	for (size_t i = 0; i < draft->items.count; i++) {
		const struct model_field *own = draft->fields[i];

		if (draft->roles.parts[i].role != ROLE_VALUE || own == NULL || own == field ||
		    values_of(draft, own) < 2)
			continue;
		*ret_more = field != NULL;
		field = own;
	}
	return field;
}

bool compares_values(const struct draft *draft)
{
	bool more = false;

	return draft->roles.compare && compared_field(draft, &more) != NULL;
}

/* "percentage of issues that are open per project": of all issues of each project, which cannot be
 * asked yet; "share of open issues by project" is of all that are open. */
static bool shares_of_each(const struct draft *draft)
{
	static const char *const links[] = {"that", "which", "who", NULL};

	for (size_t i = 2; i < draft->items.count; i++) {
		const struct item *verb = &draft->items.list[i - 1];
		const struct item *link = &draft->items.list[i - 2];

		if (draft->roles.parts[i].role == ROLE_VALUE && verb->kind == ITEM_FILLER &&
		    link->kind == ITEM_FILLER &&
		    word_in(&draft->sentence.items[link->first], links))
			return true;
	}
	return false;
}

static bool shape_share(struct draft *draft)
{
	size_t count = 0;
	const struct model_field *field = value_field(draft, true, &count);

	if (!draft->roles.share)
		return true;
	if (draft->roles.average || draft->metric_count > 1)
		return draft_refuse(draft, "unsupported",
				    mem_str("A share can be given for one metric that adds up."),
				    mem_str("Ask for one metric and its share by one dimension."));
	draft->query->share = true;
	if (draft->query->dimension_count > 0 && shares_of_each(draft))
		return draft_refuse(draft, "unsupported",
				    mem_str("A share within each group cannot be asked yet."),
				    mem_str("Ask for the figures by both, or for the share of "
					    "each group in the whole."));
	if (draft->query->dimension_count > 0)
		return true;
	if (field == NULL)
		field = answered(draft, "dimension");
	if (field == NULL)
		return ask_dimension(draft, "dimension", false, "The share of each what?");
	add_dimension(draft, field->id, BUCKET_NONE);
	if (count > 0)
		draft_note(
			draft, "share.whole",
			mem_format("Shares are of the total over all values of %s.", field->label));
	return true;
}

/* "compare East with West", "East and West each": one line for each value. */
static bool shape_compared_values(struct draft *draft)
{
	bool more = false;
	const struct model_field *field = compared_field(draft, &more);

	if (!draft->roles.compare && !draft->roles.each_value)
		return true;
	if (more ||
	    (field == NULL && draft->roles.each_value && draft->query->dimension_count == 0))
		return draft_refuse(draft, "unclear",
				    mem_str("It is not clear what is set against what."),
				    mem_str("Say \"by\" and what to group by."));
	if (field != NULL)
		add_dimension(draft, field->id, BUCKET_NONE);
	return true;
}

static bool shape_average(struct draft *draft)
{
	const struct model_field *field = answered(draft, "per");

	if (!draft->roles.average)
		return true;
	if (draft->metric_count > 1)
		return draft_refuse(draft, "unsupported",
				    mem_str("An average can be given for one metric at a time."),
				    mem_str("Ask for one metric."));
	if (draft->query->average_per != NULL)
		return true;
	if (metric_is_average(draft->metrics[0]))
		return true; /* it is an average already */
	if (field == NULL)
		return ask_dimension(draft, "per", true, "An average per what?");
	draft->query->average_per = mem_str(field->id);
	return true;
}

/* "total", but not "overview" and its like, which only call for figures. */
static bool says_total(const struct draft *draft)
{
	static const char *const words[] = {"total",	"totals",     "sum",
					    "combined", "altogether", NULL};

	for (size_t i = 0; i < draft->items.count; i++) {
		const struct item *item = &draft->items.list[i];

		if (!item_is_op(item, OPW_TOTAL))
			continue;
		for (size_t j = 0; j < item->count; j++)
			if (word_in(&draft->sentence.items[item->first + j], words))
				return true;
	}
	return false;
}

static bool shape_total(struct draft *draft)
{
	for (size_t i = 0; i < draft->metric_count; i++)
		if (metric_is_average(draft->metrics[i]) && says_total(draft))
			return draft_refuse(
				draft, "undefined",
				mem_format("A total is asked for, and %s is an average.",
					   draft->metrics[i]->label),
				metrics_text(draft));
	return true;
}

static bool shape_distinct(struct draft *draft)
{
	for (size_t i = 0; draft->roles.distinct && i < draft->metric_count; i++) {
		const struct model_metric *metric = draft->metrics[i];

		if (strcasestr(metric->definition, "distinct") == NULL)
			return draft_refuse(
				draft, "undefined",
				mem_format("%s does not count distinct things.", metric->label),
				metrics_text(draft));
	}
	return true;
}

/* The metric to order by: the first behind the superlative, else the first. */
static const struct model_metric *ordering_metric(const struct draft *draft)
{
	for (size_t i = draft->roles.super_item; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_METRIC)
			continue;
		for (size_t j = 0; j < draft->items.list[i].reading_count; j++)
			for (size_t k = 0; k < draft->metric_count; k++)
				if (draft->items.list[i].readings[j].metric == draft->metrics[k])
					return draft->metrics[k];
	}
	return draft->metrics[0];
}

static bool shape_direction(struct draft *draft, const struct model_metric *metric, bool *ret_desc)
{
	enum superlative super = draft->roles.super;
	const char *choice = draft_choice(draft, "order");
	struct json *choices = NULL;

	*ret_desc = super == SUPER_HIGH || super == SUPER_BEST;
	if (super == SUPER_HIGH || super == SUPER_LOW || metric->higher_is_better)
		return true;
	if (choice != NULL && (strcmp(choice, "highest") == 0 || strcmp(choice, "lowest") == 0)) {
		*ret_desc = strcmp(choice, "highest") == 0;
		return true;
	}
	choices = choices_new();
	choices_add(choices, "highest", "the highest first");
	choices_add(choices, "lowest", "the lowest first");
	draft_ask_part(draft, "order", choices);
	return draft_ask(draft,
			 mem_format("It is not defined whether more %s is better. Which comes "
				    "first?",
				    metric->label));
}

/* "the best product in each region": the first within each of the other dimensions. */
static bool is_top_of_each(const struct draft *draft)
{
	bool subject = false;
	bool grouped = false;

	for (size_t i = 0; i < draft->items.count; i++) {
		if (draft->roles.parts[i].role != ROLE_DIM)
			continue;
		subject = subject || draft->roles.parts[i].subject;
		grouped = grouped || !draft->roles.parts[i].subject;
	}
	return subject && grouped && draft->query->dimension_count >= 2;
}

static const char *item_field(const struct draft *draft, size_t item)
{
	if (draft->items.list[item].kind != ITEM_UNIT)
		return draft->fields[item] != NULL ? draft->fields[item]->id : NULL;
	for (size_t i = 0; i < draft->query->dimension_count; i++)
		if (draft->query->dimensions[i].bucket == bucket_of(draft->items.list[item].unit))
			return draft->query->dimensions[i].field;
	return NULL;
}

static bool shape_top_of_each(struct draft *draft, const struct model_metric *metric, bool desc)
{
	if (draft->query->compare.set || draft->query->share || draft->query->stepwise)
		return draft_refuse(draft, "unsupported",
				    mem_str("The first within each group cannot be asked together "
					    "with a comparison or a share."),
				    mem_str("Ask for one of them."));
	for (size_t i = 0; i < draft->items.count; i++) {
		const char *field = NULL;

		if (draft->roles.parts[i].role != ROLE_DIM || draft->roles.parts[i].subject)
			continue;
		field = item_field(draft, i);
		if (field != NULL)
			metric_query_add_within(draft->query, field);
	}
	draft->query->top.count = draft->roles.limit > 0 ? draft->roles.limit : 1;
	metric_query_add_order(draft->query, metric->name, desc);
	return true;
}

static bool has_subject(const struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->roles.parts[i].role == ROLE_DIM && draft->roles.parts[i].subject)
			return true;
	return false;
}

static char *each_text(const struct draft *draft, const struct query_dimension *dimension)
{
	const struct model_field *field = model_field(draft->input->model, dimension->field);

	if (dimension->bucket != BUCKET_NONE)
		return mem_format("in each %s", time_bucket_name(dimension->bucket));
	return mem_format("in each %s", field != NULL ? field->label : dimension->field);
}

static bool ask_within(struct draft *draft)
{
	struct json *choices = choices_new();

	choices_add(choices, "all", "in all");
	for (size_t i = 0; i < draft->query->dimension_count; i++) {
		const struct query_dimension *dimension = &draft->query->dimensions[i];
		CLEANUP(mem_freep) char *label = each_text(draft, dimension);

		choices_add(choices, dimension->field, label);
	}
	draft_ask_part(draft, "within", choices);
	return draft_ask(draft, mem_format("%lld in all, or in each of something?",
					   (long long)draft->roles.limit));
}

/* "by region, top 2, for each month": two in all, or two in each month? Neither is said. Settled:
 * it is asked, or an answer has said in each of what. */
static bool settles_within(struct draft *draft, const struct model_metric *metric, bool desc,
			   bool *ret_ok)
{
	const char *choice = draft_choice(draft, "within");

	if (draft->roles.limit == 0 || draft->query->dimension_count < 2 || has_subject(draft) ||
	    (choice != NULL && strcmp(choice, "all") == 0))
		return false;
	for (size_t i = 0; choice != NULL && i < draft->query->dimension_count; i++) {
		if (strcmp(draft->query->dimensions[i].field, choice) != 0)
			continue;
		metric_query_add_within(draft->query, choice);
		draft->query->top.count = draft->roles.limit;
		metric_query_add_order(draft->query, metric->name, desc);
		*ret_ok = true;
		return true;
	}
	*ret_ok = ask_within(draft);
	return true;
}

static bool shape_sort(struct draft *draft)
{
	size_t sort = roles_nth(&draft->roles, &draft->items, ROLE_SORT, 0);
	const struct model_field *field = NULL;

	if (sort == NO_ITEM)
		return true;
	if (!settle_noun(draft, sort, &field))
		return false;
	if (!has_dimension(draft->query, field->id, BUCKET_NONE))
		return draft_refuse(draft, "unclear",
				    mem_format("It is to be sorted by %s, but not grouped by it.",
					       field->label),
				    mem_format("Ask by %s.", field->label));
	metric_query_add_order(draft->query, field->id, draft->roles.super == SUPER_HIGH);
	return true;
}

/* Rows shown when a superlative names no number: what one page holds; never a cut in silence. */
#define SUPER_ROWS 100

static bool shape_super(struct draft *draft)
{
	const struct model_metric *metric = NULL;
	const struct model_field *field = NULL;
	bool desc = true, ok = true;
	bool change = draft->roles.compare && (draft->query->compare.set || draft->query->stepwise);

	if (draft->roles.super == SUPER_NONE && !draft->roles.sorted)
		return true;
	if (draft->metric_count == 0 ||
	    roles_nth(&draft->roles, &draft->items, ROLE_SORT, 0) != NO_ITEM)
		return shape_sort(draft);
	metric = ordering_metric(draft);
	if (draft->roles.super == SUPER_NONE)
		draft->roles.super = SUPER_HIGH;
	if (!shape_direction(draft, metric, &desc))
		return false;
	field = answered(draft, "dimension");
	if (draft->query->dimension_count == 0 && field != NULL)
		add_dimension(draft, field->id, BUCKET_NONE);
	if (draft->query->dimension_count == 0)
		return ask_dimension(draft, "dimension", false, "The highest or lowest of what?");
	if (is_top_of_each(draft))
		return shape_top_of_each(draft, metric, desc);
	if (settles_within(draft, metric, desc, &ok))
		return ok;
	metric_query_add_order(draft->query, change ? "change" : metric->name, desc);
	draft->query->limit = draft->roles.limit;
	if (draft->roles.limit == 0 && !draft->roles.sorted)
		draft->query->limit = SUPER_ROWS;
	return true;
}

/* "net sales over 300" of what? Groups must be named for some of them to be picked. */
static bool shape_conditions(struct draft *draft)
{
	const struct model_field *field = answered(draft, "dimension");

	if (draft->query->condition_count == 0 || draft->query->dimension_count > 0)
		return true;
	if (field == NULL)
		return ask_dimension(draft, "dimension", false,
				     "The condition is about each what?");
	add_dimension(draft, field->id, BUCKET_NONE);
	return true;
}

bool plan_shape(struct draft *draft)
{
	return shape_over_time(draft) && shape_who(draft) && shape_share(draft) &&
	       shape_compared_values(draft) && shape_average(draft) && shape_total(draft) &&
	       shape_distinct(draft) && shape_super(draft) && shape_conditions(draft);
}
