/* What is left of the rights of writ-sqlite: of the frame, and less in each of its workers. */
#ifndef BROKER_CONNECTORS_SQLITE_CONFINE_H
#define BROKER_CONNECTORS_SQLITE_CONFINE_H

#include "base/sandbox.h"

#define CONNECTOR_BROKER_FD 3

/* The frame: descriptors 0 to 3, the folder of the database (to write only when the database is in
 * WAL mode), and the system calls of a loop that forks workers. path is absolute. */
MUST_CHECK int sqlite_confine_frame(const char *path, bool reduced_ok, struct err *err);

/* A worker, within the frame's rights: no process, no socket, no signal. */
MUST_CHECK int sqlite_confine_worker(struct err *err);

#endif
