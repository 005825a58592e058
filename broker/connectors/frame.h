/*
 * The frame of a connector: read this first. Any kind of source shares it.
 *
 *   broker --(channel on descriptor 3)--> frame.c: methods, statements
 *                                         pool.c: queue, turns, deadlines
 *                                         worker.c: processes
 *   worker: source->work(), e.g. sqlite_worker.c
 *
 * The methods are those of docs/protocol.md, "connector". A statement is kept here as text with its
 * view and grant; any worker of that grant can run it, and compiles it anew if it has to.
 *
 * To add a kind of source: write its struct source and a main like sqlite_main.c.
 */
#ifndef BROKER_CONNECTORS_FRAME_H
#define BROKER_CONNECTORS_FRAME_H

#include <uv.h>

#include "broker/connectors/pool.h"

#define FRAME_STATEMENTS_MAX 256 /* prepared and not yet executed; then the oldest goes */
#define FRAME_ID_MAX 256	 /* of a call or grant */

struct frame;

/* Takes fd. The loop ends by itself once the broker has gone and the workers are dead. */
struct frame *frame_open(uv_loop_t *loop, int fd, const struct source *source);
/* After uv_run() returned. */
void frame_free(struct frame *frame);

#endif
