/* The signer's keys and requests, without its process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "broker/audit/tail.h"
#include "broker/signer/signer.h"
#include "tests/unit/token_vectors.h"

static struct err err;

struct place {
	char path[64];
	int fd;
	struct signer signer;
};

static int place_make(void **state)
{
	struct place *place = mem_alloc(sizeof(*place));
	struct signer_keys keys;

	strcpy(place->path, "/tmp/writ-test-XXXXXX");
	if (mkdtemp(place->path) == NULL)
		return -1;
	place->fd = open(place->path, O_RDONLY | O_DIRECTORY);
	if (signer_keys_load(place->fd, "sales", &keys, &err) < 0 ||
	    signer_init(&place->signer, &keys, NULL, 0, &err) < 0)
		return -1;
	*state = place;
	return 0;
}

static int place_remove(void **state)
{
	struct place *place = *state;

	signer_clear(&place->signer);
	unlinkat(place->fd, "keys", 0);
	unlinkat(place->fd, "other", 0);
	close(place->fd);
	rmdir(place->path);
	mem_free(place);
	return 0;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

/* NULL when refused; params are taken. */
static struct json *ask(struct place *place, const char *method, struct json *params)
{
	struct json *result = NULL;
	int code = signer_handle(&place->signer, method, params, &result, &err);

	json_free(params);
	return code < 0 ? NULL : result;
}

static void ask_ok(struct place *place, const char *method, const char *params_text)
{
	struct json *result = ask(place, method, parse(params_text));

	if (result == NULL)
		fail_msg("%s", err.text);
	json_free(result);
}

static void assert_refused(struct place *place, const char *method, struct json *params,
			   const char *text)
{
	assert_null(ask(place, method, params));
	assert_string_equal(err.text, text);
}

static void test_keys_are_made_once_and_stay_the_same(void **state)
{
	struct place *place = *state;
	struct json *before = ask(place, "keys", json_object());
	struct json *after;
	struct signer_keys keys;
	struct stat stat;

	assert_int_equal(fstatat(place->fd, "keys", &stat, 0), 0);
	assert_int_equal(stat.st_mode & 07777, 0600);
	assert_int_equal(signer_keys_load(place->fd, "renamed", &keys, &err), 0);
	signer_clear(&place->signer);
	assert_int_equal(signer_init(&place->signer, &keys, NULL, 0, &err), 0);
	after = ask(place, "keys", json_object());
	/* The first epoch is random until its seed lies in state/audit. */
	json_remove(before, "epoch");
	json_remove(after, "epoch");
	assert_true(json_equal(before, after));
	json_free(before);
	json_free(after);
}

static void test_the_origin_is_name_and_fingerprint_of_the_log_key(void **state)
{
	struct place *place = *state;
	char fingerprint[SHA256_HEX_LEN + 1];
	char want[128];
	struct json *keys = ask(place, "keys", json_object());
	const char *vkey = json_get_str(json_get(keys, "log"), "vkey");
	struct vkey parsed;

	vkey_fingerprint(&place->signer.log_vkey, fingerprint);
	snprintf(want, sizeof(want), "writ.local/sales/%.16s", fingerprint);
	assert_string_equal(json_get_str(json_get(keys, "log"), "origin"), want);
	assert_int_equal(vkey_parse(vkey, strlen(vkey), &parsed, &err), 0);
	assert_string_equal(parsed.name, want);
	assert_int_equal(strlen(json_get_str(json_get(keys, "token"), "kid")), TOKEN_KID_LEN);
	json_free(keys);
}

static void test_token_and_log_keys_differ(void **state)
{
	struct place *place = *state;

	assert_memory_not_equal(place->signer.token_key.public_key,
				place->signer.log_vkey.public_key, ED25519_PUBLIC_LEN);
}

static void test_names_that_fit_no_origin_are_made_to_fit(void **state)
{
	struct place *place = *state;
	struct signer_keys keys;

	unlinkat(place->fd, "keys", 0);
	assert_int_equal(signer_keys_load(place->fd, "a b+\xC3\xA9/..", &keys, &err), 0);
	assert_int_equal(strncmp(keys.origin, "writ.local/a-b----../", 21), 0);
	signer_keys_clear(&keys);
	unlinkat(place->fd, "keys", 0);
	assert_int_equal(signer_keys_load(place->fd, "", &keys, &err), 0);
	assert_int_equal(strncmp(keys.origin, "writ.local/workspace/", 21), 0);
	signer_keys_clear(&keys);
}

static void assert_keys_refused(struct place *place, enum err_kind kind, const char *text)
{
	struct signer_keys keys;

	assert_int_equal(signer_keys_load(place->fd, "sales", &keys, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
}

static void test_a_key_file_that_others_can_reach_is_refused(void **state)
{
	struct place *place = *state;

	assert_int_equal(fchmodat(place->fd, "keys", 0640, 0), 0);
	assert_keys_refused(place, ERR_DENIED,
			    "keys: others may read or write it (mode 0640). If nobody did, run: "
			    "chmod 600 on it");
	assert_int_equal(fchmodat(place->fd, "keys", 0600, 0), 0);
	assert_int_equal(linkat(place->fd, "keys", place->fd, "other", 0), 0);
	assert_keys_refused(place, ERR_DENIED, "keys: is not one regular file of one name");
	assert_int_equal(unlinkat(place->fd, "keys", 0), 0);
	assert_int_equal(symlinkat("other", place->fd, "keys"), 0);
	assert_keys_refused(place, ERR_DENIED, "keys: is a link");
	if (geteuid() == 0) {
		unlinkat(place->fd, "keys", 0);
		assert_int_equal(renameat(place->fd, "other", place->fd, "keys"), 0);
		assert_int_equal(fchownat(place->fd, "keys", 65534, 65534, 0), 0);
		assert_keys_refused(place, ERR_DENIED,
				    "keys: belongs to user 65534, not to user 0");
	}
}

static void test_a_damaged_key_file_is_refused_and_never_replaced(void **state)
{
	struct place *place = *state;
	struct buf good = BUF_INIT;
	struct signer_keys keys;

	assert_int_equal(file_read_at(place->fd, "keys", 1024, &good, &err), 0);
	for (size_t len = 0; len < good.len; len++) {
		struct buf after = BUF_INIT;

		assert_int_equal(
			file_replace_at(place->fd, "keys", 0600, good.bytes, len, false, &err), 0);
		assert_int_equal(signer_keys_load(place->fd, "sales", &keys, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(file_read_at(place->fd, "keys", 1024, &after, &err), 0);
		assert_int_equal(after.len, len);
		buf_clear(&after);
	}
	buf_add_str(&good, "more\n");
	assert_int_equal(
		file_replace_at(place->fd, "keys", 0600, good.bytes, good.len, false, &err), 0);
	assert_keys_refused(place, ERR_INVALID,
			    "keys: lines 3 and 4 are not the two keys, or more follows");
	for (int i = 0; i < 600; i++)
		buf_add_char(&good, 'x');
	assert_int_equal(
		file_replace_at(place->fd, "keys", 0600, good.bytes, good.len, false, &err), 0);
	assert_keys_refused(place, ERR_INVALID, "keys: longer than 512 bytes");
	buf_clear(&good);
}

static struct json *leaves(size_t count)
{
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];
	uint8_t leaf[SHA256_LEN];

	for (size_t i = 0; i < count; i++) {
		leaf_hash(&i, sizeof(i), leaf);
		hex_write(leaf, sizeof(leaf), hex);
		json_push_str(list, hex);
	}
	json_set(params, "leaves", list);
	return params;
}

static struct json *resume_params(const struct tree *tree)
{
	struct json *params = json_object();
	struct json *peaks = json_array();
	char hex[SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < tree->count; i++) {
		hex_write(tree->peaks[i], SHA256_LEN, hex);
		json_push_str(peaks, hex);
	}
	json_set_int(params, "size", (int64_t)tree->size);
	json_set(params, "peaks", peaks);
	return params;
}

static char *sign_head(struct place *place, size_t count)
{
	struct json *result = ask(place, "head.sign", leaves(count));
	char *note;

	if (result == NULL)
		fail_msg("%s", err.text);
	note = mem_str(json_get_str(result, "note"));
	json_free(result);
	return note;
}

static void test_a_head_covers_all_leaves_so_far_and_verifies(void **state)
{
	struct place *place = *state;
	struct note note;
	struct checkpoint checkpoint;
	struct tree tree;
	uint8_t leaf[SHA256_LEN];
	uint8_t root[SHA256_LEN];

	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	tree_init(&tree);
	for (size_t count = 1; count < 6; count++) {
		char *text = sign_head(place, count);

		for (size_t i = 0; i < count; i++) {
			leaf_hash(&i, sizeof(i), leaf);
			tree_add(&tree, leaf);
		}
		tree_root(&tree, root);
		assert_int_equal(note_parse(text, strlen(text), &note, &err), 0);
		assert_int_equal(note_verify(&note, &place->signer.log_vkey, 1, &err), 0);
		assert_int_equal(checkpoint_parse(note.text, note.text_len, &checkpoint, &err), 0);
		assert_int_equal(checkpoint.size, tree.size);
		assert_memory_equal(checkpoint.root, root, SHA256_LEN);
		assert_string_equal(checkpoint.origin, place->signer.keys.origin);
		mem_free(text);
	}
}

static void test_heads_come_only_after_a_resume(void **state)
{
	struct place *place = *state;

	assert_refused(place, "head.sign", leaves(1), "head.sign: head.resume comes first");
}

static void test_the_number_of_leaves_is_bounded(void **state)
{
	struct place *place = *state;

	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	assert_refused(place, "head.sign", leaves(0),
		       "head.sign: leaves: 0 of them; 1 to 4096 are allowed");
	assert_refused(place, "head.sign", leaves(4097),
		       "head.sign: leaves: 4097 of them; 1 to 4096 are allowed");
	mem_free(sign_head(place, 4096));
	assert_int_equal(place->signer.tree.size, 4096);
}

static void test_a_bad_leaf_leaves_the_tree_as_it_was(void **state)
{
	struct place *place = *state;
	struct json *params = leaves(3);

	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	mem_free(sign_head(place, 2));
	json_push_str(json_get_mut(params, "leaves"), "00");
	assert_null(ask(place, "head.sign", params));
	assert_int_equal(place->signer.tree.size, 2);
	assert_int_equal(place->signer.last.size, 2);
}

/* A signer of the same keys that starts with this checkpoint. */
static int restart(struct place *place, const char *note)
{
	struct signer_keys keys;

	assert_int_equal(signer_keys_load(place->fd, "sales", &keys, &err), 0);
	signer_clear(&place->signer);
	if (signer_init(&place->signer, &keys, note, note == NULL ? 0 : strlen(note), &err) == 0)
		return 0;
	signer_keys_clear(&keys);
	return -1;
}

static void test_a_new_start_goes_on_from_its_last_head_only(void **state)
{
	struct place *place = *state;
	struct tree tree;
	struct tree shorter;
	char *note;

	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	mem_free(sign_head(place, 4));
	shorter = place->signer.tree;
	note = sign_head(place, 3);
	tree = place->signer.tree;
	assert_int_equal(restart(place, note), 0);
	assert_int_equal(place->signer.last.size, 7);
	assert_refused(place, "head.resume", parse("{\"size\":0,\"peaks\":[]}"),
		       "head.resume: the log (size 0) does not stand at the last signed head (size "
		       "7): it was cut, rolled back or changed, and nothing is signed behind or "
		       "beside that head");
	assert_null(ask(place, "head.resume", resume_params(&shorter)));
	assert_int_equal(err.kind, ERR_DENIED);
	tree.peaks[1][0] ^= 1;
	assert_null(ask(place, "head.resume", resume_params(&tree)));
	assert_int_equal(err.kind, ERR_DENIED);
	assert_null(ask(place, "head.sign", leaves(1)));
	tree.peaks[1][0] ^= 1;
	json_free(ask(place, "head.resume", resume_params(&tree)));
	mem_free(sign_head(place, 1));
	assert_int_equal(place->signer.last.size, 8);
	/* A second resume cannot go back either. */
	assert_null(ask(place, "head.resume", resume_params(&tree)));
	mem_free(note);
}

static void test_a_checkpoint_of_another_key_or_changed_is_refused(void **state)
{
	struct place *place = *state;
	char *note;

	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	note = sign_head(place, 4);
	*strstr(note, "\n4\n") = ' ';
	assert_int_equal(restart(place, note), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.text, "checkpoint: not a head that this signer made"));
	assert_int_equal(restart(place, ""), -1);
	mem_free(note);
}

static struct json *tail_params(int64_t size, int64_t bytes, const uint8_t leaf[SHA256_LEN])
{
	struct json *params = json_object();
	char hex[SHA256_HEX_LEN + 1];

	hex_write(leaf, SHA256_LEN, hex);
	json_set_int(params, "size", size);
	json_set_int(params, "bytes", bytes);
	json_set_str(params, "last", hex);
	json_set_int(params, "segment", 0);
	json_set_str(params, "state", hex);
	return params;
}

static void test_a_tail_is_signed_for_the_end_of_the_log_alone(void **state)
{
	static const char refusal[] = "tail.sign: this is not the end of the log that was signed";
	struct place *place = *state;
	uint8_t leaf[SHA256_LEN];
	struct json *result;
	struct note note;
	struct tail tail;
	const char *text;
	size_t last = 4;

	leaf_hash(&last, sizeof(last), leaf);
	assert_refused(place, "tail.sign", tail_params(5, 900, leaf),
		       "tail.sign: head.resume comes first");
	ask_ok(place, "head.resume", "{\"size\":0,\"peaks\":[]}");
	assert_refused(place, "tail.sign", tail_params(0, 0, leaf), refusal);
	mem_free(sign_head(place, 5));
	assert_refused(place, "tail.sign", tail_params(4, 900, leaf), refusal);
	leaf[0] ^= 1;
	assert_refused(place, "tail.sign", tail_params(5, 900, leaf), refusal);
	leaf[0] ^= 1;
	result = ask(place, "tail.sign", tail_params(5, 900, leaf));
	assert_non_null(result);
	text = json_get_str(result, "note");
	assert_int_equal(note_parse(text, strlen(text), &note, &err), 0);
	assert_int_equal(note_verify(&note, &place->signer.log_vkey, 1, &err), 0);
	assert_int_equal(tail_parse(note.text, note.text_len, &tail, &err), 0);
	assert_int_equal(tail.tree.size, 5);
	assert_int_equal(tail.bytes, 900);
	assert_memory_equal(tail.tree.peaks, place->signer.tree.peaks, 2 * SHA256_LEN);
	json_free(result);
}

static struct json *claims(void)
{
	return parse(
		"{\"sub\":\"user:7f3a\",\"client_id\":\"a\",\"act\":{\"sub\":\"spiffe://x/a\"},"
		"\"iat\":1796083200,\"nbf\":1796083200,\"exp\":1796083500,\"jti\":\"j\",\"txn\":"
		"\"t\",\"authorization_details\":[{\"type\":\"writ_tools_v1\",\"tools\":{\"q\":"
		"{\"database\":{\"constraint_type\":\"exact\",\"value\":\"sales\"}}}}],"
		"\"del_depth\":0,\"del_max_depth\":1,\"writ_owner\":\"team:x\","
		"\"writ_policy_digest\":\"sha256:00\",\"writ_policy_epoch\":1}");
}

static void test_a_signed_token_verifies_with_the_signers_issuer(void **state)
{
	struct place *place = *state;
	struct json *result = ask(place, "token.sign", claims());
	const char *token = json_get_str(result, "token");
	struct token_rules rules = {&place->signer.token_key, 1, place->signer.place.iss,
				    place->signer.place.aud, 1796083300};
	struct token_claims out;

	if (token == NULL)
		fail_msg("%s", err.text);
	if (token_verify(token, strlen(token), &rules, &out, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(out.sub, "user:7f3a");
	assert_int_equal(strncmp(out.iss, "https://writ.local/sales/", 25), 0);
	token_claims_clear(&out);
	json_free(result);
}

static void refuse_claim(struct place *place, const char *claim, const char *value,
			 const char *text)
{
	struct json *params = claims();

	if (value == NULL)
		json_remove(params, claim);
	else
		json_set(params, claim, parse(value));
	assert_null(ask(place, "token.sign", params));
	if (strstr(err.text, text) == NULL)
		fail_msg("%s", err.text);
}

static void test_tokens_out_of_form_are_not_signed(void **state)
{
	struct place *place = *state;

	refuse_claim(place, "exp", "1796083501", "a lifetime of 301 s; at most 300 s");
	refuse_claim(place, "exp", "1796083200", "exp is not after iat");
	refuse_claim(place, "exp", "\"1796083300\"", "exp");
	refuse_claim(place, "exp", "1796083300.0", "exp");
	refuse_claim(place, "sub", NULL, "sub");
	refuse_claim(place, "admin", "true", "admin");
	refuse_claim(place, "iss", "\"https://other\"", "iss");
	refuse_claim(place, "act", "{\"sub\":\"x\",\"admin\":\"y\"}", "act: ");
	refuse_claim(place, "cnf", "{\"jwk\":{}}", "cnf: ");
	refuse_claim(place, "authorization_details", "[]", "authorization_details: ");
}

static void test_a_token_over_its_length_is_not_signed(void **state)
{
	struct place *place = *state;
	struct json *params = claims();
	char *text = mem_alloc(TOKEN_STRING_BYTES_MAX + 1);

	memset(text, 'x', TOKEN_STRING_BYTES_MAX);
	json_set_str(params, "scope", text);
	json_set_str(params, "writ_owner", text);
	assert_null(ask(place, "token.sign", params));
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_non_null(strstr(err.text, "token.sign: the token would have "));
	mem_free(text);
}

static void test_unknown_methods_and_members_are_refused(void **state)
{
	struct place *place = *state;

	assert_refused(place, "sign", json_object(), "no method sign");
	assert_null(ask(place, "keys", parse("{\"secret\":true}")));
	assert_null(ask(place, "head.resume", parse("{\"size\":0,\"peaks\":[],\"force\":1}")));
	assert_null(ask(place, "head.resume", parse("{\"size\":-1,\"peaks\":[]}")));
	assert_refused(place, "keys", json_array(), "params must be an object");
	assert_int_equal(signer_handle(&place->signer, "keys", NULL, NULL, &err), -1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_keys_are_made_once_and_stay_the_same),
		CASE(test_the_origin_is_name_and_fingerprint_of_the_log_key),
		CASE(test_token_and_log_keys_differ),
		CASE(test_names_that_fit_no_origin_are_made_to_fit),
		CASE(test_a_key_file_that_others_can_reach_is_refused),
		CASE(test_a_damaged_key_file_is_refused_and_never_replaced),
		CASE(test_a_head_covers_all_leaves_so_far_and_verifies),
		CASE(test_heads_come_only_after_a_resume),
		CASE(test_the_number_of_leaves_is_bounded),
		CASE(test_a_bad_leaf_leaves_the_tree_as_it_was),
		CASE(test_a_new_start_goes_on_from_its_last_head_only),
		CASE(test_a_checkpoint_of_another_key_or_changed_is_refused),
		CASE(test_a_tail_is_signed_for_the_end_of_the_log_alone),
		CASE(test_a_signed_token_verifies_with_the_signers_issuer),
		CASE(test_tokens_out_of_form_are_not_signed),
		CASE(test_a_token_over_its_length_is_not_signed),
		CASE(test_unknown_methods_and_members_are_refused),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
