/*
 * A task: one question of one session, led through its agents to an answer.
 *
 *   NAMING -> OPENING (<-> QUEUED) -> STARTING_QUERY -> QUERYING -+-> STARTING_REPORT -> REPORTING
 *                                                                 |                        |
 *                       (anything but rows to report)             +-----> CLOSING <--------+
 *                                                                            +-> DONE
 *
 * From the name on it is in the store: queued until the broker has opened it, running until DONE.
 *
 * Callbacks store and step. A task counts the callbacks that still hold it and is freed with the
 * last one after DONE. When its session ends it is cancelled and answers nobody.
 */
#ifndef ORCHESTRATOR_TASK_H
#define ORCHESTRATOR_TASK_H

#include "agents/query/agent.h"
#include "orchestrator/orchestrator.h"

enum task_state {
	TASK_NAMING,
	TASK_OPENING,
	TASK_QUEUED, /* the user has as many running as one may have */
	TASK_STARTING_QUERY,
	TASK_QUERYING,
	TASK_STARTING_REPORT,
	TASK_REPORTING,
	TASK_CLOSING,
	TASK_DONE,
};

struct task_request {
	const char *question;
	const char *first_sql; /* NULL for none */
	bool fixed;	       /* workflow fixed */
	bool trace;
	bool unverified;	     /* no verified query may answer */
	const struct json *choices;  /* answers to the needs_input of follows; NULL */
	const char *approval;	    /* that follows waited for; NULL */
	const char *follows;	     /* the task whose question this answers; NULL */
	const char *after;	     /* the task before in a conversation; NULL */
	const struct json *previous; /* its {"question","query"}, with after */
};

struct report_agent;

struct task {
	struct task *next;
	struct orchestrator *orchestrator;
	struct session *session; /* NULL once it has ended */
	int64_t reply_to;	 /* id of the person's request */
	enum task_state state;
	unsigned pending; /* callbacks that hold this task */
	bool cancel_wanted;
	bool unverified;

	char *id; /* the broker's; NULL while NAMING */
	bool stored;
	char *question;
	char *first_sql;
	char *approval;
	char *follows;
	char *after;
	struct json *choices;
	struct json *previous;
	bool fixed;
	bool trace;
	int64_t started_us;

	struct query_agent *query;   /* while QUERYING */
	struct report_agent *report; /* while REPORTING */
	char *jti;		     /* the query agent's token */
	struct json *facts;  /* what a report is written from: result, columns, words, ... */
	struct json *answer; /* grows into docs/answer.md */
};

/* Answers reply_to on the session's connection once, later. */
void task_start(struct session *session, int64_t reply_to, const struct task_request *request);
struct task *task_find(struct orchestrator *orchestrator, const char *id); /* live ones */
void task_cancel(struct task *task);
void tasks_session_ended(struct session *session);
/* False when it is too late: its end is being recorded. */
bool task_can_cancel(const struct task *task);
/* The live task that answers the question of this one, or NULL. */
struct task *task_that_follows(struct orchestrator *orchestrator, const char *id);

#endif
