/* Join, call, leave. The service may be stopping just when we come: then the connection ends soon
 * and before any answer, and joining again finds the next one. One that ends later took the call
 * with it: whoever asked is told, and may ask again. */
#include "cli/ask_service.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"

#define JOIN_TRIES 50
#define STOPPING_MAX_US (3 * 1000000LL) /* that a service that stops may keep a connection */
#define LAST_WORDS_MAX 4096u

/* A service of our own that ended unasked wrote its reason to run/service.log. */
static int explain_end(const char *workspace, struct err *err)
{
	CLEANUP(mem_freep) char *run = mem_format("%s/run", workspace);
	CLEANUP(fd_closep) int run_fd = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(buf_clear) struct buf words = BUF_INIT;
	struct err unread = {0};

	if (run_fd < 0 ||
	    file_read_at(run_fd, "service.log", LAST_WORDS_MAX, &words, &unread) < 0 ||
	    words.len == 0)
		return err_set(err, ERR_UNAVAILABLE,
			       "the service ended before it answered; see %s/run/service.log",
			       workspace);
	while (words.len > 0 && words.bytes[words.len - 1] == '\n')
		words.bytes[--words.len] = '\0';
	return err_set(err, ERR_UNAVAILABLE, "the service ended before it answered:\n%s",
		       buf_str(&words));
}

static int explain_loss(const char *workspace, struct err *err)
{
	return err_set(
		err, ERR_UNAVAILABLE,
		"the service ended this call without an answer, as when one of its programs "
		"dies or hangs and is started again; writ status -C %s says which; ask again",
		workspace);
}

int service_first_call(const char *workspace, int flags, struct service *ret_service,
		       const char *method, const struct json *params, client_on_event *on_event,
		       void *data, struct json **ret_result, struct err *err)
{
	bool lost = true;

	for (int i = 0; i < JOIN_TRIES && lost; i++) {
		int64_t joined_us;

		if (service_join(workspace, flags, ret_service, err) < 0)
			return -1;
		joined_us = clock_mono_us();
		if (client_call(ret_service->client, method,
				params != NULL ? json_copy(params) : NULL, on_event, data,
				ret_result, &lost, err) == 0)
			return 0;
		if (lost && ret_service->supervisor_done >= 0) {
			service_leave(ret_service);
			return explain_end(workspace, err);
		}
		service_leave(ret_service);
		if (lost && clock_mono_us() - joined_us > STOPPING_MAX_US)
			return explain_loss(workspace, err);
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
