/* The judgement of a witness: the published sequence, the sample log's request, forks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/sign.h"
#include "broker/audit/witness.h"
#include "tests/unit/vectors.h"

static struct err err;

struct memory { /* of a witness for one log */
	bool has;
	struct checkpoint latest;
};

static enum witness_status submit(struct memory *memory, const struct vkey *key, const char *body)
{
	struct witness_request request;
	struct checkpoint checkpoint;
	enum witness_status status;

	if (witness_request_parse(body, strlen(body), &request, &err) < 0)
		return WITNESS_BAD_REQUEST;
	status = witness_judge(&request, key, 1, memory->has ? &memory->latest : NULL, &checkpoint,
			       &err);
	if (status == WITNESS_OK) {
		memory->has = true;
		memory->latest = checkpoint;
	}
	return status;
}

static void test_the_published_sequence_gets_the_published_answers(void **state)
{
	struct json *json = vector_json("audit/witness-sequence.json");
	const char *vkey = json_get_str(json, "log_vkey");
	struct memory memory = {.has = false};
	struct vkey key;
	size_t number = 0;

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	assert_int_equal(vkey_parse(vkey, strlen(vkey), &key, &err), 0);
	json_each(item, json_get(json, "requests"))
	{
		int status = (int)submit(&memory, &key, json_get_str(item, "body"));
		const char *reply = json_get_str(item, "reply_body");

		if (status != json_get_int(item, "status", 0))
			fail_msg("request %zu: %d, not %d: %s", number, status,
				 (int)json_get_int(item, "status", 0), err.text);
		if (reply != NULL)
			assert_int_equal(memory.latest.size, strtoull(reply, NULL, 10));
		number++;
	}
	assert_int_equal(number, 9);
	json_free(json);
}

static void test_the_sample_logs_request_is_accepted_and_its_altered_bytes_are_not(void **state)
{
	struct buf body = BUF_INIT, old = BUF_INIT, vkeys = BUF_INIT;
	struct note *note = mem_alloc(sizeof(*note));
	struct memory memory = {.has = true};
	struct vkey key;

	(void)state;
	if (!vector_read("audit/sample-log/add-checkpoint.300-700.txt", &body)) {
		mem_free(note);
		skip();
		return;
	}
	assert_true(vector_read("audit/sample-log/checkpoint.300", &old));
	assert_true(vector_read("audit/sample-log/vkeys.txt", &vkeys));
	vkeys.bytes[strcspn(vkeys.bytes, "\n")] = '\0';
	assert_int_equal(vkey_parse(vkeys.bytes + 4, strlen(vkeys.bytes) - 4, &key, &err), 0);
	assert_int_equal(note_parse(old.bytes, old.len, note, &err), 0);
	assert_int_equal(checkpoint_parse(note->text, note->text_len, &memory.latest, &err), 0);
	for (size_t i = 0; i < body.len; i++) {
		struct memory copy = memory;
		char *end = strstr(body.bytes, "\n\xE2\x80\x94 broker.example/audit/2026 ");
		char *last = strchr(end + 1, '\n');

		/* Behind the log's own line there is only the cosignature, which no witness reads.
		 */
		if (body.bytes + i > last)
			break;
		body.bytes[i] ^= 1;
		if (submit(&copy, &key, body.bytes) == WITNESS_OK)
			fail_msg("byte %zu changed and accepted", i);
		body.bytes[i] ^= 1;
	}
	assert_int_equal(submit(&memory, &key, body.bytes), WITNESS_OK);
	assert_int_equal(memory.latest.size, 700);
	buf_clear(&body);
	buf_clear(&old);
	buf_clear(&vkeys);
	mem_free(note);
}

struct log {
	struct sign_key *key;
	struct vkey vkey;
};

static void write_head(const struct log *log, uint64_t size, uint8_t root_byte, struct buf *out)
{
	struct checkpoint checkpoint = {.size = size, .root = {root_byte}};
	uint8_t signature[ED25519_SIGNATURE_LEN];
	size_t from = out->len;

	snprintf(checkpoint.origin, sizeof(checkpoint.origin), "%s", log->vkey.name);
	checkpoint_write(&checkpoint, out);
	sign_bytes(log->key, out->bytes + from, out->len - from, signature);
	buf_add_char(out, '\n');
	note_line_write(&log->vkey, signature, out);
}

static enum witness_status send(struct memory *memory, const struct log *log, uint64_t old,
				uint64_t size, uint8_t root_byte)
{
	struct buf note = BUF_INIT, body = BUF_INIT;
	const struct proof none = {.count = 0};
	enum witness_status status;

	write_head(log, size, root_byte, &note);
	witness_request_write(old, &none, note.bytes, note.len, &body);
	status = submit(memory, &log->vkey, buf_str(&body));
	buf_clear(&note);
	buf_clear(&body);
	return status;
}

static void test_a_fork_is_refused_and_the_first_history_stays(void **state)
{
	static const uint8_t seed[ED25519_SEED_LEN] = {4};
	struct log log = {.key = sign_key_from_seed(seed)};
	struct memory memory = {.has = false};
	uint8_t public_key[ED25519_PUBLIC_LEN];

	(void)state;
	sign_key_public(log.key, public_key);
	assert_int_equal(vkey_init(&log.vkey, "log.example", public_key, &err), 0);
	assert_int_equal(send(&memory, &log, 0, 7, 1), WITNESS_OK);
	assert_int_equal(send(&memory, &log, 7, 7, 1), WITNESS_OK);
	assert_int_equal(send(&memory, &log, 7, 7, 2), WITNESS_UNPROVEN);
	assert_string_equal(err.text, "two roots for trees of one size");
	assert_int_equal(send(&memory, &log, 0, 9, 3), WITNESS_CONFLICT);
	assert_int_equal(send(&memory, &log, 7, 9, 3), WITNESS_UNPROVEN);
	assert_int_equal(send(&memory, &log, 10, 9, 3), WITNESS_BAD_REQUEST);
	assert_int_equal(send(&memory, &log, 3, 3, 1), WITNESS_CONFLICT);
	assert_int_equal(memory.latest.size, 7);
	assert_int_equal(memory.latest.root[0], 1);
	sign_key_free(log.key);
}

static void test_bodies_of_another_form_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  "old",
					  "old x\n\nn",
					  "old 01\n\nn",
					  "new 1\n\nn",
					  "old 1\n",
					  "old 1\n\n",
					  "old 1\nAAAA\n\nn",
					  "old 1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"};
	struct witness_request request;
	struct buf body = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (witness_request_parse(bad[i], strlen(bad[i]), &request, &err) == 0)
			fail_msg("accepted: %s", bad[i]);
	for (int hashes = WITNESS_PROOF_MAX; hashes <= WITNESS_PROOF_MAX + 1; hashes++) {
		buf_reset(&body);
		buf_add_str(&body, "old 1\n");
		for (int i = 0; i < hashes; i++)
			buf_add_str(&body, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
		buf_add_str(&body, "\nnote");
		assert_int_equal(witness_request_parse(body.bytes, body.len, &request, &err),
				 hashes == WITNESS_PROOF_MAX ? 0 : -1);
	}
	buf_clear(&body);
}

static void test_the_origin_is_the_first_line_of_the_checkpoint(void **state)
{
	struct witness_request request;
	char origin[NOTE_NAME_MAX + 1];

	(void)state;
	assert_int_equal(witness_request_parse("old 0\n\na.b/c\n1\n", 15, &request, &err), 0);
	witness_origin(&request, origin);
	assert_string_equal(origin, "a.b/c");
	assert_int_equal(witness_request_parse("old 0\n\na.b/c", 12, &request, &err), 0);
	witness_origin(&request, origin);
	assert_string_equal(origin, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_published_sequence_gets_the_published_answers),
		cmocka_unit_test(
			test_the_sample_logs_request_is_accepted_and_its_altered_bytes_are_not),
		cmocka_unit_test(test_a_fork_is_refused_and_the_first_history_stays),
		cmocka_unit_test(test_bodies_of_another_form_are_refused),
		cmocka_unit_test(test_the_origin_is_the_first_line_of_the_checkpoint),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
