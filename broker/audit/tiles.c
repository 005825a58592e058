/* The right edge of the tiles. Nothing here can fail. */
#include "broker/audit/tiles.h"

#include <string.h>

#include "base/sha256_many.h"

uint64_t tiles_hashes(uint64_t size, unsigned int level)
{
	return size >> (TILE_HEIGHT * level);
}

unsigned int tiles_width(uint64_t size, unsigned int level)
{
	return (unsigned int)(tiles_hashes(size, level) % TILE_WIDTH);
}

void tiles_init(struct tiles *tiles)
{
	tiles->size = 0;
}

void tile_root(const uint8_t (*hashes)[SHA256_LEN], size_t count, uint8_t out[SHA256_LEN])
{
	uint8_t rows[2][TILE_WIDTH / 2][SHA256_LEN];
	struct sha256_job jobs[TILE_WIDTH / 2];
	const uint8_t(*from)[SHA256_LEN] = hashes;

	for (size_t turn = 0; count > 1; turn ^= 1) {
		count /= 2;
		for (size_t i = 0; i < count; i++)
			jobs[i] = (struct sha256_job){from[2 * i], 2 * SHA256_LEN, rows[turn][i]};
		sha256_many(0x01, jobs, count);
		from = (const uint8_t(*)[SHA256_LEN])rows[turn];
	}
	memcpy(out, from[0], SHA256_LEN);
}

void tiles_add_at(struct tiles *tiles, unsigned int level, const uint8_t first[SHA256_LEN],
		  void (*full)(void *data, unsigned int level, uint64_t index,
			       const struct tile *tile),
		  void *data)
{
	uint64_t more = 1ULL << (TILE_HEIGHT * level);
	uint8_t hash[SHA256_LEN];

	memcpy(hash, first, SHA256_LEN);
	for (; level < TILE_LEVELS_MAX; level++) {
		struct tile *tile = &tiles->open[level];
		unsigned int width = tiles_width(tiles->size, level);

		memcpy(tile->hashes[width], hash, SHA256_LEN);
		if (width + 1 < TILE_WIDTH)
			break;
		if (full != NULL)
			full(data, level, tiles_hashes(tiles->size, level) / TILE_WIDTH, tile);
		tile_root((const uint8_t(*)[SHA256_LEN])tile->hashes, TILE_WIDTH, hash);
	}
	tiles->size += more;
}

void tiles_add(struct tiles *tiles, const uint8_t leaf[SHA256_LEN],
	       void (*full)(void *data, unsigned int level, uint64_t index,
			    const struct tile *tile),
	       void *data)
{
	tiles_add_at(tiles, 0, leaf, full, data);
}

/* Peaks stand largest first: those of the highest level first, and within a level in the order of
 * the bits of its width. */
void tiles_tree(const struct tiles *tiles, struct tree *ret_tree)
{
	tree_init(ret_tree);
	ret_tree->size = tiles->size;
	for (unsigned int level = TILE_LEVELS_MAX; level-- > 0;) {
		unsigned int width = tiles_width(tiles->size, level);
		size_t at = 0;

		for (unsigned int run = TILE_WIDTH / 2; run > 0; run /= 2) {
			if ((width & run) == 0)
				continue;
			tile_root((const uint8_t(*)[SHA256_LEN])tiles->open[level].hashes + at, run,
				  ret_tree->peaks[ret_tree->count++]);
			at += run;
		}
	}
}

struct tile_place tile_place_of(unsigned int height, uint64_t index)
{
	unsigned int within = height % TILE_HEIGHT;
	uint64_t first = index << within;

	return (struct tile_place){.level = height / TILE_HEIGHT,
				   .index = first / TILE_WIDTH,
				   .at = (size_t)(first % TILE_WIDTH),
				   .count = (size_t)1 << within};
}
