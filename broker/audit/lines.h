/* Reading the texts of checkpoints and tails line by line: used by those two files only. */
#ifndef BROKER_AUDIT_LINES_H
#define BROKER_AUDIT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"

struct lines {
	const char *at;
	size_t left;
};

/* All return -1 when the next line is not of that form. */
int lines_text(struct lines *lines, char *out, size_t out_max); /* 1 to out_max - 1 bytes */
int lines_number(struct lines *lines, uint64_t *ret);		/* decimal, no leading zeros */
int lines_hash(struct lines *lines, uint8_t out[SHA256_LEN]);	/* base64 */

#endif
