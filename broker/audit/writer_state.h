/*
 * The inside of the writer, for writer.c, writer_steps.c and the fault tests.
 *
 *   audit_append -> filling =swap=> writing (pool thread: write, fdatasync, openings)
 *                -> unsigned leaves -> signing (the signer's answer) -> checkpoint
 *                -> waiters answered -> checkpoint published (pool thread)
 *
 * Each arrow is one stage with at most one operation in flight, so a batch is written while the one
 * before is signed. Every completion only notes its result and wakes the step function, which runs
 * behind the poll of the same turn of the loop and starts whatever can be started.
 */
#ifndef BROKER_AUDIT_WRITER_STATE_H
#define BROKER_AUDIT_WRITER_STATE_H

#include "broker/audit/audit.h"
#include "broker/audit/batch.h"
#include "broker/audit/recover.h"

typedef void audit_done(void *data, const struct err *err);

struct waiter {
	uint64_t seq;
	audit_done *done;
	void *data;
	struct err *why; /* owned; of a record that was never queued */
};

enum close_phase {
	CLOSE_NONE,
	CLOSE_FLUSH,   /* asked for; what is queued still goes its way */
	CLOSE_TAIL,    /* the signer is asked for the tail */
	CLOSE_FINISH,  /* checkpoint and tail are being synced */
	CLOSE_HANDLES, /* the last callbacks of the loop */
};

struct audit {
	uv_loop_t *loop;
	char *origin;
	struct vkey vkey; /* what heads must be signed with */
	struct audit_signer signer;
	int dir_fd;
	int lock_fd;
	uv_check_t check;
	uv_idle_t idle;

	/* Of the loop. */
	uint64_t size; /* next _seq */
	uint8_t last_leaf[SHA256_LEN];
	struct batch filling;
	struct waiter *waiters;
	size_t waiter_count, waiter_room;
	struct err refused; /* why the last append queued nothing */
	bool stopped;
	struct err stop_why;

	/* Write. While in flight, file, openings and written belong to the pool thread. */
	bool write_busy;
	uv_work_t write_work;
	struct batch writing;
	struct log_file file;
	struct openings *openings;
	bool tail_is_stale; /* the tail file no longer fits: a batch was written */
	struct err write_err;

	/* Sign. */
	bool sign_busy;
	uint8_t (*unsigned_leaves)[SHA256_LEN];
	size_t unsigned_count, unsigned_room;
	uint8_t (*signing_leaves)[SHA256_LEN];
	size_t signing_count;
	struct tree signed_tree;
	char *checkpoint;

	/* Publish. */
	bool publish_busy;
	bool publish_wanted;
	uv_work_t publish_work;
	char *publishing;
	struct err publish_err;

	/* Close. */
	enum close_phase phase;
	audit_done *on_closed;
	void *closed_data;
	char *tail_note;
	uv_work_t finish_work;
	struct err close_err;
	int open_handles;
};

void audit_wake(
	struct audit *audit); /* the step function runs in this turn of the loop or the next */
void audit_step(struct audit *audit);
void audit_stop(struct audit *audit, const struct err *why);
void audit_free(struct audit *audit);

#endif
