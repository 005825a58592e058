/*
 * One line of the audit log under arbitrary bytes. Whatever the strict check accepts must be JSON,
 * and its canonical form must be the very same bytes: so no two readers see two meanings in it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/audit/record.h"
#include "tests/fuzz/fuzz.h"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct record_head head = {.seq = 99};
	struct err err = {0};

	if (record_check((const char *)bytes, len, &head, &err) < 0) {
		demand(head.seq == 99, "a failure leaves the output untouched");
		demand(err.kind == ERR_INVALID && err.text[0] != '\0', "a failure says why");
		return 0;
	}
	if (json_parse((const char *)bytes, len, len, &json, &err) < 0)
		demand(false, err.text);
	json_write_canonical(json, &text);
	demand(text.len == len && memcmp(text.bytes, bytes, len) == 0,
	       "an accepted line is its own canonical form");
	demand((uint64_t)json_get_int(json, "_seq", -1) == head.seq, "_seq is read as written");
	return 0;
}
