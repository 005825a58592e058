/*
 * Hash tiles of the tree (C2SP tlog-tiles v0.1.0, height 8), pure. Level 0 holds leaf hashes, level
 * L + 1 the roots of full tiles of level L.
 *
 * struct tiles is the right edge: for each level the tile that is not full yet. It is all one needs
 * to append, to know the peaks and the root, and to write the partial tiles of a size.
 */
#ifndef BROKER_AUDIT_TILES_H
#define BROKER_AUDIT_TILES_H

#include "broker/audit/layout.h"
#include "broker/audit/tree.h"

struct tile {
	uint8_t hashes[TILE_WIDTH][SHA256_LEN];
};

struct tiles {
	uint64_t size;
	struct tile open[TILE_LEVELS_MAX]; /* tiles_width() of them are in use */
};

/* How many hashes of level the tree of that size has, and how many of them are behind the last full
 * tile. */
uint64_t tiles_hashes(uint64_t size, unsigned int level);
unsigned int tiles_width(uint64_t size, unsigned int level);

void tiles_init(struct tiles *tiles);
/* full (may be NULL) runs for each tile that this leaf completes, lowest level first. */
void tiles_add(struct tiles *tiles, const uint8_t leaf[SHA256_LEN],
	       void (*full)(void *data, unsigned int level, uint64_t index,
			    const struct tile *tile),
	       void *data);
/* The same for a hash of a level above 0, which stands for 256^level records: the size must be a
 * multiple of that. full does not run for the tiles below it. */
void tiles_add_at(struct tiles *tiles, unsigned int level, const uint8_t hash[SHA256_LEN],
		  void (*full)(void *data, unsigned int level, uint64_t index,
			       const struct tile *tile),
		  void *data);
void tiles_tree(const struct tiles *tiles, struct tree *ret_tree);

/* The root over count hashes, a power of two from 1 to 256. */
void tile_root(const uint8_t (*hashes)[SHA256_LEN], size_t count, uint8_t out[SHA256_LEN]);

/* Where the hash of the full subtree of 2^height records number index stands: the tile, and count
 * hashes of it from at on whose root it is. */
struct tile_place {
	unsigned int level;
	uint64_t index;
	size_t at;
	size_t count;
};
struct tile_place tile_place_of(unsigned int height, uint64_t index);

#endif
