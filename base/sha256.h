/* What crypto_init() needs of base/sha256.c; everyone else uses base/crypto.h. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdbool.h>

/* Takes the processor's instructions if they are there and right; false when SHA-256 itself gives
 * a wrong answer. Before any other thread hashes. */
bool sha256_choose(void);
bool sha256_is_fast(void);
/* The same for base/sha256_many.h, called by sha256_choose(). */
bool sha256_many_choose(void);

#endif
