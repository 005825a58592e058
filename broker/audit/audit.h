/*
 * The audit log as the broker uses it. Read this first; record.h of include/writ names the fields.
 *
 *   append -> line formatted, chained and hashed at once, in memory (seq is final)
 *   flush  -> one write and one fdatasync for all lines waiting (group commit), in the thread pool
 *   head   -> the leaf hashes go to the signer, which extends its own tree and signs the new head
 *   done   -> callbacks of everything at or below that size run: only now may replies leave
 *   later  -> tiles and checkpoint are published; a segment that is long or old enough is sealed
 *
 * Any write, sync or signing failure stops the log for good: every waiting and later callback gets
 * the error, and the broker denies from then on. A full disk does not stop it: nothing is taken
 * then but records that end things (audit_append_ending), until there is room again.
 */
#ifndef BROKER_AUDIT_AUDIT_H
#define BROKER_AUDIT_AUDIT_H

#include <stdint.h>
#include <uv.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"

struct audit;

/* The key epoch the signer is in (broker/signer/epoch.h), and the one that follows. */
struct audit_epoch {
	uint64_t number;
	char *vkey;
	char *sealed; /* its seed, for state/audit/epoch; only the signer can read it */
	char *next_vkey;
	char *next_sealed;
};
struct openings;

void audit_epoch_copy(struct audit_epoch *to, const struct audit_epoch *from);
void audit_epoch_clear(struct audit_epoch *epoch);

/* How the writer reaches the signer; broker/signer_client.c implements it over the channel. */
struct audit_signer {
	void *self;
	/* Extends the signer's tree by count leaves and signs; done once, later, with the
	 * checkpoint note (C2SP signed-note text), or err. publish: with the line of the epoch's
	 * key; then count may be 0, which signs the same head again. */
	void (*sign_head)(void *self, const uint8_t (*leaves)[SHA256_LEN], size_t count,
			  bool publish,
			  void (*done)(void *data, const char *note, const struct err *err),
			  void *data);
	void (*sign_tail)(void *self, const struct json *tail,
			  void (*done)(void *data, const char *note, const struct err *err),
			  void *data);
	/* The seed of the epoch in force is forgotten, number begins. epoch is lent. */
	void (*roll_epoch)(void *self, uint64_t number,
			   void (*done)(void *data, const struct audit_epoch *epoch,
					const struct err *err),
			   void *data);
};

struct audit_limits {		 /* 0: the default of each */
	uint64_t segment_bytes;	 /* a segment is closed from here on: 64 MiB */
	uint64_t publish_ms;	 /* how long the newest head may be unpublished: 100 */
	int64_t segment_seconds; /* or so long after its first record: a day */
};

struct audit_options {
	const char *dir;    /* state/audit, made if absent, 0700 */
	const char *origin; /* name of the log, e.g. "writ.local/sales/9f2c..." */
	const char *vkey;   /* the signer's verifier key for heads */
	struct audit_signer signer;
	const struct audit_epoch *epoch; /* the signer's; copied */
	struct audit_limits limits;
};

/* What opening found, for service.start and for people. */
struct audit_opened {
	uint64_t size;		  /* records on disk */
	bool created;		  /* a new log: record 0 (log.open) was queued */
	bool from_tail;		  /* a signed tail state was used instead of rescanning */
	bool migrated;		  /* a log of one file became the first segment */
	uint64_t recovered_bytes; /* torn tail cut away (copied aside first) */
	const char *checkpoint;	  /* last published head, NULL when none; owned by the audit */
};

/* Blocking, before the loop runs. Fails with ERR_INVALID (exit 65) when the log contradicts its
 * head (nothing was changed then), ERR_UNAVAILABLE (exit 75) when another process holds the lock.
 */
MUST_CHECK int audit_open(uv_loop_t *loop, const struct audit_options *options,
			  struct audit **ret_audit, struct audit_opened *ret_opened,
			  struct err *err);
/*
 * The head a signer resumes from that signed last at that size: its peaks, largest first; returns
 * their number (at most AUDIT_PEAKS_MAX). Records behind it are signed (again) by the next
 * sign_head(), which comes from the loop: send head.resume before the loop runs (one channel keeps
 * the order). What was asked of the signer before and is not answered yet counts for nothing from
 * now on: let it fail, and it is asked anew. A last that is neither of the published nor of a later head gives the newest one,
 * which that signer refuses. epoch: the signer's; copied.
 */
#define AUDIT_PEAKS_MAX 64
size_t audit_frontier(struct audit *audit, uint64_t last, const struct audit_epoch *epoch,
		      uint64_t *ret_size, uint8_t (*ret_peaks)[SHA256_LEN]);

/*
 * Queues one record. fields holds every member but _prev, _seq, ts, v and cm, in any order; secrets
 * (NULL or an object name -> value) are committed with fresh salts. Both are taken. If
 * ret_disclosures is not NULL it receives an array of disclosure strings, the caller's to free.
 * Returns the record's seq. UINT64_MAX, and nothing queued, after the log has stopped, and for
 * fields that make no record (over 65,535 bytes, a key or value of a wrong form): such a record
 * does not stop the log, but audit_when_durable(UINT64_MAX) answers with the reason.
 */
uint64_t audit_append(struct audit *audit, struct json *fields, struct json *secrets,
		      struct json **ret_disclosures);
/* The same for a record that ends something (a revocation, a stop): taken on a full disk too. */
uint64_t audit_append_ending(struct audit *audit, struct json *fields, struct json *secrets);

/* done runs once, later, from the loop: err is NULL when all records up to seq are durable and
 * covered by a signed head. */
void audit_when_durable(struct audit *audit, uint64_t seq,
			void (*done)(void *data, const struct err *err), void *data);

/* The proof file (proof.h) of a record below the newest head. Inside a done callback its tiles are
 * in memory; for older records some are read from the disk. */
MUST_CHECK int audit_proof(const struct audit *audit, uint64_t seq, struct buf *out,
			   struct err *err);

/* Work with the files between two batches, in the thread pool; done runs once, later. */
struct audit_files {
	int dir_fd;
	int seg_fd;
	struct openings *openings;
	uint64_t size; /* records that are durable */
};
typedef int audit_work(const struct audit_files *files, void *data, struct err *err);
void audit_run(struct audit *audit, audit_work *work,
	       void (*done)(void *data, const struct err *err), void *data);

const char *audit_checkpoint(const struct audit *audit); /* newest head, NULL when none */
uint64_t audit_size(const struct audit *audit);
bool audit_stopped(const struct audit *audit, struct err *ret_why);

/* Flushes, asks for the signed tail state, writes it, closes; done runs last. */
void audit_close(struct audit *audit, void (*done)(void *data, const struct err *err), void *data);

#endif
