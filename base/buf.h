/* A growing byte buffer. Always NUL-terminated behind len, so bytes can be read as text. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

struct buf {
	char *bytes; /* owned; NULL until the first byte */
	size_t len;
	size_t cap;
};

#define BUF_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

void buf_init(struct buf *buf);
void buf_clear(struct buf *buf);		/* frees */
void buf_reset(struct buf *buf);		/* empties, keeps the memory */
void buf_reserve(struct buf *buf, size_t more); /* so that more bytes fit without a new request */
void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_add_str(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_drop(struct buf *buf, size_t len); /* removes len bytes from the front */
const char *buf_str(const struct buf *buf); /* "" when empty; valid until the next change */
char *buf_take(struct buf *buf); /* hands the text over (never NULL), buf is empty again */

#endif
