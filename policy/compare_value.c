/*
 * Values that rules tell apart. Constraints speak of values by equality and by bounds, so the
 * values they mention, their neighbours, and one of every other type stand for all. Of lists it is
 * which of the mentioned elements they hold; with many elements not every subset is tried, and then
 * the comparison is not complete.
 */
#include <string.h>

#include "policy/compare_parts.h"

#define SUBSETS_MAX 6u /* elements of which every subset is tried */

/* ---- values of constraints ---- */

static void add_value(struct json *values, struct json *value)
{
	json_each(known, values) if (json_equal(known, value))
	{
		json_free(value);
		return;
	}
	json_push(values, value);
}

static void add_near(struct json *values, int64_t number)
{
	for (int64_t i = -1; i <= 1; i++)
		if (number + i >= -JSON_INT_MAX && number + i <= JSON_INT_MAX)
			add_value(values, json_new_int(number + i));
}

struct mentioned {
	struct json *values;   /* scalars, and neighbours of bounds */
	struct json *elements; /* of lists */
};

static void mention(const struct json *constraint, struct mentioned *mentioned)
{
	static const char *const lists[] = {"values", "excluded"};
	static const char *const elements[] = {"required", "allowed"};
	static const char *const bounds[] = {"min", "max"};
	const struct json *value = json_get(constraint, "value");

	if (value != NULL)
		add_value(mentioned->values, json_copy(value));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		json_each(item, json_get(constraint, lists[i]))
			add_value(mentioned->values, json_copy(item));
	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		json_each(item, json_get(constraint, elements[i]))
			add_value(mentioned->elements, json_copy(item));
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		if (json_get(constraint, bounds[i]) != NULL)
			add_near(mentioned->values, json_get_int(constraint, bounds[i], 0));
	json_each(inner, json_get(constraint, "constraints")) mention(inner, mentioned);
}

/* Integers between two mentioned ones need a neighbour each, to stand for the gap. */
static void add_neighbours(struct json *values)
{
	CLEANUP(json_freep) struct json *given = json_copy(values);

	json_each(value, given) if (json_type(value) == JSON_INT) add_near(values, json_int(value));
}

/* Something that no constraint mentions, of each type. */
static void add_others(struct json *values)
{
	struct json *text = json_new_str("something_else");

	json_each(known, values) if (json_equal(known, text))
	{
		json_free(text);
		text = json_new_str("something_else_again");
		break;
	}
	add_value(values, text);
	add_value(values, json_new_int(0));
	add_value(values, json_new_bool(true));
	add_value(values, json_new_bool(false));
	add_value(values, json_new_real(0.5));
	add_value(values, json_new_null());
	add_value(values, json_object());
}

static void add_subsets(struct json *values, const struct json *elements, bool *complete)
{
	size_t count = json_len(elements);
	size_t tried = count < SUBSETS_MAX ? count : SUBSETS_MAX;

	if (count > SUBSETS_MAX)
		*complete = false;
	for (size_t set = 0; set < (size_t)1 << (tried + 1); set++) {
		struct json *list = json_array();

		for (size_t i = 0; i < tried; i++)
			if ((set >> i) & 1)
				json_push(list, json_copy(json_at(elements, i)));
		if ((set >> tried) & 1)
			json_push_str(list, "something_else");
		add_value(values, list);
	}
	if (count > tried)
		add_value(values, json_copy(elements));
}

/* Every value that the constraints tell apart. */
static struct json *values_of(const struct json *constraints, bool *complete)
{
	struct mentioned mentioned = {json_array(), json_array()};

	json_each(constraint, constraints) mention(constraint, &mentioned);
	add_neighbours(mentioned.values);
	add_others(mentioned.values);
	if (json_len(mentioned.elements) > 0)
		add_subsets(mentioned.values, mentioned.elements, complete);
	else
		add_value(mentioned.values, json_array());
	json_free(mentioned.elements);
	return mentioned.values;
}

/* ---- dimensions ---- */

static struct dimension *dimension_of(struct dimensions *dimensions, const char *name)
{
	struct dimension *made;

	for (size_t i = 0; i < dimensions->count; i++)
		if (strcmp(dimensions->items[i].name, name) == 0)
			return &dimensions->items[i];
	dimensions->items =
		mem_grow(dimensions->items, (dimensions->count + 1) * sizeof(*dimensions->items));
	made = &dimensions->items[dimensions->count++];
	*made = (struct dimension){.name = name, .values = json_array(), .may_lack = true};
	return made;
}

/* Gathers the constraints of one kind, by name, from the rules of a side. */
static void gather(const struct side *side, enum condition_kind kind, struct dimensions *dimensions)
{
	for (size_t r = 0; r < side->rules.count; r++) {
		const struct rule *rule = side->rules.items[r];

		for (size_t c = 0; c < rule->condition_count; c++) {
			const struct condition *condition = &rule->conditions[c];
			struct dimension *dimension;

			if (condition->kind != kind)
				continue;
			dimension = dimension_of(dimensions, json_key(condition->want));
			if (kind == CONDITION_ARGUMENT)
				dimension->path = &rule->arguments[condition->item].path;
			json_push(dimension->values, json_copy(condition->want));
		}
	}
}

static void constraints_to_values(struct dimensions *dimensions)
{
	for (size_t i = 0; i < dimensions->count; i++) {
		struct json *constraints = dimensions->items[i].values;

		dimensions->items[i].values = values_of(constraints, &dimensions->complete);
		json_free(constraints);
	}
}

/* A rule that grants asks for this value among others: one that fails it shows nothing. */
static void keep_passing(struct dimension *dimension, const struct matcher *matcher)
{
	struct json *passing = json_array();

	json_each(value, dimension->values) if (matcher_passes(matcher, value))
		json_push(passing, json_copy(value));
	json_free(dimension->values);
	dimension->values = passing;
	dimension->may_lack = false;
}

void attributes_find(const struct rule *rule, const struct side *a, const struct side *b,
		     struct dimensions *ret)
{
	struct dimensions dimensions = {.complete = true};

	gather(a, CONDITION_ATTRIBUTE, &dimensions);
	gather(b, CONDITION_ATTRIBUTE, &dimensions);
	constraints_to_values(&dimensions);
	for (size_t i = 0; i < rule->attribute_count; i++)
		keep_passing(dimension_of(&dimensions, rule->attributes[i].name),
			     rule->attributes[i].matcher);
	*ret = dimensions;
}

/* ---- arguments ---- */

static const struct rule_argument *argument_of(const struct rule *rule, const char *name)
{
	for (size_t c = 0; c < rule->condition_count; c++)
		if (rule->conditions[c].kind == CONDITION_ARGUMENT &&
		    strcmp(json_key(rule->conditions[c].want), name) == 0)
			return &rule->arguments[rule->conditions[c].item];
	return NULL;
}

/* A rule that names arguments has all of them, and no others; each value must pass. */
static void keep_granted(const struct rule *rule, struct dimensions *dimensions)
{
	size_t kept = 0;

	if (rule->argument_count == 0)
		return;
	for (size_t i = 0; i < dimensions->count; i++) {
		struct dimension *dimension = &dimensions->items[i];
		const struct rule_argument *argument = argument_of(rule, dimension->name);

		if (argument == NULL) {
			json_free(dimension->values);
			continue;
		}
		keep_passing(dimension, argument->matcher);
		dimensions->items[kept++] = *dimension;
	}
	dimensions->count = kept;
}

static bool same_step(const struct json_step *a, const struct json_step *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == STEP_NAME ? strcmp(a->name, b->name) == 0 : a->index == b->index;
}

/* A value and a part of it cannot be chosen apart; neither can elements of one list by different
 * kinds of steps. */
static bool paths_meet(const struct json_path *a, const struct json_path *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && same_step(&a->steps[i], &b->steps[i]))
		i++;
	if (i == a->count || i == b->count)
		return true;
	return a->steps[i].kind != STEP_NAME || b->steps[i].kind != STEP_NAME;
}

void arguments_find(const struct rule *rule, const struct side *a, const struct side *b,
		    struct dimensions *ret)
{
	struct dimensions dimensions = {.complete = true};

	gather(a, CONDITION_ARGUMENT, &dimensions);
	gather(b, CONDITION_ARGUMENT, &dimensions);
	constraints_to_values(&dimensions);
	keep_granted(rule, &dimensions);
	for (size_t i = 0; i < dimensions.count; i++)
		for (size_t k = i + 1; k < dimensions.count; k++)
			if (paths_meet(dimensions.items[i].path, dimensions.items[k].path))
				dimensions.complete = false;
	*ret = dimensions;
}

/* ---- combinations ---- */

static size_t choices(const struct dimension *dimension)
{
	return json_len(dimension->values) + dimension->may_lack;
}

size_t dimensions_count(const struct dimensions *dimensions)
{
	size_t all = 1;

	for (size_t i = 0; i < dimensions->count; i++)
		if (__builtin_mul_overflow(all, choices(&dimensions->items[i]), &all))
			return SIZE_MAX;
	return all;
}

/* The place of a step within its parent, made if it is not there. */
static struct json *step_into(struct json *parent, const struct json_step *step, bool list_next)
{
	struct json *child;

	if (step->kind == STEP_NAME) {
		child = json_get_mut(parent, step->name);
		if (child == NULL) {
			json_set(parent, step->name, list_next ? json_array() : json_object());
			child = json_get_mut(parent, step->name);
		}
		return child;
	}
	while (json_len(parent) <= (step->kind == STEP_INDEX ? step->index : 0))
		json_push(parent, list_next ? json_array() : json_object());
	return (struct json *)(uintptr_t)json_at(parent,
						 step->kind == STEP_INDEX ? step->index : 0);
}

/* Lists get a single element: what all elements must be, and what any may be, one can show. */
static void set_path(struct json *object, const struct json_path *path, const struct json *value)
{
	struct json *at = object;

	for (size_t i = 0; i + 1 < path->count; i++) {
		if ((path->steps[i].kind == STEP_NAME) != (json_type(at) == JSON_OBJECT) ||
		    (path->steps[i].kind == STEP_INDEX && path->steps[i].index > 64))
			return;
		at = step_into(at, &path->steps[i], path->steps[i + 1].kind != STEP_NAME);
	}
	if (path->steps[path->count - 1].kind == STEP_NAME && json_type(at) == JSON_OBJECT)
		json_set(at, path->steps[path->count - 1].name, json_copy(value));
	else if (json_type(at) == JSON_ARRAY)
		json_push(at, json_copy(value));
}

struct json *dimensions_at(const struct dimensions *dimensions, size_t index)
{
	struct json *object = json_object();

	for (size_t i = 0; i < dimensions->count; i++) {
		const struct dimension *dimension = &dimensions->items[i];
		size_t count = choices(dimension);
		size_t at = index % count;

		index /= count;
		if (dimension->may_lack && at == 0)
			continue;
		if (dimension->path != NULL)
			set_path(object, dimension->path,
				 json_at(dimension->values, at - dimension->may_lack));
		else
			json_set(object, dimension->name,
				 json_copy(json_at(dimension->values, at - dimension->may_lack)));
	}
	if (json_len(object) > 0)
		return object;
	json_free(object);
	return NULL;
}

void dimensions_clear(struct dimensions *dimensions)
{
	for (size_t i = 0; i < dimensions->count; i++)
		json_free(dimensions->items[i].values);
	mem_free(dimensions->items);
	*dimensions = (struct dimensions){0};
}
