/* The answer object of docs/answer.md, built step by step as a task goes on. */
#ifndef ORCHESTRATOR_ANSWER_H
#define ORCHESTRATOR_ANSWER_H

#include "agents/query/agent.h"
#include "base/json.h"

/* Everything the query agent's outcome says. */
struct json *answer_from_outcome(const struct query_outcome *outcome);
/* An answer that has only a status and why. */
struct json *answer_from_failure(const char *status, const char *reason, const char *hint);
/* What a report is written from: {"result","columns","words","period","flags","definitions"}. */
struct json *answer_facts(const struct query_outcome *outcome);
void answer_add_flag(struct json *answer, const char *code, const char *severity,
		     const char *message);
/* The value committed under "result": exactly {"columns","row_count","rows","truncated","types"}.
 */
struct json *answer_result(const struct json *answer);

#endif
