/* The Model Context Protocol without I/O: each method in each era, and what is wrong with a
 * message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/mcp.h"

#define META                                                                                       \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

struct host {
	struct mcp *mcp;
	struct json *tools;
	struct json *sent; /* the last message; NULL when nothing was sent */
	int sent_count;
	int64_t called; /* key of the last call */
	char tool[32];
	int64_t cancelled;
};

static void on_send(void *data, const struct json *message)
{
	struct host *host = data;

	json_free(host->sent);
	host->sent = json_copy(message);
	host->sent_count++;
}

static void on_call(void *data, int64_t key, const char *tool, const struct json *arguments)
{
	struct host *host = data;

	assert_int_equal(json_type(arguments), JSON_OBJECT);
	host->called = key;
	strncpy(host->tool, tool, sizeof(host->tool) - 1);
}

static void on_cancel(void *data, int64_t key)
{
	struct host *host = data;

	host->cancelled = key;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static int set_up(void **state)
{
	struct host *host = mem_alloc(sizeof(*host));
	struct mcp_hooks hooks = {host, on_send, on_call, on_cancel};

	host->tools = parse("[{\"name\":\"run_query\",\"inputSchema\":{\"type\":\"object\"}}]");
	host->mcp = mcp_new(host->tools, &hooks);
	*state = host;
	return 0;
}

static int tear_down(void **state)
{
	struct host *host = *state;

	mcp_free(host->mcp);
	json_free(host->tools);
	json_free(host->sent);
	mem_free(host);
	return 0;
}

/* NULL when nothing was sent. */
static const struct json *say(struct host *host, const char *text)
{
	CLEANUP(json_freep) struct json *message = parse(text);

	json_free(TAKE(host->sent));
	mcp_take(host->mcp, message);
	return host->sent;
}

static int64_t error_code(const struct json *answer)
{
	return json_get_int(json_get(answer, "error"), "code", 0);
}

static void initialize(struct host *host, const char *version)
{
	CLEANUP(mem_freep)
	char *text =
		mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
			   "{\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
			   version);

	assert_non_null(json_get(say(host, text), "result"));
}

static void test_modern_requests_need_no_handshake(void **state)
{
	struct host *host = *state;
	const struct json *result;

	result = json_get(say(host,
			      "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"server/discover\","
			      "\"params\":{" META "}}"),
			  "result");
	assert_string_equal(json_get_str(result, "resultType"), "complete");
	assert_string_equal(json_str(json_at(json_get(result, "supportedVersions"), 0)),
			    "2026-07-28");
	assert_string_equal(json_get_str(result, "cacheScope"), "private");
	result = json_get(say(host, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
				    "\"params\":{" META ",\"cursor\":\"\"}}"),
			  "result");
	assert_int_equal(json_len(json_get(result, "tools")), 1);
	assert_int_equal(json_get_int(result, "ttlMs", -1), 0);
}

static void test_each_era_refuses_the_others_methods(void **state)
{
	struct host *host = *state;

	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
				     "\"params\":{" META "}}")),
		-32601);
	assert_int_equal(error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\","
					      "\"params\":{" META "}}")),
			 -32601);
	assert_int_equal(
		error_code(
			say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}")),
		-32602);
	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")),
		-32600);
}

static void test_an_unknown_modern_version_names_what_is_served(void **state)
{
	struct host *host = *state;
	const struct json *data;

	say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
		  "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
		  "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
	assert_int_equal(error_code(host->sent), -32022);
	data = json_get(json_get(host->sent, "error"), "data");
	assert_string_equal(json_get_str(data, "requested"), "2099-01-01");
	assert_string_equal(json_str(json_at(json_get(data, "supported"), 0)), "2026-07-28");
}

static void test_legacy_versions_are_agreed_on(void **state)
{
	struct host *host = *state;

	initialize(host, "1999-01-01");
	assert_string_equal(json_get_str(json_get(host->sent, "result"), "protocolVersion"),
			    "2025-11-25");
	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\","
				     "\"params\":{\"protocolVersion\":\"2025-06-18\"}}")),
		-32600);
	assert_non_null(json_get(say(host, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}"),
				 "result"));
}

static void test_a_call_is_answered_once_and_cancelled_ones_never(void **state)
{
	struct host *host = *state;
	CLEANUP(json_freep)
	struct json *result = parse("{\"ok\":false,\"error\":\"no such table\"}");
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
		"{\"name\":\"run_query\",\"arguments\":{}," META "}}";
	int64_t key;

	assert_null(say(host, call));
	key = host->called;
	assert_string_equal(host->tool, "run_query");
	assert_int_equal(error_code(say(host, call)), -32600); /* the id is in use */
	mcp_call_done(host->mcp, key, result, NULL);
	assert_true(json_get_bool(json_get(host->sent, "result"), "isError", false));
	assert_string_equal(
		json_get_str(json_get(json_get(host->sent, "result"), "structuredContent"),
			     "error"),
		"no such table");
	say(host, call);
	key = host->called;
	say(host, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		  "cancelled\",\"params\":{\"requestId\":7}}");
	assert_int_equal(host->cancelled, key);
	host->sent_count = 0;
	mcp_call_done(host->mcp, key, result, NULL);
	assert_int_equal(host->sent_count, 0);
}

static void test_wrong_calls_are_errors_of_the_request(void **state)
{
	struct host *host = *state;

	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				     "\"params\":{\"name\":\"nope\"," META "}}")),
		-32602);
	assert_int_equal(
		error_code(say(host,
			       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
			       "\"params\":{\"name\":\"run_query\",\"arguments\":[]," META "}}")),
		-32602);
	assert_int_equal(host->called, 0);
}

static void test_messages_that_are_no_requests(void **state)
{
	struct host *host = *state;

	assert_int_equal(error_code(say(host, "[]")), -32600);
	assert_int_equal(error_code(say(host, "\"x\"")), -32600);
	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}")),
		-32600);
	assert_int_equal(
		error_code(say(host, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}")),
		-32600);
	assert_int_equal(
		error_code(say(host,
			       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}")),
		-32600);
	assert_null(say(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
	assert_null(say(host, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	mcp_take_broken(host->mcp, "line 1, column 1: not JSON");
	assert_int_equal(error_code(host->sent), -32700);
}

static void test_batches_only_in_the_version_that_has_them(void **state)
{
	struct host *host = *state;

	initialize(host, "2025-03-26");
	host->sent_count = 0;
	say(host, "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},"
		  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"},1]");
	assert_int_equal(host->sent_count, 3);
	assert_int_equal(error_code(host->sent), -32600);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_modern_requests_need_no_handshake),
		CASE(test_each_era_refuses_the_others_methods),
		CASE(test_an_unknown_modern_version_names_what_is_served),
		CASE(test_legacy_versions_are_agreed_on),
		CASE(test_a_call_is_answered_once_and_cancelled_ones_never),
		CASE(test_wrong_calls_are_errors_of_the_request),
		CASE(test_messages_that_are_no_requests),
		CASE(test_batches_only_in_the_version_that_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
