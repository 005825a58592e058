/*
 * RFC 6962 trees: leaf and node hashes, the compact frontier, and the two proof checks.
 *
 * The proof checks walk the path from the leaf (or from the last leaf of the older tree) to the
 * root, with fn the node's place in its level and sn that of the last node: at an odd place, or at
 * the right edge, the next hash stands to the left. What can fail: a proof too short, too long, or
 * of the wrong hashes.
 */
#include "broker/audit/tree.h"

#include <string.h>

void leaf_hash(const void *entry, size_t len, uint8_t out[SHA256_LEN])
{
	static const uint8_t prefix = 0x00;
	struct sha256 state;

	sha256_init(&state);
	sha256_add(&state, &prefix, 1);
	sha256_add(&state, entry, len);
	sha256_end(&state, out);
}

void node_hash(const uint8_t left[SHA256_LEN], const uint8_t right[SHA256_LEN],
	       uint8_t out[SHA256_LEN])
{
	uint8_t bytes[1 + 2 * SHA256_LEN] = {0x01};

	memcpy(bytes + 1, left, SHA256_LEN);
	memcpy(bytes + 1 + SHA256_LEN, right, SHA256_LEN);
	sha256_once(bytes, sizeof(bytes), out);
}

void tree_init(struct tree *tree)
{
	tree->size = 0;
	tree->count = 0;
}

/* Adding one carries like adding 1 in binary: each trailing set bit merges two equal subtrees. */
void tree_add(struct tree *tree, const uint8_t leaf[SHA256_LEN])
{
	uint8_t carry[SHA256_LEN];

	memcpy(carry, leaf, SHA256_LEN);
	for (uint64_t bits = tree->size; (bits & 1) != 0; bits >>= 1)
		node_hash(tree->peaks[--tree->count], carry, carry);
	memcpy(tree->peaks[tree->count++], carry, SHA256_LEN);
	tree->size++;
}

void tree_root(const struct tree *tree, uint8_t out[SHA256_LEN])
{
	if (tree->count == 0) {
		sha256_once("", 0, out);
		return;
	}
	memcpy(out, tree->peaks[tree->count - 1], SHA256_LEN);
	for (size_t i = tree->count - 1; i > 0; i--)
		node_hash(tree->peaks[i - 1], out, out);
}

int tree_restore(struct tree *tree, uint64_t size, const uint8_t (*peaks)[SHA256_LEN], size_t count,
		 struct err *err)
{
	size_t want = (size_t)__builtin_popcountll(size);

	if (count != want)
		return err_set(err, ERR_INVALID, "a tree of %llu has %zu peaks, not %zu",
			       (unsigned long long)size, want, count);
	tree->size = size;
	tree->count = count;
	if (count > 0)
		memcpy(tree->peaks, peaks, count * SHA256_LEN);
	return 0;
}

static bool is_hash(struct proof_hash hash)
{
	return hash.len == SHA256_LEN;
}

static bool all_hashes(const struct proof_hash *proof, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_hash(proof[i]))
			return false;
	return true;
}

static bool same_hash(struct proof_hash a, struct proof_hash b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

/* The path of one node upwards. */
struct path {
	uint64_t fn;
	uint64_t sn;
};

static void path_up(struct path *path)
{
	path->fn >>= 1;
	path->sn >>= 1;
}

/* Does the next hash of the proof stand to the left of ours? Levels without a sibling are skipped
 * on the right edge. */
static bool path_goes_left(struct path *path)
{
	if ((path->fn & 1) == 0 && path->fn != path->sn)
		return false;
	while ((path->fn & 1) == 0 && path->fn != 0)
		path_up(path);
	return true;
}

int inclusion_verify(struct proof_hash leaf, uint64_t index, uint64_t size,
		     const struct proof_hash *proof, size_t count, struct proof_hash root,
		     struct err *err)
{
	struct path path = {index, size - 1};
	uint8_t hash[SHA256_LEN];

	if (index >= size)
		return err_set(err, ERR_INVALID, "leaf %llu is not in a tree of %llu",
			       (unsigned long long)index, (unsigned long long)size);
	if (!is_hash(leaf) || !is_hash(root) || !all_hashes(proof, count))
		return err_set(err, ERR_INVALID, "a hash of the proof is not 32 bytes");
	memcpy(hash, leaf.bytes, SHA256_LEN);
	for (size_t i = 0; i < count; i++) {
		if (path.sn == 0)
			return err_set(err, ERR_INVALID, "the proof is too long");
		if (path_goes_left(&path))
			node_hash(proof[i].bytes, hash, hash);
		else
			node_hash(hash, proof[i].bytes, hash);
		path_up(&path);
	}
	if (path.sn != 0)
		return err_set(err, ERR_INVALID, "the proof is too short");
	if (memcmp(hash, root.bytes, SHA256_LEN) != 0)
		return err_set(err, ERR_INVALID, "the proof leads to another root");
	return 0;
}

static int consistency_equal(struct proof_hash root1, struct proof_hash root2, size_t count,
			     struct err *err)
{
	if (count != 0)
		return err_set(err, ERR_INVALID, "trees of one size need no proof");
	if (!same_hash(root1, root2))
		return err_set(err, ERR_INVALID, "two roots for trees of one size");
	return 0;
}

static int consistency_walk(struct path path, const uint8_t *first, const struct proof_hash *proof,
			    size_t count, struct proof_hash root1, struct proof_hash root2,
			    struct err *err)
{
	uint8_t fr[SHA256_LEN];
	uint8_t sr[SHA256_LEN];

	memcpy(fr, first, SHA256_LEN);
	memcpy(sr, first, SHA256_LEN);
	for (size_t i = 0; i < count; i++) {
		if (path.sn == 0)
			return err_set(err, ERR_INVALID, "the proof is too long");
		if (path_goes_left(&path)) {
			node_hash(proof[i].bytes, fr, fr);
			node_hash(proof[i].bytes, sr, sr);
		} else {
			node_hash(sr, proof[i].bytes, sr);
		}
		path_up(&path);
	}
	if (path.sn != 0)
		return err_set(err, ERR_INVALID, "the proof is too short");
	if (memcmp(fr, root1.bytes, SHA256_LEN) != 0)
		return err_set(err, ERR_INVALID, "the proof does not lead to the older root");
	if (memcmp(sr, root2.bytes, SHA256_LEN) != 0)
		return err_set(err, ERR_INVALID, "the proof does not lead to the newer root");
	return 0;
}

int consistency_verify(uint64_t size1, struct proof_hash root1, uint64_t size2,
		       struct proof_hash root2, const struct proof_hash *proof, size_t count,
		       struct err *err)
{
	struct path path = {size1 - 1, size2 - 1};

	if (size1 == 0 || size1 > size2)
		return err_set(err, ERR_INVALID,
			       "no consistency proof leads from size %llu to %llu",
			       (unsigned long long)size1, (unsigned long long)size2);
	if (size1 == size2)
		return consistency_equal(root1, root2, count, err);
	if (!is_hash(root1) || !is_hash(root2) || !all_hashes(proof, count))
		return err_set(err, ERR_INVALID, "a hash of the proof is not 32 bytes");
	if (count == 0)
		return err_set(err, ERR_INVALID, "the proof is empty");
	while ((path.fn & 1) != 0)
		path_up(&path);
	/* The older tree is one full subtree: its root is the starting point, and not repeated. */
	if ((size1 & (size1 - 1)) == 0)
		return consistency_walk(path, root1.bytes, proof, count, root1, root2, err);
	return consistency_walk(path, proof[0].bytes, proof + 1, count - 1, root1, root2, err);
}
