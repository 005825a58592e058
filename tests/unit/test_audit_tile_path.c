/* Tiles and bundles: paths, widths, and the published and the sample log read through them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/note.h"
#include "broker/audit/tile_path.h"
#include "broker/audit/tiles.h"
#include "tests/unit/vectors.h"

static struct err err;

static void test_paths_read_back_and_stand_in_one_form_only(void **state)
{
	static const struct {
		unsigned int level;
		uint64_t index;
		unsigned int width;
	} places[] = {
		{0, 0, 256}, {0, 999, 255}, {1, 1000, 1}, {7, 1234067, 256}, {2, 1000000, 17}};
	static const char *const bad[] = {
		"tile/0/1",	    "tile/0/0000",     "tile/0/x000/001",  "tile/8/000",
		"tile/00/000",	    "tile/0/000.p/0",  "tile/0/000.p/256", "tile/0/000.p/07",
		"tile/0/000.p/",    "tile/0/000/",     "tiles/0/000",	   "tile/entries/0/000",
		"tile/0/x01/000",   "tile/0/000.p/1x", "tile//000",	   "tile/0/",
		"tile/0/x001/x002", "tile/-1/000",     "tile/0/x1/",	   ""};
	struct tile_name place;
	char path[AUDIT_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		tile_path(places[i].level, places[i].index, places[i].width, path);
		assert_int_equal(tile_path_parse(path, &place, &err), 0);
		assert_int_equal(place.level, places[i].level);
		assert_int_equal(place.index, places[i].index);
		assert_int_equal(place.width, places[i].width);
		assert_false(place.entries);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (tile_path_parse(bad[i], &place, &err) == 0)
			fail_msg("%s is accepted", bad[i]);
	assert_int_equal(tile_path_parse("tile/entries/x001/x234/067.p/3", &place, &err), 0);
	assert_true(place.entries);
	assert_int_equal(place.index, 1234067);
	assert_int_equal(place.width, 3);
	assert_int_equal(
		tile_path_parse("tile/0/x999/x999/x999/x999/x999/x999/x999/999", &place, &err), -1);
}

static void test_a_bundles_path_is_that_of_its_tile(void **state)
{
	char path[AUDIT_NAME_MAX];

	(void)state;
	bundle_path(1234067, 256, path);
	assert_string_equal(path, "tile/entries/x001/x234/067");
	bundle_path(2, 188, path);
	assert_string_equal(path, "tile/entries/002.p/188");
}

static void test_a_bundle_is_read_to_its_end_or_refused(void **state)
{
	static const uint8_t bytes[] = {0, 2, 'a', 'b', 0, 0, 0, 1, 'c'};
	const char *entry;
	size_t len;

	(void)state;
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		struct bundle_reader reader = {bytes, cut};
		int got;

		while ((got = bundle_next(&reader, &entry, &len, &err)) == 1)
			;
		assert_int_equal(got, cut == 0 || cut == 4 || cut == 6 || cut == 9 ? 0 : -1);
	}
	{
		struct bundle_reader reader = {bytes, sizeof(bytes)};

		assert_int_equal(bundle_next(&reader, &entry, &len, &err), 1);
		assert_int_equal(len, 2);
		assert_memory_equal(entry, "ab", 2);
	}
}

/* Adds the entries of a bundle to the tree and compares each leaf with the tile's. */
static void add_bundle(struct tree *tree, const struct buf *bundle, const struct buf *tile)
{
	struct bundle_reader reader = {(const uint8_t *)bundle->bytes, bundle->len};
	const char *entry = NULL;
	size_t len = 0;

	for (size_t i = 0; bundle_next(&reader, &entry, &len, &err) == 1; i++) {
		uint8_t leaf[SHA256_LEN];

		leaf_hash(entry, len, leaf);
		assert_true((i + 1) * SHA256_LEN <= tile->len);
		assert_memory_equal(leaf, tile->bytes + i * SHA256_LEN, SHA256_LEN);
		tree_add(tree, leaf);
	}
	assert_int_equal(reader.left, 0);
}

static void check_head(const struct buf *text, const char *vkey_text, const struct tree *tree)
{
	struct note *note = mem_alloc(sizeof(*note));
	struct checkpoint checkpoint;
	uint8_t root[SHA256_LEN];
	struct vkey key;

	assert_int_equal(vkey_parse(vkey_text, strlen(vkey_text), &key, &err), 0);
	assert_int_equal(note_parse(text->bytes, text->len, note, &err), 0);
	assert_int_equal(note_verify(note, &key, 1, &err), 0);
	assert_int_equal(checkpoint_parse(note->text, note->text_len, &checkpoint, &err), 0);
	assert_int_equal(checkpoint.size, tree->size);
	tree_root(tree, root);
	assert_memory_equal(root, checkpoint.root, SHA256_LEN);
	mem_free(note);
}

static void test_the_published_log_fits_each_of_its_heads(void **state)
{
	static const char vkey[] =
		"example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";
	struct buf bytes = BUF_INIT;

	(void)state;
	for (unsigned int size = 0; size <= 15; size++) {
		struct buf bundle = BUF_INIT, tile = BUF_INIT;
		struct tree tree;
		char name[96];

		tree_init(&tree);
		snprintf(name, sizeof(name), "audit/tessera-log/checkpoint.%u", size);
		buf_reset(&bytes);
		if (!vector_read(name, &bytes)) {
			skip();
			return;
		}
		snprintf(name, sizeof(name), "audit/tessera-log/tile/entries/000.p/%u", size);
		assert_true(size == 0 || vector_read(name, &bundle));
		snprintf(name, sizeof(name), "audit/tessera-log/tile/0/000.p/%u", size);
		assert_true(size == 0 || vector_read(name, &tile));
		add_bundle(&tree, &bundle, &tile);
		check_head(&bytes, vkey, &tree);
		buf_clear(&bundle);
		buf_clear(&tile);
	}
	buf_clear(&bytes);
}

static void test_the_sample_logs_tiles_hold_its_leaves_and_roots(void **state)
{
	static const char *const names[] = {"000", "001", "002.p/188"};
	struct buf vkeys = BUF_INIT, head = BUF_INIT, upper = BUF_INIT;
	struct tree tree;

	(void)state;
	tree_init(&tree);
	if (!vector_read("audit/sample-log/vkeys.txt", &vkeys)) {
		skip();
		return;
	}
	assert_true(vector_read("audit/sample-log/tile/1/000.p/2", &upper));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct buf bundle = BUF_INIT, tile = BUF_INIT;
		uint8_t root[SHA256_LEN];
		char name[96];

		snprintf(name, sizeof(name), "audit/sample-log/tile/entries/%s", names[i]);
		assert_true(vector_read(name, &bundle));
		snprintf(name, sizeof(name), "audit/sample-log/tile/0/%s", names[i]);
		assert_true(vector_read(name, &tile));
		add_bundle(&tree, &bundle, &tile);
		if (i < 2) {
			struct tile hashes;

			memcpy(hashes.hashes, tile.bytes, sizeof(hashes.hashes));
			tile_root(hashes.hashes, TILE_WIDTH, root);
			assert_memory_equal(root, upper.bytes + i * SHA256_LEN, SHA256_LEN);
		}
		buf_clear(&bundle);
		buf_clear(&tile);
	}
	assert_true(vector_read("audit/sample-log/checkpoint", &head));
	vkeys.bytes[strcspn(vkeys.bytes, "\n")] = '\0';
	check_head(&head, vkeys.bytes + 4, &tree);
	buf_clear(&vkeys);
	buf_clear(&head);
	buf_clear(&upper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_read_back_and_stand_in_one_form_only),
		cmocka_unit_test(test_a_bundles_path_is_that_of_its_tile),
		cmocka_unit_test(test_a_bundle_is_read_to_its_end_or_refused),
		cmocka_unit_test(test_the_published_log_fits_each_of_its_heads),
		cmocka_unit_test(test_the_sample_logs_tiles_hold_its_leaves_and_roots),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
