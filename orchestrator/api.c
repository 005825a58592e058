/*
 * What a person's connection may ask. One row per method: who may call it, its members with their
 * types, its handler. Anything else is refused, with the name of what is wrong. "Own" means that a
 * user reaches their own tasks and tokens alone; the broker checks again whatever it is asked on
 * the session.
 */
#include "orchestrator/api.h"

#include <string.h>

enum who { WHO_USER, WHO_OWNER };

/* Type, and whether the method needs it. */
enum member_kind { TEXT, TEXT_NEEDED, OBJECT_NEEDED, FLAG, NUMBER };

static const enum json_type type_of[] = {
	[TEXT] = JSON_STRING, [TEXT_NEEDED] = JSON_STRING, [OBJECT_NEEDED] = JSON_OBJECT,
	[FLAG] = JSON_BOOL,   [NUMBER] = JSON_INT,
};

#define MEMBERS_MAX 6

struct member {
	const char *name;
	enum member_kind kind;
};

struct method {
	const char *name;
	enum who who;
	struct member members[MEMBERS_MAX]; /* all that may appear in params */
	api_handler *handle;
};

static const struct method methods[] = {
	{"ask",
	 WHO_USER,
	 {{"question", TEXT_NEEDED},
	  {"workflow", TEXT},
	  {"first_sql", TEXT},
	  {"trace", FLAG},
	  {"unverified", FLAG},
	  {"after", TEXT}},
	 api_ask},
	{"task.list",
	 WHO_USER,
	 {{"all", FLAG}, {"before", TEXT}, {"limit", NUMBER}},
	 api_task_list},
	{"task.show", WHO_USER, {{"task", TEXT_NEEDED}}, api_task_show},
	{"task.answer",
	 WHO_USER,
	 {{"task", TEXT_NEEDED}, {"choices", OBJECT_NEEDED}, {"trace", FLAG}},
	 api_task_answer},
	{"task.cancel", WHO_USER, {{"task", TEXT_NEEDED}}, api_task_cancel},
	{"token.list", WHO_USER, {{NULL, TEXT}}, api_token_list},
	{"token.revoke",
	 WHO_USER,
	 {{"token", TEXT}, {"task", TEXT}, {"agent", TEXT}, {"user", TEXT}, {"cause", TEXT}},
	 api_token_revoke},
	{"approval.list", WHO_USER, {{NULL, TEXT}}, api_approval_list},
	{"approval.give", WHO_USER, {{"approval", TEXT_NEEDED}}, api_approval_give},
	{"approval.refuse", WHO_USER, {{"approval", TEXT_NEEDED}}, api_approval_refuse},
	{"status", WHO_USER, {{NULL, TEXT}}, api_status},
	/* The broker decides who is an auditor. */
	{"audit.note",
	 WHO_USER,
	 {{"event", TEXT_NEEDED},
	  {"from", NUMBER},
	  {"to", NUMBER},
	  {"format", TEXT},
	  {"filter", TEXT},
	  {"status", TEXT}},
	 api_audit_note},
	{"audit.lines", WHO_USER, {{"from", NUMBER}, {"bytes", NUMBER}}, api_audit_lines},
	{"audit.openings", WHO_USER, {{"record", NUMBER}}, api_audit_openings},
	{"audit.prove", WHO_USER, {{"record", NUMBER}}, api_audit_prove},
	{"audit.redact",
	 WHO_USER,
	 {{"record", NUMBER}, {"name", TEXT_NEEDED}, {"reason", TEXT_NEEDED}},
	 api_audit_redact},
	{"audit.hold",
	 WHO_USER,
	 {{"name", TEXT_NEEDED}, {"reason", TEXT}, {"from", NUMBER}, {"to", NUMBER}, {"lift", FLAG}},
	 api_audit_hold},
	{"audit.anchor",
	 WHO_USER,
	 {{"checkpoint", TEXT_NEEDED}, {"place", TEXT_NEEDED}, {"reply", TEXT}},
	 api_audit_anchor},
	{"call",
	 WHO_OWNER,
	 {{"agent", TEXT_NEEDED},
	  {"tool", TEXT_NEEDED},
	  {"arguments", OBJECT_NEEDED},
	  {"approval", TEXT}},
	 api_call},
	{"mcp.open", WHO_USER, {{"agent", TEXT_NEEDED}}, api_mcp_open},
	{"mcp.call",
	 WHO_USER,
	 {{"agent", TEXT_NEEDED},
	  {"tool", TEXT_NEEDED},
	  {"arguments", OBJECT_NEEDED},
	  {"label", TEXT},
	  {"approval", TEXT}},
	 api_mcp_call},
	{"mcp.cancel", WHO_USER, {{"label", TEXT_NEEDED}}, api_mcp_cancel},
};

static const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static bool is_needed(const struct member *member)
{
	return member->kind == TEXT_NEEDED || member->kind == OBJECT_NEEDED;
}

static int check_member(const struct member *member, const struct json *given, struct err *err)
{
	const char *type = json_type_name(type_of[member->kind]);

	if (given == NULL && is_needed(member))
		return err_set(err, ERR_INVALID, "member \"%s\" is missing (%s)", member->name,
			       type);
	if (given != NULL && json_type(given) != type_of[member->kind])
		return err_set(err, ERR_INVALID, "member \"%s\" must be of type %s, not %s",
			       member->name, type, json_type_name(json_type(given)));
	return 0;
}

static int check_members(const struct method *method, const struct json *params, struct err *err)
{
	const char *names[MEMBERS_MAX + 1] = {0};

	for (size_t i = 0; i < MEMBERS_MAX; i++)
		names[i] = method->members[i].name;
	if (json_only(params, names, err) < 0)
		return -1;
	for (size_t i = 0; names[i] != NULL; i++)
		if (check_member(&method->members[i], json_get(params, names[i]), err) < 0)
			return -1;
	return 0;
}

static int answer_request(struct session *session, int64_t id, const char *name,
			  const struct json *params, struct err *err)
{
	const struct method *method = method_find(name);

	if (method == NULL)
		return err_set(err, ERR_INVALID, "no method \"%s\"", name);
	if (method->who == WHO_OWNER && !session->owner)
		return err_set(err, ERR_DENIED, "%s is for the workspace's owner", name);
	if (session->broker == NULL)
		return err_set(err, ERR_UNAVAILABLE, "the broker is gone");
	if (check_members(method, params, err) < 0)
		return err_wrap(err, "%s", name);
	return method->handle(session, id, params, err);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *name,
		       const struct json *params)
{
	CLEANUP(json_freep) struct json *none = params == NULL ? json_object() : NULL;
	struct err err = {0};

	if (id > 0 && answer_request(owner, id, name, params != NULL ? params : none, &err) < 0)
		channel_fail(channel, id, &err, NULL);
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct session *session = owner;

	(void)channel;
	session->client = NULL;
	session_end(session, why->kind == ERR_NONE ? "closed by the person" : why->text);
}

const struct channel_handlers client_handlers = {.on_request = on_request, .on_close = on_close};
