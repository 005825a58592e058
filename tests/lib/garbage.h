/* What a peer that was taken over writes, for unit tests and for tests/lib/client_double.c. */
#ifndef TEST_GARBAGE_H
#define TEST_GARBAGE_H

#include <stddef.h>

/* Lines that are of no protocol of ours. A NUL inside is why the length is given. */
struct bytes {
	const char *name;
	const char *bytes;
	size_t len;
};
#define BYTES(name, text)                                                                          \
	{                                                                                          \
		name, text, sizeof(text) - 1                                                       \
	}

static const struct bytes garbage[] = {
	BYTES("a NUL", "\0\n"),
	BYTES("binary", "\x7f\x45\x4c\x46\x02\x01\x01\x00\xff\xfe\xfd\n"),
	BYTES("no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n"),
	BYTES("a byte order mark", "\xef\xbb\xbf{}\n"),
	BYTES("an empty line", "\n"),
	BYTES("an empty object", "{}\n"),
	BYTES("a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}]\n"),
	BYTES("half an object", "{\"jsonrpc\":\"2.0\",\"id\":1\n"),
	BYTES("text behind it", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"} x\n"),
	BYTES("a key twice",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"method\":\"task.open\"}\n"),
	BYTES("a key twice, escaped",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"\\u006dethod\":\"x\"}\n"),
	BYTES("an escaped NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sta\\u0000tus\"}\n"),
	BYTES("a lone surrogate", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}\n"),
	BYTES("a control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}\n"),
	BYTES("another version", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"status\"}\n"),
	BYTES("no version", "{\"id\":1,\"method\":\"status\"}\n"),
	BYTES("a foreign member",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"user\":\"bob\"}\n"),
	BYTES("a text as id", "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"status\"}\n"),
	BYTES("a fraction as id", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"status\"}\n"),
	BYTES("a negative id", "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"status\"}\n"),
	BYTES("null as id", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"status\"}\n"),
	BYTES("an id out of range",
	      "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"status\"}\n"),
	BYTES("a number out of range",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{\"x\":1e400}}\n"),
	BYTES("an array as params",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":[]}\n"),
	BYTES("a number as method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n"),
	BYTES("an answer to nothing", "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n"),
	BYTES("an unknown method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"policy.load\"}\n"),
	BYTES("a connector's method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"execute\"}\n"),
	BYTES("a signer's method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.sign\"}\n"),
	BYTES("an open id again",
	      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"task.close\",\"params\":{\"task\":\"t\","
	      "\"x\":1}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
};

#endif
