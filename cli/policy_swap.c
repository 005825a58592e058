/*
 * The supervisor is who listens on the workspace's socket, and the kernel tells who that is;
 * SIGUSR1 makes it pass the word on to the broker. The broker's status then says what became of it.
 */
#include "cli/policy_swap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "cli/service.h"

#define SWAP_WAIT_US (10 * 1000000LL)
#define SWAP_STEP_MS 2

static int ask_status(struct service *service, struct json **ret_status, struct err *err)
{
	return client_call(service->client, "status", NULL, NULL, NULL, ret_status, NULL, err);
}

static int64_t reload_count(const struct json *status)
{
	const struct json *reloads = json_get(json_get(status, "policy"), "reloads");

	return json_get_int(reloads, "applied", 0) + json_get_int(reloads, "refused", 0);
}

static int find_supervisor(const struct service *service, pid_t *ret_pid, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(client_fd(service->client), SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_errno(err, "who serves run/writ.sock");
	if (peer.pid <= 0)
		return err_set(err, ERR_UNAVAILABLE, "the service runs out of sight");
	*ret_pid = peer.pid;
	return 0;
}

static void read_answer(const struct json *status, const char *digest, struct swap_result *result)
{
	const struct json *policy = json_get(status, "policy");
	const char *now = json_get_str(policy, "digest");
	const char *reason = json_get_str(json_get(policy, "reloads"), "reason");

	result->applied = now != NULL && strcmp(now, digest) == 0;
	if (!result->applied)
		snprintf(result->reason, sizeof(result->reason), "%.255s",
			 reason != NULL ? reason : "the service obeys another bundle");
}

static int swap(struct service *service, const char *digest, struct swap_result *result,
		struct err *err)
{
	CLEANUP(json_freep) struct json *before = NULL;
	int64_t start;
	pid_t pid;

	if (ask_status(service, &before, err) < 0 || find_supervisor(service, &pid, err) < 0)
		return -1;
	start = clock_mono_us();
	if (kill(pid, SIGUSR1) < 0)
		return err_errno(err, "tell the service (process %d)", (int)pid);
	while (clock_mono_us() - start < SWAP_WAIT_US) {
		CLEANUP(json_freep) struct json *status = NULL;

		if (ask_status(service, &status, err) < 0)
			return -1;
		if (reload_count(status) > reload_count(before)) {
			result->took_us = clock_mono_us() - start;
			read_answer(status, digest, result);
			return 0;
		}
		IGNORE(poll(NULL, 0, SWAP_STEP_MS) < 0, "only a pause");
	}
	return err_set(err, ERR_TIMEOUT, "the service did not answer to the new policy in time");
}

int policy_swap(const char *workspace, const char *digest, struct swap_result *ret_result,
		struct err *err)
{
	struct swap_result result = {.running = true};
	struct service service;
	int done;

	if (service_join(workspace, 0, &service, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE)
			return -1;
		err_clear(err);
		*ret_result = (struct swap_result){0};
		return 0;
	}
	done = swap(&service, digest, &result, err);
	service_leave(&service);
	*ret_result = result;
	return done;
}
