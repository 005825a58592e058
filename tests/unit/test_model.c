/* The semantic model in memory: reading, what a scope takes away, and the ways between datasets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agents/query/metrics/model.h"
#include "agents/query/metrics/model_internal.h"

static struct model *read(const char *text, struct err *err)
{
	struct model *model = NULL;
	struct json *json;

	if (json_parse_str(text, &json, err) < 0)
		fail_msg("%s", err->text);
	IGNORE(model_from_json(json, &model, err) < 0, "the caller looks at model");
	json_free(json);
	return model;
}

#define DATASET(name, fields)                                                                      \
	"{\"name\":\"" name "\",\"table\":\"T_" name                                               \
	"\",\"primary_key\":[\"id\"],\"time\":\"" name ".day\",\"fields\":[" fields "]}"
#define FIELD(name) "{\"name\":\"" name "\",\"expression\":\"C_" name "\",\"dimension\":true}"
#define LINK(name, from, to)                                                                       \
	"{\"name\":\"" name "\",\"from\":\"" from "\",\"to\":\"" to "\",\"from_columns\":[\"" to   \
	"_id\"],\"to_columns\":[\"id\"]}"
#define METRIC(name, expression)                                                                   \
	"{\"name\":\"" name "\",\"dataset\":\"a\",\"time\":\"a.day\",\"expression\":\"" expression \
	"\"}"
#define MODEL(datasets, relationships, metrics)                                                    \
	"{\"source\":\"s\",\"description\":\"d\",\"datasets\":[" datasets                          \
	"],\"relationships\":[" relationships "],\"metrics\":[" metrics "]}"

/* a -> b -> c, a -> d -> c, c -> e: from a two ways lead to c, and so to e. */
#define DIAMOND                                                                                    \
	MODEL(DATASET("a", FIELD("x") "," FIELD("day")) "," DATASET("b", FIELD("x")) "," DATASET(  \
		      "c", FIELD("x")) "," DATASET("d", FIELD("x")) "," DATASET("e", FIELD("x")),  \
	      LINK("ab", "a", "b") "," LINK("bc", "b", "c") "," LINK("ad", "a", "d") "," LINK(     \
		      "dc", "d", "c") "," LINK("ce", "c", "e"),                                    \
	      METRIC("m", "SUM(a.x)"))

static void test_things_are_found_by_name(void **state)
{
	struct err err;
	struct model *model = read(DIAMOND, &err);

	(void)state;
	assert_string_equal(model_source(model), "s");
	assert_string_equal(model_description(model), "d");
	assert_int_equal(model_dataset_count(model), 5);
	assert_int_equal(model_relationship_count(model), 5);
	assert_int_equal(model_metric_count(model), 1);
	assert_string_equal(model_dataset_at(model, 1)->name, "b");
	assert_string_equal(model_relationship_at(model, 4)->name, "ce");
	assert_string_equal(model_metric_at(model, 0)->name, "m");
	assert_string_equal(model_field(model, "c.x")->id, "c.x");
	assert_null(model_field(model, "c.day"));
	assert_null(model_dataset(model, "z"));
	assert_null(model_metric(model, "z"));
	assert_string_equal(model_field_of_column(model, "t_d", "c_X")->id, "d.x");
	assert_null(model_field_of_column(model, "t_d", "x"));
	assert_string_equal(model_dataset(model, "a")->time, "a.day");
	assert_null(model_dataset(model, "b")->time); /* b.day is not there */
	model_free(model);
	model_free(NULL);
}

static enum model_path path(const struct model *model, const char *from, const char *to,
			    size_t *ret_count)
{
	return model_path(model, model_dataset(model, from), model_dataset(model, to), NULL,
			  ret_count);
}

static void test_ways_follow_relationships_one_way(void **state)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	struct err err;
	struct model *model = read(DIAMOND, &err);
	size_t count = 99;

	(void)state;
	assert_int_equal(path(model, "a", "a", &count), PATH_ONE);
	assert_int_equal(count, 0);
	assert_int_equal(path(model, "b", "a", NULL), PATH_NONE);
	assert_int_equal(path(model, "a", "c", NULL), PATH_SEVERAL);
	assert_int_equal(path(model, "a", "e", NULL), PATH_SEVERAL);
	assert_int_equal(model_path(model, model_dataset(model, "b"), model_dataset(model, "e"),
				    steps, &count),
			 PATH_ONE);
	assert_int_equal(count, 2);
	assert_string_equal(steps[0]->name, "bc");
	assert_string_equal(steps[1]->name, "ce");
	assert_true(model_reaches(model, model_metric(model, "m"), model_field(model, "b.x")));
	assert_false(model_reaches(model, model_metric(model, "m"), model_field(model, "c.x")));
	model_free(model);
}

static void test_one_of_several_ways_is_chosen_by_name(void **state)
{
	const char *const chosen[] = {"ab", "bc"};
	const char *const neither[] = {"ce"};
	const struct words via = {chosen, 2}, other = {neither, 1};
	const struct model_relationship *steps[MODEL_PATH_MAX];
	struct buf names = BUF_INIT;
	struct err err;
	struct model *model = read(DIAMOND, &err);
	const struct model_dataset *a = model_dataset(model, "a"), *e = model_dataset(model, "e");
	size_t count = 99;

	(void)state;
	assert_int_equal(model_path_via(model, a, e, NULL, steps, &count), PATH_SEVERAL);
	assert_int_equal(model_path_via(model, a, e, &other, steps, &count), PATH_SEVERAL);
	assert_int_equal(model_path_via(model, a, e, &via, steps, &count), PATH_ONE);
	assert_int_equal(count, 3);
	assert_string_equal(steps[0]->name, "ab");
	assert_string_equal(steps[2]->name, "ce");
	model_path_names(model, a, e, &names);
	assert_string_equal(buf_str(&names), "ab, bc, ce, ad, dc");
	buf_clear(&names);
	model_free(model);
}

static void test_a_circle_ends(void **state)
{
	struct err err;
	struct model *model = read(
		MODEL(DATASET("a", FIELD("x")) "," DATASET("b", FIELD("x")) "," DATASET("c",
											FIELD("x")),
		      LINK("ab", "a", "b") "," LINK("ba", "b", "a") "," LINK("aa", "a", "a"), ""),
		&err);
	size_t count;

	(void)state;
	assert_int_equal(path(model, "a", "b", &count), PATH_ONE);
	assert_int_equal(count, 1);
	assert_int_equal(path(model, "b", "a", NULL), PATH_ONE);
	assert_int_equal(path(model, "a", "c", NULL), PATH_NONE);
	model_free(model);
}

static void test_ways_have_a_longest_length(void **state)
{
	static const size_t lengths[] = {7, 8, 9};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct buf text = BUF_INIT;
		struct model *model;
		struct err err;

		buf_add_str(&text, "{\"datasets\":[");
		for (size_t j = 0; j <= lengths[i]; j++)
			buf_addf(&text, "%s{\"name\":\"d%zu\",\"table\":\"t\"}", j ? "," : "", j);
		buf_add_str(&text, "],\"relationships\":[");
		for (size_t j = 0; j < lengths[i]; j++)
			buf_addf(&text,
				 "%s{\"name\":\"r%zu\",\"from\":\"d%zu\",\"to\":\"d%zu\","
				 "\"from_columns\":[\"x\"],\"to_columns\":[\"y\"]}",
				 j ? "," : "", j, j, j + 1);
		buf_add_str(&text, "]}");
		model = read(buf_str(&text), &err);
		assert_int_equal(model_path(model, model_dataset_at(model, 0),
					    model_dataset_at(model, lengths[i]), NULL, NULL),
				 lengths[i] <= MODEL_PATH_MAX ? PATH_ONE : PATH_NONE);
		model_free(model);
		buf_clear(&text);
	}
}

static void test_what_is_hidden_takes_along_what_needs_it(void **state)
{
	struct err err;
	/* dataset b, field a.y and field a.day were taken away */
	struct model *model = read(
		MODEL(DATASET("a", FIELD("x")), LINK("ab", "a", "b"),
		      METRIC("kept", "SUM(a.x)") "," METRIC("field", "SUM(a.y)") "," METRIC(
			      "joined", "COUNT(DISTINCT b.x)") ",{\"name\":\"fact\",\"dataset\":"
							       "\"b\",\"expression\":\"COUNT("
							       "*)\"}"),
		&err);

	(void)state;
	assert_int_equal(model_relationship_count(model), 0);
	assert_int_equal(model_metric_count(model), 1);
	assert_string_equal(model_metric_at(model, 0)->name, "kept");
	assert_null(model_metric_at(model, 0)->time);
	assert_null(model_dataset(model, "a")->time);
	model_free(model);
}

static void test_wrong_shapes_are_errors(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{"[]", "semantic model: an object is wanted, not array"},
		{"{\"datasets\":3}", "semantic model: "},
		{"{\"datasets\":[{\"name\":\"a\"}]}", "semantic model: dataset a: "},
		{"{\"datasets\":[{\"name\":\"a\",\"table\":\"t\",\"primary_key\":[3]}]}",
		 "semantic model: dataset a: primary_key: texts are wanted, not integer"},
		{"{\"datasets\":[{\"name\":\"a\",\"table\":\"t\",\"unique_keys\":[3]}]}",
		 "semantic model: dataset a: unique_keys: a list of texts is wanted, not integer"},
		{"{\"datasets\":[{\"name\":\"a\",\"table\":\"t\",\"fields\":[{\"name\":\"f\","
		 "\"expression\":\"x +\"}]}]}",
		 "semantic model: dataset a: field a.f: expression: a value is missing at the end"},
		{"{\"relationships\":[{\"name\":\"r\",\"from\":\"a\",\"to\":\"b\","
		 "\"from_columns\":[],\"to_columns\":[]}]}",
		 "semantic model: relationship r: as many columns on both sides"},
		{"{\"metrics\":[{\"name\":\"m\",\"dataset\":\"a\",\"expression\":\"SUM(\"}]}",
		 "semantic model: metric m: expression: a value is missing at the end"},
		{"{\"metrics\":[{\"name\":\"m\",\"dataset\":\"a\",\"scale\":0,"
		 "\"expression\":\"COUNT(*)\"}]}",
		 "semantic model: metric m: "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err;

		assert_null(read(cases[i].text, &err));
		if (strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s\nsays   %s\nwanted %s", cases[i].text, err.text,
				 cases[i].message);
	}
}

static void resolves(const struct model *model, const char *text, const char *wanted)
{
	struct model_ref ref = {NULL, NULL, NULL};
	struct expr *expr;
	struct err err;

	assert_int_equal(expr_parse(text, &expr, NULL, &err), 0);
	if (model_resolve(model, expr, NULL, &ref, &err) < 0) {
		assert_string_equal(err.text, wanted);
	} else {
		CLEANUP(mem_freep)
		char *found =
			mem_format("%s %s %s", ref.dataset->name, ref.field ? ref.field->name : "-",
				   ref.column ? ref.column : "-");

		assert_string_equal(found, wanted);
	}
	expr_free(expr);
}

static void test_names_in_expressions(void **state)
{
	struct err err;
	struct model *model = read(DIAMOND, &err);

	(void)state;
	resolves(model, "a.x", "a x -");
	resolves(model, "a.id", "a - id");
	resolves(model, "a.b_id", "a - b_id");
	resolves(model, "e.id", "e - id");
	resolves(model, "x", "which dataset is x of? Write dataset.x");
	resolves(model, "a.dya", "dataset a has no field dya; did you mean day?");
	resolves(model, "a.something", "dataset a has no field something");
	resolves(model, "aa.x", "no dataset aa; did you mean a?");
	resolves(model, "nowhere.x", "no dataset nowhere");
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_things_are_found_by_name),
		cmocka_unit_test(test_ways_follow_relationships_one_way),
		cmocka_unit_test(test_one_of_several_ways_is_chosen_by_name),
		cmocka_unit_test(test_a_circle_ends),
		cmocka_unit_test(test_ways_have_a_longest_length),
		cmocka_unit_test(test_what_is_hidden_takes_along_what_needs_it),
		cmocka_unit_test(test_wrong_shapes_are_errors),
		cmocka_unit_test(test_names_in_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
