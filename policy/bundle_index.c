/*
 * The index of a bundle's rules by agent and tool. Built once: all pairs are listed, sorted, and
 * each run of equal keys becomes one span in a hash table. Fails only when a bundle would make more
 * pairs than BUNDLE_INDEX_MAX.
 */
#include <stdlib.h>

#include "base/give_way.h"
#include "policy/bundle_model.h"

#define INDEX_A_TURN 256

struct pair {
	uint64_t key;
	uint32_t rule;
};

struct pairs {
	struct pair *items;
	size_t count;
	size_t cap;
};

static uint64_t pair_key(symbol_t agent, symbol_t tool)
{
	return ((uint64_t)agent << 32) | tool;
}

static size_t slot_of(uint64_t key, size_t slot_count)
{
	return (size_t)((key * 0x9E3779B97F4A7C15ull) >> 20) & (slot_count - 1);
}

static void pairs_push(struct pairs *pairs, symbol_t agent, symbol_t tool, size_t rule)
{
	if (pairs->count == pairs->cap) {
		pairs->cap = pairs->cap > 0 ? pairs->cap * 2 : 64;
		pairs->items = mem_grow(pairs->items, pairs->cap * sizeof(*pairs->items));
	}
	pairs->items[pairs->count++] = (struct pair){pair_key(agent, tool), (uint32_t)rule};
}

static void list_rule(struct pairs *pairs, const struct rule *rule, size_t at)
{
	size_t agents = rule->agents_all ? 1 : rule->agents.count;
	size_t tools = rule->tools_all ? 1 : rule->tools.count;

	for (size_t a = 0; a < agents; a++)
		for (size_t t = 0; t < tools; t++)
			pairs_push(pairs, rule->agents_all ? INDEX_ANY : rule->agents.items[a],
				   rule->tools_all ? INDEX_ANY : rule->tools.items[t], at);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left;
	const struct pair *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

uint64_t who_bit(enum subject_kind kind, symbol_t name)
{
	uint64_t mixed = ((uint64_t)name * 4 + kind + 1) * 0x9E3779B97F4A7C15ull;

	return 1ull << (mixed >> 58);
}

static uint64_t bits_of(enum subject_kind kind, const struct symbol_set *names)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < names->count; i++)
		bits |= who_bit(kind, names->items[i]);
	return bits;
}

uint64_t rule_who(const struct rule *rule)
{
	/* A rule that speaks of lists or calls only is told by that first. */
	if (rule->everyone || rule->phase != RULE_ALWAYS)
		return UINT64_MAX;
	return bits_of(SUBJECT_USER, &rule->users) | bits_of(SUBJECT_GROUP, &rule->groups) |
	       bits_of(SUBJECT_TENANT, &rule->tenants);
}

static void put_span(struct rule_index *index, struct index_span span)
{
	size_t at = slot_of(span.key, index->slot_count);

	while (index->slots[at].key != 0)
		at = (at + 1) & (index->slot_count - 1);
	index->slots[at] = span;
}

static void make_spans(struct rule_index *index, const struct pairs *pairs)
{
	index->slot_count = 16;
	while (index->slot_count < pairs->count * 2)
		index->slot_count *= 2;
	index->slots = mem_array(index->slot_count, sizeof(*index->slots));
	index->rules = mem_array(pairs->count, sizeof(*index->rules));
	for (size_t start = 0, end; start < pairs->count; start = end) {
		for (end = start; end < pairs->count; end++) {
			if (pairs->items[end].key != pairs->items[start].key)
				break;
			index->rules[end] = pairs->items[end].rule;
		}
		put_span(index, (struct index_span){pairs->items[start].key, (uint32_t)start,
						    (uint32_t)(end - start)});
	}
}

int bundle_index_build(struct bundle *bundle, struct err *err)
{
	struct pairs pairs = {0};
	size_t total = 0;

	for (size_t i = 0; i < bundle->rule_count; i++) {
		const struct rule *rule = &bundle->rules[i];

		if (i % INDEX_A_TURN == 0)
			give_way();
		total += (rule->agents_all ? 1 : rule->agents.count) *
			 (rule->tools_all ? 1 : rule->tools.count);
		if (total > BUNDLE_INDEX_MAX)
			return err_set(err, ERR_LIMIT, "rules name over %u pairs of agent and tool",
				       BUNDLE_INDEX_MAX);
	}
	for (size_t i = 0; i < bundle->rule_count; i++) {
		if (i % INDEX_A_TURN == 0)
			give_way();
		list_rule(&pairs, &bundle->rules[i], i);
	}
	if (pairs.count > 0)
		qsort(pairs.items, pairs.count, sizeof(*pairs.items), compare_pairs);
	make_spans(&bundle->index, &pairs);
	bundle->index.who = mem_array(pairs.count, sizeof(*bundle->index.who));
	for (size_t i = 0; i < pairs.count; i++) {
		if (i % INDEX_A_TURN == 0)
			give_way();
		bundle->index.who[i] = rule_who(&bundle->rules[bundle->index.rules[i]]);
	}
	mem_free(pairs.items);
	return 0;
}

void bundle_index_clear(struct rule_index *index)
{
	mem_free(index->rules);
	mem_free(index->who);
	mem_free(index->slots);
}

const struct index_span *bundle_index_find(const struct rule_index *index, symbol_t agent,
					   symbol_t tool)
{
	uint64_t key = pair_key(agent, tool);

	for (size_t at = slot_of(key, index->slot_count);;
	     at = (at + 1) & (index->slot_count - 1)) {
		if (index->slots[at].key == key)
			return &index->slots[at];
		if (index->slots[at].key == 0)
			return NULL;
	}
}

static void add_span(struct candidates *candidates, const struct index_span *span)
{
	if (span != NULL)
		candidates->spans[candidates->count++] = span;
}

struct candidates bundle_candidates(const struct bundle *bundle, symbol_t agent, symbol_t tool)
{
	struct candidates found = {0};

	/* A tool that no rule names is SYMBOL_NONE: only the rules for all tools speak of it. */
	add_span(&found, bundle_index_find(&bundle->index, agent, INDEX_ANY));
	add_span(&found, bundle_index_find(&bundle->index, INDEX_ANY, INDEX_ANY));
	if (tool == SYMBOL_NONE)
		return found;
	add_span(&found, bundle_index_find(&bundle->index, agent, tool));
	add_span(&found, bundle_index_find(&bundle->index, INDEX_ANY, tool));
	return found;
}
