/*
 * Who the agent is, for whom it works and in which task is decided here and is never asked again.
 * Its rights are looked up anew at each call: definition and rules come from the bundle in force.
 */
#include "broker/agent.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/crypto.h"
#include "broker/call.h"
#include "broker/peer.h"
#include "broker/task.h"

static size_t agents_of(const struct task *task)
{
	size_t count = 0;

	for (const struct agent *agent = task->agents; agent != NULL; agent = agent->next)
		count++;
	return count;
}

static struct agent *agent_new(struct task *task, const char *name, const char *parent_jti)
{
	struct agent *agent = mem_alloc(sizeof(*agent));
	char uuid[UUID_LEN + 1];

	uuid7(uuid);
	snprintf(agent->id, sizeof(agent->id), "a-%s", uuid);
	agent->task = task;
	agent->name = mem_str(name);
	agent->parent_jti = mem_str(parent_jti);
	agent->use = task_use(task, name);
	agent->peer.kind = PEER_AGENT;
	agent->peer.broker = task->session->peer.broker;
	agent->peer.session = task->session;
	agent->peer.agent = agent;
	agent->next = task->agents;
	task->agents = agent;
	agent->peer.broker->agent_count++;
	return agent;
}

static void send_end(const struct agent *agent, int fd)
{
	struct json *message = json_object();

	json_set_str(message, "kind", "agent");
	json_set_str(message, "channel", agent->id);
	json_set_str(message, "session", agent->task->session->id);
	lane_send(agent->peer.broker->orchestrator, message, fd);
}

int agent_start(struct task *task, const struct agent_def *def, const char *parent_jti,
		struct agent **ret_agent, struct err *err)
{
	struct agent *agent;
	int ends[2];

	if (task->session->peer.broker->orchestrator == NULL)
		return err_set(err, ERR_UNAVAILABLE, "the orchestrator's lane is closed");
	if (agents_of(task) >= AGENTS_PER_TASK_MAX)
		return err_set(err, ERR_LIMIT, "the task has %d agents already",
			       AGENTS_PER_TASK_MAX);
	if (task->session->peer.broker->agent_count >= task->session->peer.broker->capacity.agents)
		return err_set(err, ERR_LIMIT,
			       "%zu agents are at work, as many as the service has room for; try "
			       "again in a moment",
			       task->session->peer.broker->agent_count);
	if (task_is_full(task, err))
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return err_errno(err, "socketpair");
	agent = agent_new(task, def->name, parent_jti);
	peer_open(&agent->peer, ends[0], agent->id);
	send_end(agent, ends[1]);
	*ret_agent = agent;
	return 0;
}

void agent_close(struct agent *agent)
{
	struct broker *broker = agent->peer.broker;
	struct agent **link = &agent->task->agents;

	calls_orphan(agent);
	while (*link != agent)
		link = &(*link)->next;
	*link = agent->next;
	broker->agent_count--;
	peer_close(&agent->peer);
	json_free(agent->view);
	mem_free(agent->view_key);
	mem_free(agent->pool_key);
	mem_free(agent->pool_key_of);
	mem_free(agent->parent_jti);
	mem_free(agent->name);
	mem_free(agent);
	service_step(broker);
}

const struct agent_def *agent_def_now(const struct agent *agent)
{
	return bundle_agent(agent->peer.broker->config->bundle, agent->name);
}

struct subject agent_subject(const struct agent *agent)
{
	return user_subject(&agent->peer.session->user);
}
