/* Nodes. What can fail: the disk, and a log with fewer records than its head says. What the files
 * hold is believed: whoever makes a proof checks it against the root. */
#include "broker/audit/log_nodes.h"

#include <string.h>

#include "broker/audit/log_walk.h"

void log_nodes_clear(struct log_nodes *nodes)
{
	mem_free(nodes->leaves);
	nodes->leaves = NULL;
}

struct filling {
	struct log_nodes *nodes;
	uint64_t count;
};

static int add_leaf(void *data, const struct log_line *line, struct err *err)
{
	struct filling *filling = data;

	(void)err;
	if (filling->count == filling->nodes->size)
		return 1;
	leaf_hash(line->entry, line->len, filling->nodes->leaves[filling->count++]);
	return 0;
}

static int read_leaves(struct log_nodes *nodes, struct err *err)
{
	struct filling filling = {.nodes = nodes};

	nodes->leaves = mem_array(nodes->size + 1, SHA256_LEN);
	if (nodes->dir->count > 0 && nodes->dir->parts[0].first == 0 &&
	    log_walk(nodes->dir, add_leaf, &filling, err) < 0)
		return -1;
	if (filling.count < nodes->size)
		return err_set(err, ERR_INVALID,
			       "a tile is missing, and the lines of all %llu records are not there "
			       "either",
			       (unsigned long long)nodes->size);
	return 0;
}

static void node_of_leaves(const struct log_nodes *nodes, unsigned int height, uint64_t index,
			   uint8_t out[SHA256_LEN])
{
	uint64_t from = index << height;
	struct tree tree;

	tree_init(&tree);
	for (uint64_t i = 0; i < 1ULL << height; i++)
		tree_add(&tree, nodes->leaves[from + i]);
	tree_root(&tree, out);
}

static int read_node(void *self, unsigned int height, uint64_t index, uint8_t out[SHA256_LEN],
		     struct err *err)
{
	struct log_nodes *nodes = self;
	struct tile_place place = tile_place_of(height, index);
	uint64_t known = tiles_hashes(nodes->size, place.level) - place.index * TILE_WIDTH;
	CLEANUP(mem_freep) struct tile *tile = mem_alloc(sizeof(*tile));
	struct err why;

	if (nodes->leaves == NULL) {
		if (log_dir_tile(nodes->dir, place.level, place.index,
				 known > TILE_WIDTH ? TILE_WIDTH : (unsigned int)known, tile,
				 &why) == 0) {
			tile_root((const uint8_t(*)[SHA256_LEN])tile->hashes + place.at,
				  place.count, out);
			return 0;
		}
		if (why.kind == ERR_IO)
			return err_set(err, why.kind, "%s", why.text);
		if (read_leaves(nodes, err) < 0)
			return -1;
	}
	node_of_leaves(nodes, height, index, out);
	return 0;
}

struct node_reader log_node_reader(struct log_nodes *nodes)
{
	return (struct node_reader){nodes, read_node};
}
