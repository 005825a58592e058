/*
 * Opening an existing log. What can fail: the disk; a checkpoint that is unreadable or not ours; a
 * log that is damaged, cut or rolled back (ERR_INVALID: the caller exits with 65).
 */
#include "broker/audit/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/tail.h"
#include "broker/audit/verify.h"
#include "writ/limits.h"

#define READ_BYTES (256u << 10)
#define TORN_BYTES_MAX (64u << 20) /* far above any batch; more is no torn write of ours */

#define WHAT_TO_DO                                                                                 \
	"; nothing was changed. Keep the folder as evidence, look at it with `writ audit "         \
	"verify`, "                                                                                \
	"and put back a good copy or move the folder away to begin a new log"

void recovered_clear(struct recovered *recovered)
{
	log_file_close(&recovered->file);
	mem_free(recovered->leaves);
	mem_free(recovered->checkpoint);
	recovered->leaves = NULL;
	recovered->checkpoint = NULL;
}

/* The text of a note that the key signed. The note's bytes must outlive it. */
static int open_signed(const struct buf *bytes, const struct vkey *key, const char **ret_text,
		       size_t *ret_len, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	if (note_parse(buf_str(bytes), bytes->len, note, err) < 0 ||
	    note_verify(note, key, 1, err) < 0)
		return -1;
	*ret_text = note->text;
	*ret_len = note->text_len;
	return 0;
}

static int read_checkpoint(int dir_fd, const struct vkey *key, struct recovered *recovered,
			   struct checkpoint *ret_checkpoint, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *text = NULL;
	size_t len = 0;

	if (file_read_at(dir_fd, CHECKPOINT_NAME, NOTE_BYTES_MAX, &bytes, err) < 0)
		return err->kind == ERR_NOT_FOUND ? 0 : -1;
	if (open_signed(&bytes, key, &text, &len, err) < 0 ||
	    checkpoint_parse(text, len, ret_checkpoint, err) < 0 ||
	    strcmp(ret_checkpoint->origin, key->name) != 0)
		return err_set(err, ERR_INVALID,
			       CHECKPOINT_NAME
			       " is no head of this log signed by its key %s" WHAT_TO_DO,
			       key->name);
	recovered->checkpoint = buf_take(&bytes);
	return 0;
}

/* The last line of the file, without its LF; at most one record is read. */
static int read_last_line(const struct log_file *file, char *bytes, size_t room,
			  const char **ret_line, size_t *ret_len)
{
	uint64_t start = file->bytes > room ? file->bytes - room : 0;
	size_t len = (size_t)(file->bytes - start);
	const char *before;

	if (len < 2 || pread(file->fd, bytes, len, (off_t)start) != (ssize_t)len ||
	    bytes[len - 1] != '\n')
		return -1;
	before = memrchr(bytes, '\n', len - 1);
	if (before == NULL && start > 0)
		return -1;
	*ret_line = before == NULL ? bytes : before + 1;
	*ret_len = (size_t)(bytes + len - 1 - *ret_line);
	return 0;
}

static bool last_record_is(const struct log_file *file, const uint8_t leaf[SHA256_LEN])
{
	size_t room = WRIT_RECORD_BYTES_MAX + 2;
	CLEANUP(mem_freep) char *bytes = mem_alloc(room);
	uint8_t hash[SHA256_LEN];
	const char *line = NULL;
	size_t len = 0;

	if (read_last_line(file, bytes, room, &line, &len) < 0)
		return false;
	leaf_hash(line, len, hash);
	return memcmp(hash, leaf, SHA256_LEN) == 0;
}

static bool read_tail(int dir_fd, const struct vkey *key, struct tail *ret_tail)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *text = NULL;
	struct err ignored;
	size_t len = 0;

	return file_read_at(dir_fd, TAIL_NAME, NOTE_BYTES_MAX, &bytes, &ignored) == 0 &&
	       open_signed(&bytes, key, &text, &len, &ignored) == 0 &&
	       tail_parse(text, len, ret_tail, &ignored) == 0 &&
	       strcmp(ret_tail->origin, key->name) == 0;
}

/* Anything that does not fit makes the tail worthless, not wrong: the log is read in full then. */
static bool use_tail(int dir_fd, const struct vkey *key, const struct checkpoint *checkpoint,
		     struct recovered *recovered)
{
	uint8_t root[SHA256_LEN];
	struct tail tail;

	if (recovered->checkpoint == NULL || !read_tail(dir_fd, key, &tail))
		return false;
	tree_root(&tail.tree, root);
	if (tail.tree.size != checkpoint->size || memcmp(root, checkpoint->root, SHA256_LEN) != 0 ||
	    tail.bytes != recovered->file.bytes || !last_record_is(&recovered->file, tail.last))
		return false;
	recovered->from_tail = true;
	recovered->size = tail.tree.size;
	recovered->signed_tree = tail.tree;
	memcpy(recovered->last_leaf, tail.last, SHA256_LEN);
	return true;
}

struct reading {
	struct recovered *recovered;
	uint64_t head_size;
	size_t room;	     /* of leaves */
	uint64_t line_bytes; /* of the whole lines so far */
};

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct reading *reading = data;
	struct recovered *recovered = reading->recovered;

	(void)entry;
	reading->line_bytes += len + 1;
	recovered->size = seq + 1;
	memcpy(recovered->last_leaf, leaf, SHA256_LEN);
	if (seq < reading->head_size) {
		tree_add(&recovered->signed_tree, leaf);
		return;
	}
	if (recovered->leaf_count == reading->room) {
		reading->room = reading->room == 0 ? 64 : reading->room * 2;
		recovered->leaves = mem_grow(recovered->leaves, reading->room * SHA256_LEN);
	}
	memcpy(recovered->leaves[recovered->leaf_count++], leaf, SHA256_LEN);
}

static int feed_file(const struct log_file *file, struct audit_verify *verify, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	off_t at = 0;

	for (;;) {
		ssize_t got = pread(file->fd, bytes, READ_BYTES, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, LOG_FILE_NAME ": read");
		if (got == 0)
			return 0;
		audit_verify_feed(verify, bytes, (size_t)got);
		at += got;
	}
}

static int judge(const struct audit_report *report, struct err *err)
{
	static const enum audit_verdict damage[] = {AUDIT_FORKED, AUDIT_TAMPERED, AUDIT_TRUNCATED};

	for (size_t i = 0; i < ARRAY_LEN(damage); i++)
		if (report->holds[damage[i]])
			return err_set(err, ERR_INVALID, "the log is damaged (%s): %s" WHAT_TO_DO,
				       audit_verdict_name(damage[i]), report->text[damage[i]]);
	return 0;
}

static int read_in_full(const struct vkey *key, const struct checkpoint *checkpoint,
			struct recovered *recovered, struct err *err)
{
	struct reading reading = {.recovered = recovered, .head_size = checkpoint->size};
	struct audit_verify_options options = {
		.keys = key, .key_count = 1, .on_record = on_record, .data = &reading};
	CLEANUP(audit_verify_freep) struct audit_verify *verify = audit_verify_new(&options);
	CLEANUP(mem_freep) struct audit_report *report = mem_alloc(sizeof(*report));

	if (recovered->checkpoint != NULL &&
	    audit_verify_head(verify, CHECKPOINT_NAME, recovered->checkpoint,
			      strlen(recovered->checkpoint), err) < 0)
		return -1;
	if (feed_file(&recovered->file, verify, err) < 0)
		return -1;
	audit_verify_end(verify, report);
	if (judge(report, err) < 0)
		return -1;
	recovered->torn_bytes = report->torn_bytes;
	return 0;
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
		return err_set(err, ERR_IO, LOG_FILE_NAME ": its torn tail could not be read");
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

static int recover_all(int dir_fd, const struct vkey *key, struct recovered *recovered,
		       struct err *err)
{
	struct checkpoint checkpoint = {.size = 0};

	if (read_checkpoint(dir_fd, key, recovered, &checkpoint, err) < 0)
		return -1;
	if (log_file_open(dir_fd, checkpoint.size == 0, &recovered->file, err) < 0) {
		if (err->kind == ERR_NOT_FOUND)
			return err_set(err, ERR_INVALID,
				       LOG_FILE_NAME " is missing, but " CHECKPOINT_NAME
						     " counts %llu records" WHAT_TO_DO,
				       (unsigned long long)checkpoint.size);
		return -1;
	}
	if (use_tail(dir_fd, key, &checkpoint, recovered))
		return 0;
	if (read_in_full(key, &checkpoint, recovered, err) < 0 ||
	    cut_torn_tail(dir_fd, recovered, err) < 0)
		return -1;
	/* Records behind the head may have been written but never synced; they are signed next. */
	if (recovered->leaf_count > 0 && recovered->file.io.sync(recovered->file.fd) < 0)
		return err_errno(err, LOG_FILE_NAME ": fdatasync");
	return 0;
}

int recover(int dir_fd, const struct vkey *key, struct recovered *ret_recovered, struct err *err)
{
	struct recovered recovered = {.file = {.fd = -1}};
	struct err why = {.kind = ERR_NONE};

	tree_init(&recovered.signed_tree);
	if (recover_all(dir_fd, key, &recovered, &why) < 0) {
		recovered_clear(&recovered);
		return err_set(err, why.kind, "%s", why.text);
	}
	*ret_recovered = recovered;
	return 0;
}
