/* Lines out of bytes, each checked, all hashed together. What can fail: a line's form, which is
 * kept for whoever knows its number. */
#include "broker/audit/verify_lines.h"

#include <string.h>

#define LINES_FIRST 512

static void make_room(struct verify_block *block)
{
	if (block->count < block->room)
		return;
	block->room = block->room == 0 ? LINES_FIRST : 2 * block->room;
	block->lines = mem_grow(block->lines, block->room * sizeof(*block->lines));
	block->jobs = mem_grow(block->jobs, block->room * sizeof(*block->jobs));
}

static size_t count_lines(const char *at, const char *end)
{
	size_t count = 0;

	for (; at < end; count++) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));

		at = feed == NULL ? end : feed + 1;
	}
	return count;
}

static void hash_lines(struct verify_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		block->jobs[i] = (struct sha256_job){block->lines[i].entry, block->lines[i].len,
						     block->lines[i].leaf};
	sha256_many(0x00, block->jobs, block->count);
}

void verify_block_read(struct verify_block *block, bool lax)
{
	const char *at = block->bytes;
	const char *end = at + block->len;

	block->count = 0;
	block->rest = 0;
	block->bad = false;
	while (at < end && !block->bad) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		struct verify_line *line;

		make_room(block);
		line = &block->lines[block->count];
		line->entry = at;
		line->len = (size_t)((feed == NULL ? end : feed) - at);
		block->bad = (lax ? record_check_head(at, line->len, &line->head, &block->why)
				  : record_check(at, line->len, &line->head, &block->why)) < 0;
		block->count += !block->bad;
		at = feed == NULL ? end : feed + 1;
	}
	block->rest = count_lines(at, end);
	hash_lines(block);
}

void verify_block_clear(struct verify_block *block)
{
	mem_free(block->lines);
	mem_free(block->jobs);
	block->lines = NULL;
	block->jobs = NULL;
	block->room = 0;
}
