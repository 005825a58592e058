/* Bringing together an agent's channel id and its descriptor; see agent_wait.h. */
#include "orchestrator/agent_wait.h"

#include <string.h>
#include <unistd.h>

#define AGENT_START_MS 10000 /* signing and one durable record take milliseconds */

struct agent_wait {
	struct agent_wait *next;
	struct orchestrator *orchestrator;
	struct session *session; /* NULL: only a descriptor that arrived before its answer */
	struct json *answer;	 /* NULL until the broker has answered */
	char *channel;
	int fd; /* -1 until it arrives */
	agent_started *done;
	void *data;
};

static struct agent_wait *wait_new(struct orchestrator *orchestrator)
{
	struct agent_wait *wait = mem_alloc(sizeof(*wait));

	wait->orchestrator = orchestrator;
	wait->fd = -1;
	wait->next = orchestrator->agent_waits;
	orchestrator->agent_waits = wait;
	return wait;
}

static void wait_free(struct agent_wait *wait)
{
	struct agent_wait **link = &wait->orchestrator->agent_waits;

	while (*link != wait)
		link = &(*link)->next;
	*link = wait->next;
	if (wait->fd >= 0)
		close(wait->fd);
	json_free(wait->answer);
	mem_free(wait->channel);
	mem_free(wait);
}

static struct agent_wait *find_channel(struct orchestrator *orchestrator, const char *channel)
{
	struct agent_wait *wait = orchestrator->agent_waits;

	while (wait != NULL && (wait->channel == NULL || strcmp(wait->channel, channel) != 0))
		wait = wait->next;
	return wait;
}

static void fail(struct agent_wait *wait, const struct err *why)
{
	agent_started *done = wait->done;
	void *data = wait->data;

	wait_free(wait);
	if (done != NULL)
		done(data, -1, NULL, why);
}

static void deliver(struct agent_wait *wait)
{
	agent_started *done = wait->done;
	void *data = wait->data;
	struct json *answer = TAKE(wait->answer);
	int fd = wait->fd;

	wait->fd = -1;
	wait_free(wait);
	if (done != NULL)
		done(data, fd, answer, NULL);
	else
		close(fd);
	json_free(answer);
}

/* The descriptor came first: it waits under its id without a session. */
static void adopt_early_descriptor(struct agent_wait *wait)
{
	struct agent_wait *early = wait->orchestrator->agent_waits;

	while (early != NULL && !(early->session == NULL && early->channel != NULL &&
				  strcmp(early->channel, wait->channel) == 0))
		early = early->next;
	if (early == NULL)
		return;
	wait->fd = early->fd;
	early->fd = -1;
	wait_free(early);
}

static void on_started(void *data, const struct json *result, const struct err *err)
{
	struct agent_wait *wait = data;
	const char *channel = json_get_str(result, "channel");
	struct err missing = {0};

	if (err != NULL) {
		fail(wait, err);
		return;
	}
	if (channel == NULL || strlen(channel) >= CHANNEL_ID_MAX) {
		err_set(&missing, ERR_INTERNAL, "agent.start was answered without a channel");
		fail(wait, &missing);
		return;
	}
	wait->answer = json_copy(result);
	wait->channel = mem_str(channel);
	adopt_early_descriptor(wait);
	if (wait->fd >= 0)
		deliver(wait);
}

void agent_start(struct session *session, const char *task, const char *agent, const char *parent,
		 agent_started *done, void *data)
{
	struct agent_wait *wait = wait_new(session->orchestrator);
	struct json *params = json_object();

	wait->session = session;
	wait->done = done;
	wait->data = data;
	json_set_str(params, "task", task);
	json_set_str(params, "agent", agent);
	if (parent != NULL)
		json_set_str(params, "parent", parent);
	if (channel_call(session->broker, "agent.start", params, AGENT_START_MS, on_started,
			 wait) == 0) {
		struct err gone = {0};

		err_set(&gone, ERR_UNAVAILABLE, "the broker is gone");
		fail(wait, &gone);
	}
}

void agent_wait_arrived(struct orchestrator *orchestrator, const char *channel, int fd)
{
	struct agent_wait *wait = find_channel(orchestrator, channel);

	if (wait == NULL) {
		wait = wait_new(orchestrator);
		wait->channel = mem_str(channel);
		wait->fd = fd;
		return;
	}
	if (wait->fd >= 0)
		close(wait->fd);
	wait->fd = fd;
	if (wait->answer != NULL)
		deliver(wait);
}

/* Waiters whose call is still open are told by the channel's own end. */
void agent_wait_session_ended(struct session *session)
{
	struct agent_wait *wait = session->orchestrator->agent_waits;
	struct err gone = {0};

	err_set(&gone, ERR_UNAVAILABLE, "the session has ended");
	while (wait != NULL) {
		if (wait->session == session && wait->answer != NULL) {
			fail(wait, &gone);
			wait = session->orchestrator->agent_waits;
		} else {
			wait = wait->next;
		}
	}
}

void agent_wait_forget(struct orchestrator *orchestrator, const void *data)
{
	for (struct agent_wait *wait = orchestrator->agent_waits; wait != NULL; wait = wait->next)
		if (wait->data == data)
			wait->done = NULL;
}
