/* One file per tile. What can fail: the disk; a file of the wrong length. */
#include "broker/audit/tile_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int read_exactly(int dir_fd, const char *path, unsigned int width, unsigned int count,
			struct tile *ret_tile, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(dir_fd, path, sizeof(*ret_tile), &bytes, err) < 0)
		return -1;
	if (bytes.len != (size_t)width * SHA256_LEN)
		return err_set(err, ERR_INVALID, "%s: %zu bytes, not %u", path, bytes.len,
			       width * SHA256_LEN);
	memcpy(ret_tile->hashes, bytes.bytes, (size_t)count * SHA256_LEN);
	return 0;
}

int tile_file_read(int dir_fd, unsigned int level, uint64_t index, unsigned int count,
		   struct tile *ret_tile, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	struct err why = {0};

	tile_path(level, index, count, path);
	if (read_exactly(dir_fd, path, count, count, ret_tile, &why) == 0)
		return 0;
	if (count < TILE_WIDTH && why.kind == ERR_NOT_FOUND) {
		tile_path(level, index, TILE_WIDTH, path);
		return read_exactly(dir_fd, path, TILE_WIDTH, count, ret_tile, err);
	}
	return err_set(err, why.kind, "%s", why.text);
}

int tile_files_load(int dir_fd, uint64_t size, struct tiles *ret_tiles, struct err *err)
{
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++) {
		unsigned int width = tiles_width(size, level);

		if (width > 0 &&
		    tile_file_read(dir_fd, level, tiles_hashes(size, level) / TILE_WIDTH, width,
				   &ret_tiles->open[level], err) < 0)
			return -1;
	}
	ret_tiles->size = size;
	return 0;
}

static int make_parents(int dir_fd, const char *path, struct err *err)
{
	char folder[AUDIT_NAME_MAX];

	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdirat(dir_fd, folder, 0700) < 0 && errno != EEXIST)
			return err_errno(err, "%s: make folder", folder);
	}
	return 0;
}

static int replace(int dir_fd, const char *path, const struct tile *tile, unsigned int width,
		   bool sync, struct err *err)
{
	struct err why = {0};
	size_t len = (size_t)width * SHA256_LEN;

	if (file_replace_at(dir_fd, path, 0600, tile->hashes, len, sync, &why) == 0)
		return 0;
	/* Folders are there but for the first tile of each; asking every time would cost more. */
	if (make_parents(dir_fd, path, err) < 0)
		return -1;
	return file_replace_at(dir_fd, path, 0600, tile->hashes, len, sync, err);
}

static void remove_partials(int dir_fd, unsigned int level, uint64_t index)
{
	char path[AUDIT_NAME_MAX];
	DIR *folder;
	int fd;

	tile_path(level, index, 1, path);
	*strrchr(path, '/') = '\0';
	fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	folder = fd < 0 ? NULL : fdopendir(fd);
	if (folder == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	unlinkat(dir_fd, path, AT_REMOVEDIR);
}

int tile_file_write(int dir_fd, unsigned int level, uint64_t index, unsigned int width,
		    const struct tile *tile, bool sync, struct err *err)
{
	char path[AUDIT_NAME_MAX];

	tile_path(level, index, width, path);
	if (replace(dir_fd, path, tile, width, sync, err) < 0)
		return -1;
	if (width == TILE_WIDTH)
		remove_partials(dir_fd, level, index);
	return 0;
}

int tile_files_write_edge(int dir_fd, const struct tiles *tiles, bool sync, struct err *err)
{
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++) {
		unsigned int width = tiles_width(tiles->size, level);

		if (width > 0 &&
		    tile_file_write(dir_fd, level, tiles_hashes(tiles->size, level) / TILE_WIDTH,
				    width, &tiles->open[level], sync, err) < 0)
			return -1;
	}
	return 0;
}

static int read_node(void *self, unsigned int height, uint64_t index, uint8_t out[SHA256_LEN],
		     struct err *err)
{
	const struct tile_reader *reader = self;
	struct tile_place place = tile_place_of(height, index);
	uint64_t hashes = tiles_hashes(reader->size, place.level);
	unsigned int width = place.index < hashes / TILE_WIDTH
				     ? TILE_WIDTH
				     : (unsigned int)(hashes % TILE_WIDTH);
	struct tile tile;

	if (place.index > hashes / TILE_WIDTH || place.at + place.count > width)
		return err_set(err, ERR_INVALID, "no tile of that size has node %llu of height %u",
			       (unsigned long long)index, height);
	if (tile_file_read(reader->dir_fd, place.level, place.index, width, &tile, err) < 0)
		return -1;
	tile_root((const uint8_t(*)[SHA256_LEN])tile.hashes + place.at, place.count, out);
	return 0;
}

struct node_reader tile_node_reader(struct tile_reader *reader)
{
	return (struct node_reader){reader, read_node};
}
