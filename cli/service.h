/*
 * Finding the service of a workspace, or being it.
 *
 * run/writ.sock answers -> join it. Nobody answers -> whoever gets run/lock starts the service for
 * as long as sessions last (--until-idle); everyone else tries again until it answers.
 */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "base/err.h"
#include "cli/client.h"

struct service {
	struct client *client; /* owned */
	int supervisor_done; /* reads end of file once the service we started has stopped; or -1 */
};

#define SERVICE_ABSENT_OK 1 /* start one for our own use when none runs (owner only) */

MUST_CHECK int service_join(const char *workspace, int flags, struct service *ret_service,
			    struct err *err);
/* Ends our session; waits a moment for a service that we started to finish its log. */
void service_leave(struct service *service);

#endif
