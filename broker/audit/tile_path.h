/*
 * What others wrote in the form of C2SP tlog-tiles v0.1.0: paths of tiles, and entry bundles, which
 * repeat a length of 16 bits (big-endian) and an entry. Pure. layout.h writes the paths, tiles.h
 * has the hashes.
 */
#ifndef BROKER_AUDIT_TILE_PATH_H
#define BROKER_AUDIT_TILE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "broker/audit/layout.h"

struct tile_name {
	bool entries; /* a bundle; level is 0 then */
	unsigned int level;
	uint64_t index;
	unsigned int width; /* 256 when full */
};

/* "tile/0/x001/067.p/3". ERR_INVALID for any other form, also for one written in two ways. */
MUST_CHECK int tile_path_parse(const char *path, struct tile_name *ret_name, struct err *err);
/* The path of a bundle: tile_path() with "entries" for a level. */
void bundle_path(uint64_t index, unsigned int width, char out[AUDIT_NAME_MAX]);

struct bundle_reader {
	const uint8_t *at;
	size_t left;
};
/* 1: an entry, in the bundle's bytes; 0: the end; -1: it is cut. */
MUST_CHECK int bundle_next(struct bundle_reader *reader, const char **ret_entry, size_t *ret_len,
			   struct err *err);
/* len: at most 65,535, as every record is. */
void bundle_add(const char *entry, size_t len, struct buf *out);

#endif
