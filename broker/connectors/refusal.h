/* Why a call was not answered, in the words the agent gets: docs/protocol.md, "Error". */
#ifndef BROKER_CONNECTORS_REFUSAL_H
#define BROKER_CONNECTORS_REFUSAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define BY_DATABASE "database"
#define BY_STATEMENT "statement"
#define BY_LIMIT "limit"
#define BY_POLICY "policy"
#define BY_ARGUMENTS "arguments"
#define BY_CANCELED "canceled"
#define BY_UNAVAILABLE "unavailable"

struct refusal {
	const char *by;		  /* one of the above */
	const char *hint;	  /* the next action; a constant */
	int64_t bytes_scanned;	  /* what it cost until then; 0 when nothing ran */
	char error[ERR_TEXT_MAX]; /* UTF-8 */
};

/* Fills refusal and returns -1. */
int refusal_set(struct refusal *refusal, const char *by, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* An err of this program as a refusal: the source cannot be used now. Returns -1. */
int refusal_from_err(struct refusal *refusal, const struct err *err);
struct json *refusal_json(const struct refusal *refusal);

#endif
