/*
 * The semantic model: the ways between datasets. Pure.
 *
 * Relationships are walked from the many to the one, so that a row meets at most one row at the end
 * (a path), or over children first (a link), where it may meet many. Two ways are one too many: the
 * caller must be told which is meant.
 */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

struct walk {
	const struct model *model;
	const struct model_dataset *start;
	const struct model_dataset *to;
	const struct words *via;	    /* NULL: any */
	const struct model_dataset *barred; /* never walked through; NULL: none */
	const struct model_relationship *steps[MODEL_PATH_MAX];
	size_t depth;
	size_t found;
	size_t found_max;
	const struct model_relationship *result[MODEL_PATH_MAX];
	size_t result_count;
	struct buf *names; /* of every step of every way; NULL: not wanted */
};

static bool visited(const struct walk *walk, const struct model_dataset *dataset)
{
	if (dataset == walk->start || dataset == walk->barred)
		return true;
	for (size_t i = 0; i < walk->depth; i++) {
		if (walk->steps[i]->to == dataset)
			return true;
	}
	return false;
}

static bool listed(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++) {
		if (strcmp(words->items[i], word) == 0)
			return true;
	}
	return false;
}

/* Of relationships between the same two datasets one may have been chosen. */
static bool chosen_other(const struct walk *walk, const struct model_relationship *step)
{
	if (!walk->via || listed(walk->via, step->name))
		return false;
	for (size_t i = 0; i < walk->model->relationship_count; i++) {
		const struct model_relationship *other = &walk->model->relationships[i];

		if (other != step && other->from == step->from && listed(walk->via, other->name))
			return true;
	}
	return false;
}

static void add_names(struct walk *walk)
{
	for (size_t i = 0; walk->names && i < walk->depth; i++) {
		const char *name = walk->steps[i]->name;
		const char *at = walk->names->len ? strstr(buf_str(walk->names), name) : NULL;
		char behind = at ? at[strlen(name)] : 'x';

		if (at && (behind == '\0' || behind == ','))
			continue;
		buf_addf(walk->names, "%s%s", walk->names->len ? ", " : "", name);
	}
}

static void arrived(struct walk *walk)
{
	if (walk->found++ == 0) {
		memcpy(walk->result, walk->steps, sizeof(walk->steps));
		walk->result_count = walk->depth;
	}
	add_names(walk);
}

static void walk_from(struct walk *walk, const struct model_dataset *here)
{
	if (here == walk->to) {
		arrived(walk);
		return;
	}
	if (walk->depth == MODEL_PATH_MAX)
		return;
	for (size_t i = 0; i < walk->model->relationship_count && walk->found < walk->found_max;
	     i++) {
		const struct model_relationship *step = &walk->model->relationships[i];

		if (step->from != here || visited(walk, step->to) || chosen_other(walk, step))
			continue;
		walk->steps[walk->depth++] = step;
		walk_from(walk, step->to);
		walk->depth--;
	}
}

static enum model_path result_of(const struct walk *walk,
				 const struct model_relationship *ret_steps[MODEL_PATH_MAX],
				 size_t *ret_count)
{
	if (walk->found == 0)
		return PATH_NONE;
	if (walk->found > 1)
		return PATH_SEVERAL;
	if (ret_steps)
		memcpy(ret_steps, walk->result, sizeof(walk->result));
	if (ret_count)
		*ret_count = walk->result_count;
	return PATH_ONE;
}

enum model_path model_path_via(const struct model *model, const struct model_dataset *from,
			       const struct model_dataset *to, const struct words *via,
			       const struct model_relationship *ret_steps[MODEL_PATH_MAX],
			       size_t *ret_count)
{
	struct walk walk = {.model = model, .start = from, .to = to, .via = via, .found_max = 2};

	walk_from(&walk, from);
	return result_of(&walk, ret_steps, ret_count);
}

enum model_path model_path(const struct model *model, const struct model_dataset *from,
			   const struct model_dataset *to,
			   const struct model_relationship *ret_steps[MODEL_PATH_MAX],
			   size_t *ret_count)
{
	return model_path_via(model, from, to, NULL, ret_steps, ret_count);
}

void model_path_names(const struct model *model, const struct model_dataset *from,
		      const struct model_dataset *to, struct buf *out)
{
	struct walk walk = {.model = model, .start = from, .to = to, .found_max = 16, .names = out};

	walk_from(&walk, from);
}

enum model_path model_link(const struct model *model, const struct model_dataset *from,
			   const struct model_dataset *to, const struct words *via,
			   const struct model_relationship *ret_steps[MODEL_PATH_MAX],
			   size_t *ret_count)
{
	struct walk walk = {.model = model, .to = to, .via = via, .barred = from, .found_max = 2};

	for (size_t i = 0; i < model->relationship_count && walk.found < 2; i++) {
		const struct model_relationship *child = &model->relationships[i];

		if (child->to != from || child->from == from || chosen_other(&walk, child))
			continue;
		walk.start = child->from;
		walk.steps[0] = child;
		walk.depth = 1;
		walk_from(&walk, child->from);
	}
	return result_of(&walk, ret_steps, ret_count);
}

bool model_is_bridge(const struct model *model, const struct model_dataset *dataset)
{
	size_t ends = 0;

	for (size_t i = 0; i < model->relationship_count; i++)
		ends += model->relationships[i].from == dataset;
	if (ends < 2 || dataset->primary_key.count < 2)
		return false;
	for (size_t i = 0; i < dataset->primary_key.count; i++) {
		bool foreign = false;

		for (size_t j = 0; j < model->relationship_count; j++) {
			const struct model_relationship *end = &model->relationships[j];

			foreign = foreign ||
				  (end->from == dataset &&
				   listed(&end->from_columns, dataset->primary_key.items[i]));
		}
		if (!foreign)
			return false;
	}
	return true;
}

/* To one row of it, or through a bridge to several: then a row counts once in each group. */
static bool fact_reaches(const struct model *model, const struct model_dataset *fact,
			 const struct model_dataset *dataset)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	size_t count = 0;

	switch (model_path(model, fact, dataset, NULL, NULL)) {
	case PATH_ONE:
		return true;
	case PATH_SEVERAL:
		return false;
	case PATH_NONE:
		break;
	}
	return model_link(model, fact, dataset, NULL, steps, &count) == PATH_ONE &&
	       steps[0]->from != dataset && model_is_bridge(model, steps[0]->from) &&
	       fact->primary_key.count > 0;
}

bool model_reaches(const struct model *model, const struct model_metric *metric,
		   const struct model_field *field)
{
	if (metric->input_count == 0)
		return fact_reaches(model, metric->dataset, field->dataset);
	for (size_t i = 0; i < metric->input_count; i++) {
		if (!model_reaches(model, metric->inputs[i], field))
			return false;
	}
	return true;
}
