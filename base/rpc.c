/*
 * Checks and writes the JSON-RPC 2.0 envelope. Reading fails with ERR_INVALID and names the member
 * that is wrong; writing cannot fail.
 */
#include "base/rpc.h"

#include <inttypes.h>
#include <string.h>

/* -32000 is ERR_INVALID, the first kind; the specification leaves -32000 to -32099 to servers. */
#define CODE_OF_FIRST_KIND (-32000)

int rpc_code(enum err_kind kind)
{
	if (kind == ERR_NONE || kind > ERR_INTERNAL)
		kind = ERR_INTERNAL;
	return CODE_OF_FIRST_KIND - ((int)kind - (int)ERR_INVALID);
}

static enum err_kind kind_from_code(int64_t code)
{
	if (code <= CODE_OF_FIRST_KIND && code >= rpc_code(ERR_INTERNAL))
		return (enum err_kind)(CODE_OF_FIRST_KIND - code + ERR_INVALID);
	switch (code) {
	case RPC_CODE_NOT_JSON:
	case RPC_CODE_NOT_RPC:
	case -32602: /* invalid params */
		return ERR_INVALID;
	case -32601: /* method not found */
		return ERR_NOT_FOUND;
	default:
		return ERR_INTERNAL;
	}
}

void rpc_error_read(const struct json *error, struct err *ret_err)
{
	const char *name = json_get_str(json_get(error, "data"), "kind");
	const char *text = json_get_str(error, "message");
	enum err_kind kind = name != NULL ? err_kind_from_name(name)
					  : kind_from_code(json_get_int(error, "code", 0));

	err_set(ret_err, kind == ERR_NONE ? ERR_INTERNAL : kind, "%s", text != NULL ? text : "");
}

static int read_id(const struct json *line, bool null_ok, int64_t *ret_id, struct err *err)
{
	const struct json *id = json_get(line, "id");

	if (null_ok && id != NULL && json_type(id) == JSON_NULL) {
		*ret_id = 0;
		return 0;
	}
	if (json_type(id) != JSON_INT || json_int(id) <= 0)
		return err_set(err, ERR_INVALID, "id: wanted an integer above 0");
	*ret_id = json_int(id);
	return 0;
}

static int read_request(const struct json *line, struct rpc_message *message, struct err *err)
{
	static const char *const members[] = {"jsonrpc", "id", "method", "params", NULL};

	if (json_only(line, members, err) < 0)
		return -1;
	message->method = json_get_str(line, "method");
	if (message->method == NULL || message->method[0] == '\0')
		return err_set(err, ERR_INVALID, "method: wanted a name");
	message->params = json_get(line, "params");
	if (message->params != NULL && json_type(message->params) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "params: wanted an object");
	message->type = RPC_NOTIFICATION;
	if (json_get(line, "id") == NULL)
		return 0;
	message->type = RPC_REQUEST;
	return read_id(line, false, &message->id, err);
}

static int check_error(const struct json *error, struct err *err)
{
	static const char *const members[] = {"code", "message", "data", NULL};

	if (json_type(error) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "error: wanted an object");
	if (json_only(error, members, err) < 0)
		return err_wrap(err, "error");
	if (json_type(json_get(error, "code")) != JSON_INT)
		return err_set(err, ERR_INVALID, "error.code: wanted an integer");
	if (json_get_str(error, "message") == NULL)
		return err_set(err, ERR_INVALID, "error.message: wanted a string");
	return 0;
}

static int read_response(const struct json *line, struct rpc_message *message, struct err *err)
{
	static const char *const members[] = {"jsonrpc", "id", "result", "error", NULL};

	if (json_only(line, members, err) < 0)
		return -1;
	message->result = json_get(line, "result");
	message->error = json_get(line, "error");
	if ((message->result == NULL) == (message->error == NULL))
		return err_set(err, ERR_INVALID, "wanted one of method, result and error");
	message->type = message->error != NULL ? RPC_ERROR : RPC_RESULT;
	if (message->error != NULL && check_error(message->error, err) < 0)
		return -1;
	return read_id(line, message->type == RPC_ERROR, &message->id, err);
}

int rpc_read(const struct json *line, struct rpc_message *ret_message, struct err *err)
{
	struct rpc_message message = {0};
	const char *version = json_get_str(line, "jsonrpc");
	int result;

	if (json_type(line) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "wanted a JSON-RPC object");
	if (version == NULL || strcmp(version, "2.0") != 0)
		return err_set(err, ERR_INVALID, "jsonrpc: wanted \"2.0\"");
	result = json_get(line, "method") != NULL ? read_request(line, &message, err)
						  : read_response(line, &message, err);
	if (result < 0)
		return -1;
	*ret_message = message;
	return 0;
}

static void write_head(struct buf *out, int64_t id)
{
	buf_add_str(out, "{\"jsonrpc\":\"2.0\"");
	if (id > 0)
		buf_addf(out, ",\"id\":%" PRId64, id);
}

void rpc_write_request(struct buf *out, int64_t id, const char *method, const struct json *params)
{
	write_head(out, id);
	buf_add_str(out, ",\"method\":");
	json_write_string(method, strlen(method), out);
	if (params != NULL) {
		buf_add_str(out, ",\"params\":");
		json_write(params, out);
	}
	buf_add_str(out, "}\n");
}

void rpc_write_result(struct buf *out, int64_t id, const struct json *result)
{
	write_head(out, id);
	buf_add_str(out, ",\"result\":");
	if (result != NULL)
		json_write(result, out);
	else
		buf_add_str(out, "null");
	buf_add_str(out, "}\n");
}

static void write_error(struct buf *out, int64_t id, int code, const struct err *why,
			const struct json *data)
{
	write_head(out, id);
	if (id <= 0)
		buf_add_str(out, ",\"id\":null");
	buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	json_write_string(why->text, strlen(why->text), out);
	buf_addf(out, ",\"data\":{\"kind\":\"%s\"", err_kind_name(why->kind));
	json_each(member, data)
	{
		if (json_key(member) == NULL || strcmp(json_key(member), "kind") == 0)
			continue;
		buf_add_char(out, ',');
		json_write_string(json_key(member), strlen(json_key(member)), out);
		buf_add_char(out, ':');
		json_write(member, out);
	}
	buf_add_str(out, "}}}\n");
}

void rpc_write_error(struct buf *out, int64_t id, const struct err *why, const struct json *data)
{
	write_error(out, id, rpc_code(why->kind), why, data);
}

void rpc_write_refusal(struct buf *out, int code, const char *text)
{
	struct err why;

	err_set(&why, ERR_INVALID, "%s", text);
	write_error(out, 0, code, &why, NULL);
}
