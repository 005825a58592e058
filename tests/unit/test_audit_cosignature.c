/* Cosignatures: our own, and the published ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/sign.h"
#include "broker/audit/cosignature.h"
#include "tests/unit/vectors.h"

#define TEXT "log.example\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"

static struct err err;
static struct sign_key *key;
static struct vkey witness;
static struct note note;

static int setup(void **state)
{
	static const uint8_t seed[ED25519_SEED_LEN] = {3};
	uint8_t public_key[ED25519_PUBLIC_LEN];

	(void)state;
	key = sign_key_from_seed(seed);
	sign_key_public(key, public_key);
	return vkey_init_cosigner(&witness, "witness.example/w1", public_key, &err);
}

static int teardown(void **state)
{
	(void)state;
	sign_key_free(key);
	return 0;
}

static void add_line(struct buf *out, uint64_t time)
{
	struct buf message = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];

	cosignature_message(time, TEXT, strlen(TEXT), &message);
	sign_bytes(key, message.bytes, message.len, signature);
	cosignature_line_write(&witness, time, signature, out);
	buf_clear(&message);
}

static void test_a_cosignature_verifies_and_carries_the_latest_time(void **state)
{
	struct buf text = BUF_INIT;
	uint64_t time = 0;

	(void)state;
	buf_add_str(&text, TEXT "\n");
	add_line(&text, 1787392800);
	add_line(&text, 5);
	assert_int_equal(note_parse(text.bytes, text.len, &note, &err), 0);
	assert_true(note.lines[0].is_cosignature);
	assert_false(note.lines[0].is_ed25519);
	assert_int_equal(cosignature_verify(&note, &witness, &time, &err), 1);
	assert_int_equal(time, 1787392800);
	buf_clear(&text);
}

static void test_every_flipped_bit_of_a_cosigned_note_is_noticed(void **state)
{
	struct buf text = BUF_INIT;
	size_t unknown = 0;

	(void)state;
	buf_add_str(&text, TEXT "\n");
	add_line(&text, 77);
	for (size_t i = 0; i < text.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			uint64_t time;
			int result = 0;

			text.bytes[i] = (char)(text.bytes[i] ^ (1 << bit));
			if (note_parse(text.bytes, text.len, &note, &err) == 0)
				result = cosignature_verify(&note, &witness, &time, &err);
			assert_int_not_equal(result, 1);
			unknown += result == 0;
			text.bytes[i] = (char)(text.bytes[i] ^ (1 << bit));
		}
	assert_true(unknown > 0);
	buf_clear(&text);
}

static void test_a_note_without_the_witnesss_line_is_not_cosigned(void **state)
{
	struct buf text = BUF_INIT;
	struct vkey other = witness;
	uint64_t time = 9;

	(void)state;
	buf_add_str(&text, TEXT "\n");
	add_line(&text, 77);
	other.keyid[0] ^= 1;
	assert_int_equal(note_parse(text.bytes, text.len, &note, &err), 0);
	assert_int_equal(cosignature_verify(&note, &other, &time, &err), 0);
	assert_int_equal(time, 9);
	buf_clear(&text);
}

/* A plain signature under a witness's name and key id is none of its. */
static void test_a_plain_signature_is_no_cosignature(void **state)
{
	struct buf text = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];
	uint64_t time;

	(void)state;
	buf_add_str(&text, TEXT "\n");
	sign_bytes(key, TEXT, strlen(TEXT), signature);
	note_line_write(&witness, signature, &text);
	assert_int_equal(note_parse(text.bytes, text.len, &note, &err), 0);
	assert_int_equal(cosignature_verify(&note, &witness, &time, &err), -1);
	assert_string_equal(err.text, "the cosignature of witness.example/w1 does not fit");
	buf_clear(&text);
}

static void check_parse(const struct json *item)
{
	struct buf bytes = BUF_INIT;
	struct buf text = BUF_INIT;
	const char *whole = json_get_str(item, "note");
	bool reject = json_get_bool(item, "reject", false);
	const struct note_line *line;

	if (whole != NULL)
		buf_add_str(&text, whole);
	else
		buf_addf(&text, TEXT "\n\xE2\x80\x94 w %s\n", json_get_str(item, "signature_b64"));
	if (note_parse(text.bytes, text.len, &note, &err) < 0) {
		assert_true(reject);
		buf_clear(&text);
		return;
	}
	line = &note.lines[note.line_count - 1];
	assert_int_equal(line->is_cosignature, !reject);
	if (!reject)
		assert_int_equal(line->time, json_get_int(item, "time", 0));
	if (whole != NULL) {
		cosignature_message(line->time, note.text, note.text_len, &bytes);
		assert_string_equal(buf_str(&bytes), json_get_str(item, "signed_message"));
		assert_int_equal(line->name_len, strlen(json_get_str(item, "line_name")));
	}
	buf_clear(&bytes);
	buf_clear(&text);
}

static void check_full(const struct json *full)
{
	const char *vkey = json_get_str(full, "vkey");
	struct buf text = BUF_INIT;
	struct vkey known;
	uint64_t time = 0;

	assert_int_equal(vkey_parse_cosigner(vkey, strlen(vkey), &known, &err), 0);
	assert_true(vector_read("audit/sample-log/checkpoint", &text));
	assert_int_equal(note_parse(text.bytes, text.len, &note, &err), 0);
	assert_int_equal(cosignature_verify(&note, &known, &time, &err), 1);
	assert_int_equal(time, json_get_int(full, "time", 0));
	buf_clear(&text);
}

static void test_published_cosignatures_and_keys_are_judged_as_published(void **state)
{
	struct json *json = vector_json("audit/cosignature.json");
	struct vkey parsed;

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	json_each(item, json_get(json, "parse_only")) check_parse(item);
	json_each(item, json_get(json, "vkeys_type_04"))
	{
		struct buf text = BUF_INIT;

		assert_int_equal(
			vkey_parse_cosigner(json_str(item), strlen(json_str(item)), &parsed, &err),
			0);
		vkey_write(&parsed, &text);
		assert_string_equal(buf_str(&text), json_str(item));
		assert_int_equal(vkey_parse(json_str(item), strlen(json_str(item)), &parsed, &err),
				 -1);
		buf_clear(&text);
	}
	json_each(item, json_get(json, "reject_vkeys"))
	{
		assert_int_equal(
			vkey_parse_cosigner(json_str(item), strlen(json_str(item)), &parsed, &err),
			-1);
	}
	check_full(json_get(json, "full_check"));
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cosignature_verifies_and_carries_the_latest_time),
		cmocka_unit_test(test_every_flipped_bit_of_a_cosigned_note_is_noticed),
		cmocka_unit_test(test_a_note_without_the_witnesss_line_is_not_cosigned),
		cmocka_unit_test(test_a_plain_signature_is_no_cosignature),
		cmocka_unit_test(test_published_cosignatures_and_keys_are_judged_as_published),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, setup, teardown);
}
