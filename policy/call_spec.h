/*
 * One call as people and programs write it down: in tests of a policy, for `explain`, as the
 * example that a comparison prints. As JSON:
 *   {"agent":"sales-query-01","user":"anna","groups":["sales"],"tenant":"emea",
 *    "tool":"run_query","database":"sales","tables":["orders"],"columns":["orders.status"],
 *    "functions":["sum"],"attributes":{"region":"emea"},"arguments":{"limit":5},
 *    "time":"2026-10-15T10:00:00Z","environment":"production","approved":["ask-exports"]}
 * Only agent, user and tool must be there; without a time it is the start of 1970. A column names
 * its table, so "tables" need only list those of which no column is read.
 */
#ifndef POLICY_CALL_SPEC_H
#define POLICY_CALL_SPEC_H

#include "base/buf.h"
#include "policy/policy.h"

struct call_spec;

/* json is lent. ERR_INVALID names the member that is not as it must be. */
MUST_CHECK int call_spec_read(const struct json *json, struct call_spec **ret_spec,
			      struct err *err);
void call_spec_free(struct call_spec *spec);
void call_spec_freep(struct call_spec **spec);

/* Borrowed from the spec. */
const struct call_facts *call_spec_facts(const struct call_spec *spec);

extern const char *const call_spec_keys[]; /* NULL-terminated, in the order they are written */

/* The way back. The caller owns the result. */
struct json *call_spec_json(const struct call_facts *facts);
/* "sales-query-01 for anna (groups sales): run_query on sales, columns orders.status". */
void call_spec_say(const struct call_facts *facts, struct buf *out);

#endif
