/* Blocking lines of JSON for processes without an event loop: the signer, connector workers, and
 * the command line as a client. */
#ifndef BASE_LINE_H
#define BASE_LINE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct line_reader {
	int fd;
	size_t line_bytes_max;
	struct buf pending;
};

void line_reader_init(struct line_reader *reader, int fd, size_t line_bytes_max);
void line_reader_clear(struct line_reader *reader);
/*
 * 1: a value was read; 0: clean end of stream; -1: error. deadline_ms counts from now, -1 waits for
 * ever. Behind a line that is not JSON (ERR_INVALID) the next one can be read; behind a line over
 * the bound (ERR_LIMIT), an end within a line or a gone peer (ERR_UNAVAILABLE) nothing more can;
 * after ERR_TIMEOUT waiting may go on.
 */
MUST_CHECK int line_read(struct line_reader *reader, int deadline_ms, struct json **ret_json,
			 struct err *err);
MUST_CHECK int line_write(int fd, const struct json *json, struct err *err);

#endif
