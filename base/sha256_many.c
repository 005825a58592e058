/*
 * Lanes, each with a message of its own, padded in a buffer; a lane that is through takes the next
 * message. Sixteen lanes go forward block by block (AVX-512), two by as many blocks as the shorter
 * one has left (SHA extensions). Nothing here can fail.
 */
#include "base/sha256_many.h"

#include <endian.h>
#include <string.h>

#include "base/sha256.h"
#include "base/sha256_avx512.h"
#include "base/sha256_ni.h"

#define LANE_BLOCKS 64
#define LANE_BYTES (LANE_BLOCKS * SHA256_BLOCK_LEN)
#define LANE_MESSAGE_MAX (LANE_BYTES - 1 - 9) /* prefix; padding and length take 9 at least */

/* Under so many busy lanes the other way is faster. */
#define LANES_MIN 6

struct lane {
	const uint8_t *at;
	size_t blocks; /* left of this message; 0: the lane is empty */
	uint8_t *out;
	uint8_t message[LANE_BYTES];
};

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

struct queue {
	uint8_t prefix;
	const struct sha256_job *next;
	const struct sha256_job *end;
};

/* Set once by sha256_many_choose(): asking the processor takes longer than a hash where a
 * hypervisor answers for it. */
static sha256_blocks *one;
static sha256_pair_blocks *pair;
static sha256_lanes_block *wide_block;

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

/* The next message of the queue that fits a lane; longer ones are hashed on the way. False when
 * there is none. */
static bool lane_fill(struct lane *lane, struct queue *queue)
{
	while (queue->next < queue->end) {
		const struct sha256_job *job = queue->next++;

		if (job->len > LANE_MESSAGE_MAX) {
			hash_alone(queue->prefix, job);
			continue;
		}
		lane->message[0] = queue->prefix;
		memcpy(lane->message + 1, job->bytes, job->len);
		lane->out = job->out;
		lane_pad(lane, job->len + 1);
		return true;
	}
	return false;
}

static void write_hash(const uint32_t words[8], uint8_t *out)
{
	for (size_t i = 0; i < 8; i++) {
		uint32_t word = htobe32(words[i]);

		memcpy(out + 4 * i, &word, 4);
	}
}

struct single { /* a lane of the second way */
	struct lane *lane;
	uint32_t words[8];
};

static void single_fill(struct single *single, struct queue *queue)
{
	if (lane_fill(single->lane, queue))
		memcpy(single->words, initial, sizeof(initial));
}

static void single_forward(struct single *single, size_t blocks, struct queue *queue)
{
	single->lane->at += blocks * SHA256_BLOCK_LEN;
	single->lane->blocks -= blocks;
	if (single->lane->blocks > 0)
		return;
	write_hash(single->words, single->lane->out);
	single_fill(single, queue);
}

static void single_finish(struct single *single)
{
	one(single->words, single->lane->at, single->lane->blocks);
	write_hash(single->words, single->lane->out);
}

static void hash_in_pairs(struct queue *queue)
{
	struct lane lanes[2];
	struct single a = {.lane = &lanes[0]}, b = {.lane = &lanes[1]};

	lanes[0].blocks = lanes[1].blocks = 0;
	single_fill(&a, queue);
	single_fill(&b, queue);
	while (lanes[0].blocks > 0 && lanes[1].blocks > 0) {
		size_t blocks =
			lanes[0].blocks < lanes[1].blocks ? lanes[0].blocks : lanes[1].blocks;

		pair(a.words, lanes[0].at, b.words, lanes[1].at, blocks);
		single_forward(&a, blocks, queue);
		single_forward(&b, blocks, queue);
	}
	if (lanes[0].blocks > 0)
		single_finish(&a);
	if (lanes[1].blocks > 0)
		single_finish(&b);
}

struct wide {
	uint32_t words[8][SHA256_LANES];
	const uint8_t *at[SHA256_LANES];
	struct lane lanes[SHA256_LANES];
	size_t busy;
};

static void wide_get(const struct wide *wide, size_t lane, uint32_t words[8])
{
	for (size_t i = 0; i < 8; i++)
		words[i] = wide->words[i][lane];
}

static void wide_fill(struct wide *wide, size_t lane, struct queue *queue)
{
	wide->at[lane] = wide->lanes[lane].message; /* an idle lane works for nobody */
	if (!lane_fill(&wide->lanes[lane], queue))
		return;
	wide->busy++;
	for (size_t i = 0; i < 8; i++)
		wide->words[i][lane] = initial[i];
}

static void wide_forward(struct wide *wide, size_t lane, struct queue *queue)
{
	uint32_t words[8];

	if (wide->lanes[lane].blocks == 0)
		return;
	wide->at[lane] += SHA256_BLOCK_LEN;
	if (--wide->lanes[lane].blocks > 0)
		return;
	wide_get(wide, lane, words);
	write_hash(words, wide->lanes[lane].out);
	wide->busy--;
	wide_fill(wide, lane, queue);
}

static void wide_finish(struct wide *wide)
{
	for (size_t lane = 0; lane < SHA256_LANES; lane++) {
		struct single single = {.lane = &wide->lanes[lane]};

		if (single.lane->blocks == 0)
			continue;
		single.lane->at = wide->at[lane];
		wide_get(wide, lane, single.words);
		single_finish(&single);
	}
}

static void hash_in_sixteens(struct queue *queue)
{
	struct wide wide;

	wide.busy = 0;
	for (size_t lane = 0; lane < SHA256_LANES; lane++) {
		wide.lanes[lane].blocks = 0;
		memset(wide.lanes[lane].message, 0, SHA256_BLOCK_LEN);
		for (size_t i = 0; i < 8; i++)
			wide.words[i][lane] = 0;
		wide_fill(&wide, lane, queue);
	}
	while (wide.busy >= LANES_MIN) {
		wide_block(wide.words, wide.at);
		for (size_t lane = 0; lane < SHA256_LANES; lane++)
			wide_forward(&wide, lane, queue);
	}
	wide_finish(&wide);
}

void sha256_many(uint8_t prefix, const struct sha256_job *jobs, size_t count)
{
	struct queue queue = {prefix, jobs, jobs + count};

	if (wide_block != NULL && count >= LANES_MIN)
		hash_in_sixteens(&queue);
	else if (pair != NULL)
		hash_in_pairs(&queue);
	else
		for (; queue.next < queue.end; queue.next++)
			hash_alone(prefix, queue.next);
}

/* RFC 6962's hash of one empty leaf, and the longest message of two blocks, against one by one. */
static bool is_right(void)
{
	static const uint8_t bytes[118];
	struct sha256_job jobs[2 * SHA256_LANES];
	uint8_t hashes[2 * SHA256_LANES][SHA256_LEN];
	uint8_t want[2][SHA256_LEN];

	for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
		jobs[i] = (struct sha256_job){bytes, i % 2 * sizeof(bytes), hashes[i]};
	for (size_t i = 0; i < 2; i++) {
		const struct sha256_job job = {bytes, i * sizeof(bytes), want[i]};

		hash_alone(0, &job);
	}
	sha256_many(0, jobs, ARRAY_LEN(jobs));
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
		if (memcmp(hashes[i], want[i % 2], SHA256_LEN) != 0)
			return false;
	return true;
}

bool sha256_many_choose(void)
{
	one = sha256_ni();
	pair = one == NULL ? NULL : sha256_ni_pair();
	wide_block = one == NULL ? NULL : sha256_avx512();
	return is_right();
}
