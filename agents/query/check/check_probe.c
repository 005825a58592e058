/*
 * The probe: how often is each row really counted, now?
 *
 * Over the statement's own FROM and WHERE, and within its own groups, the rows that an aggregate
 * adds up are told apart by their table's key and by the value added. n says how often one came:
 *
 *   SELECT SUM("n" * "x"), SUM("x"), SUM("n"), COUNT(*) FROM
 *     (SELECT <groups>, <key>, <argument> AS "x", COUNT(*) AS "n" <FROM and WHERE> GROUP BY ...)
 *   WHERE "x" IS NOT NULL AND <key> IS NOT NULL
 *
 * The first two stand in the place of the aggregate within its column's expression, so that the
 * numbers are those a reader sees (SUM(x) / 100.0). Text comes from the statement, which has
 * already run under the same grant; names of keys are quoted.
 *
 * Where the rows repeat inside a sub-query or a view of which all rows are added up, the probe is
 * made over the FROM and WHERE in there.
 *
 * A table of SQLite without a key has the number of its rows for one. Not measured, and so left
 * open: window functions, FILTER, sub-queries that use columns or common tables of their
 * surroundings, other owners without a known key.
 */
#include "agents/query/check/check_internal.h"

#include <string.h>

#include "agents/query/metrics/expression.h"

struct probe {
	struct check_context *context;
	const struct sql_statement *top;
	const struct check_views *views;
	const struct finding *finding;
	const struct sql_tokens *tokens; /* of what the aggregate stands in */
	const struct sql_tokens *inside; /* of the level whose rows repeat */
	const struct sql_output *passed; /* of that level, when it is one inside; else NULL */
	struct check_key key;
	struct buf out;
};

static bool holds_aggregate(const struct sql_select *select, const struct sql_aggregate *aggregate)
{
	return select->aggregate_count > 0 && aggregate >= select->aggregates &&
	       aggregate < select->aggregates + select->aggregate_count;
}

static bool has_level(const struct sql_statement *statement, const struct sql_select *select)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		if (statement->selects[i] == select)
			return true;
	}
	return false;
}

/* The statement, ours or a view's, that the level is one of. */
static const struct sql_statement *statement_of(const struct probe *probe,
						const struct sql_select *select)
{
	for (size_t i = 0; i < probe->views->count; i++) {
		if (has_level(probe->views->items[i], select))
			return probe->views->items[i];
	}
	return probe->top;
}

/* The level that the aggregate itself stands in. */
static const struct sql_select *level_of(const struct finding *finding)
{
	for (size_t i = 0; i < finding->statement->select_count; i++) {
		if (holds_aggregate(finding->statement->selects[i], finding->aggregate))
			return finding->statement->selects[i];
	}
	return NULL;
}

/* Does the text name a common table expression of the statement? */
static bool names_cte(const struct sql_statement *statement, struct sql_range range)
{
	for (size_t i = range.first; i < range.end; i++) {
		const struct sql_token *token = &statement->tokens.items[i];
		bool quoted = token->kind == SQL_NAME;
		size_t len = token->end - token->start - (quoted ? 2 : 0);

		if (token->kind != SQL_WORD && !quoted)
			continue;
		for (size_t j = 0; j < statement->select_count; j++) {
			const char *name = statement->selects[j]->name;

			if (name && strlen(name) == len &&
			    strncasecmp(statement->tokens.text + token->start + quoted, name,
					len) == 0)
				return true;
		}
	}
	return false;
}

/* The WITH of our own statement stands before the probe. */
static bool stands_alone(const struct probe *probe, const struct sql_select *select)
{
	return select == probe->top->top || (select->role != SQL_SUBQUERY && !select->parent &&
					     !names_cte(statement_of(probe, select), select->from));
}

/* fee, x.fee: one token, or three. */
static bool is_one_column(const struct sql_aggregate *aggregate)
{
	size_t tokens = aggregate->argument.end - aggregate->argument.first;

	return (tokens == 1 || tokens == 3) && aggregate->term_count == 1 &&
	       aggregate->terms[0].values.count == 1 &&
	       (tokens == 3) == (aggregate->terms[0].values.items[0].table != NULL);
}

/* What passes a row's value on to the aggregate over all rows of one sub-query or view: then the
 * rows inside are those that it adds up. NULL where anything stands between. */
static const struct sql_output *passed_on(const struct finding *finding)
{
	const struct sql_select *level = level_of(finding), *inside = finding->select;
	const struct sql_aggregate *aggregate = finding->aggregate;

	if (!level || level->source_count != 1 || level->where || inside->limited ||
	    level->sources[0].kind != SQL_QUERY || level->sources[0].query != inside ||
	    !is_one_column(aggregate))
		return NULL;
	for (size_t i = 0; i < inside->output_count; i++) {
		const struct sql_output *output = &inside->outputs[i];

		if (!output->star && output->name &&
		    check_same(output->name, aggregate->terms[0].values.items[0].name))
			return output;
	}
	return NULL;
}

static bool measurable(struct probe *probe, const struct finding *finding)
{
	const struct sql_aggregate *aggregate = finding->aggregate;
	const struct sql_select *select = finding->select;

	if (finding->verdict != VERDICT_REPEATED || finding->owner_source < 0 ||
	    select->sources[finding->owner_source].kind != SQL_TABLE || aggregate->window ||
	    aggregate->filtered || aggregate->argument.end <= aggregate->argument.first ||
	    select->wild_group || select->from.end <= select->from.first ||
	    !stands_alone(probe, select))
		return false;
	probe->passed = NULL;
	if (!holds_aggregate(select, aggregate))
		probe->passed = passed_on(finding);
	return probe->passed || holds_aggregate(select, aggregate);
}

/* Every term must be of the one owner: a sum over two tables has no row of its own. */
static bool one_owner(struct check_context *context, const struct finding *finding)
{
	const struct sql_aggregate *aggregate = finding->aggregate;

	if (!holds_aggregate(finding->select, aggregate))
		return true; /* one column, of one output */
	for (size_t i = 0; i < aggregate->term_count; i++) {
		const struct sql_columns *values = &aggregate->terms[i].values;

		for (size_t j = 0; j < values->count; j++) {
			struct place place = check_place(context, finding->select,
							 &values->items[j], UINT64_MAX);

			if (place.reach == REACH_SOURCE &&
			    place.source != (size_t)finding->owner_source)
				return false;
		}
	}
	return true;
}

static void add_range(struct probe *probe, struct sql_range range)
{
	sql_tokens_write(probe->tokens, range.first, range.end, &probe->out);
}

static void add_inside(struct probe *probe, struct sql_range range)
{
	sql_tokens_write(probe->inside, range.first, range.end, &probe->out);
}

static void add_group(struct probe *probe, const struct sql_group *group)
{
	const struct sql_select *select = probe->finding->select;
	struct place place = {REACH_UNKNOWN, 0, NULL};

	if (group->output >= 0) {
		add_range(probe, select->outputs[group->output].text);
		return;
	}
	if (group->plain)
		place = check_place(probe->context, select, &group->column, UINT64_MAX);
	for (size_t i = 0; place.reach == REACH_UNKNOWN && group->plain && !group->column.table &&
			   i < select->output_count;
	     i++) {
		const char *name = select->outputs[i].name;

		if (name && strcasecmp(name, group->column.name) == 0) {
			add_range(probe, select->outputs[i].text); /* grouped by its alias */
			return;
		}
	}
	add_range(probe, group->text);
}

static void add_inner(struct probe *probe)
{
	const struct sql_select *select = probe->finding->select;
	const char *alias = select->sources[probe->finding->owner_source].alias;
	struct buf *out = &probe->out;
	size_t count = 0;

	buf_add_str(out, "SELECT ");
	for (size_t i = 0; i < select->group_count; i++, count++) {
		add_group(probe, &select->groups[i]);
		buf_addf(out, " AS \"g%zu\", ", i + 1);
	}
	for (size_t i = 0; i < probe->key.count; i++, count++) {
		sql_name(alias, out);
		buf_add_char(out, '.');
		sql_name(probe->key.columns[i], out);
		buf_addf(out, " AS \"k%zu\", ", i + 1);
	}
	buf_add_char(out, '(');
	if (probe->passed)
		add_inside(probe, probe->passed->text);
	else
		add_range(probe, probe->finding->aggregate->argument);
	buf_add_str(out, ") AS \"x\", COUNT(*) AS \"n\" ");
	add_inside(probe, select->from);
	for (size_t i = 0; i <= count; i++)
		buf_addf(out, i == 0 ? " GROUP BY %zu" : ", %zu", i + 1);
}

static const char *counted(enum sql_call call, bool once)
{
	switch (call) {
	case SQL_COUNT:
		return once ? "COUNT(*)" : "SUM(\"n\")";
	case SQL_AVG:
		return once ? "AVG(\"x\")" : "(1.0 * SUM(\"n\" * \"x\") / SUM(\"n\"))";
	case SQL_TOTAL:
		return once ? "TOTAL(\"x\")" : "TOTAL(\"n\" * \"x\")";
	default:
		return once ? "SUM(\"x\")" : "SUM(\"n\" * \"x\")";
	}
}

static bool within(struct sql_range inner, struct sql_range outer)
{
	return inner.first >= outer.first && inner.end <= outer.end && inner.end > inner.first;
}

/* The column whose expression is a function of this aggregate alone; NULL when there is none. */
static const struct sql_output *own_output(const struct probe *probe)
{
	const struct sql_select *select = level_of(probe->finding);
	const struct sql_aggregate *aggregate = probe->finding->aggregate;

	for (size_t i = 0; i < select->output_count; i++) {
		const struct sql_output *output = &select->outputs[i];
		size_t inside = 0;

		if (!within(aggregate->text, output->text))
			continue;
		for (size_t j = 0; j < select->aggregate_count; j++)
			inside += within(select->aggregates[j].text, output->text);
		for (size_t j = output->text.first; j < output->text.end; j++)
			inside += sql_token_is(probe->tokens, j, "SELECT");
		return inside == 1 && output->columns.count == aggregate->column_count ? output
										       : NULL;
	}
	return NULL;
}

static void add_value(struct probe *probe, bool once)
{
	const struct sql_aggregate *aggregate = probe->finding->aggregate;
	const struct sql_output *output = own_output(probe);

	if (!output) {
		buf_add_str(&probe->out, counted(aggregate->call, once));
		return;
	}
	add_range(probe, (struct sql_range){output->text.first, aggregate->text.first});
	buf_addf(&probe->out, " %s ", counted(aggregate->call, once));
	add_range(probe, (struct sql_range){aggregate->text.end, output->text.end});
}

/* Averages of groups may be skewed each and even out in all: then the worst group is shown. */
static void add_one(struct probe *probe, int number)
{
	struct buf *out = &probe->out;
	bool grouped = probe->finding->aggregate->call == SQL_AVG &&
		       probe->finding->select->group_count > 0;

	buf_add_str(out, number == 0 ? "(" : ", (");
	if (grouped)
		buf_add_str(out, "SELECT * FROM (");
	buf_add_str(out, "SELECT ");
	add_value(probe, false);
	buf_addf(out, " AS \"shown%d\", ", number + 1);
	add_value(probe, true);
	buf_addf(out, " AS \"once%d\", SUM(\"n\") AS \"rows%d\", COUNT(*) AS \"distinct%d\" FROM (",
		 number + 1, number + 1, number + 1);
	add_inner(probe);
	buf_add_str(out, ") AS \"parts\" WHERE \"x\" IS NOT NULL");
	for (size_t i = 0; i < probe->key.count; i++)
		buf_addf(out, " AND \"k%zu\" IS NOT NULL", i + 1);
	if (grouped) {
		for (size_t i = 0; i < probe->finding->select->group_count; i++)
			buf_addf(out, i == 0 ? " GROUP BY \"g%zu\"" : ", \"g%zu\"", i + 1);
		buf_addf(out, ") AS \"groups\" ORDER BY ABS(\"shown%d\" - \"once%d\") DESC LIMIT 1",
			 number + 1, number + 1);
	}
	buf_addf(out, ") AS \"probe%d\"", number + 1);
}

/* SQLite numbers the rows of a table that has no key; nobody could name that number "rowid" and
 * mean another thing where the whole table is described. */
static bool has_row_number(const struct probe *probe, const struct sql_source *owner)
{
	const struct json *table = check_table(probe->context->input, owner->table);

	if (check_postgres(probe->context) || !table || json_get_bool(table, "partial", false) ||
	    json_len(json_get(table, "columns")) == 0)
		return false;
	json_each(column, json_get(table, "columns"))
	{
		if (check_same(json_get_str(column, "name"), "rowid"))
			return false;
	}
	return true;
}

static bool add_finding(struct probe *probe, struct finding *finding, int number)
{
	static const char *row_number[] = {"rowid"};
	const struct sql_source *owner = &finding->select->sources[finding->owner_source];
	struct check_keys keys;
	bool found;

	check_keys_of(probe->context, owner, &keys);
	found = keys.count > 0 && keys.items[0].count > 0;
	if (found)
		probe->key = keys.items[0];
	else if (keys.count == 0 && has_row_number(probe, owner))
		probe->key = (struct check_key){row_number, 1};
	if (probe->key.count > 0 && (found || keys.count == 0)) {
		found = true;
		probe->finding = finding;
		add_one(probe, number);
		finding->probe = number;
	}
	probe->key = (struct check_key){0};
	check_keys_clear(&keys);
	return found;
}

char *check_probe(struct check_context *context, const struct sql_statement *statement,
		  const struct check_views *views, struct findings *findings)
{
	struct probe probe = {.context = context, .top = statement, .views = views};
	struct sql_range with = statement->top->with;
	int count = 0;

	for (size_t i = 0; i < findings->count && count < CHECK_PROBES_MAX; i++) {
		struct finding *finding = &findings->items[i];

		if (!measurable(&probe, finding) || !one_owner(context, finding))
			continue;
		if (probe.out.len == 0) {
			sql_tokens_write(&statement->tokens, with.first, with.end, &probe.out);
			buf_add_str(&probe.out, with.end ? " SELECT * FROM " : "SELECT * FROM ");
		}
		probe.tokens = &finding->statement->tokens;
		probe.inside = &statement_of(&probe, finding->select)->tokens;
		count += add_finding(&probe, finding, count);
	}
	if (count > 0)
		return buf_take(&probe.out);
	buf_clear(&probe.out);
	return NULL;
}
