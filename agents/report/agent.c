/*
 * One call (token.issue), then the text. The built-in writer is held to the same check as any other
 * writer; were its own text to fail, the report would be refused rather than sent out unbacked.
 */
#include "agents/report/agent.h"

#include "agents/client.h"
#include "agents/report/report.h"

#define TOKEN_MS 10000

struct report_agent {
	struct channel *channel;
	struct json *handoff; /* an owned copy */
	trace_fn *trace;
	void *data;
	void (*done)(void *data, const char *text, const char *why_replaced, const struct err *err);
};

static void finish(struct report_agent *agent, const char *text, const struct err *err)
{
	channel_close(TAKE(agent->channel));
	agent->done(agent->data, text, NULL, err);
	json_free(agent->handoff);
	mem_free(agent);
}

static void write_report(struct report_agent *agent)
{
	const struct json *context = json_get(agent->handoff, "context");
	struct report_input input = {
		.question = json_get_str(context, "question"),
		.result = json_get(context, "result"),
		.columns = json_get(context, "columns"),
		.words = json_get(context, "words"),
		.period = json_get(context, "period"),
		.flags = json_get(context, "flags"),
	};
	struct buf text = BUF_INIT;
	struct err err = {0};

	report_builtin(&input, &text);
	if (report_check(&input, buf_str(&text), &err) < 0) {
		err_wrap(&err, "the report does not agree with its result");
		finish(agent, NULL, &err);
	} else {
		finish(agent, buf_str(&text), NULL);
	}
	buf_clear(&text);
}

static void on_token(void *data, const struct json *result, const struct err *err)
{
	struct report_agent *agent = data;

	if (err != NULL) {
		finish(agent, NULL, err);
		return;
	}
	if (agent->trace != NULL)
		agent->trace(agent->data, "token", "report agent: a token without tools or data",
			     result);
	write_report(agent);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct err refused = {0};

	(void)owner;
	(void)params;
	err_set(&refused, ERR_INVALID, "an agent answers no %s", method);
	if (id > 0)
		channel_fail(channel, id, &refused, NULL);
}

/* The pending call was already answered, and with it the agent finished. */
static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	(void)channel;
	(void)owner;
	(void)why;
}

static const struct channel_handlers handlers = {.on_request = on_request, .on_close = on_close};

int report_agent_start(uv_loop_t *loop, const struct report_agent_options *options,
		       struct report_agent **ret_agent, struct err *err)
{
	struct report_agent *agent = mem_alloc(sizeof(*agent));

	agent->handoff = handoff_to_json(options->handoff);
	agent->trace = options->trace;
	agent->data = options->data;
	agent->done = options->done;
	agent->channel =
		channel_open(loop, options->channel_fd, options->handoff->to, &handlers, agent);
	if (client_token_issue(agent->channel, TOKEN_MS, on_token, agent) == 0) {
		channel_close(agent->channel);
		json_free(agent->handoff);
		mem_free(agent);
		return err_set(err, ERR_UNAVAILABLE, "the broker is gone");
	}
	*ret_agent = agent;
	return 0;
}

void report_agent_cancel(struct report_agent *agent)
{
	channel_close(TAKE(agent->channel));
}
