/* Constraints: their form, what passes them, and which may replace which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/constraint.h"

static struct err err;

static struct json *parse(const char *text)
{
	struct json *json = NULL;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static int valid(const char *text, size_t max)
{
	struct json *json = parse(text);
	size_t count = 0;
	int result = constraint_valid(json, max, &count, &err);

	json_free(json);
	return result;
}

/* Short forms: T(exact, "value":1) */
#define T(type, rest) "{\"constraint_type\":\"" #type "\"" rest "}"
#define EXACT(v) T(exact, ",\"value\":" v)
#define RANGE(rest) T(range, "," rest)
#define ONE_OF(v) T(one_of, ",\"values\":" v)
#define NOT_ONE_OF(v) T(not_one_of, ",\"excluded\":" v)
#define CONTAINS(v) T(contains, ",\"required\":" v)
#define SUBSET(v) T(subset, ",\"allowed\":" v)
#define ALL(v) T(all, ",\"constraints\":[" v "]")
#define ANY(v) T(any, ",\"constraints\":[" v "]")
#define WILD T(wildcard, "")

static bool check(const char *constraint_text, const char *value_text)
{
	struct json *constraint = parse(constraint_text);
	struct json *value = parse(value_text);
	bool result;

	assert_int_equal(valid(constraint_text, 64), 0);
	result = constraint_check(constraint, value);
	json_free(constraint);
	json_free(value);
	return result;
}

static bool subsumes(const char *parent_text, const char *child_text)
{
	struct json *parent = parse(parent_text);
	struct json *child = parse(child_text);
	bool result = constraint_subsumes(parent, child);

	json_free(parent);
	json_free(child);
	return result;
}

static void assert_malformed(const char *text, const char *why)
{
	assert_int_equal(valid(text, 64), -1);
	assert_string_equal(err.text, why);
}

static void test_malformed_constraints_are_refused_with_their_fault(void **state)
{
	(void)state;
	assert_malformed("{}", "unknown constraint_type (none)");
	assert_malformed("[]", "unknown constraint_type (none)");
	assert_malformed(T(pattern, ",\"value\":\"a*\""), "unknown constraint_type pattern");
	assert_malformed(EXACT("1.5"), "exact: value must be a string, an integer or a boolean");
	assert_malformed(EXACT("null"), "exact: value must be a string, an integer or a boolean");
	assert_malformed(T(exact, ""), "exact: value must be a string, an integer or a boolean");
	assert_malformed(RANGE("\"min\":2,\"max\":1"), "range: min is above max");
	assert_malformed(RANGE("\"min\":1.5"), "range: min must be of type integer, not real");
	assert_malformed(RANGE("\"max\":\"1\""), "range: max must be of type integer, not string");
	assert_malformed(RANGE("\"min\":1,\"min_inclusive\":1"),
			 "range: min_inclusive must be of type boolean, not integer");
	assert_malformed(RANGE("\"max\":1,\"max_inclusive\":null"),
			 "range: max_inclusive must be of type boolean, not null");
	assert_malformed(ONE_OF("[1,1]"), "values holds a value twice");
	assert_malformed(ONE_OF("[[1]]"), "values may hold strings, integers and booleans only");
	assert_malformed(NOT_ONE_OF("1"), "excluded must be an array");
	assert_malformed(T(contains, ""), "required must be an array");
	assert_malformed(SUBSET("[null]"), "allowed may hold strings, integers and booleans only");
	assert_malformed(T(all, ",\"constraints\":{}"), "constraints must be an array");
	assert_malformed(ANY(""), "any: needs at least one constraint");
	assert_malformed(ALL(ANY(EXACT("[]"))),
			 "all: any: exact: value must be a string, an integer or a boolean");
}

static void test_an_unknown_member_is_malformed(void **state)
{
	(void)state;
	assert_int_equal(valid(T(wildcard, ",\"value\":1"), 64), -1);
	assert_non_null(strstr(err.text, "value"));
	assert_int_equal(valid(T(exact, ",\"value\":1,\"values\":[]"), 64), -1);
}

static void test_the_number_of_constraints_is_bounded_nested_ones_included(void **state)
{
	(void)state;
	assert_int_equal(valid(ALL(WILD "," WILD), 3), 0);
	assert_int_equal(valid(ALL(WILD "," WILD), 2), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(err.text, "all: more than 2 constraints");
}

static void test_check_follows_the_table(void **state)
{
	(void)state;
	assert_true(check(EXACT("\"a\""), "\"a\""));
	assert_false(check(EXACT("\"a\""), "\"A\""));
	assert_false(check(EXACT("1"), "\"1\""));
	assert_false(check(EXACT("\"1\""), "1"));
	assert_false(check(EXACT("1"), "1.0"));
	assert_true(check(EXACT("true"), "true"));
	assert_true(check(ONE_OF("[1,\"b\"]"), "\"b\""));
	assert_false(check(ONE_OF("[1,\"b\"]"), "2"));
	assert_false(check(ONE_OF("[]"), "1"));
	assert_true(check(NOT_ONE_OF("[1]"), "2"));
	assert_false(check(NOT_ONE_OF("[1]"), "1"));
	assert_true(check(CONTAINS("[1,2]"), "[2,3,1]"));
	assert_false(check(CONTAINS("[1,2]"), "[2,3]"));
	assert_false(check(CONTAINS("[]"), "1"));
	assert_true(check(SUBSET("[1,2]"), "[2]"));
	assert_true(check(SUBSET("[1,2]"), "[]"));
	assert_false(check(SUBSET("[1,2]"), "[2,3]"));
	assert_false(check(SUBSET("[1,2]"), "1"));
	assert_true(check(WILD, "{\"a\":1.5}"));
	assert_true(check(ALL(""), "1"));
	assert_true(check(ALL(RANGE("\"min\":1") "," NOT_ONE_OF("[3]")), "2"));
	assert_false(check(ALL(RANGE("\"min\":1") "," NOT_ONE_OF("[3]")), "3"));
	assert_true(check(ANY(EXACT("1") "," EXACT("2")), "2"));
	assert_false(check(ANY(EXACT("1") "," EXACT("2")), "3"));
}

static void test_range_bounds_are_inclusive_unless_said_otherwise(void **state)
{
	(void)state;
	assert_false(check(RANGE("\"min\":1,\"max\":3"), "0"));
	assert_true(check(RANGE("\"min\":1,\"max\":3"), "1"));
	assert_true(check(RANGE("\"min\":1,\"max\":3"), "3"));
	assert_false(check(RANGE("\"min\":1,\"max\":3"), "4"));
	assert_false(check(RANGE("\"min\":1,\"min_inclusive\":false"), "1"));
	assert_true(check(RANGE("\"min\":1,\"min_inclusive\":false"), "2"));
	assert_false(check(RANGE("\"max\":3,\"max_inclusive\":false"), "3"));
	assert_true(check(RANGE("\"max\":3,\"max_inclusive\":false"), "2"));
	assert_false(check(RANGE("\"min\":1"), "1.5"));
	assert_false(check(RANGE("\"min\":1"), "\"2\""));
	assert_true(check(T(range, ""), "-5"));
}

static void test_exact_may_replace_what_contains_it(void **state)
{
	(void)state;
	assert_true(subsumes(EXACT("1"), EXACT("1")));
	assert_false(subsumes(EXACT("1"), EXACT("2")));
	assert_false(subsumes(EXACT("1"), ONE_OF("[1]")));
	assert_true(subsumes(RANGE("\"min\":1"), EXACT("1")));
	assert_false(subsumes(RANGE("\"min\":1"), EXACT("0")));
	assert_true(subsumes(ONE_OF("[1,2]"), EXACT("2")));
	assert_false(subsumes(ONE_OF("[1,2]"), EXACT("3")));
	assert_true(subsumes(WILD, EXACT("1")));
	assert_false(subsumes(EXACT("1"), WILD));
	assert_false(subsumes(NOT_ONE_OF("[1]"), EXACT("2")));
	assert_false(subsumes(SUBSET("[1]"), EXACT("1")));
}

static void test_a_range_may_only_become_tighter(void **state)
{
	(void)state;
	assert_true(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"min\":1,\"max\":9")));
	assert_true(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"min\":2,\"max\":8")));
	assert_false(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"min\":0,\"max\":9")));
	assert_false(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"min\":1,\"max\":10")));
	assert_false(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"min\":1")));
	assert_false(subsumes(RANGE("\"min\":1,\"max\":9"), RANGE("\"max\":9")));
	assert_true(subsumes(RANGE("\"min\":1"), RANGE("\"min\":1,\"max\":9")));
	assert_true(subsumes(RANGE("\"min\":1"), RANGE("\"min\":1,\"min_inclusive\":false")));
	assert_false(subsumes(RANGE("\"min\":1,\"min_inclusive\":false"), RANGE("\"min\":1")));
	assert_true(subsumes(RANGE("\"max\":9"), RANGE("\"max\":9,\"max_inclusive\":false")));
	assert_false(subsumes(RANGE("\"max\":9,\"max_inclusive\":false"), RANGE("\"max\":9")));
	assert_true(subsumes(RANGE("\"max\":9,\"max_inclusive\":false"), RANGE("\"max\":8")));
	assert_false(subsumes(RANGE("\"min\":1"), ONE_OF("[1]")));
	assert_true(subsumes(WILD, RANGE("\"min\":1")));
}

static void test_lists_narrow_in_their_own_direction(void **state)
{
	(void)state;
	assert_true(subsumes(ONE_OF("[1,2]"), ONE_OF("[2]")));
	assert_true(subsumes(ONE_OF("[1,2]"), ONE_OF("[]")));
	assert_false(subsumes(ONE_OF("[1,2]"), ONE_OF("[2,3]")));
	assert_false(subsumes(ONE_OF("[1,2]"), NOT_ONE_OF("[3]")));
	assert_true(subsumes(NOT_ONE_OF("[1]"), NOT_ONE_OF("[1,2]")));
	assert_false(subsumes(NOT_ONE_OF("[1,2]"), NOT_ONE_OF("[1]")));
	assert_false(subsumes(NOT_ONE_OF("[1]"), ONE_OF("[2]")));
	assert_true(subsumes(CONTAINS("[1]"), CONTAINS("[1,2]")));
	assert_false(subsumes(CONTAINS("[1,2]"), CONTAINS("[1]")));
	assert_true(subsumes(SUBSET("[1,2]"), SUBSET("[1]")));
	assert_false(subsumes(SUBSET("[1]"), SUBSET("[1,2]")));
	assert_false(subsumes(SUBSET("[1]"), CONTAINS("[1]")));
	assert_true(subsumes(WILD, WILD));
	assert_true(subsumes(WILD, SUBSET("[1]")));
	assert_false(subsumes(SUBSET("[1]"), WILD));
}

static void test_all_needs_a_clause_of_its_own_for_each_of_the_parent(void **state)
{
	(void)state;
	assert_true(subsumes(ALL(""), ALL("")));
	assert_true(subsumes(ALL(RANGE("\"min\":1")), ALL(RANGE("\"min\":2") "," EXACT("5"))));
	assert_false(subsumes(ALL(RANGE("\"min\":1") "," RANGE("\"max\":9")),
			      ALL(RANGE("\"min\":1,\"max\":9"))));
	/* Greedy choice would give exact 5 to the first clause and leave the second without. */
	assert_true(subsumes(ALL(RANGE("\"min\":1") "," EXACT("5")),
			     ALL(EXACT("5") "," RANGE("\"min\":2"))));
	assert_false(
		subsumes(ALL(EXACT("5") "," EXACT("5")), ALL(EXACT("5") "," RANGE("\"min\":2"))));
	assert_false(subsumes(ALL(EXACT("5")), EXACT("5")));
	assert_true(subsumes(WILD, ALL(EXACT("5"))));
}

static void test_all_with_more_clauses_than_may_be_subsumes_nothing(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	for (int count = 64; count <= 65; count++) {
		buf_reset(&text);
		for (int i = 0; i < count; i++)
			buf_addf(&text, "%s" WILD, i > 0 ? "," : "");
		CLEANUP(mem_freep)
		char *many = mem_format("{\"constraint_type\":\"all\",\"constraints\":[%s]}",
					buf_str(&text));

		assert_int_equal(subsumes(many, many), count == 64);
		assert_int_equal(subsumes(ALL(WILD), many), count == 64);
		assert_false(subsumes(many, ALL(WILD)));
	}
	buf_clear(&text);
}

static void test_any_needs_every_clause_under_some_clause_of_the_parent(void **state)
{
	(void)state;
	assert_true(subsumes(ANY(EXACT("1") "," EXACT("2")), ANY(EXACT("2"))));
	assert_true(subsumes(ANY(RANGE("\"min\":1")), ANY(EXACT("2") "," EXACT("3"))));
	assert_false(subsumes(ANY(EXACT("1")), ANY(EXACT("1") "," EXACT("2"))));
	assert_false(subsumes(ANY(EXACT("1")), EXACT("1")));
}

static void test_an_unknown_type_neither_passes_nor_subsumes(void **state)
{
	struct json *odd = parse(T(odd, ""));
	struct json *wild = parse(WILD);

	(void)state;
	assert_false(constraint_check(odd, wild));
	assert_false(constraint_subsumes(odd, wild));
	assert_false(constraint_subsumes(wild, odd));
	json_free(odd);
	json_free(wild);
}

/* Random constraints over a small world, so that relations happen often. */
static uint32_t dice_state;

static unsigned dice(unsigned sides)
{
	dice_state = dice_state * 1664525u + 1013904223u;
	return (dice_state >> 16) % sides;
}

static void random_list(struct buf *out)
{
	bool first = true;

	buf_add_char(out, '[');
	for (int i = 0; i < 4; i++) {
		if (dice(2) == 0)
			continue;
		buf_addf(out, "%s%d", first ? "" : ",", i);
		first = false;
	}
	buf_add_char(out, ']');
}

static void random_constraint(struct buf *out, int depth)
{
	static const char *const lists[] = {"one_of\",\"values", "not_one_of\",\"excluded",
					    "contains\",\"required", "subset\",\"allowed"};
	unsigned kind = dice(depth > 0 ? 9 : 7);
	unsigned min = dice(4);

	if (kind < 4) {
		buf_addf(out, "{\"constraint_type\":\"%s\":", lists[kind]);
		random_list(out);
	} else if (kind == 4) {
		buf_addf(out, "{\"constraint_type\":\"exact\",\"value\":%u", dice(4));
	} else if (kind == 5) {
		buf_addf(out, "{\"constraint_type\":\"range\",\"min\":%u,\"max\":%u", min,
			 min + dice(4 - min));
		buf_addf(out, ",\"min_inclusive\":%s,\"max_inclusive\":%s",
			 dice(2) ? "true" : "false", dice(2) ? "true" : "false");
	} else if (kind == 6) {
		buf_add_str(out, "{\"constraint_type\":\"wildcard\"");
	} else {
		unsigned count = 1 + dice(3);

		buf_addf(out, "{\"constraint_type\":\"%s\",\"constraints\":[",
			 kind == 7 ? "all" : "any");
		for (unsigned i = 0; i < count; i++) {
			buf_add_str(out, i > 0 ? "," : "");
			random_constraint(out, depth - 1);
		}
		buf_add_char(out, ']');
	}
	buf_add_char(out, '}');
}

static struct json *random_one(void)
{
	struct buf text = BUF_INIT;
	struct json *json;

	random_constraint(&text, 2);
	json = parse(buf_str(&text));
	buf_clear(&text);
	return json;
}

#define WORLD 24

/* Every value of the small world: the integers and the lists of them. */
static struct json *world_value(unsigned index)
{
	char text[32];
	struct buf list = BUF_INIT;
	struct json *json;

	if (index < 4) {
		snprintf(text, sizeof(text), "%u", index);
		return parse(text);
	}
	if (index >= 20)
		return parse(index == 20   ? "\"1\""
			     : index == 21 ? "true"
			     : index == 22 ? "{}"
					   : "7");
	buf_add_char(&list, '[');
	for (unsigned bit = 0, first = 1; bit < 4; bit++) {
		if (((index - 4) >> bit & 1) == 0)
			continue;
		buf_addf(&list, "%s%u", first ? "" : ",", bit);
		first = 0;
	}
	buf_add_char(&list, ']');
	json = parse(buf_str(&list));
	buf_clear(&list);
	return json;
}

static void test_subsumption_is_reflexive_transitive_and_sound_on_random_constraints(void **state)
{
	struct json *values[WORLD];
	struct json *some[60];
	size_t related = 0;

	(void)state;
	for (unsigned i = 0; i < WORLD; i++)
		values[i] = world_value(i);
	dice_state = 12345;
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		some[i] = random_one();
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		assert_true(constraint_subsumes(some[i], some[i]));
		for (size_t j = 0; j < ARRAY_LEN(some); j++) {
			if (!constraint_subsumes(some[i], some[j]))
				continue;
			related++;
			for (unsigned v = 0; v < WORLD; v++)
				assert_true(!constraint_check(some[j], values[v]) ||
					    constraint_check(some[i], values[v]));
			for (size_t k = 0; k < ARRAY_LEN(some); k++)
				if (constraint_subsumes(some[j], some[k]))
					assert_true(constraint_subsumes(some[i], some[k]));
		}
	}
	assert_true(related > 2 * ARRAY_LEN(some)); /* else the dice prove nothing */
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		json_free(some[i]);
	for (unsigned i = 0; i < WORLD; i++)
		json_free(values[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malformed_constraints_are_refused_with_their_fault),
		cmocka_unit_test(test_an_unknown_member_is_malformed),
		cmocka_unit_test(test_the_number_of_constraints_is_bounded_nested_ones_included),
		cmocka_unit_test(test_check_follows_the_table),
		cmocka_unit_test(test_range_bounds_are_inclusive_unless_said_otherwise),
		cmocka_unit_test(test_exact_may_replace_what_contains_it),
		cmocka_unit_test(test_a_range_may_only_become_tighter),
		cmocka_unit_test(test_lists_narrow_in_their_own_direction),
		cmocka_unit_test(test_all_needs_a_clause_of_its_own_for_each_of_the_parent),
		cmocka_unit_test(test_all_with_more_clauses_than_may_be_subsumes_nothing),
		cmocka_unit_test(test_any_needs_every_clause_under_some_clause_of_the_parent),
		cmocka_unit_test(test_an_unknown_type_neither_passes_nor_subsumes),
		cmocka_unit_test(
			test_subsumption_is_reflexive_transitive_and_sound_on_random_constraints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
