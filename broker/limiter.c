/*
 * One counter for each limit and whoever it counts by, found by its text in a hash table. A counter
 * of a rate keeps the starts of its last calls in a ring no longer than the limit; one of running
 * calls keeps a number. Idle counters are dropped when room is needed. Fails only by refusing.
 */
#include "broker/limiter.h"

#include <string.h>

#include "base/mem.h"

#define BUCKETS 4096u

struct counter {
	struct counter *next;
	char *key; /* owned */
	uint32_t hash;
	int64_t running;
	int64_t per_ms;	 /* of the last take */
	int64_t *starts; /* owned ring, oldest at first; NULL for running calls */
	size_t first, len, cap;
};

struct limiter {
	struct counter *buckets[BUCKETS];
	size_t count;
};

struct limiter_hold {
	struct counter *counters[POLICY_RATES_MAX]; /* not dropped while they count one */
	size_t count;
};

struct limiter *limiter_new(void)
{
	return mem_alloc(sizeof(struct limiter));
}

static void counter_free(struct counter *counter)
{
	mem_free(counter->key);
	mem_free(counter->starts);
	mem_free(counter);
}

void limiter_free(struct limiter *limiter)
{
	if (limiter == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (limiter->buckets[i] != NULL) {
			struct counter *counter = limiter->buckets[i];

			limiter->buckets[i] = counter->next;
			counter_free(counter);
		}
	mem_free(limiter);
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* No name holds a line's end, so keys of different parts differ. */
static char *key_of(const struct rule_limit *limit, const struct limiter_who *who)
{
	return mem_format("%s\n%zu\n%s\n%s\n%s", limit->rule, limit->index,
			  limit->each & RATE_EACH_AGENT ? who->agent : "",
			  limit->each & RATE_EACH_USER ? who->user : "",
			  limit->each & RATE_EACH_TOOL ? who->tool : "");
}

static void forget_old(struct counter *counter, int64_t now_ms)
{
	while (counter->len > 0 && counter->starts[counter->first] <= now_ms - counter->per_ms) {
		counter->first = (counter->first + 1) % counter->cap;
		counter->len--;
	}
}

static void drop_idle(struct limiter *limiter, int64_t now_ms)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct counter **link = &limiter->buckets[i]; *link != NULL;) {
			struct counter *counter = *link;

			forget_old(counter, now_ms);
			if (counter->len > 0 || counter->running > 0) {
				link = &counter->next;
				continue;
			}
			*link = counter->next;
			counter_free(counter);
			limiter->count--;
		}
}

static struct counter *find(struct limiter *limiter, const char *key, uint32_t hash)
{
	struct counter *counter = limiter->buckets[hash % BUCKETS];

	while (counter != NULL && (counter->hash != hash || strcmp(counter->key, key) != 0))
		counter = counter->next;
	return counter;
}

static struct counter *find_or_make(struct limiter *limiter, const struct rule_limit *limit,
				    const struct limiter_who *who)
{
	CLEANUP(mem_freep) char *key = key_of(limit, who);
	uint32_t hash = hash_of(key);
	struct counter *counter = find(limiter, key, hash);

	if (counter == NULL) {
		counter = mem_alloc(sizeof(*counter));
		counter->key = TAKE(key);
		counter->hash = hash;
		counter->next = limiter->buckets[hash % BUCKETS];
		limiter->buckets[hash % BUCKETS] = counter;
		limiter->count++;
	}
	counter->per_ms = limit->per_ms;
	return counter;
}

/* Room for one more start; the ring grows as it is used, up to what the limit counts. */
static void ring_grow(struct counter *counter)
{
	size_t cap = counter->cap > 0 ? counter->cap * 2 : 8;
	int64_t *starts;

	if (counter->len < counter->cap)
		return;
	starts = mem_array(cap, sizeof(*starts));
	for (size_t i = 0; i < counter->len; i++)
		starts[i] = counter->starts[(counter->first + i) % counter->cap];
	mem_free(counter->starts);
	counter->starts = starts;
	counter->first = 0;
	counter->cap = cap;
}

static enum limiter_answer check(struct counter *counter, const struct rule_limit *limit,
				 int64_t now_ms, int64_t *ret_wait_ms)
{
	if (limit->running > 0)
		return counter->running >= limit->running ? LIMITER_RUNNING : LIMITER_FINE;
	forget_old(counter, now_ms);
	if (counter->len < (size_t)limit->calls)
		return LIMITER_FINE;
	/* The limit may have become smaller: the last so many calls count. */
	*ret_wait_ms = counter->starts[(counter->first + counter->len - (size_t)limit->calls) %
				       counter->cap] +
		       limit->per_ms - now_ms;
	return LIMITER_RATE;
}

static void count_one(struct counter *counter, const struct rule_limit *limit, int64_t now_ms,
		      struct limiter_hold *hold)
{
	if (limit->running > 0) {
		counter->running++;
		hold->counters[hold->count++] = counter;
		return;
	}
	ring_grow(counter);
	counter->starts[(counter->first + counter->len++) % counter->cap] = now_ms;
}

enum limiter_answer limiter_take(struct limiter *limiter, const struct rule_limit *const *limits,
				 size_t count, const struct limiter_who *who, int64_t now_ms,
				 struct limiter_hold **ret_hold,
				 const struct rule_limit **ret_limit, int64_t *ret_wait_ms)
{
	struct counter *counters[POLICY_RATES_MAX];
	struct limiter_hold *hold;

	*ret_hold = NULL;
	*ret_wait_ms = 0;
	if (count == 0)
		return LIMITER_FINE;
	if (limiter->count + count > LIMITER_COUNTERS_MAX)
		drop_idle(limiter, now_ms);
	if (limiter->count + count > LIMITER_COUNTERS_MAX) {
		*ret_limit = limits[0];
		return LIMITER_FULL;
	}
	for (size_t i = 0; i < count; i++)
		counters[i] = find_or_make(limiter, limits[i], who);
	for (size_t i = 0; i < count; i++) {
		enum limiter_answer answer = check(counters[i], limits[i], now_ms, ret_wait_ms);

		*ret_limit = limits[i];
		if (answer != LIMITER_FINE)
			return answer;
	}
	hold = mem_alloc(sizeof(*hold));
	for (size_t i = 0; i < count; i++)
		count_one(counters[i], limits[i], now_ms, hold);
	if (hold->count > 0)
		*ret_hold = hold;
	else
		mem_free(hold);
	return LIMITER_FINE;
}

void limiter_let_go(struct limiter_hold *hold)
{
	if (hold == NULL)
		return;
	for (size_t i = 0; i < hold->count; i++)
		hold->counters[i]->running--;
	mem_free(hold);
}

size_t limiter_counters(const struct limiter *limiter)
{
	return limiter->count;
}
