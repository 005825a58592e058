/*
 * Reading begins at the segment that holds the cursor, with the tree in front of it out of the
 * tiles, so that the root at the published head can be computed. What can fail: the disk; a log
 * that does not fit; a cursor in a segment that was dropped (reading goes on with the first that is
 * left).
 */
#include "broker/sink/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/layout.h"
#include "broker/audit/tile_files.h"

#define READ_BYTES (64u << 10)

struct follow {
	int dir_fd;
	struct vkey key;
	uint64_t next;
	struct checkpoint head;

	int fd; /* of the segment; -1: none open */
	uint64_t first;
	off_t at;
	struct scan scan;
	struct tree tree; /* over all records the scan has read */

	/* Of the round. */
	int left;
	int (*take)(void *data, const struct followed *record, struct err *err);
	void *data;
	int taken;
	bool stopped;
	struct err err;
};

struct follow *follow_new(int dir_fd, const struct vkey *key, uint64_t next)
{
	struct follow *follow = mem_alloc(sizeof(*follow));

	follow->dir_fd = dir_fd;
	follow->key = *key;
	follow->next = next;
	follow->fd = -1;
	return follow;
}

static void close_segment(struct follow *follow)
{
	if (follow->fd >= 0)
		close(follow->fd);
	follow->fd = -1;
	scan_clear(&follow->scan);
}

void follow_free(struct follow *follow)
{
	close_segment(follow);
	mem_free(follow);
}

uint64_t follow_next(const struct follow *follow)
{
	return follow->next;
}

uint64_t follow_published(const struct follow *follow)
{
	return follow->head.size;
}

static int read_head(struct follow *follow, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct err why = {0};

	if (file_read_at(follow->dir_fd, AUDIT_CHECKPOINT, NOTE_BYTES_MAX, &bytes, &why) < 0)
		return why.kind == ERR_NOT_FOUND ? 0 : err_set(err, why.kind, "%s", why.text);
	if (note_parse(buf_str(&bytes), bytes.len, note, err) < 0 ||
	    note_verify(note, &follow->key, 1, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &follow->head, err) < 0)
		return err_wrap(err, AUDIT_CHECKPOINT);
	return 0;
}

/* The last segment that begins at or before the record, or else the first there is. */
static int find_segment(const struct follow *follow, uint64_t seq, uint64_t *ret_first,
			bool *ret_found, struct err *err)
{
	int fd = openat(follow->dir_fd, AUDIT_SEGMENTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	*ret_found = false;
	if (folder == NULL) {
		err_errno(err, AUDIT_SEGMENTS);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		uint64_t first;
		bool better;

		if (!segment_read(entry->d_name, AUDIT_RECORDS, &first))
			continue;
		better =
			*ret_first <= seq ? first <= seq && first > *ret_first : first < *ret_first;
		if (*ret_found && !better)
			continue;
		*ret_first = first;
		*ret_found = true;
	}
	closedir(folder);
	return 0;
}

static int load_tree(struct follow *follow, struct err *err)
{
	CLEANUP(mem_freep) struct tiles *tiles = mem_alloc(sizeof(*tiles));
	struct tile tile;
	unsigned int at = (unsigned int)((follow->first - 1) % TILE_WIDTH);

	memset(follow->scan.last, 0, SHA256_LEN);
	tiles_init(tiles);
	if (follow->first > 0) {
		if (tile_files_load(follow->dir_fd, follow->first, tiles, err) < 0 ||
		    tile_file_read(follow->dir_fd, 0, (follow->first - 1) / TILE_WIDTH, at + 1,
				   &tile, err) < 0)
			return err_wrap(err, "tiles");
		memcpy(follow->scan.last, tile.hashes[at], SHA256_LEN);
	}
	tiles_tree(tiles, &follow->tree);
	return 0;
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len);

static int open_at(struct follow *follow, uint64_t seq, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	bool found;

	close_segment(follow);
	follow->first = 0;
	if (find_segment(follow, seq, &follow->first, &found, err) < 0 || !found)
		return found ? -1 : 0;
	segment_path(follow->first, AUDIT_RECORDS, path);
	follow->fd = openat(follow->dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (follow->fd < 0)
		return err_errno(err, "%s", path);
	follow->at = 0;
	follow->scan = (struct scan){.next = follow->first, .on_record = on_record, .data = follow};
	if (follow->next < follow->first)
		follow->next = follow->first; /* what was before was dropped */
	return load_tree(follow, err);
}

static void check_root(struct follow *follow)
{
	uint8_t root[SHA256_LEN];

	tree_root(&follow->tree, root);
	if (memcmp(root, follow->head.root, SHA256_LEN) == 0)
		return;
	follow->stopped = true;
	err_set(&follow->err, ERR_INVALID,
		"the records do not give the root of " AUDIT_CHECKPOINT " at %llu",
		(unsigned long long)follow->head.size);
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct follow *follow = data;
	struct followed record = {.seq = seq, .line = entry, .len = len};

	if (follow->stopped)
		return;
	tree_add(&follow->tree, leaf);
	if (seq + 1 == follow->head.size)
		check_root(follow);
	if (follow->stopped || seq < follow->next || seq >= follow->head.size)
		return;
	memcpy(record.leaf, leaf, SHA256_LEN);
	if (follow->left == 0 || follow->take(follow->data, &record, &follow->err) < 0) {
		follow->stopped = true;
		return;
	}
	follow->left--;
	follow->taken++;
	follow->next = seq + 1;
}

/* One piece of the segment; 0 at its end. */
static int read_piece(struct follow *follow, struct err *err)
{
	char bytes[READ_BYTES];
	ssize_t got = pread(follow->fd, bytes, sizeof(bytes), follow->at);

	if (got < 0)
		return errno == EINTR ? 1 : err_errno(err, AUDIT_SEGMENTS ": read");
	if (got == 0)
		return 0;
	if (scan_feed(&follow->scan, bytes, (size_t)got, err) < 0)
		return -1;
	follow->at += got;
	return 1;
}

static int read_on(struct follow *follow, struct err *err)
{
	while (!follow->stopped && follow->next < follow->head.size) {
		int more;

		if (follow->fd < 0 && open_at(follow, follow->next, err) < 0)
			return -1;
		if (follow->fd < 0)
			return 0;
		more = read_piece(follow, err);
		if (more < 0)
			return -1;
		if (more == 0 && follow->scan.next >= follow->head.size)
			return 0;
		if (more == 0 && follow->scan.next == follow->first)
			return 0; /* nothing in it yet */
		if (more == 0)
			close_segment(follow); /* the next one */
	}
	return 0;
}

int follow_round(struct follow *follow, int max,
		 int (*take)(void *data, const struct followed *record, struct err *err),
		 void *data, struct err *err)
{
	if (read_head(follow, err) < 0)
		return -1;
	follow->left = max;
	follow->take = take;
	follow->data = data;
	follow->taken = 0;
	follow->stopped = false;
	err_clear(&follow->err);
	if (read_on(follow, err) < 0) {
		close_segment(follow);
		return -1;
	}
	/* A piece may have been read beyond what was taken: begin anew from the cursor. */
	if (follow->stopped || follow->scan.next != follow->next)
		close_segment(follow);
	if (follow->err.kind != ERR_NONE)
		return err_set(err, follow->err.kind, "%s", follow->err.text);
	return follow->taken;
}
