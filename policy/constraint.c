/*
 * The constraint vocabulary as one table of types: form, check and subsumption. Pure; valid
 * constraints never fail. A pair that the table does not list is refused, so subsumption is sound
 * (never true when a value of the child would fail the parent) though not complete.
 *
 * Cost: constraint_valid() bounds the number of constraints of a tool, and each pair of parent and
 * child clauses is compared once, so a hostile grant cannot make this expensive.
 */
#include "policy/constraint.h"

#include <string.h>

#include "writ/limits.h"

static const struct json *member(const struct json *constraint, const char *key)
{
	return json_get(constraint, key);
}

static bool type_is(const struct json *constraint, const char *name)
{
	const char *type = json_get_str(constraint, "constraint_type");

	return type != NULL && strcmp(type, name) == 0;
}

static bool is_scalar(const struct json *value)
{
	enum json_type type = json_type(value);

	return type == JSON_STRING || type == JSON_INT || type == JSON_BOOL;
}

static bool holds(const struct json *list, const struct json *value)
{
	json_each(item, list) if (json_equal(item, value)) return true;
	return false;
}

static bool holds_all(const struct json *list, const struct json *values)
{
	json_each(value, values) if (!holds(list, value)) return false;
	return true;
}

/* Range: a missing bound does not bound. */
struct range {
	bool has_min, has_max;
	int64_t min, max;
	bool min_inclusive, max_inclusive;
};

static struct range range_read(const struct json *constraint)
{
	return (struct range){
		.has_min = member(constraint, "min") != NULL,
		.has_max = member(constraint, "max") != NULL,
		.min = json_get_int(constraint, "min", 0),
		.max = json_get_int(constraint, "max", 0),
		.min_inclusive = json_get_bool(constraint, "min_inclusive", true),
		.max_inclusive = json_get_bool(constraint, "max_inclusive", true),
	};
}

static bool range_holds(struct range range, const struct json *value)
{
	int64_t number = json_int(value);

	if (json_type(value) != JSON_INT)
		return false;
	if (range.has_min && (number < range.min || (number == range.min && !range.min_inclusive)))
		return false;
	return !range.has_max || number < range.max || (number == range.max && range.max_inclusive);
}

static bool range_within(struct range parent, struct range child)
{
	if (parent.has_min &&
	    (!child.has_min || child.min < parent.min ||
	     (child.min == parent.min && child.min_inclusive && !parent.min_inclusive)))
		return false;
	return !parent.has_max ||
	       (child.has_max &&
		(child.max < parent.max ||
		 (child.max == parent.max && (!child.max_inclusive || parent.max_inclusive))));
}

static int valid_exact(const struct json *constraint, struct err *err)
{
	if (!is_scalar(member(constraint, "value")))
		return err_set(err, ERR_INVALID,
			       "exact: value must be a string, an integer or a boolean");
	return 0;
}

static int valid_bound(const struct json *constraint, const char *key, enum json_type type,
		       struct err *err)
{
	const struct json *bound = member(constraint, key);

	if (bound != NULL && json_type(bound) != type)
		return err_set(err, ERR_INVALID, "range: %s must be of type %s, not %s", key,
			       json_type_name(type), json_type_name(json_type(bound)));
	return 0;
}

static int valid_range(const struct json *constraint, struct err *err)
{
	struct range range;

	if (valid_bound(constraint, "min", JSON_INT, err) < 0 ||
	    valid_bound(constraint, "max", JSON_INT, err) < 0 ||
	    valid_bound(constraint, "min_inclusive", JSON_BOOL, err) < 0 ||
	    valid_bound(constraint, "max_inclusive", JSON_BOOL, err) < 0)
		return -1;
	range = range_read(constraint);
	if (range.has_min && range.has_max && range.min > range.max)
		return err_set(err, ERR_INVALID, "range: min is above max");
	return 0;
}

static int valid_list(const struct json *list, const char *key, struct err *err)
{
	if (json_type(list) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "%s must be an array", key);
	json_each(item, list)
	{
		if (!is_scalar(item))
			return err_set(err, ERR_INVALID,
				       "%s may hold strings, integers and booleans only", key);
		for (const struct json *later = json_next(item); later != NULL;
		     later = json_next(later))
			if (json_equal(item, later))
				return err_set(err, ERR_INVALID, "%s holds a value twice", key);
	}
	return 0;
}

static int valid_values(const struct json *constraint, struct err *err)
{
	return valid_list(member(constraint, "values"), "values", err);
}

static int valid_excluded(const struct json *constraint, struct err *err)
{
	return valid_list(member(constraint, "excluded"), "excluded", err);
}

static int valid_required(const struct json *constraint, struct err *err)
{
	return valid_list(member(constraint, "required"), "required", err);
}

static int valid_allowed(const struct json *constraint, struct err *err)
{
	return valid_list(member(constraint, "allowed"), "allowed", err);
}

static int valid_clauses(const struct json *constraint, struct err *err)
{
	const struct json *clauses = member(constraint, "constraints");

	if (json_type(clauses) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "constraints must be an array");
	if (type_is(constraint, "any") && json_len(clauses) == 0)
		return err_set(err, ERR_INVALID, "any: needs at least one constraint");
	return 0;
}

static bool check_exact(const struct json *constraint, const struct json *value)
{
	return json_equal(member(constraint, "value"), value);
}

static bool check_range(const struct json *constraint, const struct json *value)
{
	return range_holds(range_read(constraint), value);
}

static bool check_one_of(const struct json *constraint, const struct json *value)
{
	return holds(member(constraint, "values"), value);
}

static bool check_not_one_of(const struct json *constraint, const struct json *value)
{
	return !holds(member(constraint, "excluded"), value);
}

static bool check_contains(const struct json *constraint, const struct json *value)
{
	return json_type(value) == JSON_ARRAY && holds_all(value, member(constraint, "required"));
}

static bool check_subset(const struct json *constraint, const struct json *value)
{
	return json_type(value) == JSON_ARRAY && holds_all(member(constraint, "allowed"), value);
}

static bool check_wildcard(const struct json *constraint, const struct json *value)
{
	(void)constraint;
	(void)value;
	return true;
}

static bool check_all(const struct json *constraint, const struct json *value)
{
	json_each(clause, member(constraint,
				 "constraints")) if (!constraint_check(clause, value)) return false;
	return true;
}

static bool check_any(const struct json *constraint, const struct json *value)
{
	json_each(clause, member(constraint,
				 "constraints")) if (constraint_check(clause, value)) return true;
	return false;
}

/* exact under exact, range and one_of: the single value must pass the parent. */
static bool narrows_single(const struct json *parent, const struct json *child)
{
	return type_is(child, "exact") && constraint_check(parent, member(child, "value"));
}

static bool narrows_range(const struct json *parent, const struct json *child)
{
	return narrows_single(parent, child) ||
	       (type_is(child, "range") && range_within(range_read(parent), range_read(child)));
}

static bool narrows_one_of(const struct json *parent, const struct json *child)
{
	return narrows_single(parent, child) ||
	       (type_is(child, "one_of") &&
		holds_all(member(parent, "values"), member(child, "values")));
}

static bool narrows_not_one_of(const struct json *parent, const struct json *child)
{
	return type_is(child, "not_one_of") &&
	       holds_all(member(child, "excluded"), member(parent, "excluded"));
}

static bool narrows_contains(const struct json *parent, const struct json *child)
{
	return type_is(child, "contains") &&
	       holds_all(member(child, "required"), member(parent, "required"));
}

static bool narrows_subset(const struct json *parent, const struct json *child)
{
	return type_is(child, "subset") &&
	       holds_all(member(parent, "allowed"), member(child, "allowed"));
}

static bool narrows_wildcard(const struct json *parent, const struct json *child)
{
	(void)parent;
	(void)child;
	return true;
}

/* For `all`: which parent clauses each get a child clause of their own. Greedy choice could give a
 * clause away that another one needs, and backtracking is exponential: bipartite matching (Kuhn).
 */
struct matching {
	bool narrows[WRIT_CONSTRAINTS_PER_TOOL_MAX][WRIT_CONSTRAINTS_PER_TOOL_MAX];
	size_t child_count;
	size_t parent_of[WRIT_CONSTRAINTS_PER_TOOL_MAX]; /* from 1; 0 is free */
	bool seen[WRIT_CONSTRAINTS_PER_TOOL_MAX];
};

static bool matching_place(struct matching *matching, size_t parent)
{
	for (size_t child = 0; child < matching->child_count; child++) {
		if (!matching->narrows[parent][child] || matching->seen[child])
			continue;
		matching->seen[child] = true;
		if (matching->parent_of[child] == 0 ||
		    matching_place(matching, matching->parent_of[child] - 1)) {
			matching->parent_of[child] = parent + 1;
			return true;
		}
	}
	return false;
}

static bool narrows_all(const struct json *parent, const struct json *child)
{
	CLEANUP(mem_freep) struct matching *matching = mem_alloc(sizeof(*matching));
	const struct json *clauses = member(child, "constraints");
	size_t rows = 0;

	if (!type_is(child, "all") || json_len(clauses) > WRIT_CONSTRAINTS_PER_TOOL_MAX ||
	    json_len(member(parent, "constraints")) > WRIT_CONSTRAINTS_PER_TOOL_MAX)
		return false;
	matching->child_count = json_len(clauses);
	json_each(wanted, member(parent, "constraints"))
	{
		size_t column = 0;

		json_each(clause, clauses) matching->narrows[rows][column++] =
			constraint_subsumes(wanted, clause);
		rows++;
	}
	for (size_t row = 0; row < rows; row++) {
		memset(matching->seen, 0, sizeof(matching->seen));
		if (!matching_place(matching, row))
			return false;
	}
	return true;
}

static bool narrows_any(const struct json *parent, const struct json *child)
{
	if (!type_is(child, "any"))
		return false;
	json_each(clause, member(child, "constraints"))
	{
		bool found = false;

		json_each(wanted, member(parent, "constraints")) found =
			found || constraint_subsumes(wanted, clause);
		if (!found)
			return false;
	}
	return true;
}

#define KEYS(...)                                                                                  \
	{                                                                                          \
		"constraint_type", __VA_ARGS__                                                     \
	}

static const struct type {
	const char *name;
	const char *const keys[6];
	int (*valid)(const struct json *constraint, struct err *err); /* NULL: nothing more */
	bool (*check)(const struct json *constraint, const struct json *value);
	bool (*narrows)(const struct json *parent, const struct json *child);
} types[] = {
	{"exact", KEYS("value"), valid_exact, check_exact, narrows_single},
	{"range", KEYS("min", "max", "min_inclusive", "max_inclusive"), valid_range, check_range,
	 narrows_range},
	{"one_of", KEYS("values"), valid_values, check_one_of, narrows_one_of},
	{"not_one_of", KEYS("excluded"), valid_excluded, check_not_one_of, narrows_not_one_of},
	{"contains", KEYS("required"), valid_required, check_contains, narrows_contains},
	{"subset", KEYS("allowed"), valid_allowed, check_subset, narrows_subset},
	{"wildcard", KEYS(NULL), NULL, check_wildcard, narrows_wildcard},
	{"all", KEYS("constraints"), valid_clauses, check_all, narrows_all},
	{"any", KEYS("constraints"), valid_clauses, check_any, narrows_any},
};

static const struct type *type_find(const struct json *constraint)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (type_is(constraint, types[i].name))
			return &types[i];
	return NULL;
}

int constraint_valid(const struct json *constraint, size_t max, size_t *count, struct err *err)
{
	const struct type *type = type_find(constraint);
	const char *name = json_get_str(constraint, "constraint_type");

	if (++*count > max)
		return err_set(err, ERR_LIMIT, "more than %zu constraints", max);
	if (type == NULL)
		return err_set(err, ERR_INVALID, "unknown constraint_type %.40s",
			       name == NULL ? "(none)" : name);
	if (json_only(constraint, type->keys, err) < 0)
		return err_wrap(err, "%s", type->name);
	if (type->valid != NULL && type->valid(constraint, err) < 0)
		return -1;
	if (type->check != check_all && type->check != check_any)
		return 0;
	json_each(clause,
		  member(constraint, "constraints")) if (constraint_valid(clause, max, count, err) <
							 0) return err_wrap(err, "%s", type->name);
	return 0;
}

bool constraint_check(const struct json *constraint, const struct json *value)
{
	const struct type *type = type_find(constraint);

	return type != NULL && type->check(constraint, value);
}

bool constraint_subsumes(const struct json *parent, const struct json *child)
{
	const struct type *type = type_find(parent);

	return type != NULL && type_find(child) != NULL && type->narrows(parent, child);
}
