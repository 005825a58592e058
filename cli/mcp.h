/*
 * The Model Context Protocol over stdio, server side, without any I/O: messages in, messages out,
 * and calls to be made in between. Specification versions 2026-07-28 (modern: no handshake, every
 * request carries its version) and 2025-11-25, 2025-06-18, 2025-03-26 (legacy: initialize first).
 * https://modelcontextprotocol.io/specification
 *
 * Which era a request belongs to is decided per request: a protocol version in params._meta means
 * modern; an `initialize` without it opens the legacy session of this process.
 */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include <stdbool.h>

#include "base/json.h"

struct mcp;

struct mcp_hooks {
	void *data;
	void (*send)(void *data, const struct json *message);
	/* Make the call; answer later with mcp_call_done(). key is unique among open calls. */
	void (*call)(void *data, int64_t key, const char *tool, const struct json *arguments);
	void (*cancel)(void *data, int64_t key); /* no answer is wanted any more */
};

/* tools: [{"name","description","inputSchema"}], lent for the life of mcp. */
struct mcp *mcp_new(const struct json *tools, const struct mcp_hooks *hooks);
void mcp_free(struct mcp *mcp); /* NULL is fine */

/* One parsed line of the host; sends what there is to send. */
void mcp_take(struct mcp *mcp, const struct json *message);
/* The line was not JSON. */
void mcp_take_broken(struct mcp *mcp, const char *why);
/* result of the tool (docs/protocol.md), or why there is none. Ignored for cancelled calls. */
void mcp_call_done(struct mcp *mcp, int64_t key, const struct json *result, const struct err *err);

#endif
