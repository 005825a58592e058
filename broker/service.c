/*
 * The life of the service: the control lane, the order in which things come up, and stopping.
 *
 *   STARTING --signer told its keys, log opened--> OPEN --stop, SIGTERM, idle--> STOPPING
 *   STOPPING --no call runs any more (or 5 s)--> CLOSING --log closed with its tail--> CLOSED
 *
 * Connections are accepted while OPEN and while an orchestrator is attached. What fails before OPEN
 * ends the program with its exit code; what fails later is a denial, and the service goes on.
 */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "broker/call.h"
#include "broker/peer.h"
#include "broker/probe.h"
#include "broker/reload.h"
#include "broker/retention.h"
#include "broker/session.h"
#include "broker/trail.h"
#include "writ/exit_codes.h"

#define IDLE_START_MS 10000 /* --until-idle: whoever started us connects at once, or never */
#define CLOSE_WAIT_MS 5000  /* for the last flush and the signed tail */

static void close_all(struct broker *broker)
{
	if (broker->phase == PHASE_CLOSED)
		return;
	broker->phase = PHASE_CLOSED;
	connectors_clear(&broker->connectors);
	sinks_clear(&broker->sinks);
	signer_client_free(TAKE(broker->signer));
	lane_close(TAKE(broker->orchestrator));
	lane_close(TAKE(broker->control));
	listener_close(TAKE(broker->listener));
	timer_stop(TAKE(broker->stop_timer));
	timer_stop(TAKE(broker->idle_timer));
	timer_stop(TAKE(broker->step_timer));
	if (broker->on_closed != NULL)
		broker->on_closed(broker);
}

static void fail(struct broker *broker, int exit_code)
{
	if (broker->exit_code == EXIT_FINE)
		broker->exit_code = exit_code;
}

static void on_log_closed(void *data, const struct err *err)
{
	struct broker *broker = data;

	if (err != NULL) {
		log_error("the audit log: %s", err->text);
		fail(broker, EXIT_IO);
	}
	close_all(broker);
}

/* The log or the signer does not end: so do we, and the next start recovers. */
static void on_close_late(void *data)
{
	struct broker *broker = data;

	log_error("the audit log could not be closed in time");
	fail(broker, EXIT_IO);
	timer_stop(TAKE(broker->stop_timer));
	uv_stop(broker->loop);
}

static void begin_closing(struct broker *broker)
{
	struct audit *audit;

	broker->phase = PHASE_CLOSING;
	signer_client_hurry(broker->signer);
	retention_stop(broker);
	timer_stop(TAKE(broker->stop_timer));
	sessions_close_all(broker, "service_stop");
	trail_service_stop(broker, broker->stop_cause);
	audit = TAKE(broker->audit);
	if (audit == NULL) {
		close_all(broker);
		return;
	}
	broker->stop_timer = timer_start(broker->loop, CLOSE_WAIT_MS, on_close_late, broker);
	audit_close(audit, on_log_closed, broker);
}

/* Calls that did not finish lose their connectors; their records still become durable. */
static void on_stop_late(void *data)
{
	struct broker *broker = data;

	timer_stop(TAKE(broker->stop_timer));
	broker->stop_timer = timer_start(broker->loop, CLOSE_WAIT_MS, on_close_late, broker);
	connectors_clear(&broker->connectors);
	service_step(broker);
}

void service_stop(struct broker *broker, const char *cause)
{
	if (broker->phase >= PHASE_STOPPING)
		return;
	log_info("stopping: %s", cause);
	broker->phase = PHASE_STOPPING;
	broker->stop_cause = cause;
	listener_close(TAKE(broker->listener));
	broker->stop_timer = timer_start(broker->loop, broker->stop_wait_ms, on_stop_late, broker);
	service_step(broker);
}

/* Connections first: someone may have come since the last session ended. */
static void step_idle(struct broker *broker)
{
	if (!broker->options.until_idle || !broker->had_session || broker->session_count > 0)
		return;
	if (broker->listener != NULL && listener_accept(broker->listener) > 0 &&
	    broker->session_count > 0)
		return;
	service_stop(broker, "idle");
}

static void on_step(void *data)
{
	struct broker *broker = data;

	timer_stop(TAKE(broker->step_timer));
	if (broker->phase == PHASE_OPEN)
		step_idle(broker);
	else if (broker->phase == PHASE_STOPPING && broker->calls.live == 0)
		begin_closing(broker);
}

void service_step(struct broker *broker)
{
	if (broker->step_timer == NULL && broker->phase < PHASE_CLOSING)
		broker->step_timer = timer_start(broker->loop, 0, on_step, broker);
}

static void on_idle_start(void *data)
{
	struct broker *broker = data;

	timer_stop(TAKE(broker->idle_timer));
	if (!broker->had_session)
		service_stop(broker, "nobody_came");
}

static int exit_code_of(enum err_kind kind)
{
	switch (kind) {
	case ERR_INVALID:
		return EXIT_AUDIT_DAMAGED;
	case ERR_UNAVAILABLE:
		return EXIT_BUSY;
	default:
		return EXIT_IO;
	}
}

static void open_log(struct broker *broker, const struct signer_public *keys)
{
	const struct json *limits = broker->config->audit;
	struct audit_options options = {
		.dir = broker->options.audit_dir,
		.origin = keys->origin,
		.vkey = keys->vkey,
		.signer = signer_client_for_audit(broker->signer),
		.epoch = &keys->epoch,
		.limits = {.segment_bytes = (uint64_t)json_get_int(limits, "segment_bytes", 0),
			   .segment_seconds = json_get_int(limits, "segment_s", 0)}};
	struct audit_opened opened;
	struct err err;

	if (audit_open(broker->loop, &options, &broker->audit, &opened, &err) < 0) {
		log_error("audit log: %s", err.text);
		fail(broker, exit_code_of(err.kind));
		service_stop(broker, "audit_log");
		return;
	}
	signer_client_resume(broker->signer, broker->audit);
	broker->phase = PHASE_OPEN;
	trail_service_start(broker, &opened);
	trail_policy_load(broker, NULL);
	retention_start(broker);
	if (broker->options.until_idle)
		broker->idle_timer =
			timer_start(broker->loop, IDLE_START_MS, on_idle_start, broker);
	if (broker->listener != NULL)
		listener_accept(broker->listener);
}

static void on_signer_keys(void *self, const struct signer_public *keys)
{
	struct broker *broker = self;

	if (broker->phase == PHASE_STARTING)
		open_log(broker, keys);
	else if (broker->audit != NULL)
		signer_client_resume(broker->signer, broker->audit);
}

/* Requests wait for the next one; then the log stops, and everything is denied. */
static void on_signer_down(void *self, const struct err *why)
{
	(void)self;
	log_error("signer: %s", why->text);
}

/* No accident: either the log or the keys were exchanged, and nothing may be signed any more. */
static void on_signer_disagreement(void *self, const struct err *why)
{
	struct broker *broker = self;

	log_error("signer: %s", why->text);
	fail(broker, EXIT_AUDIT_DAMAGED);
	service_stop(broker, "signer");
}

static void on_signer_request(void *self, const char *method)
{
	struct peer peer = {.kind = PEER_SIGNER, .broker = self};

	log_error("the signer called %.64s and lost its channel", method);
	trail_channel_refused(&peer, "method_of_another_channel");
}

struct signer_client *service_signer_new(struct broker *broker)
{
	struct signer_owner owner = {broker, on_signer_keys, on_signer_down, on_signer_disagreement,
				     on_signer_request};

	return signer_client_new(broker->loop, &owner);
}

static void on_orchestrator_message(struct lane *lane, void *owner, const struct json *message,
				    int fd)
{
	struct broker *broker = owner;
	struct peer peer = {.kind = PEER_SESSION, .broker = broker};

	(void)message;
	if (fd >= 0)
		close(fd);
	log_error("the orchestrator sent something on its lane, where it only receives, and lost "
		  "it");
	trail_channel_refused(&peer, "method_of_another_channel");
	lane_close(lane);
	broker->orchestrator = NULL;
	sessions_close_all(broker, "orchestrator");
}

static void on_orchestrator_close(struct lane *lane, void *owner, const struct err *why)
{
	struct broker *broker = owner;

	(void)lane;
	broker->orchestrator = NULL; /* it frees itself */
	log_info("the orchestrator is down: %s", why->kind == ERR_NONE ? "it ended" : why->text);
	sessions_close_all(broker, "orchestrator");
}

static void attach_orchestrator(struct broker *broker, int fd)
{
	if (broker->orchestrator != NULL) {
		lane_close(TAKE(broker->orchestrator));
		sessions_close_all(broker, "orchestrator");
	}
	broker->orchestrator =
		lane_open(broker->loop, fd, on_orchestrator_message, on_orchestrator_close, broker);
	if (broker->listener != NULL)
		listener_accept(broker->listener);
}

static int attach(struct broker *broker, const struct json *message, int fd, struct err *err)
{
	const char *what = json_get_str(message, "attach");
	const char *name, *kind;

	if (strcmp(what, "signer") == 0) {
		signer_client_attach(broker->signer, fd);
	} else if (strcmp(what, "sink") == 0) {
		if (json_want_str(message, "name", &name, err) < 0) {
			close(fd);
			return -1;
		}
		return sinks_attach(broker, name, fd, err);
	} else if (strcmp(what, "orchestrator") == 0) {
		attach_orchestrator(broker, fd);
	} else if (strcmp(what, "connector") == 0) {
		if (json_want_str(message, "name", &name, err) < 0 ||
		    json_want_str(message, "kind", &kind, err) < 0) {
			close(fd);
			return -1;
		}
		return connectors_attach(&broker->connectors, name, kind, fd, err);
	} else {
		close(fd);
		return err_set(err, ERR_INVALID, "nothing called %.64s can be attached", what);
	}
	return 0;
}

/* The supervisor's word that what people wrote was not even compiled. */
static void on_refused(struct broker *broker, const char *why)
{
	struct err err;

	err_fill(&err, ERR_INVALID, "%.200s", why);
	reload_refused(broker, &err);
}

static int on_probe(struct broker *broker, const struct json *message, int fd, struct err *err)
{
	if (broker->phase < PHASE_STOPPING)
		return probe_start(broker, message, fd, err);
	fd_closep(&fd);
	return 0;
}

static void on_control_message(struct lane *lane, void *owner, const struct json *message, int fd)
{
	static const char *const members[] = {"attach", "name",	 "kind",  "reload", "refused",
					      "stop",	"probe", "ended", "why",    NULL};
	struct broker *broker = owner;
	CLEANUP(fd_closep) int owned = fd;
	struct err err;

	(void)lane;
	if (json_only(message, members, &err) < 0) {
		log_error("control: %s", err.text);
	} else if (json_get_str(message, "attach") != NULL && fd >= 0 &&
		   broker->phase < PHASE_STOPPING) {
		owned = -1;
		if (attach(broker, message, fd, &err) < 0)
			log_error("control: %s", err.text);
	} else if (json_get_str(message, "probe") != NULL) {
		owned = -1;
		if (on_probe(broker, message, fd, &err) < 0)
			log_error("control: %s", err.text);
	} else if (json_get_str(message, "ended") != NULL) {
		restarts_add(&broker->restarts, broker->now_us(), message);
	} else if (json_get_bool(message, "reload", false)) {
		reload_start(broker);
	} else if (json_get_str(message, "refused") != NULL) {
		on_refused(broker, json_get_str(message, "refused"));
	} else if (json_get_bool(message, "stop", false)) {
		service_stop(broker, "control");
	} else {
		log_error("control: a message that means nothing now");
	}
}

static void on_control_close(struct lane *lane, void *owner, const struct err *why)
{
	struct broker *broker = owner;

	(void)lane;
	(void)why;
	broker->control = NULL; /* it frees itself */
	service_stop(broker, "supervisor_gone");
}

int service_open(struct broker *broker, int control_fd, int listen_fd, struct err *err)
{
	broker->listener = listener_open(broker, listen_fd);
	if (broker->listener == NULL) {
		close(control_fd);
		return err_set(err, ERR_IO, "the listening socket cannot be watched");
	}
	broker->control =
		lane_open(broker->loop, control_fd, on_control_message, on_control_close, broker);
	return 0;
}
