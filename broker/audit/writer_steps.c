/*
 * The step function of the writer and its stages. What can fail: the disk, the signer, a head that
 * is not the one of our records; any of them stops the log for good, since a record that cannot be
 * written must stop what it would record.
 */
#include "broker/audit/writer_state.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define SIGN_LEAVES_MAX 4096u /* of one head.sign */

void audit_stop(struct audit *audit, const struct err *why)
{
	if (audit->stopped)
		return;
	audit->stopped = true;
	audit->stop_why = *why;
	err_wrap(&audit->stop_why, "the audit log has stopped, and nothing is allowed without it. "
				   "Mend the cause and start the service again. Cause");
}

/* Write: all that waits, in one call, and one sync. */
static void write_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;
	const struct batch *batch = &audit->writing;

	if (!audit->tail_is_stale)
		unlinkat(audit->dir_fd, TAIL_NAME, 0);
	audit->tail_is_stale = true;
	err_clear(&audit->write_err);
	if (log_file_append(&audit->file, batch->lines.bytes, batch->lines.len, &audit->write_err) <
	    0)
		return;
	IGNORE(openings_add(audit->openings, batch->openings, batch->opening_count,
			    &audit->write_err) < 0,
	       "write_err says so");
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

	(void)status; /* never cancelled */
	audit->write_busy = false;
	if (audit->write_err.kind != ERR_NONE)
		audit_stop(audit, &audit->write_err);
	else
		note_unsigned(audit, &audit->writing);
	batch_reset(&audit->writing);
	audit_wake(audit);
}

static void start_write(struct audit *audit)
{
	struct batch empty = audit->writing;

	if (audit->write_busy || audit->filling.leaf_count == 0)
		return;
	audit->writing = audit->filling;
	audit->filling = empty;
	audit->write_busy = true;
	audit->write_work.data = audit;
	uv_queue_work(audit->loop, &audit->write_work, write_in_pool, on_written);
}

/* Sign. */
/* The signature as well: a head that nobody can verify would be found only at the next start. */
static int check_head(const struct audit *audit, const struct tree *tree, const char *note_text,
		      struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct checkpoint checkpoint;
	uint8_t root[SHA256_LEN];

	if (note_parse(note_text, strlen(note_text), note, err) < 0 ||
	    note_verify(note, &audit->vkey, 1, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &checkpoint, err) < 0)
		return -1;
	tree_root(tree, root);
	if (strcmp(checkpoint.origin, audit->vkey.name) != 0 || checkpoint.size != tree->size ||
	    memcmp(root, checkpoint.root, SHA256_LEN) != 0)
		return err_set(err, ERR_INTERNAL, "the signed head is not that of our records");
	return 0;
}

static int take_head(struct audit *audit, const char *note, struct err *err)
{
	struct tree tree = audit->signed_tree;

	for (size_t i = 0; i < audit->signing_count; i++)
		tree_add(&tree, audit->signing_leaves[i]);
	if (check_head(audit, &tree, note, err) < 0)
		return err_wrap(err, "signer");
	audit->signed_tree = tree;
	mem_free(audit->checkpoint);
	audit->checkpoint = mem_str(note);
	audit->publish_wanted = true;
	return 0;
}

static void on_signed(void *data, const char *note, const struct err *why)
{
	struct audit *audit = data;
	struct err err;

	audit->sign_busy = false;
	if (audit->stopped) {
		/* It came too late to matter. */
	} else if (why != NULL) {
		err = *why;
		err_wrap(&err, "signing a head");
		audit_stop(audit, &err);
	} else if (take_head(audit, note, &err) < 0) {
		audit_stop(audit, &err);
	}
	audit_wake(audit);
}

static void start_sign(struct audit *audit)
{
	size_t count =
		audit->unsigned_count < SIGN_LEAVES_MAX ? audit->unsigned_count : SIGN_LEAVES_MAX;
	size_t rest = audit->unsigned_count - count;

	if (audit->sign_busy || count == 0)
		return;
	audit->signing_leaves = mem_grow(audit->signing_leaves, count * SHA256_LEN);
	memcpy(audit->signing_leaves, audit->unsigned_leaves, count * SHA256_LEN);
	memmove(audit->unsigned_leaves, audit->unsigned_leaves + count, rest * SHA256_LEN);
	audit->unsigned_count = rest;
	audit->signing_count = count;
	audit->sign_busy = true;
	audit->signer.sign_head(audit->signer.self,
				(const uint8_t(*)[SHA256_LEN])audit->signing_leaves, count,
				on_signed, audit);
}

/* Answer. done may append and wait anew: what it adds comes behind and is looked at as well. */
static bool next_answer(struct audit *audit, struct waiter *ret_waiter, const struct err **ret_err)
{
	for (size_t i = 0; i < audit->waiter_count; i++) {
		struct waiter *waiter = &audit->waiters[i];

		if (waiter->why != NULL)
			*ret_err = waiter->why;
		else if (waiter->seq < audit->signed_tree.size)
			*ret_err = NULL;
		else if (audit->stopped)
			*ret_err = &audit->stop_why;
		else
			continue;
		*ret_waiter = *waiter;
		memmove(waiter, waiter + 1, (audit->waiter_count - i - 1) * sizeof(*waiter));
		audit->waiter_count--;
		return true;
	}
	return false;
}

static void answer_waiters(struct audit *audit)
{
	const struct err *err = NULL;
	struct waiter waiter;

	while (next_answer(audit, &waiter, &err)) {
		waiter.done(waiter.data, err);
		mem_free(waiter.why);
	}
}

/*
 * Publish. Not synced: a head is made of nothing but the records, so one that a power cut took back
 * is signed again at the next start, over the same records, which were synced before it.
 */
static void publish_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;

	err_clear(&audit->publish_err);
	IGNORE(file_replace_at(audit->dir_fd, CHECKPOINT_NAME, 0644, audit->publishing,
			       strlen(audit->publishing), false, &audit->publish_err) < 0,
	       "publish_err says so");
}

static void on_published(uv_work_t *work, int status)
{
	struct audit *audit = work->data;

	(void)status;
	audit->publish_busy = false;
	mem_free(TAKE(audit->publishing));
	if (audit->publish_err.kind != ERR_NONE)
		audit_stop(audit, &audit->publish_err);
	audit_wake(audit);
}

static void start_publish(struct audit *audit)
{
	if (audit->publish_busy || !audit->publish_wanted)
		return;
	audit->publish_wanted = false;
	audit->publish_busy = true;
	audit->publishing = mem_str(audit->checkpoint);
	audit->publish_work.data = audit;
	uv_queue_work(audit->loop, &audit->publish_work, publish_in_pool, on_published);
}

/* Close. */
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

static void close_handles(struct audit *audit)
{
	audit->phase = CLOSE_HANDLES;
	if (audit->waiter_count > 0) {
		struct err err;

		err_set(&err, ERR_INTERNAL, "someone waits for a record that does not exist");
		audit_stop(audit, &err);
		answer_waiters(audit);
	}
	if (audit->stopped)
		audit->close_err = audit->stop_why;
	audit->open_handles = 2;
	uv_close((uv_handle_t *)&audit->check, on_handle_closed);
	uv_close((uv_handle_t *)&audit->idle, on_handle_closed);
}

static void finish_in_pool(uv_work_t *work)
{
	struct audit *audit = work->data;
	struct err *err = &audit->close_err;

	if (file_replace_at(audit->dir_fd, CHECKPOINT_NAME, 0644, audit->checkpoint,
			    strlen(audit->checkpoint), true, err) < 0)
		return;
	if (audit->tail_note != NULL)
		IGNORE(file_replace_at(audit->dir_fd, TAIL_NAME, 0600, audit->tail_note,
				       strlen(audit->tail_note), true, err) < 0,
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
	char last[SHA256_HEX_LEN + 1];

	audit->phase = CLOSE_TAIL;
	hex_write(audit->last_leaf, SHA256_LEN, last);
	json_set_int(tail, "size", (int64_t)audit->size);
	json_set_int(tail, "bytes", (int64_t)audit->file.bytes);
	json_set_str(tail, "last", last);
	audit->signer.sign_tail(audit->signer.self, tail, on_tail, audit);
	json_free(tail);
}

static bool is_busy(const struct audit *audit)
{
	return audit->write_busy || audit->sign_busy || audit->publish_busy;
}

static void step_close(struct audit *audit)
{
	if (audit->phase != CLOSE_FLUSH || is_busy(audit))
		return;
	if (audit->stopped)
		close_handles(audit);
	else if (audit->filling.leaf_count > 0 || audit->unsigned_count > 0)
		return; /* the answers to waiters added more */
	else if (!audit->tail_is_stale)
		close_handles(audit); /* nothing was written: what lies there still fits */
	else
		ask_for_tail(audit);
}

void audit_step(struct audit *audit)
{
	if (!audit->stopped) {
		start_write(audit);
		start_sign(audit);
		start_publish(audit);
	}
	answer_waiters(audit);
	step_close(audit);
}
