/*
 * Names of the files of a log (docs/audit-format.md, "Files"), and of their parts. Pure: writer,
 * signer, sinks and verifiers make and read names with nothing else.
 *
 * Tile paths follow C2SP tlog-tiles: "tile/<L>/<N>" with N in groups of three digits, all but the
 * last led by "x" (1234067 is x001/x234/067), and ".p/<W>" behind a partial one of W hashes.
 */
#ifndef BROKER_AUDIT_LAYOUT_H
#define BROKER_AUDIT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define AUDIT_LOCK "LOCK"
#define AUDIT_CHECKPOINT "checkpoint" /* newest published head */
#define AUDIT_TAIL "tail"	      /* signed state of the last clean stop */
#define AUDIT_EPOCH "epoch"	      /* the seed of the epoch in force, encrypted for the signer */
#define AUDIT_SEGMENTS "seg"	      /* folder */
#define AUDIT_SUMS "SHA256SUMS"	      /* sealed segments that are there, for sha256sum -c */
#define AUDIT_OPENINGS "openings.db"  /* disclosures, holds */
#define AUDIT_ANCHORS "anchors.log"   /* which head went where, and what came back */
#define AUDIT_BALLAST "ballast"	      /* space that is freed for the last records of a full disk */
#define AUDIT_EXPORT "export.json"    /* in an export: which records it has */
#define AUDIT_TILES "tile"	      /* folder */
#define AUDIT_ONE_FILE "log.jsonl"    /* layout 1: the whole log; becomes the first segment */

#define AUDIT_SEGMENT_DIGITS 20
#define AUDIT_RECORDS ".jsonl"	 /* the lines of a segment */
#define AUDIT_SEAL ".checkpoint" /* the head at its end: size = first of the next */
#define AUDIT_LAST ".close"	 /* of a dropped segment: its last line, segment.close */
#define AUDIT_NAME_MAX 64	 /* any path below, relative to the log's folder, with its NUL */

/* "seg/<first><suffix>"; the name alone is behind AUDIT_SEGMENTS "/". */
void segment_path(uint64_t first, const char *suffix, char out[AUDIT_NAME_MAX]);
const char *segment_name(const char *path); /* the part behind the folder */
/* Is name "<20 digits><suffix>"? Then its number. */
bool segment_read(const char *name, const char *suffix, uint64_t *ret_first);

#define TILE_HEIGHT 8
#define TILE_WIDTH 256u
#define TILE_LEVELS_MAX 8 /* 256^8 records are more than any _seq */

/* width 1 to 255 of a partial tile, 256 of a full one. */
void tile_path(unsigned int level, uint64_t index, unsigned int width, char out[AUDIT_NAME_MAX]);

/* The name of an epoch's key: origin "/e" number. ERR_LIMIT when it is too long for a key name. */
#define EPOCH_NAME_MAX 255u
MUST_CHECK int epoch_key_name(const char *origin, uint64_t epoch, char out[EPOCH_NAME_MAX + 1],
			      struct err *err);

#endif
