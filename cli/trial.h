/* Tool calls as an agent would make them, each recorded as a trial: for commands that look at the
 * data through the service, seeing what the agent's scope shows and not more. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "cli/service.h"

struct trial {
	const char *workspace; /* absolute path; borrowed */
	const char *agent;     /* borrowed */
	struct service service;
	bool open;
};

/* arguments are taken; NULL for none. A refused call is an error of the kind that says whose fault
 * it is: ERR_INVALID of the statement, ERR_LIMIT, ERR_DENIED, else ERR_UNAVAILABLE. The service is
 * joined, or started, at the first call. */
MUST_CHECK int trial_call(struct trial *trial, const char *tool, struct json *arguments,
			  struct json **ret_result, struct err *err);
void trial_close(struct trial *trial);

#endif
