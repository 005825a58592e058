/*
 * Heads and tails. The signer's tree only ever grows by leaves, from the head it signed last, so
 * two heads of different histories cannot both be signed. What can fail: a log that does not go on
 * from the last head; anything not of the protocol.
 */
#include "broker/signer/signer.h"

#include <string.h>

#include "broker/audit/tail.h"

static int read_hash(const struct json *json, uint8_t out[SHA256_LEN], struct err *err)
{
	const char *text = json_str(json);

	if (text == NULL)
		return err_set(err, ERR_INVALID, "a hash must be a string");
	return hex_read(text, strlen(text), out, SHA256_LEN, err);
}

static int read_tree(const struct json *params, struct tree *ret_tree, struct err *err)
{
	static const char *const keys[] = {"size", "peaks", NULL};
	uint8_t peaks[TREE_PEAKS_MAX][SHA256_LEN];
	const struct json *list = NULL;
	int64_t size = 0;
	size_t count = 0;

	if (json_only(params, keys, err) < 0 ||
	    json_want_int(params, "size", 0, JSON_INT_MAX, &size, err) < 0 ||
	    json_want_array(params, "peaks", &list, err) < 0)
		return -1;
	json_each(item, list)
	{
		if (count == TREE_PEAKS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d peaks", TREE_PEAKS_MAX);
		if (read_hash(item, peaks[count++], err) < 0)
			return -1;
	}
	return tree_restore(ret_tree, (uint64_t)size, (const uint8_t(*)[SHA256_LEN])peaks, count,
			    err);
}

int signer_head_resume(struct signer *signer, const struct json *params, struct json **ret_result,
		       struct err *err)
{
	uint8_t root[SHA256_LEN];
	struct tree tree;

	if (read_tree(params, &tree, err) < 0)
		return -1;
	tree_root(&tree, root);
	if (tree.size != signer->last.size || memcmp(root, signer->last.root, SHA256_LEN) != 0)
		return err_set(err, ERR_DENIED,
			       "the log (size %llu) does not stand at the last signed head (size "
			       "%llu): it was cut, rolled back or changed, and nothing is signed "
			       "behind or beside that head",
			       (unsigned long long)tree.size,
			       (unsigned long long)signer->last.size);
	signer->tree = tree;
	signer->resumed = true;
	*ret_result = json_object();
	return 0;
}

static int want_resumed(const struct signer *signer, struct err *err)
{
	if (!signer->resumed)
		return err_set(err, ERR_DENIED, "head.resume comes first");
	return 0;
}

static void add_line(const struct vkey *vkey, const struct sign_key *key, const struct buf *text,
		     struct buf *note)
{
	uint8_t signature[ED25519_SIGNATURE_LEN];

	sign_bytes(key, text->bytes, text->len, signature);
	note_line_write(vkey, signature, note);
}

/* epoch: with the line of the segment's key. */
static char *sign_text(const struct signer *signer, const struct buf *text, bool epoch)
{
	struct buf note = BUF_INIT;

	buf_add(&note, text->bytes, text->len);
	buf_add_char(&note, '\n');
	add_line(&signer->log_vkey, signer->keys.log, text, &note);
	if (epoch)
		add_line(&signer->epoch.vkey, signer->epoch.key, text, &note);
	return buf_take(&note);
}

/* All leaves are read before the tree grows by the first. None are enough to publish again. */
static int add_leaves(const struct json *leaves, bool publish, struct tree *tree,
		      uint8_t last[SHA256_LEN], struct err *err)
{
	size_t count = json_len(leaves);

	if ((count == 0 && !(publish && tree->size > 0)) || count > SIGNER_LEAVES_MAX)
		return err_set(err, ERR_INVALID, "leaves: %zu of them; 1 to %d are allowed", count,
			       SIGNER_LEAVES_MAX);
	if (tree->size > JSON_INT_MAX - count)
		return err_set(err, ERR_LIMIT, "the log is full");
	json_each(item, leaves)
	{
		if (read_hash(item, last, err) < 0)
			return err_wrap(err, "leaves");
		tree_add(tree, last);
	}
	return 0;
}

static void set_last(struct signer *signer)
{
	memcpy(signer->last.origin, signer->keys.origin, sizeof(signer->last.origin));
	signer->last.size = signer->tree.size;
	tree_root(&signer->tree, signer->last.root);
}

int signer_head_sign(struct signer *signer, const struct json *params, struct json **ret_result,
		     struct err *err)
{
	static const char *const keys[] = {"leaves", "publish", NULL};
	bool publish = json_get_bool(params, "publish", false);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(mem_freep) char *note = NULL;
	const struct json *leaves = NULL;
	uint8_t last[SHA256_LEN];
	struct tree tree = signer->tree;

	if (json_only(params, keys, err) < 0 ||
	    json_want_array(params, "leaves", &leaves, err) < 0 || want_resumed(signer, err) < 0 ||
	    add_leaves(leaves, publish, &tree, last, err) < 0)
		return -1;
	signer->tree = tree;
	if (json_len(leaves) > 0) {
		signer->has_leaf = true;
		memcpy(signer->last_leaf, last, SHA256_LEN);
	}
	set_last(signer);
	checkpoint_write(&signer->last, &text);
	note = sign_text(signer, &text, publish);
	*ret_result = json_object();
	json_set_int(*ret_result, "size", (int64_t)signer->tree.size);
	json_set_str(*ret_result, "note", note);
	return 0;
}

/* The peaks are the signer's own and the last leaf is compared; what the file is like it cannot
 * know. A wrong one makes the tail useless at the next start, nothing more. */
int signer_tail_sign(struct signer *signer, const struct json *params, struct json **ret_result,
		     struct err *err)
{
	static const char *const keys[] = {"size", "segment", "bytes", "last", "state", NULL};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(mem_freep) char *note = NULL;
	struct tail tail = {.tree = signer->tree};
	int64_t size = 0;
	int64_t segment = 0;
	int64_t bytes = 0;

	if (json_only(params, keys, err) < 0 ||
	    json_want_int(params, "segment", 0, JSON_INT_MAX, &segment, err) < 0 ||
	    read_hash(json_get(params, "state"), tail.state, err) < 0 ||
	    json_want_int(params, "size", 0, JSON_INT_MAX, &size, err) < 0 ||
	    json_want_int(params, "bytes", 0, JSON_INT_MAX, &bytes, err) < 0 ||
	    read_hash(json_get(params, "last"), tail.last, err) < 0 ||
	    want_resumed(signer, err) < 0)
		return -1;
	if (!signer->has_leaf || (uint64_t)size != signer->tree.size ||
	    memcmp(tail.last, signer->last_leaf, SHA256_LEN) != 0)
		return err_set(err, ERR_DENIED, "this is not the end of the log that was signed");
	tail.segment = (uint64_t)segment;
	tail.bytes = (uint64_t)bytes;
	memcpy(tail.origin, signer->keys.origin, sizeof(tail.origin));
	tail_write(&tail, &text);
	note = sign_text(signer, &text, false);
	*ret_result = json_object();
	json_set_str(*ret_result, "note", note);
	return 0;
}
