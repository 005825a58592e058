/* Putting the parts together and apart; service.c gives them life. */
#include "broker/broker.h"

#include "base/clock.h"
#include "base/log.h"
#include "broker/peer.h"
#include "broker/session.h"
#include "broker/trail.h"
#include "writ/limits.h"

struct setting broker_setting(const struct broker *broker)
{
	return (struct setting){
		.now_s = broker_now_s(broker),
		.environment = json_get_str(broker->config->setting, "environment"),
	};
}

bool broker_log_works(const struct broker *broker, struct err *ret_why)
{
	if (broker->audit == NULL) {
		err_set(ret_why, ERR_UNAVAILABLE, "the audit log is not open");
		return false;
	}
	if (audit_stopped(broker->audit, ret_why)) {
		err_wrap(ret_why, "the audit log has stopped");
		return false;
	}
	return !signer_client_away(broker->signer, ret_why);
}

static void on_connector_request(void *self, const struct connector *connector, const char *method)
{
	struct peer peer = {.kind = PEER_CONNECTOR, .broker = self};

	log_error("connector %s called %.64s and lost its channel", connector->name, method);
	trail_channel_refused(&peer, "method_of_another_channel");
}

static void on_connector_down(void *self, const struct connector *connector, const struct err *why)
{
	struct peer peer = {.kind = PEER_CONNECTOR, .broker = self};

	log_info("connector %s is down: %s", connector->name,
		 why->kind == ERR_NONE ? "it ended" : why->text);
	if (why->kind == ERR_INVALID)
		trail_channel_refused(&peer, "invalid");
}

void broker_init(struct broker *broker, uv_loop_t *loop, const struct broker_options *options,
		 struct config *config, struct token_store *store)
{
	*broker = (struct broker){
		.loop = loop,
		.options = *options,
		.now_us = clock_now_us,
		.task_ms = WRIT_TASK_MS_DEFAULT,
		.stop_wait_ms = STOP_WAIT_MS,
		.config = config,
		.store = store,
		.cache = token_cache_new(),
		.limiter = limiter_new(),
		.capacity = capacity_of(options->descriptors),
		.connectors = {.loop = loop,
			       .self = broker,
			       .on_request = on_connector_request,
			       .on_down = on_connector_down},
	};
	broker->signer = service_signer_new(broker);
}

void broker_clear(struct broker *broker)
{
	allowances_clear(&broker->allowances);
	handles_clear(&broker->peers);
	handles_clear(&broker->tasks);
	handles_clear(&broker->calls);
	token_cache_free(TAKE(broker->cache));
	limiter_free(TAKE(broker->limiter));
	token_store_close(TAKE(broker->store));
	config_free(TAKE(broker->config));
}
