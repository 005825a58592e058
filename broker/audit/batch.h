/* Records on their way to the disk together: their lines, leaf hashes and disclosures. */
#ifndef BROKER_AUDIT_BATCH_H
#define BROKER_AUDIT_BATCH_H

#include <stdbool.h>

#include "broker/audit/openings.h"
#include "broker/audit/record.h"

struct batch {
	struct buf lines;
	uint8_t (*leaves)[SHA256_LEN];
	size_t leaf_count;
	size_t leaf_room;
	struct opening *openings;
	size_t opening_count;
	size_t opening_room;
	bool opens;	  /* its first record is the first of a segment: */
	uint64_t segment; /* of this one */
	bool lines_done;  /* its lines are durable; a full disk kept back the rest */
};

void batch_reset(struct batch *batch); /* empties, keeps the memory */
void batch_clear(struct batch *batch); /* frees */

/*
 * Formats one record behind the others. secrets: NULL or an object name -> value, committed with
 * fresh salts. On success ret_leaf is its leaf hash and ret_disclosures (may be NULL) an array the
 * caller frees; on failure the batch is as before.
 */
MUST_CHECK int batch_add(struct batch *batch, uint64_t seq, const uint8_t prev[SHA256_LEN],
			 int64_t time_us, const struct json *fields, const struct json *secrets,
			 uint8_t ret_leaf[SHA256_LEN], struct json **ret_disclosures,
			 struct err *err);

#endif
