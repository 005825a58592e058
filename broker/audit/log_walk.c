/* Reading lines. What can fail: the disk, and whoever takes the lines. */
#include "broker/audit/log_walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "writ/limits.h"

#define READ_BYTES (256u << 10)
#define LINE_MAX_BYTES (WRIT_RECORD_BYTES_MAX + 1)
#define LINE_FIRST_BYTES 4096

struct walk {
	int fd;
	size_t part;
	log_on_line *on_line;
	void *data;
	char *bytes;	/* owned by the caller */
	size_t len;	/* in bytes */
	uint64_t start; /* offset of bytes[0] */
};

static int give_lines(struct walk *walk, struct err *err)
{
	const char *at = walk->bytes;
	const char *end = at + walk->len;

	for (;;) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		struct log_line line = {.entry = at, .part = walk->part};
		int result;

		if (feed == NULL)
			break;
		line.len = (size_t)(feed - at);
		line.offset = walk->start + (uint64_t)(at - walk->bytes);
		result = line.len > WRIT_RECORD_BYTES_MAX ? 0
							  : walk->on_line(walk->data, &line, err);
		at = feed + 1;
		if (result != 0)
			return result;
	}
	walk->start += (uint64_t)(at - walk->bytes);
	walk->len = (size_t)(end - at);
	memmove(walk->bytes, at, walk->len);
	return 0;
}

static int read_more(struct walk *walk, size_t *ret_got, struct err *err)
{
	ssize_t got;

	if (walk->len == READ_BYTES) { /* a line longer than any record: skipped */
		walk->start += walk->len;
		walk->len = 0;
	}
	do {
		got = pread(walk->fd, walk->bytes + walk->len, READ_BYTES - walk->len,
			    (off_t)(walk->start + walk->len));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(err, "read");
	walk->len += (size_t)got;
	*ret_got = (size_t)got;
	return 0;
}

int log_walk_part(const struct log_dir *dir, size_t part, uint64_t offset, log_on_line *on_line,
		  void *data, uint64_t *ret_end, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	CLEANUP(fd_closep) int fd = -1;
	struct walk walk = {
		.part = part, .on_line = on_line, .data = data, .bytes = bytes, .start = offset};
	size_t got = 1;
	int result = 0;

	if (log_dir_lines(dir, part, &fd, err) < 0)
		return -1;
	walk.fd = fd;
	while (got > 0 && result == 0) {
		if (read_more(&walk, &got, err) < 0)
			return err_wrap(err, "%s: %s", dir->path, dir->parts[part].name);
		result = give_lines(&walk, err);
	}
	*ret_end = walk.start;
	return result;
}

int log_walk(const struct log_dir *dir, log_on_line *on_line, void *data, struct err *err)
{
	uint64_t end;

	for (size_t i = 0; i < dir->count; i++) {
		int result = dir->parts[i].has_lines
				     ? log_walk_part(dir, i, 0, on_line, data, &end, err)
				     : 0;

		if (result != 0)
			return result;
	}
	return 0;
}

int log_line_at(int fd, uint64_t offset, struct buf *out, struct err *err)
{
	size_t room = LINE_FIRST_BYTES;

	for (;;) {
		CLEANUP(mem_freep) char *bytes = mem_alloc(room);
		ssize_t got = pread(fd, bytes, room, (off_t)offset);
		const char *feed;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "read");
		feed = memchr(bytes, '\n', (size_t)got);
		if (feed != NULL) {
			buf_add(out, bytes, (size_t)(feed - bytes));
			return 0;
		}
		if (room >= LINE_MAX_BYTES || (size_t)got < room)
			return err_set(err, ERR_INVALID, "no line at byte %llu",
				       (unsigned long long)offset);
		room = LINE_MAX_BYTES;
	}
}
