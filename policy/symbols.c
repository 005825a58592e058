/*
 * One hash table for both ways of looking up: the hash is taken over the folded bytes, so a name
 * and its lower-case form lie in one probe chain and only the comparison differs. Cannot fail.
 */
#include "policy/symbols.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define SLOTS_FIRST 64u

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static uint32_t hash_folded(const char *text, size_t len)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ fold(text[i])) * 16777619u;
	return hash;
}

/* Is known the folded form of text (or, without folding, text itself)? */
static bool same(const char *known, const char *text, size_t len, bool folded)
{
	if (!folded)
		return memcmp(known, text, len) == 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)known[i] != fold(text[i]))
			return false;
	return true;
}

void symbols_init(struct symbols *symbols)
{
	symbols->count = 1;
	symbols->slot_count = SLOTS_FIRST;
	symbols->texts = mem_array(SLOTS_FIRST, sizeof(*symbols->texts));
	symbols->lens = mem_array(SLOTS_FIRST, sizeof(*symbols->lens));
	symbols->slots = mem_array(SLOTS_FIRST, sizeof(*symbols->slots));
}

void symbols_clear(struct symbols *symbols)
{
	for (size_t i = 1; i < symbols->count; i++)
		mem_free(symbols->texts[i]);
	mem_free(symbols->texts);
	mem_free(symbols->lens);
	mem_free(symbols->slots);
	memset(symbols, 0, sizeof(*symbols));
}

static void put(struct symbols *symbols, symbol_t id)
{
	size_t mask = symbols->slot_count - 1;
	size_t at = hash_folded(symbols->texts[id], symbols->lens[id]) & mask;

	while (symbols->slots[at] != SYMBOL_NONE)
		at = (at + 1) & mask;
	symbols->slots[at] = id;
}

static void grow_slots(struct symbols *symbols)
{
	symbols->slot_count *= 2;
	symbols->texts = mem_grow(symbols->texts, symbols->slot_count * sizeof(*symbols->texts));
	symbols->lens = mem_grow(symbols->lens, symbols->slot_count * sizeof(*symbols->lens));
	mem_free(symbols->slots);
	symbols->slots = mem_array(symbols->slot_count, sizeof(*symbols->slots));
	for (size_t i = 1; i < symbols->count; i++)
		put(symbols, (symbol_t)i);
}

static symbol_t find(const struct symbols *symbols, const char *text, size_t len, bool folded)
{
	size_t mask = symbols->slot_count - 1;

	if (text == NULL)
		return SYMBOL_NONE;
	for (size_t at = hash_folded(text, len) & mask;; at = (at + 1) & mask) {
		symbol_t id = symbols->slots[at];

		if (id == SYMBOL_NONE)
			return SYMBOL_NONE;
		if (symbols->lens[id] == len && same(symbols->texts[id], text, len, folded))
			return id;
	}
}

symbol_t symbols_find(const struct symbols *symbols, const char *text, size_t len)
{
	return find(symbols, text, len, false);
}

symbol_t symbols_find_folded(const struct symbols *symbols, const char *text, size_t len)
{
	return find(symbols, text, len, true);
}

static symbol_t add(struct symbols *symbols, const char *text, bool folded)
{
	size_t len = strlen(text);
	symbol_t id = find(symbols, text, len, folded);

	if (id != SYMBOL_NONE)
		return id;
	id = (symbol_t)symbols->count++;
	symbols->texts[id] = mem_strn(text, len);
	symbols->lens[id] = (uint32_t)len;
	for (size_t i = 0; folded && i < len; i++)
		symbols->texts[id][i] = (char)fold(text[i]);
	if (symbols->count * 2 > symbols->slot_count)
		grow_slots(symbols);
	else
		put(symbols, id);
	return id;
}

symbol_t symbols_add(struct symbols *symbols, const char *text)
{
	return add(symbols, text, false);
}

symbol_t symbols_add_folded(struct symbols *symbols, const char *text)
{
	return add(symbols, text, true);
}

const char *symbols_text(const struct symbols *symbols, symbol_t id)
{
	return id < symbols->count ? symbols->texts[id] : NULL;
}
