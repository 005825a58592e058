/*
 * The write stage: all that waits, in one write and one sync; now and then a segment is closed and
 * a new file begun; between two batches other work with the files. What can fail: the disk, which
 * stops the log, or is full (writer_full.c); a disk that does not answer in time.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/audit/writer_state.h"
#include "writ/record.h"

static int open_file(struct audit *audit, struct err *err)
{
	char path[AUDIT_NAME_MAX];
	struct log_file file = {.fd = -1};

	segment_path(audit->writing.segment, AUDIT_RECORDS, path);
	if (log_file_create(audit->seg_fd, segment_name(path), &file, err) < 0) {
		audit->file.full = file.full;
		return -1;
	}
	file.io = audit->file.io;
	log_file_close(&audit->file);
	audit->file = file;
	audit->writing.opens = false;
	return 0;
}

static int append_lines(struct audit *audit, struct err *err)
{
	struct batch *batch = &audit->writing;

	if (batch->lines_done)
		return 0;
	if (batch->opens && open_file(audit, err) < 0)
		return -1;
	if (log_file_append(&audit->file, batch->lines.bytes, batch->lines.len, err) < 0)
		return -1;
	batch->lines_done = true;
	return 0;
}

static int append_openings(struct audit *audit, struct err *err)
{
	const struct batch *batch = &audit->writing;

	if (openings_add(audit->openings, batch->openings, batch->opening_count, err) == 0)
		return 0;
	audit->file.full = writer_is_short_of_space(audit->dir_fd);
	return -1;
}

static int append_all(struct audit *audit, struct err *err)
{
	audit->file.full = false;
	return append_lines(audit, err) < 0 ? -1 : append_openings(audit, err);
}

/* Want of space frees the ballast, once: that is what it is for. */
static void write_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;

	if (!audit->tail_is_stale)
		unlinkat(audit->dir_fd, AUDIT_TAIL, 0);
	audit->tail_is_stale = true;
	err_clear(&audit->write_err);
	if (append_all(audit, &audit->write_err) == 0 || !audit->file.full)
		return;
	audit->was_full = true;
	if (!writer_free_ballast(audit->dir_fd))
		return;
	err_clear(&audit->write_err);
	IGNORE(append_all(audit, &audit->write_err) < 0, "write_err says so");
}

static void note_unsigned(struct audit *audit, const struct batch *batch)
{
	size_t wanted = audit->unsigned_count + batch->leaf_count;

	if (wanted > audit->unsigned_room) {
		audit->unsigned_room = wanted * 2;
		audit->unsigned_leaves =
			mem_grow(audit->unsigned_leaves, audit->unsigned_room * SHA256_LEN);
	}
	memcpy(audit->unsigned_leaves[audit->unsigned_count], batch->leaves,
	       batch->leaf_count * SHA256_LEN);
	audit->unsigned_count = wanted;
}

static void on_written(uv_work_t *work, int status)
{
	struct audit *audit = work->data;
	bool failed = audit->write_err.kind != ERR_NONE;

	(void)status; /* never cancelled */
	uv_timer_stop(&audit->deadline);
	audit->write_busy = false;
	audit->wrote_last = true;
	audit->held = failed && audit->was_full;
	if (audit->was_full)
		writer_enter_full(audit, &audit->write_err);
	else if (failed)
		audit_stop(audit, &audit->write_err);
	audit->was_full = false;
	if (audit->full && !uv_is_active((uv_handle_t *)&audit->full_timer))
		uv_timer_start(&audit->full_timer, writer_on_full_timer, FULL_RETRY_MS, 0);
	if (!failed)
		note_unsigned(audit, &audit->writing);
	if (!audit->held)
		batch_reset(&audit->writing);
	audit_wake(audit);
}

static void on_deadline(uv_timer_t *timer)
{
	struct audit *audit = timer->data;
	struct err err;

	err_set(&err, ERR_TIMEOUT, "the disk has not answered a write of the log for %d s",
		WRITE_MS_MAX / 1000);
	audit_stop(audit, &err);
	audit_wake(audit);
}

static void queue(struct audit *audit, uv_work_cb work, uv_after_work_cb after)
{
	audit->write_busy = true;
	audit->write_work.data = audit;
	uv_timer_start(&audit->deadline, on_deadline, WRITE_MS_MAX, 0);
	uv_queue_work(audit->loop, &audit->write_work, work, after);
}

/* Jobs. */
static void job_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;
	struct audit_job *job = audit->job;
	struct audit_files files = {.dir_fd = audit->dir_fd,
				    .seg_fd = audit->seg_fd,
				    .openings = audit->openings,
				    .size = audit->signed_tree.size};

	if (job->work(&files, job->data, &job->err) < 0 && job->err.kind == ERR_NONE)
		err_set(&job->err, ERR_INTERNAL, "a job of the log failed without a word");
}

static void on_job(uv_work_t *work, int status)
{
	struct audit *audit = work->data;
	struct audit_job *job = TAKE(audit->job);

	(void)status;
	uv_timer_stop(&audit->deadline);
	audit->write_busy = false;
	audit->wrote_last = false;
	job->done(job->data, job->err.kind == ERR_NONE ? NULL : &job->err);
	mem_free(job);
	audit_wake(audit);
}

static void start_job(struct audit *audit)
{
	audit->job = audit->jobs;
	audit->jobs = audit->job->next;
	queue(audit, job_in_pool, on_job);
}

void audit_run(struct audit *audit, audit_work *work, audit_done *done, void *data)
{
	struct audit_job *job = mem_alloc(sizeof(*job));
	struct audit_job **link = &audit->jobs;

	*job = (struct audit_job){.work = work, .done = done, .data = data};
	while (*link != NULL)
		link = &(*link)->next;
	*link = job;
	audit_wake(audit);
}

/* Rolls. */
static bool is_roll_due(const struct audit *audit)
{
	int64_t age = clock_mono_us() - audit->opened_mono_us;
	uint64_t records = audit->size - audit->segment.first;

	/* The signer knows the key of the next epoch once it is in that of this segment. */
	if (audit->sealing || audit->full || records < 2 ||
	    audit->epoch.number < writer_epoch_wanted(audit))
		return false;
	return !audit->segment.has_key || audit->segment.bytes >= audit->limits.segment_bytes ||
	       age >= audit->limits.segment_seconds * 1000000;
}

/* segment.close is the last of this batch, segment.open the first of the next. */
static bool close_segment(struct audit *audit)
{
	struct json *fields = json_object();
	uint64_t number = audit->segment.number + 1;

	json_set_str(fields, REC_EVENT, EV_SEGMENT_CLOSE);
	json_set_str(fields, REC_EPOCH_KEY,
		     audit->epoch.number == number ? audit->epoch.vkey : audit->epoch.next_vkey);
	json_set_int(fields, REC_KEY_EPOCH, (int64_t)number);
	if (writer_append(audit, fields) == UINT64_MAX)
		return false;
	audit->closed = audit->segment;
	audit->closed.next = audit->size;
	audit->sealing = true;
	return true;
}

static void start_batch(struct audit *audit)
{
	struct batch empty = audit->writing;
	bool rolls = is_roll_due(audit) && close_segment(audit);

	audit->writing = audit->filling;
	audit->filling = empty;
	if (rolls)
		writer_open_segment(audit);
	queue(audit, write_in_pool, on_written);
}

void writer_start_write(struct audit *audit)
{
	bool batch = audit->filling.leaf_count > 0 && !audit->held;

	if (audit->write_busy)
		return;
	if (audit->jobs != NULL && (audit->wrote_last || !batch))
		start_job(audit);
	else if (batch)
		start_batch(audit);
}

/* From the timer of a full disk: the same batch once more. */
void writer_write_again(struct audit *audit)
{
	if (!audit->write_busy)
		queue(audit, write_in_pool, on_written);
}
