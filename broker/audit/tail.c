/* The text of a tail state. What can fail: any other form, peaks that do not fit the size. */
#include "broker/audit/tail.h"

#include <string.h>

#include "broker/audit/lines.h"

#define TAIL_FIRST_LINE "writ.tail/v2"

void tail_write(const struct tail *tail, struct buf *out)
{
	buf_addf(out, TAIL_FIRST_LINE "\n%s\n%llu\n%llu\n%llu\n", tail->origin,
		 (unsigned long long)tail->tree.size, (unsigned long long)tail->segment,
		 (unsigned long long)tail->bytes);
	base64_write(tail->last, SHA256_LEN, out);
	buf_add_char(out, '\n');
	base64_write(tail->state, SHA256_LEN, out);
	buf_add_char(out, '\n');
	for (size_t i = 0; i < tail->tree.count; i++) {
		base64_write(tail->tree.peaks[i], SHA256_LEN, out);
		buf_add_char(out, '\n');
	}
}

static int read_peaks(struct lines *lines, uint64_t size, struct tree *tree, struct err *err)
{
	uint8_t peaks[TREE_PEAKS_MAX][SHA256_LEN];
	size_t count = 0;

	while (lines->left > 0) {
		if (count == TREE_PEAKS_MAX || lines_hash(lines, peaks[count]) < 0)
			return err_set(err, ERR_INVALID, "line %zu is no peak", count + 8);
		count++;
	}
	return tree_restore(tree, size, (const uint8_t(*)[SHA256_LEN])peaks, count, err);
}

int tail_parse(const char *text, size_t len, struct tail *ret_tail, struct err *err)
{
	struct lines lines = {text, len};
	struct tail tail;
	char first[sizeof(TAIL_FIRST_LINE)];
	uint64_t size = 0;

	if (lines_text(&lines, first, sizeof(first)) < 0 || strcmp(first, TAIL_FIRST_LINE) != 0)
		return err_set(err, ERR_INVALID, "tail: line 1 is not " TAIL_FIRST_LINE);
	if (lines_text(&lines, tail.origin, sizeof(tail.origin)) < 0)
		return err_set(err, ERR_INVALID, "tail: line 2 is no origin");
	if (lines_number(&lines, &size) < 0 || lines_number(&lines, &tail.segment) < 0 ||
	    lines_number(&lines, &tail.bytes) < 0)
		return err_set(err, ERR_INVALID, "tail: lines 3 to 5 are not three numbers");
	if (lines_hash(&lines, tail.last) < 0 || lines_hash(&lines, tail.state) < 0)
		return err_set(err, ERR_INVALID, "tail: lines 6 and 7 are not two hashes");
	if (read_peaks(&lines, size, &tail.tree, err) < 0)
		return err_wrap(err, "tail");
	*ret_tail = tail;
	return 0;
}
