/*
 * The audit log as the broker uses it (audit.h): opening, appending, waiting. writer_state.h shows
 * the stages behind it. What can fail at open: the lock, the folder, a log that contradicts its
 * head (recover.c), a signer that is in another key epoch than the log.
 */
#include "broker/audit/writer_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/tile_files.h"
#include "writ/record.h"

#define LOG_ID_BYTES 16
#define ENDING_RECORDS_MAX 4096 /* that wait in memory for space */
#define SEGMENT_BYTES_DEFAULT (64u << 20)
#define PUBLISH_MS_DEFAULT 100 /* each costs a few syncs */
#define SEGMENT_SECONDS_DEFAULT (24 * 60 * 60)

void audit_epoch_copy(struct audit_epoch *to, const struct audit_epoch *from)
{
	*to = (struct audit_epoch){.number = from->number,
				   .vkey = mem_str(from->vkey),
				   .sealed = mem_str(from->sealed),
				   .next_vkey = mem_str(from->next_vkey),
				   .next_sealed = mem_str(from->next_sealed)};
}

void audit_epoch_clear(struct audit_epoch *epoch)
{
	mem_free(epoch->vkey);
	mem_free(epoch->sealed);
	mem_free(epoch->next_vkey);
	mem_free(epoch->next_sealed);
	memset(epoch, 0, sizeof(*epoch));
}

static int take_lock(struct audit *audit, struct err *err)
{
	audit->lock_fd =
		openat(audit->dir_fd, AUDIT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (audit->lock_fd < 0)
		return err_errno(err, AUDIT_LOCK);
	if (flock(audit->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_errno(err, AUDIT_LOCK ": flock");
	return err_set(err, ERR_UNAVAILABLE,
		       "another service writes this log; stop it first, or use that one");
}

static int open_all(struct audit *audit, const struct audit_options *options,
		    struct recovered *recovered, struct err *err)
{
	struct vkey *key = &audit->vkey;

	if (vkey_parse(options->vkey, strlen(options->vkey), key, err) < 0)
		return -1;
	if (strcmp(key->name, options->origin) != 0)
		return err_set(err, ERR_INVALID, "the log's key is named %s, not %s", key->name,
			       options->origin);
	if (dir_open_private_at(AT_FDCWD, options->dir, true, &audit->dir_fd, err) < 0 ||
	    take_lock(audit, err) < 0 ||
	    dir_open_private_at(audit->dir_fd, AUDIT_SEGMENTS, true, &audit->seg_fd, err) < 0 ||
	    recover(audit->dir_fd, audit->seg_fd, key, recovered, err) < 0)
		return -1;
	return openings_open(options->dir, &audit->openings, err);
}

/* Everything of recovered passes to the audit. */
static void adopt(struct audit *audit, struct recovered *recovered)
{
	if (recovered->file.fd >= 0)
		audit->file = recovered->file;
	recovered->file.fd = -1;
	audit->size = recovered->size;
	audit->segment = recovered->segment;
	audit->sealing = recovered->unsealed;
	audit->closed = recovered->sealing;
	memcpy(audit->last_leaf, recovered->last_leaf, SHA256_LEN);
	audit->tiles = *recovered->tiles;
	tiles_tree(&audit->tiles, &audit->signed_tree);
	audit->published = audit->signed_tree;
	audit->unsigned_leaves = TAKE(recovered->leaves);
	audit->unsigned_count = recovered->leaf_count;
	audit->unsigned_room = recovered->leaf_count;
	audit->checkpoint = TAKE(recovered->checkpoint);
	audit->head_publishes = audit->checkpoint != NULL;
	audit->tail_is_stale = !recovered->from_tail;
	for (size_t i = 0; i < TILE_LEVELS_MAX; i++)
		audit->last_full_index[i] = UINT64_MAX;
}

/* The seed of the epoch lies on the disk before anything names its key. */
static int store_epoch(const struct audit *audit, struct err *err)
{
	CLEANUP(buf_clear) struct buf found = BUF_INIT;
	const char *sealed = audit->epoch.sealed;
	struct err why = {0};

	if (file_read_at(audit->dir_fd, AUDIT_EPOCH, NOTE_BYTES_MAX, &found, &why) == 0 &&
	    strcmp(buf_str(&found), sealed) == 0)
		return 0;
	return file_replace_at(audit->dir_fd, AUDIT_EPOCH, 0600, sealed, strlen(sealed), true, err);
}

/* The epoch that the signer is in may be older (a crash in a roll, or an older copy of its file):
 * it is rolled forward. A newer one means that the log was rolled back. */
static int check_epoch(const struct audit *audit, const struct recovered *recovered,
		       struct err *err)
{
	uint64_t wanted = audit->segment.number;

	if (audit->sealing)
		wanted = audit->closed.number;
	else if (recovered->closed)
		wanted++;
	if (!recovered->segment.has_key)
		wanted =
			1; /* a log of layout 1: its first segment has no key, the next has key 1 */
	if (audit->epoch.number > wanted && audit->size > 0)
		return err_set(err, ERR_INVALID,
			       "the signer is in key epoch %llu, but the log ends in %llu: the log "
			       "was put back to an older state; nothing was changed",
			       (unsigned long long)audit->epoch.number, (unsigned long long)wanted);
	return 0;
}

uint64_t writer_append(struct audit *audit, struct json *fields)
{
	json_set_str(fields, REC_SOURCE, "observed");
	return audit_append_ending(audit, fields, NULL);
}

static void append_log_open(struct audit *audit, const char *vkey)
{
	struct json *fields = json_object();
	uint8_t id[LOG_ID_BYTES];
	char id_hex[2 * LOG_ID_BYTES + 1];

	random_bytes(id, sizeof(id));
	hex_write(id, sizeof(id), id_hex);
	json_set_str(fields, REC_EVENT, EV_LOG_OPEN);
	json_set_str(fields, REC_ORIGIN, audit->origin);
	json_set_str(fields, REC_LOG_ID, id_hex);
	json_set_str(fields, REC_VKEY, vkey);
	json_set_str(fields, REC_EPOCH_KEY, audit->epoch.vkey);
	json_set_int(fields, REC_KEY_EPOCH, (int64_t)audit->epoch.number);
	writer_append(audit, fields);
}

static void append_recovered(struct audit *audit, const struct recovered *recovered)
{
	struct json *fields = json_object();
	CLEANUP(mem_freep)
	char *cause = mem_format("torn tail kept as %s, SHA-256 %s", recovered->torn_name,
				 recovered->torn_sha256);

	json_set_str(fields, REC_EVENT, EV_LOG_RECOVERED);
	json_set_int(fields, REC_COUNT, (int64_t)recovered->torn_bytes);
	json_set_str(fields, REC_CAUSE, cause);
	writer_append(audit, fields);
}

static void append_clock_step(struct audit *audit, int64_t step_us)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_EVENT, EV_CLOCK_STEP);
	json_set_int(fields, REC_STEP, step_us / 1000);
	writer_append(audit, fields);
}

/* A record earlier than the last one of the life before: the clock was set back meanwhile. */
static void check_last_time(struct audit *audit, int64_t last_us)
{
	int64_t step = clock_now_us() - last_us;

	if (last_us > 0 && step < -CLOCK_STEP_US)
		append_clock_step(audit, step);
}

static struct json *segment_json(const struct segment *segment)
{
	struct json *out = json_object();
	struct sha256 hash = segment->hash;
	uint8_t sum[SHA256_LEN];
	char hex[SHA256_HEX_LEN + 1];
	char path[AUDIT_NAME_MAX];

	sha256_end(&hash, sum);
	hex_write(sum, SHA256_LEN, hex);
	segment_path(segment->first, AUDIT_RECORDS, path);
	json_set_int(out, "bytes", (int64_t)segment->bytes);
	json_set_int(out, "count", (int64_t)(segment->next - segment->first));
	json_set_str(out, "name", segment_name(path));
	json_set_str(out, "sha256", hex);
	return out;
}

/* The segment so far is closed; the next record begins another. */
void writer_open_segment(struct audit *audit)
{
	struct json *fields = json_object();
	uint64_t number = audit->segment.number + 1;

	audit->segment.next = audit->size;
	json_set_str(fields, REC_EVENT, EV_SEGMENT_OPEN);
	json_set(fields, REC_SEGMENT, segment_json(&audit->segment));
	json_set_str(fields, REC_EPOCH_KEY,
		     audit->epoch.number == number ? audit->epoch.vkey : audit->epoch.next_vkey);
	json_set_int(fields, REC_KEY_EPOCH, (int64_t)number);
	audit->segment = (struct segment){.first = audit->size,
					  .number = number,
					  .has_key = true,
					  .opened_us = clock_now_us()};
	sha256_init(&audit->segment.hash);
	audit->opened_mono_us = clock_mono_us();
	audit->filling.opens = true;
	audit->filling.segment = audit->size;
	writer_append(audit, fields);
}

static void on_check(uv_check_t *check)
{
	struct audit *audit = check->data;

	uv_check_stop(&audit->check);
	uv_idle_stop(&audit->idle);
	audit_step(audit);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* it only keeps the poll of this turn from waiting */
}

void audit_wake(struct audit *audit)
{
	if (audit->phase == CLOSE_HANDLES)
		return;
	uv_check_start(&audit->check, on_check);
	uv_idle_start(&audit->idle, on_idle);
}

static void begin(struct audit *audit, uv_loop_t *loop)
{
	audit->loop = loop;
	uv_check_init(loop, &audit->check);
	uv_idle_init(loop, &audit->idle);
	uv_timer_init(loop, &audit->publish_timer);
	uv_timer_init(loop, &audit->full_timer);
	uv_timer_init(loop, &audit->deadline);
	audit->check.data = audit;
	audit->idle.data = audit;
	audit->publish_timer.data = audit;
	audit->full_timer.data = audit;
	audit->deadline.data = audit;
	uv_unref((uv_handle_t *)&audit->full_timer);
}

static void set_limits(struct audit *audit, const struct audit_limits *limits)
{
	audit->limits = *limits;
	if (audit->limits.segment_bytes == 0)
		audit->limits.segment_bytes = SEGMENT_BYTES_DEFAULT;
	if (audit->limits.publish_ms == 0)
		audit->limits.publish_ms = PUBLISH_MS_DEFAULT;
	if (audit->limits.segment_seconds == 0)
		audit->limits.segment_seconds = SEGMENT_SECONDS_DEFAULT;
}

/* How old the open segment is: by the wall clock at the start, never more than one day of it, and
 * by the monotonic one from then on. */
static void set_age(struct audit *audit)
{
	int64_t age = clock_now_us() - audit->segment.opened_us;
	int64_t most = audit->limits.segment_seconds * 1000000;

	audit->opened_mono_us = clock_mono_us() - (age < 0 ? 0 : age > most ? most : age);
}

static void begin_new(struct audit *audit, const char *vkey)
{
	audit->segment = (struct segment){
		.number = audit->epoch.number, .has_key = true, .opened_us = clock_now_us()};
	sha256_init(&audit->segment.hash);
	audit->filling.opens = true;
	append_log_open(audit, vkey);
}

/* What the records of the start are, in their order. */
static void first_records(struct audit *audit, const struct recovered *recovered, const char *vkey)
{
	if (audit->size == 0)
		begin_new(audit, vkey);
	else if (recovered->closed)
		writer_open_segment(audit);
	set_age(audit);
	if (recovered->torn_bytes > 0)
		append_recovered(audit, recovered);
	check_last_time(audit, recovered->last_us);
}

static int open_checked(struct audit *audit, const struct audit_options *options,
			struct recovered *recovered, struct err *err)
{
	if (open_all(audit, options, recovered, err) < 0)
		return -1;
	adopt(audit, recovered);
	audit_epoch_copy(&audit->epoch, options->epoch);
	if (check_epoch(audit, recovered, err) < 0 || store_epoch(audit, err) < 0)
		return -1;
	return writer_make_ballast(audit->dir_fd, err);
}

int audit_open(uv_loop_t *loop, const struct audit_options *options, struct audit **ret_audit,
	       struct audit_opened *ret_opened, struct err *err)
{
	struct audit *audit = mem_alloc(sizeof(*audit));
	struct recovered recovered = {.file = {.fd = -1}};

	audit->dir_fd = audit->seg_fd = audit->lock_fd = -1;
	audit->file = (struct log_file){.fd = -1, .io = {write, fdatasync}};
	audit->origin = mem_str(options->origin);
	audit->dir = mem_str(options->dir);
	audit->signer = options->signer;
	set_limits(audit, &options->limits);
	if (open_checked(audit, options, &recovered, err) < 0) {
		recovered_clear(&recovered);
		audit_free(audit);
		return err_wrap(err, "audit log %s", options->dir);
	}
	begin(audit, loop);
	*ret_opened =
		(struct audit_opened){.size = audit->size,
				      .created = audit->size == 0,
				      .from_tail = recovered.from_tail,
				      .migrated = !recovered.segment.has_key && audit->size > 0,
				      .recovered_bytes = recovered.torn_bytes,
				      .checkpoint = audit->checkpoint};
	first_records(audit, &recovered, options->vkey);
	audit_wake(audit);
	recovered_clear(&recovered);
	*ret_audit = audit;
	return 0;
}

static void free_jobs(struct audit *audit)
{
	while (audit->jobs != NULL) {
		struct audit_job *job = audit->jobs;

		audit->jobs = job->next;
		mem_free(job);
	}
}

void audit_free(struct audit *audit)
{
	log_file_close(&audit->file);
	openings_close(audit->openings);
	if (audit->seg_fd >= 0)
		close(audit->seg_fd);
	if (audit->dir_fd >= 0)
		close(audit->dir_fd);
	if (audit->lock_fd >= 0)
		close(audit->lock_fd); /* last: whoever gets the lock finds all of it closed */
	batch_clear(&audit->filling);
	batch_clear(&audit->writing);
	for (size_t i = 0; i < audit->waiter_count; i++)
		mem_free(audit->waiters[i].why);
	free_jobs(audit);
	publish_free(audit->publish);
	audit_epoch_clear(&audit->epoch);
	mem_free(audit->waiters);
	mem_free(audit->unsigned_leaves);
	mem_free(audit->signing_leaves);
	mem_free(audit->kept_leaves);
	mem_free(audit->full_tiles);
	mem_free(audit->checkpoint);
	mem_free(audit->tail_note);
	mem_free(audit->origin);
	mem_free(audit->dir);
	mem_free(audit);
}

/* To the front of those that wait for a signature. */
static void take_back(struct audit *audit, const uint8_t (*leaves)[SHA256_LEN], size_t count)
{
	if (count == 0)
		return;
	audit->unsigned_leaves =
		mem_grow(audit->unsigned_leaves, (audit->unsigned_count + count) * SHA256_LEN);
	memmove(audit->unsigned_leaves + count, audit->unsigned_leaves,
		audit->unsigned_count * SHA256_LEN);
	memcpy(audit->unsigned_leaves, leaves, count * SHA256_LEN);
	audit->unsigned_count += count;
	audit->unsigned_room = audit->unsigned_count;
}

/* The signed records behind its last head go back to those that wait for a signature. */
static bool go_back_to(struct audit *audit, uint64_t last)
{
	uint64_t from = audit->published.size;
	struct tree tree = audit->published;
	size_t keep = (size_t)(last - from);
	size_t back = audit->kept_count - keep;

	if (last < from || last > audit->signed_tree.size)
		return false;
	if (last == audit->signed_tree.size)
		return true;
	for (size_t i = 0; i < keep; i++)
		tree_add(&tree, audit->kept_leaves[i]);
	take_back(audit, (const uint8_t(*)[SHA256_LEN])audit->kept_leaves + keep, back);
	audit->signed_again = (size_t)(audit->tiles.size - tree.size);
	audit->kept_count = keep;
	audit->signed_tree = tree;
	return true;
}

size_t audit_frontier(struct audit *audit, uint64_t last, const struct audit_epoch *epoch,
		      uint64_t *ret_size, uint8_t (*ret_peaks)[SHA256_LEN])
{
	if (audit->sign_busy && !audit->sign_void) {
		take_back(audit, (const uint8_t(*)[SHA256_LEN])audit->signing_leaves,
			  audit->signing_count);
		audit->sign_void = true;
	}
	audit->roll_void = audit->roll_busy;
	if (go_back_to(audit, last)) {
		audit_epoch_clear(&audit->epoch);
		audit_epoch_copy(&audit->epoch, epoch);
		audit_wake(audit);
	}
	*ret_size = audit->signed_tree.size;
	memcpy(ret_peaks, audit->signed_tree.peaks, audit->signed_tree.count * SHA256_LEN);
	return audit->signed_tree.count;
}

/* The clock is read once a record; a step of it gets a record of its own, in front. */
static void watch_clock(struct audit *audit)
{
	int64_t offset = clock_now_us() - clock_mono_us();
	int64_t step = offset - audit->clock_offset_us;
	bool stepped = audit->has_clock && (step > CLOCK_STEP_US || step < -CLOCK_STEP_US);

	audit->has_clock = true;
	audit->clock_offset_us = offset;
	if (stepped)
		append_clock_step(audit, step);
}

static int take(struct audit *audit, const struct json *fields, const struct json *secrets,
		struct json **ret_disclosures, struct err *err)
{
	struct batch *batch = &audit->filling;
	size_t before;
	uint8_t leaf[SHA256_LEN];

	/* The first record of a segment stays the first. */
	if (!batch->opens || batch->leaf_count > 0)
		watch_clock(audit);
	before = batch->lines.len;
	if (batch_add(batch, audit->size, audit->last_leaf, clock_now_us(), fields, secrets, leaf,
		      ret_disclosures, err) < 0)
		return -1;
	sha256_add(&audit->segment.hash, batch->lines.bytes + before, batch->lines.len - before);
	audit->segment.bytes += batch->lines.len - before;
	memcpy(audit->last_leaf, leaf, SHA256_LEN);
	audit->size++;
	return 0;
}

static int append(struct audit *audit, const struct json *fields, const struct json *secrets,
		  bool ending, struct json **ret_disclosures, struct err *err)
{
	if (audit->stopped)
		return err_set(err, audit->stop_why.kind, "%s", audit->stop_why.text);
	if (audit->phase > CLOSE_FLUSH)
		return err_set(err, ERR_UNAVAILABLE, "the audit log is closing");
	if (audit->full && (!ending || audit->filling.leaf_count >= ENDING_RECORDS_MAX)) {
		audit->full_refused++;
		return err_set(err, audit->full_why.kind, "%s", audit->full_why.text);
	}
	return take(audit, fields, secrets, ret_disclosures, err);
}

static uint64_t append_and_wake(struct audit *audit, struct json *fields, struct json *secrets,
				bool ending, struct json **ret_disclosures)
{
	int result = append(audit, fields, secrets, ending, ret_disclosures, &audit->refused);

	json_free(fields);
	json_free(secrets);
	if (result < 0)
		return UINT64_MAX;
	audit_wake(audit);
	return audit->size - 1;
}

uint64_t audit_append(struct audit *audit, struct json *fields, struct json *secrets,
		      struct json **ret_disclosures)
{
	return append_and_wake(audit, fields, secrets, false, ret_disclosures);
}

uint64_t audit_append_ending(struct audit *audit, struct json *fields, struct json *secrets)
{
	return append_and_wake(audit, fields, secrets, true, NULL);
}

void audit_when_durable(struct audit *audit, uint64_t seq, audit_done *done, void *data)
{
	struct waiter *waiter;

	if (audit->waiter_count == audit->waiter_room) {
		audit->waiter_room = audit->waiter_room == 0 ? 32 : audit->waiter_room * 2;
		audit->waiters =
			mem_grow(audit->waiters, audit->waiter_room * sizeof(*audit->waiters));
	}
	waiter = &audit->waiters[audit->waiter_count++];
	*waiter = (struct waiter){.seq = seq, .done = done, .data = data};
	if (seq == UINT64_MAX)
		waiter->why = mem_copy(&audit->refused, sizeof(audit->refused));
	audit_wake(audit);
}

const char *audit_checkpoint(const struct audit *audit)
{
	return audit->checkpoint;
}

uint64_t audit_size(const struct audit *audit)
{
	return audit->size;
}

bool audit_stopped(const struct audit *audit, struct err *ret_why)
{
	if (!audit->stopped && !audit->full)
		return false;
	if (ret_why != NULL)
		*ret_why = audit->stopped ? audit->stop_why : audit->full_why;
	return true;
}

static uint64_t durable_size(const struct audit *audit)
{
	return audit->size - audit->filling.leaf_count - audit->writing.leaf_count;
}

static bool is_answered(const struct audit *audit, const struct waiter *waiter,
			const struct err **ret_err)
{
	*ret_err = NULL;
	if (waiter->why != NULL)
		*ret_err = waiter->why;
	else if (waiter->seq < audit->signed_tree.size)
		return true;
	else if (audit->stopped)
		*ret_err = &audit->stop_why;
	else if (audit->held && waiter->seq >= durable_size(audit))
		*ret_err = &audit->full_why;
	return *ret_err != NULL;
}

/* done may append and wait anew: what it adds comes behind and is looked at as well. */
void writer_answer(struct audit *audit)
{
	size_t left = 0;

	for (size_t i = 0; i < audit->waiter_count; i++) {
		struct waiter waiter = audit->waiters[i];
		const struct err *err;

		if (!is_answered(audit, &waiter, &err)) {
			audit->waiters[left++] = waiter;
			continue;
		}
		waiter.done(waiter.data, err);
		mem_free(waiter.why);
	}
	audit->waiter_count = left;
}

void audit_stop(struct audit *audit, const struct err *why)
{
	if (audit->stopped)
		return;
	audit->stopped = true;
	audit->stop_why = *why;
	err_wrap(&audit->stop_why, "the audit log has stopped, and nothing is allowed without it. "
				   "Mend the cause and start the service again. Cause");
}

void audit_step(struct audit *audit)
{
	if (!audit->stopped) {
		writer_start_write(audit);
		writer_start_sign(audit);
		writer_start_publish(audit);
	}
	writer_answer(audit);
	writer_step_close(audit);
}
