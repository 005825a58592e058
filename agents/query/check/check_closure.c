/*
 * What determines what. A row of one table meets at most one row of another if the join (and the
 * filters with a constant) fix all columns of one of the other's keys. From a set of tables this
 * spreads: columns of a fixed row are fixed, an equality fixes its other side, a key whose columns
 * are fixed fixes its row.
 *
 * Outer joins: ON of a LEFT JOIN fixes the right side, for the row it makes up is one row. It fixes
 * columns of the left side only if the right side's row is a real one, for a left row that met
 * nothing stays although ON did not hold. Start rows are real, and so are those that an equality
 * which held ties to them.
 */
#include "agents/query/check/check_internal.h"

#include <string.h>

struct node { /* a column that an equality or a group names */
	size_t source;
	const char *column;
	bool fixed;
};

struct link {
	size_t a;
	size_t b; /* unused when constant or derived */
	bool constant;
	const struct sql_columns *derived; /* a is an expression of these columns; else NULL */
	uint64_t derived_in;
	int join;
};

struct graph {
	struct check_context *context;
	const struct sql_select *select;
	uint64_t fixed;	  /* sources */
	uint64_t present; /* sources whose row is a real one, not made up by an outer join */
	struct node *nodes;
	size_t node_count;
	struct link *links;
	size_t link_count;
	struct check_keys *keys; /* per source */
};

static size_t node_of(struct graph *graph, size_t source, const char *column)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].source == source && check_same(graph->nodes[i].column, column))
			return i;
	}
	graph->nodes = mem_grow(graph->nodes, (graph->node_count + 1) * sizeof(*graph->nodes));
	graph->nodes[graph->node_count] = (struct node){source, column, false};
	return graph->node_count++;
}

static void add_link(struct graph *graph, struct link link)
{
	graph->links = mem_grow(graph->links, (graph->link_count + 1) * sizeof(*graph->links));
	graph->links[graph->link_count++] = link;
}

/* s.id = CAST(v.stall AS INTEGER): v.stall fixes s.id. */
static void link_derived(struct graph *graph, const struct sql_equality *equality)
{
	struct place left =
		check_place(graph->context, graph->select, &equality->left, equality->left_in);

	if (left.reach != REACH_SOURCE)
		return;
	add_link(graph, (struct link){.a = node_of(graph, left.source, equality->left.name),
				      .derived = &equality->from,
				      .derived_in = equality->right_in,
				      .join = equality->join});
}

static void link_equality(struct graph *graph, const struct sql_equality *equality)
{
	struct place left =
		check_place(graph->context, graph->select, &equality->left, equality->left_in);
	struct place right = {REACH_OUTER, 0, NULL};
	struct link link = {.join = equality->join};

	if (equality->from.count > 0) {
		link_derived(graph, equality);
		return;
	}
	if (!equality->constant)
		right = check_place(graph->context, graph->select, &equality->right,
				    equality->right_in);
	if (left.reach == REACH_UNKNOWN || right.reach == REACH_UNKNOWN)
		return;
	if (left.reach == REACH_SOURCE && right.reach == REACH_SOURCE) {
		link.a = node_of(graph, left.source, equality->left.name);
		link.b = node_of(graph, right.source, equality->right.name);
	} else if (left.reach == REACH_SOURCE) {
		link.constant = true;
		link.a = node_of(graph, left.source, equality->left.name);
	} else if (right.reach == REACH_SOURCE) {
		link.constant = true;
		link.a = node_of(graph, right.source, equality->right.name);
	} else {
		return;
	}
	add_link(graph, link);
}

static void link_common(struct graph *graph, int number, size_t right, const char *name)
{
	const struct sql_join *join = &graph->select->joins[number];
	struct sql_column column = {NULL, name};
	struct place left = check_place(graph->context, graph->select, &column, join->left);

	if (left.reach != REACH_SOURCE ||
	    check_has_column(graph->context, &graph->select->sources[left.source], name) != 1)
		return;
	add_link(graph, (struct link){node_of(graph, left.source, name),
				      node_of(graph, right, name), false, NULL, 0, number});
}

/* Every column that both sides surely have. */
static void link_natural(struct graph *graph, int number)
{
	const struct sql_select *select = graph->select;

	for (size_t i = 0; i < select->source_count; i++) {
		const struct sql_source *source = &select->sources[i];

		if (!(select->joins[number].right >> i & 1))
			continue;
		if (source->kind == SQL_TABLE) {
			json_each(column,
				  json_get(check_table(graph->context->input, source->table),
					   "columns"))
				link_common(graph, number, i, json_get_str(column, "name"));
			continue;
		}
		for (size_t j = 0; source->query && j < source->query->output_count; j++) {
			if (source->query->outputs[j].name)
				link_common(graph, number, i, source->query->outputs[j].name);
		}
	}
}

static void fix_groups(struct graph *graph)
{
	const struct sql_select *select = graph->select;

	for (size_t i = 0; i < select->group_count; i++) {
		const struct sql_group *group = &select->groups[i];
		const struct sql_output *output = check_group_output(select, group);
		const struct sql_column *column = group->plain ? &group->column : NULL;
		struct place place = {REACH_UNKNOWN, 0, NULL};

		if (column)
			place = check_place(graph->context, select, column, UINT64_MAX);
		if (place.reach != REACH_SOURCE && output && output->plain) {
			column = &output->columns.items[0];
			place = check_place(graph->context, select, column, UINT64_MAX);
		}
		if (place.reach == REACH_SOURCE) {
			size_t node = node_of(graph, place.source, column->name);

			graph->nodes[node].fixed = true;
		}
	}
}

/* May this equality fix a column of the source? See the head of the file. */
static bool reaches(const struct graph *graph, const struct link *link, size_t source)
{
	const struct sql_join *join;
	bool on_right;

	if (link->join == SQL_IN_WHERE)
		return true;
	join = &graph->select->joins[link->join];
	on_right = join->right >> source & 1;
	switch (join->kind) {
	case SQL_INNER:
		return true;
	case SQL_LEFT:
		return on_right || (graph->present & join->right);
	case SQL_RIGHT:
		return !on_right || (graph->present & join->left);
	case SQL_FULL:
		return graph->present & (on_right ? join->left : join->right);
	}
	return false;
}

/* Did ON surely hold for the rows looked at? */
static bool holds(const struct graph *graph, const struct link *link)
{
	const struct sql_join *join;
	bool left, right;

	if (link->join == SQL_IN_WHERE)
		return true;
	join = &graph->select->joins[link->join];
	left = graph->present & join->left;
	right = graph->present & join->right;
	switch (join->kind) {
	case SQL_INNER:
		return left || right;
	case SQL_LEFT:
		return right;
	case SQL_RIGHT:
		return left;
	case SQL_FULL:
		return left && right;
	}
	return false;
}

/* Both sides of an equality that held are no NULL, so their rows are real. */
static bool note_present(struct graph *graph)
{
	uint64_t before = graph->present;

	for (size_t i = 0; i < graph->link_count; i++) {
		const struct link *link = &graph->links[i];

		if (!holds(graph, link))
			continue;
		graph->present |= 1ull << graph->nodes[link->a].source;
		if (!link->constant && !link->derived)
			graph->present |= 1ull << graph->nodes[link->b].source;
	}
	return graph->present != before;
}

static bool fix_node(struct graph *graph, const struct link *link, size_t node)
{
	if (graph->nodes[node].fixed || !reaches(graph, link, graph->nodes[node].source))
		return false;
	graph->nodes[node].fixed = true;
	return true;
}

static bool is_derived(struct graph *graph, const struct link *link)
{
	for (size_t i = 0; i < link->derived->count; i++) {
		const struct sql_column *column = &link->derived->items[i];
		struct place place =
			check_place(graph->context, graph->select, column, link->derived_in);
		size_t node;

		if (place.reach == REACH_UNKNOWN)
			return false;
		if (place.reach == REACH_OUTER)
			continue;
		node = node_of(graph, place.source, column->name);
		if (!(graph->fixed >> place.source & 1) && !graph->nodes[node].fixed)
			return false;
	}
	return true;
}

static bool fix_columns(struct graph *graph)
{
	bool changed = false;

	for (size_t i = 0; i < graph->node_count; i++) {
		if (!graph->nodes[i].fixed && (graph->fixed >> graph->nodes[i].source & 1)) {
			graph->nodes[i].fixed = true;
			changed = true;
		}
	}
	for (size_t i = 0; i < graph->link_count; i++) {
		const struct link *link = &graph->links[i];

		if (link->derived) {
			changed = (is_derived(graph, link) && fix_node(graph, link, link->a)) ||
				  changed;
			continue;
		}
		if (link->constant || graph->nodes[link->b].fixed)
			changed = fix_node(graph, link, link->a) || changed;
		if (!link->constant && graph->nodes[link->a].fixed)
			changed = fix_node(graph, link, link->b) || changed;
	}
	return changed;
}

static bool key_is_fixed(const struct graph *graph, size_t source, const struct check_key *key)
{
	for (size_t i = 0; i < key->count; i++) {
		bool fixed = false;

		for (size_t j = 0; !fixed && j < graph->node_count; j++)
			fixed = graph->nodes[j].fixed && graph->nodes[j].source == source &&
				check_same(graph->nodes[j].column, key->columns[i]);
		if (!fixed)
			return false;
	}
	return true;
}

static bool fix_sources(struct graph *graph)
{
	bool changed = false;

	for (size_t i = 0; i < graph->select->source_count; i++) {
		for (size_t j = 0; !(graph->fixed >> i & 1) && j < graph->keys[i].count; j++) {
			if (!key_is_fixed(graph, i, &graph->keys[i].items[j]))
				continue;
			graph->fixed |= 1ull << i;
			changed = true;
		}
	}
	return changed;
}

static void graph_clear(struct graph *graph)
{
	for (size_t i = 0; i < graph->select->source_count; i++)
		check_keys_clear(&graph->keys[i]);
	mem_free(graph->keys);
	mem_free(graph->nodes);
	mem_free(graph->links);
}

static void graph_build(struct graph *graph, bool grouped)
{
	const struct sql_select *select = graph->select;

	graph->keys = mem_array(select->source_count + 1, sizeof(*graph->keys));
	for (size_t i = 0; i < select->source_count; i++) {
		if (!(graph->fixed >> i & 1))
			check_keys_of(graph->context, &select->sources[i], &graph->keys[i]);
	}
	for (size_t i = 0; i < select->equality_count; i++)
		link_equality(graph, &select->equalities[i]);
	for (size_t i = 0; i < select->join_count; i++) {
		if (select->joins[i].natural)
			link_natural(graph, (int)i);
	}
	/* an anti-join leaves the one row that was made up */
	for (size_t i = 0; i < select->source_count; i++) {
		if (check_is_optional(select, i) &&
		    check_asks_for_none(graph->context, select, select->where, i))
			graph->fixed |= 1ull << i;
	}
	if (grouped)
		fix_groups(graph);
}

static void graph_spread(struct graph *graph)
{
	bool changed = true;

	while (changed) {
		changed = fix_columns(graph);
		changed = fix_sources(graph) || changed;
		changed = note_present(graph) || changed;
	}
}

uint64_t check_closure(struct check_context *context, const struct sql_select *select,
		       uint64_t start, bool grouped)
{
	struct graph graph = {
		.context = context, .select = select, .fixed = start, .present = start};

	if (!check_step(context))
		return start;
	graph_build(&graph, grouped);
	graph_spread(&graph);
	graph_clear(&graph);
	return graph.fixed;
}

bool check_column_fixed(struct check_context *context, const struct sql_select *select,
			bool grouped, const struct sql_column *column)
{
	struct graph graph = {.context = context, .select = select};
	struct place place = check_place(context, select, column, UINT64_MAX);
	size_t node;
	bool fixed;

	if (place.reach != REACH_SOURCE || !check_step(context))
		return true; /* constant, or nobody knows */
	graph_build(&graph, grouped);
	graph_spread(&graph);
	node = node_of(&graph, place.source, column->name); /* may move the nodes */
	fixed = (graph.fixed >> place.source & 1) || graph.nodes[node].fixed;
	graph_clear(&graph);
	return fixed;
}
