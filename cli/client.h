/* The command line's end of the client channel: blocking JSON-RPC over the local socket. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/err.h"
#include "base/json.h"

struct client;

/* Called for each notification that arrives while a call waits. */
typedef void client_on_event(void *data, const char *method, const struct json *params);

struct client *client_new(int fd); /* takes fd */
void client_free(struct client *client);
void client_freep(struct client **client);

/* One call; params are taken. On an error of the service err holds its kind and text. lost is set
 * (when not NULL) if the connection ended before any answer, so that the caller may join anew. */
MUST_CHECK int client_call(struct client *client, const char *method, struct json *params,
			   client_on_event *on_event, void *data, struct json **ret_result,
			   bool *ret_lost, struct err *err);
/* Sends a notification-like request whose answer nobody waits for (cancel from a signal). */
MUST_CHECK int client_send(struct client *client, const char *method, struct json *params,
			   struct err *err);
int client_fd(const struct client *client);

#endif
