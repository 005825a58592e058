/*
 * Answerable questions with one slip: a word that means nothing, a letter wrong in a value or in a
 * metric. What was meant may be asked or the whole refused, but nothing may be answered as if the
 * slip were not there.
 */
#include "tests/lib/random/world.h"

#include <string.h>

#include "tests/lib/random/wording.h"

static void add_slip(struct json *cases, const char *kind, const char *question)
{
	struct json *json = json_object();
	struct json *expect = json_object();

	json_set_str(json, "kind", kind);
	json_set_str(json, "question", question);
	json_set_str(expect, "status", "unanswered");
	json_set(json, "expect", expect);
	json_push(cases, json);
}

static struct json *some_question(struct world *world)
{
	struct json *question = NULL;

	while (question == NULL)
		question = question_make(world);
	return question;
}

static size_t blanks(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == ' ' ? 1 : 0;
	return count;
}

/* The place behind the n-th blank, or the beginning. */
static size_t behind_blank(const char *text, size_t n)
{
	size_t at = 0;

	while (n > 0)
		n -= text[at++] == ' ' ? 1 : 0;
	return at;
}

static void add_stray_word(struct world *world, struct json *cases)
{
	CLEANUP(json_freep) struct json *question = some_question(world);
	const char *text = json_get_str(question, "question");
	size_t at = behind_blank(text, rng_below(&world->rng, (uint32_t)blanks(text) + 1));
	CLEANUP(mem_freep)
	char *strayed = mem_format("%.*s%s %s", (int)at, text, word_new(world), text + at);

	add_slip(cases, "stray word", strayed);
}

/* Another letter in place of one in the middle: "kavdor" -> "kavxor". No word has an x. */
static const char *misspelt(struct world *world, const char *phrase)
{
	char *text = world_keep(world, mem_str(phrase));
	size_t len = strlen(text);
	size_t at = len / 2;

	for (size_t i = 0; i < len; i++, at = (at + 1) % len) {
		if (text[at] < 'a' || text[at] > 'z')
			continue;
		text[at] = 'x';
		break;
	}
	return text;
}

static void add_misspelt_value(struct world *world, struct json *cases)
{
	const struct metric *net = &world->metrics[0];
	struct spot spots[SPOTS_MAX];
	size_t count = spots_of(world, net->table, ROLE_CLASS, spots);
	const char *value = stored_value(world, spots[rng_below(&world->rng, (uint32_t)count)]);
	CLEANUP(mem_freep)
	char *question = mem_format("%s for %s %s", noun_of_metric(world, net),
				    misspelt(world, value), phrase_any(world).text);

	if (!value_awkward(value))
		add_slip(cases, "misspelt value", question);
}

static void add_misspelt_metric(struct world *world, struct json *cases)
{
	const char *noun = noun_of_metric(world, &world->metrics[0]);
	CLEANUP(mem_freep)
	char *question =
		mem_format("What was the %s %s?", misspelt(world, noun), phrase_any(world).text);

	add_slip(cases, "misspelt metric", question);
}

void slips_add(struct world *world, struct json *cases)
{
	for (int i = 0; i < 6; i++)
		add_stray_word(world, cases);
	add_misspelt_value(world, cases);
	add_misspelt_value(world, cases);
	add_misspelt_metric(world, cases);
}
