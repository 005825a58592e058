/* A business made up at random: names, values and metrics of no language, as a semantic model. */
#ifndef TESTS_PLANNER_WORLD_H
#define TESTS_PLANNER_WORLD_H

#include <stdio.h>
#include <string.h>

#include "agents/query/period.h"
#include "agents/query/sentence.h"
#include "base/json.h"

#define WORLD_FIELDS 8
#define WORLD_VALUES 4
#define WORLD_METRICS 3

struct world_field {
	char id[72], dataset[32], name[32]; /* id is "dataset.name" */
	char singular[32], plural[48];	    /* as people say it */
	bool names_row;
	char values[WORLD_VALUES][48];
};

struct world_metric {
	char name[64], label[64], synonym[64];
	bool counts;
};

struct world {
	uint64_t random;
	char used[400][32];
	size_t used_count;
	char fact[32], facts[48]; /* what one row of the measured table is called */
	struct world_field fields[WORLD_FIELDS];
	size_t field_count;
	struct world_metric metrics[WORLD_METRICS]; /* the first counts facts */
	char shared[48];			    /* a value of fields 0 and 1; "" for none */
	struct json *model;
};

static uint32_t rnd(struct world *world, uint32_t below)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return (uint32_t)(world->random >> 33) % below;
}

static bool means_something(const char *text)
{
	static const char *const words[] = {"count", "total", "share", "mean",	"field", "column",
					    "top",   "rate",  "may",   "today", "ever",	 NULL};
	struct sentence sentence;
	struct err err = {0};
	bool meant = false;

	if (sentence_read(text, &sentence, &err) < 0)
		return true;
	for (size_t i = 0; i < sentence.count; i++)
		meant = meant || word_is_filler(&sentence.items[i]) ||
			word_in(&sentence.items[i], words) || sentence.items[i].has_number ||
			period_unit_of(&sentence.items[i]) != UNIT_NONE ||
			strcmp(sentence.items[i].text, sentence.items[i].stem) != 0;
	sentence_clear(&sentence);
	return meant;
}

static bool is_used(const struct world *world, const char *word)
{
	for (size_t i = 0; i < world->used_count; i++)
		if (strcmp(world->used[i], word) == 0)
			return true;
	return false;
}

/* A new word of two or three syllables that is not its own plural. */
static void make_word(struct world *world, char out[32])
{
	static const char consonants[] = "bdfgklmnprtvz";
	static const char vowels[] = "aiou";

	do {
		size_t len = 0;
		size_t syllables = 2 + rnd(world, 2);

		for (size_t i = 0; i < syllables; i++) {
			out[len++] = consonants[rnd(world, sizeof(consonants) - 1)];
			out[len++] = vowels[rnd(world, sizeof(vowels) - 1)];
		}
		out[len++] = "klmnrt"[rnd(world, 6)];
		out[len] = '\0';
	} while (is_used(world, out) || means_something(out));
	snprintf(world->used[world->used_count++], 32, "%s", out);
}

static void make_value(struct world *world, char out[48])
{
	char first[32], second[32];

	make_word(world, first);
	first[0] = (char)(first[0] - 32);
	snprintf(out, 48, "%s", first);
	if (rnd(world, 3) > 0)
		return;
	make_word(world, second);
	if (rnd(world, 2) == 0)
		second[0] = (char)(second[0] - 32);
	snprintf(out, 48, "%.20s %.20s", first, second);
}

static struct world_field *add_field(struct world *world, const char *dataset, bool names_row,
				     const char *entity)
{
	struct world_field *field = &world->fields[world->field_count++];
	char name[32];
	const char *singular = names_row ? entity : name;

	make_word(world, name);
	field->names_row = names_row;
	snprintf(field->dataset, sizeof(field->dataset), "%.31s", dataset);
	snprintf(field->name, sizeof(field->name), "%s", name);
	snprintf(field->singular, sizeof(field->singular), "%.31s", singular);
	snprintf(field->plural, sizeof(field->plural), "%.31ss", singular);
	snprintf(field->id, sizeof(field->id), "%.31s.%s", dataset, name);
	for (size_t i = 0; i < WORLD_VALUES; i++)
		make_value(world, field->values[i]);
	return field;
}

static struct json *field_json(const struct world_field *field)
{
	struct json *json = json_object();

	json_set_str(json, "name", field->name);
	json_set_str(json, "label", field->singular);
	json_set_str(json, "expression", field->name);
	json_set_str(json, "type", "string");
	json_set_bool(json, "dimension", true);
	json_set_bool(json, "names_row", field->names_row);
	return json;
}

static struct json *dataset_json(const struct world *world, const char *name, const char *label)
{
	struct json *json = json_object();
	struct json *fields = json_array();
	struct json *key = json_array();

	json_set_str(json, "name", name);
	json_set_str(json, "table", name);
	json_set_str(json, "label", label);
	json_push_str(key, "id");
	json_set(json, "primary_key", key);
	for (size_t i = 0; i < world->field_count; i++)
		if (strcmp(world->fields[i].dataset, name) == 0)
			json_push(fields, field_json(&world->fields[i]));
	json_set(json, "fields", fields);
	return json;
}

/* When it happened, and how much it came to. */
static void add_facts(struct json *fact, const char *name)
{
	struct json *field = json_object();
	struct json *amount = json_object();
	char id[80];

	json_set_str(amount, "name", "amount");
	json_set_str(amount, "expression", "amount");
	json_set_str(amount, "type", "integer");
	json_push(json_get_mut(fact, "fields"), amount);

	json_set_str(field, "name", "happened_at");
	json_set_str(field, "expression", "happened_at");
	json_set_str(field, "type", "time");
	json_set_bool(field, "dimension", true);
	json_set_bool(field, "is_time", true);
	json_push(json_get_mut(fact, "fields"), field);
	snprintf(id, sizeof(id), "%s.happened_at", name);
	json_set_str(fact, "time", id);
}

static void add_metric_json(const struct world *world, struct json *metrics,
			    const struct world_metric *metric)
{
	struct json *json = json_object();
	struct json *synonyms = json_array();
	char time[80], expression[80];

	snprintf(time, sizeof(time), "%s.happened_at", world->fact);
	snprintf(expression, sizeof(expression), "SUM(%s.amount)", world->fact);
	json_set_str(json, "name", metric->name);
	json_set_str(json, "label", metric->label);
	if (metric->synonym[0] != '\0')
		json_push_str(synonyms, metric->synonym);
	json_set(json, "synonyms", synonyms);
	json_set_str(json, "dataset", world->fact);
	json_set_str(json, "expression", metric->counts ? "COUNT(*)" : expression);
	json_set_bool(json, "additive", true);
	json_set_bool(json, "higher_is_better", true);
	json_set_str(json, "time", time);
	json_push(metrics, json);
}

static void make_metrics(struct world *world)
{
	struct world_metric *count = &world->metrics[0];

	snprintf(count->name, sizeof(count->name), "%s_count", world->fact);
	snprintf(count->label, sizeof(count->label), "number of %s", world->facts);
	count->counts = true;
	for (size_t i = 1; i < WORLD_METRICS; i++) {
		struct world_metric *metric = &world->metrics[i];
		char first[32], second[32];

		make_word(world, first);
		make_word(world, second);
		snprintf(metric->name, sizeof(metric->name), "%s_%s", first, second);
		snprintf(metric->label, sizeof(metric->label), "%s %s", first, second);
		make_word(world, metric->synonym);
	}
}

static struct json *relationship_json(const char *from, const char *to)
{
	struct json *json = json_object();
	struct json *from_columns = json_array();
	struct json *to_columns = json_array();
	char column[40];

	snprintf(column, sizeof(column), "%.31s_id", to);
	json_push_str(from_columns, column);
	json_push_str(to_columns, "id");
	json_set_str(json, "name", to);
	json_set_str(json, "from", from);
	json_set_str(json, "to", to);
	json_set(json, "from_columns", from_columns);
	json_set(json, "to_columns", to_columns);
	return json;
}

static void world_make(struct world *world, uint64_t seed)
{
	struct json *datasets = json_array();
	struct json *relationships = json_array();
	struct json *metrics = json_array();
	struct json *fact = NULL;
	char entity[2][32];

	memset(world, 0, sizeof(*world));
	world->random = seed * 2654435761u + 88172645463325252ull;
	make_word(world, world->fact);
	snprintf(world->facts, sizeof(world->facts), "%ss", world->fact);
	for (size_t d = 0; d < 2; d++) {
		make_word(world, entity[d]);
		add_field(world, entity[d], false, entity[d]);
		add_field(world, entity[d], true, entity[d]);
	}
	for (size_t i = 0; i < 1 + rnd(world, 2); i++)
		add_field(world, world->fact, false, "");
	if (rnd(world, 2) == 0) {
		snprintf(world->shared, sizeof(world->shared), "%s", world->fields[0].values[0]);
		snprintf(world->fields[2].values[0], 48, "%s", world->shared);
	}
	make_metrics(world);
	fact = dataset_json(world, world->fact, world->facts);
	add_facts(fact, world->fact);
	json_push(datasets, fact);
	for (size_t d = 0; d < 2; d++) {
		char label[48];

		snprintf(label, sizeof(label), "%.31ss", entity[d]);
		json_push(datasets, dataset_json(world, entity[d], label));
		json_push(relationships, relationship_json(world->fact, entity[d]));
	}
	for (size_t i = 0; i < WORLD_METRICS; i++)
		add_metric_json(world, metrics, &world->metrics[i]);
	world->model = json_object();
	json_set_str(world->model, "source", "world");
	json_set(world->model, "datasets", datasets);
	json_set(world->model, "relationships", relationships);
	json_set(world->model, "metrics", metrics);
}

static bool value_occurs(const struct sentence *question, const char *value)
{
	struct sentence words;
	struct err err = {0};
	bool found = false;

	if (sentence_read(value, &words, &err) < 0)
		return false;
	for (size_t i = 0; i < question->count && !found; i++)
		found = sentence_match(question, i, &words) > 0;
	sentence_clear(&words);
	return found;
}

/* What search_values would find for the question. */
static struct json *world_matches(const struct world *world, const char *question)
{
	struct json *matches = json_array();
	struct sentence words;
	struct err err = {0};

	if (sentence_read(question, &words, &err) < 0)
		return matches;
	for (size_t f = 0; f < world->field_count; f++)
		for (size_t v = 0; v < WORLD_VALUES; v++) {
			struct json *match = NULL;

			if (!value_occurs(&words, world->fields[f].values[v]))
				continue;
			match = json_object();
			json_set_str(match, "table", world->fields[f].dataset);
			json_set_str(match, "column", world->fields[f].name);
			json_set_str(match, "value", world->fields[f].values[v]);
			json_set_str(match, "phrase", world->fields[f].values[v]);
			json_set_bool(match, "exact", true);
			json_push(matches, match);
		}
	sentence_clear(&words);
	return matches;
}

#endif
