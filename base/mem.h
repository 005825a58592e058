/*
 * Memory with one visible owner.
 *
 * Sizes we choose: these calls abort the process when memory runs out, so their result is never
 * NULL. Sizes a peer chooses: check against a named limit first, then call.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))

/* CLEANUP(thing_freep) struct thing *t = ...;  runs thing_freep(&t) when t leaves its scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Hands a CLEANUP pointer over: the variable becomes NULL, the value goes to the new owner. */
#define TAKE(pointer)                                                                              \
	__extension__({                                                                            \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

/* A result that is dropped on purpose, and why. */
#define IGNORE(expression, why)                                                                    \
	do {                                                                                       \
		if (expression) {                                                                  \
		}                                                                                  \
	} while (0)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

void *mem_alloc(size_t size);		    /* zeroed */
void *mem_array(size_t count, size_t size); /* zeroed, overflow checked */
void *mem_grow(void *memory, size_t size);  /* realloc */
void *mem_copy(const void *bytes, size_t size);
char *mem_str(const char *text); /* NULL stays NULL */
char *mem_strn(const char *text, size_t len);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_free(void *memory); /* NULL is fine */

/*
 * Takes so many bytes for the heap now and keeps every page for ever: until that much is in use at
 * once, no allocation is a system call. For a process about to confine itself to reading and
 * writing; one thread only (others get heaps of their own). Has no effect under sanitizers.
 */
void mem_reserve(size_t bytes);

void mem_freep(void *pointer_to_pointer); /* for CLEANUP on any char * or void * */
void fd_closep(const int *fd);		  /* for CLEANUP on a descriptor; negative is fine */

#endif
