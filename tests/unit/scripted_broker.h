/*
 * The orchestrator's side of the world, played step by step: the lane, a session's channel to the
 * broker, a person's connection, agents' channels. Every message the orchestrator sends waits in
 * order until a test expects it and says what comes back, so every order of events can be driven.
 *
 *   struct sb *sb = sb_open();             one orchestrator, its store, session s-1 of alice
 *   int ask = sb_ask(sb, "ask", "{...}");  the person asks
 *   struct sb_request *open = sb_expect(sb, sb->broker, "task.open");
 *   sb_reply(open, "{\"task\":\"t-1\"}");
 *   ... sb_result(sb, ask) ...             what the person got
 *   sb_close(sb);                          fails when a handle or a descriptor is left over
 *
 * The agents and the checks of results are doubles: a test ends them when it likes.
 */
#ifndef TEST_SCRIPTED_BROKER_H
#define TEST_SCRIPTED_BROKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agents/query/agent.h"
#include "agents/query/check/sanity.h"
#include "agents/report/agent.h"
#include "orchestrator/orchestrator.h"
#include "orchestrator/store.h"

#define SB_MAX 256

struct sb_request {
	struct channel *on; /* where it came and is answered */
	int64_t id;
	char method[32];
	struct json *params;
	bool taken;
};

struct sb_answer {
	struct sb *sb;
	bool come;
	struct json *result; /* NULL with an error */
	struct err err;
};

/* An agent that was started: what it was given, and how it ends. */
struct sb_agent {
	bool running;
	int starts;
	int cancels;
	const char *refuse; /* the next start fails with this */
	struct json *handoff;
	int channel_fd;
	void *data;
	trace_fn *trace;
	bool fixed;
	char first_sql[64];
	void (*query_done)(void *data, const struct query_outcome *outcome);
	void (*report_done)(void *data, const char *text, const char *why, const struct err *err);
};

struct sb_checks {
	int runs;
	sanity_done *done;
	void *data;
};

struct sb {
	uv_loop_t loop;
	struct orchestrator orchestrator;
	struct json *config;
	char folder[64];
	char path[96];
	struct lane *lane;	/* the broker's end */
	struct channel *broker; /* session s-1, the broker's end */
	struct channel *client; /* the person's end */
	struct channel *agents[16];
	size_t agent_count;
	struct sb_request requests[SB_MAX];
	size_t request_count;
	struct sb_answer answers[SB_MAX];
	size_t answer_count;
	struct sb_agent query;
	struct sb_agent report;
	struct sb_checks checks;
	int descriptors; /* open when it began */
};

struct sb *sb_open(void);
void sb_close(struct sb *sb);
/* Another session; its ends are the test's to close. */
struct channel *sb_session(struct sb *sb, const char *id, const char *user, bool owner,
			   struct channel **ret_client);
/* Turns the loop until nothing more happens. */
void sb_settle(struct sb *sb);

/* The next untaken request on that channel; fails unless it is this one. */
struct sb_request *sb_expect(struct sb *sb, const struct channel *on, const char *method);
bool sb_quiet(struct sb *sb, const struct channel *on); /* no request waits there */
void sb_reply(struct sb_request *request, const char *json);
void sb_fail(struct sb_request *request, enum err_kind kind, const char *text);

/* A message of the broker on the lane, with a descriptor; returns the broker's end of it. */
struct channel *sb_lane(struct sb *sb, const char *message);

/* Returns the number of the answer. */
size_t sb_ask(struct sb *sb, const char *method, const char *params);
size_t sb_ask_on(struct sb *sb, struct channel *client, const char *method, const char *params);
const struct json *sb_result(struct sb *sb, size_t answer); /* waits; fails on an error */
const struct err *sb_error(struct sb *sb, size_t answer);   /* waits; fails on a result */
bool sb_answered(struct sb *sb, size_t answer);

/* The session hangs up, from the person's side or from the broker's. */
void sb_leave(struct sb *sb);
void sb_drop(struct sb *sb);

/* Ends the running query agent with this status (and rows, when completed). */
void sb_query_ends(struct sb *sb, const char *status);
void sb_report_ends(struct sb *sb, const char *text, const char *why);
void sb_checks_end(struct sb *sb, const char *flags);

#endif
