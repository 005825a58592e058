/*
 * Reads the open file from its start at each look-up (a new connection), line by line:
 * "name:x:uid:". Users of a directory service are not in it; they are then named by number.
 */
#include "broker/passwd.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define PASSWD_BYTES_MAX (1u << 20) /* far above any local user list */

/* Does this line name the uid? Then its login is copied to out. */
static bool line_matches(const char *line, size_t len, const char *uid, char *out)
{
	const char *end = line + len;
	const char *name_end = memchr(line, ':', len);
	const char *number;
	const char *number_end;

	if (name_end == NULL || name_end == line || name_end - line > LOGIN_MAX)
		return false;
	number = memchr(name_end + 1, ':', (size_t)(end - name_end - 1));
	if (number == NULL)
		return false;
	number++;
	number_end = memchr(number, ':', (size_t)(end - number));
	if (number_end == NULL || (size_t)(number_end - number) != strlen(uid) ||
	    memcmp(number, uid, strlen(uid)) != 0)
		return false;
	memcpy(out, line, (size_t)(name_end - line));
	out[name_end - line] = '\0';
	return true;
}

static void read_all(int fd, struct buf *out)
{
	char chunk[4096];
	off_t at = 0;
	ssize_t got;

	while (out->len < PASSWD_BYTES_MAX && (got = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		buf_add(out, chunk, (size_t)got);
		at += got;
	}
}

const char *passwd_login(int fd, int64_t uid, char out[LOGIN_MAX + 1])
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	char number[24];
	const char *line;
	const char *end;

	if (fd < 0)
		return NULL;
	read_all(fd, &text);
	snprintf(number, sizeof(number), "%lld", (long long)uid);
	line = buf_str(&text);
	end = line + text.len;
	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t len = next == NULL ? (size_t)(end - line) : (size_t)(next - line);

		if (line_matches(line, len, number, out))
			return out;
		line += len + 1;
	}
	return NULL;
}
