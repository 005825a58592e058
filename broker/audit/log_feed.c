/*
 * The pipeline. All threads are alike: each takes whatever can be done next, best first.
 *
 *   read    whole lines into a free slot, one thread at a time, in the order of the file
 *   check   form and leaf hashes of one slot, any number of threads
 *   take    a checked slot into the verifier, one thread at a time, in the order of the file
 *
 * A line that no record can be, or the unfinished last one, ends the pipeline: the rest of the file
 * is fed byte by byte. What can fail: reading.
 */
#include "broker/audit/log_feed.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writ/limits.h"

#define SLOT_BYTES (192u << 10) /* a slot stays in the caches from reading to taking */
#define CARRY_MAX (WRIT_RECORD_BYTES_MAX + 1)
#define PROGRESS_BYTES (16u << 20)

enum slot_state { SLOT_FREE, SLOT_READ, SLOT_CHECKING, SLOT_CHECKED };

struct slot {
	enum slot_state state;
	bool odd;	 /* not whole lines: fed as it is */
	uint64_t number; /* its place in the file */
	char *bytes;	 /* owned */
	struct verify_block block;
};

struct pipe {
	const struct log_feed *feed;
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	size_t slot_count, slot_bytes;
	bool reading, taking;
	uint64_t next_read, next_take; /* numbers of slots */
	bool end;		       /* nothing more will be read here */
	bool rest_is_odd;	       /* a line longer than any record was met */
	bool failed;
	struct err err;

	/* Of the thread that reads. */
	struct sha256 hash;
	uint64_t bytes;
	char *carry; /* the start of a line; owned */
	size_t carry_len;
	/* Of the thread that takes. */
	uint64_t taken, next_progress;
};

static ssize_t read_some(struct pipe *pipe, char *out, size_t max)
{
	for (;;) {
		ssize_t got = read(pipe->fd, out, max);

		if (got >= 0 || errno != EINTR)
			return got;
	}
}

static void keep(struct pipe *pipe, const char *bytes, size_t len)
{
	memcpy(pipe->carry, bytes, len);
	pipe->carry_len = len;
}

/* Fills the slot up to its last line feed. False at the end, and where the pipeline must end. */
static bool slot_read(struct pipe *pipe, struct slot *slot, struct err *err)
{
	size_t len = pipe->carry_len;
	const char *last;
	ssize_t got;

	memcpy(slot->bytes, pipe->carry, len);
	pipe->carry_len = 0;
	slot->odd = false;
	do {
		got = read_some(pipe, slot->bytes + len, pipe->slot_bytes - len);
		if (got < 0) {
			err_errno(err, "read");
			return false;
		}
		if (pipe->feed->hash_file)
			sha256_add(&pipe->hash, slot->bytes + len, (size_t)got);
		len += (size_t)got;
		pipe->bytes += (uint64_t)got;
	} while (got > 0 && len < pipe->slot_bytes);
	last = memrchr(slot->bytes, '\n', len);
	slot->block.bytes = slot->bytes;
	slot->block.len = last == NULL ? 0 : (size_t)(last + 1 - slot->bytes);
	if (len - slot->block.len > CARRY_MAX) {
		slot->odd = true;
		slot->block.len = len;
		return true;
	}
	keep(pipe, slot->bytes + slot->block.len, len - slot->block.len);
	return slot->block.len > 0;
}

static void do_read(struct pipe *pipe, struct slot *slot)
{
	struct err err = {.kind = ERR_NONE};
	bool more;

	pipe->reading = true;
	pthread_mutex_unlock(&pipe->lock);
	more = slot_read(pipe, slot, &err);
	pthread_mutex_lock(&pipe->lock);
	pipe->reading = false;
	if (err.kind != ERR_NONE) {
		pipe->failed = true;
		pipe->err = err;
	}
	pipe->rest_is_odd = more && slot->odd;
	if (!more || slot->odd)
		pipe->end = true;
	if (more) {
		slot->number = pipe->next_read++;
		slot->state = slot->odd ? SLOT_CHECKED : SLOT_READ;
	}
}

static void do_check(struct pipe *pipe, struct slot *slot)
{
	slot->state = SLOT_CHECKING;
	pthread_mutex_unlock(&pipe->lock);
	verify_block_read(&slot->block, pipe->feed->lax);
	pthread_mutex_lock(&pipe->lock);
	slot->state = SLOT_CHECKED;
}

static void do_take(struct pipe *pipe, struct slot *slot)
{
	pipe->taking = true;
	pthread_mutex_unlock(&pipe->lock);
	if (slot->odd)
		audit_verify_feed(pipe->feed->verify, slot->block.bytes, slot->block.len);
	else
		audit_verify_block(pipe->feed->verify, &slot->block);
	pipe->taken += slot->block.len;
	if (pipe->feed->progress != NULL && pipe->taken >= pipe->next_progress) {
		pipe->feed->progress(pipe->feed->data, pipe->taken);
		pipe->next_progress = pipe->taken + PROGRESS_BYTES;
	}
	pthread_mutex_lock(&pipe->lock);
	pipe->taking = false;
	pipe->next_take++;
	slot->state = SLOT_FREE;
}

static struct slot *slot_find(struct pipe *pipe, enum slot_state state)
{
	struct slot *best = NULL;

	for (size_t i = 0; i < pipe->slot_count; i++) {
		struct slot *slot = &pipe->slots[i];

		if (slot->state == state && (best == NULL || slot->number < best->number))
			best = slot;
	}
	return best;
}

/* One step of whatever can be done; false when there is nothing for now. */
static bool step(struct pipe *pipe)
{
	struct slot *slot = slot_find(pipe, SLOT_CHECKED);

	if (slot != NULL && !pipe->taking && slot->number == pipe->next_take) {
		do_take(pipe, slot);
		return true;
	}
	slot = slot_find(pipe, SLOT_FREE);
	if (slot != NULL && !pipe->reading && !pipe->end) {
		do_read(pipe, slot);
		return true;
	}
	slot = slot_find(pipe, SLOT_READ);
	if (slot == NULL)
		return false;
	do_check(pipe, slot);
	return true;
}

static bool is_done(const struct pipe *pipe)
{
	return pipe->failed || (pipe->end && !pipe->reading && pipe->next_take == pipe->next_read);
}

static void *work(void *data)
{
	struct pipe *pipe = data;

	pthread_mutex_lock(&pipe->lock);
	while (!is_done(pipe)) {
		if (step(pipe))
			pthread_cond_broadcast(&pipe->changed);
		else
			pthread_cond_wait(&pipe->changed, &pipe->lock);
	}
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
	return NULL;
}

static unsigned int thread_count(const struct log_feed *feed)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	long count = feed->threads > 0 ? (long)feed->threads : processors;

	if (count < 1)
		return 1;
	return count > LOG_FEED_THREADS_MAX ? LOG_FEED_THREADS_MAX : (unsigned int)count;
}

/* Fewer threads than wished for are fine: this one does it all if it must. */
static void run(struct pipe *pipe, unsigned int threads)
{
	pthread_t others[LOG_FEED_THREADS_MAX];
	unsigned int started = 0;

	while (started + 1 < threads && pthread_create(&others[started], NULL, work, pipe) == 0)
		started++;
	work(pipe);
	while (started > 0)
		pthread_join(others[--started], NULL);
}

/* What is behind the last whole line, and all of what is no line of ours. */
static int feed_rest(struct pipe *pipe, struct err *err)
{
	char *bytes = pipe->slots[0].bytes;

	audit_verify_feed(pipe->feed->verify, pipe->carry, pipe->carry_len);
	while (pipe->rest_is_odd) {
		ssize_t got = read_some(pipe, bytes, pipe->slot_bytes);

		if (got < 0)
			return err_errno(err, "read");
		if (got == 0)
			break;
		if (pipe->feed->hash_file)
			sha256_add(&pipe->hash, bytes, (size_t)got);
		pipe->bytes += (uint64_t)got;
		audit_verify_feed(pipe->feed->verify, bytes, (size_t)got);
	}
	return 0;
}

/* A small file needs neither threads nor room. */
static unsigned int pipe_init(struct pipe *pipe, unsigned int threads)
{
	struct stat stat;
	bool small = fstat(pipe->fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
		     stat.st_size < (off_t)SLOT_BYTES;

	threads = small ? 1 : threads;
	pipe->slot_bytes = small ? (size_t)stat.st_size + 1 + 2 * CARRY_MAX : SLOT_BYTES;
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_cond_init(&pipe->changed, NULL);
	pipe->slot_count = small ? 1 : 2 * threads + 2;
	pipe->slots = mem_array(pipe->slot_count, sizeof(*pipe->slots));
	for (size_t i = 0; i < pipe->slot_count; i++)
		pipe->slots[i].bytes = mem_grow(NULL, pipe->slot_bytes);
	pipe->carry = mem_grow(NULL, CARRY_MAX);
	pipe->next_progress = PROGRESS_BYTES;
	sha256_init(&pipe->hash);
	return threads;
}

static void pipe_clear(struct pipe *pipe)
{
	for (size_t i = 0; i < pipe->slot_count; i++) {
		mem_free(pipe->slots[i].bytes);
		verify_block_clear(&pipe->slots[i].block);
	}
	mem_free(pipe->slots);
	mem_free(pipe->carry);
	pthread_cond_destroy(&pipe->changed);
	pthread_mutex_destroy(&pipe->lock);
}

int log_feed_file(const struct log_feed *feed, int fd, struct log_feed_end *ret_end,
		  struct err *err)
{
	struct pipe pipe = {.feed = feed, .fd = fd};
	int result = 0;

	run(&pipe, pipe_init(&pipe, thread_count(feed)));
	if (pipe.failed) {
		if (err != NULL)
			*err = pipe.err;
		result = -1;
	} else {
		result = feed_rest(&pipe, err);
	}
	if (result == 0) {
		ret_end->bytes = pipe.bytes;
		sha256_end(&pipe.hash, ret_end->sha256);
	}
	pipe_clear(&pipe);
	return result;
}
