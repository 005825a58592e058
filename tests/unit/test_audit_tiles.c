/* Tiles and proofs against the plain tree, at every size up to past the second level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "broker/audit/proof.h"
#include "broker/audit/tiles.h"

#define MANY (256 * 256 + 700)

struct world {
	uint8_t (*leaves)[SHA256_LEN];
	struct tile full[2][TILE_WIDTH + 4];
	size_t full_count[TILE_LEVELS_MAX];
	struct tiles tiles;
};

static void on_full(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	struct world *world = data;

	assert_true(level < 2);
	assert_int_equal(index, world->full_count[level]);
	world->full[level][index] = *tile;
	world->full_count[level]++;
}

/* The node from the full tiles, or from the open one. */
static int read_node(void *self, unsigned int height, uint64_t index, uint8_t out[SHA256_LEN],
		     struct err *err)
{
	struct world *world = self;
	struct tile_place place = tile_place_of(height, index);
	bool is_full = place.index < world->full_count[place.level];
	const struct tile *tile =
		is_full ? &world->full[place.level][place.index] : &world->tiles.open[place.level];

	(void)err;
	if (!is_full)
		assert_true(place.at + place.count <= tiles_width(world->tiles.size, place.level));
	tile_root((const uint8_t(*)[SHA256_LEN])tile->hashes + place.at, place.count, out);
	return 0;
}

static int setup(void **state)
{
	struct world *world = mem_alloc(sizeof(*world));

	world->leaves = mem_array(MANY, SHA256_LEN);
	for (uint32_t i = 0; i < MANY; i++)
		leaf_hash(&i, sizeof(i), world->leaves[i]);
	tiles_init(&world->tiles);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	mem_free(world->leaves);
	mem_free(world);
	return 0;
}

static void grow(struct world *world, uint64_t size)
{
	while (world->tiles.size < size)
		tiles_add(&world->tiles, world->leaves[world->tiles.size], on_full, world);
}

static void peaks_of_tiles_are_the_peaks_of_the_tree(void **state)
{
	struct world *world = *state;
	struct tree tree;
	struct tree from_tiles;

	tree_init(&tree);
	for (uint64_t size = 0; size < MANY; size++) {
		grow(world, size);
		if (size < 600 || size % 251 == 0 || (size > 65530 && size < 65540)) {
			tiles_tree(&world->tiles, &from_tiles);
			assert_int_equal(from_tiles.size, size);
			assert_int_equal(from_tiles.count, tree.count);
			assert_memory_equal(from_tiles.peaks, tree.peaks, tree.count * SHA256_LEN);
		}
		tree_add(&tree, world->leaves[size]);
	}
	assert_int_equal(world->full_count[0], 258);
	assert_int_equal(world->full_count[1], 1);
	assert_int_equal(world->full_count[2], 0);
	assert_int_equal(tiles_width(MANY, 0), 700 % 256);
	assert_int_equal(tiles_width(MANY, 1), 2);
	assert_int_equal(tiles_width(MANY, 2), 1);
}

static struct proof_hash hash_of(const uint8_t *bytes)
{
	return (struct proof_hash){bytes, SHA256_LEN};
}

static void list(const struct proof *proof, struct proof_hash *out)
{
	for (size_t i = 0; i < proof->count; i++)
		out[i] = hash_of(proof->hashes[i]);
}

static void check_inclusion(struct world *world, uint64_t index, uint64_t size)
{
	struct node_reader reader = {world, read_node};
	struct proof_hash hashes[PROOF_HASHES_MAX];
	uint8_t root[SHA256_LEN];
	struct proof proof;
	struct err err;

	assert_int_equal(proof_root(&reader, size, root, &err), 0);
	assert_int_equal(proof_inclusion(&reader, index, size, &proof, &err), 0);
	list(&proof, hashes);
	assert_int_equal(inclusion_verify(hash_of(world->leaves[index]), index, size, hashes,
					  proof.count, hash_of(root), &err),
			 0);
}

static void check_consistency(struct world *world, uint64_t size1, uint64_t size2)
{
	struct node_reader reader = {world, read_node};
	struct proof_hash hashes[PROOF_HASHES_MAX];
	uint8_t root1[SHA256_LEN];
	uint8_t root2[SHA256_LEN];
	struct proof proof;
	struct err err;

	assert_int_equal(proof_root(&reader, size1, root1, &err), 0);
	assert_int_equal(proof_root(&reader, size2, root2, &err), 0);
	assert_int_equal(proof_consistency(&reader, size1, size2, &proof, &err), 0);
	list(&proof, hashes);
	assert_int_equal(consistency_verify(size1, hash_of(root1), size2, hash_of(root2), hashes,
					    proof.count, &err),
			 0);
}

static void every_proof_of_a_small_tree_verifies(void **state)
{
	struct world *world = *state;

	grow(world, 300);
	for (uint64_t size = 1; size <= 300; size += size < 20 ? 1 : 7) {
		for (uint64_t index = 0; index < size; index++)
			check_inclusion(world, index, size);
		for (uint64_t size1 = 1; size1 <= size; size1++)
			check_consistency(world, size1, size);
	}
}

static void proofs_cross_the_levels_of_tiles(void **state)
{
	struct world *world = *state;
	static const uint64_t places[] = {0, 255, 256, 65535, 65536, MANY - 1};

	grow(world, MANY);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		check_inclusion(world, places[i], MANY);
		check_consistency(world, places[i] + 1, MANY);
	}
}

static void numbers_outside_of_the_tree_have_no_proof(void **state)
{
	struct world *world = *state;
	struct node_reader reader = {world, read_node};
	struct proof proof;
	struct err err;

	grow(world, 10);
	assert_int_equal(proof_inclusion(&reader, 10, 10, &proof, &err), -1);
	assert_string_equal(err.text, "record 10 is not below the head of 10");
	assert_int_equal(proof_consistency(&reader, 0, 10, &proof, &err), -1);
	assert_int_equal(proof_consistency(&reader, 11, 10, &proof, &err), -1);
	assert_string_equal(err.text, "no consistency proof leads from size 11 to 10");
}

static void a_proof_file_reads_back(void **state)
{
	struct world *world = *state;
	struct node_reader reader = {world, read_node};
	struct buf text = BUF_INIT;
	struct proof proof;
	struct proof back;
	const char *checkpoint = NULL;
	size_t checkpoint_len = 0;
	uint64_t index = 0;
	struct err err;

	grow(world, 11);
	assert_int_equal(proof_inclusion(&reader, 4, 11, &proof, &err), 0);
	proof_write(&proof, 4, "origin\n11\nroot\n", &text);
	assert_int_equal(
		proof_read(text.bytes, text.len, &back, &index, &checkpoint, &checkpoint_len, &err),
		0);
	assert_int_equal(index, 4);
	assert_int_equal(back.count, proof.count);
	assert_memory_equal(back.hashes, proof.hashes, proof.count * SHA256_LEN);
	assert_int_equal(checkpoint_len, strlen("origin\n11\nroot\n"));
	assert_memory_equal(checkpoint, "origin\n11\nroot\n", checkpoint_len);
	buf_clear(&text);
}

static void a_proof_file_out_of_form_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{"", "proof: line 1 is not c2sp.org/tlog-proof@v1"},
		{"c2sp.org/tlog-proof@v2\n", "proof: line 1 is not c2sp.org/tlog-proof@v1"},
		{"c2sp.org/tlog-proof@v1\n\n", "proof: it has no index line"},
		{"c2sp.org/tlog-proof@v1\nindex 01\n\n", "proof: it has no index line"},
		{"c2sp.org/tlog-proof@v1\nextra *\nindex 1\n\n",
		 "proof: its extra line is no base64"},
		{"c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\n", "proof: hash 1 is none"},
		{"c2sp.org/tlog-proof@v1\nindex 1\n", "proof: hash 1 is none"},
	};
	struct proof proof;
	const char *checkpoint = NULL;
	size_t len = 0;
	uint64_t index = 0;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(proof_read(rows[i].text, strlen(rows[i].text), &proof, &index,
					    &checkpoint, &len, &err),
				 -1);
		assert_string_equal(err.text, rows[i].why);
	}
	assert_int_equal(proof_read("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 1\n\n", 43, &proof,
				    &index, &checkpoint, &len, &err),
			 0);
	assert_int_equal(len, 0);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(peaks_of_tiles_are_the_peaks_of_the_tree),
		WITH_WORLD(every_proof_of_a_small_tree_verifies),
		WITH_WORLD(proofs_cross_the_levels_of_tiles),
		WITH_WORLD(numbers_outside_of_the_tree_have_no_proof),
		WITH_WORLD(a_proof_file_reads_back),
		cmocka_unit_test(a_proof_file_out_of_form_is_refused),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
