/*
 * The programs of a service and how each is started: with which arguments, which descriptors
 * (docs/protocol.md "Descriptors at start"), and how the broker learns of it.
 */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/program_roles.h"

enum program_kind {
	PROGRAM_BROKER,
	PROGRAM_SIGNER,
	PROGRAM_CONNECTOR,
	PROGRAM_ORCHESTRATOR,
	PROGRAM_SINK
};

struct program {
	enum program_kind kind;
	const char *name;   /* of the source or sink; owned by config */
	const char *source; /* path of the source or sink; owned by config */
	const char *sink;   /* kind, for a sink; owned by config */
	pid_t pid;	    /* 0: not running */
	int broker_fd;	    /* the broker's end of its channel until attached; -1: none */
	int probe_fd;	    /* the end of a question that is not answered yet; -1: none */
	int misses;	    /* questions in a row without an answer */
	int64_t started_us;
	int64_t start_after_us; /* when not running: not before this */
	int wait_ms;		/* grows with each quick failure */
	int64_t term_at_us;	/* cli/schedule.h: the signals it is to get; 0: none */
	int64_t kill_at_us;
};

struct programs {
	struct program *items; /* the broker first: the others attach to it */
	size_t count;
	const char *workspace; /* borrowed */
	bool until_idle;
	bool reduced;
	const struct program_roles *roles; /* borrowed; NULL: all run as we do */
	int workspace_fd;		   /* borrowed */
	int listen_fd;			   /* borrowed; the broker's */
	int control_fd; /* our end of the broker's control lane; -1 while there is none */
};

/* One item per program that config (service.json, borrowed) asks for; none is started. */
void programs_init(struct programs *programs, const struct json *config);
void programs_clear(struct programs *programs);

struct program *programs_broker(const struct programs *programs);
struct program *programs_find_pid(const struct programs *programs, pid_t pid); /* NULL: not ours */
bool programs_any_running(const struct programs *programs);
const char *program_label(const struct program *program);
/* Its kind and name, as messages of the control lane have them. */
const char *program_kind(const struct program *program);

/* Starts one; unless it is the broker, it waits to be attached. */
MUST_CHECK int program_start(struct programs *programs, struct program *program, struct err *err);
/* Gives the broker its end of the channel, and waits until the broker has taken it. Starting comes
 * first for all of them, so that they get ready side by side. Fine when nothing waits. */
bool program_is_attached(const struct program *program);
MUST_CHECK int program_attach(struct programs *programs, struct program *program, struct err *err);

#endif
