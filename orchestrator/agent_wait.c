/*
 * Bringing together an agent's channel id and its descriptor; see agent_wait.h. One list holds both
 * halves: starters, and descriptors that came before their answer. While the broker's answer is out
 * the call's own deadline counts; afterwards, and for a descriptor alone, the one timer here.
 */
#include "orchestrator/agent_wait.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct agent_wait {
	struct agent_wait *next;
	struct session *session; /* outlives this */
	uint64_t deadline_ms;	 /* uv_now() */
	int64_t call;		 /* agent.start, while it is out; 0 */
	struct json *answer;	 /* NULL until the broker has answered */
	char *channel;		 /* NULL until it is known */
	int fd;			 /* -1 until it arrives */
	agent_started *done;	 /* NULL: only a descriptor */
	void *data;
};

static void on_timer(uv_timer_t *timer);

static uint64_t now_ms(struct orchestrator *orchestrator)
{
	uv_update_time(orchestrator->loop);
	return uv_now(orchestrator->loop);
}

/* The deadline of the call itself is the channel's. */
static bool is_timed(const struct agent_wait *wait)
{
	return wait->call == 0;
}

static void arm_timer(struct orchestrator *orchestrator)
{
	uint64_t now = now_ms(orchestrator);
	uint64_t first = UINT64_MAX;

	for (const struct agent_wait *wait = orchestrator->agent_waits; wait != NULL;
	     wait = wait->next)
		if (is_timed(wait) && wait->deadline_ms < first)
			first = wait->deadline_ms;
	if (first == UINT64_MAX)
		uv_timer_stop(&orchestrator->agent_timer);
	else
		uv_timer_start(&orchestrator->agent_timer, on_timer, first > now ? first - now : 0,
			       0);
}

static struct agent_wait *wait_new(struct session *session)
{
	struct orchestrator *orchestrator = session->orchestrator;
	struct agent_wait *wait = mem_alloc(sizeof(*wait));

	wait->session = session;
	wait->fd = -1;
	wait->deadline_ms = now_ms(orchestrator) + (uint64_t)orchestrator->agent_start_ms;
	wait->next = orchestrator->agent_waits;
	orchestrator->agent_waits = wait;
	return wait;
}

static void wait_free(struct agent_wait *wait)
{
	struct agent_wait **link = &wait->session->orchestrator->agent_waits;

	while (*link != wait)
		link = &(*link)->next;
	*link = wait->next;
	if (wait->fd >= 0)
		close(wait->fd);
	json_free(wait->answer);
	mem_free(wait->channel);
	mem_free(wait);
}

/* The session's half of that channel: a starter's, or a descriptor alone. */
static struct agent_wait *find_channel(const struct session *session, const char *channel,
				       bool starter)
{
	struct agent_wait *wait = session->orchestrator->agent_waits;

	while (wait != NULL &&
	       (wait->session != session || wait->channel == NULL ||
		(wait->done != NULL) != starter || strcmp(wait->channel, channel) != 0))
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
	done(data, fd, answer, NULL);
	json_free(answer);
}

static struct agent_wait *first_overdue(struct orchestrator *orchestrator)
{
	uint64_t now = now_ms(orchestrator);
	struct agent_wait *wait = orchestrator->agent_waits;

	while (wait != NULL && !(is_timed(wait) && wait->deadline_ms <= now))
		wait = wait->next;
	return wait;
}

static void on_timer(uv_timer_t *timer)
{
	struct orchestrator *orchestrator = timer->data;
	struct agent_wait *wait;
	struct err late = {0};

	err_set(&late, ERR_TIMEOUT, "the agent's channel did not arrive within %" PRId64 " ms",
		orchestrator->agent_start_ms);
	while ((wait = first_overdue(orchestrator)) != NULL)
		fail(wait, &late);
	arm_timer(orchestrator);
}

static void on_started(void *data, const struct json *result, const struct err *err)
{
	struct agent_wait *wait = data;
	const char *channel = json_get_str(result, "channel");
	struct agent_wait *early;
	struct err missing = {0};

	wait->call = 0;
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
	early = find_channel(wait->session, channel, false);
	if (early == NULL) {
		arm_timer(wait->session->orchestrator);
		return;
	}
	wait->fd = early->fd;
	early->fd = -1;
	wait_free(early);
	deliver(wait);
}

void agent_start(struct session *session, const char *task, const char *agent, const char *parent,
		 agent_started *done, void *data)
{
	struct agent_wait *wait = wait_new(session);
	struct json *params = json_object();
	struct err gone = {0};

	wait->done = done;
	wait->data = data;
	json_set_str(params, "task", task);
	json_set_str(params, "agent", agent);
	if (parent != NULL)
		json_set_str(params, "parent", parent);
	wait->call = channel_call(session->broker, "agent.start", params,
				  session->orchestrator->agent_start_ms, on_started, wait);
	if (wait->call == 0) {
		channel_why_not(session->broker, "the broker", &gone);
		fail(wait, &gone);
	}
}

void agent_wait_cancel(struct orchestrator *orchestrator, const void *data)
{
	struct agent_wait *wait = orchestrator->agent_waits;
	struct err cancelled = {0};

	while (wait != NULL && !(wait->done != NULL && wait->data == data))
		wait = wait->next;
	if (wait == NULL)
		return;
	if (wait->call != 0) {
		channel_forget(wait->session->broker, wait->call); /* its done fails the waiter */
		return;
	}
	err_set(&cancelled, ERR_CANCELED, "the start of the agent was given up");
	fail(wait, &cancelled);
}

void agent_wait_arrived(struct session *session, const char *channel, int fd)
{
	struct agent_wait *wait = find_channel(session, channel, true);

	if (wait != NULL) {
		wait->fd = fd;
		deliver(wait);
		return;
	}
	if (find_channel(session, channel, false) != NULL) {
		close(fd); /* a channel has one descriptor */
		return;
	}
	wait = wait_new(session);
	wait->channel = mem_str(channel);
	wait->fd = fd;
	arm_timer(session->orchestrator);
}

/* Waiters whose call is still out are told by the channel's own end. */
void agent_wait_session_ended(struct session *session)
{
	struct agent_wait *wait = session->orchestrator->agent_waits;
	struct err gone = {0};

	err_set(&gone, ERR_UNAVAILABLE, "the session has ended");
	while (wait != NULL) {
		if (wait->session == session && wait->call == 0) {
			fail(wait, &gone);
			wait = session->orchestrator->agent_waits;
		} else {
			wait = wait->next;
		}
	}
}

void agent_wait_init(struct orchestrator *orchestrator)
{
	uv_timer_init(orchestrator->loop, &orchestrator->agent_timer);
	orchestrator->agent_timer.data = orchestrator;
	orchestrator->agent_start_ms = AGENT_START_MS;
}

void agent_wait_close(struct orchestrator *orchestrator)
{
	uv_close((uv_handle_t *)&orchestrator->agent_timer, NULL);
}
