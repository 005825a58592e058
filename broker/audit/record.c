/*
 * Writing one record line. Canonical JSON does the ordering and escaping; the strict check of
 * record_check.c then reads the line back, so nothing is ever written that a verifier would refuse.
 * What can fail: a key or value of a wrong form, a line out of bounds.
 */
#include "broker/audit/record.h"

#include <stdlib.h>
#include <string.h>

#include "writ/record.h"

static int compare_strings(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* Sorted by byte, so that the order says nothing about which digest hides what. */
static struct json *sorted_digests(const struct json *digests)
{
	size_t count = json_len(digests);
	CLEANUP(mem_freep) const char **items = mem_array(count, sizeof(*items));
	struct json *sorted = json_array();
	size_t used = 0;

	json_each(item, digests) items[used++] = json_str(item);
	qsort(items, used, sizeof(*items), compare_strings);
	for (size_t i = 0; i < used; i++)
		json_push_str(sorted, items[i]);
	return sorted;
}

static bool is_written_here(const char *key)
{
	static const char *const ours[] = {REC_PREV, REC_SEQ, REC_COMMITS, REC_TIME, REC_VERSION};

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (strcmp(key, ours[i]) == 0)
			return true;
	return false;
}

static bool is_absent(const struct json *value)
{
	return json_type(value) == JSON_NULL ||
	       (json_type(value) == JSON_BOOL && !json_bool(value));
}

static int copy_fields(const struct json *fields, struct json *record, struct err *err)
{
	json_each(field, fields)
	{
		if (is_written_here(json_key(field)))
			return err_set(err, ERR_INVALID, "field %s is written by the log itself",
				       json_key(field));
		if (!is_absent(field))
			json_set(record, json_key(field), json_copy(field));
	}
	return 0;
}

int record_format(uint64_t seq, const uint8_t prev[SHA256_LEN], const char *time,
		  const struct json *fields, const struct json *digests, struct buf *out,
		  struct err *err)
{
	CLEANUP(json_freep) struct json *record = json_object();
	char prev_hex[SHA256_HEX_LEN + 1];
	struct record_head head;
	size_t before = out->len;

	if (seq > JSON_INT_MAX)
		return err_set(err, ERR_LIMIT, "the log is full: no record number is left");
	if (copy_fields(fields, record, err) < 0)
		return -1;
	hex_write(prev, SHA256_LEN, prev_hex);
	json_set_str(record, REC_PREV, prev_hex);
	json_set_int(record, REC_SEQ, (int64_t)seq);
	json_set_str(record, REC_TIME, time);
	json_set_int(record, REC_VERSION, RECORD_FORMAT);
	if (json_len(digests) > 0)
		json_set(record, REC_COMMITS, sorted_digests(digests));
	json_write_canonical(record, out);
	if (record_check(out->bytes + before, out->len - before, &head, err) < 0) {
		out->len = before;
		out->bytes[before] = '\0';
		return err_wrap(err, "record");
	}
	return 0;
}
