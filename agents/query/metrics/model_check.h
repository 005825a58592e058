/*
 * A semantic model against its data: expressions run, keys are keys, relationships lead to one row,
 * metrics have the values they are known to have. For `writ metric check`. Pure but for run_sql.
 */
#ifndef AGENTS_QUERY_METRICS_MODEL_CHECK_H
#define AGENTS_QUERY_METRICS_MODEL_CHECK_H

#include "agents/query/metrics/model.h"

/*
 * Runs one SELECT. 0 and a result {"rows":[[...]]} (the caller owns it); negative with ERR_INVALID
 * when the database refused the statement (its text verbatim): that becomes a finding; negative
 * with any other kind ends the check.
 */
typedef int run_sql_fn(void *self, const char *sql, struct json **ret_result, struct err *err);

struct model_check {
	struct json *findings; /* owned: [{"severity":"error"|"note","at","column","message"}] */
	size_t error_count;
	size_t statement_count;
	size_t field_count, key_count, relationship_count, metric_count, value_count; /* checked */
};

MUST_CHECK int model_check(const struct model *model, run_sql_fn *run_sql, void *self,
			   struct model_check *ret_check, struct err *err);
void model_check_clear(struct model_check *check);

#endif
