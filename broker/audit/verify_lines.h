/*
 * The part of verifying that needs no order: whole lines to their form, head and leaf hash. Pure
 * and safe on several threads at once, each with a block of its own; audit_verify_block() then
 * takes the blocks one after the other.
 */
#ifndef BROKER_AUDIT_VERIFY_LINES_H
#define BROKER_AUDIT_VERIFY_LINES_H

#include "base/sha256_many.h"
#include "broker/audit/record.h"

struct verify_line {
	const char *entry; /* in the block's bytes */
	size_t len;
	struct record_head head;
	uint8_t leaf[SHA256_LEN];
};

struct verify_block {
	const char *bytes; /* borrowed; ends in a line feed */
	size_t len;
	struct verify_line *lines; /* owned, with jobs; kept from one block to the next */
	struct sha256_job *jobs;
	size_t count; /* lines that are in form */
	size_t room;
	bool bad;	/* the line behind them is not */
	struct err why; /* if bad */
	size_t rest;	/* lines behind the bad one, unread */
};

/*
 * Fills lines from bytes. lax: only what chain and tree need, the first bytes with _prev and _seq;
 * the rest of a line is then vouched for by the root of a signed head alone.
 */
void verify_block_read(struct verify_block *block, bool lax);
void verify_block_clear(struct verify_block *block);

#endif
