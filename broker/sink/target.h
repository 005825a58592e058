/*
 * Where a sink sends records. file: the lines as they are, appended. syslog: RFC 5424 messages to a
 * local socket, one datagram a record, which keep number, leaf and predecessor:
 *
 *   <PRI>1 TIME HOST writ - EVENT [audit@32473 seq=".." leaf=".." prev=".."] LINE
 */
#ifndef BROKER_SINK_TARGET_H
#define BROKER_SINK_TARGET_H

#include "base/buf.h"
#include "broker/sink/follow.h"

enum target_kind { TARGET_FILE, TARGET_SYSLOG };

struct target {
	enum target_kind kind;
	const char *path; /* borrowed */
	int fd;		  /* -1: not open */
	char host[65];	  /* of syslog's messages; set when it is opened */
};

MUST_CHECK int target_open(struct target *target, struct err *err);
void target_close(struct target *target);
/* ERR_LIMIT: the receiver takes no message of that length, ever; ERR_UNAVAILABLE, ERR_IO: not now.
 * A file that a failed write left a part in gets a line feed before the next line. */
MUST_CHECK int target_send(struct target *target, const struct followed *record, struct err *err);
/* What was sent so far outlives a power cut (a file). */
MUST_CHECK int target_sync(struct target *target, struct err *err);

/* Pure: the message of a record. */
void syslog_message(const struct followed *record, const char *host, struct buf *out);

#endif
