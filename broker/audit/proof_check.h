/* Checking whole proofs: tree.h's checks for struct proof. Pure. */
#ifndef BROKER_AUDIT_PROOF_CHECK_H
#define BROKER_AUDIT_PROOF_CHECK_H

#include "broker/audit/proof.h"

MUST_CHECK int proof_includes(const struct proof *proof, const uint8_t leaf[SHA256_LEN],
			      uint64_t index, uint64_t size, const uint8_t root[SHA256_LEN],
			      struct err *err);
MUST_CHECK int proof_joins(const struct proof *proof, uint64_t size1,
			   const uint8_t root1[SHA256_LEN], uint64_t size2,
			   const uint8_t root2[SHA256_LEN], struct err *err);

#endif
