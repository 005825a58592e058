/*
 * Closing: what waits is written, signed and published, then the signer signs the tail, from which
 * the next start goes on without reading. A log that has stopped is only let go of. What can fail:
 * the signer, the disk.
 */
#include <string.h>

#include "base/file.h"
#include "broker/audit/writer_state.h"

#define HANDLES 5

static void on_handle_closed(uv_handle_t *handle)
{
	struct audit *audit = handle->data;
	audit_done *done = audit->on_closed;
	void *data = audit->closed_data;
	struct err err = audit->close_err;

	if (--audit->open_handles > 0)
		return;
	audit_free(audit);
	done(data, err.kind == ERR_NONE ? NULL : &err);
}

static void end_waiters(struct audit *audit)
{
	struct err err;

	if (audit->waiter_count == 0)
		return;
	err_set(&err, ERR_INTERNAL, "someone waits for a record that does not exist");
	audit_stop(audit, &err);
	writer_answer(audit);
}

static void end_jobs(struct audit *audit)
{
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "the audit log is closed");
	while (audit->jobs != NULL) {
		struct audit_job *job = audit->jobs;

		audit->jobs = job->next;
		job->done(job->data, audit->stopped ? &audit->stop_why : &err);
		mem_free(job);
	}
}

static void close_handles(struct audit *audit)
{
	audit->phase = CLOSE_HANDLES;
	end_waiters(audit);
	end_jobs(audit);
	if (audit->stopped)
		audit->close_err = audit->stop_why;
	else if (audit->full)
		audit->close_err = audit->full_why;
	audit->open_handles = HANDLES;
	uv_close((uv_handle_t *)&audit->check, on_handle_closed);
	uv_close((uv_handle_t *)&audit->idle, on_handle_closed);
	uv_close((uv_handle_t *)&audit->publish_timer, on_handle_closed);
	uv_close((uv_handle_t *)&audit->full_timer, on_handle_closed);
	uv_close((uv_handle_t *)&audit->deadline, on_handle_closed);
}

/* Not synced: the lines and the head of which it speaks are durable already, and where a power cut
 * takes it, or leaves half of it, the next start reads the lines. */
static void finish_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;

	if (audit->tail_note != NULL)
		IGNORE(file_replace_at(audit->dir_fd, AUDIT_TAIL, 0600, audit->tail_note,
				       strlen(audit->tail_note), false, &audit->close_err) < 0,
		       "close_err says so");
}

static void on_finished(uv_work_t *work, int status)
{
	(void)status;
	close_handles(work->data);
}

static void on_tail(void *data, const char *note, const struct err *why)
{
	struct audit *audit = data;

	if (why != NULL) {
		audit->close_err = *why;
		err_wrap(&audit->close_err, "signing the tail");
	} else {
		audit->tail_note = mem_str(note);
	}
	audit->phase = CLOSE_FINISH;
	audit->finish_work.data = audit;
	uv_queue_work(audit->loop, &audit->finish_work, finish_in_pool, on_finished);
}

static void ask_for_tail(struct audit *audit)
{
	struct json *tail = json_object();
	uint8_t state[SHA256_LEN];
	char hex[SHA256_HEX_LEN + 1];

	audit->phase = CLOSE_TAIL;
	json_set_int(tail, "size", (int64_t)audit->size);
	json_set_int(tail, "segment", (int64_t)audit->segment.first);
	json_set_int(tail, "bytes", (int64_t)audit->segment.bytes);
	hex_write(audit->last_leaf, SHA256_LEN, hex);
	json_set_str(tail, "last", hex);
	sha256_save(&audit->segment.hash, state);
	hex_write(state, SHA256_LEN, hex);
	json_set_str(tail, "state", hex);
	audit->signer.sign_tail(audit->signer.self, tail, on_tail, audit);
	json_free(tail);
}

static bool is_busy(const struct audit *audit)
{
	return audit->write_busy || audit->sign_busy || audit->publish_busy || audit->roll_busy;
}

/* The answers to waiters may have added more. */
static bool has_more(const struct audit *audit)
{
	return audit->filling.leaf_count > 0 || audit->unsigned_count > 0 || audit->jobs != NULL ||
	       audit->sealing || audit->epoch.number < writer_epoch_wanted(audit);
}

void writer_step_close(struct audit *audit)
{
	if (audit->phase != CLOSE_FLUSH || is_busy(audit))
		return;
	if (audit->stopped || audit->full) {
		close_handles(audit); /* a full disk: what waits is lost, and was never answered */
	} else if (has_more(audit)) {
		return;
	} else if (audit->published.size < audit->signed_tree.size) {
		if (!audit->publish_due) {
			audit->publish_due = true;
			audit_wake(audit);
		}
	} else if (!audit->tail_is_stale) {
		close_handles(audit); /* nothing was written: what lies there still fits */
	} else {
		ask_for_tail(audit);
	}
}

void audit_close(struct audit *audit, audit_done *done, void *data)
{
	audit->on_closed = done;
	audit->closed_data = data;
	audit->phase = CLOSE_FLUSH;
	audit_wake(audit);
}
