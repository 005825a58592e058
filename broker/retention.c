/* A chain of steps: find and prove, record, drop, and again. A failure ends the round with a line
 * in the log of the service; nothing is dropped that was not proven and recorded. */
#include "broker/retention.h"

#include <stddef.h>
#include <stdio.h>

#include "base/log.h"
#include "broker/audit/layout.h"
#include "broker/trail.h"

#define FIRST_LOOK_MS 2000
#define LOOK_MS (3600u * 1000)

struct round {
	struct audit_find_work find; /* first: audit_run() hands it back */
	struct broker *broker;
};

static void look(void *data);

static void again(struct broker *broker, uint64_t delay_ms)
{
	timer_stop(TAKE(broker->retention_timer));
	if (broker->phase < PHASE_STOPPING)
		broker->retention_timer = timer_start(broker->loop, delay_ms, look, broker);
}

static void end_round(struct round *round, const struct err *err)
{
	if (err != NULL)
		log_error("retention of the audit log: %s", err->text);
	again(round->broker, LOOK_MS);
	mem_free(round);
}

static void on_dropped(void *data, const struct err *err)
{
	struct round *round =
		(struct round *)(void *)((char *)data - offsetof(struct round, find.drop));

	if (err != NULL) {
		end_round(round, err);
		return;
	}
	again(round->broker, 0);
	mem_free(round);
}

static void on_recorded(void *data, const struct err *err)
{
	struct round *round = data;

	if (err != NULL || round->broker->audit == NULL)
		end_round(round, err);
	else
		audit_run(round->broker->audit, audit_drop_work, on_dropped, &round->find.drop);
}

static uint64_t record(struct round *round, int64_t keep_s)
{
	const struct audit_drop *drop = &round->find.drop;
	struct json *fields = json_object();
	struct json *segment = json_object();
	char path[AUDIT_NAME_MAX];
	char cause[48];

	segment_path(drop->first, AUDIT_RECORDS, path);
	json_set_int(segment, "bytes", drop->bytes);
	json_set_int(segment, "count", (int64_t)(drop->next - drop->first));
	json_set_str(segment, "name", segment_name(path));
	json_set_str(segment, "sha256", drop->sha256);
	json_set(fields, REC_SEGMENT, segment);
	snprintf(cause, sizeof(cause), "kept %lld s", (long long)keep_s);
	json_set_str(fields, REC_CAUSE, cause);
	return trail_append(round->broker, EV_SEGMENT_DROP, fields, NULL);
}

static void on_found(void *data, const struct err *err)
{
	struct round *round = data;
	struct broker *broker = round->broker;
	int64_t keep_s = json_get_int(broker->config->audit, "keep_s", 0);

	if (err != NULL || !round->find.drop.found || broker->audit == NULL || keep_s == 0)
		end_round(round, err);
	else
		audit_when_durable(broker->audit, record(round, keep_s), on_recorded, round);
}

static void look(void *data)
{
	struct broker *broker = data;
	int64_t keep_s = json_get_int(broker->config->audit, "keep_s", 0);
	struct round *round;

	if (keep_s == 0 || broker->audit == NULL || !broker_log_works(broker, NULL)) {
		again(broker, LOOK_MS);
		return;
	}
	round = mem_alloc(sizeof(*round));
	round->broker = broker;
	round->find.before_us = broker->now_us() - keep_s * 1000000;
	audit_run(broker->audit, audit_find_work, on_found, round);
}

void retention_start(struct broker *broker)
{
	again(broker, FIRST_LOOK_MS);
}

void retention_stop(struct broker *broker)
{
	timer_stop(TAKE(broker->retention_timer));
}
