/* One tool call in memory, for call*.c only. */
#ifndef BROKER_CALL_MODEL_H
#define BROKER_CALL_MODEL_H

#include "broker/call.h"
#include "broker/call_state.h"
#include "broker/tool.h"

struct fact_names { /* owned */
	char **items;
	size_t count;
};

struct call {
	struct call *next; /* in its agent's list */
	struct broker *broker;
	uint64_t handle;
	struct agent *agent; /* NULL once its channel is gone */
	uint64_t task;	     /* handle */
	int64_t id;	     /* of the request */
	enum call_state state;
	enum call_cancel cancel;
	bool asked; /* something of this call is at the connector */
	bool trial;

	const struct tool *tool; /* NULL: unknown */
	char *tool_name;	 /* as asked for */
	bool arguments_fit;	 /* they were an object, or absent */
	struct json *arguments;	 /* as given, less the database; an object */
	struct json *decided_on; /* arguments as the tool gets them, defaults filled in */
	struct json *who;	 /* the fields that all its records share */
	char *database;		 /* NULL until it is known */
	char *statement;	 /* prepared at the connector, not yet executed or dropped */
	char *restrictions;	 /* the connector was asked under these; NULL: not yet asked */

	/* what was decided on */
	struct fact_names tables;
	struct fact_names columns;
	struct fact_names functions;
	int64_t rows_asked;

	/* the decision */
	enum effect effect;
	char *rule; /* NULL when no rule matched */
	char *at;
	char code[40];
	char reason[256]; /* never for the agent, but on trials */
	struct call_limits limits;
	int64_t epoch;	   /* it was made under */
	int64_t decided_s; /* the time it was made on; 0: no rule was asked */
	int64_t scan_taken;
	const char *candidate; /* what the candidate policy would have said, a constant; NULL when
				  there is none or it says the same */

	/* approvals and limits, see call_terms.c */
	struct fact_names approved;	/* rules that ask no more */
	struct fact_names approval_ids; /* of these, or of the one that was asked for */
	int64_t retry_ms;		/* a limit is reached for so long; 0 when nobody can tell */
	struct limiter_hold *hold;

	/* a refusal or a failure; NULL by: none */
	bool log_waits; /* refused because of it, with a record that nobody waits for */
	const char *by;
	char *error;
	char *hint;

	struct json *result; /* of a call that went well */
	uint64_t intent;     /* numbers of its records, TRAIL_NONE without */
	uint64_t outcome;
	uint64_t withheld;
	bool settled; /* budgets are counted */
};

/* call.c */
void call_go(struct call *call, enum call_state state); /* checked, traced; then the next step */
/* Refuses on the way to a decision (RECEIVED, TOKEN, PREPARED): goes on at DECIDED. by, code are
 * constants; hint is copied. */
void call_refuse(struct call *call, const char *by, const char *code, const char *hint,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Notes a failure without moving. */
void call_note_failure(struct call *call, const char *by, const char *code, const char *hint,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));
struct call *call_find(struct broker *broker, uint64_t handle);
struct task *call_task(const struct call *call); /* NULL once it is closed */

/* call_facts.c */
struct subject; /* policy.h */
MUST_CHECK int fact_names_read(struct fact_names *names, const struct json *array, struct err *err);
void fact_names_clear(struct fact_names *names);
void fact_names_add(struct fact_names *names, const char *name);
struct json *fact_names_json(const struct fact_names *names);
/* Borrowed from the call and its agent, which must still be there. */
void call_facts(const struct call *call, struct call_facts *ret_facts);
/* What the tool may show this agent; lent until the next. arguments: NULL before there is a call.
 */
const struct json *call_view(struct agent *agent, const char *tool, const struct json *arguments,
			     const char *database);
/* The same, for the call itself. */
const struct json *call_own_view(const struct call *call, const char *database);
/* Names the connections that may serve this agent under its present token. */
const char *call_pool_key(struct agent *agent, const struct token_claims *claims);
/* The database the call speaks of; false after refusing. */
bool call_pick_database(struct call *call);

/* call_restrict.c */
struct json *call_connector_view(struct call *call); /* for one request; its restrictions are kept */
/* Are the restrictions still those that the connector was asked under? */
bool call_restrictions_hold(const struct call *call);
void call_tell_restrictions(struct call *call); /* "restricted" of the result, if any apply */

/* call_way.c */
void call_prepare(struct call *call);  /* TOKEN -> PREPARED or DECIDED */
void call_dispatch(struct call *call); /* INTENT -> EXECUTING -> RECORDED, or RECORDED */
void call_tell_cancel(struct call *call);
void call_drop_statement(struct call *call);

/* call_decide.c */
void call_decide(struct call *call); /* PREPARED -> DECIDED */
/* Was what was decided taken back since? Fills the failure then. */
bool call_still_allowed(struct call *call);

/* call_terms.c */
/* Decides anew with every approval that was given for this very call. */
void call_seek_approvals(struct call *call, struct verdict *verdict);
void call_ask_approval(struct call *call, const struct verdict *verdict); /* refuses */
/* False after refusing: a limit is reached, or an approval was used meanwhile. */
bool call_take_terms(struct call *call, const struct verdict *verdict);

/* call_record.c */
void call_record_intent(struct call *call);   /* DECIDED -> INTENT */
void call_record_outcome(struct call *call);  /* -> RECORDED */
void call_record_withheld(struct call *call); /* DURABLE -> RECORDED */

/* call_result.c */
/* Takes over what a connector answered, or notes the failure. result is lent. */
void call_take_result(struct call *call, const struct json *result, const struct err *err);
/* Notes why the call was cancelled. */
void call_note_canceled(struct call *call);

/* call_reply.c */
void call_reply(struct call *call); /* to the agent, if it is still there */

#endif
