/*
 * The one door to JSON, and so to cJSON.
 *
 * json_parse() reads strictly (RFC 8259 grammar, UTF-8, no duplicate member, no NUL, no lone
 * surrogate, integers within +-(2^53-1), no number that overflows, bounded depth and size, nothing
 * after the value). Errors are ERR_INVALID, or ERR_LIMIT for depth, size and memory, and name line
 * and column. A tree takes up to some 50 times the bytes of its text ("[1,1,...").
 *
 * A tree is owned by its root. Values reached through it live as long as the root does.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_DEPTH_MAX 64
#define JSON_INT_MAX 9007199254740991LL /* 2^53 - 1 */
#define JSON_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json; /* opaque */

/* Parses exactly one value. bytes need not be NUL-terminated. */
MUST_CHECK int json_parse(const char *bytes, size_t len, size_t len_max, struct json **ret_json,
			  struct err *err);
MUST_CHECK int json_parse_str(const char *text, struct json **ret_json, struct err *err);
/* The scan alone, for callers that only need to know. */
MUST_CHECK int json_check(const char *bytes, size_t len, size_t len_max, struct err *err);

void json_free(struct json *json); /* NULL is fine */
void json_freep(struct json **json);
struct json *json_copy(const struct json *json);
bool json_equal(const struct json *a, const struct json *b); /* 1 and 1.0 differ; order of members
								  does not matter */

/* Reading. A NULL json is answered like JSON_NULL, so look-ups can be chained. */
enum json_type json_type(const struct json *json);
const char *json_type_name(enum json_type type); /* "string", "integer", ... */
const struct json *json_get(const struct json *object, const char *key); /* NULL when absent */
struct json *json_get_mut(struct json *object, const char *key);
const char *json_str(const struct json *json); /* NULL unless a string */
int64_t json_int(const struct json *json);     /* 0 unless an integer */
double json_real(const struct json *json);     /* integers too; 0 otherwise */
bool json_bool(const struct json *json);       /* false unless true */
bool json_is_null(const struct json *json);    /* absent or null */
size_t json_len(const struct json *json);      /* members or elements, counted; 0 otherwise */
const struct json *json_at(const struct json *array, size_t index); /* NULL when outside */
const struct json *json_first(const struct json *container);
const struct json *json_next(const struct json *child);
const char *json_key(const struct json *child); /* member name; NULL in an array */

#define json_each(child, container)                                                                \
	for (const struct json *child = json_first(container); child; child = json_next(child))

/* Shorthands that answer NULL / fallback when the member is absent or of another type. */
const char *json_get_str(const struct json *object, const char *key);
int64_t json_get_int(const struct json *object, const char *key, int64_t fallback);
bool json_get_bool(const struct json *object, const char *key, bool fallback);

/* Checked members of a message: an error names key and the type that was wanted. */
MUST_CHECK int json_want_str(const struct json *object, const char *key, const char **ret,
			     struct err *err);
MUST_CHECK int json_want_int(const struct json *object, const char *key, int64_t min, int64_t max,
			     int64_t *ret, struct err *err);
MUST_CHECK int json_want_object(const struct json *object, const char *key, const struct json **ret,
				struct err *err);
MUST_CHECK int json_want_array(const struct json *object, const char *key, const struct json **ret,
			       struct err *err);
/* Refuses any member that is not in the NULL-terminated list. */
MUST_CHECK int json_only(const struct json *object, const char *const *keys, struct err *err);

/*
 * Building. Children are handed over to their parent; json_set() replaces an equal key. NULL as a
 * child becomes null. In texts and keys a byte that is not UTF-8, and NUL, becomes U+FFFD.
 */
struct json *json_object(void);
struct json *json_array(void);
struct json *json_new_null(void);
struct json *json_new_str(const char *text); /* NULL text becomes null */
struct json *json_new_strn(const char *text, size_t len);
struct json *json_new_int(int64_t value); /* beyond 2^53-1: a decimal string */
struct json *json_new_real(double value); /* not finite: null */
struct json *json_new_bool(bool value);
void json_set(struct json *object, const char *key, struct json *child);
void json_set_str(struct json *object, const char *key, const char *text);
void json_set_int(struct json *object, const char *key, int64_t value);
void json_set_real(struct json *object, const char *key, double value);
void json_set_bool(struct json *object, const char *key, bool value);
void json_set_null(struct json *object, const char *key);
void json_push(struct json *array, struct json *child);
void json_push_str(struct json *array, const char *text);
void json_push_int(struct json *array, int64_t value);
void json_remove(struct json *object, const char *key);

/*
 * Writing, by our own hand: integers exactly, reals in the shortest form that reads back the same,
 * strings as raw UTF-8 with only ", \ and control characters escaped.
 * json_write keeps the order of members and keeps a real a real (56.0).
 * json_write_canonical is RFC 8785, so members are sorted at every depth (by byte, for names below
 * U+E000) and 56.0 is written 56; only integral reals from 2^53 on differ: they keep an exponent,
 * so that json_parse() reads back whatever this writes. Use it for whatever is hashed or signed.
 * json_write_pretty indents by two blanks, for people.
 */
void json_write(const struct json *json, struct buf *out);
void json_write_canonical(const struct json *json, struct buf *out);
void json_write_pretty(const struct json *json, struct buf *out);
void json_write_string(const char *text, size_t len, struct buf *out); /* with its quotes */

/*
 * Trees live in one block of so many bytes from now on, for a process that may not ask the kernel
 * for more (the signer). Full: a parse fails with ERR_LIMIT, building aborts. It
 * starts anew, unfragmented, whenever no tree is left: keep none for long. One thread only; a
 * second call does nothing.
 */
void json_use_pool(size_t bytes);

#endif
