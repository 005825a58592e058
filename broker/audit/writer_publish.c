/*
 * The publish stage: full tiles, the right edge, then the checkpoint, which is synced; at the end
 * of a segment also its line in SHA256SUMS, its seal and the sealed seed of the next epoch. Each
 * step can be repeated after a crash, and none of them holds up an answer. What can fail: the disk;
 * a head whose signature does not fit; a folder that is no longer the one at its path.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/tile_files.h"
#include "broker/audit/writer_state.h"

#define SUMS_BYTES_MAX (16u << 20)

void publish_free(struct publish *publish)
{
	if (publish == NULL)
		return;
	mem_free(publish->note);
	mem_free(publish->full);
	mem_free(publish->epoch);
	mem_free(publish);
}

static void on_due(uv_timer_t *timer)
{
	struct audit *audit = timer->data;

	audit->publish_due = true;
	audit_wake(audit);
}

void writer_want_publish(struct audit *audit)
{
	if (!audit->publish_due && !uv_is_active((uv_handle_t *)&audit->publish_timer))
		uv_timer_start(&audit->publish_timer, on_due, audit->limits.publish_ms, 0);
}

/* A head that nobody can verify would be found only at the next start. */
static int check_signatures(const struct audit *audit, const struct publish *publish,
			    struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct vkey keys[2] = {audit->vkey, publish->epoch_key};
	size_t count = publish->has_epoch_key ? 2 : 1;
	size_t good = 0;

	if (note_parse(publish->note, strlen(publish->note), note, err) < 0 ||
	    note_verify(note, keys, count, err) < 0)
		return err_wrap(err, "signer");
	for (size_t i = 0; i < note->line_count; i++)
		good += note->lines[i].verified;
	if (good < count)
		return err_set(err, ERR_INTERNAL, "signer: a head without the line of its epoch");
	return 0;
}

/* Whoever puts another folder in our place would find us writing where nobody looks. */
static int check_folder(const struct audit *audit, struct err *err)
{
	struct stat held;
	struct stat named;

	if (fstat(audit->dir_fd, &held) < 0)
		return err_errno(err, "%s: stat", audit->dir);
	if (stat(audit->dir, &named) < 0)
		return err_errno(err, "%s was moved away while the log was open", audit->dir);
	if (held.st_dev != named.st_dev || held.st_ino != named.st_ino)
		return err_set(err, ERR_IO,
			       "%s was replaced by another folder while the log was open",
			       audit->dir);
	return 0;
}

/* The sums of the others, and this one. */
static int write_sums(const struct audit *audit, const struct publish *publish, struct err *err)
{
	CLEANUP(buf_clear) struct buf old = BUF_INIT;
	CLEANUP(buf_clear) struct buf sums = BUF_INIT;
	struct sha256 hash = publish->segment.hash;
	uint8_t sum[SHA256_LEN];
	char hex[SHA256_HEX_LEN + 1];
	char path[AUDIT_NAME_MAX];
	char *rest = NULL;
	struct err why = {0};

	if (file_read_at(audit->dir_fd, AUDIT_SUMS, SUMS_BYTES_MAX, &old, &why) < 0 &&
	    why.kind != ERR_NOT_FOUND)
		return err_set(err, why.kind, "%s", why.text);
	segment_path(publish->segment.first, AUDIT_RECORDS, path);
	for (char *line = old.len == 0 ? NULL : strtok_r(old.bytes, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, path) == NULL)
			buf_addf(&sums, "%s\n", line);
	sha256_end(&hash, sum);
	hex_write(sum, SHA256_LEN, hex);
	buf_addf(&sums, "%s  %s\n", hex, path);
	return file_replace_at(audit->dir_fd, AUDIT_SUMS, 0600, sums.bytes, sums.len, true, err);
}

static int write_seal(const struct audit *audit, const struct publish *publish, struct err *err)
{
	char path[AUDIT_NAME_MAX];

	segment_path(publish->segment.first, AUDIT_SEAL, path);
	return file_replace_at(audit->seg_fd, segment_name(path), 0600, publish->note,
			       strlen(publish->note), true, err);
}

/* What lay there is overwritten once the new one is durable; how much that is worth depends on the
 * disk (docs/decisions). */
static int write_epoch(const struct audit *audit, const struct publish *publish, struct err *err)
{
	char zeros[512] = {0};
	CLEANUP(fd_closep)
	int old = openat(audit->dir_fd, AUDIT_EPOCH, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat;

	if (file_replace_at(audit->dir_fd, AUDIT_EPOCH, 0600, publish->epoch,
			    strlen(publish->epoch), true, err) < 0)
		return -1;
	if (old < 0 || fstat(old, &stat) < 0 || stat.st_size > (off_t)sizeof(zeros))
		return 0;
	IGNORE(pwrite(old, zeros, (size_t)stat.st_size, 0) < 0 || fdatasync(old) < 0,
	       "nobody can reach it any more; this is a second fence");
	return 0;
}

static int write_tiles(const struct audit *audit, const struct publish *publish, struct err *err)
{
	for (size_t i = 0; i < publish->full_count; i++) {
		const struct full_tile *full = &publish->full[i];

		if (tile_file_write(audit->dir_fd, full->level, full->index, TILE_WIDTH,
				    &full->tile, false, err) < 0)
			return -1;
	}
	return tile_files_write_edge(audit->dir_fd, &publish->tiles, false, err);
}

static int publish_all(const struct audit *audit, const struct publish *publish, struct err *err)
{
	if (check_signatures(audit, publish, err) < 0 || check_folder(audit, err) < 0 ||
	    write_tiles(audit, publish, err) < 0)
		return -1;
	if (publish->is_seal &&
	    (write_sums(audit, publish, err) < 0 || write_seal(audit, publish, err) < 0))
		return -1;
	if (file_replace_at(audit->dir_fd, AUDIT_CHECKPOINT, 0644, publish->note,
			    strlen(publish->note), true, err) < 0)
		return -1;
	return publish->epoch == NULL ? 0 : write_epoch(audit, publish, err);
}

static void publish_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;
	struct publish *publish = audit->publish;

	err_clear(&publish->err);
	publish->full_disk = publish_all(audit, publish, &publish->err) < 0 &&
			     writer_is_short_of_space(audit->dir_fd);
}

static void forget_kept(struct audit *audit, const struct publish *publish)
{
	size_t known = (size_t)(publish->tiles.size - audit->published.size);

	memmove(audit->kept_leaves, audit->kept_leaves + known,
		(audit->kept_count - known) * SHA256_LEN);
	audit->kept_count -= known;
	tiles_tree(&publish->tiles, &audit->published);
}

static void on_published(uv_work_t *work, int status)
{
	struct audit *audit = work->data;
	struct publish *publish = audit->publish;

	(void)status;
	audit->publish_busy = false;
	if (publish->err.kind == ERR_NONE) {
		audit->publish = NULL;
		if (audit->kept_count > 0)
			forget_kept(audit, publish);
		if (publish->is_seal)
			audit->sealing = false;
		publish_free(publish);
		if (audit->signed_tree.size > audit->published.size)
			writer_want_publish(audit);
	} else if (publish->full_disk) {
		writer_enter_full(audit, &publish->err);
		uv_timer_start(&audit->publish_timer, on_due, FULL_RETRY_MS, 0);
	} else {
		audit_stop(audit, &publish->err);
	}
	audit_wake(audit);
}

/* The key whose line the head carries beside that of the log. */
static void set_epoch_key(const struct audit *audit, struct publish *publish)
{
	const char *text = audit->epoch.vkey;

	publish->has_epoch_key =
		audit->epoch.number == writer_epoch_wanted(audit) &&
		(audit->sealing ? audit->closed.has_key : audit->segment.has_key) &&
		vkey_parse(text, strlen(text), &publish->epoch_key, NULL) == 0;
}

static void prepare(struct audit *audit, bool seal)
{
	struct publish *publish = mem_alloc(sizeof(*publish));

	publish->note = mem_str(audit->checkpoint);
	publish->tiles = audit->tiles;
	publish->full = TAKE(audit->full_tiles);
	publish->full_count = audit->full_tile_count;
	audit->full_tile_count = audit->full_tile_room = 0;
	publish->is_seal = seal;
	set_epoch_key(audit, publish);
	if (seal) {
		publish->segment = audit->closed;
		publish->epoch = mem_str(audit->closed.has_key ? audit->epoch.next_sealed
							       : audit->epoch.sealed);
	}
	audit->publish = publish;
}

static bool is_at_border(const struct audit *audit)
{
	return audit->sealing && audit->signed_tree.size == audit->closed.next;
}

void writer_start_publish(struct audit *audit)
{
	bool seal = is_at_border(audit);
	bool again = audit->publish != NULL; /* the disk was full */

	if (audit->publish_busy || audit->sign_busy || !(audit->publish_due || (seal && !again)))
		return;
	if (!again && (!audit->head_publishes || audit->tiles.size != audit->signed_tree.size ||
		       (audit->signed_tree.size == audit->published.size && !seal)))
		return;
	if (!again)
		prepare(audit, seal);
	audit->publish_due = false;
	audit->publish_busy = true;
	audit->publish_work.data = audit;
	uv_queue_work(audit->loop, &audit->publish_work, publish_in_pool, on_published);
}
