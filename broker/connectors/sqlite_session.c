/*
 * Dispatch of one worker's calls. Every failure that belongs to the call becomes a refusal; nothing
 * here ends the worker.
 */
#include "broker/connectors/sqlite_session.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_narrow.h"
#include "broker/connectors/sqlite_run.h"
#include "broker/connectors/sqlite_tables.h"
#include "writ/limits.h"

#define SEARCH_LIMIT_DEFAULT 10
#define SEARCH_LIMIT_MAX 50

static void view_free(struct view *view)
{
	if (!view)
		return;
	value_index_free(view->values);
	name_index_close(view->names);
	shadow_close(&view->shadow);
	reach_free(view->reach);
	mem_free(view->text);
	mem_free(view);
}

static void drop_statements(struct session *session, const struct view *view)
{
	for (size_t i = 0; i < SESSION_STATEMENTS; i++) {
		struct kept_statement *kept = &session->statements[i];

		if (!kept->statement || (view && kept->view != view))
			continue;
		statement_free(kept->statement);
		*kept = (struct kept_statement){0};
	}
}

/* The catalog goes: so does everything made from it. */
static void on_changing(void *data)
{
	struct session *session = data;

	drop_statements(session, NULL);
	for (size_t i = 0; i < SESSION_VIEWS; i++) {
		view_free(session->views[i]);
		session->views[i] = NULL;
	}
	if (session->everything) {
		shadow_close(&session->everything_shadow);
		reach_free(TAKE(session->everything));
	}
	explain_sizes_clear(&session->sizes);
	session->database.bound = NULL;
	session->database.fronts = NULL;
	session->narrow = NULL; /* what is left of them is replaced before the next statement */
}

void session_init(struct session *session, const char *path)
{
	*session = (struct session){0};
	database_init(&session->database, path);
}

void session_clear(struct session *session)
{
	on_changing(session);
	database_clear(&session->database);
}

static int view_make(struct session *session, const struct json *policy, const char *text,
		     struct view **ret_view, struct refusal *refusal)
{
	struct view *view = mem_alloc(sizeof(*view));
	struct err err;

	if (reach_from_view(policy, session->database.catalog, &view->reach, &err) < 0 ||
	    shadow_open(&view->shadow, view->reach, &err) < 0) {
		view_free(view);
		return refusal_from_err(refusal, &err);
	}
	view->text = mem_str(text);
	*ret_view = view;
	return 0;
}

/* Narrow views are part of the connection's schema: changing them costs every statement. */
static int use_narrow(struct session *session, const struct view *view, struct refusal *refusal)
{
	if (session->narrow == view)
		return 0;
	drop_statements(session, NULL);
	session->narrow = NULL;
	if (narrow_install(&session->database, view->reach, view->shadow.marker, refusal) < 0)
		return -1;
	session->narrow = view;
	return 0;
}

/* The least used place, so that a view in use is not made anew. */
static int session_view(struct session *session, const struct json *policy, struct view **ret_view,
			struct refusal *refusal)
{
	struct buf text = BUF_INIT;
	struct view **place = &session->views[0];
	int result = 0;

	json_write(policy, &text);
	for (size_t i = 0; i < SESSION_VIEWS; i++) {
		struct view **candidate = &session->views[i];

		if (*candidate && strcmp((*candidate)->text, buf_str(&text)) == 0) {
			place = candidate;
			break;
		}
		if (*place && (!*candidate || (*candidate)->used < (*place)->used))
			place = candidate;
	}
	if (!*place || strcmp((*place)->text, buf_str(&text)) != 0) {
		struct view *view = NULL;

		result = view_make(session, policy, buf_str(&text), &view, refusal);
		if (result == 0) {
			drop_statements(session, *place);
			if (session->narrow == *place)
				session->narrow = NULL;
			if (*place && session->database.fronts == (*place)->reach)
				session->database.bound = NULL, session->database.fronts = NULL;
			view_free(*place);
			*place = view;
		}
	}
	buf_clear(&text);
	if (result < 0 || use_narrow(session, *place, refusal) < 0)
		return -1;
	(*place)->used = ++session->clock;
	*ret_view = *place;
	return 0;
}

int session_statement(struct session *session, struct view *view, const char *sql,
		      struct statement **ret_statement, struct reach **ret_beyond,
		      struct refusal *refusal)
{
	struct kept_statement *place = &session->statements[0];

	for (size_t i = 0; i < SESSION_STATEMENTS; i++) {
		struct kept_statement *kept = &session->statements[i];

		if (kept->statement && kept->view == view &&
		    strcmp(kept->statement->sql, sql) == 0) {
			kept->used = ++session->clock;
			*ret_statement = kept->statement;
			return 0;
		}
		if (place->statement && (!kept->statement || kept->used < place->used))
			place = kept;
	}
	if (statement_prepare(&session->database, view->reach, &view->shadow, sql, ret_statement,
			      ret_beyond, refusal) < 0)
		return -1;
	statement_free(place->statement);
	*place = (struct kept_statement){*ret_statement, view, ++session->clock};
	return 0;
}

static void forget_statement(struct session *session, const struct statement *statement)
{
	for (size_t i = 0; i < SESSION_STATEMENTS; i++) {
		if (session->statements[i].statement != statement)
			continue;
		statement_free(session->statements[i].statement);
		session->statements[i] = (struct kept_statement){0};
	}
}

/* Opens and looks for changes within the call's time, then starts its count of bytes. */
static int session_begin(struct session *session, int64_t time_ms, struct refusal *refusal)
{
	int64_t start_us = clock_mono_us();
	int64_t used_ms;

	database_watch(&session->database, time_ms, 0);
	if (database_refresh(&session->database, on_changing, session, refusal) < 0)
		return -1;
	used_ms = (clock_mono_us() - start_us) / 1000;
	database_watch(&session->database, time_ms > used_ms ? time_ms - used_ms : 1, 0);
	return 0;
}

void session_warm(struct session *session)
{
	struct refusal refusal;

	IGNORE(session_begin(session, WRIT_STATEMENT_MS_DEFAULT, &refusal) < 0,
	       "each call begins so again");
}

static int call_catalog(struct session *session, struct json **ret_result, struct refusal *refusal)
{
	if (session_begin(session, WRIT_STATEMENT_MS_DEFAULT, refusal) < 0)
		return -1;
	*ret_result = catalog_json(session->database.catalog);
	return 0;
}

/* NULL when the source cannot be made out: then nothing more is known. */
static struct reach *facts_without_view(struct session *session, const char *sql)
{
	struct err err;

	if (!session->everything) {
		session->everything = reach_everything(session->database.catalog);
		if (shadow_open(&session->everything_shadow, session->everything, &err) < 0) {
			reach_free(TAKE(session->everything));
			return NULL;
		}
	}
	return statement_unbound(session->everything, &session->everything_shadow, sql);
}

/* A statement that only the view stopped: the broker learns what it would have touched. */
static struct json *refused_json(struct session *session, const struct view *view, const char *sql,
				 struct reach *beyond, const struct refusal *refusal)
{
	struct json *result = refusal_json(refusal);

	if (!beyond &&
	    (strcmp(refusal->by, BY_DATABASE) == 0 || strcmp(refusal->by, BY_POLICY) == 0))
		beyond = facts_without_view(session, sql);
	if (beyond && !reach_within(beyond, view->reach, false)) {
		struct json *hidden = json_object();

		reach_write(beyond, view->reach, hidden);
		json_set(result, "hidden", hidden);
	}
	reach_free(beyond);
	return result;
}

static int call_prepare(struct session *session, const struct json *params,
			struct json **ret_result, struct refusal *refusal)
{
	const char *sql = json_get_str(params, "sql");
	struct reach *beyond = NULL;
	struct statement *statement;
	struct view *view;

	if (session_begin(session, json_get_int(params, "time_ms", 1), refusal) < 0 ||
	    session_view(session, json_get(params, "view"), &view, refusal) < 0)
		return -1;
	if (session_statement(session, view, sql, &statement, &beyond, refusal) < 0) {
		*ret_result = refused_json(session, view, sql, beyond, refusal);
		return 0;
	}
	*ret_result = json_object();
	json_set_bool(*ret_result, "ok", true);
	reach_write(statement->facts, view->reach, *ret_result);
	return 0;
}

static int execute_once(struct session *session, const struct json *params,
			const struct run_limits *limits, struct json **ret_result,
			struct refusal *refusal)
{
	CLEANUP(reach_freep) struct reach *allow = NULL;
	const char *mode = json_get_str(params, "mode");
	struct view *view;
	struct statement *statement;
	struct err err;

	if (session_begin(session, limits->time_ms, refusal) < 0 ||
	    session_view(session, json_get(params, "view"), &view, refusal) < 0)
		return -1;
	if (reach_from_allow(json_get(params, "allow"), session->database.catalog, &allow, &err) <
	    0)
		return refusal_from_err(refusal, &err);
	if (session_statement(session, view, json_get_str(params, "sql"), &statement, NULL,
			      refusal) < 0)
		return -1;
	if (!reach_within(statement->facts, allow, false))
		return refusal_set(refusal, BY_POLICY, "send the statement again",
				   "the statement now reads more than was granted: the schema "
				   "changed after it was prepared");
	if (mode && strcmp(mode, "explain") == 0)
		return explain_statement(&session->database, &session->sizes,
					 statement_source(statement), statement->facts, view->reach,
					 ret_result, refusal);
	database_release(&session->database);
	session->database.watch.scan_bytes_max = limits->scan_bytes;
	if (run_statement(&session->database, statement, limits, ret_result, refusal) ==
	    RUN_SCHEMA_CHANGED) {
		forget_statement(session, statement);
		return RUN_SCHEMA_CHANGED;
	}
	return *ret_result ? 0 : -1;
}

/* The frame counts the waiting of a call against its time. */
static void shorten(struct run_limits *limits, const struct json *params)
{
	int64_t left_ms = json_get_int(params, "time_ms", limits->time_ms);

	if (left_ms > 0 && left_ms < limits->time_ms)
		limits->time_ms = left_ms;
}

/* A changed schema means to compile and compare anew, once. */
static int call_execute(struct session *session, const struct json *params,
			struct json **ret_result, struct refusal *refusal)
{
	struct run_limits limits;
	struct err err;
	int result;

	if (run_limits_read(json_get(params, "limits"), &limits, &err) < 0)
		return refusal_from_err(refusal, &err);
	shorten(&limits, params);
	result = execute_once(session, params, &limits, ret_result, refusal);
	if (result == RUN_SCHEMA_CHANGED)
		result = execute_once(session, params, &limits, ret_result, refusal);
	if (result == RUN_SCHEMA_CHANGED)
		return refusal_set(refusal, BY_DATABASE, "send the statement again",
				   "the schema changed after the statement was prepared");
	return result;
}

static int read_search(const struct json *arguments, const char **ret_text, int64_t *ret_limit,
		       struct err *err)
{
	static const char *const keys[] = {"text", "limit", NULL};

	*ret_limit = SEARCH_LIMIT_DEFAULT;
	if (json_only(arguments, keys, err) < 0 ||
	    json_want_str(arguments, "text", ret_text, err) < 0)
		return -1;
	if (!json_is_null(json_get(arguments, "limit")) &&
	    json_want_int(arguments, "limit", 1, SEARCH_LIMIT_MAX, ret_limit, err) < 0)
		return -1;
	return 0;
}

static int search_schema(struct view *view, const struct json *arguments, struct json **ret_result,
			 struct err *err)
{
	struct json *matches = NULL;
	const char *text;
	int64_t limit;

	if (read_search(arguments, &text, &limit, err) < 0)
		return -1;
	if (!view->names && name_index_open(view->reach, &view->names, err) < 0)
		return -1;
	if (name_index_search(view->names, text, limit, &matches, err) < 0)
		return -1;
	*ret_result = json_object();
	json_set_bool(*ret_result, "ok", true);
	json_set(*ret_result, "matches", matches);
	return 0;
}

static int search_values(struct session *session, struct view *view, const struct json *arguments,
			 const struct run_limits *limits, struct json **ret_result,
			 struct refusal *refusal)
{
	const char *text;
	int64_t limit;
	struct err err;

	if (read_search(arguments, &text, &limit, &err) < 0)
		return refusal_from_err(refusal, &err);
	if (value_index_refresh(session, view, limits, refusal) < 0)
		return -1;
	return value_index_search(view->values, &session->database, text, limit, ret_result,
				  refusal);
}

static int describe(struct session *session, struct view *view, const struct json *arguments,
		    const struct run_limits *limits, struct json **ret_result,
		    struct refusal *refusal)
{
	static const char *const keys[] = {"table", NULL};
	const char *table;
	struct err err;

	if (json_only(arguments, keys, &err) < 0 ||
	    json_want_str(arguments, "table", &table, &err) < 0)
		return refusal_from_err(refusal, &err);
	return tables_describe(session, view, table, limits, ret_result, refusal);
}

static int call_tool(struct session *session, const struct json *params, struct json **ret_result,
		     struct refusal *refusal)
{
	static const char *const none[] = {NULL};
	const struct json *arguments = json_get(params, "arguments");
	const char *tool = json_get_str(params, "tool");
	struct run_limits limits;
	struct view *view;
	struct err err;

	if (run_limits_read(json_get(params, "limits"), &limits, &err) < 0)
		return refusal_from_err(refusal, &err);
	shorten(&limits, params);
	if (session_begin(session, limits.time_ms, refusal) < 0 ||
	    session_view(session, json_get(params, "view"), &view, refusal) < 0)
		return -1;
	session->database.watch.scan_bytes_max = limits.scan_bytes;
	if (strcmp(tool, "describe_table") == 0)
		return describe(session, view, arguments, &limits, ret_result, refusal);
	if (strcmp(tool, "search_values") == 0)
		return search_values(session, view, arguments, &limits, ret_result, refusal);
	if (strcmp(tool, "search_schema") == 0)
		return search_schema(view, arguments, ret_result, &err) < 0
			       ? refusal_from_err(refusal, &err)
			       : 0;
	if (strcmp(tool, "list_tables") != 0)
		return refusal_set(refusal, BY_ARGUMENTS, "use a tool of tool.list",
				   "this source has no tool %s", tool);
	if (json_only(arguments, none, &err) < 0)
		return refusal_from_err(refusal, &err);
	*ret_result = tables_list(view->reach);
	return 0;
}

struct json *session_call(struct session *session, const char *method, const struct json *params)
{
	struct json *result = NULL;
	struct refusal refusal;
	int outcome;

	if (strcmp(method, "prepare") == 0)
		outcome = call_prepare(session, params, &result, &refusal);
	else if (strcmp(method, "execute") == 0)
		outcome = call_execute(session, params, &result, &refusal);
	else if (strcmp(method, "tool") == 0)
		outcome = call_tool(session, params, &result, &refusal);
	else if (strcmp(method, "catalog") == 0)
		outcome = call_catalog(session, &result, &refusal);
	else
		outcome = refusal_set(&refusal, BY_ARGUMENTS, "correct the call", "no method %s",
				      method);
	guard_close(&session->database.guard);
	if (outcome < 0)
		return refusal_json(&refusal);
	if (session->database.sqlite)
		database_release(&session->database);
	return result;
}
