/* Lines out of bytes, and each line held against the one before. What can fail: a line that is not
 * what it should be. */
#include "broker/audit/scan.h"

#include <string.h>

#include "broker/audit/tree.h"

static unsigned long long number(uint64_t value)
{
	return value;
}

static int take_line(struct scan *scan, const char *entry, size_t len, struct err *err)
{
	struct record_head head;
	uint8_t leaf[SHA256_LEN];

	if (record_check(entry, len, &head, err) < 0)
		return err_wrap(err, "record %llu is not in the form of the log",
				number(scan->next));
	if (head.seq != scan->next)
		return err_set(err, ERR_INVALID, "record %llu stands where record %llu should",
			       number(head.seq), number(scan->next));
	if (memcmp(head.prev, scan->last, SHA256_LEN) != 0)
		return err_set(err, ERR_INVALID,
			       "record %llu does not hold the hash of the one before: one of the "
			       "two was changed after it was written",
			       number(scan->next));
	leaf_hash(entry, len, leaf);
	if (scan->on_record != NULL)
		scan->on_record(scan->data, scan->next, leaf, entry, len);
	memcpy(scan->last, leaf, SHA256_LEN);
	scan->next++;
	return 0;
}

/* What can be no record is counted, not kept: it might be a gigabyte of NULs. */
static void keep(struct scan *scan, const char *bytes, size_t len)
{
	scan->torn += len;
	if (scan->line.len <= WRIT_RECORD_BYTES_MAX)
		buf_add(&scan->line, bytes, len);
}

int scan_feed(struct scan *scan, const char *bytes, size_t len, struct err *err)
{
	const char *end = bytes + len;

	while (bytes < end) {
		const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));
		int result;

		if (feed == NULL) {
			keep(scan, bytes, (size_t)(end - bytes));
			return 0;
		}
		if (scan->torn == 0) {
			result = take_line(scan, bytes, (size_t)(feed - bytes), err);
		} else {
			keep(scan, bytes, (size_t)(feed - bytes));
			result = take_line(scan, scan->line.bytes, scan->line.len, err);
		}
		if (result < 0)
			return -1;
		buf_reset(&scan->line);
		scan->torn = 0;
		bytes = feed + 1;
	}
	return 0;
}

void scan_clear(struct scan *scan)
{
	buf_clear(&scan->line);
}
