/* What the files of the query agent share: its state, its attempts, its end. */
#ifndef AGENTS_QUERY_AGENT_INTERNAL_H
#define AGENTS_QUERY_AGENT_INTERNAL_H

#include "agents/query/agent.h"
#include "agents/query/metrics/compile.h"
#include "agents/query/planner.h"
#include "agents/turn.h"

/*
 *            GROUND -> VERIFY -> RUN, or back to VALUES
 *   TOKEN -> GROUND -> VALUES -> PLAN -+-> LOOKUP -> PLAN
 *                                      +-> CHECK -+-> RUN -+-> SANITY -+-> COUNT -> DONE
 *                                      +----------+        |           +-> REPAIR
 *                                      REPAIR <---+--------+           +-> DONE
 *                                      REPAIR -> PLAN
 *   any state -> DONE
 */
enum agent_state {
	AGENT_TOKEN,
	AGENT_GROUND,
	AGENT_VERIFY,
	AGENT_VALUES,
	AGENT_PLAN,
	AGENT_LOOKUP,
	AGENT_CHECK,
	AGENT_RUN,
	AGENT_SANITY,
	AGENT_COUNT,
	AGENT_REPAIR,
	AGENT_DONE,
};

#define AGENT_LOOKUPS_MAX 3 /* parts of one question that need a look at the data */

struct query_agent {
	enum agent_state state;
	struct turn *turn; /* owned */
	/* From the options; owned copies. */
	struct json *handoff;
	struct json *choices;
	char *first_sql;
	bool fixed;
	bool unverified;
	struct date today;
	void *data;
	void (*done)(void *data, const struct query_outcome *outcome);
	/* What is known by now; owned. */
	struct json *model_json;
	struct model *model;
	struct json *matches;
	struct json *lookups;
	struct metric_query *previous; /* of the question before, from the handoff */
	struct plan *plan;
	struct compiled_query *compiled;
	struct json *tables;  /* lent to the sanity checks while they run */
	struct json *metrics; /* likewise: what the question names */
	struct json *asked;   /* the period asked for; lent likewise */
	char *period_column;
	struct json *verified; /* the query that is served; owned; NULL when it is planned */
	char *passed_over;     /* why a verified query was not used; NULL: there was none */
	/* The attempt under way. */
	int64_t attempt;
	bool seeded_attempt; /* it runs first_sql */
	bool distrust_column;
	int64_t lookup_count;
	char *reason;
	char *hint;
	char *sql;
	struct query_outcome outcome; /* collected as it goes */
};

void agent_move(struct query_agent *agent, enum agent_state state);

/* agent.c */
const char *agent_question(const struct query_agent *agent);
struct json *agent_arguments(const struct query_agent *agent); /* of a call; the caller's */
void agent_replan(struct query_agent *agent);
void agent_plan_anew(struct query_agent *agent); /* grounding goes on as without verified queries */

/* running.c: a compiled attempt, to its end or to the next one. */
void agent_check(struct query_agent *agent); /* its cost first */
void agent_run(struct query_agent *agent);
void agent_complete(struct query_agent *agent); /* ends it as completed */

/* kept_back.c */
void kept_back_tell(struct query_agent *agent); /* flags for what policy kept back of the result */

/* serve.c */
/* True when a verified query was found and the agent goes on by itself; then the last thing done.
 */
bool serve_begin(struct query_agent *agent);
/* The database refused the verified SQL: plan. The last thing done. */
void serve_failed(struct query_agent *agent, const char *error);
void serve_columns(struct query_agent *agent); /* of the result, as far as they are known */
char *serve_period_column(const struct query_agent *agent);

/* attempt.c */
/* Compiles the plan, against a model with the column that the question names where it does. */
MUST_CHECK int attempt_compile(struct query_agent *agent, struct err *err);
void attempt_failed(struct query_agent *agent, const char *error); /* kept for the outcome */
int64_t attempt_rows(const struct query_agent *agent);		   /* rows to ask for */
void attempt_declare(struct query_agent *agent); /* plan, words, columns, period of the outcome */
char *attempt_narrower(const struct query_agent *agent); /* how to ask for less */
/* The same when it is known what would be read (a result of explain_query) and what is left. */
char *attempt_fitting(const struct query_agent *agent, const struct json *explained, int64_t left);
/* What the model says of keys, in the shape of describe_table, for the sanity checks. */
struct json *attempt_tables(const struct query_agent *agent);
/* The metrics of the plan, each as the statement that its definition alone compiles to. */
struct json *attempt_metrics(const struct query_agent *agent);
char *attempt_period_column(const struct query_agent *agent);

/* ending.c: the agent is freed when these return. reason and hint are copied. */
void agent_end(struct query_agent *agent, const char *status, const char *reason, const char *hint);
void agent_end_error(struct query_agent *agent, const struct tool_error *error);
void agent_flag(struct query_agent *agent, const char *code, const char *severity,
		const char *message);
void agent_free(struct query_agent *agent);

#endif
