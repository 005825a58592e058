/*
 * The protocol as a table of methods. A tool that refuses or fails is a result with isError, as the
 * specification wants; a request that is itself wrong is a JSON-RPC error.
 */
#include "cli/mcp.h"

#include <string.h>

#define PARSE_ERROR (-32700)
#define INVALID_REQUEST (-32600)
#define METHOD_NOT_FOUND (-32601)
#define INVALID_PARAMS (-32602)
#define UNSUPPORTED_VERSION (-32022) /* modern only */

#define CALLS_OPEN_MAX 64 /* more than a host sends; bounds memory */

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_SERVER "io.modelcontextprotocol/serverInfo"

#define MODERN_VERSION "2026-07-28"
/* Newest first: what an initialize for anything else is answered with. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

struct open_call {
	int64_t key; /* 0: free */
	struct json *id;
	bool modern;
};

struct mcp {
	const struct json *tools;
	struct mcp_hooks hooks;
	const char *session; /* legacy version agreed, or NULL */
	int64_t last_key;
	struct open_call calls[CALLS_OPEN_MAX];
};

/* What is known of one request. */
struct request {
	const struct json *id;
	const char *method;
	const struct json *params;
	bool modern;
};

struct method {
	const char *name;
	bool modern;
	bool legacy;
	bool before_initialize;
	void (*handle)(struct mcp *mcp, const struct request *request);
};

struct mcp *mcp_new(const struct json *tools, const struct mcp_hooks *hooks)
{
	struct mcp *mcp = mem_alloc(sizeof(*mcp));

	mcp->tools = tools;
	mcp->hooks = *hooks;
	return mcp;
}

void mcp_free(struct mcp *mcp)
{
	if (mcp == NULL)
		return;
	for (size_t i = 0; i < CALLS_OPEN_MAX; i++)
		json_free(mcp->calls[i].id);
	mem_free(mcp);
}

/* ---- sending ---- */

static void send_with_id(struct mcp *mcp, const struct json *id, const char *member,
			 struct json *value)
{
	struct json *message = json_object();

	json_set_str(message, "jsonrpc", "2.0");
	json_set(message, "id", id != NULL ? json_copy(id) : json_new_null());
	json_set(message, member, value);
	mcp->hooks.send(mcp->hooks.data, message);
	json_free(message);
}

/* data is taken; NULL when there is none. */
static void send_error(struct mcp *mcp, const struct json *id, int code, const char *text,
		       struct json *data)
{
	struct json *error = json_object();

	json_set_int(error, "code", code);
	json_set_str(error, "message", text);
	if (data != NULL)
		json_set(error, "data", data);
	send_with_id(mcp, id, "error", error);
}

static void send_result(struct mcp *mcp, const struct json *id, bool modern, struct json *result)
{
	if (modern)
		json_set_str(result, "resultType", "complete");
	send_with_id(mcp, id, "result", result);
}

/* What an agent may use depends on who asks and on policy, which can change at any moment. */
static void add_cache_hints(struct json *result)
{
	json_set_int(result, "ttlMs", 0);
	json_set_str(result, "cacheScope", "private");
}

static struct json *server_info(void)
{
	struct json *info = json_object();

	json_set_str(info, "name", "writ");
	json_set_str(info, "version", WRIT_VERSION);
	return info;
}

static struct json *capabilities(void)
{
	struct json *all = json_object();

	json_set(all, "tools", json_object());
	return all;
}

static const char instructions[] = "Read-only access to one company database within a signed "
				   "scope. Start with list_metrics and "
				   "list_tables; prefer defined metrics. Refusals say what to do "
				   "next. Every call is recorded.";

/* ---- methods ---- */

static void handle_discover(struct mcp *mcp, const struct request *request)
{
	struct json *result = json_object();
	struct json *versions = json_array();
	struct json *meta = json_object();

	json_push_str(versions, MODERN_VERSION);
	for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
		json_push_str(versions, legacy_versions[i]);
	json_set(meta, META_SERVER, server_info());
	json_set(result, "supportedVersions", versions);
	json_set(result, "capabilities", capabilities());
	json_set_str(result, "instructions", instructions);
	json_set(result, "_meta", meta);
	add_cache_hints(result);
	send_result(mcp, request->id, true, result);
}

static const char *agree_on(const char *wanted)
{
	for (size_t i = 0; wanted != NULL && i < ARRAY_LEN(legacy_versions); i++)
		if (strcmp(wanted, legacy_versions[i]) == 0)
			return legacy_versions[i];
	return legacy_versions[0];
}

static void handle_initialize(struct mcp *mcp, const struct request *request)
{
	const char *wanted = json_get_str(request->params, "protocolVersion");
	struct json *result;

	if (wanted == NULL) {
		send_error(mcp, request->id, INVALID_PARAMS, "initialize needs protocolVersion",
			   NULL);
		return;
	}
	if (mcp->session != NULL) {
		send_error(mcp, request->id, INVALID_REQUEST, "already initialized", NULL);
		return;
	}
	mcp->session = agree_on(wanted);
	result = json_object();
	json_set_str(result, "protocolVersion", mcp->session);
	json_set(result, "capabilities", capabilities());
	json_set(result, "serverInfo", server_info());
	json_set_str(result, "instructions", instructions);
	send_result(mcp, request->id, false, result);
}

static void handle_ping(struct mcp *mcp, const struct request *request)
{
	send_result(mcp, request->id, false, json_object());
}

static void handle_tools_list(struct mcp *mcp, const struct request *request)
{
	const struct json *cursor = json_get(request->params, "cursor");
	struct json *result;

	if (cursor != NULL && (json_str(cursor) == NULL || json_str(cursor)[0] != '\0')) {
		send_error(mcp, request->id, INVALID_PARAMS, "no such cursor", NULL);
		return;
	}
	result = json_object();
	json_set(result, "tools", json_copy(mcp->tools));
	if (request->modern)
		add_cache_hints(result);
	send_result(mcp, request->id, request->modern, result);
}

static bool knows_tool(const struct mcp *mcp, const char *name)
{
	json_each(tool, mcp->tools)
	{
		if (strcmp(json_get_str(tool, "name"), name) == 0)
			return true;
	}
	return false;
}

static struct open_call *find_key(struct mcp *mcp, int64_t key)
{
	for (size_t i = 0; i < CALLS_OPEN_MAX; i++)
		if (mcp->calls[i].key == key)
			return &mcp->calls[i];
	return NULL;
}

static struct open_call *find_id(struct mcp *mcp, const struct json *id)
{
	for (size_t i = 0; i < CALLS_OPEN_MAX; i++)
		if (mcp->calls[i].key != 0 && json_equal(mcp->calls[i].id, id))
			return &mcp->calls[i];
	return NULL;
}

static void close_open_call(struct open_call *call)
{
	json_free(call->id);
	*call = (struct open_call){0};
}

static void start_call(struct mcp *mcp, const struct request *request, const char *tool,
		       const struct json *arguments)
{
	struct open_call *call = find_key(mcp, 0);
	struct json *none = json_object();

	if (call == NULL) {
		send_error(mcp, request->id, INVALID_REQUEST, "too many calls at once", NULL);
	} else if (find_id(mcp, request->id) != NULL) {
		send_error(mcp, request->id, INVALID_REQUEST, "this id is in use", NULL);
	} else {
		call->key = ++mcp->last_key;
		call->id = json_copy(request->id);
		call->modern = request->modern;
		mcp->hooks.call(mcp->hooks.data, call->key, tool,
				arguments != NULL ? arguments : none);
	}
	json_free(none);
}

static void handle_tools_call(struct mcp *mcp, const struct request *request)
{
	const char *tool = json_get_str(request->params, "name");
	const struct json *arguments = json_get(request->params, "arguments");

	if (tool == NULL)
		send_error(mcp, request->id, INVALID_PARAMS, "tools/call needs a name", NULL);
	else if (!knows_tool(mcp, tool))
		send_error(mcp, request->id, INVALID_PARAMS, "no such tool", NULL);
	else if (arguments != NULL && json_type(arguments) != JSON_OBJECT)
		send_error(mcp, request->id, INVALID_PARAMS, "arguments must be an object", NULL);
	else
		start_call(mcp, request, tool, arguments);
}

static const struct method methods[] = {
	{"server/discover", true, false, true, handle_discover},
	{"initialize", false, true, true, handle_initialize},
	{"ping", false, true, true, handle_ping},
	{"tools/list", true, true, false, handle_tools_list},
	{"tools/call", true, true, false, handle_tools_call},
};

/* ---- taking messages ---- */

/* The wanted version is served, or an error was sent. */
static bool check_modern(struct mcp *mcp, const struct request *request, const struct json *meta)
{
	const char *version = json_get_str(meta, META_VERSION);
	struct json *data, *supported;

	if (version == NULL || json_type(json_get(meta, META_CAPABILITIES)) != JSON_OBJECT) {
		send_error(mcp, request->id, INVALID_PARAMS,
			   "_meta needs " META_VERSION " and " META_CAPABILITIES, NULL);
		return false;
	}
	if (strcmp(version, MODERN_VERSION) == 0)
		return true;
	data = json_object();
	supported = json_array();
	json_push_str(supported, MODERN_VERSION);
	json_set(data, "supported", supported);
	json_set_str(data, "requested", version);
	send_error(mcp, request->id, UNSUPPORTED_VERSION, "this protocol version is not served",
		   data);
	return false;
}

/* server/discover and subscriptions/listen exist only in the modern era, whatever _meta says. */
static bool only_modern(const char *method)
{
	return strcmp(method, "server/discover") == 0 ||
	       strcmp(method, "subscriptions/listen") == 0;
}

static void dispatch(struct mcp *mcp, const struct request *request)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		const struct method *method = &methods[i];

		if (strcmp(method->name, request->method) != 0)
			continue;
		if (request->modern ? !method->modern : !method->legacy)
			break;
		if (!request->modern && mcp->session == NULL && !method->before_initialize) {
			send_error(mcp, request->id, INVALID_REQUEST,
				   "initialize first, or send " META_VERSION " in _meta", NULL);
			return;
		}
		method->handle(mcp, request);
		return;
	}
	send_error(mcp, request->id, METHOD_NOT_FOUND, "no such method", NULL);
}

static void take_request(struct mcp *mcp, struct request *request)
{
	const struct json *meta = json_get(request->params, "_meta");

	request->modern = json_get(meta, META_VERSION) != NULL || only_modern(request->method);
	if (!request->modern || check_modern(mcp, request, meta))
		dispatch(mcp, request);
}

/* After a cancellation nothing more is sent for that id. */
static void take_notification(struct mcp *mcp, const char *method, const struct json *params)
{
	struct open_call *call;
	int64_t key;

	if (strcmp(method, "notifications/cancelled") != 0)
		return;
	call = find_id(mcp, json_get(params, "requestId"));
	if (call == NULL)
		return;
	key = call->key;
	close_open_call(call);
	mcp->hooks.cancel(mcp->hooks.data, key);
}

static bool is_id(const struct json *id)
{
	return json_type(id) == JSON_STRING || json_type(id) == JSON_INT;
}

static void take_object(struct mcp *mcp, const struct json *message)
{
	const char *version = json_get_str(message, "jsonrpc");
	struct request request = {.id = json_get(message, "id"),
				  .method = json_get_str(message, "method"),
				  .params = json_get(message, "params")};
	bool params_ok = request.params == NULL || json_type(request.params) == JSON_OBJECT;

	/* Answers to requests that we never send: nothing to do. */
	if (request.method == NULL &&
	    (json_get(message, "result") != NULL || json_get(message, "error") != NULL))
		return;
	if (version == NULL || strcmp(version, "2.0") != 0 || request.method == NULL ||
	    !params_ok || (request.id != NULL && !is_id(request.id)))
		send_error(mcp, is_id(request.id) ? request.id : NULL, INVALID_REQUEST,
			   "not a JSON-RPC 2.0 request", NULL);
	else if (request.id == NULL)
		take_notification(mcp, request.method, request.params);
	else
		take_request(mcp, &request);
}

/* Batches exist in 2025-03-26 alone; their answers may be sent one by one. */
static bool batches_allowed(const struct mcp *mcp)
{
	return mcp->session != NULL && strcmp(mcp->session, "2025-03-26") == 0;
}

void mcp_take(struct mcp *mcp, const struct json *message)
{
	if (json_type(message) == JSON_OBJECT) {
		take_object(mcp, message);
	} else if (json_type(message) == JSON_ARRAY && json_len(message) > 0 &&
		   batches_allowed(mcp)) {
		json_each(one, message)
		{
			if (json_type(one) == JSON_OBJECT)
				take_object(mcp, one);
			else
				send_error(mcp, NULL, INVALID_REQUEST, "not a request", NULL);
		}
	} else {
		send_error(mcp, NULL, INVALID_REQUEST, "a message is one JSON object", NULL);
	}
}

void mcp_take_broken(struct mcp *mcp, const char *why)
{
	send_error(mcp, NULL, PARSE_ERROR, why, NULL);
}

static struct json *tool_content(const char *text)
{
	struct json *content = json_array();
	struct json *block = json_object();

	json_set_str(block, "type", "text");
	json_set_str(block, "text", text);
	json_push(content, block);
	return content;
}

/* Structured content came with 2025-06-18. */
static bool wants_structure(const struct mcp *mcp, const struct open_call *call)
{
	return call->modern || strcmp(mcp->session, "2025-03-26") != 0;
}

void mcp_call_done(struct mcp *mcp, int64_t key, const struct json *result, const struct err *err)
{
	struct open_call *call = find_key(mcp, key);
	struct buf text = BUF_INIT;
	struct json *answer;

	if (call == NULL || key == 0)
		return;
	answer = json_object();
	if (err != NULL) {
		json_set(answer, "content", tool_content(err->text));
		json_set_bool(answer, "isError", true);
	} else {
		json_write(result, &text);
		json_set(answer, "content", tool_content(buf_str(&text)));
		if (wants_structure(mcp, call))
			json_set(answer, "structuredContent", json_copy(result));
		json_set_bool(answer, "isError", !json_get_bool(result, "ok", false));
	}
	send_result(mcp, call->id, call->modern, answer);
	buf_clear(&text);
	close_open_call(call);
}
