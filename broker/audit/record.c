/*
 * Writing one record line: members in order, values as canonical JSON; the strict check of
 * record_check.c then reads the line back, so nothing is ever written that a verifier would refuse.
 * What can fail: a key or value of a wrong form, a line out of bounds.
 */
#include "broker/audit/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writ/record.h"

#define MEMBERS_MAX 64 /* of one record; ours have some twenty */

static int compare_strings(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* Sorted by byte, so that the order says nothing about which digest hides what. */
static void write_digests(const struct json *digests, struct buf *out)
{
	size_t count = json_len(digests);
	CLEANUP(mem_freep) const char **items = mem_array(count, sizeof(*items));
	size_t used = 0;

	json_each(item, digests) items[used++] = json_str(item);
	qsort(items, used, sizeof(*items), compare_strings);
	for (size_t i = 0; i < used; i++) {
		buf_add_char(out, i == 0 ? '[' : ',');
		json_write_string(items[i], strlen(items[i]), out);
	}
	buf_add_char(out, ']');
}

/* A member to be written: of the caller's fields, or one of those written here. */
struct member {
	const char *key;
	const struct json *value; /* NULL: of ours */
};

struct members {
	size_t count;
	struct member items[MEMBERS_MAX];
};

/* In its place by name; there are few, and most come in order. */
static int add(struct members *members, const char *key, const struct json *value, struct err *err)
{
	size_t at = members->count;

	if (at == MEMBERS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d members", MEMBERS_MAX);
	for (; at > 0 && strcmp(members->items[at - 1].key, key) > 0; at--)
		members->items[at] = members->items[at - 1];
	members->items[at] = (struct member){key, value};
	members->count++;
	return 0;
}

static bool is_written_here(const char *key)
{
	static const char *const ours[] = {REC_PREV, REC_SEQ, REC_COMMITS, REC_TIME, REC_VERSION};

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (key[0] == ours[i][0] && strcmp(key, ours[i]) == 0)
			return true;
	return false;
}

static bool is_absent(const struct json *value)
{
	return json_type(value) == JSON_NULL ||
	       (json_type(value) == JSON_BOOL && !json_bool(value));
}

static int collect(const struct json *fields, bool commits, struct members *members,
		   struct err *err)
{
	members->count = 0;
	if ((commits && add(members, REC_COMMITS, NULL, err) < 0) ||
	    add(members, REC_TIME, NULL, err) < 0 || add(members, REC_VERSION, NULL, err) < 0)
		return -1;
	json_each(field, fields)
	{
		if (is_written_here(json_key(field)))
			return err_set(err, ERR_INVALID, "field %s is written by the log itself",
				       json_key(field));
		if (!is_absent(field) && add(members, json_key(field), field, err) < 0)
			return -1;
	}
	return 0;
}

static void write_ours(const char *key, const char *time, const struct json *digests,
		       struct buf *out)
{
	if (strcmp(key, REC_TIME) == 0)
		json_write_string(time, strlen(time), out);
	else if (strcmp(key, REC_COMMITS) == 0)
		write_digests(digests, out);
	else
		buf_addf(out, "%d", RECORD_FORMAT);
}

static void write_line(uint64_t seq, const uint8_t prev[SHA256_LEN], const char *time,
		       const struct members *members, const struct json *digests, struct buf *out)
{
	char head[2 * SHA256_HEX_LEN];
	char prev_hex[SHA256_HEX_LEN + 1];
	int len;

	hex_write(prev, SHA256_LEN, prev_hex);
	len = snprintf(head, sizeof(head), "{\"" REC_PREV "\":\"%s\",\"" REC_SEQ "\":%llu",
		       prev_hex, (unsigned long long)seq);
	buf_add(out, head, (size_t)len);
	for (size_t i = 0; i < members->count; i++) {
		const struct member *member = &members->items[i];

		buf_add_char(out, ',');
		json_write_string(member->key, strlen(member->key), out);
		buf_add_char(out, ':');
		if (member->value != NULL)
			json_write_canonical(member->value, out);
		else
			write_ours(member->key, time, digests, out);
	}
	buf_add_char(out, '}');
}

int record_format(uint64_t seq, const uint8_t prev[SHA256_LEN], const char *time,
		  const struct json *fields, const struct json *digests, struct buf *out,
		  struct err *err)
{
	struct members members;
	struct record_head head;
	size_t before = out->len;

	if (seq > JSON_INT_MAX)
		return err_set(err, ERR_LIMIT, "the log is full: no record number is left");
	if (collect(fields, json_len(digests) > 0, &members, err) < 0)
		return -1;
	write_line(seq, prev, time, &members, digests, out);
	if (record_check(out->bytes + before, out->len - before, &head, err) < 0) {
		out->len = before;
		out->bytes[before] = '\0';
		return err_wrap(err, "record");
	}
	return 0;
}
