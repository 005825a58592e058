/*
 * Logs made by hand, for tests: any number of records in any segments, signed with fixed keys, so
 * that every run makes the same bytes. What a thief of a key could write can be written with it
 * too.
 */
#ifndef TESTS_LIB_FORGE_H
#define TESTS_LIB_FORGE_H

#include "base/sign.h"
#include "broker/audit/note.h"
#include "broker/audit/tiles.h"

#define FORGE_ORIGIN "writ.local/forge/0011223344556677"
#define FORGE_SEGMENTS_MAX 16
#define FORGE_WITNESS "witness.example/w1"

struct forge {
	struct sign_key *log_key, *log_key2, *witness_key, *epoch_keys[FORGE_SEGMENTS_MAX + 1];
	struct vkey log_vkey, log_vkey2, witness_vkey, epoch_vkeys[FORGE_SEGMENTS_MAX + 1];
	char **entries; /* owned; without line feeds */
	uint8_t (*leaves)[SHA256_LEN];
	size_t count;
	size_t rotate_at;		   /* 0: not at all */
	bool second_key;		   /* heads are signed by the second key alone */
	size_t firsts[FORGE_SEGMENTS_MAX]; /* first record of each segment */
	size_t segments;
};

struct forge *forge_new(void);
void forge_free(struct forge *forge);
/*
 * Writes count records into segments of so many each (0: one segment). From record salt_from on the
 * records say something else (salt), as if history had been another.
 */
void forge_records(struct forge *forge, size_t count, size_t per_segment, size_t salt_from,
		   const char *salt);
/* The same in one segment, with a key.rotate to the second key (log_key2) at record rotate_at. */
void forge_rotate(struct forge *forge, size_t count, size_t rotate_at);
/* A signed head of the first size records; with_epoch: also by the epoch of the segment that
 * record size - 1 is in; witnessed: with a cosignature. The caller frees. */
char *forge_head(const struct forge *forge, size_t size, bool with_epoch, bool witnessed);
/* The bytes of a segment's file. */
void forge_segment(const struct forge *forge, size_t segment, struct buf *out);
/* Segments, seals, checkpoint, SHA256SUMS, tiles below dir, which must exist. */
void forge_write(const struct forge *forge, const char *dir);
void forge_write_file(const char *dir, const char *name, const void *bytes, size_t len);

#endif
