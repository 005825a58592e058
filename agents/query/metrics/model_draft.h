/*
 * A first model of tables that nobody has described, for an analyst to finish: what their keys,
 * types and three sample rows tell, and nothing beyond. Pure.
 */
#ifndef AGENTS_QUERY_METRICS_MODEL_DRAFT_H
#define AGENTS_QUERY_METRICS_MODEL_DRAFT_H

#include "base/buf.h"
#include "base/json.h"

/*
 * tables: answers of describe_table. Writes an Ossie file (docs/metrics.md) that loads as it is;
 * what was guessed stands behind "# ?". Names that cannot stand in an expression get another, and
 * their columns are quoted.
 */
void model_draft(const char *source, const struct json *tables, struct buf *out);

#endif
