/*
 * Dice and words. The generator is splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
 * Number Generators, 2014): one word of state, the same everywhere. A word is at least three edits
 * away from every other one, so that no question can mean another by a slip.
 */
#include "tests/lib/random/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_DISTANCE 3

static uint64_t rng_next(struct rng *rng)
{
	uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return n == 0 ? 0 : (uint32_t)((rng_next(rng) >> 32) % n);
}

int64_t rng_between(struct rng *rng, int64_t least, int64_t most)
{
	return least + rng_below(rng, (uint32_t)(most - least + 1));
}

bool rng_chance(struct rng *rng, uint32_t percent)
{
	return rng_below(rng, 100) < percent;
}

char *world_keep(struct world *world, char *text)
{
	world->kept = mem_grow(world->kept, (world->kept_count + 1) * sizeof(*world->kept));
	world->kept[world->kept_count++] = text;
	return text;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
	size_t row[32];
	size_t length = least(strlen(b), ARRAY_LEN(row) - 1);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t above = row[j];
			size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);

			row[j] = least(change, 1 + least(above, row[j - 1]));
			corner = above;
		}
	}
	return row[length];
}

static void roll_word(struct rng *rng, char word[16])
{
	static const char starts[] = "bdfgklmnprtvz";
	static const char vowels[] = "aeiou";
	static const char ends[] = "lmnrkd";
	size_t syllables = 2 + rng_below(rng, 2);
	size_t len = 0;

	for (size_t i = 0; i < syllables; i++) {
		bool closed = i + 1 == syllables || rng_chance(rng, 30);

		word[len++] = starts[rng_below(rng, sizeof(starts) - 1)];
		word[len++] = vowels[rng_below(rng, sizeof(vowels) - 1)];
		if (closed)
			word[len++] = ends[rng_below(rng, sizeof(ends) - 1)];
	}
	word[len] = '\0';
}

/* Words of English that the dice could make and that mean something in a question, or that end
 * like something done ("opened"). */
static bool is_english(const char *word)
{
	static const char *const known[] = {"total", "number", "under",	 "remain", "person",
					    "later", "per",    "period", "million"};
	size_t len = strlen(word);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i], word) == 0)
			return true;
	return strcmp(word + len - 2, "ed") == 0;
}

char *word_new(struct world *world)
{
	char word[16];
	bool taken = true;

	if (world->word_count == WORLD_WORDS)
		abort();
	while (taken) {
		roll_word(&world->rng, word);
		taken = is_english(word);
		for (size_t i = 0; !taken && i < world->word_count; i++)
			taken = distance(word, world->words[i]) < WORD_DISTANCE;
	}
	world->words[world->word_count++] = mem_str(word);
	return world->words[world->word_count - 1];
}

char *word_title(struct world *world, const char *word)
{
	char *text = world_keep(world, mem_str(word));

	if (text[0] >= 'a' && text[0] <= 'z')
		text[0] = (char)(text[0] - 'a' + 'A');
	return text;
}

char *word_plural(struct world *world, const char *phrase)
{
	size_t len = strlen(phrase);

	return world_keep(world, mem_format("%s%s", phrase, phrase[len - 1] == 's' ? "es" : "s"));
}

char *word_spaced(struct world *world, const char *name)
{
	char *text = world_keep(world, mem_str(name));

	for (char *c = text; *c != '\0'; c++)
		if (*c == '_')
			*c = ' ';
	return text;
}

char *word_lower(struct world *world, const char *text)
{
	char *lower = world_keep(world, mem_str(text));

	for (char *c = lower; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return lower;
}

/* A vowel with a mark on it: bytes beyond ASCII, still one letter. */
static char *accented(const char *word)
{
	static const char *const marks[][2] = {
		{"a", "\xc3\xa4"}, {"e", "\xc3\xa9"}, {"i", "\xc3\xad"},
		{"o", "\xc3\xb6"}, {"u", "\xc3\xbc"},
	};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *at = strstr(word, marks[i][0]);

		if (at != NULL)
			return mem_format("%.*s%s%s", (int)(at - word), word, marks[i][1], at + 1);
	}
	return mem_str(word);
}

/* What real data hold as well: words that a question is made of. */
static const char *const awkward[] = {
	"Other",
	"Not Known",
	"North and South",
	"Top Class",
	"Per Item",
	"Total Loss",
	"Last Call",
	"No Name",
	"Each Way",
	"Best of All",
	"50% Off",
	"On Hold",
	"In Progress",
	"To Do",
	"Most Wanted",
	"Highest Bid",
	"\xd0\x96\xd0\xbe\xd0\xbb\xd1\x82",
};

bool value_awkward(const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(awkward); i++)
		if (strcmp(awkward[i], value) == 0)
			return true;
	return false;
}

char *value_new(struct world *world)
{
	const char *first = word_title(world, word_new(world));
	uint32_t roll = rng_below(&world->rng, 100);
	const char *second = NULL;
	uint32_t other = rng_below(&world->rng, ARRAY_LEN(awkward));

	if (rng_chance(&world->rng, 10) && !(world->awkward_used & 1u << other)) {
		world->awkward_used |= 1u << other;
		return world_keep(world, mem_str(awkward[other]));
	}
	if (roll < 45)
		return world_keep(world, mem_str(first));
	if (roll < 52)
		return word_lower(world, first);
	if (roll < 60)
		return world_keep(world, accented(first));
	if (roll < 67)
		return world_keep(world, mem_format("O'%s", first));
	if (roll < 73)
		return world_keep(world,
				  mem_format("%s %u", first, 2 + rng_below(&world->rng, 97)));
	second = word_title(world, word_new(world));
	if (roll < 78)
		return world_keep(world, mem_format("%s & %s", first, second));
	if (roll < 82)
		return world_keep(world, mem_format("%s of %s", first, second));
	if (roll < 86)
		return world_keep(world, mem_format("%s-%s", first, second));
	if (roll < 89)
		return world_keep(world, mem_format("%s's %s", first, second));
	return world_keep(world, mem_format("%s %s", first, second));
}
