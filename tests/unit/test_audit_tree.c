/* Hashes, frontier and proofs of the Merkle tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/tree.h"
#include "tests/unit/vectors.h"

static struct err err;

static void assert_hash(const uint8_t hash[SHA256_LEN], const char *hex)
{
	char text[SHA256_HEX_LEN + 1];

	hex_write(hash, SHA256_LEN, text);
	assert_string_equal(text, hex);
}

/* The same root by the recursive definition of RFC 6962 section 2.1. */
static void slow_root(const uint8_t (*leaves)[SHA256_LEN], size_t count, uint8_t out[SHA256_LEN])
{
	uint8_t left[SHA256_LEN];
	uint8_t right[SHA256_LEN];
	size_t half = 1;

	if (count == 0) {
		sha256_once("", 0, out);
		return;
	}
	if (count == 1) {
		memcpy(out, leaves[0], SHA256_LEN);
		return;
	}
	while (half * 2 < count)
		half *= 2;
	slow_root(leaves, half, left);
	slow_root(leaves + half, count - half, right);
	node_hash(left, right, out);
}

static void test_hashes_are_those_of_rfc_6962(void **state)
{
	uint8_t hash[SHA256_LEN];
	uint8_t bytes[1 + 8] = {0x01, 'N', '1', '2', '3', 'N', '4', '5', '6'};
	struct tree tree;

	(void)state;
	leaf_hash("", 0, hash);
	assert_hash(hash, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
	leaf_hash("L123456", 7, hash);
	assert_hash(hash, "395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56");
	/* The published node example has short children: the prefix is what it shows. */
	sha256_once(bytes, sizeof(bytes), hash);
	assert_hash(hash, "aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb");
	tree_init(&tree);
	tree_root(&tree, hash);
	assert_hash(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_node_hash_covers_both_children_in_order(void **state)
{
	uint8_t bytes[1 + 2 * SHA256_LEN] = {0x01};
	uint8_t want[SHA256_LEN];
	uint8_t got[SHA256_LEN];

	(void)state;
	memset(bytes + 1, 'a', SHA256_LEN);
	memset(bytes + 1 + SHA256_LEN, 'b', SHA256_LEN);
	sha256_once(bytes, sizeof(bytes), want);
	node_hash(bytes + 1, bytes + 1 + SHA256_LEN, got);
	assert_memory_equal(got, want, SHA256_LEN);
	memcpy(got, bytes + 1, SHA256_LEN);
	node_hash(got, bytes + 1 + SHA256_LEN, got);
	assert_memory_equal(got, want, SHA256_LEN);
}

static void test_the_frontier_gives_the_root_of_every_size(void **state)
{
	uint8_t leaves[70][SHA256_LEN];
	uint8_t want[SHA256_LEN];
	uint8_t got[SHA256_LEN];
	struct tree tree;
	struct tree other;

	(void)state;
	tree_init(&tree);
	for (size_t n = 0; n < ARRAY_LEN(leaves); n++) {
		slow_root((const uint8_t(*)[SHA256_LEN])leaves, n, want);
		tree_root(&tree, got);
		assert_memory_equal(got, want, SHA256_LEN);
		assert_int_equal(tree.size, n);
		assert_int_equal(tree.count, __builtin_popcountll(n));
		assert_int_equal(tree_restore(&other, n, (const uint8_t(*)[SHA256_LEN])tree.peaks,
					      tree.count, &err),
				 0);
		tree_root(&other, got);
		assert_memory_equal(got, want, SHA256_LEN);
		leaf_hash(&n, sizeof(n), leaves[n]);
		tree_add(&tree, leaves[n]);
	}
}

static void test_peaks_must_be_as_many_as_the_size_has_bits(void **state)
{
	uint8_t peaks[3][SHA256_LEN] = {{0}};
	struct tree tree = {.size = 99};

	(void)state;
	assert_int_equal(tree_restore(&tree, 5, (const uint8_t(*)[SHA256_LEN])peaks, 3, &err), -1);
	assert_string_equal(err.text, "a tree of 5 has 2 peaks, not 3");
	assert_int_equal(tree.size, 99);
	assert_int_equal(tree_restore(&tree, 5, (const uint8_t(*)[SHA256_LEN])peaks, 2, &err), 0);
	assert_int_equal(tree.size, 5);
}

static void test_proofs_that_are_too_short_too_long_or_of_wrong_hashes_fail(void **state)
{
	uint8_t a[SHA256_LEN];
	uint8_t b[SHA256_LEN];
	uint8_t root[SHA256_LEN];
	struct proof_hash leaf = {a, SHA256_LEN};
	struct proof_hash sibling = {b, SHA256_LEN};
	struct proof_hash two[2] = {sibling, sibling};
	struct proof_hash root_hash = {root, SHA256_LEN};

	(void)state;
	leaf_hash("a", 1, a);
	leaf_hash("b", 1, b);
	node_hash(a, b, root);
	assert_int_equal(inclusion_verify(leaf, 0, 2, &sibling, 1, root_hash, &err), 0);
	assert_int_equal(inclusion_verify(leaf, 1, 2, &sibling, 1, root_hash, &err), -1);
	assert_string_equal(err.text, "the proof leads to another root");
	assert_int_equal(inclusion_verify(leaf, 0, 2, NULL, 0, root_hash, &err), -1);
	assert_string_equal(err.text, "the proof is too short");
	assert_int_equal(inclusion_verify(leaf, 0, 2, two, 2, root_hash, &err), -1);
	assert_string_equal(err.text, "the proof is too long");
	assert_int_equal(inclusion_verify(leaf, 2, 2, &sibling, 1, root_hash, &err), -1);
	assert_string_equal(err.text, "leaf 2 is not in a tree of 2");
	sibling.len = 31;
	assert_int_equal(inclusion_verify(leaf, 0, 2, &sibling, 1, root_hash, &err), -1);
	assert_string_equal(err.text, "a hash of the proof is not 32 bytes");
	assert_int_equal(consistency_verify(1, leaf, 2, root_hash, two, 1, &err), 0);
	assert_int_equal(consistency_verify(1, leaf, 2, root_hash, two, 2, &err), -1);
	assert_string_equal(err.text, "the proof is too long");
	assert_int_equal(consistency_verify(1, leaf, 2, root_hash, NULL, 0, &err), -1);
	assert_string_equal(err.text, "the proof is empty");
	assert_int_equal(consistency_verify(0, leaf, 2, root_hash, two, 1, &err), -1);
	assert_string_equal(err.text, "no consistency proof leads from size 0 to 2");
	assert_int_equal(consistency_verify(3, leaf, 2, root_hash, two, 1, &err), -1);
	assert_int_equal(consistency_verify(2, root_hash, 2, root_hash, two, 1, &err), -1);
	assert_string_equal(err.text, "trees of one size need no proof");
	assert_int_equal(consistency_verify(2, root_hash, 2, leaf, NULL, 0, &err), -1);
	assert_string_equal(err.text, "two roots for trees of one size");
}

struct hashes {
	struct buf bytes[80];
	struct proof_hash items[80];
	size_t count;
};

static struct proof_hash decode(struct hashes *hashes, const char *text)
{
	struct buf *bytes = &hashes->bytes[hashes->count];

	buf_init(bytes);
	if (text != NULL)
		assert_int_equal(base64_read(text, strlen(text), bytes, &err), 0);
	hashes->items[hashes->count] =
		(struct proof_hash){(const uint8_t *)buf_str(bytes), bytes->len};
	return hashes->items[hashes->count++];
}

static size_t vector_count;

/* Some cases hold numbers up to 2^64 - 1, which our JSON refuses as numbers. */
static void quote_large_numbers(struct buf *bytes)
{
	struct buf out = BUF_INIT;
	const char *at = bytes->bytes;

	while (*at != '\0') {
		size_t digits = strspn(at, "0123456789");

		if (digits >= 16 && at[-1] == ' ')
			buf_addf(&out, "\"%.*s\"", (int)digits, at);
		else
			buf_add(&out, at, digits > 0 ? digits : 1);
		at += digits > 0 ? digits : 1;
	}
	buf_clear(bytes);
	*bytes = out;
}

static uint64_t number(const struct json *json, const char *key)
{
	const char *text = json_get_str(json, key);

	return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)json_get_int(json, key, 0);
}

static void run_vector(const struct json *json, const char *path)
{
	bool want_err = json_get_bool(json, "wantErr", false);
	struct hashes hashes = {.count = 0};
	struct hashes proof = {.count = 0};
	int result;

	json_each(item, json_get(json, "proof")) decode(&proof, json_str(item));
	if (json_get(json, "leafIdx") != NULL)
		result = inclusion_verify(decode(&hashes, json_get_str(json, "leafHash")),
					  number(json, "leafIdx"), number(json, "treeSize"),
					  proof.items, proof.count,
					  decode(&hashes, json_get_str(json, "root")), &err);
	else
		result = consistency_verify(
			number(json, "size1"), decode(&hashes, json_get_str(json, "root1")),
			number(json, "size2"), decode(&hashes, json_get_str(json, "root2")),
			proof.items, proof.count, &err);
	if ((result < 0) != want_err)
		fail_msg("%s: %s", path, result < 0 ? err.text : "accepted");
	for (size_t i = 0; i < hashes.count; i++)
		buf_clear(&hashes.bytes[i]);
	for (size_t i = 0; i < proof.count; i++)
		buf_clear(&proof.bytes[i]);
	vector_count++;
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	struct buf bytes = BUF_INIT;
	struct json *json = NULL;

	(void)stat;
	(void)ftw;
	if (type != FTW_F)
		return 0;
	assert_int_equal(file_read_at(AT_FDCWD, path, 1 << 20, &bytes, &err), 0);
	quote_large_numbers(&bytes);
	assert_int_equal(json_parse(bytes.bytes, bytes.len, bytes.len, &json, &err), 0);
	run_vector(json, path);
	json_free(json);
	buf_clear(&bytes);
	return 0;
}

static void test_all_published_proofs_are_judged_as_published(void **state)
{
	const char *dir = getenv("WRIT_VECTORS");
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/audit/rfc6962", dir == NULL ? "/nonexistent" : dir);
	vector_count = 0;
	nftw(path, visit, 8, FTW_PHYS);
	if (vector_count == 0) {
		skip();
		return;
	}
	assert_int_equal(vector_count, 196);
}

static void test_the_record_hash_of_hello_world_is_the_published_one(void **state)
{
	struct json *json = vector_json("audit/known-answers.json");
	struct buf text = BUF_INIT;
	uint8_t hash[SHA256_LEN];

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	leaf_hash("hello world", 11, hash);
	base64_write(hash, sizeof(hash), &text);
	assert_string_equal(buf_str(&text), json_get_str(json_get(json, "x_mod_tree"),
							 "record_hash_of_hello_world_b64"));
	buf_clear(&text);
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes_are_those_of_rfc_6962),
		cmocka_unit_test(test_node_hash_covers_both_children_in_order),
		cmocka_unit_test(test_the_frontier_gives_the_root_of_every_size),
		cmocka_unit_test(test_peaks_must_be_as_many_as_the_size_has_bits),
		cmocka_unit_test(test_proofs_that_are_too_short_too_long_or_of_wrong_hashes_fail),
		cmocka_unit_test(test_all_published_proofs_are_judged_as_published),
		cmocka_unit_test(test_the_record_hash_of_hello_world_is_the_published_one),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
