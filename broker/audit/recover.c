/*
 * Opening an existing log. What can fail: the disk; a checkpoint that is unreadable or not ours; a
 * log that is damaged, cut or rolled back (ERR_INVALID: the caller exits with 65).
 */
#include "broker/audit/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/recover_state.h"
#include "broker/audit/scan.h"
#include "broker/audit/tile_files.h"
#include "writ/limits.h"
#include "writ/record.h"

#define READ_BYTES (256u << 10)
#define TORN_BYTES_MAX (64u << 20) /* far above any batch; more is no torn write of ours */

void recovered_clear(struct recovered *recovered)
{
	log_file_close(&recovered->file);
	mem_free(recovered->leaves);
	mem_free(recovered->checkpoint);
	mem_free(recovered->tiles);
	recovered->leaves = NULL;
	recovered->checkpoint = NULL;
	recovered->tiles = NULL;
}

static int read_checkpoint(struct recovery *recovery, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *text = NULL;
	size_t len = 0;

	if (file_read_at(recovery->dir_fd, AUDIT_CHECKPOINT, NOTE_BYTES_MAX, &bytes, err) < 0)
		return err->kind == ERR_NOT_FOUND ? 0 : -1;
	if (recovery_open_note(&bytes, recovery->key, &text, &len, err) < 0 ||
	    checkpoint_parse(text, len, &recovery->head, err) < 0 ||
	    strcmp(recovery->head.origin, recovery->key->name) != 0)
		return err_set(err, ERR_INVALID,
			       AUDIT_CHECKPOINT
			       " is no head of this log signed by its key %s" WHAT_TO_DO,
			       recovery->key->name);
	recovery->out->checkpoint = buf_take(&bytes);
	return 0;
}

struct reading {
	const struct recovery *recovery;
	struct recovered *out;
	struct tree tree; /* up to the head */
	bool is_first;	  /* the next record is the first of its segment */
	bool is_other;	  /* the tree at the head has another root */
	size_t room;	  /* of leaves */
};

static void check_head(struct reading *reading)
{
	uint8_t root[SHA256_LEN];

	tree_root(&reading->tree, root);
	reading->is_other = memcmp(root, reading->recovery->head.root, SHA256_LEN) != 0;
}

static void keep_leaf(struct reading *reading, const uint8_t leaf[SHA256_LEN])
{
	struct recovered *out = reading->out;

	if (out->leaf_count == reading->room) {
		reading->room = reading->room == 0 ? 64 : reading->room * 2;
		out->leaves = mem_grow(out->leaves, reading->room * SHA256_LEN);
	}
	memcpy(out->leaves[out->leaf_count++], leaf, SHA256_LEN);
}

static void note_time(const struct json *record, int64_t *ret_us)
{
	const char *time = json_get_str(record, REC_TIME);
	int64_t us = 0;

	if (time != NULL && timestamp_read(time, &us, NULL) == 0)
		*ret_us = us;
}

/* The first and any closing record say what the segment is. */
static void note_segment(struct reading *reading, const char *entry, size_t len)
{
	static const char close_mark[] = "\"ev\":\"" EV_SEGMENT_CLOSE "\"";
	struct recovered *out = reading->out;
	CLEANUP(json_freep) struct json *record = NULL;

	out->closed = memmem(entry, len, close_mark, sizeof(close_mark) - 1) != NULL;
	if (!reading->is_first || json_parse(entry, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return;
	reading->is_first = false;
	out->segment.number = (uint64_t)json_get_int(record, REC_KEY_EPOCH, 0);
	out->segment.has_key = json_get_str(record, REC_EPOCH_KEY) != NULL;
	note_time(record, &out->segment.opened_us);
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct reading *reading = data;
	struct recovered *out = reading->out;

	sha256_add(&out->segment.hash, entry, len);
	sha256_add(&out->segment.hash, "\n", 1);
	out->segment.bytes += len + 1;
	out->size = seq + 1;
	memcpy(out->last_leaf, leaf, SHA256_LEN);
	note_segment(reading, entry, len);
	if (seq >= reading->recovery->head.size) {
		keep_leaf(reading, leaf);
		return;
	}
	tree_add(&reading->tree, leaf);
	if (seq + 1 == reading->recovery->head.size)
		check_head(reading);
}

static int feed_file(const struct log_file *file, struct scan *scan, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	off_t at = 0;

	for (;;) {
		ssize_t got = pread(file->fd, bytes, READ_BYTES, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "%s: read", file->name);
		if (got == 0)
			return 0;
		if (scan_feed(scan, bytes, (size_t)got, err) < 0)
			return -1;
		at += got;
	}
}

static int damaged(struct err *err, const char *how)
{
	struct err why = *err;

	return err_set(err, ERR_INVALID, "the log is damaged (%s): %s" WHAT_TO_DO, how, why.text);
}

/* Its seal is missing: only the last closed one may be like that. */
static int note_closed(struct reading *reading, struct err *err)
{
	CLEANUP(buf_clear) struct buf note = BUF_INIT;
	struct recovered *out = reading->out;
	struct checkpoint seal;
	struct err why = {0};

	out->segment.next = out->size;
	/* A seal that is newer than the head is made again: a crash came between the two. */
	if (recovery_read_seal(reading->recovery, out->segment.first, &seal, &note, &why) == 0) {
		if (seal.size == out->size && seal.size <= reading->recovery->head.size)
			return 0;
		if (seal.size != out->size)
			return err_set(
				err, ERR_INVALID,
				"the seal of the segment that begins at %llu is a head of %llu "
				"records, and %llu are there" WHAT_TO_DO,
				(unsigned long long)out->segment.first,
				(unsigned long long)seal.size, (unsigned long long)out->size);
	} else if (why.kind != ERR_NOT_FOUND) {
		return err_set(err, why.kind, "%s" WHAT_TO_DO, why.text);
	}
	if (out->unsealed)
		return err_set(err, ERR_INVALID,
			       "the segment that begins at %llu has no seal" WHAT_TO_DO,
			       (unsigned long long)out->sealing.first);
	out->unsealed = true;
	out->sealing = out->segment;
	return 0;
}

static int read_segment(struct reading *reading, size_t index, struct scan *scan, struct err *err)
{
	const struct recovery *recovery = reading->recovery;
	struct recovered *out = reading->out;
	struct log_file file = {.fd = -1};

	if (recovery_open_segment(recovery, index, &file, err) < 0)
		return -1;
	log_file_close(&out->file);
	out->file = file;
	if (recovery->firsts[index] != scan->next) {
		err_set(err, ERR_INVALID, "record %llu is missing: the next segment begins at %llu",
			(unsigned long long)scan->next,
			(unsigned long long)recovery->firsts[index]);
		return damaged(err, "TAMPERED");
	}
	out->segment = (struct segment){.first = scan->next};
	out->closed = false;
	sha256_init(&out->segment.hash);
	reading->is_first = true;
	if (feed_file(&out->file, scan, err) < 0)
		return err->kind == ERR_INVALID ? damaged(err, "TAMPERED") : -1;
	if (index + 1 < recovery->count && scan->torn > 0) {
		err_set(err, ERR_INVALID, "segment %s ends within a line", out->file.name);
		return damaged(err, "TAMPERED");
	}
	return out->closed ? note_closed(reading, err) : 0;
}

static int judge(const struct reading *reading, struct err *err)
{
	const struct recovery *recovery = reading->recovery;

	if (reading->out->size < recovery->head.size) {
		err_set(err, ERR_INVALID,
			"%llu of the %llu records that " AUDIT_CHECKPOINT " counts are there",
			(unsigned long long)reading->out->size,
			(unsigned long long)recovery->head.size);
		return damaged(err, "TRUNCATED");
	}
	if (reading->is_other) {
		err_set(err, ERR_INVALID,
			"records 0 to %llu do not give the root of " AUDIT_CHECKPOINT,
			(unsigned long long)recovery->head.size - 1);
		return damaged(err, "TAMPERED");
	}
	return 0;
}

static int read_all(struct recovery *recovery, size_t base, const uint8_t last[SHA256_LEN],
		    struct err *err)
{
	struct recovered *out = recovery->out;
	struct reading reading = {.recovery = recovery, .out = out};
	struct scan scan = {.next = base < recovery->count ? recovery->firsts[base] : 0,
			    .on_record = on_record,
			    .data = &reading};
	int result = 0;

	memcpy(scan.last, last, SHA256_LEN);
	memcpy(out->last_leaf, last, SHA256_LEN);
	tiles_tree(out->tiles, &reading.tree);
	out->size = scan.next;
	if (recovery->head.size == scan.next && recovery->head.size > 0)
		check_head(&reading);
	for (size_t i = base; result == 0 && i < recovery->count; i++)
		result = read_segment(&reading, i, &scan, err);
	out->torn_bytes = scan.torn;
	scan_clear(&scan);
	return result < 0 ? -1 : judge(&reading, err);
}

/* A tear leaves a beginning of lines; the beginning of a record further in means that a line feed
 * was changed, and that is damage. */
static int check_torn(const struct buf *torn, struct err *err)
{
	static const char begin[] = "{\"_prev\":\"";

	if (torn->len > 1 && memmem(torn->bytes + 1, torn->len - 1, begin, sizeof(begin) - 1))
		return err_set(err, ERR_INVALID,
			       "the log is damaged: behind its last line feed more than one record "
			       "begins" WHAT_TO_DO);
	return 0;
}

static int read_torn(const struct recovered *recovered, uint64_t start, struct buf *torn,
		     struct err *err)
{
	size_t len = (size_t)recovered->torn_bytes;
	CLEANUP(mem_freep) char *bytes = NULL;

	if (recovered->torn_bytes > TORN_BYTES_MAX)
		return err_set(
			err, ERR_INVALID,
			"%llu bytes follow the last line feed of the log, more than any torn "
			"write leaves" WHAT_TO_DO,
			(unsigned long long)recovered->torn_bytes);
	bytes = mem_alloc(len);
	if (pread(recovered->file.fd, bytes, len, (off_t)start) != (ssize_t)len)
		return err_set(err, ERR_IO, "%s: its torn tail could not be read",
			       recovered->file.name);
	buf_add(torn, bytes, len);
	return 0;
}

static int cut_torn_tail(int dir_fd, struct recovered *recovered, struct err *err)
{
	CLEANUP(buf_clear) struct buf torn = BUF_INIT;
	uint64_t start = recovered->file.bytes - recovered->torn_bytes;

	if (recovered->torn_bytes == 0)
		return 0;
	if (read_torn(recovered, start, &torn, err) < 0 || check_torn(&torn, err) < 0)
		return -1;
	sha256_hex(torn.bytes, torn.len, recovered->torn_sha256);
	snprintf(recovered->torn_name, sizeof(recovered->torn_name), "torn-%llu-%.16s",
		 (unsigned long long)recovered->size, recovered->torn_sha256);
	if (file_replace_at(dir_fd, recovered->torn_name, 0600, torn.bytes, torn.len, true, err) <
	    0)
		return err_wrap(err, "copying the torn tail aside");
	return log_file_cut(&recovered->file, start, err);
}

/* The lines below the head once more, now that they are known to be good, for their tiles. */
struct retiling {
	const struct recovery *recovery;
	struct tiles *tiles;
	struct err err;
};

static void on_full_tile(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	struct retiling *retiling = data;

	if (retiling->err.kind == ERR_NONE)
		IGNORE(tile_file_write(retiling->recovery->dir_fd, level, index, TILE_WIDTH, tile,
				       false, &retiling->err) < 0,
		       "err says so");
}

static void retile_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN],
			  const char *entry, size_t len)
{
	struct retiling *retiling = data;

	(void)entry;
	(void)len;
	if (seq < retiling->recovery->head.size)
		tiles_add(retiling->tiles, leaf, on_full_tile, retiling);
}

static int retile(const struct recovery *recovery, size_t base, const uint8_t last[SHA256_LEN],
		  struct err *err)
{
	struct retiling retiling = {.recovery = recovery, .tiles = recovery->out->tiles};
	struct scan scan = {
		.next = retiling.tiles->size, .on_record = retile_record, .data = &retiling};
	int result = 0;

	memcpy(scan.last, last, SHA256_LEN);
	for (size_t i = base; result == 0 && i < recovery->count && scan.next < recovery->head.size;
	     i++) {
		struct log_file file = {.fd = -1};

		result = recovery_open_segment(recovery, i, &file, err);
		if (result == 0)
			result = feed_file(&file, &scan, err);
		log_file_close(&file);
	}
	scan_clear(&scan);
	if (result == 0 && retiling.err.kind != ERR_NONE)
		return err_set(err, retiling.err.kind, "%s", retiling.err.text);
	return result;
}

/* log.jsonl becomes the first segment; the descriptor stays the same. */
static int move_legacy(const struct recovery *recovery, struct err *err)
{
	struct log_file *file = &recovery->out->file;
	char path[AUDIT_NAME_MAX];

	segment_path(0, AUDIT_RECORDS, path);
	if (renameat(recovery->dir_fd, AUDIT_ONE_FILE, recovery->dir_fd, path) < 0)
		return err_errno(err, AUDIT_ONE_FILE ": rename to %s", path);
	if (fsync(recovery->seg_fd) < 0 || fsync(recovery->dir_fd) < 0)
		return err_errno(err, "%s: fsync of its folder", path);
	snprintf(file->name, sizeof(file->name), "%s", segment_name(path));
	file->dir_fd = recovery->seg_fd;
	return 0;
}

static int copy_bytes(int from, int to, const char *name, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	off_t at = 0;

	for (;;) {
		ssize_t got = pread(from, bytes, READ_BYTES, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "%s: read", name);
		if (got == 0)
			break;
		if (file_write_all(to, bytes, (size_t)got, err) < 0)
			return err_wrap(err, "%s.new", name);
		at += got;
	}
	return fsync(to) < 0 ? err_errno(err, "%s.new: fsync", name) : 0;
}

/* After a crash the cache may show what the disk never got, or lost with an error told to no one:
 * the lines are written anew. */
static int write_anew(struct recovery *recovery, struct err *err)
{
	struct log_file *file = &recovery->out->file;
	char name[AUDIT_NAME_MAX + 8];
	CLEANUP(fd_closep) int fd = -1;

	snprintf(name, sizeof(name), "%s.new", file->name);
	unlinkat(recovery->seg_fd, name, 0);
	fd = openat(recovery->seg_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return err_errno(err, "%s: create", name);
	if (copy_bytes(file->fd, fd, file->name, err) < 0) {
		unlinkat(recovery->seg_fd, name, 0);
		return -1;
	}
	if (renameat(recovery->seg_fd, name, recovery->seg_fd, file->name) < 0)
		return err_errno(err, "%s: rename", name);
	if (fsync(recovery->seg_fd) < 0)
		return err_errno(err, "%s: fsync of its folder", file->name);
	memcpy(name, file->name, sizeof(file->name));
	log_file_close(file);
	return log_file_open(recovery->seg_fd, name, file, err);
}

static void read_last_time(struct recovered *out)
{
	static const char mark[] = "\"ts\":\"";
	char bytes[4096];
	size_t len = out->file.bytes < sizeof(bytes) ? (size_t)out->file.bytes : sizeof(bytes);
	ssize_t got = pread(out->file.fd, bytes, len, (off_t)(out->file.bytes - len));
	char time[TIMESTAMP_LEN + 1];
	const char *at = NULL;

	/* "ts" stands near the end of a line; a line that hides it costs one clock.step. */
	for (const char *next = bytes; got > 0 && next != NULL;) {
		next = memmem(next, (size_t)(bytes + got - next), mark, sizeof(mark) - 1);
		if (next != NULL)
			at = next += sizeof(mark) - 1;
	}
	if (at == NULL || (size_t)(bytes + got - at) < TIMESTAMP_LEN)
		return;
	memcpy(time, at, TIMESTAMP_LEN);
	time[TIMESTAMP_LEN] = '\0';
	if (timestamp_read(time, &out->last_us, NULL) < 0)
		out->last_us = 0;
}

static int want_segments(const struct recovery *recovery, struct err *err)
{
	if (recovery->count > 0 || recovery->head.size == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "the log is missing, but " AUDIT_CHECKPOINT
		       " counts %llu records" WHAT_TO_DO,
		       (unsigned long long)recovery->head.size);
}

/* A segment of which nothing but a torn line was there is none: the one before is the last. */
static bool is_empty_again(const struct recovery *recovery)
{
	return recovery->count > 1 && recovery->out->segment.bytes == 0;
}

static int read_long_way(struct recovery *recovery, struct err *err)
{
	struct recovered *out = recovery->out;
	uint8_t last[SHA256_LEN];
	uint64_t torn_bytes;
	size_t base = 0;

	if (recovery_find_base(recovery, &base, out->tiles, last, err) < 0 ||
	    read_all(recovery, base, last, err) < 0 ||
	    cut_torn_tail(recovery->dir_fd, out, err) < 0)
		return -1;
	if (!is_empty_again(recovery))
		return retile(recovery, base, last, err);
	torn_bytes = out->torn_bytes;
	out->unsealed = false;
	mem_free(TAKE(out->leaves));
	out->leaf_count = 0;
	if (recovery_list(recovery, err) < 0 || read_long_way(recovery, err) < 0)
		return -1;
	out->torn_bytes = torn_bytes;
	return 0;
}

static int recover_all(struct recovery *recovery, struct err *err)
{
	struct recovered *out = recovery->out;

	if (read_checkpoint(recovery, err) < 0 || recovery_list(recovery, err) < 0 ||
	    want_segments(recovery, err) < 0)
		return -1;
	if (recovery_use_tail(recovery))
		return 0;
	if (read_long_way(recovery, err) < 0)
		return -1;
	if (recovery->is_legacy && move_legacy(recovery, err) < 0)
		return -1;
	if (recovery->count == 0)
		return 0;
	if (write_anew(recovery, err) < 0)
		return -1;
	read_last_time(out);
	return 0;
}

int recover(int dir_fd, int seg_fd, const struct vkey *key, struct recovered *ret_recovered,
	    struct err *err)
{
	struct recovered recovered = {.file = {.fd = -1}};
	struct recovery recovery = {
		.dir_fd = dir_fd, .seg_fd = seg_fd, .key = key, .out = &recovered};
	struct err why = {.kind = ERR_NONE};
	int result;

	recovered.tiles = mem_alloc(sizeof(*recovered.tiles));
	tiles_init(recovered.tiles);
	result = recover_all(&recovery, &why);
	mem_free(recovery.firsts);
	if (result < 0) {
		recovered_clear(&recovered);
		return err_set(err, why.kind, "%s", why.text);
	}
	*ret_recovered = recovered;
	return 0;
}
