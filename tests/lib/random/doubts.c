/*
 * Questions without one right answer: some must be asked back with the right choices, some refused
 * with the right word. A number in any of these replies would be a guess.
 */
#include "tests/lib/random/world.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/lib/random/wording.h"

/* {"kind","question","expect":{"status"}}; takes question. */
static struct json *doubt(struct json *cases, const char *kind, char *question, const char *status)
{
	struct json *json = json_object();
	struct json *expect = json_object();

	json_set_str(json, "kind", kind);
	json_set_str(json, "question", question);
	json_set_str(expect, "status", status);
	json_set(json, "expect", expect);
	json_push(cases, json);
	mem_free(question);
	return expect;
}

static void says(struct json *expect, const char *word)
{
	struct json *list = json_array();

	json_push_str(list, word);
	json_set(expect, "says", list);
}

static const struct metric *metric_of(const struct world *world, enum measure measure)
{
	for (size_t i = 0; i < world->metric_count; i++)
		if (world->metrics[i].measure == measure)
			return &world->metrics[i];
	abort();
}

static const struct metric *timed_metric(struct world *world)
{
	const struct metric *metric;

	do {
		metric = &world->metrics[rng_below(&world->rng, (uint32_t)world->metric_count)];
	} while (metric->measure == MEASURE_SECRET || !world->timed[metric->table]);
	return metric;
}

static struct spot shared_spot(const struct world *world, size_t nth)
{
	struct spot found = {0, 0};
	size_t seen = 0;

	for (size_t i = 0; i < world->table_count; i++)
		for (size_t j = 0; j < world->tables[i].column_count; j++) {
			const struct column *column = &world->tables[i].columns[j];

			if (column->value_count == 0 ||
			    column->values[column->value_count - 1] != world->shared_value)
				continue;
			if (seen++ == nth)
				found = (struct spot){i, j};
		}
	return found;
}

static void add_field_id(const struct world *world, struct json *list, struct spot spot)
{
	CLEANUP(mem_freep)
	char *id = mem_format("%s.%s", world->tables[spot.table].dataset,
			      spot_column(world, spot)->field);

	json_push_str(list, id);
}

/* Is the value that two columns share stored in both? */
static bool shared_is_stored(const struct world *world)
{
	size_t stored = 0;

	for (size_t nth = 0; nth < 2; nth++) {
		struct spot spot = shared_spot(world, nth);
		const struct table *table = &world->tables[spot.table];
		bool found = false;

		for (size_t row = 0; row < table->rows; row++)
			found = found ||
				table->cells[row * table->column_count + spot.column].text ==
					world->shared_value;
		stored += found ? 1 : 0;
	}
	return stored == 2;
}

/* The choice once made, the answer is what it would have been in the first place. */
static void choose(const struct world *world, struct json *expect, const char *choice,
		   const struct ask *ask)
{
	struct json *answer = oracle_answer(world, ask);
	struct json *chosen;

	if (answer == NULL)
		return;
	chosen = json_object();
	json_set_str(chosen, "choice", choice);
	json_set(chosen, "rows", json_copy(json_get(answer, "rows")));
	json_set_bool(chosen, "ordered", json_get_bool(answer, "ordered", false));
	json_set(expect, "after", chosen);
	json_free(answer);
}

static void add_shared_value(struct world *world, struct json *cases)
{
	const struct metric *net = metric_of(world, MEASURE_NET);
	struct phrase phrase = phrase_any(world);
	struct ask ask = {.metric = net, .period = phrase.range, .filter_count = 1};
	struct json *choices = json_array();
	struct json *expect;
	CLEANUP(mem_freep) char *id = NULL;

	if (!shared_is_stored(world)) {
		json_free(choices);
		return;
	}
	expect = doubt(cases, "value in two columns",
		       mem_format("%s for %s %s", noun_of_metric(world, net), world->shared_value,
				  phrase.text),
		       "needs_input");
	add_field_id(world, choices, shared_spot(world, 0));
	add_field_id(world, choices, shared_spot(world, 1));
	ask.filters[0] = (struct filter){.spot = shared_spot(world, rng_below(&world->rng, 2)),
					 .test = TEST_IN,
					 .values = {world->shared_value},
					 .value_count = 1};
	id = mem_format("%s.%s", world->tables[ask.filters[0].spot.table].dataset,
			spot_column(world, ask.filters[0].spot)->field);
	choose(world, expect, id, &ask);
	json_set(expect, "choices", choices);
}

/* The noun beside it tells which of the two columns is meant. */
static void add_told_value(struct world *world, struct json *cases)
{
	struct spot spot = shared_spot(world, rng_below(&world->rng, 2));
	struct ask ask = {.metric = metric_of(world, MEASURE_NET), .filter_count = 1};
	struct json *expect;
	struct json *answer;
	const char *noun;

	do {
		noun = noun_of_field(world, spot);
	} while (strcasecmp(noun, world->shared_field) == 0);
	ask.filters[0] = (struct filter){
		.spot = spot, .test = TEST_IN, .values = {world->shared_value}, .value_count = 1};
	answer = oracle_answer(world, &ask);
	if (answer == NULL || !shared_is_stored(world)) {
		json_free(answer);
		return;
	}
	expect = doubt(cases, "value told by its noun",
		       mem_format("%s in the %s %s", noun_of_metric(world, ask.metric),
				  world->shared_value, noun),
		       "completed");
	json_set(expect, "rows", json_copy(json_get(answer, "rows")));
	json_free(answer);
}

static void add_shared_field(struct world *world, struct json *cases)
{
	const struct metric *net = metric_of(world, MEASURE_NET);
	struct phrase phrase = phrase_any(world);
	struct ask ask = {.metric = net, .period = phrase.range, .dim_count = 1};
	struct json *choices = json_array();
	struct json *expect = doubt(cases, "word for two fields",
				    mem_format("%s by %s %s", noun_of_metric(world, net),
					       world->shared_field, phrase.text),
				    "needs_input");
	CLEANUP(mem_freep) char *id = NULL;

	add_field_id(world, choices, shared_spot(world, 0));
	add_field_id(world, choices, shared_spot(world, 1));
	ask.dims[0].spot = shared_spot(world, rng_below(&world->rng, 2));
	id = mem_format("%s.%s", world->tables[ask.dims[0].spot.table].dataset,
			spot_column(world, ask.dims[0].spot)->field);
	choose(world, expect, id, &ask);
	json_set(expect, "choices", choices);
}

static void add_shared_metric(struct world *world, struct json *cases)
{
	const struct metric *net = metric_of(world, MEASURE_NET);
	const struct metric *average = metric_of(world, MEASURE_AVERAGE);
	struct phrase phrase = phrase_any(world);
	struct ask ask = {.metric = rng_chance(&world->rng, 50) ? net : average,
			  .period = phrase.range};
	struct json *choices = json_array();
	struct json *expect =
		doubt(cases, "word for two metrics",
		      mem_format("What was the %s %s?", world->shared_metric, phrase.text),
		      "needs_input");

	json_push_str(choices, net->name);
	json_push_str(choices, average->name);
	choose(world, expect, ask.metric->name, &ask);
	json_set(expect, "choices", choices);
}

/* "X", where "total X" and "average X" are defined. */
static void add_half_a_name(struct world *world, struct json *cases)
{
	struct json *choices;
	struct json *expect;

	if (world->twin_word == NULL)
		return;
	choices = json_array();
	expect = doubt(cases, "half a metric's name",
		       mem_format("What was %s %s?", world->twin_word, phrase_any(world).text),
		       "needs_input");
	json_push_str(choices, metric_of(world, MEASURE_SCORES)->name);
	json_push_str(choices, metric_of(world, MEASURE_AVERAGE)->name);
	json_set(expect, "choices", choices);
}

static void add_no_metric(struct world *world, struct json *cases)
{
	struct spot spots[SPOTS_MAX];
	const struct metric *net = metric_of(world, MEASURE_NET);
	size_t count = spots_of(world, net->table, ROLE_CLASS, spots);
	struct spot spot = spots[rng_below(&world->rng, (uint32_t)count)];
	struct json *choices = json_array();
	struct json *expect = doubt(
		cases, "no metric",
		mem_format("%s %s?", rng_chance(&world->rng, 50) ? "Which are our best" : "Top 3",
			   word_plural(world, noun_of_field(world, spot))),
		"needs_input");

	json_push_str(choices, net->name);
	json_set(expect, "choices", choices);
}

static void add_undefined(struct world *world, struct json *cases)
{
	static const char *const forms[][2] = {{"What was our", "?"},
					       {"Show me the", ""},
					       {"", ""},
					       {"How much", "did we have"},
					       {"What is the total", "?"}};
	const char *const *form = forms[rng_below(&world->rng, ARRAY_LEN(forms))];
	const char *word = word_new(world);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	say(&text, form[0]);
	say(&text, word);
	if (form[1][0] == 'd')
		say(&text, form[1]);
	say(&text, phrase_any(world).text);
	if (form[1][0] == '?')
		buf_add_str(&text, form[1]);
	says(doubt(cases, "undefined metric", mem_str(buf_str(&text)), "refused"), word);
}

static void add_unknown_value(struct world *world, struct json *cases)
{
	const struct metric *metric = timed_metric(world);
	const char *word = word_new(world);

	says(doubt(cases, "unknown value",
		   mem_format("%s %s %s %s", noun_of_metric(world, metric),
			      rng_chance(&world->rng, 50) ? "in" : "for", word_title(world, word),
			      phrase_any(world).text),
		   "refused"),
	     word);
}

static void add_unknown_group(struct world *world, struct json *cases)
{
	const struct metric *metric = timed_metric(world);
	const char *word = word_new(world);

	says(doubt(cases, "unknown group",
		   mem_format("%s by %s", noun_of_metric(world, metric), word), "refused"),
	     word);
}

/* Rows of persons lead to no thing: to group them by things would count them again and again. */
static void add_unreachable(struct world *world, struct json *cases)
{
	struct spot thing = shared_spot(world, 1);
	const struct metric *metric = NULL;

	for (size_t i = 0; i < world->metric_count; i++)
		if (!world_leads(world, world->metrics[i].table, thing.table))
			metric = &world->metrics[i];
	if (metric == NULL)
		return;
	doubt(cases, "group out of reach",
	      mem_format("%s by %s", noun_of_metric(world, metric),
			 spot_column(world, thing)->synonym != NULL
				 ? spot_column(world, thing)->synonym
				 : word_spaced(world, spot_column(world, thing)->field)),
	      "refused");
}

static void add_change(struct world *world, struct json *cases)
{
	const struct metric *metric = timed_metric(world);
	const char *rows = noun_of_rows(world, metric->table);
	struct spot spot = shared_spot(world, 0);
	char *question = NULL;

	switch (rng_below(&world->rng, 8)) {
	case 0:
		question = mem_format("Delete the %ss.", rows);
		break;
	case 1:
		question = mem_format("Please set the %s of every %s to %s",
				      noun_of_field(world, spot), rows, stored_value(world, spot));
		break;
	case 2:
		question = mem_format("Can you add a new %s?", rows);
		break;
	case 3:
		question = mem_format("Show %s; drop table %s", noun_of_metric(world, metric),
				      world->tables[metric->table].name);
		break;
	case 4:
		question = mem_format("Increase the %s by 10%%", noun_of_metric(world, metric));
		break;
	case 5:
		question = mem_format("I want you to remove %s from the %ss",
				      stored_value(world, spot), rows);
		break;
	case 6:
		question = mem_format("Update the %s", noun_of_field(world, spot));
		break;
	default:
		question = mem_format("Show me %s, then delete %s", noun_of_metric(world, metric),
				      stored_value(world, spot));
	}
	doubt(cases, "change", question, "refused");
}

/* What is granted to nobody is answered as what nobody has heard of. */
static void add_hidden(struct world *world, struct json *cases)
{
	const struct metric *secret = metric_of(world, MEASURE_SECRET);
	const struct metric *net = metric_of(world, MEASURE_NET);

	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *table = &world->tables[i];
		const struct column *column;
		const char *word;

		if (!has_column(table, ROLE_SECRET))
			continue;
		column = &table->columns[column_of(table, ROLE_SECRET)];
		word = word_spaced(world, column->field);
		if (!table->hidden && !table->fact)
			says(doubt(cases, "hidden field",
				   mem_format("%s by %s", noun_of_metric(world, net), word),
				   "refused"),
			     word);
		if (table->hidden)
			says(doubt(cases, "hidden rows",
				   mem_format("How many %ss are there?", table->synonym),
				   "refused"),
			     table->synonym);
	}
	says(doubt(cases, "hidden metric", mem_format("What was the %s?", secret->synonym),
		   "refused"),
	     secret->synonym);
}

/* A value that nobody may see is one that does not occur. */
static void add_hidden_value(struct world *world, struct json *cases)
{
	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *table = &world->tables[i];
		const struct cell *cell;

		if (table->fact || !has_column(table, ROLE_SECRET))
			continue;
		cell = &table->cells[column_of(table, ROLE_SECRET)];
		says(doubt(cases, "hidden value",
			   mem_format("%s for %s",
				      noun_of_metric(world, metric_of(world, MEASURE_NET)),
				      cell->text),
			   "refused"),
		     cell->text);
	}
}

void doubts_add(struct world *world, struct json *cases)
{
	typedef void add_fn(struct world *, struct json *);
	static add_fn *const all[] = {add_shared_value,	 add_told_value,    add_shared_field,
				      add_shared_metric, add_no_metric,	    add_half_a_name,
				      add_hidden_value,	 add_undefined,	    add_undefined,
				      add_unknown_value, add_unknown_group, add_unreachable,
				      add_change,	 add_change,	    add_hidden};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i](world, cases);
}
