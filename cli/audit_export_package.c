/*
 * Packages. What is copied stays byte for byte as it is; the open segment is cut at the signed
 * head, behind which nothing could be proven. What can fail: the disk, an out folder that is there
 * already, a range whose hashes are not in the tiles.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/note.h"
#include "broker/audit/tile_path.h"
#include "cli/audit_export.h"

#define COPY_BYTES (256u << 10)
#define SMALL_MAX (64u << 20)

struct packing {
	const struct export_package *package;
	const struct log_dir *dir;
	int out;
	struct checkpoint head;
	uint64_t from, to; /* of records, to at most the head */
};

/* Makes the folders on the way to a file below out. */
static int make_folders(int out, const char *path, struct err *err)
{
	char folder[256];

	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdirat(out, folder, 0755) < 0 && errno != EEXIST)
			return err_errno(err, "%s", folder);
	}
	return 0;
}

static int write_file(const struct packing *packing, const char *path, const void *bytes,
		      size_t len, struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;

	if (make_folders(packing->out, path, err) < 0)
		return -1;
	fd = openat(packing->out, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(err, "%s", path);
	return file_write_all(fd, bytes, len, err) < 0 ? err_wrap(err, "%s", path) : 0;
}

/* A file as it is; one that is not there is left out. */
static int copy_small(const struct packing *packing, const char *path, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct err why;

	if (log_dir_read(packing->dir, path, SMALL_MAX, &bytes, &why) < 0)
		return why.kind == ERR_NOT_FOUND ? 0 : err_set(err, why.kind, "%s", why.text);
	return write_file(packing, path, buf_str(&bytes), bytes.len, err);
}

static int read_head(struct packing *packing, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (log_dir_read(packing->dir, AUDIT_CHECKPOINT, NOTE_BYTES_MAX, &bytes, err) < 0 ||
	    note_parse(buf_str(&bytes), bytes.len, note, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &packing->head, err) < 0)
		return err_wrap(err, "the log's checkpoint");
	return write_file(packing, AUDIT_CHECKPOINT, buf_str(&bytes), bytes.len, err);
}

/* Segments. */
struct copying {
	int fd;
	uint64_t at;  /* number of the next record */
	uint64_t end; /* behind the last that is copied */
	struct buf pending;
};

static int copy_line(void *data, const struct log_line *line, struct err *err)
{
	struct copying *copying = data;

	if (copying->at++ >= copying->end)
		return 1;
	buf_add(&copying->pending, line->entry, line->len);
	buf_add_char(&copying->pending, '\n');
	if (copying->pending.len < COPY_BYTES)
		return 0;
	if (file_write_all(copying->fd, copying->pending.bytes, copying->pending.len, err) < 0)
		return -1;
	buf_reset(&copying->pending);
	return 0;
}

static int copy_segment(const struct packing *packing, size_t part, struct err *err)
{
	const struct log_part *segment = &packing->dir->parts[part];
	struct copying copying = {.at = segment->first, .end = packing->head.size};
	CLEANUP(fd_closep) int fd = -1;
	char path[AUDIT_NAME_MAX];
	uint64_t end;
	int result;

	segment_path(segment->first, AUDIT_RECORDS, path);
	if (make_folders(packing->out, path, err) < 0)
		return -1;
	fd = openat(packing->out, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(err, "%s", path);
	copying.fd = fd;
	result = log_walk_part(packing->dir, part, 0, copy_line, &copying, &end, err);
	if (result >= 0)
		result = file_write_all(fd, buf_str(&copying.pending), copying.pending.len, err);
	buf_clear(&copying.pending);
	return result;
}

static uint64_t part_end(const struct packing *packing, size_t part)
{
	return part + 1 < packing->dir->count ? packing->dir->parts[part + 1].first
					      : packing->head.size;
}

static bool is_wanted(const struct packing *packing, size_t part)
{
	return packing->dir->parts[part].first < packing->to &&
	       part_end(packing, part) > packing->from;
}

static int copy_part(const struct packing *packing, size_t part, struct err *err)
{
	const struct log_part *segment = &packing->dir->parts[part];
	char path[AUDIT_NAME_MAX];

	segment_path(segment->first, AUDIT_SEAL, path);
	if (segment->has_seal && copy_small(packing, path, err) < 0)
		return -1;
	segment_path(segment->first, AUDIT_LAST, path);
	if (segment->has_close && copy_small(packing, path, err) < 0)
		return -1;
	if (!is_wanted(packing, part))
		return 0;
	if (!segment->has_lines)
		return err_set(err, ERR_NOT_FOUND, "the lines of records %llu to %llu were dropped",
			       (unsigned long long)segment->first,
			       (unsigned long long)part_end(packing, part) - 1);
	return copy_segment(packing, part, err);
}

/* Tiles. */
static int copy_tile(const struct packing *packing, unsigned int level, uint64_t index,
		     unsigned int width, struct err *err)
{
	CLEANUP(mem_freep) struct tile *tile = mem_alloc(sizeof(*tile));
	char path[AUDIT_NAME_MAX];
	struct err why;

	if (log_dir_tile(packing->dir, level, index, width, tile, &why) < 0)
		return err_set(err, why.kind, "%s", why.text);
	tile_path(level, index, width, path);
	return write_file(packing, path, tile, (size_t)width * SHA256_LEN, err);
}

/* A verifier takes hashes of level 1 wherever 256 records in a row have no lines; leaf tiles are
 * needed around the borders of what is copied. */
static bool needs_leaf_tile(const struct packing *packing, uint64_t index)
{
	uint64_t first = index * TILE_WIDTH;

	if (packing->package->tiles)
		return true;
	for (size_t i = 0; i < packing->dir->count; i++) {
		uint64_t begin = packing->dir->parts[i].first;
		uint64_t end = part_end(packing, i);

		if (is_wanted(packing, i) && first < end && first + TILE_WIDTH > begin)
			return true;
		/* One that is left out: its first and its last tile. */
		if (first <= begin && begin < first + TILE_WIDTH)
			return true;
		if (end > 0 && first <= end - 1 && end - 1 < first + TILE_WIDTH)
			return true;
	}
	return false;
}

static int copy_level(const struct packing *packing, unsigned int level, struct err *err)
{
	uint64_t full = tiles_hashes(packing->head.size, level) / TILE_WIDTH;
	unsigned int width = tiles_width(packing->head.size, level);

	for (uint64_t i = 0; i < full; i++)
		if ((level > 0 || needs_leaf_tile(packing, i)) &&
		    copy_tile(packing, level, i, TILE_WIDTH, err) < 0)
			return -1;
	return width > 0 ? copy_tile(packing, level, full, width, err) : 0;
}

static int copy_tiles(const struct packing *packing, struct err *err)
{
	for (unsigned int level = 0; level < TILE_LEVELS_MAX; level++)
		if (tiles_hashes(packing->head.size, level) > 0 &&
		    copy_level(packing, level, err) < 0)
			return err_wrap(err, "tiles");
	return 0;
}

/* Bundles. */
struct bundling {
	const struct packing *packing;
	uint64_t at;
	uint64_t first; /* of the first whole bundle */
	struct buf bundle;
};

static int write_bundle(struct bundling *bundling, unsigned int width, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	uint64_t index = (bundling->at - 1) / TILE_WIDTH;

	bundle_path(index, width, path);
	if (write_file(bundling->packing, path, buf_str(&bundling->bundle), bundling->bundle.len,
		       err) < 0)
		return -1;
	buf_reset(&bundling->bundle);
	return 0;
}

static int bundle_line(void *data, const struct log_line *line, struct err *err)
{
	struct bundling *bundling = data;
	uint64_t seq = bundling->at;

	if (seq >= bundling->packing->to)
		return 1;
	bundling->at++;
	if (seq < bundling->first)
		return 0;
	bundle_add(line->entry, line->len, &bundling->bundle);
	return bundling->at % TILE_WIDTH == 0 ? write_bundle(bundling, TILE_WIDTH, err) : 0;
}

/* From the first whole bundle on: one that begins before could not be filled. */
static int write_bundles(const struct packing *packing, struct err *err)
{
	struct bundling bundling = {.packing = packing,
				    .first = (packing->from + TILE_WIDTH - 1) / TILE_WIDTH *
					     TILE_WIDTH};
	uint64_t end;
	int result = 0;

	for (size_t i = 0; result == 0 && i < packing->dir->count; i++) {
		bundling.at = packing->dir->parts[i].first;
		if (is_wanted(packing, i) && packing->dir->parts[i].has_lines)
			result = log_walk_part(packing->dir, i, 0, bundle_line, &bundling, &end,
					       err);
	}
	if (result >= 0 && bundling.bundle.len > 0)
		result = write_bundle(&bundling, (unsigned int)(bundling.at % TILE_WIDTH), err);
	buf_clear(&bundling.bundle);
	return result < 0 ? -1 : 0;
}

/* The rest. */
static int write_manifest(const struct packing *packing, struct err *err)
{
	CLEANUP(json_freep) struct json *json = json_object();
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	char time[TIMESTAMP_LEN + 1];

	timestamp_write(clock_now_us(), time);
	json_set_str(json, "format", packing->package->tiles ? "tlog-tiles" : "jsonl");
	json_set_str(json, "origin", packing->head.origin);
	json_set_int(json, "size", (int64_t)packing->head.size);
	json_set_int(json, "from", (int64_t)packing->from);
	json_set_int(json, "to", (int64_t)packing->to);
	json_set_str(json, "made", time);
	json_write_pretty(json, &text);
	buf_add_char(&text, '\n');
	return write_file(packing, AUDIT_EXPORT, text.bytes, text.len, err);
}

static int write_readme(const struct packing *packing, struct err *err)
{
	CLEANUP(mem_freep)
	char *text = mem_format(
		"Records %llu to %llu of the audit log %s, under its signed head of %llu records.\n"
		"\n"
		"  writ audit verify . --key KEY\n"
		"\n"
		"KEY is the log's verifier key or a file of it, which you have from its owner by "
		"another way:\na key that lay here would prove nothing. Other tools can check it "
		"too: the files are\nC2SP checkpoints and hash tiles, the records are lines of "
		"JSON, each holding the hash of\nthe one before. Records outside the range are "
		"attested by their hashes only.\n",
		(unsigned long long)packing->from, (unsigned long long)packing->to - 1,
		packing->head.origin, (unsigned long long)packing->head.size);

	return write_file(packing, "README", text, strlen(text), err);
}

static int pack_lines(const struct packing *packing, struct err *err)
{
	bool whole = packing->from == 0 && packing->to == packing->head.size;

	for (size_t i = 0; i < packing->dir->count; i++)
		if (copy_part(packing, i, err) < 0)
			return -1;
	if (whole) { /* also of a log that has no tiles yet */
		struct err why;

		if (copy_tiles(packing, &why) < 0 && why.kind != ERR_NOT_FOUND)
			return err_set(err, why.kind, "%s", why.text);
	} else if (copy_tiles(packing, err) < 0) {
		return -1;
	}
	if (whole && copy_small(packing, AUDIT_SUMS, err) < 0)
		return -1;
	return copy_small(packing, AUDIT_ANCHORS, err);
}

static int pack(struct packing *packing, struct err *err)
{
	const struct export_package *package = packing->package;

	if (read_head(packing, err) < 0)
		return -1;
	packing->from = package->to == 0 ? 0 : package->from;
	packing->to = package->to == 0 || package->to > packing->head.size ? packing->head.size
									   : package->to;
	if (packing->from >= packing->to)
		return err_set(err, ERR_INVALID,
			       "the signed head counts %llu records: there is nothing in that "
			       "range",
			       (unsigned long long)packing->head.size);
	if (package->tiles ? copy_tiles(packing, err) < 0 || write_bundles(packing, err) < 0
			   : pack_lines(packing, err) < 0)
		return -1;
	if (package->openings && copy_small(packing, AUDIT_OPENINGS, err) < 0)
		return -1;
	return write_manifest(packing, err) < 0 || write_readme(packing, err) < 0 ? -1 : 0;
}

int export_package(const struct export_package *package, struct err *err)
{
	struct packing packing = {.package = package, .dir = package->dir};
	CLEANUP(fd_closep) int out = -1;

	if (mkdir(package->out, 0755) < 0)
		return err_errno(err, "%s", package->out);
	out = open(package->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out < 0)
		return err_errno(err, "%s", package->out);
	packing.out = out;
	return pack(&packing, err);
}
