/*
 * The borders of segments. A segment ends with segment.close, which names the next epoch's key, and
 * is sealed by a head that its own epoch's key signed as well; the next begins with segment.open,
 * which holds size and hash of the file before. Following these from the first segment on, no epoch
 * can be left out, sealed anew with a later key, or be sealed at another size.
 *
 * What is wrong here is TAMPERED, whatever heads say.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/audit/verify_state.h"
#include "writ/record.h"

static void found(struct audit_verify *verify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first stays. */
static void found(struct audit_verify *verify, const char *format, ...)
{
	va_list args;

	if (verify->border_text[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(verify->border_text, sizeof(verify->border_text), format, args);
	va_end(args);
}

void audit_verify_found(struct audit_verify *verify, const char *what)
{
	found(verify, "%s", what);
}

static struct verify_segment *last_segment(struct audit_verify *verify)
{
	return &verify->segments[verify->segment_count - 1];
}

void audit_verify_segment(struct audit_verify *verify, const char *name, uint64_t first)
{
	struct verify_segment *segment;

	if (verify->line.len > 0 || verify->long_bytes > 0)
		found(verify, "%s ends within a line, but %s follows it",
		      last_segment(verify)->name, name);
	if (first != verify->records)
		found(verify,
		      "%s begins with record %llu, but %llu records come before it: a "
		      "segment is missing or misplaced",
		      name, (unsigned long long)first, (unsigned long long)verify->records);
	if (verify->segment_count == verify->segment_room) {
		verify->segment_room = verify->segment_room == 0 ? 8 : 2 * verify->segment_room;
		verify->segments = mem_grow(verify->segments,
					    verify->segment_room * sizeof(*verify->segments));
	}
	segment = &verify->segments[verify->segment_count++];
	memset(segment, 0, sizeof(*segment));
	snprintf(segment->name, sizeof(segment->name), "%s", name);
	segment->first = verify->records;
	segment->only_hashes = true;
	verify->segment_bytes = 0;
	buf_reset(&verify->last_entry);
}

static bool is_event(const struct json *record, const char *event)
{
	const char *text = json_get_str(record, REC_EVENT);

	return text != NULL && strcmp(text, event) == 0;
}

/* Number and key of an epoch, as a record gives them. The key must bear the epoch's name. */
static bool read_epoch(const struct json *record, const char *origin, uint64_t *ret_epoch,
		       struct vkey *ret_key)
{
	const char *text = json_get_str(record, REC_EPOCH_KEY);
	int64_t number = json_get_int(record, REC_KEY_EPOCH, -1);
	char name[EPOCH_NAME_MAX + 1];

	if (text == NULL || number < 0 || vkey_parse(text, strlen(text), ret_key, NULL) < 0 ||
	    epoch_key_name(origin, (uint64_t)number, name, NULL) < 0)
		return false;
	*ret_epoch = (uint64_t)number;
	return strcmp(name, ret_key->name) == 0;
}

static bool same_key(const struct vkey *a, const struct vkey *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       memcmp(a->public_key, b->public_key, ED25519_PUBLIC_LEN) == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static void check_file_before(struct audit_verify *verify, struct verify_segment *before,
			      const struct json *record)
{
	const struct json *file = json_get(record, REC_SEGMENT);
	const char *name = json_get_str(file, "name");
	const char *sum = json_get_str(file, "sha256");
	uint8_t hash[SHA256_LEN];

	if (name == NULL || sum == NULL || hex_read(sum, strlen(sum), hash, SHA256_LEN, NULL) < 0) {
		found(verify, "record %llu does not say what file came before it",
		      (unsigned long long)verify->records - 1);
		return;
	}
	if (before->ended && ((uint64_t)json_get_int(file, "bytes", -1) != before->bytes ||
			      (uint64_t)json_get_int(file, "count", -1) != before->count ||
			      strcmp(name, base_name(before->name)) != 0))
		found(verify,
		      "%s is not the file that record %llu says came before it (%s, %lld "
		      "bytes, %lld records)",
		      before->name, (unsigned long long)verify->records - 1, name,
		      (long long)json_get_int(file, "bytes", -1),
		      (long long)json_get_int(file, "count", -1));
	if (before->has_hash && memcmp(before->sha256, hash, SHA256_LEN) != 0)
		found(verify, "%s does not have the SHA-256 that record %llu gives for it",
		      before->name, (unsigned long long)verify->records - 1);
	before->has_hash = true;
	memcpy(before->sha256, hash, SHA256_LEN);
}

static void check_epoch(struct audit_verify *verify, const struct verify_segment *before,
			const struct verify_segment *segment)
{
	if (!before->closed || !before->next_has_key)
		return; /* said elsewhere, or an old log that had no epochs yet */
	if (!segment->has_key || segment->epoch != before->next_epoch ||
	    !same_key(&segment->key, &before->next_key))
		found(verify, "%s does not open the epoch that %s names in its last record",
		      segment->name, before->name);
}

static void check_first_epoch(struct audit_verify *verify, const struct verify_segment *segment)
{
	const struct vkey *pinned = verify->options.epoch_key;

	if (pinned == NULL || segment->epoch != 0)
		return;
	if (!segment->has_key || !same_key(pinned, &segment->key))
		found(verify, "record 0 does not name the pinned key of epoch 0");
}

void verify_border_open(struct audit_verify *verify, const char *entry, size_t len)
{
	struct verify_segment *segment = last_segment(verify);
	CLEANUP(json_freep) struct json *record = NULL;

	segment->only_hashes = false;
	if (json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return; /* in lax reading */
	segment->has_key = read_epoch(record, verify->origin, &segment->epoch, &segment->key);
	if (segment->first == 0)
		check_first_epoch(verify, segment);
	if (segment->first == 0 || verify->segment_count < 2)
		return;
	if (!is_event(record, EV_SEGMENT_OPEN)) {
		found(verify, "%s does not begin with %s", segment->name, EV_SEGMENT_OPEN);
		return;
	}
	check_file_before(verify, segment - 1, record);
	check_epoch(verify, segment - 1, segment);
}

static void read_close(struct audit_verify *verify, struct verify_segment *segment,
		       const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;

	if (len == 0 || json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	segment->closed = is_event(record, EV_SEGMENT_CLOSE);
	if (!segment->closed)
		return;
	segment->next_has_key =
		read_epoch(record, verify->origin, &segment->next_epoch, &segment->next_key);
	if (segment->has_key &&
	    (!segment->next_has_key || segment->next_epoch != segment->epoch + 1))
		found(verify, "the last record of %s does not name the key of epoch %llu",
		      segment->name, (unsigned long long)segment->epoch + 1);
}

void audit_verify_segment_end(struct audit_verify *verify, const uint8_t *sha256)
{
	struct verify_segment *segment = last_segment(verify);

	segment->count = verify->records - segment->first;
	if (segment->count == 0)
		segment->only_hashes = false; /* an empty file */
	if (segment->only_hashes) {
		verify->has_gap = !verify->options.range;
		return;
	}
	segment->ended = true;
	segment->bytes = verify->segment_bytes;
	if (sha256 != NULL) {
		segment->has_hash = true;
		memcpy(segment->sha256, sha256, SHA256_LEN);
	}
	read_close(verify, segment, buf_str(&verify->last_entry), verify->last_entry.len);
}

void verify_note_drop(struct audit_verify *verify, const char *entry, size_t len)
{
	static const char mark[] = "\"ev\":\"" EV_SEGMENT_DROP "\"";
	CLEANUP(json_freep) struct json *record = NULL;
	const char *name;

	if (memmem(entry, len, mark, sizeof(mark) - 1) == NULL ||
	    json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0 ||
	    !is_event(record, EV_SEGMENT_DROP))
		return;
	name = json_get_str(json_get(record, REC_SEGMENT), "name");
	for (size_t i = 0; name != NULL && i < verify->segment_count; i++)
		if (strcmp(base_name(verify->segments[i].name), name) == 0)
			verify->segments[i].dropped = true;
}

void audit_verify_close_line(struct audit_verify *verify, const char *entry, size_t len)
{
	struct verify_segment *segment = last_segment(verify);
	struct record_head head;
	uint8_t leaf[SHA256_LEN];
	struct err err;

	leaf_hash(entry, len, leaf);
	if (verify->records == 0 || memcmp(leaf, verify->last_leaf, SHA256_LEN) != 0 ||
	    record_check(entry, len, &head, &err) < 0) {
		found(verify,
		      "the kept last line of %s is not the record whose hash the tiles hold",
		      segment->name);
		return;
	}
	if (verify->segment_count > 1 && (segment - 1)->next_has_key) {
		segment->has_key = true;
		segment->epoch = (segment - 1)->next_epoch;
		segment->key = (segment - 1)->next_key;
	} else if (segment->first == 0 && verify->options.epoch_key != NULL) {
		segment->has_key = true;
		segment->key = *verify->options.epoch_key;
	}
	read_close(verify, segment, entry, len);
}

bool audit_verify_sum(const struct audit_verify *verify, uint64_t first, uint8_t out[SHA256_LEN])
{
	for (size_t i = 0; i < verify->segment_count; i++) {
		const struct verify_segment *segment = &verify->segments[i];

		if (segment->first != first || !segment->has_hash)
			continue;
		memcpy(out, segment->sha256, SHA256_LEN);
		return true;
	}
	return false;
}

static struct verify_head *seal_of(struct audit_verify *verify, uint64_t first)
{
	for (size_t i = 0; i < verify->head_count; i++)
		if (verify->heads[i].kind == AUDIT_HEAD_SEAL && verify->heads[i].segment == first)
			return &verify->heads[i];
	return NULL;
}

/* Does the seal bear the good line of this key? */
static bool is_signed_by(const struct verify_head *seal, const struct vkey *key, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	return note_parse(seal->note, seal->note_len, note, err) == 0 &&
	       note_verify(note, key, 1, err) == 0;
}

static void judge_seal(struct audit_verify *verify, const struct verify_segment *segment,
		       uint64_t end)
{
	struct verify_head *seal = seal_of(verify, segment->first);
	struct err err;

	if (seal == NULL) {
		found(verify, "%s has no seal", segment->name);
		return;
	}
	if (!seal->readable)
		return; /* said of it as a head */
	if (seal->checkpoint.size != end)
		found(verify, "the seal of %s counts %llu records, but it ends with record %llu",
		      segment->name, (unsigned long long)seal->checkpoint.size,
		      (unsigned long long)end - 1);
	if (segment->has_key && !is_signed_by(seal, &segment->key, &err))
		found(verify, "the seal of %s is not signed by the key of its epoch %llu: %s",
		      segment->name, (unsigned long long)segment->epoch, err.text);
}

/* Whoever signs a head of an epoch does it right; the log's own key is looked at elsewhere. */
static void judge_epoch_lines(struct audit_verify *verify, const struct verify_head *head)
{
	for (size_t i = 0; i < verify->segment_count; i++) {
		const struct verify_segment *segment = &verify->segments[i];
		struct err err = {.kind = ERR_NONE};

		if (segment->has_key && !is_signed_by(head, &segment->key, &err) &&
		    err.kind == ERR_INVALID)
			found(verify, "%s: %s", head->where, err.text);
	}
}

void verify_judge_segments(struct audit_verify *verify)
{
	for (size_t i = 0; i < verify->segment_count; i++) {
		const struct verify_segment *segment = &verify->segments[i];

		if (segment->only_hashes && !segment->dropped && !verify->options.range)
			found(verify,
			      "the lines of %s are gone, and no record says that they were "
			      "dropped",
			      segment->name);
		/* Of a stretch of which only hashes are there, the root alone speaks. */
		if (i + 1 == verify->segment_count ||
		    (segment->only_hashes && !segment->closed && segment->next_epoch == 0))
			continue;
		if (!segment->closed)
			found(verify, "%s does not end with %s", segment->name, EV_SEGMENT_CLOSE);
		judge_seal(verify, segment, verify->segments[i + 1].first);
	}
	for (size_t i = 0; i < verify->head_count; i++)
		if (verify->heads[i].kind == AUDIT_HEAD_OWN && verify->heads[i].readable)
			judge_epoch_lines(verify, &verify->heads[i]);
}
