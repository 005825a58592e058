/*
 * Which segments there are, and from which one on the lines have to be read: behind the newest seal
 * at or below the head whose tiles give its root. Without one, from the first record of the log.
 * What can fail: the disk; names that are no segments; the beginning of a log that is gone without
 * tiles.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/recover_state.h"
#include "broker/audit/tile_files.h"

int recovery_open_note(const struct buf *bytes, const struct vkey *key, const char **ret_text,
		       size_t *ret_len, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	if (note_parse(buf_str(bytes), bytes->len, note, err) < 0 ||
	    note_verify(note, key, 1, err) < 0)
		return -1;
	*ret_text = note->text;
	*ret_len = note->text_len;
	return 0;
}

int recovery_read_seal(const struct recovery *recovery, uint64_t first, struct checkpoint *ret_seal,
		       struct buf *ret_note, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	const char *text = NULL;
	size_t len = 0;

	segment_path(first, AUDIT_SEAL, path);
	if (file_read_at(recovery->dir_fd, path, NOTE_BYTES_MAX, ret_note, err) < 0)
		return -1;
	if (recovery_open_note(ret_note, recovery->key, &text, &len, err) < 0 ||
	    checkpoint_parse(text, len, ret_seal, err) < 0 ||
	    strcmp(ret_seal->origin, recovery->key->name) != 0)
		return err_set(err, ERR_INVALID, "%s is no head of this log signed by its key",
			       path);
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void note_segment(struct recovery *recovery, const char *name)
{
	uint64_t first;

	if (!segment_read(name, AUDIT_RECORDS, &first))
		return;
	if (recovery->count % 8 == 0)
		recovery->firsts = mem_grow(recovery->firsts,
					    (recovery->count + 8) * sizeof(*recovery->firsts));
	recovery->firsts[recovery->count++] = first;
}

static int list_folder(struct recovery *recovery, struct err *err)
{
	int fd = openat(recovery->seg_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (folder == NULL) {
		err_errno(err, AUDIT_SEGMENTS);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	errno = 0;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		note_segment(recovery, entry->d_name);
	if (errno != 0) {
		err_errno(err, AUDIT_SEGMENTS ": read");
		closedir(folder);
		return -1;
	}
	closedir(folder);
	return 0;
}

/* Made, and nothing written yet: the one before is the last of the log. */
static int forget_empty_last(struct recovery *recovery, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	struct stat stat;

	if (recovery->count < 2)
		return 0;
	segment_path(recovery->firsts[recovery->count - 1], AUDIT_RECORDS, path);
	if (fstatat(recovery->dir_fd, path, &stat, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "%s: stat", path);
	if (stat.st_size == 0)
		recovery->count--;
	return 0;
}

int recovery_list(struct recovery *recovery, struct err *err)
{
	recovery->count = 0;
	if (list_folder(recovery, err) < 0)
		return -1;
	recovery->is_legacy = faccessat(recovery->dir_fd, AUDIT_ONE_FILE, F_OK, 0) == 0;
	if (recovery->is_legacy && recovery->count > 0)
		return err_set(err, ERR_INVALID,
			       AUDIT_ONE_FILE " lies beside " AUDIT_SEGMENTS
					      ", and only one of them can be the log" WHAT_TO_DO);
	if (recovery->is_legacy)
		note_segment(recovery, "00000000000000000000" AUDIT_RECORDS);
	if (recovery->count > 1)
		qsort(recovery->firsts, recovery->count, sizeof(*recovery->firsts),
		      compare_numbers);
	return forget_empty_last(recovery, err);
}

int recovery_open_segment(const struct recovery *recovery, size_t index, struct log_file *ret_file,
			  struct err *err)
{
	char path[AUDIT_NAME_MAX];

	if (recovery->is_legacy)
		return log_file_open(recovery->dir_fd, AUDIT_ONE_FILE, ret_file, err);
	segment_path(recovery->firsts[index], AUDIT_RECORDS, path);
	return log_file_open(recovery->seg_fd, segment_name(path), ret_file, err);
}

/* Do the tiles at the beginning of the segment give the root of the seal before it? */
static bool is_proven(const struct recovery *recovery, uint64_t before, uint64_t first,
		      struct tiles *tiles, uint8_t last[SHA256_LEN])
{
	CLEANUP(mem_freep) struct tile *tile = mem_alloc(sizeof(*tile));
	CLEANUP(buf_clear) struct buf note = BUF_INIT;
	struct checkpoint seal;
	uint8_t root[SHA256_LEN];
	struct tree tree;
	unsigned int at = (unsigned int)((first - 1) % TILE_WIDTH);
	struct err ignored;

	if (recovery_read_seal(recovery, before, &seal, &note, &ignored) < 0 ||
	    seal.size != first || tile_files_load(recovery->dir_fd, first, tiles, &ignored) < 0)
		return false;
	tiles_tree(tiles, &tree);
	tree_root(&tree, root);
	if (memcmp(root, seal.root, SHA256_LEN) != 0)
		return false;
	/* The last leaf: in the open tile, or the last of a full one, which nothing vouches for but
	 * the chain: a wrong one does not fit the segment's first line. */
	if (tile_file_read(recovery->dir_fd, 0, (first - 1) / TILE_WIDTH, at + 1, tile, &ignored) <
	    0)
		return false;
	memcpy(last, tile->hashes[at], SHA256_LEN);
	return true;
}

/* The one in front of the first that is left has a seal, but no lines. */
static int find_dropped(const struct recovery *recovery, uint64_t *ret_first, struct err *err)
{
	int fd = openat(recovery->seg_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	bool found = false;

	if (folder == NULL) {
		err_errno(err, AUDIT_SEGMENTS);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		uint64_t first;

		if (!segment_read(entry->d_name, AUDIT_SEAL, &first) ||
		    first >= recovery->firsts[0] || (found && first < *ret_first))
			continue;
		*ret_first = first;
		found = true;
	}
	closedir(folder);
	if (!found)
		return err_set(err, ERR_INVALID,
			       "the log begins with record %llu, and no seal stands for the "
			       "records before it" WHAT_TO_DO,
			       (unsigned long long)recovery->firsts[0]);
	return 0;
}

int recovery_find_base(const struct recovery *recovery, size_t *ret_index, struct tiles *ret_tiles,
		       uint8_t ret_last[SHA256_LEN], struct err *err)
{
	uint64_t before = 0;

	for (size_t i = recovery->count; i-- > 1;) {
		if (recovery->firsts[i] > recovery->head.size ||
		    !is_proven(recovery, recovery->firsts[i - 1], recovery->firsts[i], ret_tiles,
			       ret_last))
			continue;
		*ret_index = i;
		return 0;
	}
	*ret_index = 0;
	tiles_init(ret_tiles);
	memset(ret_last, 0, SHA256_LEN);
	if (recovery->count == 0 || recovery->firsts[0] == 0)
		return 0;
	if (find_dropped(recovery, &before, err) < 0)
		return -1;
	if (recovery->firsts[0] > recovery->head.size ||
	    !is_proven(recovery, before, recovery->firsts[0], ret_tiles, ret_last))
		return err_set(err, ERR_INVALID,
			       "the tiles of the records before %llu do not give the root of "
			       "their seal" WHAT_TO_DO,
			       (unsigned long long)recovery->firsts[0]);
	return 0;
}
