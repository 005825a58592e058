/* Proofs out of node hashes: every proof of small trees, the published proof files, the sample log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/note.h"
#include "broker/audit/proof_check.h"
#include "tests/unit/vectors.h"

static struct err err;

static void check_published(const struct json *item)
{
	const char *text = json_get_str(item, "proof");
	const char *checkpoint;
	struct proof proof;
	uint64_t index;
	size_t len;
	int result = proof_read(text, strlen(text), &proof, &index, &checkpoint, &len, &err);

	if ((result == 0) != json_get_bool(item, "accept", false))
		fail_msg("%s: %s", json_get_str(item, "name"), result < 0 ? err.text : "accepted");
	if (result < 0)
		return;
	assert_int_equal(index, json_get_int(item, "index", -1));
	assert_int_equal(proof.count, json_get_int(item, "hashes", -1));
	assert_string_equal(checkpoint, strstr(text, "\n\n") + 2);
}

static void test_published_proof_files_are_judged_as_published(void **state)
{
	struct json *json = vector_json("audit/tlog-proof-cases.json");

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	assert_int_equal(json_len(json_get(json, "cases")), 10);
	json_each(item, json_get(json, "cases")) check_published(item);
	json_free(json);
}

/* The index-th line of the sample log's three files. */
static void sample_leaf(uint64_t index, uint8_t out[SHA256_LEN])
{
	struct buf bytes = BUF_INIT;
	const char *at;

	assert_true(vector_read("audit/sample-log/seg-00000000000000000000.jsonl", &bytes));
	assert_true(vector_read("audit/sample-log/seg-00000000000000000256.jsonl", &bytes));
	assert_true(vector_read("audit/sample-log/seg-00000000000000000512.jsonl", &bytes));
	at = bytes.bytes;
	for (; index > 0; index--)
		at = strchr(at, '\n') + 1;
	leaf_hash(at, strcspn(at, "\n"), out);
	buf_clear(&bytes);
}

static void test_the_sample_logs_proofs_lead_to_its_signed_head(void **state)
{
	static const unsigned int indices[] = {0, 255, 256, 299, 699};
	struct note *note = mem_alloc(sizeof(*note));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(indices); i++) {
		struct buf bytes = BUF_INIT;
		struct checkpoint checkpoint;
		struct proof proof;
		const char *head;
		uint64_t index;
		size_t len;
		uint8_t leaf[SHA256_LEN];
		char name[64];

		snprintf(name, sizeof(name), "audit/sample-log/%u.tlog-proof", indices[i]);
		if (!vector_read(name, &bytes)) {
			mem_free(note);
			skip();
			return;
		}
		assert_int_equal(
			proof_read(bytes.bytes, bytes.len, &proof, &index, &head, &len, &err), 0);
		assert_int_equal(index, indices[i]);
		assert_int_equal(note_parse(head, len, note, &err), 0);
		assert_int_equal(checkpoint_parse(note->text, note->text_len, &checkpoint, &err),
				 0);
		sample_leaf(indices[i], leaf);
		assert_int_equal(
			proof_includes(&proof, leaf, index, checkpoint.size, checkpoint.root, &err),
			0);
		proof.hashes[0][0] ^= 1;
		assert_int_equal(
			proof_includes(&proof, leaf, index, checkpoint.size, checkpoint.root, &err),
			-1);
		buf_clear(&bytes);
	}
	mem_free(note);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_proof_files_are_judged_as_published),
		cmocka_unit_test(test_the_sample_logs_proofs_lead_to_its_signed_head),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
