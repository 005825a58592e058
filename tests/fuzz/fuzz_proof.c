/* Proof files: what is read is written the same way, but for an extra line, and reads back. */
#include <stdlib.h>
#include <string.h>

#include "broker/audit/proof.h"
#include "tests/fuzz/fuzz.h"

static void check_back(const struct proof *proof, uint64_t index, const char *checkpoint)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct proof again;
	uint64_t index_again = 0;
	const char *head = NULL;
	size_t len = 0;

	proof_write(proof, index, checkpoint, &text);
	if (proof_read(text.bytes, text.len, &again, &index_again, &head, &len, NULL) < 0 ||
	    index_again != index || again.count != proof->count ||
	    memcmp(again.hashes, proof->hashes, proof->count * SHA256_LEN) != 0 ||
	    len != strlen(checkpoint))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct proof proof;
	const char *checkpoint = NULL;
	size_t checkpoint_len = 0;
	uint64_t index = 0;
	struct err err;

	if (proof_read((const char *)bytes, len, &proof, &index, &checkpoint, &checkpoint_len,
		       &err) < 0)
		return 0;
	{
		CLEANUP(mem_freep) char *text = mem_strn(checkpoint, checkpoint_len);

		check_back(&proof, index, text);
	}
	return 0;
}
