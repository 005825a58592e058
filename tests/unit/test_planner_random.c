/*
 * Questions made up about a business made up: the structure comes first, then the wording, so the
 * right plan is known without reading the question. Nothing that is in doubt may come out as a
 * plan. The seed is printed; WRIT_SEED repeats a run.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "agents/query/planner.h"
#include "tests/unit/planner_digest.h"
#include "tests/unit/planner_world.h"

#define WORLDS 100
#define QUESTIONS_PER_WORLD 20

/* One question: its words and what must come of them. */
struct quiz {
	struct world *world;
	struct buf text;
	struct metric_query *want;
	const char *want_kind; /* "query", or the start of the digest that is right */
	uint32_t fields_used;  /* bits: a field plays one part only */
};

static const struct {
	const char *text, *from, *to, *label;
} periods[] = {
	{"last quarter", "2026-07-01", "2026-10-01", "last quarter"},
	{"this year", "2026-01-01", "2027-01-01", "this year"},
	{"in March 2026", "2026-03-01", "2026-04-01", "march 2026"},
	{"during the second quarter of 2025", "2025-04-01", "2025-07-01", "second quarter of 2025"},
	{"between 2026-01-10 and 2026-02-20", "2026-01-10", "2026-02-21",
	 "between 2026-01-10 and 2026-02-20"},
	{"since 2026-09-01", "2026-09-01", "2026-10-16", "since 2026-09-01"},
	{"over the last 3 months", "2026-07-01", "2026-10-01", "last 3 months"},
	{"yesterday", "2026-10-14", "2026-10-15", "yesterday"},
	{"in 2025", "2025-01-01", "2026-01-01", "2025"},
};

static struct world_field *pick_field(struct quiz *quiz)
{
	struct world *world = quiz->world;
	uint32_t i = 0;

	do {
		i = rnd(world, (uint32_t)world->field_count);
	} while (quiz->fields_used & 1u << i);
	quiz->fields_used |= 1u << i;
	return &world->fields[i];
}

static const char *pick_value(struct quiz *quiz, const struct world_field *field)
{
	const char *value = NULL;

	do {
		value = field->values[rnd(quiz->world, WORLD_VALUES)];
	} while (strcmp(value, quiz->world->shared) == 0);
	return value;
}

static const char *metric_words(struct quiz *quiz, const struct world_metric *metric)
{
	return metric->synonym[0] != '\0' && rnd(quiz->world, 2) == 0 ? metric->synonym
								      : metric->label;
}

static const struct world_metric *measure(struct quiz *quiz)
{
	const struct world_metric *metric = &quiz->world->metrics[rnd(quiz->world, WORLD_METRICS)];

	metric_query_add_metric(quiz->want, metric->name);
	return metric;
}

static struct world_field *group(struct quiz *quiz)
{
	struct world_field *field = pick_field(quiz);

	metric_query_add_dimension(quiz->want, field->id, BUCKET_NONE);
	return field;
}

static void order(struct quiz *quiz, const struct world_metric *metric, bool desc, int64_t limit)
{
	metric_query_add_order(quiz->want, metric->name, desc);
	quiz->want->limit = limit;
}

static void say_period(struct quiz *quiz)
{
	struct err err = {0};
	size_t i = rnd(quiz->world, ARRAY_LEN(periods) + 3);

	if (i >= ARRAY_LEN(periods))
		return;
	buf_addf(&quiz->text, " %s", periods[i].text);
	assert_int_equal(query_period_set(&quiz->want->period, NULL, periods[i].from, periods[i].to,
					  periods[i].label, &err),
			 0);
}

static void want_values(struct quiz *quiz, const struct world_field *field, enum filter_op op,
			const char *first, const char *second)
{
	struct json *values = json_array();

	json_push_str(values, first);
	if (second != NULL && strcmp(first, second) != 0)
		json_push_str(values, second);
	metric_query_add_filter(quiz->want, field->id, op, values);
}

/* One filter in one of the ways people say it. */
static void say_filter(struct quiz *quiz)
{
	struct world_field *field = pick_field(quiz);
	const char *a = pick_value(quiz, field);
	const char *b = pick_value(quiz, field);

	switch (rnd(quiz->world, 8)) {
	case 0:
		buf_addf(&quiz->text, " in %s", a);
		want_values(quiz, field, OP_IN, a, NULL);
		break;
	case 1:
		buf_addf(&quiz->text, " for %s and %s", a, b);
		want_values(quiz, field, OP_IN, a, b);
		break;
	case 2:
		buf_addf(&quiz->text, " from %s or %s", a, b);
		want_values(quiz, field, OP_IN, a, b);
		break;
	case 3:
		buf_addf(&quiz->text, " excluding %s", a);
		want_values(quiz, field, OP_NOT, a, NULL);
		break;
	case 4:
		buf_addf(&quiz->text, " where %s is %s", field->singular, a);
		want_values(quiz, field, OP_IN, a, NULL);
		break;
	case 5:
		buf_addf(&quiz->text, " for %s %s", field->singular, a);
		want_values(quiz, field, OP_IN, a, NULL);
		break;
	case 6:
		buf_addf(&quiz->text, " except for %s and %s", a, b);
		want_values(quiz, field, OP_NOT, a, b);
		break;
	default:
		buf_addf(&quiz->text, " with %s \"%s\"", field->singular, a);
		want_values(quiz, field, OP_IN, a, NULL);
	}
}

static void say_rest(struct quiz *quiz)
{
	size_t filters = rnd(quiz->world, 3);

	for (size_t i = 0; i < filters; i++)
		say_filter(quiz);
	say_period(quiz);
}

static void quiz_total(struct quiz *quiz)
{
	static const char *const leads[] = {
		"What was the",		  "Total",   "Show me the", "Give us our",
		"What is the sum of the", "How much"};
	const struct world_metric *metric = measure(quiz);

	buf_addf(&quiz->text, "%s %s", leads[rnd(quiz->world, ARRAY_LEN(leads))],
		 metric_words(quiz, metric));
	say_rest(quiz);
}

static void quiz_grouped(struct quiz *quiz)
{
	static const char *const by[] = {"by", "per", "for each", "for every", "broken down by"};
	const struct world_metric *metric = measure(quiz);
	const struct world_field *field = group(quiz);

	buf_addf(&quiz->text, "%s %s %s", metric_words(quiz, metric),
		 by[rnd(quiz->world, ARRAY_LEN(by))], field->singular);
	if (rnd(quiz->world, 3) == 0)
		buf_addf(&quiz->text, " and %s", group(quiz)->singular);
	say_rest(quiz);
}

static void quiz_by_time(struct quiz *quiz)
{
	static const enum time_bucket buckets[] = {BUCKET_DAY, BUCKET_WEEK, BUCKET_MONTH,
						   BUCKET_QUARTER, BUCKET_YEAR,
						   BUCKET_WEEKDAY};
	const struct world_metric *metric = measure(quiz);
	enum time_bucket bucket = buckets[rnd(quiz->world, ARRAY_LEN(buckets))];
	CLEANUP(mem_freep) char *time = mem_format("%s.happened_at", quiz->world->fact);

	metric_query_add_dimension(quiz->want, time, bucket);
	buf_addf(&quiz->text, "%s by %s", metric_words(quiz, metric), time_bucket_name(bucket));
	say_rest(quiz);
}

static void quiz_highest(struct quiz *quiz)
{
	bool desc = rnd(quiz->world, 2) == 0;
	const struct world_metric *metric = measure(quiz);
	const struct world_field *field = group(quiz);

	buf_addf(&quiz->text, "Which %s had the %s %s",
		 rnd(quiz->world, 2) == 0 ? field->plural : field->singular,
		 desc ? "highest" : "lowest", metric_words(quiz, metric));
	order(quiz, metric, desc, 100);
	say_rest(quiz);
}

static void quiz_top(struct quiz *quiz)
{
	bool desc = rnd(quiz->world, 2) == 0;
	int64_t limit = 1 + rnd(quiz->world, 20);
	const struct world_metric *metric = measure(quiz);
	const struct world_field *field = group(quiz);

	buf_addf(&quiz->text, "%s %d %s by %s", desc ? "top" : "the bottom", (int)limit,
		 field->plural, metric_words(quiz, metric));
	order(quiz, metric, desc, limit);
	say_rest(quiz);
}

static void quiz_how_many(struct quiz *quiz)
{
	metric_query_add_metric(quiz->want, quiz->world->metrics[0].name);
	if (rnd(quiz->world, 2) == 0) {
		const struct world_field *adjective = pick_field(quiz);
		const char *value = pick_value(quiz, adjective);

		buf_addf(&quiz->text, "How many %s %s are there", value, quiz->world->facts);
		want_values(quiz, adjective, OP_IN, value, NULL);
	} else {
		buf_addf(&quiz->text, "How many %s did each %s have", quiz->world->facts,
			 group(quiz)->singular);
	}
	say_rest(quiz);
}

static void quiz_share(struct quiz *quiz)
{
	const struct world_metric *metric = measure(quiz);
	const struct world_field *field = group(quiz);

	quiz->want->share = true;
	buf_addf(&quiz->text, "What is the share of %s by %s", metric_words(quiz, metric),
		 field->singular);
	say_rest(quiz);
}

static void quiz_compare(struct quiz *quiz)
{
	static const char *const joints[] = {"with", "to", "versus", "against"};
	const struct world_metric *metric = measure(quiz);
	struct err err = {0};

	buf_addf(&quiz->text, "Compare %s this quarter %s last quarter", metric_words(quiz, metric),
		 joints[rnd(quiz->world, ARRAY_LEN(joints))]);
	if (rnd(quiz->world, 2) == 0)
		buf_addf(&quiz->text, " by %s", group(quiz)->singular);
	assert_int_equal(query_period_set(&quiz->want->period, NULL, "2026-10-01", "2027-01-01",
					  "this quarter", &err),
			 0);
	assert_int_equal(query_period_set(&quiz->want->compare, NULL, "2026-07-01", "2026-10-01",
					  "last quarter", &err),
			 0);
}

static void quiz_average(struct quiz *quiz)
{
	const struct world_metric *metric = measure(quiz);
	const struct world_field *field = &quiz->world->fields[rnd(quiz->world, 2) * 2 + 1];

	quiz->fields_used |= 1u << (field - quiz->world->fields);
	quiz->want->average_per = mem_str(field->id);
	buf_addf(&quiz->text, "What is the average %s per %s", metric_words(quiz, metric),
		 field->singular);
	say_rest(quiz);
}

static void quiz_listing(struct quiz *quiz)
{
	struct world_field *names = &quiz->world->fields[1];
	struct world_field *attribute = &quiz->world->fields[0];
	const char *value = pick_value(quiz, attribute);

	metric_query_add_dimension(quiz->want, names->id, BUCKET_NONE);
	want_values(quiz, attribute, OP_IN, value, NULL);
	buf_addf(&quiz->text, "Which %s are in %s", names->plural, value);
}

/* ---- questions that must not come out as a plan ---- */

static void quiz_undefined(struct quiz *quiz)
{
	char word[32];

	make_word(quiz->world, word);
	quiz->want_kind = "refuse un";
	buf_addf(&quiz->text, "What was our %s", word);
	if (rnd(quiz->world, 2) == 0)
		buf_addf(&quiz->text, " by %s", pick_field(quiz)->singular);
	say_rest(quiz);
}

static void quiz_unknown_word(struct quiz *quiz)
{
	char word[32];
	const struct world_metric *metric = measure(quiz);

	make_word(quiz->world, word);
	quiz->want_kind = "refuse unknown_word";
	buf_addf(&quiz->text, "%s by %s for %s", metric_words(quiz, metric),
		 pick_field(quiz)->singular, word);
	say_period(quiz);
}

static void quiz_change(struct quiz *quiz)
{
	static const char *const orders[] = {
		"Delete the",	      "please remove all", "Can you cancel every",
		"I want you to drop", "update the",	   "show net figures; then delete the",
	};
	const struct world_field *field = &quiz->world->fields[4];

	quiz->want_kind = "refuse change";
	buf_addf(&quiz->text, "%s %s %s", orders[rnd(quiz->world, ARRAY_LEN(orders))],
		 pick_value(quiz, field), quiz->world->facts);
}

static void quiz_no_measure(struct quiz *quiz)
{
	static const char *const words[] = {"best", "top", "worst", "biggest"};

	quiz->want_kind = "ask metric(";
	buf_addf(&quiz->text, "Who are our %s %s?", words[rnd(quiz->world, ARRAY_LEN(words))],
		 quiz->world->fields[1].plural);
}

static void quiz_half_a_name(struct quiz *quiz)
{
	const char *label = quiz->world->metrics[1].label;

	quiz->want_kind = "ask metric(";
	buf_addf(&quiz->text, "What was our%s", strchr(label, ' '));
	say_period(quiz);
}

static void quiz_ambiguous_value(struct quiz *quiz)
{
	if (quiz->world->shared[0] == '\0') {
		quiz_undefined(quiz);
		return;
	}
	quiz->want_kind = "ask ";
	buf_addf(&quiz->text, "%s in %s", quiz->world->metrics[1].label, quiz->world->shared);
}

static void quiz_shared_value_told_apart(struct quiz *quiz)
{
	const struct world_field *field = &quiz->world->fields[rnd(quiz->world, 2) * 2];

	if (quiz->world->shared[0] == '\0') {
		quiz_total(quiz);
		return;
	}
	metric_query_add_metric(quiz->want, quiz->world->metrics[1].name);
	want_values(quiz, field, OP_IN, quiz->world->shared, NULL);
	buf_addf(&quiz->text, "%s for %s %s", quiz->world->metrics[1].label, field->singular,
		 quiz->world->shared);
}

static void quiz_condition_on_measure(struct quiz *quiz)
{
	static const struct {
		const char *words;
		enum filter_op op;
	} tests[] = {{"more than", OP_MORE}, {"fewer than", OP_LESS}, {"at least", OP_AT_LEAST}};
	size_t test = rnd(quiz->world, ARRAY_LEN(tests));
	char number[16];

	snprintf(number, sizeof(number), "%u", rnd(quiz->world, 100));
	metric_query_add_metric(quiz->want, quiz->world->metrics[0].name);
	metric_query_add_condition(quiz->want, quiz->world->metrics[0].name, tests[test].op, number);
	buf_addf(&quiz->text, "Which %s have %s %s %s", group(quiz)->plural, tests[test].words,
		 number, quiz->world->facts);
}

static void quiz_condition_behind_a_metric(struct quiz *quiz)
{
	const struct world_metric *metric = measure(quiz);
	char number[16];

	snprintf(number, sizeof(number), "%u", 1 + rnd(quiz->world, 1000));
	metric_query_add_condition(quiz->want, metric->name, OP_MORE, number);
	buf_addf(&quiz->text, "%s with %s over %s", group(quiz)->plural,
		 metric->counts ? metric->label : metric_words(quiz, metric), number);
}

static void quiz_first_of_each(struct quiz *quiz)
{
	const struct world_metric *metric = measure(quiz);
	const struct world_field *subject = group(quiz), *each = group(quiz);
	uint32_t limit = 2 + rnd(quiz->world, 5);

	quiz->want->top.count = limit;
	metric_query_add_within(quiz->want, each->id);
	metric_query_add_order(quiz->want, metric->name, true);
	buf_addf(&quiz->text, "top %u %s in each %s by %s", limit, subject->plural, each->singular,
		 metric_words(quiz, metric));
}

typedef void quiz_fn(struct quiz *quiz);

static quiz_fn *const quizzes[] = {
	quiz_total,
	quiz_grouped,
	quiz_by_time,
	quiz_highest,
	quiz_top,
	quiz_how_many,
	quiz_share,
	quiz_compare,
	quiz_average,
	quiz_listing,
	quiz_undefined,
	quiz_unknown_word,
	quiz_change,
	quiz_no_measure,
	quiz_half_a_name,
	quiz_ambiguous_value,
	quiz_shared_value_told_apart,
	quiz_condition_on_measure,
	quiz_condition_behind_a_metric,
	quiz_first_of_each,
};

static char *wanted(const struct quiz *quiz)
{
	CLEANUP(json_freep) struct json *json = metric_query_to_json(quiz->want);
	struct buf out = BUF_INIT;

	json_write(json, &out);
	return buf_take(&out);
}

static void check_quiz(struct quiz *quiz, const struct model *model, uint64_t seed)
{
	CLEANUP(json_freep) struct json *matches = world_matches(quiz->world, buf_str(&quiz->text));
	CLEANUP(mem_freep) char *want = wanted(quiz);
	CLEANUP(mem_freep) char *got = NULL;
	const struct plan_input input = {.question = buf_str(&quiz->text),
					 .model = model,
					 .matches = matches,
					 .today = {2026, 10, 15}};
	struct plan *plan = NULL;
	struct err err = {0};
	const char *right = quiz->want_kind != NULL ? quiz->want_kind : want;

	if (plan_make(&input, &plan, &err) < 0)
		fail_msg("seed %llu: \"%s\": %s", (unsigned long long)seed, input.question,
			 err.text);
	got = plan_digest(plan);
	if (strncmp(got, right, strlen(right)) != 0 ||
	    (quiz->want_kind == NULL && got[strlen(right)] != '\0' && got[strlen(right)] != ' '))
		fail_msg("WRIT_SEED=%llu: \"%s\"\n  gives %s\n  want  %s", (unsigned long long)seed,
			 input.question, got, right);
	plan_free(plan);
}

static void ask_world(struct world *world, const struct model *model, uint64_t seed, size_t n)
{
	struct quiz quiz = {.world = world, .text = BUF_INIT, .want = metric_query_new()};

	quizzes[n % ARRAY_LEN(quizzes)](&quiz);
	check_quiz(&quiz, model, seed);
	buf_clear(&quiz.text);
	metric_query_free(quiz.want);
}

static void test_no_wrong_plan_comes_out_of_a_random_world(void **state)
{
	const char *given = getenv("WRIT_SEED");
	uint64_t start = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	size_t worlds = given != NULL ? 1 : WORLDS;

	(void)state;
	print_message("WRIT_SEED=%llu and on\n", (unsigned long long)start);
	for (uint64_t seed = start; seed < start + worlds; seed++) {
		struct world world;
		struct model *model = NULL;
		struct err err = {0};

		world_make(&world, seed);
		if (model_from_json(world.model, &model, &err) < 0)
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
		for (size_t n = 0; n < QUESTIONS_PER_WORLD; n++)
			ask_world(&world, model, seed, n + (size_t)seed);
		model_free(model);
		json_free(world.model);
	}
}

/* ---- words thrown together ---- */

/* What a salad names; each must be found again in a plan that comes of it. */
struct salad {
	struct buf text;
	const char *must[24];
	size_t must_count;
	bool share;
};

static void must(struct salad *salad, const char *text)
{
	salad->must[salad->must_count++] = text;
}

static void throw_in(struct salad *salad, struct world *world)
{
	static const char *const words[] = {
		"by",	     "per",	    "the",	"and",	      "or",	   "not",
		"excluding", "each",	    "which",	"highest",    "lowest",	   "top 3",
		"best",	     "compare",	    "with",	"of",	      "in",	   "for",
		"total",     "average",	    "how many", "share of",   "most",	   "without",
		"list",	     "versus",	    "growth",	"month",      "by month",  ",",
		"no",	     "more than 5", "distinct", "except for", "sorted by", "all",
		"who",	     "a",	    "is",	"where",
	};
	const struct world_field *field = &world->fields[rnd(world, (uint32_t)world->field_count)];
	const struct world_metric *metric = &world->metrics[rnd(world, WORLD_METRICS)];
	const char *word = words[rnd(world, ARRAY_LEN(words))];
	const char *value = field->values[rnd(world, WORLD_VALUES)];
	size_t period = rnd(world, ARRAY_LEN(periods));

	switch (rnd(world, 9)) {
	case 0:
	case 1:
		buf_addf(&salad->text, " %s", metric->label);
		if (!metric->counts) /* "number of x" may be what is spoken of */
			must(salad, metric->name);
		break;
	case 2:
	case 3:
		buf_addf(&salad->text, " %s", value);
		if (strcmp(value, world->shared) != 0)
			must(salad, value);
		break;
	case 4:
		buf_addf(&salad->text, " %s", rnd(world, 2) ? field->singular : field->plural);
		if (!field->names_row)
			must(salad, field->id);
		break;
	case 5:
		buf_addf(&salad->text, " %s", periods[period].text);
		must(salad, periods[period].from);
		break;
	default:
		buf_addf(&salad->text, " %s", word);
		salad->share = salad->share || strcmp(word, "share of") == 0;
	}
}

static bool is_value_of(const struct world *world, const char *text)
{
	for (size_t f = 0; f < world->field_count; f++)
		for (size_t v = 0; v < WORLD_VALUES; v++)
			if (strcmp(world->fields[f].values[v], text) == 0)
				return true;
	return false;
}

static size_t toss(struct world *world, const struct model *model, uint64_t seed)
{
	struct salad salad = {.text = BUF_INIT};
	CLEANUP(json_freep) struct json *matches = NULL;
	CLEANUP(mem_freep) char *got = NULL;
	struct plan_input input = {.model = model, .today = {2026, 10, 15}};
	struct plan *plan = NULL;
	struct err err = {0};
	size_t planned = 0;

	for (size_t i = 0, count = 2 + rnd(world, 8); i < count; i++)
		throw_in(&salad, world);
	input.question = buf_str(&salad.text);
	matches = world_matches(world, input.question);
	input.matches = matches;
	assert_int_equal(plan_make(&input, &plan, &err), 0);
	got = plan_digest(plan);
	planned = plan->kind == PLAN_QUERY ? 1 : 0;
	for (size_t i = 0; planned > 0 && i < salad.must_count; i++) {
		/* In a share a value is one line of the whole. */
		if (salad.share && is_value_of(world, salad.must[i]))
			continue;
		if (strstr(got, salad.must[i]) == NULL)
			fail_msg("WRIT_SEED=%llu: \"%s\"\n  gives %s\n  without %s",
				 (unsigned long long)seed, input.question, got, salad.must[i]);
	}
	plan_free(plan);
	buf_clear(&salad.text);
	return planned;
}

static void test_no_name_is_dropped_from_words_thrown_together(void **state)
{
	const char *given = getenv("WRIT_SEED");
	uint64_t start = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	size_t planned = 0;

	(void)state;
	for (uint64_t seed = start; seed < start + (given != NULL ? 1 : 20); seed++) {
		struct world world;
		struct model *model = NULL;
		struct err err = {0};

		world_make(&world, seed);
		assert_int_equal(model_from_json(world.model, &model, &err), 0);
		for (size_t n = 0; n < 200; n++)
			planned += toss(&world, model, seed);
		model_free(model);
		json_free(world.model);
	}
	print_message("%zu of the salads were plans\n", planned);
	assert_true(planned > 0);
}

/* Marks, digits, halves of dates, bytes of no encoding: an answer or an error, never more. */
static void test_noise_is_answered(void **state)
{
	static const char alphabet[] =
		"ab 12.-,;:'\"()%?!/QqMay\xc3\xa9\xe2\x80\x99 last in of the 2026-02-3";
	struct world world;
	struct model *model = NULL;
	struct err err = {0};

	(void)state;
	world_make(&world, (uint64_t)time(NULL));
	assert_int_equal(model_from_json(world.model, &model, &err), 0);
	for (size_t n = 0; n < 3000; n++) {
		char text[64];
		size_t len = rnd(&world, sizeof(text) - 1);
		struct plan_input input = {
			.question = text, .model = model, .today = {2024, 2, 29}};
		struct plan *plan = NULL;

		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[rnd(&world, sizeof(alphabet) - 1)];
		text[len] = '\0';
		if (plan_make(&input, &plan, &err) < 0)
			assert_int_equal(err.kind, ERR_INVALID);
		else
			assert_int_not_equal(plan->kind, PLAN_QUERY);
		plan_free(plan);
	}
	model_free(model);
	json_free(world.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_wrong_plan_comes_out_of_a_random_world),
		cmocka_unit_test(test_no_name_is_dropped_from_words_thrown_together),
		cmocka_unit_test(test_noise_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
