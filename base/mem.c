/* Memory that aborts rather than returning NULL: see mem.h for when that is right. */
#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *or_abort(void *memory)
{
	if (memory == NULL) {
		static const char text[] = "out of memory\n";

		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			abort();
		abort();
	}
	return memory;
}

void *mem_alloc(size_t size)
{
	return or_abort(calloc(1, size > 0 ? size : 1));
}

void *mem_array(size_t count, size_t size)
{
	return or_abort(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *mem_grow(void *memory, size_t size)
{
	return or_abort(realloc(memory, size > 0 ? size : 1));
}

void *mem_copy(const void *bytes, size_t size)
{
	void *copy = mem_alloc(size);

	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

char *mem_str(const char *text)
{
	return text == NULL ? NULL : mem_copy(text, strlen(text) + 1);
}

char *mem_strn(const char *text, size_t len)
{
	char *copy = mem_alloc(len + 1);

	if (len > 0)
		memcpy(copy, text, len);
	return copy;
}

char *mem_format(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return or_abort(len < 0 ? NULL : text);
}

void mem_free(void *memory)
{
	free(memory);
}

void mem_reserve(size_t bytes)
{
#ifndef WRIT_SANDBOX_RELAXED /* the sanitizers' malloc knows no mallopt() */
	/* Nothing by mmap and nothing trimmed: what is freed stays on top of the heap. */
	if (mallopt(M_MMAP_MAX, 0) == 0 || mallopt(M_TRIM_THRESHOLD, INT_MAX) == 0)
		abort();
#endif
	free(or_abort(malloc(bytes)));
}

void mem_freep(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}

void fd_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
