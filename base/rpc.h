/*
 * The JSON-RPC 2.0 envelope, without any I/O: what a line must look like before its content counts,
 * and how lines are written. Channels use it, and the programs that read blocking lines.
 * https://www.jsonrpc.org/specification, narrowed: ids are integers > 0, params an object or
 * absent, no batches, no member beyond those the specification names.
 *
 * Error codes: -32700 not JSON, -32600 not JSON-RPC; otherwise one code per kind of base/err.h,
 * from -32000 (invalid) to -32008 (internal), with the kind's name in error.data.kind.
 */
#ifndef BASE_RPC_H
#define BASE_RPC_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define RPC_CODE_NOT_JSON (-32700)
#define RPC_CODE_NOT_RPC (-32600)

enum rpc_type { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR };

/* A view into the parsed line; everything is lent and lives as long as the line's tree. */
struct rpc_message {
	enum rpc_type type;
	int64_t id; /* 0: a notification, or an error that belongs to no call (id null) */
	const char *method;
	const struct json *params; /* NULL when absent */
	const struct json *result;
	const struct json *error; /* checked: integer code, string message; see rpc_error_read() */
};

MUST_CHECK int rpc_read(const struct json *line, struct rpc_message *ret_message, struct err *err);

/* Turns the error object of a message into an error value: the kind from data.kind or the code. */
void rpc_error_read(const struct json *error, struct err *ret_err);

/* Each appends one line with its newline. params, result and data are lent; params may be NULL,
 * id 0 makes a request a notification, and an error's id null. */
void rpc_write_request(struct buf *out, int64_t id, const char *method, const struct json *params);
void rpc_write_result(struct buf *out, int64_t id, const struct json *result);
/* data: NULL, or an object whose members stand beside kind. */
void rpc_write_error(struct buf *out, int64_t id, const struct err *why, const struct json *data);
/* The last word to a peer whose line was not JSON-RPC. */
void rpc_write_refusal(struct buf *out, int code, const char *text);

int rpc_code(enum err_kind kind);

#endif
