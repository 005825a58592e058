/*
 * The JSON door under arbitrary bytes. Whatever is accepted must
 *   - be equal after writing (plain and pretty) and reading back,
 *   - have a canonical form that is read back and written again without a change,
 *   - be valid UTF-8 in all three forms.
 * A broken promise aborts, which a fuzzer and replay_main.c both report.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX (1u << 20)
/* Indented, 64 levels deep: 2 * 64 blanks before each value. */
#define WRITTEN_BYTES_MAX (256u * INPUT_BYTES_MAX)

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static struct json *read_back(const struct buf *text)
{
	struct json *json = NULL;
	struct err err = {0};

	demand(utf8_valid(text->bytes, text->len), "what is written is UTF-8");
	if (json_parse(text->bytes, text->len, WRITTEN_BYTES_MAX, &json, &err) < 0)
		demand(false, err.text);
	return json;
}

static void reads_back_equal(const struct json *json,
			     void (*write)(const struct json *, struct buf *))
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(json_freep) struct json *back = NULL;

	write(json, &text);
	back = read_back(&text);
	demand(json_equal(json, back), "what is written reads back equal");
}

static void canonical_is_fixed(const struct json *json)
{
	CLEANUP(buf_clear) struct buf first = BUF_INIT;
	CLEANUP(buf_clear) struct buf second = BUF_INIT;
	CLEANUP(json_freep) struct json *back = NULL;

	json_write_canonical(json, &first);
	back = read_back(&first);
	json_write_canonical(back, &second);
	demand(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0,
	       "the canonical form is a fixed point");
}

static void copies_are_equal(const struct json *json)
{
	CLEANUP(json_freep) struct json *copy = json_copy(json);

	demand(json_equal(json, copy), "a copy is equal");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(json_freep) struct json *json = NULL;
	struct err err = {0};

	if (json_parse((const char *)bytes, len, INPUT_BYTES_MAX, &json, &err) < 0) {
		demand(json == NULL, "a failure leaves the output untouched");
		demand(err.kind == ERR_INVALID || err.kind == ERR_LIMIT, "the kind is known");
		demand(utf8_valid(err.text, strlen(err.text)), "messages are UTF-8");
		return 0;
	}
	reads_back_equal(json, json_write);
	reads_back_equal(json, json_write_pretty);
	canonical_is_fixed(json);
	copies_are_equal(json);
	return 0;
}
