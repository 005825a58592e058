/*
 * The short way: the signed state of the last clean stop. Anything that does not fit makes it
 * worthless, not wrong: the log is read then.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/recover_state.h"
#include "broker/audit/tail.h"
#include "broker/audit/tile_files.h"
#include "base/json.h"
#include "writ/limits.h"
#include "writ/record.h"

static bool read_tail(const struct recovery *recovery, struct tail *ret_tail)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *text = NULL;
	struct err ignored;
	size_t len = 0;

	return file_read_at(recovery->dir_fd, AUDIT_TAIL, NOTE_BYTES_MAX, &bytes, &ignored) == 0 &&
	       recovery_open_note(&bytes, recovery->key, &text, &len, &ignored) == 0 &&
	       tail_parse(text, len, ret_tail, &ignored) == 0 &&
	       strcmp(ret_tail->origin, recovery->key->name) == 0;
}

static bool fits_head(const struct recovery *recovery, const struct tail *tail)
{
	uint8_t root[SHA256_LEN];

	tree_root(&tail->tree, root);
	return tail->tree.size == recovery->head.size &&
	       memcmp(root, recovery->head.root, SHA256_LEN) == 0;
}

static bool load_tiles(const struct recovery *recovery, const struct tail *tail)
{
	struct recovered *out = recovery->out;
	struct err ignored;
	struct tree tree;

	if (tile_files_load(recovery->dir_fd, tail->tree.size, out->tiles, &ignored) < 0)
		return false;
	tiles_tree(out->tiles, &tree);
	return tree.count == tail->tree.count &&
	       memcmp(tree.peaks, tail->tree.peaks, tree.count * SHA256_LEN) == 0;
}

/* The first and the last line of the segment: its key epoch, and the time. */
static bool read_first(struct recovered *out, const char *bytes, size_t len)
{
	const char *feed = memchr(bytes, '\n', len);
	CLEANUP(json_freep) struct json *record = NULL;
	const char *time;

	if (feed == NULL ||
	    json_parse(bytes, (size_t)(feed - bytes), WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return false;
	time = json_get_str(record, REC_TIME);
	out->segment.number = (uint64_t)json_get_int(record, REC_KEY_EPOCH, 0);
	out->segment.has_key = json_get_str(record, REC_EPOCH_KEY) != NULL;
	return time != NULL && timestamp_read(time, &out->segment.opened_us, NULL) == 0;
}

static bool read_last(struct recovered *out, const char *line, size_t len,
		      const uint8_t want[SHA256_LEN])
{
	CLEANUP(json_freep) struct json *record = NULL;
	const char *time;

	leaf_hash(line, len, out->last_leaf);
	if (memcmp(out->last_leaf, want, SHA256_LEN) != 0 ||
	    json_parse(line, len, WRIT_RECORD_BYTES_MAX, &record, NULL) < 0)
		return false;
	time = json_get_str(record, REC_TIME);
	out->closed = json_get_str(record, REC_EVENT) != NULL &&
		      strcmp(json_get_str(record, REC_EVENT), EV_SEGMENT_CLOSE) == 0;
	return time != NULL && timestamp_read(time, &out->last_us, NULL) == 0;
}

static bool read_ends(struct recovered *out, const struct tail *tail)
{
	size_t room = WRIT_RECORD_BYTES_MAX + 2;
	CLEANUP(mem_freep) char *bytes = mem_alloc(room);
	uint64_t start = tail->bytes > room ? tail->bytes - room : 0;
	size_t len = (size_t)(tail->bytes - start);
	const char *before;
	ssize_t got = pread(out->file.fd, bytes, room, 0);

	if (got <= 0 || !read_first(out, bytes, (size_t)got) || len < 2 ||
	    pread(out->file.fd, bytes, len, (off_t)start) != (ssize_t)len || bytes[len - 1] != '\n')
		return false;
	before = memrchr(bytes, '\n', len - 1);
	if (before == NULL && start > 0)
		return false;
	before = before == NULL ? bytes : before + 1;
	sha256_resume(&out->segment.hash, tail->state, tail->bytes,
		      (const uint8_t *)bytes + len - tail->bytes % SHA256_BLOCK);
	return read_last(out, before, (size_t)(bytes + len - 1 - before), tail->last);
}

static bool has_seal(const struct recovery *recovery, uint64_t first)
{
	char path[AUDIT_NAME_MAX];

	segment_path(first, AUDIT_SEAL, path);
	return faccessat(recovery->dir_fd, path, F_OK, 0) == 0;
}

static bool open_segment(const struct recovery *recovery, const struct tail *tail)
{
	size_t last = recovery->count - 1;
	struct err ignored;

	if (recovery->count == 0 || recovery->is_legacy || recovery->firsts[last] != tail->segment)
		return false;
	/* Stopped in the middle of closing: the long way sorts that out. */
	if (last > 0 && !has_seal(recovery, recovery->firsts[last - 1]))
		return false;
	return recovery_open_segment(recovery, last, &recovery->out->file, &ignored) == 0 &&
	       recovery->out->file.bytes == tail->bytes;
}

bool recovery_use_tail(struct recovery *recovery)
{
	struct recovered *out = recovery->out;
	struct tail tail;

	if (out->checkpoint == NULL || !read_tail(recovery, &tail) || !fits_head(recovery, &tail))
		return false;
	if (!open_segment(recovery, &tail) || !load_tiles(recovery, &tail) ||
	    !read_ends(out, &tail) || out->closed) {
		log_file_close(&out->file);
		return false;
	}
	out->from_tail = true;
	out->size = tail.tree.size;
	out->segment.first = tail.segment;
	out->segment.bytes = tail.bytes;
	return true;
}
