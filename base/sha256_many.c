/*
 * Two lanes, each with a message of its own, padded in a buffer. Both go forward by as many blocks
 * as the shorter has left; a lane that is through takes the next message. Nothing here can fail.
 */
#include "base/sha256_many.h"

#include <string.h>

#include "base/sha256.h"
#include "base/sha256_ni.h"

#define LANE_BLOCKS 64
#define LANE_BYTES (LANE_BLOCKS * SHA256_BLOCK_LEN)
#define LANE_MESSAGE_MAX (LANE_BYTES - 1 - 9) /* prefix; padding and length take 9 at least */

struct lane {
	uint32_t words[8];
	const uint8_t *at;
	size_t blocks; /* left of this message; 0: the lane is empty */
	uint8_t *out;
	uint8_t message[LANE_BYTES];
};

struct queue {
	uint8_t prefix;
	const struct sha256_job *next;
	const struct sha256_job *end;
};

static void hash_alone(uint8_t prefix, const struct sha256_job *job)
{
	struct sha256 state;

	sha256_init(&state);
	sha256_add(&state, &prefix, 1);
	sha256_add(&state, job->bytes, job->len);
	sha256_end(&state, job->out);
}

static void lane_pad(struct lane *lane, size_t len)
{
	uint64_t bits = (uint64_t)len * 8;
	size_t end = (len + 9 + SHA256_BLOCK_LEN - 1) / SHA256_BLOCK_LEN * SHA256_BLOCK_LEN;

	lane->message[len] = 0x80;
	memset(lane->message + len + 1, 0, end - len - 9);
	for (size_t i = 0; i < 8; i++)
		lane->message[end - 8 + i] = (uint8_t)(bits >> (56 - 8 * i));
	lane->at = lane->message;
	lane->blocks = end / SHA256_BLOCK_LEN;
}

/* The next message of the queue that fits a lane; longer ones are hashed on the way. */
static void lane_fill(struct lane *lane, struct queue *queue)
{
	static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	while (queue->next < queue->end) {
		const struct sha256_job *job = queue->next++;

		if (job->len > LANE_MESSAGE_MAX) {
			hash_alone(queue->prefix, job);
			continue;
		}
		memcpy(lane->words, initial, sizeof(initial));
		lane->message[0] = queue->prefix;
		memcpy(lane->message + 1, job->bytes, job->len);
		lane->out = job->out;
		lane_pad(lane, job->len + 1);
		return;
	}
}

static void lane_end(struct lane *lane)
{
	for (size_t i = 0; i < SHA256_LEN; i++)
		lane->out[i] = (uint8_t)(lane->words[i / 4] >> (24 - 8 * (i % 4)));
}

static void lane_forward(struct lane *lane, size_t blocks, struct queue *queue)
{
	lane->at += blocks * SHA256_BLOCK_LEN;
	lane->blocks -= blocks;
	if (lane->blocks > 0)
		return;
	lane_end(lane);
	lane_fill(lane, queue);
}

static void hash_in_pairs(struct queue *queue)
{
	sha256_pair_blocks *pair = sha256_ni_pair();
	sha256_blocks *single = sha256_ni();
	struct lane a, b;
	struct lane *last;

	a.blocks = b.blocks = 0;
	lane_fill(&a, queue);
	lane_fill(&b, queue);
	while (a.blocks > 0 && b.blocks > 0) {
		size_t blocks = a.blocks < b.blocks ? a.blocks : b.blocks;

		pair(a.words, a.at, b.words, b.at, blocks);
		lane_forward(&a, blocks, queue);
		lane_forward(&b, blocks, queue);
	}
	last = a.blocks > 0 ? &a : &b;
	if (last->blocks == 0)
		return;
	single(last->words, last->at, last->blocks);
	lane_end(last);
}

void sha256_many(uint8_t prefix, const struct sha256_job *jobs, size_t count)
{
	struct queue queue = {prefix, jobs, jobs + count};

	if (sha256_is_fast()) {
		hash_in_pairs(&queue);
		return;
	}
	for (; queue.next < queue.end; queue.next++)
		hash_alone(prefix, queue.next);
}
