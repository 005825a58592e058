/*
 * The YAML files of queries/ in a workspace, put into the models of model.json as their "queries".
 * Needs libyaml: only `writ` links it.
 *
 *   verified_queries:
 *     - name: net_sales_by_region          # optional; default: a number
 *       question: Net sales by region last quarter
 *       sql: SELECT ... WHERE order_date >= :period_start AND order_date < :period_end ...
 *       source: sales                      # default: the file's name, or the only source
 *       verified_by: analyst@example.com   # without it, proposed and never served
 *       verified_at: 2026-10-16
 *       when: for revenue questions        # optional, for people
 *       reads, shape, timezone, metrics    # written by writ query approve
 *
 * Keys of Snowflake's verified_queries that say nothing here (use_as_onboarding_question) are read
 * and left alone; its verified_at in seconds is understood.
 */
#ifndef AGENTS_QUERY_VERIFIED_SOURCE_H
#define AGENTS_QUERY_VERIFIED_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* models: what model_compile() made; a source without metrics gets a model of queries alone. Every
 * mistake is added to mistakes as model_compile() does; then ERR_INVALID. Two queries for one
 * question are a mistake. A workspace without queries/ changes nothing. */
MUST_CHECK int verified_compile(int workspace_fd, const char *const *sources, size_t source_count,
				struct json *models, struct buf *mistakes, struct err *err);

/* model_compile() and verified_compile(): everything that model.json holds. */
MUST_CHECK int verified_models_compile(int workspace_fd, const char *const *sources,
				       size_t source_count, struct json **ret_models,
				       struct buf *mistakes, struct err *err);

#endif
