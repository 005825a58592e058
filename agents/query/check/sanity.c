/*
 * DESCRIBE (each table whose keys matter and are not known; of a view, its tables next) -> PROBE
 * (if one is needed) -> done.
 *
 * A call that fails, is refused or cannot be made ends its step, not the checks: what could not be
 * learned is said in a note. A probe that is refused is tried once more with its first part alone.
 */
#include "agents/query/check/sanity.h"

#include <string.h>
#include <strings.h>

#define UNMEASURED "what the data could tell was not measured"
#define CALL_MS 40000 /* beyond the longest statement the defaults allow */

struct sanity {
	struct channel *channel;
	struct checks_input input; /* lent, but for tables */
	const struct json *result; /* lent */
	sanity_done *done;
	void *data;
	struct json *tables; /* owned: what was given and what was described */
	struct json *wanted; /* owned: names */
	size_t described;    /* how many of wanted were asked for */
	bool ended;	     /* nothing more can be described */
	struct sql_checks *checks;
	struct sanity_spent spent;
	struct json *notes;
};

static void finish(struct sanity *sanity, const struct json *probe)
{
	struct json *flags = checks_result(sanity->checks, sanity->result, probe);
	struct json *verdicts = checks_verdicts(sanity->checks, probe);
	sanity_done *done = sanity->done;
	void *data = sanity->data;
	struct sanity_spent spent = sanity->spent;

	json_each(note, sanity->notes) json_push(flags, json_copy(note));
	checks_free(sanity->checks);
	json_free(sanity->tables);
	json_free(sanity->wanted);
	json_free(sanity->notes);
	mem_free(sanity);
	spent.verdicts = verdicts;
	done(data, flags, &spent);
	json_free(verdicts);
}

static void add_note(struct sanity *sanity, const char *what, const char *why)
{
	struct json *note = json_object();
	CLEANUP(mem_freep)
	char *message = mem_format("%s: %s", what, why ? why : "no reason given");

	json_set_str(note, "code", "analysis.unmeasured");
	json_set_str(note, "severity", "note");
	json_set_str(note, "message", message);
	json_push(sanity->notes, note);
}

/* Why a call brought nothing; NULL when it did. */
static const char *failure(const struct json *result, const struct err *err)
{
	if (err != NULL)
		return err->text;
	if (json_get_bool(result, "ok", false))
		return NULL;
	return json_get_str(result, "error") ? json_get_str(result, "error") : "refused";
}

static void add_unsent(struct sanity *sanity, const char *what)
{
	struct err why = {0};

	channel_why_not(sanity->channel, "the broker", &why);
	add_note(sanity, what, why.text);
}

static int64_t call_tool(struct sanity *sanity, const char *tool, struct json *arguments,
			 channel_done *done)
{
	struct json *params = json_object();
	int64_t id;

	if (sanity->input.database != NULL)
		json_set_str(arguments, "database", sanity->input.database);
	json_set_str(params, "tool", tool);
	json_set(params, "arguments", arguments);
	id = channel_call(sanity->channel, "tool.call", params, CALL_MS, done, sanity);
	sanity->spent.tool_calls += id != 0;
	return id;
}

static void run_probe(struct sanity *sanity, const char *sql, channel_done *done)
{
	struct json *arguments = json_object();

	json_set_str(arguments, "sql", sql);
	json_set_int(arguments, "rows", 1);
	if (call_tool(sanity, "run_query", arguments, done) == 0) {
		add_unsent(sanity, UNMEASURED);
		finish(sanity, NULL);
	}
}

static void on_probed_less(void *data, const struct json *result, const struct err *err)
{
	struct sanity *sanity = data;
	const char *why = failure(result, err);

	sanity->spent.bytes_scanned += json_get_int(result, "bytes_scanned", 0);
	if (why != NULL)
		add_note(sanity, "the repetition of rows was not measured", why);
	finish(sanity, why == NULL ? result : NULL);
}

/* A probe that asks too much is tried once more without what only warns. */
static void on_probed(void *data, const struct json *result, const struct err *err)
{
	struct sanity *sanity = data;
	const char *why = failure(result, err), *less;

	sanity->spent.bytes_scanned += json_get_int(result, "bytes_scanned", 0);
	if (why == NULL) {
		finish(sanity, result);
		return;
	}
	add_note(sanity, UNMEASURED, why);
	less = checks_probe_less(sanity->checks);
	if (less != NULL && err == NULL)
		run_probe(sanity, less, on_probed_less);
	else
		finish(sanity, NULL);
}

static void start_probe(struct sanity *sanity)
{
	const char *sql = checks_probe(sanity->checks);

	if (sql == NULL)
		finish(sanity, NULL);
	else
		run_probe(sanity, sql, on_probed);
}

static void describe_next(struct sanity *sanity);

static void on_described(void *data, const struct json *result, const struct err *err)
{
	struct sanity *sanity = data;
	const char *name = json_str(json_at(sanity->wanted, sanity->described - 1));
	const char *why = failure(result, err);

	if (why == NULL) {
		json_push(sanity->tables, json_copy(result));
	} else {
		CLEANUP(mem_freep) char *what = mem_format("the keys of %s were not read", name);

		add_note(sanity, what, why);
	}
	if (err != NULL) /* the channel has ended, or the broker does not answer */
		sanity->ended = true;
	describe_next(sanity);
}

static bool was_asked(const struct sanity *sanity, const char *name)
{
	json_each(asked, sanity->wanted) if (strcasecmp(json_str(asked), name) == 0) return true;
	return false;
}

/* What a view is made of is only known once it is described: then its tables are asked for too. */
static bool wants_more(struct sanity *sanity)
{
	CLEANUP(json_freep) struct json *wanted = checks_tables_wanted(sanity->checks);
	bool more = false;

	json_each(name, wanted)
	{
		if (was_asked(sanity, json_str(name)))
			continue;
		json_push_str(sanity->wanted, json_str(name));
		more = true;
	}
	return more && sanity->described < SANITY_DESCRIBE_MAX;
}

static void plan_again(struct sanity *sanity)
{
	sanity->input.tables = sanity->tables;
	checks_free(sanity->checks);
	sanity->checks = checks_plan(&sanity->input);
	if (!sanity->ended && wants_more(sanity))
		describe_next(sanity);
	else
		start_probe(sanity);
}

static void describe_next(struct sanity *sanity)
{
	const struct json *name = json_at(sanity->wanted, sanity->described);
	struct json *arguments;

	if (name == NULL || sanity->ended || sanity->described == SANITY_DESCRIBE_MAX) {
		plan_again(sanity);
		return;
	}
	sanity->described++;
	arguments = json_object();
	json_set_str(arguments, "table", json_str(name));
	if (call_tool(sanity, "describe_table", arguments, on_described) == 0) {
		add_unsent(sanity, "the keys of the tables were not read");
		sanity->ended = true;
		plan_again(sanity);
	}
}

void sanity_start(struct channel *channel, const struct checks_input *input,
		  const struct json *result, sanity_done *done, void *data)
{
	struct sanity *sanity = mem_alloc(sizeof(*sanity));

	*sanity = (struct sanity){
		.channel = channel,
		.input = *input,
		.result = result,
		.done = done,
		.data = data,
		.tables = json_is_null(input->tables) ? json_array() : json_copy(input->tables),
		.notes = json_array(),
	};
	sanity->checks = checks_plan(input);
	sanity->wanted = checks_tables_wanted(sanity->checks);
	if (json_len(sanity->wanted) > 0)
		describe_next(sanity);
	else
		start_probe(sanity);
}
