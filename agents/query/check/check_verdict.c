/*
 * One verdict per aggregate.
 *
 * The tables whose columns an aggregate adds up own it. If a row of theirs meets at most one row of
 * every other table, each is counted once: safe. Otherwise it may be counted once per row of the
 * others. A column of a sub-query that neither groups nor removes duplicates is followed to the
 * tables inside, since the repetition may have happened there.
 *
 * With compiled columns the metric is declared on the rows of its dataset, which then owns every
 * aggregate together with what it names.
 */
#include "agents/query/check/check_internal.h"

#include <string.h>

struct judge {
	struct check_context *context;
	const struct sql_statement *statement;
	struct findings *findings;
};

void findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		mem_free(findings->items[i].owner);
		mem_free(findings->items[i].repeated_by);
		mem_free(findings->items[i].why);
	}
	mem_free(findings->items);
	*findings = (struct findings){0};
}

static char *names_of(const struct check_context *context, const struct sql_select *select,
		      uint64_t sources)
{
	struct buf names = BUF_INIT;
	size_t left = (size_t)__builtin_popcountll(sources);

	for (size_t i = 0; i < select->source_count; i++) {
		if (!(sources >> i & 1))
			continue;
		left--;
		buf_addf(&names, "%s%s", check_source_name(context->input, &select->sources[i]),
			 left > 1    ? ", "
			 : left == 1 ? " and "
				     : "");
	}
	return buf_take(&names);
}

/* The worse of two, by what a reader must know first. */
static int weight(enum verdict verdict)
{
	static const int weights[] = {
		[VERDICT_SAFE] = 0,    [VERDICT_JOINED] = 1, [VERDICT_GROUPED] = 2,
		[VERDICT_UNKNOWN] = 3, [VERDICT_OUTER] = 4,  [VERDICT_DISTINCT] = 5,
		[VERDICT_REPEATED] = 6};

	return weights[verdict];
}

static void worsen(struct finding *finding, struct finding *other)
{
	if (weight(other->verdict) > weight(finding->verdict)) {
		struct finding kept = *finding;

		*finding = *other;
		*other = kept;
	}
	mem_free(other->owner);
	mem_free(other->repeated_by);
	mem_free(other->why);
}

static struct finding new_finding(const struct sql_select *select,
				  const struct sql_aggregate *aggregate)
{
	return (struct finding){
		.select = select, .aggregate = aggregate, .owner_source = -1, .probe = -1};
}

/* Those of the missing tables that the rest follow from: items, not the item's article as well. */
static uint64_t roots(struct check_context *context, const struct sql_select *select,
		      uint64_t owners, uint64_t missing)
{
	uint64_t kept = missing;

	for (size_t i = 0; i < select->source_count; i++) {
		uint64_t others = kept & ~(1ull << i);

		if ((kept >> i & 1) && others &&
		    (check_closure(context, select, owners | others, false) >> i & 1))
			kept = others;
	}
	return kept;
}

static bool any_key_missing(struct check_context *context, const struct sql_select *select,
			    uint64_t sources)
{
	bool missing = false;

	for (size_t i = 0; i < select->source_count; i++) {
		struct check_keys keys;

		if (!(sources >> i & 1))
			continue;
		check_keys_of(context, &select->sources[i], &keys);
		missing = missing || keys.count == 0;
		check_keys_clear(&keys);
	}
	return missing;
}

/* The dataset of a compiled metric, if this level reads it. */
static uint64_t declared_base(const struct checks_input *input, const struct sql_select *select)
{
	const char *name = json_get_str(input->plan, "dataset");

	for (size_t i = 0; input->columns && name && i < select->source_count; i++) {
		if (strcasecmp(select->sources[i].alias, name) == 0)
			return 1ull << i;
	}
	return 0;
}

/* ---- counting rows ---- */

bool check_is_optional(const struct sql_select *select, size_t source)
{
	for (size_t i = 0; i < select->join_count; i++) {
		const struct sql_join *join = &select->joins[i];
		bool right = join->right >> source & 1, left = join->left >> source & 1;

		if ((right && (join->kind == SQL_LEFT || join->kind == SQL_FULL)) ||
		    (left && (join->kind == SQL_RIGHT || join->kind == SQL_FULL)))
			return true;
	}
	return false;
}

/* Are the rows that the outer join made up gone, or what is asked for? */
static bool is_settled(struct check_context *context, const struct sql_select *select,
		       size_t source)
{
	return (check_dropped(context, select, select->where) >> source & 1) ||
	       check_asks_for_none(context, select, select->where, source);
}

static struct finding judge_rows(struct check_context *context, const struct sql_select *select,
				 const struct sql_aggregate *aggregate)
{
	struct finding finding = new_finding(select, aggregate);
	uint64_t all = check_all(select), finest = 0;
	size_t optional = select->source_count;

	if (select->source_count < 2)
		return finding;
	for (size_t i = 0; i < select->source_count; i++) {
		if (check_closure(context, select, 1ull << i, false) != all)
			continue;
		if (check_is_optional(select, i) && !is_settled(context, select, i)) {
			optional = i;
			continue;
		}
		finding.verdict = context->input->columns ? VERDICT_SAFE : VERDICT_JOINED;
		finding.owner = names_of(context, select, 1ull << i);
		return finding;
	}
	if (optional < select->source_count) {
		finding.verdict = VERDICT_OUTER;
		finest = 1ull << optional;
		finding.owner = names_of(context, select, finest);
		return finding;
	}
	finding.verdict = VERDICT_REPEATED;
	finding.repeated_by = names_of(context, select, all);
	finding.keys_missing = any_key_missing(context, select, all);
	return finding;
}

/* ---- adding up columns ---- */

static struct finding judge_columns(struct check_context *context, const struct sql_select *select,
				    const struct sql_aggregate *aggregate,
				    const struct sql_columns *columns);

static struct finding unknown(const struct sql_select *select,
			      const struct sql_aggregate *aggregate, char *why)
{
	struct finding finding = new_finding(select, aggregate);

	finding.verdict = VERDICT_UNKNOWN;
	finding.why = why;
	return finding;
}

static bool star_has(struct check_context *context, const struct sql_select *query,
		     const char *table, const char *name)
{
	for (size_t i = 0; i < query->source_count; i++) {
		if (table && strcasecmp(table, query->sources[i].alias) != 0)
			continue;
		if (check_has_column(context, &query->sources[i], name) != 0)
			return true;
	}
	return false;
}

/* What the output of a sub-query is made of. A star passes the column on under its name, unless an
 * output is called so. */
static bool output_columns(struct check_context *context, const struct sql_select *query,
			   size_t index, const char *name, struct sql_columns *ret_columns,
			   struct sql_column *room)
{
	for (size_t i = 0; i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];

		if (output->star ||
		    !(name ? output->name && strcasecmp(output->name, name) == 0 : i == index))
			continue;
		*ret_columns = output->columns;
		return true;
	}
	for (size_t i = 0; name && i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];
		const char *table = output->star ? output->columns.items[0].table : NULL;

		if (!output->star || !star_has(context, query, table, name))
			continue;
		*room = (struct sql_column){table, name};
		*ret_columns = (struct sql_columns){room, 1};
		return true;
	}
	return false;
}

static size_t output_index(const struct sql_select *query, const char *name)
{
	for (size_t i = 0; i < query->output_count; i++) {
		if (query->outputs[i].name && strcasecmp(query->outputs[i].name, name) == 0)
			return i;
	}
	return 0;
}

static bool keeps_rows_apart(const struct sql_select *query)
{
	if (query->distinct || query->group_count > 0)
		return true;
	for (size_t i = 0; i < query->aggregate_count; i++) {
		if (!query->aggregates[i].window)
			return true;
	}
	return false;
}

/* The rows inside a sub-query, as far as this column of it goes. */
static struct finding judge_inside(struct check_context *context, const struct sql_select *query,
				   const struct sql_aggregate *aggregate, size_t index,
				   const char *name)
{
	struct finding finding = new_finding(query, aggregate);
	struct sql_columns columns;
	struct sql_column room;

	if (!check_step(context))
		return unknown(query, aggregate, mem_str("too many queries inside each other"));
	if (keeps_rows_apart(query))
		return finding;
	for (size_t i = 0; i < query->arm_count; i++) {
		struct finding arm = judge_inside(context, query->arms[i], aggregate,
						  output_index(query, name), NULL);

		worsen(&finding, &arm);
	}
	if (query->arm_count > 0 || query->source_count == 0)
		return finding;
	if (!output_columns(context, query, index, name, &columns, &room) || columns.count == 0)
		return finding; /* a constant: rows, of which nobody claims a source */
	return judge_columns(context, query, aggregate, &columns);
}

static struct finding judge_lineage(struct check_context *context, const struct sql_select *select,
				    const struct sql_aggregate *aggregate,
				    const struct sql_columns *columns)
{
	struct finding finding = new_finding(select, aggregate);

	for (size_t i = 0; i < columns->count; i++) {
		const struct sql_column *column = &columns->items[i];
		struct place place = check_place(context, select, column, UINT64_MAX);
		struct finding inside;

		if (place.reach != REACH_SOURCE || select->sources[place.source].kind != SQL_QUERY)
			continue;
		inside = judge_inside(context, select->sources[place.source].query, aggregate, 0,
				      column->name);
		worsen(&finding, &inside);
	}
	return finding;
}

static struct finding judge_columns(struct check_context *context, const struct sql_select *select,
				    const struct sql_aggregate *aggregate,
				    const struct sql_columns *columns)
{
	struct finding finding = new_finding(select, aggregate);
	uint64_t all = check_all(select), owners = 0, missing;

	for (size_t i = 0; i < columns->count; i++) {
		struct place place = check_place(context, select, &columns->items[i], UINT64_MAX);

		if (place.reach == REACH_UNKNOWN)
			return unknown(
				select, aggregate,
				mem_format("which table %s is of is not known",
					   columns->items[i].name ? columns->items[i].name : "*"));
		if (place.reach == REACH_SOURCE)
			owners |= 1ull << place.source;
	}
	if (owners == 0)
		return judge_rows(context, select, aggregate);
	if (__builtin_popcountll(owners) == 1)
		finding.owner_source = __builtin_ctzll(owners);
	owners |= declared_base(context->input, select);
	missing = all & ~check_closure(context, select, owners, false);
	if (missing == 0)
		return judge_lineage(context, select, aggregate, columns);
	finding.owner = names_of(context, select, owners);
	finding.repeated_by = names_of(context, select, roots(context, select, owners, missing));
	finding.verdict = VERDICT_REPEATED;
	if (select->group_count > 0 && !(all & ~check_closure(context, select, owners, true)))
		finding.verdict = VERDICT_GROUPED;
	finding.keys_missing = any_key_missing(context, select, missing);
	return finding;
}

static struct finding judge_aggregate(struct check_context *context,
				      const struct sql_select *select,
				      const struct sql_aggregate *aggregate)
{
	struct finding finding = new_finding(select, aggregate);

	if (aggregate->call == SQL_MIN || aggregate->call == SQL_MAX ||
	    aggregate->call == SQL_CONCAT || select->source_count == 0)
		return finding;
	if (aggregate->distinct) {
		if (aggregate->call != SQL_COUNT)
			finding.verdict = VERDICT_DISTINCT;
		return finding;
	}
	if (aggregate->term_count == 0)
		return judge_rows(context, select, aggregate);
	for (size_t i = 0; i < aggregate->term_count; i++) {
		const struct sql_term *term = &aggregate->terms[i];
		struct finding one;

		if (term->opaque)
			one = unknown(select, aggregate,
				      mem_str("a sub-query is part of what is added up"));
		else if (term->values.count == 0)
			one = judge_rows(context, select, aggregate);
		else
			one = judge_columns(context, select, aggregate, &term->values);
		worsen(&finding, &one);
	}
	return finding;
}

void check_statement(struct check_context *context, const struct sql_statement *statement,
		     struct findings *findings)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		for (size_t j = 0; j < select->aggregate_count; j++) {
			struct finding finding =
				judge_aggregate(context, select, &select->aggregates[j]);

			finding.statement = statement;
			findings->items = mem_grow(
				findings->items, (findings->count + 1) * sizeof(*findings->items));
			findings->items[findings->count++] = finding;
		}
	}
}
