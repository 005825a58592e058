/*
 * Telling a running service that state/config/policy/active names another bundle, and waiting until
 * it obeys it or says why not.
 */
#ifndef CLI_POLICY_SWAP_H
#define CLI_POLICY_SWAP_H

#include <stdbool.h>

#include "base/err.h"

struct swap_result {
	bool running;	   /* a service was there */
	bool applied;	   /* it obeys the bundle now */
	long long took_us; /* from the word to the answer */
	char reason[256];  /* of a refusal */
};

/* digest: what it must obey afterwards. Negative when the service cannot be asked. */
MUST_CHECK int policy_swap(const char *workspace, const char *digest,
			   struct swap_result *ret_result, struct err *err);

#endif
