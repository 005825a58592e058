/*
 * The sign stage: the leaves of what is durable go to the signer, and its answer is held against
 * our own tree. At the end of a closed segment it stops until that is sealed and the signer is in
 * the next epoch. What can fail: the signer, a head that is not that of our records.
 */
#include <string.h>

#include "broker/audit/tile_files.h"
#include "broker/audit/writer_state.h"

#define SIGN_LEAVES_MAX 4096u /* of one head.sign */

/* Its signature is checked before it is published; here that it is the head of our records. */
static int check_head(const struct audit *audit, const struct tree *tree, const char *note,
		      struct err *err)
{
	CLEANUP(mem_freep) struct note *parsed = mem_alloc(sizeof(*parsed));
	struct checkpoint checkpoint;
	uint8_t root[SHA256_LEN];

	if (note_parse(note, strlen(note), parsed, err) < 0 ||
	    checkpoint_parse(parsed->text, parsed->text_len, &checkpoint, err) < 0)
		return -1;
	tree_root(tree, root);
	if (strcmp(checkpoint.origin, audit->vkey.name) != 0 || checkpoint.size != tree->size ||
	    memcmp(root, checkpoint.root, SHA256_LEN) != 0)
		return err_set(err, ERR_INTERNAL, "the signed head is not that of our records");
	return 0;
}

static void on_full_tile(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	struct audit *audit = data;
	struct full_tile *full;

	if (audit->full_tile_count == audit->full_tile_room) {
		audit->full_tile_room = audit->full_tile_room == 0 ? 4 : audit->full_tile_room * 2;
		audit->full_tiles = mem_grow(audit->full_tiles,
					     audit->full_tile_room * sizeof(*audit->full_tiles));
	}
	full = &audit->full_tiles[audit->full_tile_count++];
	full->level = level;
	full->index = index;
	full->tile = *tile;
	audit->last_full[level] = *tile;
	audit->last_full_index[level] = index;
}

/* Behind the published head, for a signer that starts anew. */
static void keep_leaf(struct audit *audit, const uint8_t leaf[SHA256_LEN])
{
	if (audit->kept_count == audit->kept_room) {
		audit->kept_room = audit->kept_room == 0 ? 256 : audit->kept_room * 2;
		audit->kept_leaves = mem_grow(audit->kept_leaves, audit->kept_room * SHA256_LEN);
	}
	memcpy(audit->kept_leaves[audit->kept_count++], leaf, SHA256_LEN);
}

static int take_head(struct audit *audit, const char *note, struct err *err)
{
	struct tree tree = audit->signed_tree;

	for (size_t i = 0; i < audit->signing_count; i++)
		tree_add(&tree, audit->signing_leaves[i]);
	if (check_head(audit, &tree, note, err) < 0)
		return err_wrap(err, "signer");
	for (size_t i = 0; i < audit->signing_count; i++) {
		keep_leaf(audit, audit->signing_leaves[i]);
		if (audit->signed_again > 0)
			audit->signed_again--;
		else
			tiles_add(&audit->tiles, audit->signing_leaves[i], on_full_tile, audit);
	}
	audit->signed_tree = tree;
	mem_free(audit->checkpoint);
	audit->checkpoint = mem_str(note);
	audit->head_publishes = audit->sign_publishes;
	writer_want_publish(audit);
	return 0;
}

static void on_signed(void *data, const char *note, const struct err *why)
{
	struct audit *audit = data;
	struct err err;

	audit->sign_busy = false;
	if (audit->stopped || audit->sign_void) {
		audit->sign_void = false; /* too late to matter, or asked anew */
	} else if (why != NULL) {
		err = *why;
		err_wrap(&err, "signing a head");
		audit_stop(audit, &err);
	} else if (take_head(audit, note, &err) < 0) {
		audit_stop(audit, &err);
	}
	audit_wake(audit);
}

/* A head never spans the border of a closed segment: that one is its seal. */
static size_t leaves_to_sign(const struct audit *audit, bool *ret_border)
{
	size_t count =
		audit->unsigned_count < SIGN_LEAVES_MAX ? audit->unsigned_count : SIGN_LEAVES_MAX;
	uint64_t left = audit->closed.next - audit->signed_tree.size;

	*ret_border = audit->sealing && left <= count;
	return *ret_border ? (size_t)left : count;
}

static bool segment_has_key(const struct audit *audit)
{
	return audit->sealing ? audit->closed.has_key : audit->segment.has_key;
}

static void send_leaves(struct audit *audit, size_t count, bool publish)
{
	size_t rest = audit->unsigned_count - count;

	audit->signing_leaves = mem_grow(audit->signing_leaves, (count + 1) * SHA256_LEN);
	if (count > 0) {
		memcpy(audit->signing_leaves, audit->unsigned_leaves, count * SHA256_LEN);
		memmove(audit->unsigned_leaves, audit->unsigned_leaves + count, rest * SHA256_LEN);
	}
	audit->unsigned_count = rest;
	audit->signing_count = count;
	audit->sign_busy = true;
	audit->sign_publishes = publish;
	audit->signer.sign_head(audit->signer.self,
				(const uint8_t(*)[SHA256_LEN])audit->signing_leaves, count,
				publish && segment_has_key(audit), on_signed, audit);
}

uint64_t writer_epoch_wanted(const struct audit *audit)
{
	if (audit->sealing)
		return audit->closed.has_key ? audit->closed.number : 1;
	return audit->segment.has_key ? audit->segment.number : 1;
}

static void on_rolled(void *data, const struct audit_epoch *epoch, const struct err *why)
{
	struct audit *audit = data;
	struct err err;

	audit->roll_busy = false;
	if (audit->roll_void) {
		audit->roll_void = false;
	} else if (why != NULL) {
		err = *why;
		err_wrap(&err, "beginning the next key epoch");
		audit_stop(audit, &err);
	} else {
		audit_epoch_clear(&audit->epoch);
		audit_epoch_copy(&audit->epoch, epoch);
	}
	audit_wake(audit);
}

/* True while the signer is behind the log: nothing is signed until it has rolled forward. */
static bool roll_if_behind(struct audit *audit)
{
	if (audit->epoch.number >= writer_epoch_wanted(audit))
		return false;
	if (audit->roll_busy)
		return true;
	audit->roll_busy = true;
	audit->signer.roll_epoch(audit->signer.self, audit->epoch.number + 1, on_rolled, audit);
	return true;
}

void writer_start_sign(struct audit *audit)
{
	bool border;
	size_t count = leaves_to_sign(audit, &border);
	bool publish = audit->publish_due || border;

	if (audit->sign_busy || roll_if_behind(audit))
		return;
	if (count == 0 && (!publish || audit->head_publishes || audit->signed_tree.size == 0))
		return;
	send_leaves(audit, count, publish);
}

/* Proofs. */
static const struct tile *find_tile(const struct audit *audit, const struct tile_place *place)
{
	uint64_t open = tiles_hashes(audit->tiles.size, place->level) / TILE_WIDTH;

	if (place->index == open)
		return &audit->tiles.open[place->level];
	if (place->index == audit->last_full_index[place->level])
		return &audit->last_full[place->level];
	for (size_t i = 0; i < audit->full_tile_count; i++)
		if (audit->full_tiles[i].level == place->level &&
		    audit->full_tiles[i].index == place->index)
			return &audit->full_tiles[i].tile;
	return NULL;
}

static int read_node(void *self, unsigned int height, uint64_t index, uint8_t out[SHA256_LEN],
		     struct err *err)
{
	const struct audit *audit = self;
	struct tile_place place = tile_place_of(height, index);
	const struct tile *tile = find_tile(audit, &place);
	struct tile read;

	if (tile == NULL) {
		if (tile_file_read(audit->dir_fd, place.level, place.index, TILE_WIDTH, &read,
				   err) < 0)
			return -1;
		tile = &read;
	}
	tile_root((const uint8_t(*)[SHA256_LEN])tile->hashes + place.at, place.count, out);
	return 0;
}

static void *without_const(const struct audit *audit)
{
	union {
		const struct audit *in;
		void *out;
	} pointer = {.in = audit};

	return pointer.out;
}

int audit_proof(const struct audit *audit, uint64_t seq, struct buf *out, struct err *err)
{
	struct node_reader reader = {without_const(audit), read_node};
	struct proof proof;

	if (audit->tiles.size != audit->signed_tree.size)
		return err_set(err, ERR_UNAVAILABLE, "the signer is starting anew; ask again");
	if (proof_inclusion(&reader, seq, audit->signed_tree.size, &proof, err) < 0)
		return -1;
	proof_write(&proof, seq, audit->checkpoint, out);
	return 0;
}
