/*
 * A list of those who owe something: whoever has rested is forgotten at the next look, so it is as
 * long as the number of users of the last minute. Cannot fail.
 */
#include "broker/allowance.h"

#include <string.h>

#include "base/mem.h"

struct allowance {
	struct allowance *next;
	char *su; /* owned */
	struct rate rates[OPENING_COUNT];
};

static const struct rate_limit limits[OPENING_COUNT] = {
	[OPENING_TASK] = {1000000 / TASKS_PER_SECOND_MAX, TASKS_BURST_MAX},
	[OPENING_CONNECTION] = {1000000 / CONNECTIONS_PER_SECOND_MAX, CONNECTIONS_BURST_MAX},
};

static void drop(struct allowance **link)
{
	struct allowance *allowance = *link;

	*link = allowance->next;
	mem_free(allowance->su);
	mem_free(allowance);
}

void allowances_clear(struct allowances *allowances)
{
	while (allowances->first != NULL)
		drop(&allowances->first);
}

static bool rested(const struct allowance *allowance, int64_t now_us)
{
	for (size_t i = 0; i < OPENING_COUNT; i++)
		if (!rate_rested(&allowance->rates[i], now_us))
			return false;
	return true;
}

static struct allowance *find(struct allowances *allowances, const char *su, int64_t now_us)
{
	struct allowance **link = &allowances->first;
	struct allowance *found = NULL;

	while (*link != NULL) {
		if (strcmp((*link)->su, su) == 0)
			found = *link;
		else if (rested(*link, now_us)) {
			drop(link);
			continue;
		}
		link = &(*link)->next;
	}
	if (found == NULL) {
		found = mem_alloc(sizeof(*found));
		found->su = mem_str(su);
		found->next = allowances->first;
		allowances->first = found;
	}
	return found;
}

bool allowance_take(struct allowances *allowances, const char *su, enum opening opening,
		    int64_t now_us)
{
	struct allowance *allowance = find(allowances, su, now_us);

	return rate_take(&allowance->rates[opening], &limits[opening], now_us);
}

const char *allowance_user_at(const struct allowances *allowances, size_t index)
{
	const struct allowance *at = allowances->first;

	while (at != NULL && index-- > 0)
		at = at->next;
	return at == NULL ? NULL : at->su;
}

/*
 * At once, for s sessions and a agents: the broker holds s channels, while it passes them on also s
 * ends of channels and s connections, likewise 2a for agents; the orchestrator 2s + a. So 3s + 2a
 * are enough for both, with a = 4s where descriptors are few.
 */
struct capacity capacity_of(uint64_t descriptors)
{
	uint64_t left = descriptors > DESCRIPTORS_SPARE ? descriptors - DESCRIPTORS_SPARE : 0;
	uint64_t sessions = left / 11;
	struct capacity capacity;

	if (sessions > SESSIONS_MAX)
		sessions = SESSIONS_MAX;
	if (sessions == 0)
		sessions = 1;
	capacity.sessions = (size_t)sessions;
	capacity.agents = capacity.sessions * (AGENTS_MAX / SESSIONS_MAX);
	capacity.sessions_per_user = (capacity.sessions + SESSION_SHARES - 1) / SESSION_SHARES;
	return capacity;
}
