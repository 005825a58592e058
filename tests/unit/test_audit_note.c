/* Signed notes, verifier keys, checkpoints and tail states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/sign.h"
#include "broker/audit/note.h"
#include "broker/audit/tail.h"
#include "tests/unit/vectors.h"

#define ORIGIN "writ.local/sales/0011223344556677"

static struct err err;
static struct note note;

static struct sign_key *secret(uint8_t seed_byte)
{
	uint8_t seed[ED25519_SEED_LEN];

	memset(seed, seed_byte, sizeof(seed));
	return sign_key_from_seed(seed);
}

static struct vkey vkey_of(const struct sign_key *key, const char *name)
{
	uint8_t public_key[ED25519_PUBLIC_LEN];
	struct vkey vkey;

	sign_key_public(key, public_key);
	assert_int_equal(vkey_init(&vkey, name, public_key, &err), 0);
	return vkey;
}

/* text, an empty line and one signature line. The caller frees. */
static char *signed_note(const char *text, const struct sign_key *key, const struct vkey *vkey)
{
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct buf out = BUF_INIT;

	sign_bytes(key, text, strlen(text), signature);
	buf_add_str(&out, text);
	buf_add_char(&out, '\n');
	note_line_write(vkey, signature, &out);
	return buf_take(&out);
}

static int open_note(const char *bytes, const struct vkey *keys, size_t count)
{
	if (note_parse(bytes, strlen(bytes), &note, &err) < 0)
		return -1;
	return note_verify(&note, keys, count, &err);
}

static void test_a_key_written_reads_back_and_its_id_is_checked(void **state)
{
	struct sign_key *key = secret(1);
	struct vkey vkey = vkey_of(key, ORIGIN);
	struct buf text = BUF_INIT;
	struct vkey back;
	char fingerprint[SHA256_HEX_LEN + 1];
	char want[SHA256_HEX_LEN + 1];

	(void)state;
	vkey_write(&vkey, &text);
	assert_int_equal(vkey_parse(text.bytes, text.len, &back, &err), 0);
	assert_string_equal(back.name, ORIGIN);
	assert_memory_equal(back.public_key, vkey.public_key, ED25519_PUBLIC_LEN);
	vkey_fingerprint(&back, fingerprint);
	sha256_hex(vkey.public_key, ED25519_PUBLIC_LEN, want);
	assert_string_equal(fingerprint, want);
	text.bytes[0] = 'x';
	assert_int_equal(vkey_parse(text.bytes, text.len, &back, &err), -1);
	assert_string_equal(err.text, "verifier key: its id does not fit its name and key");
	buf_clear(&text);
	sign_key_free(key);
}

static void test_a_key_name_has_no_white_space_and_no_plus(void **state)
{
	static const char *const bad[] = {"",
					  "a b",
					  "a+b",
					  "a\tb",
					  "a\xC2\xA0"
					  "b",
					  "a\xE2\x80\xA8"
					  "b",
					  "a\xFF"};
	uint8_t public_key[ED25519_PUBLIC_LEN] = {1};
	char long_name[NOTE_NAME_MAX + 2];
	struct vkey vkey;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(vkey_init(&vkey, bad[i], public_key, &err), -1);
	memset(long_name, 'n', sizeof(long_name));
	long_name[NOTE_NAME_MAX] = '\0';
	assert_int_equal(vkey_init(&vkey, long_name, public_key, &err), 0);
	long_name[NOTE_NAME_MAX] = 'n';
	long_name[NOTE_NAME_MAX + 1] = '\0';
	assert_int_equal(vkey_init(&vkey, long_name, public_key, &err), -1);
}

static void test_a_signed_note_opens_with_its_key_only(void **state)
{
	struct sign_key *key = secret(1);
	struct sign_key *other = secret(2);
	struct vkey keys[2] = {vkey_of(key, ORIGIN), vkey_of(other, ORIGIN)};
	char *bytes = signed_note("one\n\ntwo\n", key, &keys[0]);

	(void)state;
	assert_int_equal(open_note(bytes, keys, 2), 0);
	assert_int_equal(note.text_len, 9);
	assert_int_equal(note.line_count, 1);
	assert_true(note.lines[0].verified);
	assert_int_equal(open_note(bytes, &keys[1], 1), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_string_equal(err.text, "signed note: no signature by a known key");
	bytes[0] = 'O';
	assert_int_equal(open_note(bytes, keys, 2), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, "signed note: the signature of " ORIGIN " does not fit");
	mem_free(bytes);
	sign_key_free(key);
	sign_key_free(other);
}

static void test_every_changed_byte_of_a_note_is_noticed(void **state)
{
	struct sign_key *key = secret(1);
	struct vkey vkey = vkey_of(key, ORIGIN);
	char *bytes = signed_note("text\n", key, &vkey);

	(void)state;
	for (size_t i = 0; bytes[i] != '\0'; i++)
		for (int bit = 0; bit < 8; bit++) {
			bytes[i] = (char)(bytes[i] ^ (1 << bit));
			if (bytes[i] != '\0' && open_note(bytes, &vkey, 1) == 0)
				fail_msg("byte %zu, bit %d", i, bit);
			bytes[i] = (char)(bytes[i] ^ (1 << bit));
		}
	mem_free(bytes);
	sign_key_free(key);
}

static void assert_no_note(const char *bytes, const char *text)
{
	assert_int_equal(note_parse(bytes, strlen(bytes), &note, &err), -1);
	assert_string_equal(err.text, text);
}

static void test_notes_out_of_form_are_refused_with_their_fault(void **state)
{
	(void)state;
	assert_no_note("", "signed note: it does not end in a line feed");
	assert_no_note("text\n", "signed note: no signature lines");
	assert_no_note("text\n\n", "signed note: no signature lines");
	assert_no_note("text\r\n\nx\n", "signed note: byte 5 is a control character");
	assert_no_note("text\xFF\n\nx\n", "signed note: not UTF-8");
	assert_no_note("text\n\nx\n",
		       "signed note: signature line 1: it does not begin with a dash "
		       "and a blank");
	assert_no_note("text\n\n\xE2\x80\x94 name\n",
		       "signed note: signature line 1: it has no good name");
	assert_no_note("text\n\n\xE2\x80\x94 a+b AAAA\n",
		       "signed note: signature line 1: it has no good name");
	assert_no_note("text\n\n\xE2\x80\x94 ab AAAA\n",
		       "signed note: signature line 1: it holds no signature");
}

static void test_a_note_has_a_bounded_number_of_lines(void **state)
{
	struct sign_key *key = secret(1);
	struct vkey vkey = vkey_of(key, ORIGIN);
	char *bytes = signed_note("text\n", key, &vkey);
	struct buf more = BUF_INIT;

	(void)state;
	buf_add_str(&more, bytes);
	for (size_t i = 1; i < NOTE_LINES_MAX; i++)
		buf_add_str(&more, bytes + 6);
	assert_int_equal(open_note(buf_str(&more), &vkey, 1), 0);
	assert_int_equal(note.line_count, NOTE_LINES_MAX);
	buf_add_str(&more, bytes + 6);
	assert_int_equal(open_note(buf_str(&more), &vkey, 1), -1);
	assert_string_equal(err.text, "signed note: over 100 signature lines");
	buf_clear(&more);
	mem_free(bytes);
	sign_key_free(key);
}

static void test_checkpoints_read_back_and_other_forms_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"a\n",
		"a\n1\n",
		"\n1\nAAAA\n",
		"a\n01\n",
		"a\n-1\n",
		"a\n1 \n",
		"a\n\n",
		"a\n10000000000000000000\n",
		"a\n1\nAAAA\n",
		"a\n1\nb2MzOLEDxAv23aBCayjsOfIu2dO44RaT486F0hSBeKs=",
		"a\n1\nb2MzOLEDxAv23aBCayjsOfIu2dO44RaT486F0hSBeKs\n",
		"a\n1\nb2MzOLEDxAv23aBCayjsOfIu2dO44RaT486F0hSBeKs=\next\n"};
	struct checkpoint checkpoint = {.origin = ORIGIN, .size = 0};
	struct checkpoint back;
	struct buf text = BUF_INIT;

	(void)state;
	sha256_once("", 0, checkpoint.root);
	checkpoint_write(&checkpoint, &text);
	assert_string_equal(buf_str(&text),
			    ORIGIN "\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n");
	assert_int_equal(checkpoint_parse(text.bytes, text.len, &back, &err), 0);
	assert_string_equal(back.origin, ORIGIN);
	assert_memory_equal(back.root, checkpoint.root, SHA256_LEN);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(checkpoint_parse(bad[i], strlen(bad[i]), &back, &err), -1);
	assert_string_equal(err.text, "checkpoint: more than three lines");
	buf_clear(&text);
}

static void test_tails_read_back_and_are_no_checkpoints(void **state)
{
	struct tail tail = {.origin = ORIGIN, .segment = 3, .bytes = 12345, .state = {1, 2, 3}};
	struct tail back;
	struct checkpoint checkpoint;
	struct buf text = BUF_INIT;
	char *at;

	(void)state;
	tree_init(&tail.tree);
	for (int i = 0; i < 11; i++) {
		leaf_hash(&i, sizeof(i), tail.last);
		tree_add(&tail.tree, tail.last);
	}
	tail_write(&tail, &text);
	assert_int_equal(tail_parse(text.bytes, text.len, &back, &err), 0);
	assert_string_equal(back.origin, ORIGIN);
	assert_int_equal(back.segment, 3);
	assert_int_equal(back.bytes, 12345);
	assert_memory_equal(back.state, tail.state, SHA256_LEN);
	assert_int_equal(back.tree.size, 11);
	assert_int_equal(back.tree.count, 3);
	assert_memory_equal(back.tree.peaks, tail.tree.peaks, 3 * SHA256_LEN);
	assert_memory_equal(back.last, tail.last, SHA256_LEN);
	assert_int_equal(checkpoint_parse(text.bytes, text.len, &checkpoint, &err), -1);
	assert_int_equal(tail_parse(text.bytes, text.len - 45, &back, &err), -1);
	assert_string_equal(err.text, "tail: a tree of 11 has 3 peaks, not 2");
	at = strstr(text.bytes, "\n11\n");
	at[1] = '0';
	assert_int_equal(tail_parse(text.bytes, text.len, &back, &err), -1);
	assert_string_equal(err.text, "tail: lines 3 to 5 are not three numbers");
	assert_int_equal(tail_parse(ORIGIN "\n", sizeof(ORIGIN), &back, &err), -1);
	assert_string_equal(err.text, "tail: line 1 is not writ.tail/v2");
	buf_clear(&text);
}

/* Published notes. */
static size_t keys_of(const struct json *list, struct vkey *keys)
{
	size_t count = 0;

	json_each(item, list) assert_int_equal(
		vkey_parse(json_str(item), strlen(json_str(item)), &keys[count++], &err), 0);
	return count;
}

static bool is_first_of_its_line(size_t index)
{
	const struct note_line *line = &note.lines[index];

	for (size_t i = 0; i < index; i++)
		if (note.lines[i].name_len == line->name_len &&
		    memcmp(note.lines[i].name, line->name, line->name_len) == 0 &&
		    memcmp(note.lines[i].keyid, line->keyid, NOTE_KEYID_LEN) == 0 &&
		    memcmp(note.lines[i].signature, line->signature, ED25519_SIGNATURE_LEN) == 0)
			return false;
	return true;
}

static void assert_names(const struct json *names, bool verified)
{
	size_t at = 0;

	for (size_t i = 0; i < note.line_count; i++) {
		const char *name;

		if (note.lines[i].verified != verified || !is_first_of_its_line(i))
			continue;
		name = json_str(json_at(names, at++));
		assert_non_null(name);
		assert_int_equal(strlen(name), note.lines[i].name_len);
		assert_memory_equal(name, note.lines[i].name, note.lines[i].name_len);
	}
	assert_int_equal(at, json_len(names));
}

static void run_case(const struct json *item)
{
	struct buf bytes = BUF_INIT;
	struct vkey keys[8];
	size_t count = keys_of(json_get(item, "vkeys"), keys);
	const char *text = json_get_str(item, "note_b64");
	int result;

	assert_int_equal(base64_read(text, strlen(text), &bytes, &err), 0);
	result = note_parse(bytes.bytes, bytes.len, &note, &err);
	if (result == 0)
		result = note_verify(&note, keys, count, &err);
	if ((result == 0) != json_get_bool(item, "accept", false))
		fail_msg("%s: %s", json_get_str(item, "name"), result < 0 ? err.text : "accepted");
	if (result == 0) {
		assert_names(json_get(item, "verified"), true);
		assert_names(json_get(item, "unverified"), false);
	}
	buf_clear(&bytes);
}

static void test_published_notes_are_judged_as_published(void **state)
{
	struct json *json = vector_json("audit/note-cases.json");

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	assert_int_equal(json_len(json_get(json, "cases")), 16);
	json_each(item, json_get(json, "cases")) run_case(item);
	json_free(json);
}

static void test_damaged_verifier_keys_are_refused(void **state)
{
	struct json *json = vector_json("audit/note-cases.json");
	struct vkey vkey;
	char text[256];
	size_t len;

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	json_each(item, json_get(json, "reject_vkeys")) assert_int_equal(
		vkey_parse(json_str(item), strlen(json_str(item)), &vkey, &err), -1);
	len = (size_t)snprintf(text, sizeof(text), "%s",
			       json_get_str(json_get(json, "vkeys"), "PeterNeumann"));
	assert_int_equal(vkey_parse(text, len, &vkey, &err), 0);
	for (size_t start = 0; start < len; start++)
		for (size_t end = start; end <= len; end++)
			if (end - start != len)
				assert_int_equal(vkey_parse(text + start, end - start, &vkey, &err),
						 -1);
	for (size_t i = 0; i < len; i++) {
		text[i]++;
		assert_int_equal(vkey_parse(text, len, &vkey, &err), -1);
		text[i]--;
	}
	json_free(json);
}

static void test_our_signature_line_equals_the_published_one(void **state)
{
	struct json *json = vector_json("audit/note-cases.json");
	struct buf bytes = BUF_INIT;
	struct buf line = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct sign_key *key;
	struct vkey vkey;
	const char *text;
	const char *code;

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	code = strstr(json_get_str(json, "test_signing_key"), "+c74f20a3+") + 10;
	assert_int_equal(base64_read(code, strlen(code), &bytes, &err), 0);
	assert_int_equal(bytes.len, 33);
	key = sign_key_from_seed((const uint8_t *)bytes.bytes + 1);
	vkey = vkey_of(key, "PeterNeumann");
	text = json_get_str(json, "text");
	sign_bytes(key, text, strlen(text), signature);
	note_line_write(&vkey, signature, &line);
	assert_string_equal(buf_str(&line), json_get_str(json, "expected_signature_line"));
	buf_clear(&bytes);
	buf_clear(&line);
	sign_key_free(key);
	json_free(json);
}

static void test_the_specification_example_verifies(void **state)
{
	struct json *json = vector_json("audit/known-answers.json");
	const struct json *example = json_get(json, "c2sp_signed_note_example");
	struct vkey vkey;

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	assert_int_equal(vkey_parse(json_get_str(example, "vkey"),
				    strlen(json_get_str(example, "vkey")), &vkey, &err),
			 0);
	assert_int_equal(open_note(json_get_str(example, "note"), &vkey, 1), 0);
	assert_int_equal(note.text_len, strlen("This is an example message.\n"));
	json_free(json);
}

static const char *const tessera_entries[] = {"one",	"two",	 "three",    "four",	"five",
					      "six",	"seven", "eit",	     "nain",	"ten",
					      "ileven", "twelf", "threeten", "fourten", "fivten"};

static void test_the_heads_of_another_log_fit_our_tree(void **state)
{
	static const char vkey_text[] =
		"example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";
	uint8_t hash[SHA256_LEN];
	struct tree tree;
	struct vkey vkey;

	(void)state;
	assert_int_equal(vkey_parse(vkey_text, sizeof(vkey_text) - 1, &vkey, &err), 0);
	tree_init(&tree);
	for (size_t n = 0; n <= ARRAY_LEN(tessera_entries); n++) {
		struct checkpoint checkpoint;
		struct buf bytes = BUF_INIT;
		char name[64];

		snprintf(name, sizeof(name), "audit/tessera-log/checkpoint.%zu", n);
		if (!vector_read(name, &bytes)) {
			skip();
			return;
		}
		assert_int_equal(open_note(bytes.bytes, &vkey, 1), 0);
		assert_int_equal(checkpoint_parse(note.text, note.text_len, &checkpoint, &err), 0);
		assert_int_equal(checkpoint.size, n);
		tree_root(&tree, hash);
		assert_memory_equal(hash, checkpoint.root, SHA256_LEN);
		buf_clear(&bytes);
		if (n == ARRAY_LEN(tessera_entries))
			break;
		leaf_hash(tessera_entries[n], strlen(tessera_entries[n]), hash);
		tree_add(&tree, hash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_written_reads_back_and_its_id_is_checked),
		cmocka_unit_test(test_a_key_name_has_no_white_space_and_no_plus),
		cmocka_unit_test(test_a_signed_note_opens_with_its_key_only),
		cmocka_unit_test(test_every_changed_byte_of_a_note_is_noticed),
		cmocka_unit_test(test_notes_out_of_form_are_refused_with_their_fault),
		cmocka_unit_test(test_a_note_has_a_bounded_number_of_lines),
		cmocka_unit_test(test_checkpoints_read_back_and_other_forms_are_refused),
		cmocka_unit_test(test_tails_read_back_and_are_no_checkpoints),
		cmocka_unit_test(test_published_notes_are_judged_as_published),
		cmocka_unit_test(test_damaged_verifier_keys_are_refused),
		cmocka_unit_test(test_our_signature_line_equals_the_published_one),
		cmocka_unit_test(test_the_specification_example_verifies),
		cmocka_unit_test(test_the_heads_of_another_log_fit_our_tree),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
