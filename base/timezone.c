/*
 * Finds a zone's file and reads TZif (RFC 9636): the transitions of its 64-bit block by binary
 * search; behind the last one the rule in the footer counts. Every length in the file is checked
 * against its size, so a damaged file is an error and nothing else.
 */
#include "base/timezone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define FILE_BYTES_MAX (64u * 1024) /* the largest zone of tzdata 2026 has under 4 KiB */
#define HEADER_LEN 44u
#define TYPE_LEN 6u

struct header {
	char version;
	uint32_t isut, isstd, leap, time, type, chars;
};

static int damaged(struct err *err)
{
	return err_set(err, ERR_INVALID, "the time zone file is damaged");
}

static uint64_t read_big(const char *at, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value = value << 8 | (unsigned char)at[i];
	return value;
}

static int read_header(const char *at, size_t len, struct header *ret)
{
	uint32_t counts[6];

	if (len < HEADER_LEN || memcmp(at, "TZif", 4) != 0)
		return -1;
	for (size_t i = 0; i < 6; i++) {
		counts[i] = (uint32_t)read_big(at + 20 + 4 * i, 4);
		if (counts[i] > FILE_BYTES_MAX)
			return -1;
	}
	*ret = (struct header){at[4],	  counts[0], counts[1], counts[2],
			       counts[3], counts[4], counts[5]};
	return 0;
}

static size_t block_len(const struct header *header, size_t time_len)
{
	return header->time * (time_len + 1) + header->type * TYPE_LEN + header->chars +
	       header->leap * (time_len + 4) + header->isstd + header->isut;
}

/* How many transitions lie at or before utc_s. */
static size_t transitions_until(const char *times, size_t count, int64_t utc_s)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((int64_t)read_big(times + 8 * middle, 8) <= utc_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* at: the 64-bit block, which lies wholly within the file. */
static int block_offset(const struct header *header, const char *at, int64_t utc_s,
			int *ret_offset_s, struct err *err)
{
	const char *kinds = at + 8 * header->time, *types = kinds + header->time;
	size_t passed = transitions_until(at, header->time, utc_s);
	size_t kind = passed > 0 ? (unsigned char)kinds[passed - 1] : 0;

	if (kind >= header->type)
		return damaged(err);
	*ret_offset_s = (int32_t)read_big(types + TYPE_LEN * kind, 4);
	return 0;
}

/* The rule between the two newlines behind the block; NULL when it is not as it should be. */
static char *read_footer(const char *at, size_t len)
{
	const char *end;

	if (len < 2 || *at != '\n')
		return NULL;
	end = memchr(at + 1, '\n', len - 1);
	return end != NULL ? mem_strn(at + 1, (size_t)(end - at - 1)) : NULL;
}

int tzif_offset(const char *bytes, size_t len, int64_t utc_s, int *ret_offset_s, struct err *err)
{
	struct header header;
	size_t at, body;
	CLEANUP(mem_freep) char *rule = NULL;

	if (read_header(bytes, len, &header) < 0)
		return damaged(err);
	if (header.version < '2')
		return err_set(err, ERR_INVALID, "the time zone file has no 64-bit times");
	at = HEADER_LEN + block_len(&header, 4);
	if (at > len || read_header(bytes + at, len - at, &header) < 0)
		return damaged(err);
	at += HEADER_LEN;
	body = block_len(&header, 8);
	if (body > len - at || header.type == 0)
		return damaged(err);
	rule = read_footer(bytes + at + body, len - at - body);
	if (rule == NULL)
		return damaged(err);
	if (rule[0] != '\0' && transitions_until(bytes + at, header.time, utc_s) == header.time)
		return tz_rule_offset(rule, utc_s, ret_offset_s, err);
	return block_offset(&header, bytes + at, utc_s, ret_offset_s, err);
}

/* Letters, digits, '_', '+', '-' in parts joined by '/': no way out of the folder. */
static bool name_ok(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_+-/";
	size_t len = strlen(name);

	return len > 0 && len <= TIMEZONE_NAME_MAX && strspn(name, allowed) == len &&
	       name[0] != '/' && name[len - 1] != '/' && strstr(name, "//") == NULL;
}

static int read_file(int fd, struct buf *out, struct err *err)
{
	char chunk[4096];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "read");
		buf_add(out, chunk, (size_t)got);
		if (out->len > FILE_BYTES_MAX)
			return damaged(err);
	}
	return 0;
}

static int open_zone(const char *name, int *ret_fd, struct err *err)
{
	char path[sizeof(TIMEZONE_FOLDER) + 1 + TIMEZONE_NAME_MAX];
	struct stat stat;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", TIMEZONE_FOLDER, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return err_set(err, ERR_NOT_FOUND, "there is no such zone in " TIMEZONE_FOLDER);
	if (fd < 0)
		return err_errno(err, "open %s", path);
	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode)) {
		close(fd);
		return err_set(err, ERR_NOT_FOUND, "this is a group of zones, not one");
	}
	*ret_fd = fd;
	return 0;
}

int timezone_offset(const char *name, int64_t utc_s, int *ret_offset_s, struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(buf_clear) struct buf file = BUF_INIT;

	if (strcmp(name, "UTC") == 0) {
		*ret_offset_s = 0;
		return 0;
	}
	if (!name_ok(name))
		return err_set(err, ERR_INVALID,
			       "time zone: write a name like Europe/Berlin, or UTC");
	if (open_zone(name, &fd, err) < 0 || read_file(fd, &file, err) < 0 ||
	    tzif_offset(buf_str(&file), file.len, utc_s, ret_offset_s, err) < 0)
		return err_wrap(err, "time zone %s", name);
	return 0;
}
