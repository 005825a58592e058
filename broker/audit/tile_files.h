/* Tiles on the disk, and the nodes read from them. Blocking. */
#ifndef BROKER_AUDIT_TILE_FILES_H
#define BROKER_AUDIT_TILE_FILES_H

#include "broker/audit/proof.h"
#include "broker/audit/tiles.h"

/* Reads count hashes of a tile: from the partial one of that width, or else the full one.
 * ERR_NOT_FOUND when there is neither. dir_fd: the log's folder. */
MUST_CHECK int tile_file_read(int dir_fd, unsigned int level, uint64_t index, unsigned int count,
			      struct tile *ret_tile, struct err *err);
/* The right edge of a size. What the files hold is believed: compare the peaks or the root. */
MUST_CHECK int tile_files_load(int dir_fd, uint64_t size, struct tiles *ret_tiles, struct err *err);

/* Makes folders as needed. A full tile takes the place of its partial ones. */
MUST_CHECK int tile_file_write(int dir_fd, unsigned int level, uint64_t index, unsigned int width,
			       const struct tile *tile, bool sync, struct err *err);
/* The partial tiles of a size. */
MUST_CHECK int tile_files_write_edge(int dir_fd, const struct tiles *tiles, bool sync,
				     struct err *err);

/* Nodes of a tree of that size out of its tiles, for proof.h. */
struct tile_reader {
	int dir_fd;
	uint64_t size;
};
struct node_reader tile_node_reader(struct tile_reader *reader);

#endif
