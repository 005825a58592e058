/*
 * Reading a log: lines out of bytes, the strict check of each, number, chain and tree, and the
 * comparison of the root with each head on the way. Nothing here fails; what is wrong is noted, the
 * first bad record with what is wrong with it in words.
 */
#include "broker/audit/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/audit/verify_state.h"
#include "writ/record.h"

struct audit_verify *audit_verify_new(const struct audit_verify_options *options)
{
	struct audit_verify *verify = mem_alloc(sizeof(*verify));

	verify->options = *options;
	tiles_init(&verify->tiles);
	verify->next_head = UINT64_MAX;
	return verify;
}

void audit_verify_free(struct audit_verify *verify)
{
	if (verify == NULL)
		return;
	buf_clear(&verify->line);
	buf_clear(&verify->last_entry);
	for (size_t i = 0; i < verify->head_count; i++)
		mem_free(verify->heads[i].note);
	mem_free(verify->heads);
	mem_free(verify->segments);
	mem_free(verify->rotations);
	mem_free(verify->claims);
	mem_free(verify);
}

void audit_verify_freep(struct audit_verify **verify)
{
	audit_verify_free(*verify);
}

static const struct vkey *find_key(const struct audit_verify *verify, const char *name)
{
	for (size_t i = 0; i < verify->options.key_count; i++)
		if (strcmp(verify->options.keys[i].name, name) == 0)
			return &verify->options.keys[i];
	return NULL;
}

static void head_check_signature(struct audit_verify *verify, struct verify_head *head,
				 struct note *note)
{
	if (note_verify(note, verify->options.keys, verify->options.key_count, &head->why) < 0) {
		head->is_forged = head->why.kind == ERR_INVALID;
		return;
	}
	/* The key of a log is named after it: a good signature under another name proves nothing.
	 */
	if (find_key(verify, head->checkpoint.origin) == NULL) {
		head->is_forged = true;
		err_set(&head->why, ERR_INVALID, "it is a head of another log, %s",
			head->checkpoint.origin);
		return;
	}
	head->is_signed = true;
}

static void root_of(const struct tiles *tiles, uint8_t out[SHA256_LEN])
{
	struct tree tree;

	tiles_tree(tiles, &tree);
	tree_root(&tree, out);
}

/* Compares the root with that of each head of this size, and finds the size of the next one. */
static void check_heads(struct audit_verify *verify)
{
	uint64_t size = verify->tiles.size;
	uint8_t root[SHA256_LEN];
	uint8_t claimed[SHA256_LEN];

	root_of(&verify->tiles, root);
	root_of(verify->claims != NULL ? verify->claims : &verify->tiles, claimed);
	verify->next_head = UINT64_MAX;
	for (size_t i = 0; i < verify->head_count; i++) {
		struct verify_head *head = &verify->heads[i];

		if (head->readable && head->checkpoint.size > size &&
		    head->checkpoint.size < verify->next_head)
			verify->next_head = head->checkpoint.size;
		if (!head->readable || head->checkpoint.size != size)
			continue;
		if (memcmp(root, head->checkpoint.root, SHA256_LEN) == 0)
			head->fit = HEAD_FITS;
		else if (memcmp(claimed, head->checkpoint.root, SHA256_LEN) == 0)
			head->fit = HEAD_FITS_CLAIMS;
		else
			head->fit = HEAD_DIFFERS;
	}
}

static struct verify_head *new_head(struct audit_verify *verify)
{
	if (verify->head_count == verify->head_room) {
		verify->head_room = verify->head_room == 0 ? 8 : 2 * verify->head_room;
		verify->heads = mem_grow(verify->heads, verify->head_room * sizeof(*verify->heads));
	}
	memset(&verify->heads[verify->head_count], 0, sizeof(*verify->heads));
	return &verify->heads[verify->head_count++];
}

int audit_verify_head(struct audit_verify *verify, const char *where, const char *note, size_t len,
		      struct err *err)
{
	return audit_verify_head_of(verify, AUDIT_HEAD_OWN, 0, where, note, len, err);
}

int audit_verify_head_of(struct audit_verify *verify, enum audit_head_kind kind, uint64_t segment,
			 const char *where, const char *note, size_t len, struct err *err)
{
	CLEANUP(mem_freep) struct note *parsed = mem_alloc(sizeof(*parsed));
	struct verify_head *head;
	struct err ignored;

	if (verify->head_count == AUDIT_HEADS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d heads to compare with",
			       AUDIT_HEADS_MAX);
	head = new_head(verify);
	head->kind = kind;
	head->segment = segment;
	head->note = mem_strn(note, len);
	head->note_len = len;
	snprintf(head->where, sizeof(head->where), "%s", where);
	if (note_parse(note, len, parsed, &head->why) == 0) {
		head->readable = checkpoint_parse(parsed->text, parsed->text_len, &head->checkpoint,
						  &head->why) == 0;
		if (head->readable)
			head_check_signature(verify, head, parsed);
	} else if (checkpoint_parse(note, len, &head->checkpoint, &ignored) == 0) {
		head->readable = true; /* the text alone, its signatures stripped */
	}
	check_heads(verify); /* for a head of this very size, such as one of nothing */
	return 0;
}

static void note_bad(struct audit_verify *verify, uint64_t record, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The first bad record stays; later ones follow from it more often than not. */
static void note_bad(struct audit_verify *verify, uint64_t record, const char *format, ...)
{
	va_list args;

	if (verify->has_bad)
		return;
	verify->has_bad = true;
	verify->bad_record = record;
	va_start(args, format);
	vsnprintf(verify->bad_text, sizeof(verify->bad_text), format, args);
	va_end(args);
}

/* Adds the record before this one to the tree, now that this one has said what it was. */
static void add_last(struct audit_verify *verify, const uint8_t claimed[SHA256_LEN])
{
	bool same = memcmp(claimed, verify->last_leaf, SHA256_LEN) == 0;

	if (!same && verify->claims == NULL)
		verify->claims = mem_copy(&verify->tiles, sizeof(verify->tiles));
	tiles_add(&verify->tiles, verify->last_leaf, verify->options.on_tile, verify->options.data);
	if (verify->claims != NULL)
		tiles_add(verify->claims, claimed, NULL, NULL);
	if (verify->tiles.size == verify->next_head)
		check_heads(verify);
}

/*
 * Record n does not hold the hash of record n-1: one of the two was changed. If record n+1 fits
 * record n, then n is as it was when n+1 was written, so n-1 is the one; else it is n, unless a
 * head that fits the claims says otherwise (verify_judge.c).
 */
static void check_chain(struct audit_verify *verify, uint64_t seq, const uint8_t *prev)
{
	bool fits = memcmp(prev, verify->last_leaf, SHA256_LEN) == 0;

	if (!verify->has_bad && !fits) {
		note_bad(verify, seq - 1,
			 "record %llu does not hold the hash of record %llu: one of the two was "
			 "changed after it was written",
			 (unsigned long long)seq, (unsigned long long)seq - 1);
	} else if (verify->claims != NULL && !verify->settled && seq == verify->bad_record + 2) {
		if (!fits)
			verify->bad_record++;
		else
			snprintf(verify->bad_text, sizeof(verify->bad_text),
				 "record %llu was changed after record %llu was written: its hash "
				 "is not the one that record %llu holds",
				 (unsigned long long)seq - 2, (unsigned long long)seq - 1,
				 (unsigned long long)seq - 1);
		verify->settled = true;
	}
}

static bool check_place(struct audit_verify *verify, const struct record_head *head)
{
	static const uint8_t zeros[SHA256_LEN];
	uint64_t want = verify->records;

	if (head->seq > want)
		note_bad(verify, want, "record %llu is missing: record %llu stands in its place",
			 (unsigned long long)want, (unsigned long long)head->seq);
	else if (head->seq < want)
		note_bad(verify, want,
			 "record %llu stands where record %llu should: repeated or moved",
			 (unsigned long long)head->seq, (unsigned long long)want);
	else if (want == 0 && memcmp(head->prev, zeros, SHA256_LEN) != 0)
		note_bad(verify, 0, "record 0 names a record before it");
	else
		return true;
	return false;
}

static void read_origin(struct audit_verify *verify, const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;
	const char *origin;

	if (json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	origin = json_get_str(record, REC_ORIGIN);
	if (origin != NULL)
		snprintf(verify->origin, sizeof(verify->origin), "%s", origin);
}

/* When the last record below a head was written. The head is that of next_head: no other size comes
 * before it. */
static void note_time(struct audit_verify *verify, const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;
	const char *time;

	if (json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	time = json_get_str(record, REC_TIME);
	for (size_t i = 0; time != NULL && i < verify->head_count; i++)
		if (verify->heads[i].readable &&
		    verify->heads[i].checkpoint.size == verify->next_head)
			snprintf(verify->heads[i].time, sizeof(verify->heads[i].time), "%s", time);
}

static struct verify_segment *this_segment(struct audit_verify *verify)
{
	return &verify->segments[verify->segment_count - 1];
}

static bool is_event(const struct record_head *head, const char *event)
{
	return head->event != NULL && head->event_len == strlen(event) &&
	       memcmp(head->event, event, head->event_len) == 0;
}

/* A line in form, with its leaf hash. */
static void take_record(struct audit_verify *verify, const struct verify_line *line)
{
	uint64_t seq = verify->records;

	if (!check_place(verify, &line->head))
		verify->broken = true;
	verify->records++;
	if (verify->broken)
		return;
	if (seq == 0)
		read_origin(verify, line->entry, line->len);
	if (verify->has_last) {
		check_chain(verify, seq, line->head.prev);
		add_last(verify, line->head.prev);
	}
	memcpy(verify->last_leaf, line->leaf, SHA256_LEN);
	verify->has_last = true;
	if (verify->segment_count > 0 && seq == this_segment(verify)->first)
		verify_border_open(verify, line->entry, line->len);
	if (seq + 1 == verify->next_head)
		note_time(verify, line->entry, line->len);
	if (is_event(&line->head, EV_KEY_ROTATE))
		verify_note_rotation(verify, seq, line->entry, line->len);
	if (verify->has_gap)
		verify_note_drop(verify, line->entry, line->len);
	if (verify->options.on_record != NULL && !verify->has_bad)
		verify->options.on_record(verify->options.data, seq, verify->last_leaf, line->entry,
					  line->len);
}

static void take_bad_line(struct audit_verify *verify, const struct err *why)
{
	note_bad(verify, verify->records, "record %llu is not in the form of the log: %s",
		 (unsigned long long)verify->records, why->text);
	verify->broken = true;
	verify->records++;
}

static void keep_last(struct audit_verify *verify, const struct verify_line *line)
{
	if (verify->segment_count == 0)
		return;
	buf_reset(&verify->last_entry);
	buf_add(&verify->last_entry, line->entry, line->len);
}

void audit_verify_block(struct audit_verify *verify, const struct verify_block *block)
{
	verify->bytes += block->len;
	verify->segment_bytes += block->len;
	for (size_t i = 0; i < block->count; i++) {
		if (verify->broken)
			verify->records++;
		else
			take_record(verify, &block->lines[i]);
	}
	if (block->bad && !verify->broken)
		take_bad_line(verify, &block->why);
	else
		verify->records += block->bad;
	verify->records += block->rest;
	if (block->count > 0)
		keep_last(verify, &block->lines[block->count - 1]);
}

static void take_line(struct audit_verify *verify, const char *entry, size_t len)
{
	struct verify_line line = {.entry = entry, .len = len};
	struct err err;

	if (verify->broken) {
		verify->records++;
		return;
	}
	if (record_check(entry, len, &line.head, &err) < 0) {
		take_bad_line(verify, &err);
		return;
	}
	leaf_hash(entry, len, line.leaf);
	take_record(verify, &line);
	keep_last(verify, &line);
}

/* A line that can be no record is not kept: it might be a gigabyte of NULs. */
static void keep_rest(struct audit_verify *verify, const char *bytes, size_t len)
{
	if (verify->long_bytes == 0 && verify->line.len + len <= WRIT_RECORD_BYTES_MAX) {
		buf_add(&verify->line, bytes, len);
		return;
	}
	verify->long_bytes += verify->line.len + len;
	buf_reset(&verify->line);
}

static void end_line(struct audit_verify *verify, const char *bytes, size_t len)
{
	if (verify->long_bytes == 0 && verify->line.len == 0) {
		take_line(verify, bytes, len);
		return;
	}
	keep_rest(verify, bytes, len);
	if (verify->long_bytes > 0) {
		struct err why;

		err_fill(&why, ERR_INVALID, "%llu bytes long; a record has %d to %d",
			 (unsigned long long)verify->long_bytes, WRIT_RECORD_BYTES_MIN,
			 WRIT_RECORD_BYTES_MAX);
		take_bad_line(verify, &why);
	} else {
		take_line(verify, verify->line.bytes, verify->line.len);
	}
	buf_reset(&verify->line);
	verify->long_bytes = 0;
}

void audit_verify_feed(struct audit_verify *verify, const char *bytes, size_t len)
{
	const char *end = bytes + len;

	verify->bytes += len;
	verify->segment_bytes += len;
	while (bytes < end) {
		const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));

		if (feed == NULL) {
			keep_rest(verify, bytes, (size_t)(end - bytes));
			return;
		}
		end_line(verify, bytes, (size_t)(feed - bytes));
		bytes = feed + 1;
	}
}

static void add_hashes(struct audit_verify *verify, unsigned int level,
		       const uint8_t hash[SHA256_LEN])
{
	tiles_add_at(&verify->tiles, level, hash, verify->options.on_tile, verify->options.data);
	if (verify->claims != NULL)
		tiles_add_at(verify->claims, level, hash, NULL, NULL);
	if (verify->tiles.size >= verify->next_head)
		check_heads(verify);
}

void audit_verify_hashes(struct audit_verify *verify, unsigned int level,
			 const uint8_t (*hashes)[SHA256_LEN], size_t count)
{
	uint64_t each = 1ULL << (TILE_HEIGHT * level);

	for (size_t i = 0; i < count; i++) {
		verify->records += each;
		verify->hash_only += each;
		if (verify->broken)
			continue;
		if (verify->has_last)
			add_last(verify, verify->last_leaf);
		verify->has_last = level == 0;
		if (level == 0)
			memcpy(verify->last_leaf, hashes[i], SHA256_LEN);
		else
			add_hashes(verify, level, hashes[i]);
	}
}

const struct tiles *audit_verify_tiles(const struct audit_verify *verify)
{
	return &verify->tiles;
}

uint64_t audit_verify_records(const struct audit_verify *verify)
{
	return verify->records;
}

void audit_verify_done(struct audit_verify *verify)
{
	/* Nobody says what the last record was: it is taken at its word. */
	if (verify->has_last && !verify->broken)
		add_last(verify, verify->last_leaf);
	verify->has_last = false;
}
