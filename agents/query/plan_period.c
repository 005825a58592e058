/*
 * When: one period, two to be compared, or none. Two periods in one question are a comparison, the
 * later against the earlier, so that a change reads forwards in time.
 */
#include "agents/query/draft.h"

#include <stdio.h>
#include <string.h>

static struct period_rules rules_of(const struct draft *draft)
{
	return (struct period_rules){.today = draft->input->today,
				     .fiscal_start = model_fiscal_start(draft->input->model),
				     .ranges = true};
}

size_t period_items(const struct draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->items.count; i++)
		count += draft->items.list[i].kind == ITEM_PERIOD ? 1 : 0;
	return count;
}

bool asks_growth(const struct draft *draft)
{
	static const char *const list[] = {
		"change",    "changed", "changes",  "difference", "differ",    "growth",
		"grow",	     "grown",	"grew",	    "increase",	  "increased", "decrease",
		"decreased", "decline", "declined", "drop",	  "dropped",   "fall",
		"fell",	     "rise",	"rose",	    "develop",	  "developed", NULL,
	};

	for (size_t i = 0; i < draft->items.count; i++)
		if (item_is_op(&draft->items.list[i], OPW_COMPARE) &&
		    word_in(&draft->sentence.items[draft->items.list[i].first], list))
			return true;
	return false;
}

static void bounds(const struct period *period, char from[DATE_LEN + 1], char to[DATE_LEN + 1])
{
	from[0] = '\0';
	to[0] = '\0';
	if (period->has_from)
		date_write(period->from, from);
	if (period->has_to)
		date_write(period->to, to);
}

void choices_add_periods(struct json *choices, const struct draft *draft)
{
	static const char *const phrases[] = {"this month",   "last month", "this quarter",
					      "last quarter", "this year",  "last year"};
	const struct period_rules rules = rules_of(draft);

	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		struct sentence words;
		struct period period = {0};
		struct err ignored;
		char from[DATE_LEN + 1];
		char to[DATE_LEN + 1];
		CLEANUP(mem_freep) char *label = NULL;

		if (sentence_read(phrases[i], &words, &ignored) < 0)
			continue;
		IGNORE(period_read(&words, 0, &rules, &period), "the phrases are ours");
		sentence_clear(&words);
		bounds(&period, from, to);
		label = mem_format("%s: %s to before %s", phrases[i], from, to);
		choices_add(choices, phrases[i], label);
	}
	choices_add(choices, "all time", "all time: every date");
}

static bool refuse_period(struct draft *draft, const char *why)
{
	return draft_refuse(draft, "period", mem_format("I cannot read the period: %s.", why),
			    mem_str("Name a period such as \"last quarter\", \"March 2026\" or "
				    "\"from 2026-01-01 to 2026-03-31\"."));
}

/* The answer to "for which period". */
static bool answered_period(struct draft *draft, struct period *period, bool *ret_set)
{
	const char *choice = draft_choice(draft, "period");
	const struct period_rules rules = rules_of(draft);
	struct sentence words;
	struct err err = {0};
	size_t used = 0;
	size_t count = 0;

	*ret_set = false;
	if (choice == NULL)
		return true;
	if (sentence_read(choice, &words, &err) < 0)
		return refuse_period(draft, err.text);
	used = period_read(&words, 0, &rules, period);
	count = words.count;
	if (count == 1 && strcmp(words.items[0].text, "all") == 0) {
		period->all = true;
		used = 1;
	}
	sentence_clear(&words);
	if (used == 0 || used != count)
		return refuse_period(draft, "the answer is not a phrase of time");
	if (period->mistake[0] != '\0')
		return refuse_period(draft, period->mistake);
	*ret_set = true;
	return true;
}

/* A period that is not over says less than its name: the answer must tell. */
static void note_today(struct draft *draft, const struct period *period, const char *from,
		       const char *to)
{
	const struct date today = draft->input->today;
	char day[DATE_LEN + 1];

	date_write(today, day);
	if (period->has_from && date_compare(period->from, today) > 0)
		draft_note(draft, "period.future",
			   mem_format("%s to before %s begins after today (%s): what is dated "
				      "then is not over, or not recorded yet.",
				      from, to[0] ? to : "any later day", day));
	else if (period->has_to && date_compare(period->to, date_add_days(today, 1)) > 0)
		draft_note(draft, "period.partial",
			   mem_format("\"%s\" is not over: it ends before %s, and today is %s.",
				      period->label, to, day));
}

static bool set_period(struct draft *draft, struct query_period *target,
		       const struct period *period, const char *field)
{
	char from[DATE_LEN + 1];
	char to[DATE_LEN + 1];
	struct err err = {0};

	bounds(period, from, to);
	if (query_period_set(target, field, from, to, period->label, &err) < 0)
		return refuse_period(draft, err.text);
	note_today(draft, period, from, to);
	if (period->note[0] != '\0')
		draft_note(draft, "period.reading",
			   mem_format("\"%s\" was read as %s.", period->label, period->note));
	return true;
}

static bool by_time(const struct draft *draft)
{
	for (size_t i = 0; i < draft->query->dimension_count; i++)
		if (draft->query->dimensions[i].bucket != BUCKET_NONE)
			return true;
	return false;
}

static bool set_compared(struct draft *draft, const struct period *a, const struct period *b)
{
	const struct period *later = date_compare(a->from, b->from) >= 0 ? a : b;
	const struct period *earlier = later == a ? b : a;
	const char *field = NULL;

	if (by_time(draft))
		return draft_refuse(draft, "unsupported",
				    mem_str("Two periods cannot be set side by side and split by "
					    "time as well: their times are not the same."),
				    mem_str("Ask for one period by time, or for two in total."));
	if (!a->has_from || !a->has_to || !b->has_from || !b->has_to)
		return refuse_period(draft,
				     "both periods of a comparison need a beginning and an end");
	if (date_compare(a->from, b->from) == 0 && date_compare(a->to, b->to) == 0)
		return refuse_period(draft, "both periods of the comparison are the same");
	return date_of_period(draft, &field) &&
	       set_period(draft, &draft->query->period, later, field) &&
	       set_period(draft, &draft->query->compare, earlier, NULL);
}

/* "growth by month": from each month to the next; no other period is meant. */
static bool set_stepwise(struct draft *draft, const struct period *period)
{
	const char *field = NULL;

	if (draft->roles.year_ago)
		return draft_refuse(draft, "unsupported",
				    mem_str("Times side by side with those of a year before cannot "
					    "be asked yet."),
				    mem_str("Ask for one such period at a time."));
	draft->query->stepwise = true;
	if (period == NULL)
		return true;
	return date_of_period(draft, &field) &&
	       set_period(draft, &draft->query->period, period, field);
}

/* Does the question compare one period with the one before it or a year before it? */
static bool set_one(struct draft *draft, const struct period *period)
{
	const struct roles *roles = &draft->roles;
	bool implied = roles->compare && draft->metric_count == 1 && !compares_values(draft) &&
		       (asks_growth(draft) || draft->query->dimension_count == 0);
	struct period other = {0};
	const char *field = NULL;

	if (draft->metric_count > 1 && asks_growth(draft))
		return refuse_period(draft, "a change can be given for one metric at a time");
	if ((roles->year_ago || roles->previous || implied) && by_time(draft))
		return set_stepwise(draft, period);
	if (roles->year_ago || roles->previous || implied) {
		bool found = roles->year_ago ? period_year_before(period, &other)
					     : period_before(period, &other);

		if (!found)
			return refuse_period(draft, "it has no period before it to compare with");
		if (implied && !roles->year_ago && !roles->previous)
			draft_note(draft, "compare.before",
				   mem_format("Compared with %s, since no other period was named.",
					      other.label));
		return set_compared(draft, period, &other);
	}
	if (!date_of_period(draft, &field))
		return false;
	return set_period(draft, &draft->query->period, period, field);
}

static bool no_period(struct draft *draft)
{
	struct json *choices = NULL;
	bool dated = draft->metric_count > 0 && draft->metrics[0]->time != NULL;

	if (roles_count(&draft->roles, &draft->items, ROLE_TIME) > 0 && !by_time(draft))
		return refuse_period(draft, "a date is named, but no period for it");
	if (dated && by_time(draft) && draft->metric_count == 1 && !compares_values(draft) &&
	    (draft->roles.previous || draft->roles.year_ago || asks_growth(draft))) {
		draft_note(draft, "period.all", mem_str("No period was named: all dates count."));
		return set_stepwise(draft, NULL);
	}
	if (draft->roles.previous || draft->roles.year_ago ||
	    (asks_growth(draft) && !compares_values(draft)) ||
	    (draft->roles.compare && draft->query->dimension_count == 0 &&
	     draft->metric_count < 2 && !compares_values(draft))) {
		if (!dated)
			return refuse_period(draft, "nothing to compare over time");
		choices = choices_new();
		choices_add_periods(choices, draft);
		draft_ask_part(draft, "period", choices);
		return draft_ask(draft,
				 mem_str("Which period is compared with the one before it?"));
	}
	if (dated)
		draft_note(draft, "period.all", mem_str("No period was named: all dates count."));
	return true;
}

static size_t next_period(const struct draft *draft, size_t from)
{
	while (from < draft->items.count && draft->items.list[from].kind != ITEM_PERIOD)
		from++;
	return from;
}

/* "in Q1 and Q2": two periods side by side are compared only when something joins them. */
static bool joined(const struct draft *draft, size_t a, size_t b)
{
	bool found = draft->sentence.items[draft->items.list[b].first].mark == ',';

	if (draft->roles.compare || draft->roles.previous || draft->roles.year_ago)
		return true;
	for (size_t i = a + 1; i < b; i++) {
		const struct item *item = &draft->items.list[i];

		if (item_is_op(item, OPW_AND) || item_is_op(item, OPW_OR))
			found = true;
		else if (item->kind != ITEM_FILLER)
			return false;
	}
	return found;
}

/* "by month in 2025 and 2026": one stretch of time, not a comparison. */
static bool one_stretch(struct draft *draft, const struct period *a, const struct period *b)
{
	struct period both = {.has_from = true, .has_to = true};

	if (!a->has_from || !a->has_to || !b->has_from || !b->has_to ||
	    date_compare(a->to, b->from) != 0)
		return refuse_period(draft, "it names two periods that do not follow each other");
	both.from = a->from;
	both.to = b->to;
	snprintf(both.label, sizeof(both.label), "%.40s and %.40s", a->label, b->label);
	return set_one(draft, &both);
}

/* "Q2 plus Q3", "Q2 and Q3 combined": one figure for both. */
static bool asks_sum(const struct draft *draft)
{
	static const char *const words[] = {"plus",	"combined", "altogether",
					    "together", "sum",	    NULL};

	for (size_t i = 0; i < draft->sentence.count; i++)
		if (word_in(&draft->sentence.items[i], words))
			return true;
	return false;
}

static bool two_periods(struct draft *draft, size_t a, size_t b)
{
	struct period first = draft->items.list[a].period;
	struct period second = draft->items.list[b].period;
	bool turned =
		first.has_from && second.has_from && date_compare(second.from, first.from) < 0;

	if (!draft->roles.compare && asks_sum(draft) && joined(draft, a, b))
		return turned ? one_stretch(draft, &second, &first)
			      : one_stretch(draft, &first, &second);
	if (by_time(draft) && !draft->roles.compare && joined(draft, a, b))
		return one_stretch(draft, &first, &second);
	if (!joined(draft, a, b) || first.all || second.all)
		return refuse_period(draft, "it names two periods, and not how they go together");
	/* "Q1 2026 compared with the previous quarter": previous to Q1, not to today. */
	if (second.preceding && !first.preceding) {
		struct period before = {0};

		if (!period_before(&first, &before))
			return refuse_period(draft, "there is nothing before it to compare with");
		if (first.unit == second.unit && first.units == 1)
			second = before;
		else
			return refuse_period(draft, "the two periods are of different length");
	}
	return set_compared(draft, &first, &second);
}

static bool check_mistakes(struct draft *draft)
{
	for (size_t i = 0; i < draft->items.count; i++)
		if (draft->items.list[i].kind == ITEM_PERIOD &&
		    draft->items.list[i].period.mistake[0] != '\0')
			return refuse_period(draft, draft->items.list[i].period.mistake);
	return true;
}

static bool asks_comparison(const struct draft *draft)
{
	return draft->roles.compare || draft->roles.previous || draft->roles.year_ago ||
	       roles_count(&draft->roles, &draft->items, ROLE_TIME) > 0;
}

/* "compared with last year", after a question about this one */
static bool compares_with_before(const struct draft *draft)
{
	return draft->follows && draft->kept_grouping && draft->roles.compare &&
	       !asks_growth(draft) && !compares_values(draft);
}

/* "compared with the quarter before": the period of the question before, when its words still mean
 * the same dates. */
static bool compared_before(const struct draft *draft, struct period *ret_period)
{
	const struct period_rules rules = rules_of(draft);
	const struct query_period *before = NULL;
	struct period period = {0};
	struct sentence words;
	char from[DATE_LEN + 1];
	char to[DATE_LEN + 1];
	bool whole = false;

	if (!(draft->roles.previous || draft->roles.year_ago || draft->roles.compare) ||
	    !follow_period_words(draft, &words))
		return false;
	before = &draft->input->previous->period;
	whole = period_read(&words, 0, &rules, &period) == words.count;
	sentence_clear(&words);
	bounds(&period, from, to);
	if (!whole || strcmp(from, before->from) != 0 || strcmp(to, before->to) != 0)
		return false;
	*ret_period = period;
	return true;
}

/* "what about the quarter before?": that one in place of the one before, nothing is compared. */
static bool moves_period(const struct draft *draft)
{
	return draft->follows && draft->kept_grouping && !draft->roles.compare &&
	       !follow_compared(draft) && follow_asks_about(draft) &&
	       (draft->roles.previous || draft->roles.year_ago);
}

static bool move_period(struct draft *draft, const struct period *from)
{
	struct period other = {0};
	const char *field = NULL;
	bool found = draft->roles.year_ago ? period_year_before(from, &other)
					   : period_before(from, &other);

	if (!found)
		return refuse_period(draft, "there is nothing before it");
	return date_of_period(draft, &field) &&
	       set_period(draft, &draft->query->period, &other, field);
}

bool plan_period(struct draft *draft)
{
	size_t count = period_items(draft);
	size_t first = next_period(draft, 0);
	struct period answer = {0};
	struct period before = {0};
	bool set = false;

	if (!check_mistakes(draft) || !answered_period(draft, &answer, &set))
		return false;
	if (count > 2)
		return refuse_period(draft, "it names more than two periods");
	if ((draft->roles.previous || draft->roles.year_ago) &&
	    (count == 2 || (count == 1 && draft->items.list[first].period.all)))
		return refuse_period(draft, "it is not clear which periods are compared");
	if (count == 2)
		return two_periods(draft, first, next_period(draft, first + 1));
	if (count == 1 && compares_with_before(draft)) {
		if (!follow_period_bounds(draft, &before))
			return refuse_period(draft, "the question before has no period to compare "
						    "this one with");
		return set_compared(draft, &before, &draft->items.list[first].period);
	}
	if (count == 1 && follow_compared(draft) && !asks_comparison(draft))
		return refuse_period(draft, "the question before compared two, and this names one");
	if (count == 0 && !set && compared_before(draft, &answer))
		return moves_period(draft) ? move_period(draft, &answer) : set_one(draft, &answer);
	if (count == 0 && !set && !asks_comparison(draft) && follow_period(draft))
		return true;
	if (count == 1 && !draft->items.list[first].period.all)
		return set_one(draft, &draft->items.list[first].period);
	if (count == 1 || (set && answer.all))
		return true;
	return set ? set_one(draft, &answer) : no_period(draft);
}
