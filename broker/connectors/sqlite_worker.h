/* A worker of writ-sqlite: one grant, one connection. */
#ifndef BROKER_CONNECTORS_SQLITE_WORKER_H
#define BROKER_CONNECTORS_SQLITE_WORKER_H

struct run_page;

struct sqlite_source {
	const char *path; /* of the database file */
	/* Takes away what the frame needs and a worker does not; NULL in tests. Returns -1 when it
	 * could not: the worker then ends. */
	int (*confine)(void);
};

/* struct source's work: answers requests on fd until its end. data is a struct sqlite_source. */
void sqlite_work(void *data, int fd, struct run_page *page);

#endif
