/* Model files: what becomes of a right one, and what is said of each kind of mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/query/metrics/model.h"
#include "base/buf.h"
#include "base/file.h"

static char folder[] = "/tmp/model-source-XXXXXX";
static int folder_fd;

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder_fd < 0 ? -1 : mkdirat(folder_fd, "metrics", 0700);
}

static int drop_folder(void **state)
{
	(void)state;
	unlinkat(folder_fd, "metrics/a.yaml", 0);
	unlinkat(folder_fd, "metrics/b.yml", 0);
	unlinkat(folder_fd, "metrics/notes.txt", 0);
	unlinkat(folder_fd, "metrics", AT_REMOVEDIR);
	close(folder_fd);
	return rmdir(folder);
}

static void put(const char *name, const char *text)
{
	int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static const char *const sources[] = {"shop", "other"};

/* The first line of each mistake, joined by "\n". */
static char *mistakes_of(const char *text)
{
	struct buf mistakes = BUF_INIT, lines = BUF_INIT;
	struct json *models = NULL;
	struct err err;
	char *line, *save = NULL;

	put("metrics/a.yaml", text);
	if (model_compile(folder_fd, sources, 2, &models, &mistakes, &err) == 0) {
		json_free(models);
		buf_clear(&mistakes);
		return mem_str("");
	}
	assert_null(models);
	assert_int_equal(err.kind, ERR_INVALID);
	for (line = strtok_r(mistakes.bytes, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "metrics/a.yaml:", 15) == 0)
			buf_addf(&lines, "%s%s", lines.len ? "\n" : "", line + 15);
	}
	buf_clear(&mistakes);
	return buf_take(&lines);
}

static void says(const char *text, const char *wanted)
{
	CLEANUP(mem_freep) char *found = mistakes_of(text);

	if (strcmp(found, wanted) != 0)
		fail_msg("says:\n%s\nwanted:\n%s\nof:\n%s", found, wanted, text);
}

#define HEAD "version: 0.2.0.dev0\nsemantic_model:\n- name: shop\n"
#define EXPRESSION(text) "{dialects: [{dialect: ANSI_SQL, expression: \"" text "\"}]}"
#define WRIT(text) "custom_extensions: [{vendor_name: WRIT, data: '" text "'}]"
#define DATASETS                                                                                                                                                \
	"  datasets:\n"                                                                                                                                         \
	"  - name: sales\n    source: db.main.sale\n    primary_key: [id]\n"                                                                                    \
	"    " WRIT(                                                                                                                                            \
		"{\"time\": \"sales.day\"}") "\n    fields:\n"                                                                                                  \
					     "    - {name: amount, datatype: Integer, "                                                                         \
					     "expression: " EXPRESSION(                                                                                         \
						     "amt") "}\n"                                                                                               \
							    "    - {name: day, datatype: Date, "                                                                \
							    "expression: " EXPRESSION(                                                                          \
								    "day") "}\n"                                                                                \
									   "  - name: shops\n    "                                                              \
									   "source: shop\n    "                                                                 \
									   "primary_key: [no]\n  "                                                              \
									   "  fields:\n"                                                                        \
									   "    - {name: city, "                                                                \
									   "expression:"                                                                        \
									   " " EXPRESSION(                                                                      \
										   "city") "}\n"                                                                \
											   "    "                                                               \
											   "- "                                                                 \
											   "{name"                                                              \
											   ": "                                                                 \
											   "rent,"                                                              \
											   " data"                                                              \
											   "type:"                                                              \
											   " Deci"                                                              \
											   "mal, "                                                              \
											   "expre"                                                              \
											   "ssion"                                                              \
											   ":"                                                                  \
											   " " EXPRESSION(                                                      \
												   "rent") "}\n"                                                \
													   "  - name: visits\n    source: visit\n    fields:\n" \
													   "    - {name: who, expression: " EXPRESSION(         \
														   "who") "}\n"                                 \
															  "  relationships:\n"                  \
															  "  - {name: sold_in, from: sales, to: shops, from_columns: [shop], to_columns: [no]}\n"
#define METRIC(expression, rest)                                                                   \
	HEAD DATASETS "  metrics:\n  - {name: m, expression: " EXPRESSION(expression) rest "}\n"

static struct model *compile(const char *text, struct json **ret_json)
{
	struct buf mistakes = BUF_INIT;
	struct json *models;
	struct model *model;
	struct err err;

	put("metrics/a.yaml", text);
	if (model_compile(folder_fd, sources, 2, &models, &mistakes, &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&mistakes));
	if (model_from_json(json_get(models, "shop"), &model, &err) < 0)
		fail_msg("%s", err.text);
	buf_clear(&mistakes);
	*ret_json = models;
	return model;
}

static void reads_are(const struct words *reads, const char *wanted)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < reads->count; i++)
		buf_addf(&text, "%s%s", i ? " " : "", reads->items[i]);
	assert_string_equal(buf_str(&text), wanted);
	buf_clear(&text);
}

static void test_a_right_file_becomes_a_model(void **state)
{
	struct json *json;
	struct model *model;
	const struct model_metric *metric;
	const struct model_field *field;

	(void)state;
	model = compile(
		METRIC("SUM(sales.amount)",
		       ", description: All of it., ai_context: {synonyms: [turnover]}, " WRIT(
			       "{\"unit\": \"EUR\", \"scale\": 100, \"filter\": "
			       "\"shops.city = ''Bonn''\", \"filter_words\": \"Bonn\", "
			       "\"expected\": [{\"value\": \"-1.5\"}]}")),
		&json);
	assert_string_equal(model_source(model), "shop");
	metric = model_metric(model, "m");
	assert_string_equal(metric->label, "m");
	assert_string_equal(metric->description, "All of it.");
	assert_string_equal(metric->synonyms.items[0], "turnover");
	assert_string_equal(metric->dataset->name, "sales");
	assert_string_equal(metric->time, "sales.day");
	assert_string_equal(metric->unit, "EUR");
	assert_int_equal(metric->scale, 100);
	assert_int_equal(metric->decimals, 2);
	assert_true(metric->exact);
	assert_int_equal(metric->additivity, ADDITIVE);
	assert_string_equal(metric->expected[0].value, "-1.5");
	assert_null(metric->expected[0].from);
	assert_string_equal(metric->at, "metrics/a.yaml:25");
	reads_are(&metric->reads, "sale.amt shop.city sale.day sale.shop shop.no");
	field = model_field(model, "sales.day");
	assert_true(field->is_time);
	assert_true(field->dimension);
	assert_int_equal(field->type, TYPE_TIME);
	assert_string_equal(field->dataset->table, "sale");
	assert_false(model_field(model, "sales.amount")->dimension);
	assert_true(model_field(model, "shops.city")->dimension);
	assert_true(model_reaches(model, metric, model_field(model, "shops.city")));
	assert_false(model_reaches(model, metric, model_field(model, "visits.who")));
	model_free(model);
	json_free(json);
}

static void is(const char *expression, const char *rest, bool exact, enum additivity additivity,
	       int decimals)
{
	CLEANUP(mem_freep)
	char *text = mem_format(HEAD DATASETS "  metrics:\n  - {name: m, expression: {dialects: "
					      "[{dialect: ANSI_SQL, expression: \"%s\"}]}%s}\n",
				expression, rest);
	struct json *json;
	struct model *model = compile(text, &json);
	const struct model_metric *metric = model_metric(model, "m");

	if (metric->exact != exact || metric->additivity != additivity ||
	    metric->decimals != decimals)
		fail_msg("%s: exact %d, additivity %d, decimals %d", expression, metric->exact,
			 (int)metric->additivity, metric->decimals);
	model_free(model);
	json_free(json);
}

static void test_what_adds_up_and_what_is_exact(void **state)
{
	(void)state;
	is("SUM(sales.amount)", "", true, ADDITIVE, 0);
	is("SUM(sales.amount) - 2 * COUNT(sales.amount)", "", true, ADDITIVE, 0);
	is("-SUM(sales.amount)", "", true, ADDITIVE, 0);
	is("COALESCE(SUM(sales.amount), 0)", "", true, ADDITIVE, 0);
	is("SUM(CASE WHEN sales.day > 'x' THEN sales.amount ELSE 0 END)", "", true, ADDITIVE, 0);
	is("SUM(sales.amount) / 1000", "", false, ADDITIVE, 2);
	is("SUM(sales.amount * 0.5)", "", false, ADDITIVE, 2);
	is("SUM(shops.rent)", "", false, ADDITIVE, 2);
	is("COUNT(DISTINCT sales.id)", "", true, ADDITIVE, 0);
	is("COUNT(DISTINCT sales.shop)", "", true, NOT_ADDITIVE, 0);
	is("SUM(sales.amount) + 1", "", true, NOT_ADDITIVE, 0);
	is("SUM(sales.amount) / COUNT(DISTINCT sales.id)", "", false, NOT_ADDITIVE, 2);
	is("AVG(sales.amount)", "", false, NOT_ADDITIVE, 2);
	is("MAX(sales.amount)", "", true, NOT_ADDITIVE, 0);
	is("COUNT(*)", ", " WRIT("{\"dataset\": \"visits\"}"), true, ADDITIVE, 0);
	is("SUM(sales.amount)", ", " WRIT("{\"additive\": false}"), true, NOT_ADDITIVE, 0);
}

static void test_mistakes_of_the_file(void **state)
{
	(void)state;
	says("version: 0.3\nsemantic_model: []\n",
	     "1:10: version 0.3 is unknown; 0.2.0.dev0 and 0.1.1 are read\n"
	     "2:17: semantic_model is empty");
	says("semantic_modell: []\nversion: 0.1.1\n",
	     "1:1: the file has no key semantic_modell; did you mean semantic_model?\n"
	     "1:1: the file needs semantic_model");
	says("- a\n", "1:1: the file is a map of its keys, not a list");
	says("version: 0.1.1\nsemantic_model:\n- 3\n",
	     "3:3: a semantic model is a map of its keys, not a text");
	says("version: 0.1.1\nsemantic_model:\n- name: shop\n  datasets: 3\n",
	     "4:13: datasets is a list, not a text");
	says("version: 0.1.1\nsemantic_model:\n- name: shop\n- name: other\n",
	     "3:3: a semantic model needs datasets\n4:3: a semantic model needs datasets");
	says("version: [\n", "2:1: did not find expected node content, while parsing a flow node "
			     "that starts at line 2");
}

static void test_mistakes_of_the_source(void **state)
{
	(void)state;
	says("version: 0.1.1\nsemantic_model:\n- name: x\n  datasets: [{name: a, source: a}]\n",
	     "3:3: which source is model x about? Name it as the source, or say it in WRIT: "
	     "{\"source\": ...}");
	says("version: 0.1.1\nsemantic_model:\n- name: x\n  " WRIT(
		     "{\"source\": \"shp\"}") "\n"
					      "  datasets: [{name: a, source: a}]\n",
	     "4:49: WRIT: writ.yaml has no source shp; did you mean shop?");
	says("version: 0.1.1\nsemantic_model:\n- name: shop\n  datasets: [{name: a, source: a}]\n"
	     "- name: x\n  " WRIT(
		     "{\"source\": \"shop\"}") "\n  datasets: [{name: a, source: a}]\n",
	     "5:3: source shop has two semantic models; put them into one, so that a name means "
	     "one thing");
}

static void test_mistakes_of_datasets(void **state)
{
	(void)state;
	says(HEAD "  datasets:\n  - {name: a}\n", "5:5: a dataset needs source");
	says(HEAD "  datasets:\n  - {source: a}\n", "5:5: a dataset needs name");
	says(HEAD "  datasets:\n  - {name: 1a, source: a}\n",
	     "5:12: a name is made of letters, digits and _, begins with no digit and has at most "
	     "128 bytes");
	says(HEAD "  datasets:\n  - {name: a, source: \"SELECT 1\"}\n",
	     "5:23: source is the name of a table or view, not a query");
	says(HEAD "  datasets:\n  - {name: a, source: a}\n  - {name: A, source: a}\n",
	     "6:12: two datasets are called A");
	says(HEAD "  datasets:\n  - {name: a, source: a, unique_keys: [x]}\n",
	     "5:40: a unique key is a list of columns");
	says(HEAD "  datasets:\n  - {name: a, source: a, primary_key: [[x]]}\n",
	     "5:40: primary_key is a list of texts");
	says(HEAD "  datasets:\n  - {name: a, source: a, " WRIT("{\"grian\": \"x\"}") "}\n",
	     "5:72: WRIT: a dataset has no key grian; did you mean grain?");
	says(HEAD
	     "  datasets:\n  - {name: a, source: a, " WRIT("{\"filter\": \"gone IS NULL\"}") "}\n",
	     "5:72: WRIT: filter and filter_words come together: what the answer says must be "
	     "what the query does");
	says(HEAD "  datasets:\n  - {name: a, source: a, " WRIT("{\"time\": \"a.b\"}") "}\n",
	     "5:5: time of a: no field a.b; write dataset.field");
	says(HEAD "  datasets:\n  - {name: a, source: a, " WRIT("[1]") "}\n",
	     "5:72: WRIT: an object is wanted, not array");
	says(HEAD "  datasets:\n  - {name: a, source: a, " WRIT("{\"grain\": 3}") "}\n",
	     "5:72: WRIT: grain of a dataset wants a text");
}

#define FIELD(rest) HEAD "  datasets:\n  - {name: a, source: a, fields: [{name: f, " rest "}]}\n"

static void test_mistakes_of_fields(void **state)
{
	(void)state;
	says(FIELD("label: x"), "5:35: a field needs expression");
	says(FIELD("expression: " EXPRESSION("b +")),
	     "5:101: f: a value is missing at the end; at character 4 of: b +");
	says(FIELD("expression: " EXPRESSION("SUM(b)")),
	     "5:101: f: sum() adds rows up, an aggregate; that belongs into a metric "
	     "(E_AGGREGATE_IN_FIELD)");
	says(FIELD("expression: " EXPRESSION("c.b")),
	     "5:101: f: c.b is of another dataset; a field of a reads its own columns: wrap it in "
	     "an aggregate as a metric, or take the field from its own dataset "
	     "(E_UNAGGREGATED_FINER_GRAIN_REFERENCE)");
	says(FIELD("expression: {dialects: []}"), "5:68: dialects is empty");
	says(FIELD("expression: {dialects: [{dialect: SNOWFLAKE, expression: b}]}"),
	     "5:57: a field has no expression in ANSI_SQL");
	says(FIELD("expression: {dialects: [{dialect: ANSI, expression: b}]}"),
	     "5:79: no dialect ANSI; there is ANSI_SQL, which is what runs here");
	says(FIELD("datatype: Strin, expression: " EXPRESSION("b")),
	     "5:55: no datatype Strin; did you mean String");
	says(FIELD("dimension: {is_time: 3}, expression: " EXPRESSION("b")),
	     "5:66: wanted true or false, found \"3\"");
	says(FIELD("dimenson: {}, expression: " EXPRESSION("b")),
	     "5:45: a field has no key dimenson; did you mean dimension?");
	says(FIELD(WRIT("{\"time_format\": \"iso\"}") ", expression: " EXPRESSION("b")),
	     "5:91: WRIT: time_format is text or epoch, not iso");
	says(FIELD(WRIT("{\"values\": {\"x\": 3}}") ", expression: " EXPRESSION("b")),
	     "5:91: WRIT: values.x is a list of synonyms");
	says(FIELD(WRIT("{\"values\": {\"x\": [3]}}") ", expression: " EXPRESSION("b")),
	     "5:91: WRIT: values.x is a list of synonyms");
	says("version: 0.1.1\nsemantic_model:\n- name: shop\n  datasets:\n  - {name: a, source: a, "
	     "fields: [{name: f, datatype: String, expression: " EXPRESSION("b") "}]}\n",
	     "5:55: datatype came with version 0.2.0.dev0 of the format");
}

#define LINK(text)                                                                                 \
	HEAD "  datasets: [{name: a, source: a}, {name: b, source: b, primary_key: [id]}]\n"       \
	     "  relationships:\n  - {" text "}\n"

static void test_mistakes_of_relationships(void **state)
{
	(void)state;
	says(LINK("name: r, from: a, to: b, from_columns: [b], to_columns: [id]"), "");
	says(LINK("name: r, from: a, to: bb, from_columns: [b], to_columns: [id]"),
	     "6:28: no dataset bb; did you mean b?");
	says(LINK("name: r, from: a, to: b, from_columns: [b, c], to_columns: [id]"),
	     "6:65: from_columns has 2 columns, to_columns 1; they are matched in order");
	says(LINK("name: r, from: a, to: b, from_columns: [b], to_columns: [no]"),
	     "6:62: to_columns hold no primary or unique key of b, so a row could meet several");
	says(LINK("name: r, from: a, to: b, from_columns: [], to_columns: [id]"),
	     "6:45: from_columns is empty");
	says(LINK("from: a, to: b, from_columns: [b], to_columns: [id]"),
	     "6:5: a relationship needs name");
	says(LINK("name: r, from: b, to: a, from_columns: [b], to_columns: [x]"), "");
}

static void test_mistakes_of_metrics(void **state)
{
	(void)state;
	says(METRIC("SUM(sales.amuont)", ""),
	     "25:71: metric m: dataset sales has no field amuont; did you mean amount?");
	says(METRIC("SUM(sale.amount)", ""),
	     "25:71: metric m: no dataset sale; did you mean sales?");
	says(METRIC("SUM(amount)", ""),
	     "25:71: metric m: which dataset is amount of? Write dataset.amount");
	says(METRIC("sales.amount", ""),
	     "25:71: metric m adds nothing up: use SUM, COUNT, AVG, MIN or MAX");
	says(METRIC("SUM(sales.amount) + sales.amount", ""),
	     "25:71: metric m: amount stands outside of any aggregate");
	says(METRIC("SUM(sales.amount", ""),
	     "25:71: m: ) is missing at the end; at character 17 of: SUM(sales.amount");
	says(METRIC("COUNT(*)", ""),
	     "25:71: metric m: COUNT(*) of what? Name its dataset in WRIT, or count a key column");
	says(METRIC("SUM(sales.amount) / COUNT(visits.who)", ""),
	     "25:71: metric m reads sales and visits, and a row of neither leads to one row of "
	     "the other: make two metrics of it");
	says(METRIC("SUM(sales.amount) / SUM(shops.rent)", ""),
	     "25:71: metric m: sum() over shops would take each row once per row of sales; give "
	     "it a metric of its own");
	says(METRIC("SUM(sales.amount) / MAX(shops.rent)", ""), "");
	says(METRIC("SUM(shops.rent)", ", " WRIT("{\"dataset\": \"sales\"}")),
	     "25:71: metric m: sum() over shops would take each row once per row of sales; give "
	     "it a metric of its own");
	says(METRIC("SUM(sales.amount)", ", descripton: x"),
	     "25:95: a metric has no key descripton; did you mean description?");
}

#define EXTENDED(text) METRIC("SUM(sales.amount)", ", " WRIT(text))

static void test_mistakes_of_metric_extensions(void **state)
{
	(void)state;
	says(EXTENDED("{\"filter\": \"shops.city\", \"filter_words\": \"x\"}"), "");
	says(EXTENDED("{\"filter\": \"visits.who = 1\", \"filter_words\": \"x\"}"),
	     "25:141: metric m: filter: a row of sales does not lead to one row of each dataset "
	     "it reads");
	says(EXTENDED("{\"filter\": \"SUM(sales.amount) > 1\", \"filter_words\": \"x\"}"),
	     "25:141: metric m: its filter picks rows, so it has no aggregate");
	says(EXTENDED("{\"filter\": \"shops.\", \"filter_words\": \"x\"}"),
	     "25:141: filter: a name is missing at the end; at character 7 of: shops.");
	says(EXTENDED("{\"filter\": \"shops.town\", \"filter_words\": \"x\"}"),
	     "25:141: metric m: filter: dataset shops has no field town");
	says(EXTENDED("{\"filter_words\": \"x\"}"),
	     "25:141: WRIT: filter and filter_words come together: what the answer says must be "
	     "what the query does");
	says(EXTENDED("{\"dataset\": \"nowhere\"}"), "25:141: metric m: no dataset nowhere");
	says(EXTENDED("{\"dataset\": \"shops\"}"),
	     "25:141: metric m: a row of shops does not lead to one row of each dataset it reads");
	says(EXTENDED("{\"time\": \"shops.city\"}"),
	     "25:141: time of m: shops.city is no time field");
	says(EXTENDED("{\"scale\": 0}"), "25:141: WRIT: scale is at least 1");
	says(EXTENDED("{\"scale\": -1}"),
	     "25:141: WRIT: scale of a metric wants a whole number within bounds");
	says(EXTENDED("{\"decimals\": 10}"),
	     "25:141: WRIT: decimals of a metric wants a whole number within bounds");
	says(EXTENDED("{\"decimals\": 9}"), "");
	says(EXTENDED("{\"non_negative\": 1}"),
	     "25:141: WRIT: non_negative of a metric wants true or false");
	says(EXTENDED("{\"expected\": [{\"value\": 3}]}"),
	     "25:141: WRIT: expected: value is a number as text: \"850.00\"");
	says(EXTENDED("{\"expected\": [{\"value\": \"3.\"}]}"),
	     "25:141: WRIT: expected: value is a number as text: \"850.00\"");
	says(EXTENDED("{\"expected\": [{\"value\": \"3\", \"from\": \"2026-01-01\"}]}"),
	     "25:141: WRIT: expected: from and to are two dates, to being the first day behind "
	     "the period");
	says(EXTENDED("{\"expected\": [{\"value\": \"3\", \"from\": \"2026-01-01\", \"to\": "
		      "\"2026-01-01\"}]}"),
	     "25:141: WRIT: expected: from and to are two dates, to being the first day behind "
	     "the period");
	says(EXTENDED("{\"expected\": [{\"valeu\": \"3\"}]}"),
	     "25:141: WRIT: expected: unknown member \"valeu\"");
	says(EXTENDED("{\"unit\": \"a\", \"unit\": \"b\"}"),
	     "25:141: WRIT: line 1, column 15: duplicate member \"unit\"");
	says(METRIC("AVG(sales.amount)", ", " WRIT("{\"additive\": true}")),
	     "25:141: WRIT: metric m is not additive: only sums and counts of its own rows are");
	says(METRIC("SUM(sales.amount)",
		    ", custom_extensions: [{vendor_name: DBT, data: 'anything'}]"),
	     "");
	says(METRIC("SUM(sales.amount)", ", custom_extensions: [{vendor_name: WRIT}]"),
	     "25:115: a custom extension needs data");
}

static void test_mistakes_of_stocks_and_two_steps(void **state)
{
	(void)state;
	says(EXTENDED("{\"snapshot\": {\"time\": \"sales.day\"}}"), "");
	says(EXTENDED("{\"snapshot\": {\"time\": \"sales.amount\"}}"),
	     "25:141: WRIT: snapshot: sales.amount is no time");
	says(EXTENDED("{\"snapshot\": {\"time\": \"sales.dya\"}}"),
	     "25:141: WRIT: snapshot.time of metric m: no field sales.dya; write dataset.field");
	says(EXTENDED("{\"snapshot\": {\"time\": \"sales.day\", \"take\": \"middle\"}}"),
	     "25:141: WRIT: snapshot: take is last or first");
	says(EXTENDED("{\"snapshot\": {\"time\": \"sales.day\", \"per\": [\"visits.who\"]}}"),
	     "25:141: WRIT: snapshot.per of metric m: a row of sales does not lead to one "
	     "visits.who");
	says(EXTENDED("{\"snapshot\": {\"tiem\": \"sales.day\"}}"),
	     "25:141: WRIT: snapshot: unknown member \"tiem\"");
	says(EXTENDED("{\"per\": \"shops.city\", \"then\": \"avg\"}"), "");
	says(EXTENDED("{\"per\": \"shops.city\"}"), "25:141: WRIT: per and then come together");
	says(EXTENDED("{\"per\": \"shops.city\", \"then\": \"median\"}"),
	     "25:141: WRIT: then is avg, sum, min, max or count, not median");
	says(EXTENDED("{\"per\": \"visits.who\", \"then\": \"avg\"}"),
	     "25:141: WRIT: per of metric m: a row of sales does not lead to one visits.who");
}

#define TWO(second)                                                                                \
	HEAD DATASETS "  metrics:\n  - {name: a, expression: " EXPRESSION(                         \
		"SUM(sales.amount)") "}\n" second

static void test_mistakes_of_metrics_made_of_metrics(void **state)
{
	(void)state;
	says(TWO("  - {name: b, expression: " EXPRESSION(
		     "SUM(shops.rent)") "}\n"
					"  - {name: m, expression: " EXPRESSION("a / b") "}\n"),
	     "");
	says(TWO("  - {name: m, expression: " EXPRESSION("a / SUM(shops.rent)") "}\n"),
	     "26:71: metric m is made of other metrics and of rent: give that a metric of its own, "
	     "and name it");
	says(TWO("  - {name: m, expression: " EXPRESSION("a / n") "}\n"),
	     "26:5: it is made of n, and no metric is called so (E_NAME_NOT_FOUND)");
	says(TWO("  - {name: m, expression: " EXPRESSION("a / m") "}\n"),
	     "26:5: it is made of metric m, which is wrong itself, or made of this one");
	says(TWO("  - {name: b, expression: " EXPRESSION(
		     "c / 2") "}\n"
			      "  - {name: c, expression: " EXPRESSION("b * 2") "}\n"),
	     "26:5: it is made of metric c, which is wrong itself, or made of this one\n27:5: it "
	     "is made of metric b, which is wrong itself, or made of this one");
	says(TWO("  - {name: m, expression: " EXPRESSION("a / 2") ", " WRIT(
		     "{\"filter\": \"shops.city\", \"filter_words\": \"x\"}") "}\n"),
	     "26:129: WRIT: filter belongs to the metrics that this one is made of\n26:129: WRIT: "
	     "filter_words belongs to the metrics that this one is made of");
	says(TWO("  - {name: m, expression: " EXPRESSION("SUM(sales.amount) OVER ()") "}\n"),
	     "26:71: metric m: a window over groups is not taken up; ask for a running total, or "
	     "make the window a field");
}

#define OF_MODEL(text) HEAD "  " WRIT(text) "\n" DATASETS

static void test_mistakes_of_the_calendar(void **state)
{
	(void)state;
	says(OF_MODEL("{\"timezone\": \"Europe/Berlin\", \"fiscal_year_start\": 4}"), "");
	says(OF_MODEL("{\"timezone\": \"Europe/Berlni\"}"),
	     "4:49: WRIT: timezone: time zone Europe/Berlni: there is no such zone in "
	     "/usr/share/zoneinfo");
	says(OF_MODEL("{\"timezone\": \"../../etc/passwd\"}"),
	     "4:49: WRIT: timezone: time zone: write a name like Europe/Berlin, or UTC");
	says(OF_MODEL("{\"fiscal_year_start\": 0}"),
	     "4:49: WRIT: fiscal_year_start is a month from 1 to 12");
	says(OF_MODEL("{\"fiscal_year_start\": 13}"), "4:49: WRIT: fiscal_year_start of a semantic "
						      "model wants a whole number within bounds");
}

static void test_one_run_shows_all_mistakes_of_all_files(void **state)
{
	/* clang-format off */
	static const char bad[] = HEAD DATASETS "  metrics:\n"
		"  - {name: a, expression: " EXPRESSION("SUM(x)") "}\n"
		"  - {name: b, expression: " EXPRESSION("SUM(sales.x)") "}\n"
		"  - {name: c, expression: " EXPRESSION("SUM(sales.amount)") "}\n"
		"  - {name: C, expression: " EXPRESSION("SUM(sales.amount)") "}\n";
	/* clang-format on */
	struct buf mistakes = BUF_INIT;
	struct json *models = NULL;
	struct err err;

	(void)state;
	put("metrics/notes.txt", "no model");
	put("metrics/b.yml", "version: 9\nsemantic_model: []\n");
	put("metrics/a.yaml", bad);
	assert_int_equal(model_compile(folder_fd, sources, 2, &models, &mistakes, &err), -1);
	assert_string_equal(err.text, "metrics: 5 mistakes");
	assert_non_null(
		strstr(buf_str(&mistakes), "metrics/a.yaml:25:71: metric a: which dataset"));
	assert_non_null(strstr(buf_str(&mistakes),
			       "metrics/a.yaml:26:71: metric b: dataset sales has no field x"));
	assert_non_null(
		strstr(buf_str(&mistakes), "metrics/a.yaml:28:12: two metrics are called C"));
	assert_non_null(strstr(buf_str(&mistakes), "metrics/b.yml:1:10: version 9"));
	assert_null(models);
	buf_clear(&mistakes);
}

static void test_no_metrics_is_no_model(void **state)
{
	struct buf mistakes = BUF_INIT;
	struct json *models;
	struct err err;

	(void)state;
	assert_int_equal(model_compile(folder_fd, sources, 2, &models, &mistakes, &err), 0);
	assert_int_equal(json_len(models), 0);
	json_free(models);
	unlinkat(folder_fd, "metrics", AT_REMOVEDIR);
	assert_int_equal(model_compile(folder_fd, sources, 2, &models, &mistakes, &err), 0);
	assert_int_equal(json_len(models), 0);
	json_free(models);
	put("metrics", "");
	assert_int_equal(model_compile(folder_fd, sources, 2, &models, &mistakes, &err), -1);
	assert_string_equal(err.text, "metrics: Not a directory");
	unlinkat(folder_fd, "metrics", 0);
	assert_int_equal(mkdirat(folder_fd, "metrics", 0700), 0);
	assert_int_equal(mistakes.len, 0);
}

static void test_the_examples_are_right(void **state)
{
	static const char *const names[] = {"sales", "widgets", "company"};
	const char *root = getenv("WRIT_SOURCE");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(mem_freep)
		char *path = mem_format("%s/examples/%s", root ? root : ".", names[i]);
		CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct buf mistakes = BUF_INIT;
		struct json *models;
		struct err err;

		if (model_compile(fd, &names[i], 1, &models, &mistakes, &err) < 0)
			fail_msg("%s: %s\n%s", names[i], err.text, buf_str(&mistakes));
		assert_true(json_len(json_get(json_get(models, names[i]), "metrics")) > 0);
		json_free(models);
	}
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_a_right_file_becomes_a_model),
		IN_FOLDER(test_what_adds_up_and_what_is_exact),
		IN_FOLDER(test_mistakes_of_the_file),
		IN_FOLDER(test_mistakes_of_the_source),
		IN_FOLDER(test_mistakes_of_datasets),
		IN_FOLDER(test_mistakes_of_fields),
		IN_FOLDER(test_mistakes_of_relationships),
		IN_FOLDER(test_mistakes_of_metrics),
		IN_FOLDER(test_mistakes_of_metric_extensions),
		IN_FOLDER(test_mistakes_of_stocks_and_two_steps),
		IN_FOLDER(test_mistakes_of_metrics_made_of_metrics),
		IN_FOLDER(test_mistakes_of_the_calendar),
		IN_FOLDER(test_one_run_shows_all_mistakes_of_all_files),
		IN_FOLDER(test_no_metrics_is_no_model),
		cmocka_unit_test(test_the_examples_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
