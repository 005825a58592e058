/* Reading lines and openings, erasing, holding, noting anchors. What can fail: the disk; a record
 * that is not there. */
#include "broker/audit/admin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/audit.h"
#include "broker/audit/layout.h"
#include "broker/audit/openings.h"
#include "writ/limits.h"

#define READ_BYTES (256u << 10)

/* The last segment that begins at or before the record. */
static int find_segment(int seg_fd, uint64_t seq, uint64_t *ret_first, struct err *err)
{
	int fd = openat(seg_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

		if (!segment_read(entry->d_name, AUDIT_RECORDS, &first) || first > seq ||
		    (found && first < *ret_first))
			continue;
		*ret_first = first;
		found = true;
	}
	closedir(folder);
	if (!found)
		return err_set(err, ERR_NOT_FOUND, "record %llu is not there any more",
			       (unsigned long long)seq);
	return 0;
}

static int open_segment(int seg_fd, uint64_t first, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	int fd;

	segment_path(first, AUDIT_RECORDS, path);
	fd = openat(seg_fd, segment_name(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? err_errno(err, "%s", path) : fd;
}

/* Takes whole lines out of bytes; false when enough was taken. */
static bool take_lines(struct audit_lines_work *work, struct audit_cursor *cursor, uint64_t size,
		       const char *bytes, size_t len, size_t *taken)
{
	const char *end = bytes + len;

	while (bytes < end && cursor->next < size) {
		const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t line = feed == NULL ? 0 : (size_t)(feed + 1 - bytes);

		if (feed == NULL)
			return true;
		if (cursor->next >= work->from) {
			if (*taken > 0 && *taken + line > work->bytes_max)
				return false;
			json_push(work->lines, json_new_strn(bytes, line - 1));
			*taken += line;
		}
		cursor->next++;
		cursor->offset += line;
		bytes += line;
	}
	return cursor->next < size;
}

static int read_lines(int fd, struct audit_lines_work *work, struct audit_cursor *cursor,
		      uint64_t size, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	size_t taken = 0;

	for (;;) {
		uint64_t before = cursor->offset;
		ssize_t got = pread(fd, bytes, READ_BYTES, (off_t)cursor->offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, AUDIT_SEGMENTS ": read");
		if (got == 0 || !take_lines(work, cursor, size, bytes, (size_t)got, &taken) ||
		    cursor->offset == before)
			return 0;
	}
}

int audit_lines_work(const struct audit_files *files, void *data, struct err *err)
{
	struct audit_lines_work *work = data;
	struct audit_cursor cursor = work->cursor;
	CLEANUP(fd_closep) int fd = -1;
	uint64_t first = 0;

	work->next = work->from;
	if (work->from > files->size)
		return err_set(err, ERR_NOT_FOUND, "record %llu is not there yet",
			       (unsigned long long)work->from);
	if (work->from == files->size)
		return 0;
	if (find_segment(files->seg_fd, work->from, &first, err) < 0)
		return -1;
	if (cursor.first != first || cursor.next > work->from || cursor.next < first)
		cursor = (struct audit_cursor){.next = first, .first = first};
	fd = open_segment(files->seg_fd, first, err);
	if (fd < 0 || read_lines(fd, work, &cursor, files->size, err) < 0)
		return -1;
	work->cursor = cursor;
	work->next = cursor.next > work->from ? cursor.next : work->from;
	return 0;
}

int audit_openings_work(const struct audit_files *files, void *data, struct err *err)
{
	struct audit_openings_work *work = data;

	return openings_read(files->openings, work->seq, work->disclosures, err);
}

int audit_erase_work(const struct audit_files *files, void *data, struct err *err)
{
	struct audit_erase_work *work = data;

	return openings_erase(files->openings, work->seq, work->name, &work->erased, err);
}

int audit_hold_work(const struct audit_files *files, void *data, struct err *err)
{
	struct audit_hold_work *work = data;
	int64_t count = 0;

	if (!work->lift)
		return openings_hold(files->openings, work->name, work->reason, work->first,
				     work->past, err);
	if (openings_lift(files->openings, work->name, &count, err) < 0)
		return -1;
	return count > 0 ? 0 : err_set(err, ERR_NOT_FOUND, "no hold is called %s", work->name);
}

int audit_anchor_work(const struct audit_files *files, void *data, struct err *err)
{
	const struct audit_anchor_work *work = data;
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(fd_closep)
	int fd = openat(files->dir_fd, AUDIT_ANCHORS,
			O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_errno(err, AUDIT_ANCHORS);
	json_write_canonical(work->line, &line);
	buf_add_char(&line, '\n');
	if (file_write_all(fd, line.bytes, line.len, err) < 0)
		return err_wrap(err, AUDIT_ANCHORS);
	return fsync(fd) < 0 || fsync(files->dir_fd) < 0 ? err_errno(err, AUDIT_ANCHORS ": fsync")
							 : 0;
}
