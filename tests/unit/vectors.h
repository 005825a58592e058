/* Reading public test vectors from $WRIT_VECTORS; a test without them is skipped. */
#ifndef TESTS_UNIT_VECTORS_H
#define TESTS_UNIT_VECTORS_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"

static inline bool vector_read(const char *name, struct buf *out)
{
	const char *dir = getenv("WRIT_VECTORS");
	int dir_fd = dir == NULL ? -1 : open(dir, O_RDONLY | O_DIRECTORY);
	bool found = dir_fd >= 0 && file_read_at(dir_fd, name, 64u << 20, out, NULL) == 0;

	if (dir_fd >= 0)
		close(dir_fd);
	return found;
}

static inline struct json *vector_json(const char *name)
{
	struct buf bytes = BUF_INIT;
	struct json *json = NULL;

	if (vector_read(name, &bytes))
		IGNORE(json_parse(bytes.bytes, bytes.len, bytes.len, &json, NULL) < 0,
		       "NULL says so");
	buf_clear(&bytes);
	return json;
}

#endif
