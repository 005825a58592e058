/*
 * Signed notes, keys, checkpoints and tails under arbitrary bytes. Each text that is accepted must
 * come out again as the very same bytes, so there is one coding of each value only.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/audit/note.h"
#include "broker/audit/tail.h"
#include "tests/fuzz/fuzz.h"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void same(const struct buf *text, const char *bytes, size_t len)
{
	demand(text->len == len && memcmp(text->bytes, bytes, len) == 0,
	       "what is accepted is written again as it was");
}

static void try_texts(const char *bytes, size_t len)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct checkpoint checkpoint;
	struct vkey key;
	struct tail tail;

	/* A NUL in an origin ends it early in our structure; within a note none gets that far. */
	if (checkpoint_parse(bytes, len, &checkpoint, NULL) == 0 &&
	    memchr(bytes, '\0', len) == NULL) {
		checkpoint_write(&checkpoint, &text);
		same(&text, bytes, len);
		buf_reset(&text);
	}
	if (vkey_parse(bytes, len, &key, NULL) == 0) {
		vkey_write(&key, &text);
		same(&text, bytes, len);
		buf_reset(&text);
	}
	if (tail_parse(bytes, len, &tail, NULL) == 0 && memchr(bytes, '\0', len) == NULL) {
		tail_write(&tail, &text);
		same(&text, bytes, len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const struct vkey nobody;
	char *input = mem_strn((const char *)bytes, len);
	struct note *note = mem_alloc(sizeof(*note));
	struct err err = {0};

	if (note_parse(input, len, note, &err) == 0) {
		demand(note->line_count > 0 && note->text_len > 0, "a note has text and lines");
		demand(note->text[note->text_len - 1] == '\n', "the text ends in a line feed");
		demand(note_verify(note, &nobody, 1, &err) < 0, "nobody signs nothing");
		try_texts(note->text, note->text_len);
	}
	try_texts(input, len);
	mem_free(note);
	mem_free(input);
	return 0;
}
