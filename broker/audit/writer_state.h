/*
 * The inside of the writer, for its files and the fault tests.
 *
 *   audit_append -> filling =swap=> writing (pool thread: write, fdatasync, openings)
 *                -> unsigned leaves -> signing (the signer's answer) -> checkpoint
 *                -> waiters answered -> now and then: tiles and checkpoint published (pool thread)
 *
 * Each arrow is one stage with at most one operation in flight, so a batch is written while the one
 * before is signed. Every completion only notes its result and wakes the step function, which runs
 * behind the poll of the same turn of the loop and starts whatever can be started.
 *
 * A roll: the last record of a batch is segment.close, the first of the next segment.open, in a new
 * file. Signing stops at the border; there the head is published as the seal, the sealed seed of
 * the next epoch is stored, and only then does the signer forget the old one and signing goes on.
 *
 * writer.c opens, appends and answers; writer_write.c, writer_sign.c, writer_publish.c and
 * writer_close.c are the stages; writer_full.c is what a full disk does.
 */
#ifndef BROKER_AUDIT_WRITER_STATE_H
#define BROKER_AUDIT_WRITER_STATE_H

#include "broker/audit/audit.h"
#include "broker/audit/batch.h"
#include "broker/audit/recover.h"

#define WRITE_MS_MAX 10000 /* a disk that takes longer than this for one batch hangs */
#define FULL_RETRY_MS 1000
#define BALLAST_BYTES (256u << 10) /* for the records that end things: some hundreds */
#define CLOCK_STEP_US 1000000	   /* smaller ones are slewing and noise */

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
	CLOSE_FINISH,  /* the tail is being synced */
	CLOSE_HANDLES, /* the last callbacks of the loop */
};

struct full_tile { /* not on the disk yet */
	unsigned int level;
	uint64_t index;
	struct tile tile;
};

/* Something else to do with the files, between two batches. */
struct audit_job {
	struct audit_job *next;
	audit_work *work;
	audit_done *done;
	void *data;
	struct err err;
};

struct publish {
	char *note;
	struct tiles tiles; /* at its size */
	struct full_tile *full;
	size_t full_count;
	bool is_seal;
	struct segment segment; /* the sealed one */
	char *epoch;		/* to store: the next one's seed; NULL when it lies there already */
	struct vkey epoch_key;	/* of the note's second line */
	bool has_epoch_key;
	struct err err;
	bool full_disk;
};

struct audit {
	uv_loop_t *loop;
	char *origin;
	char *dir;
	struct vkey vkey; /* what heads must be signed with */
	struct audit_signer signer;
	struct audit_limits limits;
	int dir_fd;
	int seg_fd;
	int lock_fd;
	uv_check_t check;
	uv_idle_t idle;
	uv_timer_t publish_timer;
	uv_timer_t full_timer;
	uv_timer_t deadline;

	/* Of the loop. */
	uint64_t size; /* next _seq */
	uint8_t last_leaf[SHA256_LEN];
	struct batch filling;
	struct segment segment; /* that filling goes to */
	int64_t opened_mono_us; /* when it began, on the monotonic clock */
	struct waiter *waiters;
	size_t waiter_count, waiter_room;
	struct err refused; /* why the last append queued nothing */
	bool stopped;
	struct err stop_why;
	bool has_clock;
	int64_t clock_offset_us; /* wall clock less monotonic, at the last record */

	/* A full disk: nothing new is taken but what ends things. */
	bool full;
	struct err full_why;
	int64_t full_refused; /* records that were not taken meanwhile */
	bool held;	      /* writing waits for space */

	/* Write. While in flight, file, openings and writing belong to the pool thread. */
	bool write_busy;
	bool wrote_last; /* the last operation was a batch: a job is next */
	uv_work_t write_work;
	struct batch writing;
	struct log_file file;
	struct openings *openings;
	bool tail_is_stale; /* the tail file no longer fits: a batch was written */
	bool was_full;	    /* space was short */
	struct err write_err;
	struct audit_job *jobs; /* in order */
	struct audit_job *job;	/* the running one */

	/* Sign. */
	bool sign_busy;
	bool sign_void, roll_void; /* the answer in flight is of a signer that went */
	bool sign_publishes; /* the one in flight may be published */
	uint8_t (*unsigned_leaves)[SHA256_LEN];
	size_t unsigned_count, unsigned_room;
	uint8_t (*signing_leaves)[SHA256_LEN];
	size_t signing_count;
	size_t signed_again; /* leaves in front of unsigned that tiles and tree had before */
	struct tree signed_tree;
	struct tiles tiles; /* at its size */
	struct tile last_full[TILE_LEVELS_MAX];
	uint64_t last_full_index[TILE_LEVELS_MAX]; /* UINT64_MAX: none yet */
	struct full_tile *full_tiles;		   /* for the next publishing */
	size_t full_tile_count, full_tile_room;
	char *checkpoint;
	bool head_publishes; /* it carries what a published head must */
	bool sealing;	     /* a closed segment has no seal yet */
	struct segment closed;
	struct audit_epoch epoch; /* owned; the signer's */
	bool roll_busy;

	/* Publish. */
	bool publish_busy;
	bool publish_due;
	uv_work_t publish_work;
	struct publish *publish;
	struct tree published;		    /* what lies in the checkpoint file */
	uint8_t (*kept_leaves)[SHA256_LEN]; /* behind it, signed: for a signer that starts anew */
	size_t kept_count, kept_room;

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

/* writer.c */
uint64_t writer_append(struct audit *audit, struct json *fields); /* control records */
void writer_open_segment(struct audit *audit);
void writer_answer(struct audit *audit);

/* The stages; each starts what it can. */
void writer_start_write(struct audit *audit);
void writer_write_again(struct audit *audit);
void writer_start_sign(struct audit *audit);
void writer_start_publish(struct audit *audit);
void writer_step_close(struct audit *audit);

/* writer_sign.c: the number of the epoch whose key signs now. */
uint64_t writer_epoch_wanted(const struct audit *audit);

/* writer_publish.c */
void writer_want_publish(struct audit *audit); /* soon */
void publish_free(struct publish *publish);

/* writer_full.c */
bool writer_is_short_of_space(int dir_fd);
bool writer_free_ballast(int dir_fd); /* false when there was none */
MUST_CHECK int writer_make_ballast(int dir_fd, struct err *err);
void writer_enter_full(struct audit *audit, const struct err *why);
void writer_on_full_timer(uv_timer_t *timer);

#endif
