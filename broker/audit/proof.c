/*
 * Proofs by the recursion of RFC 6962, which goes down one side at each split and takes the root of
 * the other. What can fail: the reader; a number outside of the tree; a proof file out of form.
 */
#include "broker/audit/proof.h"

#include <string.h>

#include "broker/audit/lines.h"

/* The largest power of two below count, which is at least 2. */
static uint64_t split_of(uint64_t count)
{
	return (uint64_t)1 << (63 - __builtin_clzll(count - 1));
}

/* The root over [first, first + count); first is a multiple of the power of two at or above count.
 */
static int range_root(const struct node_reader *reader, uint64_t first, uint64_t count,
		      uint8_t out[SHA256_LEN], struct err *err)
{
	uint8_t right[SHA256_LEN];
	uint64_t split;

	if ((count & (count - 1)) == 0) {
		unsigned int height = (unsigned int)__builtin_ctzll(count);

		return reader->read(reader->self, height, first >> height, out, err);
	}
	split = split_of(count);
	if (range_root(reader, first, split, out, err) < 0 ||
	    range_root(reader, first + split, count - split, right, err) < 0)
		return -1;
	node_hash(out, right, out);
	return 0;
}

int proof_root(const struct node_reader *reader, uint64_t size, uint8_t out[SHA256_LEN],
	       struct err *err)
{
	if (size == 0) {
		sha256_once("", 0, out);
		return 0;
	}
	return range_root(reader, 0, size, out, err);
}

static int push_root(const struct node_reader *reader, uint64_t first, uint64_t count,
		     struct proof *proof, struct err *err)
{
	return range_root(reader, first, count, proof->hashes[proof->count++], err);
}

/* PATH(m, D[n]): what is appended last stands nearest to the root. */
static int path(const struct node_reader *reader, uint64_t index, uint64_t first, uint64_t count,
		struct proof *proof, struct err *err)
{
	uint64_t split;

	if (count == 1)
		return 0;
	split = split_of(count);
	if (index < first + split)
		return path(reader, index, first, split, proof, err) < 0
			       ? -1
			       : push_root(reader, first + split, count - split, proof, err);
	return path(reader, index, first + split, count - split, proof, err) < 0
		       ? -1
		       : push_root(reader, first, split, proof, err);
}

int proof_inclusion(const struct node_reader *reader, uint64_t index, uint64_t size,
		    struct proof *ret_proof, struct err *err)
{
	if (index >= size)
		return err_set(err, ERR_INVALID, "record %llu is not below the head of %llu",
			       (unsigned long long)index, (unsigned long long)size);
	ret_proof->count = 0;
	return path(reader, index, 0, size, ret_proof, err);
}

/* SUBPROOF(m, D[n], b): whole says that the older tree begins where this one does. */
static int subproof(const struct node_reader *reader, uint64_t size1, uint64_t first,
		    uint64_t count, bool whole, struct proof *proof, struct err *err)
{
	uint64_t split;

	if (size1 == count)
		return whole ? 0 : push_root(reader, first, count, proof, err);
	split = split_of(count);
	if (size1 <= split)
		return subproof(reader, size1, first, split, whole, proof, err) < 0
			       ? -1
			       : push_root(reader, first + split, count - split, proof, err);
	return subproof(reader, size1 - split, first + split, count - split, false, proof, err) < 0
		       ? -1
		       : push_root(reader, first, split, proof, err);
}

int proof_consistency(const struct node_reader *reader, uint64_t size1, uint64_t size2,
		      struct proof *ret_proof, struct err *err)
{
	if (size1 == 0 || size1 > size2)
		return err_set(err, ERR_INVALID,
			       "no consistency proof leads from size %llu to %llu",
			       (unsigned long long)size1, (unsigned long long)size2);
	ret_proof->count = 0;
	return subproof(reader, size1, 0, size2, true, ret_proof, err);
}

void proof_write(const struct proof *proof, uint64_t index, const char *checkpoint, struct buf *out)
{
	buf_addf(out, PROOF_FIRST_LINE "\nindex %llu\n", (unsigned long long)index);
	for (size_t i = 0; i < proof->count; i++) {
		base64_write(proof->hashes[i], SHA256_LEN, out);
		buf_add_char(out, '\n');
	}
	buf_add_char(out, '\n');
	buf_add_str(out, checkpoint);
}

static bool take(struct lines *lines, const char *word)
{
	size_t len = strlen(word);

	if (lines->left < len || memcmp(lines->at, word, len) != 0)
		return false;
	lines->at += len;
	lines->left -= len;
	return true;
}

static int skip_extra(struct lines *lines, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *feed;

	if (!take(lines, "extra "))
		return 0;
	feed = memchr(lines->at, '\n', lines->left);
	if (feed == NULL || base64_read(lines->at, (size_t)(feed - lines->at), &bytes, NULL) < 0)
		return err_set(err, ERR_INVALID, "proof: its extra line is no base64");
	lines->left -= (size_t)(feed + 1 - lines->at);
	lines->at = feed + 1;
	return 0;
}

int proof_read(const char *text, size_t len, struct proof *ret_proof, uint64_t *ret_index,
	       const char **ret_checkpoint, size_t *ret_checkpoint_len, struct err *err)
{
	struct lines lines = {text, len};
	struct proof proof = {.count = 0};
	uint64_t index = 0;

	if (!take(&lines, PROOF_FIRST_LINE "\n"))
		return err_set(err, ERR_INVALID, "proof: line 1 is not " PROOF_FIRST_LINE);
	if (skip_extra(&lines, err) < 0)
		return -1;
	if (!take(&lines, "index ") || lines_number(&lines, &index) < 0)
		return err_set(err, ERR_INVALID, "proof: it has no index line");
	while (!take(&lines, "\n")) {
		if (proof.count == PROOF_HASHES_MAX ||
		    lines_hash(&lines, proof.hashes[proof.count]) < 0)
			return err_set(err, ERR_INVALID, "proof: hash %zu is none",
				       proof.count + 1);
		proof.count++;
	}
	*ret_proof = proof;
	*ret_index = index;
	*ret_checkpoint = lines.at;
	*ret_checkpoint_len = lines.left;
	return 0;
}
