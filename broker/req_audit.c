/*
 * What auditors ask of the log through the service: the owner, and whoever audit.json names. Each
 * request is recorded, and the answer waits for its record; nothing is shown or changed without.
 *
 *   note      -> record -> answer
 *   lines     -> (note before) read in the thread pool -> answer
 *   openings  -> record -> read -> answer
 *   redact    -> record -> erase -> answer      hold, anchor: likewise
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "broker/audit/admin.h"
#include "broker/dispatch.h"
#include "broker/peer.h"
#include "broker/trail.h"

#define LINES_BYTES_MAX (1 << 20)
#define TEXT_BYTES_MAX 4096u

static bool is_named(const struct session *session, const char *who)
{
	if (strncmp(who, "user:", 5) == 0)
		return strcmp(who + 5, session->user.name) == 0;
	for (size_t i = 0; i < session->user.group_count; i++)
		if (strncmp(who, "group:", 6) == 0 && strcmp(who + 6, session->user.groups[i]) == 0)
			return true;
	return false;
}

static bool is_auditor(const struct peer *peer)
{
	const struct json *named = json_get(peer->broker->config->audit, "auditors");

	if (peer->session->user.owner)
		return true;
	json_each(item, named)
	{
		if (json_str(item) != NULL && is_named(peer->session, json_str(item)))
			return true;
	}
	return false;
}

/* Also checks that nothing but the members is there. */
static bool may(struct peer *peer, int64_t id, const struct json *params,
		const char *const *members)
{
	struct err err;

	if (!is_auditor(peer)) {
		peer_fail(
			peer, id, ERR_DENIED,
			"only the owner and those whom audit.auditors of writ.yaml names may read "
			"the audit log");
		trail_channel_refused(peer, "not_an_auditor");
		return false;
	}
	if (json_only(params, members, &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return false;
	}
	return true;
}

static struct json *who(const struct peer *peer, struct json *secrets)
{
	struct json *fields = json_object();

	json_set_str(fields, REC_BY, peer->session->su);
	json_set_str(fields, REC_SUBJECT, peer->session->su);
	json_set_str(fields, REC_SESSION, peer->session->id);
	json_set_str(secrets, CM_USER, peer->session->user.name);
	return fields;
}

static int take_number(const struct json *params, const char *member, const char *field,
		       struct json *fields, struct err *err)
{
	int64_t value;

	if (json_is_null(json_get(params, member)))
		return 0;
	if (json_want_int(params, member, 0, JSON_INT_MAX, &value, err) < 0)
		return -1;
	json_set_int(fields, field, value);
	return 0;
}

static int take_text(const struct json *params, const char *member, const char *name,
		     struct json *into, struct err *err)
{
	const char *text;

	if (json_is_null(json_get(params, member)))
		return 0;
	if (json_want_str(params, member, &text, err) < 0)
		return -1;
	if (strlen(text) > TEXT_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s: longer than %u bytes", member, TEXT_BYTES_MAX);
	json_set_str(into, name, text);
	return 0;
}

/* Codes of ours, which may stand in clear. */
static int take_code(const struct json *params, const char *member, const char *field,
		     struct json *fields, struct err *err)
{
	const char *text = json_get_str(params, member);

	if (text != NULL && (strlen(text) > 32 ||
			     strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_-") != strlen(text)))
		return err_set(err, ERR_INVALID, "%s: not a word", member);
	return take_text(params, member, field, fields, err);
}

static const char *event_of(const struct json *params)
{
	static const char *const events[] = {EV_READ, EV_VERIFY, EV_EXPORT};
	const char *event = json_get_str(params, "event");

	for (size_t i = 0; event != NULL && i < ARRAY_LEN(events); i++)
		if (strcmp(events[i], event) == 0)
			return events[i];
	return NULL;
}

static struct json *record_reply(uint64_t seq)
{
	struct json *result = json_object();

	json_set_int(result, "record", seq == TRAIL_NONE ? 0 : (int64_t)seq);
	return result;
}

void req_audit_note(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"event",	"from",	  "to", "format",
					      "filter", "status", NULL};
	struct json *secrets, *fields;
	const char *event;
	struct err err;
	uint64_t seq;

	if (!may(peer, id, params, members))
		return;
	secrets = json_object();
	fields = who(peer, secrets);
	event = event_of(params);
	if (event == NULL)
		err_set(&err, ERR_INVALID, "event: read, verify or export");
	if (event == NULL || take_number(params, "from", REC_FROM, fields, &err) < 0 ||
	    take_number(params, "to", REC_TO, fields, &err) < 0 ||
	    take_code(params, "format", REC_FORMAT, fields, &err) < 0 ||
	    take_code(params, "status", REC_STATUS, fields, &err) < 0 ||
	    take_text(params, "filter", CM_FILTER, secrets, &err) < 0) {
		peer_fail(peer, id, err.kind, "audit.note: %s", err.text);
		json_free(fields);
		json_free(secrets);
		return;
	}
	peer->session->reads_audit |= strcmp(event, EV_VERIFY) != 0;
	seq = trail_append(peer->broker, event, fields, secrets);
	peer_reply_when_durable(peer, id, seq, record_reply(seq), 0);
}

/* ---- work behind a record ---- */

struct request {
	struct broker *broker;
	uint64_t peer;
	int64_t id;
	uint64_t record;
	audit_work *work;
	union {
		struct audit_lines_work lines;
		struct audit_openings_work openings;
		struct audit_erase_work erase;
		struct audit_hold_work hold;
		struct audit_anchor_work anchor;
	} as;
	struct json *list; /* owned; what the work fills or writes */
	/* Makes the answer; the peer is there. */
	struct json *(*answer)(struct request *request, struct peer *peer);
};

static struct request *request_new(struct peer *peer, int64_t id, audit_work *work,
				   struct json *(*answer)(struct request *, struct peer *))
{
	struct request *request = mem_alloc(sizeof(*request));

	request->broker = peer->broker;
	request->peer = peer->handle;
	request->id = id;
	request->work = work;
	request->answer = answer;
	return request;
}

static void request_free(struct request *request)
{
	json_free(request->list);
	mem_free(request);
}

static void on_worked(void *data, const struct err *err)
{
	struct request *request = data;
	struct peer *peer = peer_find(request->broker, request->peer);

	if (peer != NULL && peer->channel != NULL) {
		if (err != NULL)
			peer_fail(peer, request->id, err->kind, "%s", err->text);
		else
			channel_reply(peer->channel, request->id, request->answer(request, peer));
	}
	request_free(request);
}

/* audit_run() hands its data back: the union leads to its request. */
static void on_work_done(void *data, const struct err *err)
{
	on_worked((struct request *)(void *)((char *)data - offsetof(struct request, as)), err);
}

static void request_run(struct request *request)
{
	audit_run(request->broker->audit, request->work, on_work_done, &request->as);
}

static void on_recorded(void *data, const struct err *err)
{
	struct request *request = data;

	if (err == NULL && request->broker->audit != NULL)
		request_run(request);
	else
		on_worked(request, err);
}

/* fields and secrets are taken. */
static void record_and_run(struct request *request, const char *event, struct json *fields,
			   struct json *secrets)
{
	request->record = trail_append(request->broker, event, fields, secrets);
	audit_when_durable(request->broker->audit, request->record, on_recorded, request);
}

/* ---- lines ---- */

static struct json *answer_lines(struct request *request, struct peer *peer)
{
	struct json *result = json_object();

	peer->session->cursor = request->as.lines.cursor;
	json_set(result, "lines", TAKE(request->list));
	json_set_int(result, "next", (int64_t)request->as.lines.next);
	json_set_int(result, "size", (int64_t)audit_size(request->broker->audit));
	json_set_str(result, "checkpoint", audit_checkpoint(request->broker->audit));
	return result;
}

void req_audit_lines(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"from", "bytes", NULL};
	struct request *request;
	int64_t from = 0;
	int64_t bytes = LINES_BYTES_MAX;
	struct err err;

	if (!may(peer, id, params, members))
		return;
	if (!peer->session->reads_audit) {
		peer_fail(peer, id, ERR_DENIED, "audit.note with read or export comes first");
		return;
	}
	if (json_want_int(params, "from", 0, JSON_INT_MAX, &from, &err) < 0 ||
	    (!json_is_null(json_get(params, "bytes")) &&
	     json_want_int(params, "bytes", 1, LINES_BYTES_MAX, &bytes, &err) < 0)) {
		peer_fail(peer, id, err.kind, "audit.lines: %s", err.text);
		return;
	}
	request = request_new(peer, id, audit_lines_work, answer_lines);
	request->list = json_array();
	request->as.lines = (struct audit_lines_work){.from = (uint64_t)from,
						      .bytes_max = (size_t)bytes,
						      .cursor = peer->session->cursor,
						      .lines = request->list};
	request_run(request);
}

/* ---- openings ---- */

static struct json *answer_openings(struct request *request, struct peer *peer)
{
	struct json *result = json_object();

	(void)peer;
	json_set(result, "disclosures", TAKE(request->list));
	return result;
}

static bool want_record(struct peer *peer, int64_t id, const struct json *params, uint64_t *ret)
{
	int64_t seq;
	struct err err;

	if (json_want_int(params, "record", 0, JSON_INT_MAX, &seq, &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return false;
	}
	if ((uint64_t)seq >= audit_size(peer->broker->audit)) {
		peer_fail(peer, id, ERR_NOT_FOUND, "there is no record %lld", (long long)seq);
		return false;
	}
	*ret = (uint64_t)seq;
	return true;
}

void req_audit_openings(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"record", NULL};
	struct request *request;
	struct json *secrets, *fields;
	uint64_t seq;

	if (!may(peer, id, params, members) || !want_record(peer, id, params, &seq))
		return;
	request = request_new(peer, id, audit_openings_work, answer_openings);
	request->list = json_array();
	request->as.openings = (struct audit_openings_work){seq, request->list};
	secrets = json_object();
	fields = who(peer, secrets);
	json_set_str(fields, REC_CODE, "openings");
	json_set_int(fields, REC_OF, (int64_t)seq);
	record_and_run(request, EV_READ, fields, secrets);
}

void req_audit_prove(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"record", NULL};
	CLEANUP(buf_clear) struct buf proof = BUF_INIT;
	struct json *result;
	uint64_t seq;
	struct err err;

	if (!may(peer, id, params, members) || !want_record(peer, id, params, &seq))
		return;
	if (audit_proof(peer->broker->audit, seq, &proof, &err) < 0) {
		peer_fail(peer, id, err.kind, "audit.prove: %s", err.text);
		return;
	}
	result = json_object();
	json_set_str(result, "proof", buf_str(&proof));
	channel_reply(peer->channel, id, result);
}

/* ---- redact ---- */

static struct json *answer_record(struct request *request, struct peer *peer)
{
	(void)peer;
	return record_reply(request->record);
}

static struct json *answer_erased(struct request *request, struct peer *peer)
{
	struct json *result = answer_record(request, peer);

	json_set_bool(result, "erased", request->as.erase.erased > 0);
	return result;
}

/* A name of ours: of a committed value, of a hold. */
static bool want_name(struct peer *peer, int64_t id, const struct json *params, char *out,
		      size_t room)
{
	const char *name;
	struct err err;

	if (json_want_str(params, "name", &name, &err) < 0) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return false;
	}
	if (name[0] == '\0' || strlen(name) >= room ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
		    strlen(name)) {
		peer_fail(peer, id, ERR_INVALID, "name: 1 to %zu letters, digits, _ . or -",
			  room - 1);
		return false;
	}
	snprintf(out, room, "%s", name);
	return true;
}

static bool want_reason(struct peer *peer, int64_t id, const struct json *params,
			struct json *secrets)
{
	struct err err;

	if (json_get_str(params, "reason") == NULL || json_get_str(params, "reason")[0] == '\0')
		err_set(&err, ERR_INVALID, "reason: say why, in words");
	else if (take_text(params, "reason", CM_REASON, secrets, &err) == 0)
		return true;
	peer_fail(peer, id, err.kind, "%s", err.text);
	return false;
}

void req_audit_redact(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"record", "name", "reason", NULL};
	struct request *request;
	struct json *secrets, *fields;
	char name[64];
	uint64_t seq;

	if (!may(peer, id, params, members) || !want_record(peer, id, params, &seq) ||
	    !want_name(peer, id, params, name, sizeof(name)))
		return;
	secrets = json_object();
	if (!want_reason(peer, id, params, secrets)) {
		json_free(secrets);
		return;
	}
	request = request_new(peer, id, audit_erase_work, answer_erased);
	request->as.erase.seq = seq;
	snprintf(request->as.erase.name, sizeof(request->as.erase.name), "%s", name);
	fields = who(peer, secrets);
	json_set_int(fields, REC_OF, (int64_t)seq);
	json_set_str(fields, REC_NAME, name);
	record_and_run(request, EV_REDACT, fields, secrets);
}

/* ---- hold ---- */

static int read_hold(const struct json *params, struct audit_hold_work *hold, struct json *fields,
		     struct err *err)
{
	int64_t first = 0;
	int64_t past = JSON_INT_MAX;

	hold->lift = json_get_bool(params, "lift", false);
	if ((!json_is_null(json_get(params, "from")) &&
	     json_want_int(params, "from", 0, JSON_INT_MAX, &first, err) < 0) ||
	    (!json_is_null(json_get(params, "to")) &&
	     json_want_int(params, "to", first + 1, JSON_INT_MAX, &past, err) < 0))
		return -1;
	hold->first = (uint64_t)first;
	hold->past = (uint64_t)past;
	json_set_str(fields, REC_STATUS, hold->lift ? "lifted" : "set");
	if (!hold->lift) {
		json_set_int(fields, REC_FROM, first);
		json_set_int(fields, REC_TO, past);
	}
	return 0;
}

void req_audit_hold(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"name", "reason", "from", "to", "lift", NULL};
	struct audit_hold_work hold = {0};
	struct request *request;
	struct json *secrets, *fields;
	struct err err;

	if (!may(peer, id, params, members) ||
	    !want_name(peer, id, params, hold.name, sizeof(hold.name)))
		return;
	secrets = json_object();
	if (!want_reason(peer, id, params, secrets)) {
		json_free(secrets);
		return;
	}
	fields = who(peer, secrets);
	json_set_str(fields, REC_HOLD, hold.name);
	if (read_hold(params, &hold, fields, &err) < 0) {
		peer_fail(peer, id, err.kind, "audit.hold: %s", err.text);
		json_free(fields);
		json_free(secrets);
		return;
	}
	snprintf(hold.reason, sizeof(hold.reason), "%s", json_get_str(params, "reason"));
	request = request_new(peer, id, audit_hold_work, answer_record);
	request->as.hold = hold;
	record_and_run(request, EV_HOLD, fields, secrets);
}

/* ---- anchor ---- */

void req_audit_anchor(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"checkpoint", "place", "reply", NULL};
	struct request *request;
	struct json *secrets, *fields;
	char time[TIMESTAMP_LEN + 1];
	struct err err;

	if (!may(peer, id, params, members))
		return;
	secrets = json_object();
	request = request_new(peer, id, audit_anchor_work, answer_record);
	request->list = json_object();
	fields = who(peer, secrets);
	if (take_text(params, "place", CM_PLACE, secrets, &err) < 0 ||
	    take_text(params, "place", "place", request->list, &err) < 0 ||
	    take_text(params, "checkpoint", "checkpoint", request->list, &err) < 0 ||
	    take_text(params, "reply", "reply", request->list, &err) < 0) {
		peer_fail(peer, id, err.kind, "audit.anchor: %s", err.text);
		json_free(fields);
		json_free(secrets);
		request_free(request);
		return;
	}
	timestamp_write(peer->broker->now_us(), time);
	json_set_str(request->list, "at", time);
	request->as.anchor.line = request->list;
	record_and_run(request, EV_ANCHOR, fields, secrets);
}
