/* What strangers send to a witness, and the policy files of auditors. */
#include <stdlib.h>
#include <string.h>

#include "broker/audit/trust_policy.h"
#include "broker/audit/witness.h"
#include "tests/fuzz/fuzz.h"

static void try_request(const char *bytes, size_t len)
{
	static const struct checkpoint latest = {.origin = "o", .size = 1};
	struct witness_request request;
	struct checkpoint checkpoint;
	char origin[NOTE_NAME_MAX + 1];
	struct vkey key;
	struct err err;

	if (witness_request_parse(bytes, len, &request, &err) < 0)
		return;
	witness_origin(&request, origin);
	memset(&key, 0, sizeof(key));
	key.type = NOTE_ED25519;
	memcpy(key.name, origin, sizeof(origin));
	/* Nobody has the key of zeros, so nothing is ever cosigned. */
	if (witness_judge(&request, &key, 1, &latest, &checkpoint, &err) == WITNESS_OK)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct trust_policy policy;

	try_request((const char *)bytes, len);
	if (trust_policy_parse((const char *)bytes, len, &policy, NULL) == 0) {
		bool cosigned[TRUST_NAMES_MAX] = {false};

		trust_policy_met(&policy, cosigned);
		trust_policy_clear(&policy);
	}
	return 0;
}
