/* One call to the service of a workspace, however it has to be reached. */
#ifndef CLI_ASK_SERVICE_H
#define CLI_ASK_SERVICE_H

#include "cli/client.h"
#include "cli/service.h"

/*
 * Joins (or, with SERVICE_ABSENT_OK, starts) the service named by dir (-C, may be NULL), makes one
 * call and leaves. A service that was just stopping is joined anew. params are taken. On failure a
 * message was printed and the exit code is returned; 0 otherwise.
 */
int service_ask(const char *dir, int flags, const char *method, struct json *params,
		client_on_event *on_event, void *data, struct json **ret_result);

/* The same on a session that stays: opens it and makes its first call. Close with service_leave().
 */
MUST_CHECK int service_first_call(const char *workspace, int flags, struct service *ret_service,
				  const char *method, const struct json *params,
				  client_on_event *on_event, void *data, struct json **ret_result,
				  struct err *err);

#endif
