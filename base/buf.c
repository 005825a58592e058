/* A growing byte buffer; doubles its room so that appending is linear overall. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void buf_init(struct buf *buf)
{
	*buf = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *buf)
{
	mem_free(buf->bytes);
	buf_init(buf);
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	if (buf->bytes != NULL)
		buf->bytes[0] = '\0';
}

static void make_room(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;
	size_t cap = buf->cap > 0 ? buf->cap : 64;

	if (need <= buf->cap)
		return;
	while (cap < need)
		cap *= 2;
	buf->bytes = mem_grow(buf->bytes, cap);
	buf->cap = cap;
}

void buf_reserve(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;

	if (need <= buf->cap)
		return;
	buf->bytes = mem_grow(buf->bytes, need);
	buf->cap = need;
	buf->bytes[buf->len] = '\0';
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
	make_room(buf, len);
	if (len > 0)
		memcpy(buf->bytes + buf->len, bytes, len);
	buf->len += len;
	buf->bytes[buf->len] = '\0';
}

void buf_add_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len > 0) {
		make_room(buf, (size_t)len);
		vsnprintf(buf->bytes + buf->len, (size_t)len + 1, format, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}

void buf_drop(struct buf *buf, size_t len)
{
	if (len == 0)
		return;
	if (len >= buf->len) {
		buf_reset(buf);
		return;
	}
	memmove(buf->bytes, buf->bytes + len, buf->len - len + 1);
	buf->len -= len;
}

const char *buf_str(const struct buf *buf)
{
	return buf->bytes != NULL ? buf->bytes : "";
}

char *buf_take(struct buf *buf)
{
	char *text = buf->bytes != NULL ? buf->bytes : mem_str("");

	buf_init(buf);
	return text;
}
