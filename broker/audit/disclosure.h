/*
 * Commitments to values that never stand in the log in clear, in SD-JWT coding (RFC 9901 section
 * 4.2): disclosure = base64url of the JSON array [salt, name, value]; digest = base64url of SHA-256
 * over the disclosure's characters. The digest covers the string as sent, so no canonical form of
 * the value is needed. Pure: salts are passed in.
 */
#ifndef BROKER_AUDIT_DISCLOSURE_H
#define BROKER_AUDIT_DISCLOSURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"

#define DISCLOSURE_SALT_LEN 16
#define DISCLOSURE_DIGEST_LEN 43	/* characters */
#define DISCLOSURE_BYTES_MAX (6u << 20) /* a result of 1 MiB in its worst coding */

void disclosure_make(const char *name, const struct json *value,
		     const uint8_t salt[DISCLOSURE_SALT_LEN], struct buf *out);
void disclosure_digest(const char *disclosure, size_t len, char out[DISCLOSURE_DIGEST_LEN + 1]);

struct disclosure {
	struct json *array; /* owned; the rest points into it */
	const char *salt;
	const char *name; /* NULL for an array element, which has none */
	const struct json *value;
};

MUST_CHECK int disclosure_open(const char *disclosure, size_t len, struct disclosure *ret,
			       struct err *err);
void disclosure_clear(struct disclosure *disclosure);

#endif
