/*
 * Heads first, then the lines (a live log only grows meanwhile), then what lies beside them: tiles
 * are compared as the records fill them, SHA256SUMS with what the chain says. What can fail: the
 * disk.
 */
#include "broker/audit/log_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/audit/log_feed.h"
#include "broker/audit/tile_path.h"

#define SUMS_BYTES_MAX (64u << 20)
#define ANCHORS_BYTES_MAX (256u << 20)
#define ANCHORS_MAX 256 /* the newest ones */

struct checking {
	const struct log_dir *dir;
	const struct log_check_options *options;
	struct audit_verify *verify;
	struct log_check_report *report;
	uint64_t head_size; /* of the checkpoint; tiles behind it may not be written yet */
	uint64_t base;	    /* bytes of the files before this one */
	uint64_t total;
	struct err err;			 /* of a tile that could not be read */
	struct openings_check *openings; /* or NULL */
};

/* Heads. */
static int add_head(struct checking *checking, enum audit_head_kind kind, uint64_t segment,
		    const char *where, const struct buf *note, struct err *err)
{
	checking->report->heads++;
	return audit_verify_head_of(checking->verify, kind, segment, where, buf_str(note),
				    note->len, err);
}

static void read_head_size(struct checking *checking, const struct buf *note)
{
	CLEANUP(mem_freep) struct note *parsed = mem_alloc(sizeof(*parsed));
	struct checkpoint checkpoint;

	if (note_parse(buf_str(note), note->len, parsed, NULL) == 0 &&
	    checkpoint_parse(parsed->text, parsed->text_len, &checkpoint, NULL) == 0)
		checking->head_size = checkpoint.size;
}

/* The log's own head may be missing, which is a finding. */
static int add_own_head(struct checking *checking, struct err *err)
{
	CLEANUP(buf_clear) struct buf note = BUF_INIT;
	struct err why;

	if (log_dir_read(checking->dir, AUDIT_CHECKPOINT, NOTE_BYTES_MAX, &note, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 0;
		if (why.kind == ERR_IO)
			return err_set(err, why.kind, "%s", why.text);
		audit_verify_found(checking->verify, why.text);
		return 0;
	}
	read_head_size(checking, &note);
	return add_head(checking, AUDIT_HEAD_OWN, 0, AUDIT_CHECKPOINT, &note, err);
}

static int add_seals(struct checking *checking, struct err *err)
{
	for (size_t i = 0; i < checking->dir->count; i++) {
		CLEANUP(buf_clear) struct buf note = BUF_INIT;
		const struct log_part *part = &checking->dir->parts[i];
		char path[AUDIT_NAME_MAX];
		struct err why;

		if (!part->has_seal)
			continue;
		segment_path(part->first, AUDIT_SEAL, path);
		if (log_dir_seal(checking->dir, i, &note, &why) < 0) {
			if (why.kind == ERR_IO)
				return err_set(err, why.kind, "%s", why.text);
			audit_verify_found(checking->verify, why.text);
		} else if (add_head(checking, AUDIT_HEAD_SEAL, part->first, path, &note, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int add_kept(struct checking *checking, struct err *err)
{
	for (size_t i = 0; i < checking->options->kept_count; i++) {
		const struct log_kept *kept = &checking->options->kept[i];

		checking->report->heads++;
		if (audit_verify_head_of(checking->verify, AUDIT_HEAD_KEPT, 0, kept->where,
					 kept->note, kept->len, err) < 0)
			return -1;
	}
	return 0;
}

static void add_anchor(struct checking *checking, const char *line, size_t len, size_t number)
{
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(mem_freep) char *where = mem_format(AUDIT_ANCHORS " line %zu", number);
	CLEANUP(mem_freep) char *note = NULL;
	const char *head, *reply;

	if (json_parse(line, len, len, &json, NULL) < 0)
		return;
	head = json_get_str(json, "checkpoint");
	reply = json_get_str(json, "reply");
	if (head == NULL)
		return;
	/* A witness answers with further signature lines. */
	note = mem_format("%s%s", head,
			  reply != NULL && strncmp(reply, NOTE_DASH, strlen(NOTE_DASH)) == 0 ? reply
											     : "");
	checking->report->anchors++;
	checking->report->heads++;
	IGNORE(audit_verify_head_of(checking->verify, AUDIT_HEAD_OWN, 0, where, note, strlen(note),
				    NULL) < 0,
	       "more heads than the verifier takes: these are the least");
}

/* It lies beside the log and proves nothing by itself; but it carries cosignatures. */
static int add_anchors(struct checking *checking, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct err why;
	size_t lines = 0;
	size_t number = 0;
	const char *at;

	if (log_dir_read(checking->dir, AUDIT_ANCHORS, ANCHORS_BYTES_MAX, &bytes, &why) < 0)
		return why.kind == ERR_IO ? err_set(err, why.kind, "%s", why.text) : 0;
	for (size_t i = 0; i < bytes.len; i++)
		lines += bytes.bytes[i] == '\n';
	at = buf_str(&bytes);
	while (number < lines) {
		const char *feed = strchr(at, '\n');

		if (feed == NULL)
			break;
		if (number++ + ANCHORS_MAX >= lines)
			add_anchor(checking, at, (size_t)(feed - at), number);
		at = feed + 1;
	}
	return 0;
}

/* Tiles. */
static void compare_tile(struct checking *checking, unsigned int level, uint64_t index,
			 unsigned int width, const struct tile *tile)
{
	CLEANUP(mem_freep) struct tile *file = mem_alloc(sizeof(*file));
	char path[AUDIT_NAME_MAX];
	struct err why;

	tile_path(level, index, width, path);
	if (log_dir_tile(checking->dir, level, index, width, file, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			checking->report->tiles_missing++;
		else if (why.kind == ERR_IO)
			checking->err = why;
		else
			audit_verify_found(checking->verify, why.text);
		return;
	}
	checking->report->tiles++;
	if (memcmp(file, tile, (size_t)width * SHA256_LEN) != 0) {
		CLEANUP(mem_freep)
		char *text = mem_format("%s does not hold the hashes of the records", path);

		audit_verify_found(checking->verify, text);
	}
}

static void on_tile(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	struct checking *checking = data;
	unsigned int shift = TILE_HEIGHT * (level + 1);

	if (shift < 64 && (index + 1) << shift <= checking->head_size)
		compare_tile(checking, level, index, TILE_WIDTH, tile);
}

/* The callbacks of the caller and ours need one data each. */
static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct checking *checking = data;
	const struct audit_verify_options *verify = &checking->options->verify;

	if (checking->openings != NULL)
		openings_check_record(checking->openings, seq, entry, len);
	if (verify->on_record != NULL)
		verify->on_record(verify->data, seq, leaf, entry, len);
}

/* Lines. */
static void on_progress(void *data, uint64_t done)
{
	struct checking *checking = data;

	checking->options->progress(checking->options->data, checking->base + done,
				    checking->total);
}

static int feed_lines(struct checking *checking, size_t part, struct err *err)
{
	const struct log_check_options *options = checking->options;
	struct log_feed feed = {.verify = checking->verify,
				.threads = options->threads,
				.lax = options->chain_only,
				.hash_file = options->hash_files,
				.progress = options->progress == NULL ? NULL : on_progress,
				.data = checking};
	CLEANUP(fd_closep) int fd = -1;
	struct log_feed_end end;

	if (log_dir_lines(checking->dir, part, &fd, err) < 0)
		return -1;
	if (log_feed_file(&feed, fd, &end, err) < 0)
		return err_wrap(err, "%s: %s", checking->dir->path,
				checking->dir->parts[part].name);
	checking->base += end.bytes;
	audit_verify_segment_end(checking->verify, options->hash_files ? end.sha256 : NULL);
	return 0;
}

/* Hashes of count records of a level from index on, as far as one tile has them. */
static int feed_tile(struct checking *checking, unsigned int level, uint64_t from, uint64_t count,
		     uint64_t *ret_taken, struct err *err)
{
	CLEANUP(mem_freep) struct tile *tile = mem_alloc(sizeof(*tile));
	unsigned int at = (unsigned int)(from % TILE_WIDTH);
	unsigned int more = TILE_WIDTH - at < count ? TILE_WIDTH - at : (unsigned int)count;
	uint64_t known = tiles_hashes(checking->head_size, level);
	uint64_t index = from / TILE_WIDTH;
	unsigned int width =
		known >= (index + 1) * TILE_WIDTH ? TILE_WIDTH : (unsigned int)(known % TILE_WIDTH);

	if (width < at + more)
		width = at + more;
	if (log_dir_tile(checking->dir, level, index, width, tile, err) < 0)
		return -1;
	audit_verify_hashes(checking->verify, level,
			    (const uint8_t(*)[SHA256_LEN])tile->hashes + at, more);
	*ret_taken = more;
	return 0;
}

/* Records up to end by their hashes; the very last one by its leaf, so that the chain goes on. */
static int feed_hashes(struct checking *checking, uint64_t end, struct err *err)
{
	for (uint64_t at = audit_verify_records(checking->verify); at < end;) {
		unsigned int level = at % TILE_WIDTH == 0 && end - at > TILE_WIDTH ? 1 : 0;
		unsigned int shift = TILE_HEIGHT * level;
		uint64_t count = level == 0 ? end - at : (end - at - 1) >> shift;
		uint64_t taken = 0;

		if (level == 0 && at % TILE_WIDTH + count > TILE_WIDTH)
			count = TILE_WIDTH - at % TILE_WIDTH;
		if (feed_tile(checking, level, at >> shift, count, &taken, err) < 0)
			return -1;
		at += taken << shift;
	}
	return 0;
}

static int feed_hash_part(struct checking *checking, size_t part, uint64_t end, struct err *err)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	char path[AUDIT_NAME_MAX];
	struct err why;

	if (feed_hashes(checking, end, &why) < 0) {
		if (why.kind == ERR_IO)
			return err_set(err, why.kind, "%s", why.text);
		err_fill_wrap(&why, "neither lines nor hashes of the records from %llu on",
			      (unsigned long long)audit_verify_records(checking->verify));
		audit_verify_found(checking->verify, why.text);
		return 0;
	}
	audit_verify_segment_end(checking->verify, NULL);
	if (!checking->dir->parts[part].has_close)
		return 0;
	segment_path(checking->dir->parts[part].first, AUDIT_LAST, path);
	if (log_dir_read(checking->dir, path, WRIT_RECORD_BYTES_MAX + 1, &line, err) < 0)
		return -1;
	if (line.len > 0 && line.bytes[line.len - 1] == '\n')
		line.len--;
	audit_verify_close_line(checking->verify, buf_str(&line), line.len);
	return 0;
}

/* The record behind the last of a part: the first of the next, or the end of the log. */
static uint64_t part_end(const struct checking *checking, size_t part)
{
	const struct log_dir *dir = checking->dir;

	return part + 1 < dir->count ? dir->parts[part + 1].first : checking->head_size;
}

static bool is_wanted(const struct checking *checking, size_t part)
{
	const struct log_check_options *options = checking->options;

	if (options->to == 0)
		return true;
	return checking->dir->parts[part].first < options->to &&
	       (part + 1 == checking->dir->count ||
		checking->dir->parts[part + 1].first > options->from);
}

static int feed_all(struct checking *checking, struct err *err)
{
	const struct log_dir *dir = checking->dir;

	for (size_t i = 0; i < dir->count; i++) {
		const struct log_part *part = &dir->parts[i];
		bool lines = part->has_lines && is_wanted(checking, i);

		char path[AUDIT_NAME_MAX];

		segment_path(part->first, AUDIT_RECORDS, path);
		if (!dir->is_file)
			audit_verify_segment(checking->verify, part->has_lines ? part->name : path,
					     part->first);
		if ((lines ? feed_lines(checking, i, err)
			   : feed_hash_part(checking, i, part_end(checking, i), err)) < 0)
			return -1;
	}
	return 0;
}

/* The partial tiles of the published size, and what the sums say. */
static void check_edge(struct checking *checking)
{
	const struct tiles *tiles = audit_verify_tiles(checking->verify);

	if (checking->head_size == 0)
		return;
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++) {
		unsigned int width = tiles_width(checking->head_size, level);
		uint64_t index = tiles_hashes(checking->head_size, level) / TILE_WIDTH;

		/* Only while the tree still has that tile open. */
		if (width > 0 && index == tiles_hashes(tiles->size, level) / TILE_WIDTH &&
		    width <= tiles_width(tiles->size, level))
			compare_tile(checking, level, index, width, &tiles->open[level]);
	}
}

/* A segment that is there and was closed: the open one has no sum yet. */
static bool has_sealed(const struct log_dir *dir, uint64_t first)
{
	for (size_t i = 0; i < dir->count; i++)
		if (dir->parts[i].first == first)
			return dir->parts[i].has_seal || i + 1 < dir->count;
	return false;
}

static void check_sum(struct checking *checking, const char *line)
{
	uint8_t said[SHA256_LEN], chain[SHA256_LEN];
	char path[AUDIT_NAME_MAX];
	uint64_t first;

	if (strlen(line) < SHA256_HEX_LEN + 2 ||
	    hex_read(line, SHA256_HEX_LEN, said, SHA256_LEN, NULL) < 0 ||
	    strncmp(line + SHA256_HEX_LEN, "  " AUDIT_SEGMENTS "/", 6) != 0 ||
	    !segment_read(line + SHA256_HEX_LEN + 6, AUDIT_RECORDS, &first)) {
		audit_verify_found(checking->verify, AUDIT_SUMS " has a line of another form");
		return;
	}
	segment_path(first, AUDIT_RECORDS, path);
	if (!has_sealed(checking->dir, first)) {
		audit_verify_found(checking->verify,
				   AUDIT_SUMS " names a segment that the log does not have "
					      "or has not sealed");
	} else if (audit_verify_sum(checking->verify, first, chain) &&
		   memcmp(said, chain, SHA256_LEN) != 0) {
		CLEANUP(mem_freep)
		char *text =
			mem_format(AUDIT_SUMS " gives another hash for %s than the chain", path);

		audit_verify_found(checking->verify, text);
	}
}

static int check_sums(struct checking *checking, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct err why;
	char *rest = NULL;

	if (log_dir_read(checking->dir, AUDIT_SUMS, SUMS_BYTES_MAX, &bytes, &why) < 0) {
		if (why.kind == ERR_IO)
			return err_set(err, why.kind, "%s", why.text);
		if (why.kind != ERR_NOT_FOUND)
			audit_verify_found(checking->verify, why.text);
		return 0;
	}
	buf_str(&bytes);
	for (char *line = bytes.len == 0 ? NULL : strtok_r(bytes.bytes, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		check_sum(checking, line);
	return 0;
}

static int check_openings(struct checking *checking, struct err *err)
{
	struct openings_report *report = &checking->report->openings;
	CLEANUP(mem_freep) char *text = NULL;

	if (checking->openings == NULL)
		return 0;
	if (openings_check_end(checking->openings, report, err) < 0)
		return -1;
	if (report->wrong == 0)
		return 0;
	text = mem_format(AUDIT_OPENINGS " holds %llu openings that their records did not commit "
					 "to, the first for record %llu",
			  (unsigned long long)report->wrong,
			  (unsigned long long)report->wrong_record);
	audit_verify_found(checking->verify, text);
	return 0;
}

static int check_all(struct checking *checking, struct err *err)
{
	if (add_own_head(checking, err) < 0 || add_seals(checking, err) < 0 ||
	    add_kept(checking, err) < 0 || add_anchors(checking, err) < 0 ||
	    feed_all(checking, err) < 0)
		return -1;
	audit_verify_done(checking->verify);
	if (!checking->dir->is_file && !checking->options->chain_only) {
		check_edge(checking);
		if (check_sums(checking, err) < 0)
			return -1;
	}
	if (check_openings(checking, err) < 0)
		return -1;
	if (checking->err.kind != ERR_NONE)
		return err_set(err, checking->err.kind, "%s", checking->err.text);
	return 0;
}

int log_check(const struct log_dir *dir, const struct log_check_options *options,
	      struct log_check_report *ret_report, struct err *err)
{
	struct checking checking = {.dir = dir, .options = options, .report = ret_report};
	struct audit_verify_options verify = options->verify;
	int result;

	memset(ret_report, 0, sizeof(*ret_report));
	verify.data = &checking;
	verify.range = options->to > 0;
	if (options->openings && !dir->is_file) {
		CLEANUP(mem_freep) char *path = mem_format("%s/" AUDIT_OPENINGS, dir->path);

		if (openings_check_new(path, &checking.openings, err) < 0)
			return -1;
	}
	verify.on_record =
		options->verify.on_record == NULL && checking.openings == NULL ? NULL : on_record;
	verify.on_tile = dir->is_file || options->chain_only ? NULL : on_tile;
	checking.verify = audit_verify_new(&verify);
	for (size_t i = 0; i < dir->count; i++)
		checking.total += dir->parts[i].bytes;
	result = check_all(&checking, err);
	if (result == 0)
		audit_verify_end(checking.verify, &ret_report->verdict);
	audit_verify_free(checking.verify);
	openings_check_free(checking.openings);
	return result;
}
