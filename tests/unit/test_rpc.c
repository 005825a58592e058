/* The JSON-RPC envelope: what is taken, what is refused and with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rpc.h"

static void test_a_request_a_notification_and_answers_are_told_apart(void **state)
{
	static const struct {
		const char *line;
		enum rpc_type type;
		int64_t id;
	} cases[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a.b\",\"params\":{}}", RPC_REQUEST, 7},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", RPC_REQUEST, 1},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":1}}", RPC_NOTIFICATION,
		 0},
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}", RPC_RESULT, 3},
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"m\"}}",
		 RPC_ERROR, 3},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"m\"}}",
		 RPC_ERROR, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *json = NULL;
		struct rpc_message message;
		struct err err = {0};

		assert_int_equal(json_parse_str(cases[i].line, &json, &err), 0);
		assert_int_equal(rpc_read(json, &message, &err), 0);
		assert_int_equal(message.type, cases[i].type);
		assert_int_equal(message.id, cases[i].id);
		assert_int_equal(message.method != NULL, message.type <= RPC_NOTIFICATION);
		json_free(json);
	}
}

static void test_whatever_is_not_json_rpc_is_refused_by_name(void **state)
{
	static const struct {
		const char *line;
		const char *text;
	} cases[] = {
		{"[]", "wanted a JSON-RPC object"},
		{"7", "wanted a JSON-RPC object"},
		{"{}", "jsonrpc: wanted \"2.0\""},
		{"{\"jsonrpc\":2.0}", "jsonrpc: wanted \"2.0\""},
		{"{\"jsonrpc\":\"1.0\",\"method\":\"m\"}", "jsonrpc: wanted \"2.0\""},
		{"{\"jsonrpc\":\"2.0\",\"method\":7}", "method: wanted a name"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"\"}", "method: wanted a name"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}",
		 "params: wanted an object"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":null}",
		 "params: wanted an object"},
		{"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\"}",
		 "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"m\"}",
		 "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}",
		 "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}",
		 "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":1}",
		 "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":1}", "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"result\":1}", "id: wanted an integer above 0"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", "wanted one of method, result and error"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":"
		 "\"\"}}",
		 "wanted one of method, result and error"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}", "error: wanted an object"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}",
		 "error.code: wanted an integer"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}",
		 "error.message: wanted a string"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *json = NULL;
		struct rpc_message message = {.id = 99};
		struct err err = {0};

		assert_int_equal(json_parse_str(cases[i].line, &json, &err), 0);
		assert_int_equal(rpc_read(json, &message, &err), -1);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(message.id, 99);
		json_free(json);
	}
}

static void test_an_unknown_member_is_refused_and_named(void **state)
{
	static const char *const lines[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"user\":\"root\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"result\":1,\"user\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"user\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\",\"user\":1}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct json *json = NULL;
		struct rpc_message message;
		struct err err = {0};

		assert_int_equal(json_parse_str(lines[i], &json, &err), 0);
		assert_int_equal(rpc_read(json, &message, &err), -1);
		assert_non_null(i == 1 ? strstr(err.text, "result") : strstr(err.text, "user"));
		json_free(json);
	}
}

static void test_every_error_kind_survives_the_wire(void **state)
{
	(void)state;
	for (int kind = ERR_INVALID; kind <= ERR_INTERNAL; kind++) {
		struct buf line = BUF_INIT;
		struct json *json = NULL;
		struct rpc_message message;
		struct err why, back, err = {0};

		err_set(&why, (enum err_kind)kind, "a \"quoted\" reason");
		rpc_write_error(&line, 5, &why, NULL);
		assert_int_equal(json_parse(line.bytes, line.len, line.len, &json, &err), 0);
		assert_int_equal(rpc_read(json, &message, &err), 0);
		assert_int_equal(json_get_int(message.error, "code", 0), rpc_code(why.kind));
		rpc_error_read(message.error, &back);
		assert_int_equal(back.kind, kind);
		assert_string_equal(back.text, why.text);
		json_remove((struct json *)json_get_mut(json, "error"), "data");
		rpc_error_read(json_get(json, "error"), &back); /* the code alone says as much */
		assert_int_equal(back.kind, kind);
		json_free(json);
		buf_clear(&line);
	}
	assert_int_equal(rpc_code(ERR_INVALID), -32000);
	assert_int_equal(rpc_code(ERR_DENIED), -32001);
	assert_int_equal(rpc_code(ERR_NONE), rpc_code(ERR_INTERNAL));
}

static void test_codes_of_other_implementations_have_a_kind(void **state)
{
	static const struct {
		int code;
		enum err_kind kind;
	} cases[] = {{-32700, ERR_INVALID},   {-32600, ERR_INVALID},  {-32602, ERR_INVALID},
		     {-32601, ERR_NOT_FOUND}, {-32603, ERR_INTERNAL}, {-31999, ERR_INTERNAL},
		     {-32009, ERR_INTERNAL},  {1, ERR_INTERNAL}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *error = json_object();
		struct err err;

		json_set_int(error, "code", cases[i].code);
		json_set_str(error, "message", "m");
		rpc_error_read(error, &err);
		assert_int_equal(err.kind, cases[i].kind);
		json_free(error);
	}
}

static void test_lines_are_written_as_the_specification_says(void **state)
{
	struct buf line = BUF_INIT;
	struct json *data = json_object();
	struct json *params = json_object();
	struct err why;

	(void)state;
	json_set_str(params, "sql", "SELECT 1");
	rpc_write_request(&line, 12, "tool.call", params);
	assert_string_equal(line.bytes, "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tool.call\","
					"\"params\":{\"sql\":\"SELECT 1\"}}\n");
	buf_reset(&line);
	rpc_write_request(&line, 0, "n", NULL);
	assert_string_equal(line.bytes, "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n");
	buf_reset(&line);
	rpc_write_result(&line, 12, NULL);
	assert_string_equal(line.bytes, "{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":null}\n");
	buf_reset(&line);
	err_set(&why, ERR_DENIED, "no");
	json_set_str(data, "kind", "forged");
	json_set_str(data, "hint", "ask");
	rpc_write_error(&line, 12, &why, data);
	assert_string_equal(line.bytes, "{\"jsonrpc\":\"2.0\",\"id\":12,\"error\":{\"code\":-32001,"
					"\"message\":\"no\",\"data\":{\"kind\":\"denied\","
					"\"hint\":\"ask\"}}}\n");
	buf_reset(&line);
	rpc_write_refusal(&line, RPC_CODE_NOT_JSON, "bad");
	assert_string_equal(line.bytes,
			    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
			    "\"message\":\"bad\",\"data\":{\"kind\":\"invalid\"}}}\n");
	buf_clear(&line);
	json_free(data);
	json_free(params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_a_notification_and_answers_are_told_apart),
		cmocka_unit_test(test_whatever_is_not_json_rpc_is_refused_by_name),
		cmocka_unit_test(test_an_unknown_member_is_refused_and_named),
		cmocka_unit_test(test_every_error_kind_survives_the_wire),
		cmocka_unit_test(test_codes_of_other_implementations_have_a_kind),
		cmocka_unit_test(test_lines_are_written_as_the_specification_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
