/*
 * Dropping whole segments. Before one goes its tiles are proven from its own lines and against its
 * seal, and synced: from then on they stand for it. What can fail: the disk; tiles that are missing
 * or wrong, which a start writes anew.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/admin.h"
#include "broker/audit/audit.h"
#include "broker/audit/note.h"
#include "broker/audit/openings.h"
#include "broker/audit/scan.h"
#include "broker/audit/tile_files.h"
#include "writ/record.h"

#define READ_BYTES (256u << 10)
#define SUMS_BYTES_MAX (16u << 20)

/* The two oldest segments; the number found. */
static int find_oldest(int seg_fd, uint64_t firsts[2], struct err *err)
{
	int fd = openat(seg_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	int found = 0;

	if (folder == NULL) {
		err_errno(err, AUDIT_SEGMENTS);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		uint64_t first;

		if (!segment_read(entry->d_name, AUDIT_RECORDS, &first))
			continue;
		if (found == 0 || first < firsts[0]) {
			firsts[1] = firsts[0];
			firsts[0] = first;
		} else if (found == 1 || first < firsts[1]) {
			firsts[1] = first;
		} else {
			continue;
		}
		found += found < 2;
	}
	closedir(folder);
	return found;
}

/* When the segment behind it began. */
static int read_closed(const struct audit_files *files, uint64_t next, int64_t *ret_us,
		       struct err *err)
{
	char path[AUDIT_NAME_MAX];
	char bytes[4096];
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(json_freep) struct json *record = NULL;
	const char *feed;
	ssize_t got;

	segment_path(next, AUDIT_RECORDS, path);
	fd = openat(files->seg_fd, segment_name(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (got < 0)
		return err_errno(err, "%s", path);
	feed = memchr(bytes, '\n', (size_t)got);
	if (feed == NULL ||
	    json_parse(bytes, (size_t)(feed - bytes), sizeof(bytes), &record, err) < 0 ||
	    json_get_str(record, REC_TIME) == NULL)
		return err_set(err, ERR_INVALID, "%s: its first line has no time", path);
	return timestamp_read(json_get_str(record, REC_TIME), ret_us, err);
}

/* ---- tiles from lines ---- */

struct proving {
	const struct audit_files *files;
	uint64_t next;	  /* of the segment */
	struct tile tile; /* of level 0, as it lies there */
	uint64_t index;	  /* UINT64_MAX: none read */
	struct sha256 sum;
	int64_t bytes;
	char last[8192]; /* the last line, segment.close, with its LF */
	size_t last_len;
	struct err err;
};

static void prove_leaf(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		       size_t len)
{
	struct proving *proving = data;
	uint64_t index = seq / TILE_WIDTH;
	uint64_t left = proving->next - index * TILE_WIDTH;

	sha256_add(&proving->sum, entry, len);
	sha256_add(&proving->sum, "\n", 1);
	proving->bytes += (int64_t)len + 1;
	if (proving->err.kind != ERR_NONE)
		return;
	if (index != proving->index &&
	    tile_file_read(proving->files->dir_fd, 0, index,
			   left < TILE_WIDTH ? (unsigned int)left : TILE_WIDTH, &proving->tile,
			   &proving->err) < 0)
		return;
	proving->index = index;
	if (memcmp(proving->tile.hashes[seq % TILE_WIDTH], leaf, SHA256_LEN) != 0)
		err_set(&proving->err, ERR_INVALID, "the tile of record %llu holds another hash",
			(unsigned long long)seq);
	if (seq + 1 == proving->next && len < sizeof(proving->last)) {
		memcpy(proving->last, entry, len);
		proving->last[len] = '\n';
		proving->last_len = len + 1;
	}
}

static int read_previous_leaf(int dir_fd, uint64_t first, uint8_t out[SHA256_LEN], struct err *err)
{
	struct tile tile;
	unsigned int at = (unsigned int)((first - 1) % TILE_WIDTH);

	memset(out, 0, SHA256_LEN);
	if (first == 0)
		return 0;
	if (tile_file_read(dir_fd, 0, (first - 1) / TILE_WIDTH, at + 1, &tile, err) < 0)
		return -1;
	memcpy(out, tile.hashes[at], SHA256_LEN);
	return 0;
}

static int prove_lines(struct proving *proving, uint64_t first, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	struct scan scan = {.next = first, .on_record = prove_leaf, .data = proving};
	char path[AUDIT_NAME_MAX];
	CLEANUP(fd_closep) int fd = -1;
	int result = read_previous_leaf(proving->files->dir_fd, first, scan.last, err);
	ssize_t got = 1;

	segment_path(first, AUDIT_RECORDS, path);
	fd = openat(proving->files->seg_fd, segment_name(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(err, "%s", path);
	sha256_init(&proving->sum);
	while (result == 0 && got > 0) {
		got = read(fd, bytes, READ_BYTES);
		if (got < 0)
			result = err_errno(err, "%s: read", path);
		else
			result = scan_feed(&scan, bytes, (size_t)got, err);
	}
	if (result == 0 && (scan.torn > 0 || scan.next != proving->next))
		result = err_set(err, ERR_INVALID, "%s does not end where its seal does", path);
	scan_clear(&scan);
	if (result == 0 && proving->err.kind != ERR_NONE)
		return err_set(err, proving->err.kind, "%s", proving->err.text);
	return result;
}

/* Each full tile of a level is a hash of the level above. */
static int prove_level(int dir_fd, unsigned int level, uint64_t first, uint64_t next,
		       struct err *err)
{
	CLEANUP(mem_freep) struct tile *below = mem_alloc(sizeof(*below));
	CLEANUP(mem_freep) struct tile *above = mem_alloc(sizeof(*above));
	uint64_t hashes = tiles_hashes(next, level + 1);

	for (uint64_t at = tiles_hashes(first, level + 1); at < hashes; at++) {
		uint64_t index = at / TILE_WIDTH;
		uint64_t width = hashes - index * TILE_WIDTH;
		uint8_t root[SHA256_LEN];

		if (tile_file_read(dir_fd, level, at, TILE_WIDTH, below, err) < 0 ||
		    tile_file_read(dir_fd, level + 1, index,
				   width < TILE_WIDTH ? (unsigned int)width : TILE_WIDTH, above,
				   err) < 0)
			return -1;
		tile_root((const uint8_t(*)[SHA256_LEN])below->hashes, TILE_WIDTH, root);
		if (memcmp(root, above->hashes[at % TILE_WIDTH], SHA256_LEN) != 0)
			return err_set(err, ERR_INVALID,
				       "tile %llu of level %u is not what level %u "
				       "holds of it",
				       (unsigned long long)at, level, level + 1);
	}
	return 0;
}

static int sync_path(int dir_fd, const char *path, struct err *err)
{
	CLEANUP(fd_closep) int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(err, "%s", path);
	return fsync(fd) < 0 ? err_errno(err, "%s: fsync", path) : 0;
}

/* The file, and each folder on its way. */
static int sync_tile(int dir_fd, unsigned int level, uint64_t index, unsigned int width,
		     struct err *err)
{
	char path[AUDIT_NAME_MAX];

	tile_path(level, index, width, path);
	for (;;) {
		char *slash = strrchr(path, '/');

		if (sync_path(dir_fd, path, err) < 0)
			return -1;
		if (slash == NULL)
			return 0;
		*slash = '\0';
	}
}

static int sync_tiles(int dir_fd, uint64_t first, uint64_t next, struct err *err)
{
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++) {
		uint64_t hashes = tiles_hashes(next, level);
		uint64_t index = tiles_hashes(first, level) / TILE_WIDTH;

		for (; index * TILE_WIDTH < hashes; index++) {
			uint64_t width = hashes - index * TILE_WIDTH;

			/* Partial or full: whichever is there. */
			if ((width < TILE_WIDTH &&
			     sync_tile(dir_fd, level, index, (unsigned int)width, err) < 0) ||
			    sync_tile(dir_fd, level, index, TILE_WIDTH, err) < 0)
				return -1;
		}
	}
	return fsync(dir_fd) < 0 ? err_errno(err, "fsync") : 0;
}

static int prove_seal(const struct audit_files *files, uint64_t first, uint64_t next,
		      struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct tile_reader tiles = {files->dir_fd, next};
	struct node_reader reader = tile_node_reader(&tiles);
	struct checkpoint seal;
	uint8_t root[SHA256_LEN];
	char path[AUDIT_NAME_MAX];

	segment_path(first, AUDIT_SEAL, path);
	if (file_read_at(files->dir_fd, path, NOTE_BYTES_MAX, &bytes, err) < 0 ||
	    note_parse(buf_str(&bytes), bytes.len, note, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &seal, err) < 0 ||
	    proof_root(&reader, next, root, err) < 0)
		return -1;
	if (seal.size != next || memcmp(seal.root, root, SHA256_LEN) != 0)
		return err_set(err, ERR_INVALID, "the tiles do not give the root of %s", path);
	return 0;
}

static int prove(struct proving *proving, uint64_t first, struct err *err)
{
	int dir_fd = proving->files->dir_fd;

	if (prove_lines(proving, first, err) < 0 ||
	    prove_seal(proving->files, first, proving->next, err) < 0)
		return -1;
	for (unsigned int level = 0; level + 1 < TILE_LEVELS_MAX; level++)
		if (prove_level(dir_fd, level, first, proving->next, err) < 0)
			return -1;
	return sync_tiles(dir_fd, first, proving->next, err);
}

static int keep_last_line(const struct proving *proving, uint64_t first, struct err *err)
{
	char path[AUDIT_NAME_MAX];

	segment_path(first, AUDIT_LAST, path);
	return file_replace_at(proving->files->seg_fd, segment_name(path), 0600, proving->last,
			       proving->last_len, true, err);
}

int audit_find_work(const struct audit_files *files, void *data, struct err *err)
{
	struct audit_find_work *work = data;
	CLEANUP(mem_freep) struct proving *proving = mem_alloc(sizeof(*proving));
	uint64_t firsts[2] = {0, 0};
	int found = find_oldest(files->seg_fd, firsts, err);
	int64_t closed_us = 0;
	bool held = false;
	uint8_t sum[SHA256_LEN];

	work->drop.found = false;
	if (found < 2)
		return found < 0 ? -1 : 0;
	*proving = (struct proving){.files = files, .next = firsts[1], .index = UINT64_MAX};
	if (read_closed(files, firsts[1], &closed_us, err) < 0 ||
	    openings_is_held(files->openings, firsts[0], firsts[1], &held, err) < 0)
		return -1;
	if (closed_us >= work->before_us || held)
		return 0;
	if (prove(proving, firsts[0], err) < 0 || keep_last_line(proving, firsts[0], err) < 0)
		return -1;
	sha256_end(&proving->sum, sum);
	work->drop = (struct audit_drop){
		.found = true, .first = firsts[0], .next = firsts[1], .bytes = proving->bytes};
	hex_write(sum, SHA256_LEN, work->drop.sha256);
	return 0;
}

static int forget_sum(const struct audit_files *files, const char *path, struct err *err)
{
	CLEANUP(buf_clear) struct buf old = BUF_INIT;
	CLEANUP(buf_clear) struct buf sums = BUF_INIT;
	char *rest = NULL;
	struct err why = {0};

	if (file_read_at(files->dir_fd, AUDIT_SUMS, SUMS_BYTES_MAX, &old, &why) < 0)
		return why.kind == ERR_NOT_FOUND ? 0 : err_set(err, why.kind, "%s", why.text);
	for (char *line = old.len == 0 ? NULL : strtok_r(old.bytes, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, path) == NULL)
			buf_addf(&sums, "%s\n", line);
	return file_replace_at(files->dir_fd, AUDIT_SUMS, 0600, buf_str(&sums), sums.len, true,
			       err);
}

int audit_drop_work(const struct audit_files *files, void *data, struct err *err)
{
	const struct audit_drop *drop = data;
	char path[AUDIT_NAME_MAX];

	segment_path(drop->first, AUDIT_RECORDS, path);
	if (unlinkat(files->seg_fd, segment_name(path), 0) < 0 && errno != ENOENT)
		return err_errno(err, "%s: remove", path);
	if (fsync(files->seg_fd) < 0)
		return err_errno(err, AUDIT_SEGMENTS ": fsync");
	return forget_sum(files, path, err);
}
