/* A fixed table, one place per hash: a newer token in the same place takes it over. */
#include "broker/token_cache.h"

#include <string.h>

#define CACHE_PLACES 1024u /* far more live tokens than agents that run at once */

struct place {
	uint8_t hash[32];
	int64_t epoch; /* 0: free */
	struct token_claims claims;
};

struct token_cache {
	uint64_t used[CACHE_PLACES / 64]; /* so that places never used are never looked at */
	struct place places[CACHE_PLACES];
};

struct token_cache *token_cache_new(void)
{
	return mem_alloc(sizeof(struct token_cache));
}

void token_cache_free(struct token_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < CACHE_PLACES; i++)
		if ((cache->used[i / 64] >> (i % 64) & 1) != 0)
			token_claims_clear(&cache->places[i].claims);
	mem_free(cache);
}

static size_t place_of(const uint8_t hash[32])
{
	return ((size_t)hash[0] | (size_t)hash[1] << 8) % CACHE_PLACES;
}

const struct token_claims *token_cache_get(const struct token_cache *cache, const char *token,
					   size_t len, int64_t epoch, int64_t now)
{
	uint8_t hash[32];
	const struct place *place;

	blake2b_256(token, len, NULL, 0, hash);
	place = &cache->places[place_of(hash)];
	if (place->epoch == 0 || place->epoch != epoch || now >= place->claims.exp ||
	    memcmp(place->hash, hash, sizeof(hash)) != 0)
		return NULL;
	return &place->claims;
}

const struct token_claims *token_cache_put(struct token_cache *cache, const char *token, size_t len,
					   int64_t epoch, struct token_claims *claims)
{
	uint8_t hash[32];
	struct place *place;

	blake2b_256(token, len, NULL, 0, hash);
	place = &cache->places[place_of(hash)];
	cache->used[place_of(hash) / 64] |= UINT64_C(1) << (place_of(hash) % 64);
	token_claims_clear(&place->claims);
	memcpy(place->hash, hash, sizeof(hash));
	place->epoch = epoch;
	place->claims = *claims;
	memset(claims, 0, sizeof(*claims));
	return &place->claims;
}
