/*
 * The nine types of constraints as four shapes: a list of values, a range, everything, and a list
 * of clauses. Values are copied out of the JSON once, so that testing compares integers and bytes.
 * Cannot fail: the constraint was found valid before.
 */
#include "policy/matcher.h"

#include <string.h>

enum matcher_type {
	MATCH_EXACT,
	MATCH_RANGE,
	MATCH_ONE_OF,
	MATCH_NOT_ONE_OF,
	MATCH_CONTAINS,
	MATCH_SUBSET,
	MATCH_WILDCARD,
	MATCH_ALL,
	MATCH_ANY,
};

struct scalar {
	enum json_type type; /* string, integer or boolean */
	const char *text;    /* the constraint's */
	int64_t number;	     /* also of a boolean */
};

struct matcher {
	enum matcher_type type;
	int64_t min, max;      /* of a range, both inclusive */
	bool empty;	       /* a range that nothing lies in */
	struct scalar *values; /* owned */
	size_t value_count;
	struct matcher **clauses; /* owned */
	size_t clause_count;
};

static enum matcher_type read_type(const struct json *constraint)
{
	static const char *const names[] = {
		[MATCH_EXACT] = "exact",       [MATCH_RANGE] = "range",
		[MATCH_ONE_OF] = "one_of",     [MATCH_NOT_ONE_OF] = "not_one_of",
		[MATCH_CONTAINS] = "contains", [MATCH_SUBSET] = "subset",
		[MATCH_WILDCARD] = "wildcard", [MATCH_ALL] = "all",
	};
	const char *name = json_get_str(constraint, "constraint_type");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (enum matcher_type)i;
	return MATCH_ANY;
}

static struct scalar read_scalar(const struct json *json)
{
	enum json_type type = json_type(json);

	return (struct scalar){.type = type,
			       .text = json_str(json),
			       .number = type == JSON_BOOL ? json_bool(json) : json_int(json)};
}

static bool same(const struct scalar *a, const struct scalar *b)
{
	if (a->type != b->type)
		return false;
	return a->type == JSON_STRING ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

static void read_values(const struct json *list, struct matcher *matcher)
{
	matcher->values = mem_array(json_len(list), sizeof(*matcher->values));
	json_each(item, list) matcher->values[matcher->value_count++] = read_scalar(item);
}

/* Integers only, so an exclusive bound is the next integer; beyond what JSON can hold nothing lies.
 */
static void read_range(const struct json *constraint, struct matcher *matcher)
{
	matcher->min = json_get_int(constraint, "min", INT64_MIN);
	matcher->max = json_get_int(constraint, "max", INT64_MAX);
	if (json_get(constraint, "min") != NULL &&
	    !json_get_bool(constraint, "min_inclusive", true))
		matcher->min++;
	if (json_get(constraint, "max") != NULL &&
	    !json_get_bool(constraint, "max_inclusive", true))
		matcher->max--;
	matcher->empty = matcher->min > matcher->max;
}

static void read_clauses(const struct json *list, struct matcher *matcher)
{
	matcher->clauses = mem_array(json_len(list), sizeof(struct matcher *));
	json_each(clause, list) matcher->clauses[matcher->clause_count++] = matcher_new(clause);
}

struct matcher *matcher_new(const struct json *constraint)
{
	struct matcher *matcher = mem_alloc(sizeof(*matcher));

	matcher->type = read_type(constraint);
	switch (matcher->type) {
	case MATCH_EXACT:
		matcher->values = mem_array(1, sizeof(*matcher->values));
		matcher->values[matcher->value_count++] =
			read_scalar(json_get(constraint, "value"));
		break;
	case MATCH_RANGE:
		read_range(constraint, matcher);
		break;
	case MATCH_ONE_OF:
		read_values(json_get(constraint, "values"), matcher);
		break;
	case MATCH_NOT_ONE_OF:
		read_values(json_get(constraint, "excluded"), matcher);
		break;
	case MATCH_CONTAINS:
		read_values(json_get(constraint, "required"), matcher);
		break;
	case MATCH_SUBSET:
		read_values(json_get(constraint, "allowed"), matcher);
		break;
	case MATCH_WILDCARD:
		break;
	default: /* all, any */
		read_clauses(json_get(constraint, "constraints"), matcher);
	}
	return matcher;
}

void matcher_free(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->clause_count; i++)
		matcher_free(matcher->clauses[i]);
	mem_free(matcher->clauses);
	mem_free(matcher->values);
	mem_free(matcher);
}

static bool lists(const struct matcher *matcher, const struct json *value)
{
	struct scalar scalar = read_scalar(value);

	for (size_t i = 0; i < matcher->value_count; i++)
		if (same(&matcher->values[i], &scalar))
			return true;
	return false;
}

static bool lists_all(const struct matcher *matcher, const struct json *array)
{
	json_each(item, array) if (!lists(matcher, item)) return false;
	return true;
}

static bool array_has(const struct json *array, const struct scalar *wanted)
{
	json_each(item, array)
	{
		struct scalar scalar = read_scalar(item);

		if (same(&scalar, wanted))
			return true;
	}
	return false;
}

static bool holds_required(const struct matcher *matcher, const struct json *array)
{
	for (size_t i = 0; i < matcher->value_count; i++)
		if (!array_has(array, &matcher->values[i]))
			return false;
	return true;
}

static bool in_range(const struct matcher *matcher, const struct json *value)
{
	int64_t number = json_int(value);

	return json_type(value) == JSON_INT && !matcher->empty && number >= matcher->min &&
	       number <= matcher->max;
}

static bool all_pass(const struct matcher *matcher, const struct json *value)
{
	for (size_t i = 0; i < matcher->clause_count; i++)
		if (!matcher_passes(matcher->clauses[i], value))
			return false;
	return true;
}

static bool any_passes(const struct matcher *matcher, const struct json *value)
{
	for (size_t i = 0; i < matcher->clause_count; i++)
		if (matcher_passes(matcher->clauses[i], value))
			return true;
	return false;
}

bool matcher_passes(const struct matcher *matcher, const struct json *value)
{
	switch (matcher->type) {
	case MATCH_RANGE:
		return in_range(matcher, value);
	case MATCH_NOT_ONE_OF:
		return !lists(matcher, value);
	case MATCH_CONTAINS:
		return json_type(value) == JSON_ARRAY && holds_required(matcher, value);
	case MATCH_SUBSET:
		return json_type(value) == JSON_ARRAY && lists_all(matcher, value);
	case MATCH_WILDCARD:
		return true;
	case MATCH_ALL:
		return all_pass(matcher, value);
	case MATCH_ANY:
		return any_passes(matcher, value);
	default: /* exact, one_of */
		return lists(matcher, value);
	}
}

/* Is some value of the list of the same type? An empty list speaks of no type, and is clear. */
static bool knows_type(const struct matcher *matcher, const struct json *value)
{
	for (size_t i = 0; i < matcher->value_count; i++)
		if (matcher->values[i].type == json_type(value))
			return true;
	return matcher->value_count == 0;
}

/* One clause that can be told and decides is enough; otherwise all must be told. */
static bool clauses_clear(const struct matcher *matcher, const struct json *value, bool deciding)
{
	bool clear = true;

	for (size_t i = 0; i < matcher->clause_count; i++) {
		bool told = matcher_clear(matcher->clauses[i], value);

		if (told && matcher_passes(matcher->clauses[i], value) == deciding)
			return true;
		clear = clear && told;
	}
	return clear;
}

bool matcher_clear(const struct matcher *matcher, const struct json *value)
{
	switch (matcher->type) {
	case MATCH_RANGE:
		return json_type(value) == JSON_INT;
	case MATCH_CONTAINS:
	case MATCH_SUBSET:
		return json_type(value) == JSON_ARRAY;
	case MATCH_WILDCARD:
		return true;
	case MATCH_ALL:
		return clauses_clear(matcher, value, false);
	case MATCH_ANY:
		return clauses_clear(matcher, value, true);
	default: /* lists of values */
		return knows_type(matcher, value);
	}
}
