/*
 * The broker: read broker/dispatch.c first (who may call what), then this (what there is), then
 * broker/call.c (the life of a tool call).
 *
 *   control lane --> service.c: attach, reload, stop
 *   socket ------> session.c: who connects --> session channel (PEER_SESSION) --> req_session.c
 *   session -----> task.c: one objective, with budgets --> agent.c: agent channels (PEER_AGENT)
 *   agent -------> grant.c: tokens --> call.c: tool calls --> connectors
 *   everything --> trail.c: one function per record
 *
 * One loop, one thread. Sessions own their tasks, tasks their agents, agents their calls; a
 * callback that comes later holds a handle, never a pointer.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/channel.h"
#include "base/lane.h"
#include "base/sandbox.h"
#include "broker/allowance.h"
#include "broker/audit/admin.h"
#include "broker/audit/audit.h"
#include "broker/budget.h"
#include "broker/config.h"
#include "broker/connector_client.h"
#include "broker/handles.h"
#include "broker/limiter.h"
#include "broker/signer_client.h"
#include "broker/restarts.h"
#include "broker/sinks.h"
#include "broker/timer.h"
#include "broker/token_cache.h"
#include "broker/token_store.h"
#include "broker/user_map.h"

#define AGENTS_PER_TASK_MAX 16
#define TOKENS_PER_TASK_MAX 64 /* 300 s each: far above what a task of minutes needs */
#define TASK_RECORDS_MAX                                                                           \
	4096		      /* then nothing new is begun in the task; what runs is still noted   \
			       */
#define TASK_EVENTS_MAX 64    /* reported ones; a task has two or three handoffs and checks */
#define AGENT_REFUSALS_MAX 64 /* calls that never ran after which an agent loses its channel */
#define STOP_WAIT_MS 5000     /* a person waits at the other end */

enum peer_kind { PEER_SESSION, PEER_AGENT, PEER_CONNECTOR, PEER_SIGNER, PEER_KIND_COUNT };

struct broker;
struct session;
struct task;
struct agent;
struct call;

/* One end of a channel that may call us. */
struct peer {
	enum peer_kind kind;
	struct broker *broker;
	struct channel *channel; /* NULL once closed */
	uint64_t handle;
	struct session *session; /* of an agent: its task's */
	struct agent *agent;	 /* NULL unless PEER_AGENT */
};

struct agent_use { /* what an agent's name has spent in a task */
	struct agent_use *next;
	char *agent;
	struct budget_use use;
	int64_t started_ms; /* loop time of its first start */
};

struct held_token { /* issued to this task; the text never leaves the broker */
	struct held_token *next;
	char *jti;
	char *text;
	char *agent;
};

struct agent {
	struct agent *next;
	struct peer peer;
	struct task *task;
	char id[40];	  /* "a-" and a UUID: its channel's name */
	char *name;	  /* bound once, here */
	char *parent_jti; /* NULL for a root */
	struct agent_use *use;
	const struct held_token *token; /* NULL before the first */
	bool issuing;
	bool revoked; /* no further token in this task */
	int refusals;
	struct json *view; /* of the last tool, and for which it was made: see call_view() */
	char *view_key;
	char *pool_key; /* see call_pool_key() */
	char *pool_key_of;
	struct call *calls;
};

#define TASK_ID_SIZE 40 /* "t-", a UUID and a NUL */

struct task {
	struct task *next;
	uint64_t handle;
	struct session *session;
	char *approved_by; /* the earlier task whose approval this one is to use; NULL */
	char id[TASK_ID_SIZE];
	char *kind;
	bool trial;
	bool expired;
	bool revoked;	     /* no agent gets a token any more */
	int64_t deadline_ms; /* loop time */
	struct timer *deadline;
	struct agent *agents;
	struct agent_use *uses;
	struct held_token *tokens;
	size_t token_count;
	uint64_t *records;
	size_t record_count;
	size_t event_count;
};

struct session {
	struct session *next;
	struct peer peer;
	char id[40];
	int64_t uid;
	struct user user;
	char su[PSEUDONYM_LEN + 1];
	struct task *tasks;
	struct task_names *names; /* given out by task.reserve; NULL: none yet */
	bool reads_audit;	  /* its reading of the log is recorded */
	struct audit_cursor cursor;
};

enum broker_phase {
	PHASE_STARTING, /* waiting for the signer */
	PHASE_OPEN,
	PHASE_STOPPING, /* no new work; running calls finish */
	PHASE_CLOSING,	/* the log is being closed */
	PHASE_CLOSED,
};

/* What became of the words "read the policy again" since the start. */
struct policy_reloads {
	int64_t applied;
	int64_t refused;
	int64_t last_us; /* when the last one was decided; 0: none */
	bool last_refused;
	char reason[256]; /* of the last refusal; "" when the last one was applied */
};

struct policy_shadow { /* of the candidate policy, since it was loaded */
	int64_t decisions;
	int64_t differences;
};

struct broker_options {
	const char *audit_dir; /* absolute */
	int config_fd;	       /* state/config */
	int passwd_fd;	       /* -1 without */
	uint64_t descriptors;  /* how many this process and the orchestrator may have open */
	bool until_idle;
	enum sandbox_level sandbox;
};

struct broker {
	uv_loop_t *loop;
	struct broker_options options;
	int64_t (*now_us)(void); /* the wall clock; tests set their own, as the next two */
	uint64_t task_ms;	 /* what a task gets */
	uint64_t stop_wait_ms;	 /* what running calls get when the service stops */
	enum broker_phase phase;
	int exit_code;
	bool reloading; /* see reload.c */
	bool reload_again;
	struct config *config;
	struct restarts restarts; /* of other programs */
	struct policy_reloads reloads;
	struct policy_shadow shadow;
	struct token_store *store;
	struct token_cache *cache;
	struct limiter *limiter;
	struct signer_client *signer;
	struct connectors connectors;
	struct sinks sinks;
	struct audit *audit; /* NULL until the signer told its keys */
	struct lane *control;
	struct lane *orchestrator; /* NULL while there is none */
	struct listener *listener; /* NULL once closed */
	struct handles peers;	   /* struct peer */
	struct handles tasks;	   /* struct task */
	struct handles calls;	   /* struct call */
	struct session *sessions;
	size_t session_count;
	size_t agent_count;
	struct capacity capacity;
	struct allowances allowances;
	bool had_session;
	const char *stop_cause; /* a constant */
	struct timer *stop_timer;
	struct timer *idle_timer;
	struct timer *step_timer;
	void (*on_closed)(struct broker *broker); /* everything of ours is closed; NULL for none */
	struct timer *retention_timer;
	int64_t purged_at;
	int64_t refused_second;	  /* in which connections were last refused, and */
	int64_t refused_recorded; /* how many of that second have their record */
	int64_t refused_skipped;  /* without one since the last record */
};

static inline int64_t broker_now_s(const struct broker *broker)
{
	return broker->now_us() / 1000000;
}

/* Everything but the loop; store and config are taken. The caller runs the loop. */
void broker_init(struct broker *broker, uv_loop_t *loop, const struct broker_options *options,
		 struct config *config, struct token_store *store);
void broker_clear(struct broker *broker); /* after the loop has ended */

/* Where and when, for a decision made now. */
struct setting broker_setting(const struct broker *broker);

/* False, with the reason, when the log cannot be written (not open yet, stopped). */
bool broker_log_works(const struct broker *broker, struct err *ret_why);

/* service.c */
/* Takes both descriptors. */
MUST_CHECK int service_open(struct broker *broker, int control_fd, int listen_fd, struct err *err);
/* cause is a constant: control, signal, idle, ... */
void service_stop(struct broker *broker, const char *cause);
/* Called whenever a session or a call has ended: from the loop, stopping and --until-idle go on. */
void service_step(struct broker *broker);
struct signer_client *service_signer_new(struct broker *broker);

#endif
