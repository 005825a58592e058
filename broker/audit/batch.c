/* Formatting records into a batch. What can fail: fields that make no record. */
#include "broker/audit/batch.h"

#include <string.h>

#include "base/clock.h"
#include "broker/audit/disclosure.h"
#include "broker/audit/tree.h"

void batch_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch->opening_count; i++)
		opening_clear(&batch->openings[i]);
	batch->opening_count = 0;
	batch->leaf_count = 0;
	batch->opens = false;
	batch->lines_done = false;
	buf_reset(&batch->lines);
}

void batch_clear(struct batch *batch)
{
	batch_reset(batch);
	buf_clear(&batch->lines);
	mem_free(batch->leaves);
	mem_free(batch->openings);
	memset(batch, 0, sizeof(*batch));
}

/* Grows by doubling; size is that of one element. */
static void *with_room(void *items, size_t *room, size_t wanted, size_t size)
{
	if (wanted <= *room)
		return items;
	*room = *room == 0 ? 16 : *room * 2;
	return mem_grow(items, *room * size);
}

static void commit(struct batch *batch, uint64_t seq, const struct json *secret,
		   struct json *digests, struct json *disclosures)
{
	uint8_t salt[DISCLOSURE_SALT_LEN];
	char digest[DISCLOSURE_DIGEST_LEN + 1];
	struct buf text = BUF_INIT;

	random_bytes(salt, sizeof(salt));
	disclosure_make(json_key(secret), secret, salt, &text);
	disclosure_digest(text.bytes, text.len, digest);
	json_push_str(digests, digest);
	json_push_str(disclosures, text.bytes);
	batch->openings = with_room(batch->openings, &batch->opening_room, batch->opening_count + 1,
				    sizeof(*batch->openings));
	batch->openings[batch->opening_count++] = (struct opening){
		.seq = seq, .name = mem_str(json_key(secret)), .disclosure = buf_take(&text)};
}

static void forget_openings(struct batch *batch, size_t down_to)
{
	while (batch->opening_count > down_to)
		opening_clear(&batch->openings[--batch->opening_count]);
}

int batch_add(struct batch *batch, uint64_t seq, const uint8_t prev[SHA256_LEN], int64_t time_us,
	      const struct json *fields, const struct json *secrets, uint8_t ret_leaf[SHA256_LEN],
	      struct json **ret_disclosures, struct err *err)
{
	bool has_secrets = json_len(secrets) > 0;
	CLEANUP(json_freep) struct json *digests = has_secrets ? json_array() : NULL;
	CLEANUP(json_freep)
	struct json *disclosures = has_secrets || ret_disclosures != NULL ? json_array() : NULL;
	size_t openings_before = batch->opening_count;
	size_t before = batch->lines.len;
	char time[TIMESTAMP_LEN + 1];

	timestamp_write(time_us, time);
	json_each(secret, secrets) commit(batch, seq, secret, digests, disclosures);
	if (record_format(seq, prev, time, fields, digests, &batch->lines, err) < 0) {
		forget_openings(batch, openings_before);
		return -1;
	}
	leaf_hash(batch->lines.bytes + before, batch->lines.len - before, ret_leaf);
	buf_add_char(&batch->lines, '\n');
	batch->leaves =
		with_room(batch->leaves, &batch->leaf_room, batch->leaf_count + 1, SHA256_LEN);
	memcpy(batch->leaves[batch->leaf_count++], ret_leaf, SHA256_LEN);
	if (ret_disclosures != NULL)
		*ret_disclosures = TAKE(disclosures);
	return 0;
}
