/*
 * Instants that rules tell apart. Rules ask for days, days of the week and hours in the local time
 * of their zones. Between two changes (of a zone's offset, or a first or last day of a rule) local
 * times run evenly, so one week of such a stretch shows all that happens in it, and stretches with
 * the same offsets and the same days in force are alike.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/compare_parts.h"

#define DAY_S 86400LL
#define WEEK_S (7 * DAY_S)

struct rules_at { /* the rules that look at the clock */
	const struct rule **items;
	size_t count;
};

static void add_instant(struct instants *instants, int64_t instant)
{
	if (instants->count % 64 == 0)
		instants->items = mem_grow(instants->items,
					   (instants->count + 64) * sizeof(*instants->items));
	instants->items[instants->count++] = instant;
}

static int by_value(const void *left, const void *right)
{
	const int64_t *a = left;
	const int64_t *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void sort(struct instants *instants)
{
	size_t kept = 0;

	if (instants->count == 0)
		return;
	if (instants->count > 1)
		qsort(instants->items, instants->count, sizeof(*instants->items), by_value);
	for (size_t i = 0; i < instants->count; i++)
		if (kept == 0 || instants->items[i] != instants->items[kept - 1])
			instants->items[kept++] = instants->items[i];
	instants->count = kept;
}

static bool looks_at_clock(const struct rule *rule)
{
	for (size_t i = 0; i < rule->condition_count; i++)
		switch (rule->conditions[i].kind) {
		case CONDITION_FROM:
		case CONDITION_UNTIL:
		case CONDITION_DAYS:
		case CONDITION_HOURS:
			return true;
		default:
			break;
		}
	return false;
}

static void gather(const struct side *side, struct rules_at *rules)
{
	for (size_t i = 0; i < side->rules.count; i++) {
		if (!looks_at_clock(side->rules.items[i]))
			continue;
		rules->items = mem_grow(rules->items, (rules->count + 1) * sizeof(*rules->items));
		rules->items[rules->count++] = side->rules.items[i];
	}
}

static int64_t offset_at(const struct zone *zone, int64_t instant)
{
	int64_t offset = 0;

	IGNORE(!zone_offset(zone, instant, &offset), "instants lie within the years it knows");
	return offset;
}

/* A local midnight as an instant, as near as the offset at that time tells. */
static int64_t midnight(const struct zone *zone, int64_t day)
{
	int64_t guess = day * DAY_S;

	if (guess < ZONE_FROM_S || guess >= ZONE_UNTIL_S)
		return guess;
	return day * DAY_S - offset_at(zone, day * DAY_S - offset_at(zone, guess));
}

static void add_within(struct instants *instants, int64_t instant)
{
	if (instant >= ZONE_FROM_S && instant < ZONE_UNTIL_S)
		add_instant(instants, instant);
}

/* Near a change of the clock a midnight may lie some hours off, so those around it are tried too.
 * later: days to add. A day that is not set lies far outside. */
static void add_midnight(struct instants *changes, const struct zone *zone, int64_t day,
			 int64_t later)
{
	if (day < ZONE_FROM_S / DAY_S - 2 || day > ZONE_UNTIL_S / DAY_S + 2)
		return;
	for (int64_t hours = -3; hours <= 3; hours++)
		add_within(changes, midnight(zone, day + later) + hours * 3600);
}

/* Where something changes for good: offsets, first and last days. */
static struct instants changes_of(const struct rules_at *rules)
{
	struct instants changes = {0};

	add_instant(&changes, ZONE_FROM_S);
	for (size_t r = 0; r < rules->count; r++) {
		const struct rule_time *time = &rules->items[r]->time;

		for (size_t i = 0; i < time->zone->count; i++)
			add_within(&changes, time->zone->changes[i].from_s);
		add_midnight(&changes, time->zone, time->from_day, 0);
		add_midnight(&changes, time->zone, time->until_day, 1);
	}
	add_instant(&changes, ZONE_UNTIL_S);
	sort(&changes);
	return changes;
}

/* The local days and hours of one rule's zone that begin in [start, end). */
static void add_edges(const struct rule_time *time, int64_t start, int64_t end,
		      struct instants *instants)
{
	int64_t offset = offset_at(time->zone, start);
	int64_t day = (start + offset) / DAY_S * DAY_S - offset;

	for (; day < end; day += DAY_S) {
		if (day >= start)
			add_instant(instants, day);
		for (size_t i = 0; i < time->hour_count; i++) {
			int64_t from = day + time->hours[i].from * 60LL;
			int64_t until = day + time->hours[i].until * 60LL;

			if (from >= start && from < end)
				add_instant(instants, from);
			if (until >= start && until < end)
				add_instant(instants, until);
		}
	}
}

/* What tells a stretch from others: the offsets, and which first and last days are past. */
static char *stretch_key(const struct rules_at *rules, int64_t start)
{
	struct buf key = BUF_INIT;

	for (size_t r = 0; r < rules->count; r++) {
		const struct rule_time *time = &rules->items[r]->time;
		int64_t offset = offset_at(time->zone, start);
		int64_t day = (start + offset) / DAY_S;

		buf_addf(&key, "%lld%c%c ", (long long)offset, day >= time->from_day ? 'f' : '-',
			 day <= time->until_day ? 'u' : '-');
	}
	return buf_take(&key);
}

static void add_stretch(const struct rules_at *rules, int64_t start, int64_t end,
			struct instants *instants, struct json *whole)
{
	CLEANUP(mem_freep) char *key = stretch_key(rules, start);

	if (json_get(whole, key) != NULL)
		return;
	if (end - start >= WEEK_S) {
		end = start + WEEK_S;
		json_set_bool(whole, key, true);
	}
	add_instant(instants, start);
	for (size_t r = 0; r < rules->count; r++)
		add_edges(&rules->items[r]->time, start, end, instants);
}

void instants_find(const struct side *a, const struct side *b, struct instants *ret_instants)
{
	CLEANUP(json_freep) struct json *whole = json_object();
	struct instants instants = {0}, changes;
	struct rules_at rules = {0};

	add_instant(&instants, 0); /* outside of the years that zones are known for */
	gather(a, &rules);
	gather(b, &rules);
	if (rules.count > 0) {
		changes = changes_of(&rules);
		for (size_t i = 0; i + 1 < changes.count; i++)
			add_stretch(&rules, changes.items[i], changes.items[i + 1], &instants,
				    whole);
		mem_free(changes.items);
		sort(&instants);
	}
	mem_free(rules.items);
	*ret_instants = instants;
}
