/* Listing and reading. What can fail: the disk, and files that are not of the expected kind. */
#include "broker/audit/log_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/note.h"

void log_dir_close(struct log_dir *dir)
{
	if (dir->path != NULL)
		fd_closep(&dir->fd);
	mem_free(dir->path);
	mem_free(dir->parts);
	memset(dir, 0, sizeof(*dir));
}

static struct log_part *part_of(struct log_dir *dir, uint64_t first)
{
	for (size_t i = 0; i < dir->count; i++)
		if (dir->parts[i].first == first)
			return &dir->parts[i];
	if (dir->count % 64 == 0)
		dir->parts = mem_grow(dir->parts, (dir->count + 64) * sizeof(*dir->parts));
	memset(&dir->parts[dir->count], 0, sizeof(*dir->parts));
	dir->parts[dir->count].first = first;
	return &dir->parts[dir->count++];
}

static void set_bytes(const struct log_dir *dir, struct log_part *part)
{
	struct stat stat;

	if (fstatat(dir->fd, part->name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode))
		part->bytes = (uint64_t)stat.st_size;
}

static void add_name(struct log_dir *dir, const char *name)
{
	struct log_part *part;
	uint64_t first;

	if (segment_read(name, AUDIT_RECORDS, &first)) {
		part = part_of(dir, first);
		part->has_lines = true;
		segment_path(first, AUDIT_RECORDS, part->name);
		set_bytes(dir, part);
	} else if (segment_read(name, AUDIT_SEAL, &first)) {
		part_of(dir, first)->has_seal = true;
	} else if (segment_read(name, AUDIT_LAST, &first)) {
		part_of(dir, first)->has_close = true;
	}
}

static int by_first(const void *a, const void *b)
{
	uint64_t left = ((const struct log_part *)a)->first;
	uint64_t right = ((const struct log_part *)b)->first;

	return left < right ? -1 : left > right;
}

static int list_segments(struct log_dir *dir, struct err *err)
{
	int fd = openat(dir->fd, AUDIT_SEGMENTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, "%s/" AUDIT_SEGMENTS, dir->path);
	folder = fdopendir(fd);
	if (folder == NULL) {
		close(fd);
		return err_errno(err, "%s/" AUDIT_SEGMENTS, dir->path);
	}
	errno = 0;
	for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
		add_name(dir, entry->d_name);
	if (errno != 0) {
		err_errno(err, "%s/" AUDIT_SEGMENTS, dir->path);
		closedir(folder);
		return -1;
	}
	closedir(folder);
	if (dir->count > 1)
		qsort(dir->parts, dir->count, sizeof(*dir->parts), by_first);
	return 0;
}

static void add_one_file(struct log_dir *dir, const char *name)
{
	struct log_part *part = part_of(dir, 0);

	part->has_lines = true;
	snprintf(part->name, sizeof(part->name), "%s", name);
	set_bytes(dir, part);
}

static int open_folder(struct log_dir *dir, struct err *err)
{
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return err_errno(err, "%s", dir->path);
	if (list_segments(dir, err) < 0)
		return -1;
	if (dir->count == 0 && faccessat(dir->fd, AUDIT_ONE_FILE, F_OK, 0) == 0)
		add_one_file(dir, AUDIT_ONE_FILE);
	return 0;
}

static int open_file(struct log_dir *dir, struct err *err)
{
	const char *slash = strrchr(dir->path, '/');
	CLEANUP(mem_freep)
	char *folder =
		slash == NULL ? mem_str(".") : mem_strn(dir->path, (size_t)(slash + 1 - dir->path));
	const char *name = slash == NULL ? dir->path : slash + 1;

	if (strlen(name) >= AUDIT_NAME_MAX)
		return err_set(err, ERR_LIMIT, "%s: its name is over %d bytes", dir->path,
			       AUDIT_NAME_MAX - 1);
	dir->is_file = true;
	dir->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return err_errno(err, "%s", folder);
	add_one_file(dir, name);
	return 0;
}

int log_dir_open(const char *path, struct log_dir *ret_dir, struct err *err)
{
	struct log_dir dir = {.fd = -1, .path = mem_str(path)};
	struct stat stat_of;
	int result;

	if (stat(path, &stat_of) < 0) {
		result = err_errno(err, "%s", path);
		if (errno == ENOENT && err != NULL)
			err->kind = ERR_NOT_FOUND;
	} else {
		result = S_ISDIR(stat_of.st_mode) ? open_folder(&dir, err) : open_file(&dir, err);
	}
	if (result < 0) {
		log_dir_close(&dir);
		return -1;
	}
	*ret_dir = dir;
	return 0;
}

int log_dir_lines(const struct log_dir *dir, size_t part, int *ret_fd, struct err *err)
{
	const char *name = dir->parts[part].name;
	int fd = openat(dir->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat stat;

	if (fd < 0)
		return err_errno(err, "%s: %s", dir->path, name);
	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode)) {
		close(fd);
		return err_set(err, ERR_INVALID, "%s: %s is no regular file", dir->path, name);
	}
	*ret_fd = fd;
	return 0;
}

int log_dir_read(const struct log_dir *dir, const char *name, size_t max, struct buf *out,
		 struct err *err)
{
	if (dir->is_file)
		return err_set(err, ERR_NOT_FOUND, "%s: only a file was named", name);
	return file_read_at(dir->fd, name, max, out, err);
}

int log_dir_seal(const struct log_dir *dir, size_t part, struct buf *out, struct err *err)
{
	char path[AUDIT_NAME_MAX];

	segment_path(dir->parts[part].first, AUDIT_SEAL, path);
	return log_dir_read(dir, path, NOTE_BYTES_MAX, out, err);
}

int log_dir_tile(const struct log_dir *dir, unsigned int level, uint64_t index, unsigned int width,
		 struct tile *ret_tile, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	char path[AUDIT_NAME_MAX];
	struct err why;
	size_t want = TILE_WIDTH * SHA256_LEN;

	tile_path(level, index, TILE_WIDTH, path);
	if (log_dir_read(dir, path, sizeof(*ret_tile), &bytes, &why) < 0) {
		if (why.kind != ERR_NOT_FOUND || width == TILE_WIDTH)
			return err_set(err, why.kind, "%s", why.text);
		tile_path(level, index, width, path);
		want = (size_t)width * SHA256_LEN;
		if (log_dir_read(dir, path, sizeof(*ret_tile), &bytes, err) < 0)
			return -1;
	}
	if (bytes.len != want)
		return err_set(err, ERR_INVALID, "%s: %zu bytes long, not %zu", path, bytes.len,
			       want);
	memcpy(ret_tile, bytes.bytes, bytes.len);
	return 0;
}
