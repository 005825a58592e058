/*
 * A whole broker in one process and one loop: real policy, tokens, signer and audit log in a
 * temporary workspace; the test plays supervisor, orchestrator and connector over socketpairs.
 */
#ifndef TEST_BROKER_FIXTURE_H
#define TEST_BROKER_FIXTURE_H

#include <stdbool.h>
#include <uv.h>

#include "broker/broker.h"
#include "broker/signer/signer.h"

#define FX_ENDS_MAX 512
#define FX_ASKED_MAX 64

struct fx;

struct fx_end { /* what came by the orchestrator's lane */
	char kind[16];
	char name[48];	  /* of a session or agent channel */
	char session[48]; /* of a client or agent */
	char user[80];
	bool owner;
	int fd;			 /* of a client, and of all when raw */
	struct channel *channel; /* of a session or agent; NULL once it closed */
};

struct fx_asked { /* what the connector was asked */
	char method[16];
	int64_t id;
	struct json *params;
	bool answered;
};

struct fx {
	uv_loop_t loop;
	char path[64];
	char socket_path[80];
	int state_fd;
	int config_fd; /* state/config */
	struct broker broker;
	bool broker_open; /* its parts are not cleared yet */
	bool closed;
	struct lane *control;
	struct lane *lane;
	struct signer signer;
	bool signer_made;
	struct channel *signer_end;
	bool raw;		 /* sessions and agents come as descriptors from now on */
	const char *signer_mute; /* method it never answers */
	size_t signer_muted;	 /* how often it was asked that */
	const char *signer_fail; /* method it answers with an error */
	/* Before an answer of the signer leaves. */
	void (*signer_change)(struct fx *fx, const char *method, struct json *result);
	const char *connector_mute; /* method it never answers */
	struct channel *connector;
	bool connector_by_hand;	 /* do not answer by yourself */
	const char *prepared;	 /* answer to prepare, as JSON */
	const char *executed;	 /* answer to execute */
	const char *tool_result; /* answer to tool */
	struct fx_asked asked[FX_ASKED_MAX];
	size_t asked_count;
	struct fx_end ends[FX_ENDS_MAX];
	size_t end_count;
	int pids[3]; /* of fx_open_programs(): broker, signer, connector */
};

/* A broker with the scope file, a signer, a connector "sales" and an orchestrator attached; open.
 */
struct fx *fx_open(const char *scope);
/* The same with the real writ-broker, writ-signer and writ-sqlite out of this folder. argument is
 * one more for the broker, or NULL. */
struct fx *fx_open_programs(const char *scope, const char *folder, const char *database,
			    const char *argument);
/* The real writ-broker alone, with an orchestrator (us) attached. */
struct fx *fx_open_broker(const char *scope, const char *folder, const char *argument);
void fx_start_signer(struct fx *fx, const char *folder);
void fx_start_connector(struct fx *fx, const char *folder, const char *database);
/* Waits for the broker to end; its exit code, or minus the signal. */
int fx_wait_broker(struct fx *fx);
void fx_close_programs(struct fx *fx);
/* The same without anything attached. */
struct fx *fx_open_bare(const char *scope);
void fx_close(struct fx *fx); /* stops the broker if it still runs, proves the loop closes */

/* A socketpair whose one end goes to the broker with this message; ours is returned. */
int fx_attach_raw(struct fx *fx, const char *message);
void fx_attach_signer(struct fx *fx);
void fx_attach_connector(struct fx *fx, const char *name);
void fx_attach_orchestrator(struct fx *fx);
void fx_control(struct fx *fx, const char *message);
/* Who everyone who connects from now on is; groups is JSON: "[\"sales\"]". */
void fx_set_user(struct fx *fx, const char *name, const char *groups, bool owner);
void fx_put(struct fx *fx, const char *name, const char *text); /* in state/config */
void fx_put_scope(struct fx *fx, const char *scope); /* compiles it into state/config/policy */

#define FX_PATIENCE_US (60 * 1000000LL)

/* Runs the loop until the condition holds; fails the test after 5 s, under load a minute. */
#define fx_until(fx, condition)                                                                    \
	do {                                                                                       \
		int turns_ = 0;                                                                    \
		while (!(condition))                                                               \
			fx_turn((fx), ++turns_, #condition);                                       \
	} while (0)
void fx_turn(struct fx *fx, int turn, const char *what);
/* What was sent over the control lane is dealt with, what was recorded is durable, and a few turns
 * have passed for what must not happen. What must happen is waited for with fx_until(). */
void fx_settle(struct fx *fx);

/* A new connection; NULL when it was refused, with the line in ret_line (may be NULL). */
struct fx_end *fx_connect(struct fx *fx, char *ret_line, size_t ret_line_size);
/* {"result":...} or {"error":{"kind","text"}}; the caller frees. params is JSON text. */
struct json *fx_call(struct fx *fx, struct channel *channel, const char *method,
		     const char *params);
/* The result, or a failed test. */
struct json *fx_ok(struct fx *fx, struct channel *channel, const char *method, const char *params);
/* Starts a call; *slot is filled when the answer comes. */
int64_t fx_send(struct fx *fx, struct channel *channel, const char *method, const char *params,
		struct json **slot);
/* Opens a task; its id goes to out. */
void fx_task(struct fx *fx, struct channel *session, const char *kind, char out[48]);
struct fx_end *fx_agent(struct fx *fx, struct channel *session, const char *task, const char *agent,
			const char *parent);
/* Session, task, agent and token in one: the agent's channel. */
struct channel *fx_ready(struct fx *fx, const char *kind, const char *agent);

/* The newest record with this event; the caller frees. NULL: none. */
struct json *fx_record(struct fx *fx, const char *event);
size_t fx_record_count(struct fx *fx, const char *event);
/* The record with this number. */
struct json *fx_record_at(struct fx *fx, int64_t seq);

extern const char fx_scope[]; /* sales-query-01, sales-report-01, payroll denied */
extern int64_t fx_clock_us;   /* added to the broker's clock */

#endif
