/* Join, call, leave. The service may be stopping just when we come: then the connection ends before
 * any answer, and joining again finds the next one. */
#include "cli/ask_service.h"

#include "cli/cli.h"

#define JOIN_TRIES 50

int service_first_call(const char *workspace, int flags, struct service *ret_service,
		       const char *method, const struct json *params, client_on_event *on_event,
		       void *data, struct json **ret_result, struct err *err)
{
	bool lost = true;

	for (int i = 0; i < JOIN_TRIES && lost; i++) {
		if (service_join(workspace, flags, ret_service, err) < 0)
			return -1;
		if (client_call(ret_service->client, method,
				params != NULL ? json_copy(params) : NULL, on_event, data,
				ret_result, &lost, err) == 0)
			return 0;
		service_leave(ret_service);
		if (!(flags & SERVICE_ABSENT_OK))
			break;
	}
	return -1;
}

int service_ask(const char *dir, int flags, const char *method, struct json *params,
		client_on_event *on_event, void *data, struct json **ret_result)
{
	CLEANUP(json_freep) struct json *kept = params;
	CLEANUP(mem_freep) char *workspace = NULL;
	struct service service;
	struct err err = {0};

	if (cli_workspace_find(dir, &workspace, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	if (service_first_call(workspace, flags, &service, method, kept, on_event, data, ret_result,
			       &err) < 0)
		return cli_fail(err.kind == ERR_INVALID || err.kind == ERR_NOT_FOUND
					? EXIT_USAGE
					: EXIT_UNAVAILABLE,
				"%s", err.text);
	service_leave(&service);
	return 0;
}
