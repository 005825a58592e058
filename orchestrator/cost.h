/*
 * What a task cost: bytes scanned and tokens used, at the prices of writ.yaml. Exact: amounts are
 * whole numbers of 10^-18 USD, printed in full. TB is 10^12 bytes, TiB 2^40. Pure.
 */
#ifndef ORCHESTRATOR_COST_H
#define ORCHESTRATOR_COST_H

#include "base/json.h"

/*
 * prices: of service.json, {"scan":{"micros","per"},"input_tokens":{"micros","per":"million"},
 * "output_tokens":{...}}, each optional; usage: of an answer, its bytes_scanned, input_tokens,
 * output_tokens. Gives {"amount":"0.02","currency":"USD","parts":[{"of","quantity","price",
 * "amount"}]}, with one part per price; NULL when there is no price at all. What is too much to be
 * counted exactly (beyond 10^20 USD) has no amount and says so: "amount" is null.
 */
struct json *cost_of(const struct json *prices, const struct json *usage);

#endif
