/*
 * Tokens that were verified, by the BLAKE2b-256 of their text: checking one again costs a hash and
 * a look-up. An entry counts only under the epoch it was made in and before its token's end.
 */
#ifndef BROKER_TOKEN_CACHE_H
#define BROKER_TOKEN_CACHE_H

#include <stdint.h>

#include "broker/token/token.h"

struct token_cache;

struct token_cache *token_cache_new(void);
void token_cache_free(struct token_cache *cache); /* NULL is fine */

/* Lent until the next put or free; NULL when it must be verified. */
const struct token_claims *token_cache_get(const struct token_cache *cache, const char *token,
					   size_t len, int64_t epoch, int64_t now);
/* Takes the claims; they stay lent to the caller like those of a get. */
const struct token_claims *token_cache_put(struct token_cache *cache, const char *token, size_t len,
					   int64_t epoch, struct token_claims *claims);

#endif
