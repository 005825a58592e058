/*
 * The supervisor: starts every program of a workspace with exactly the descriptors it may have, and
 * starts it again when it dies. It parses nothing that a peer wrote, keeps no end of any channel it
 * made, and holds run/lock for as long as it lives.
 */
#ifndef CLI_SUPERVISE_H
#define CLI_SUPERVISE_H

#include <stdbool.h>

#include "base/err.h"

struct supervise_options {
	const char *workspace; /* absolute, no links */
	bool until_idle;       /* stop once the last session has closed */
	int ready_fd;	       /* written one byte when clients may connect, then closed; or -1 */
};

/* Takes run/lock without waiting: ERR_UNAVAILABLE if another service holds it. */
MUST_CHECK int supervise_lock(const char *workspace, int *ret_lock_fd, struct err *err);

/* Runs until the service stops; returns an exit code. lock_fd is held, not closed. */
int supervise(const struct supervise_options *options, int lock_fd);

#endif
