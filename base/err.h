/*
 * One error value, owned by the caller and filled where the failure happened.
 *
 * Every function that can fail takes `struct err *err` last and returns a negative number.
 * On the way up err_wrap() puts what we were doing in front: "bundle state/x.json: open: ...".
 * Nothing is allocated on the failure path. No secret and no row data enters an error text.
 *
 * The kind answers one question: what should the caller do?
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

enum err_kind {
	ERR_NONE = 0,
	ERR_INVALID,	 /* the input is wrong: mend it */
	ERR_DENIED,	 /* not allowed: do not try again as the same caller */
	ERR_NOT_FOUND,	 /* no such thing, or out of the caller's sight */
	ERR_LIMIT,	 /* a bound was reached: ask for less */
	ERR_TIMEOUT,	 /* a deadline passed */
	ERR_CANCELED,	 /* someone asked for it to stop */
	ERR_UNAVAILABLE, /* a peer or resource is missing: try later */
	ERR_IO,		 /* the operating system failed us */
	ERR_INTERNAL,	 /* our own mistake */
};

#define ERR_TEXT_MAX 1024

struct err {
	enum err_kind kind;
	/* What a published specification calls this failure ("E_NO_PATH"); NULL when it is none of
	 * its. A constant; kept by err_wrap(), cleared by the others. */
	const char *code;
	char text[ERR_TEXT_MAX]; /* always NUL-terminated, cut with "..." when too long */
};

/* What each of the next four is worth. A constant that the compiler sees, so that it knows what
 * was set when a call succeeded and can warn where it was not. */
static inline int err_failed(void)
{
	return -1;
}

/* Fills err (which may be NULL) and returns -1. */
#define err_set(err, kind, ...) (err_fill(err, kind, __VA_ARGS__), err_failed())
/* As err_set(), with the code of a specification. */
#define err_coded(err, kind, code, ...)                                                            \
	(err_fill(err, kind, __VA_ARGS__), err_give_code(err, code), err_failed())
/* As err_set(), with ": " and the text of errno behind. */
#define err_errno(err, ...) (err_fill_errno(err, __VA_ARGS__), err_failed())
/* Puts "what: " in front of the text, keeps the kind, returns -1. */
#define err_wrap(err, ...) (err_fill_wrap(err, __VA_ARGS__), err_failed())

void err_fill(struct err *err, enum err_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void err_fill_errno(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_fill_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

void err_give_code(struct err *err, const char *code); /* code is a constant */
void err_clear(struct err *err);

/* "invalid", "denied", ...: the same words on every channel and in every message. */
const char *err_kind_name(enum err_kind kind);
enum err_kind err_kind_from_name(const char *name); /* ERR_INTERNAL when unknown */

#endif
