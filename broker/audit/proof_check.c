/* Whole proofs checked; what can fail is the proof. */
#include "broker/audit/proof_check.h"

static void to_items(const struct proof *proof, struct proof_hash items[PROOF_HASHES_MAX])
{
	for (size_t i = 0; i < proof->count; i++)
		items[i] = (struct proof_hash){proof->hashes[i], SHA256_LEN};
}

int proof_includes(const struct proof *proof, const uint8_t leaf[SHA256_LEN], uint64_t index,
		   uint64_t size, const uint8_t root[SHA256_LEN], struct err *err)
{
	struct proof_hash items[PROOF_HASHES_MAX];

	to_items(proof, items);
	return inclusion_verify((struct proof_hash){leaf, SHA256_LEN}, index, size, items,
				proof->count, (struct proof_hash){root, SHA256_LEN}, err);
}

int proof_joins(const struct proof *proof, uint64_t size1, const uint8_t root1[SHA256_LEN],
		uint64_t size2, const uint8_t root2[SHA256_LEN], struct err *err)
{
	struct proof_hash items[PROOF_HASHES_MAX];

	to_items(proof, items);
	return consistency_verify(size1, (struct proof_hash){root1, SHA256_LEN}, size2,
				  (struct proof_hash){root2, SHA256_LEN}, items, proof->count, err);
}
