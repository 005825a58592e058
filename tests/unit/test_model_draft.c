/* A drafted model is one that loads, holds what keys and types tell, and marks what it guessed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model_draft.h"
#include "tests/unit/workspace_dir.h"

static const char tables[] =
	"[{\"table\":\"clients\",\"columns\":[{\"name\":\"client_id\",\"type\":\"INTEGER\"},"
	"{\"name\":\"full name\",\"type\":\"TEXT\"},{\"name\":\"select\",\"type\":\"TEXT\"}],"
	"\"primary_key\":[\"client_id\"],\"foreign_keys\":[],\"sample_rows\":{\"columns\":[],"
	"\"rows\":[]}},"
	"{\"table\":\"order\",\"columns\":[{\"name\":\"no\",\"type\":\"INTEGER\"},{\"name\":"
	"\"client_id\",\"type\":\"INTEGER\"},{\"name\":\"placed\",\"type\":\"TEXT\"},{\"name\":"
	"\"amount_cents\",\"type\":\"INTEGER\"},{\"name\":\"unit_price\",\"type\":\"REAL\"},"
	"{\"name\":\"paid\",\"type\":\"BOOLEAN\"}],\"primary_key\":[\"no\"],\"foreign_keys\":[],"
	"\"sample_rows\":{\"columns\":[\"no\",\"client_id\",\"placed\"],\"rows\":[[1,2,\"2026-01-"
	"02 "
	"10:00:00\"],[2,2,null]]}},"
	"{\"table\":\"line\",\"columns\":[{\"name\":\"order_no\",\"type\":\"INTEGER\"},{\"name\":"
	"\"qty\",\"type\":\"INTEGER\"}],\"primary_key\":[],\"foreign_keys\":[{\"columns\":"
	"[\"order_no\"],\"table\":\"order\",\"to\":[\"no\"]},{\"columns\":[\"qty\"],\"table\":"
	"\"hidden\",\"to\":[\"x\"]}]}]";

static char *draft(void)
{
	struct json *json = NULL;
	struct buf out = BUF_INIT;
	struct err err;

	if (json_parse_str(tables, &json, &err) < 0)
		fail_msg("%s", err.text);
	model_draft("shop", json, &out);
	json_free(json);
	return buf_take(&out);
}

static struct json *load(const char *text)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	const char *source = "shop";
	struct json *models = NULL;
	struct err err;

	workspace_dir_put(&dir, "metrics/draft.yaml", text);
	if (model_compile(dir.fd, &source, 1, &models, &mistakes, &err) < 0)
		fail_msg("%s\n%s", buf_str(&mistakes), text);
	workspace_dir_remove(&dir);
	return models;
}

static void test_a_draft_loads_and_says_what_was_guessed(void **state)
{
	CLEANUP(mem_freep) char *text = draft();
	CLEANUP(json_freep) struct json *models = load(text);
	CLEANUP(model_freep) struct model *model = NULL;
	struct err err;

	(void)state;
	assert_int_equal(model_from_json(json_get(models, "shop"), &model, &err), 0);
	assert_int_equal(model_dataset_count(model), 3);
	assert_string_equal(model_dataset(model, "order_value")->table, "order");
	assert_string_equal(model_dataset(model, "order_value")->time, "order_value.placed");
	assert_non_null(model_field(model, "clients.full_name"));
	assert_non_null(model_field(model, "clients.select_value"));
	assert_int_equal(model_field(model, "order_value.paid")->type, TYPE_BOOLEAN);
	assert_null(model_field(model, "order_value.client_id")); /* a key, not a number */
	assert_int_equal(model_relationship_count(model), 2);
	assert_string_equal(model_relationship_at(model, 0)->to->name, "clients");
	assert_non_null(model_metric(model, "clients_count"));
	assert_non_null(model_metric(model, "order_value_amount_cents_total"));
	assert_null(model_metric(model, "order_value_unit_price_total")); /* prices do not add up */
	assert_non_null(strstr(text, "# ? guessed from the name of a column\n      - {name: "
				     "order_value_by_client_id"));
	assert_non_null(strstr(text, "# ? no key is declared"));
	assert_null(strstr(text, "hidden"));
}

static void test_a_draft_answers(void **state)
{
	CLEANUP(mem_freep) char *text = draft();
	CLEANUP(json_freep) struct json *models = load(text);
	CLEANUP(model_freep) struct model *model = NULL;
	CLEANUP(metric_query_freep) struct metric_query *query = metric_query_new();
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	struct err err;

	(void)state;
	assert_int_equal(model_from_json(json_get(models, "shop"), &model, &err), 0);
	metric_query_add_metric(query, "order_value_count");
	metric_query_add_dimension(query, "clients.full_name", BUCKET_NONE);
	if (metric_query_compile(query, model, &compiled, &err) < 0)
		fail_msg("%s", err.text);
	assert_non_null(strstr(compiled->sql, "\"clients\".\"full name\""));
	assert_non_null(strstr(compiled->sql, "FROM \"order\" AS \"order_value\""));
}

int main(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_a_draft_loads_and_says_what_was_guessed),
		cmocka_unit_test(test_a_draft_answers),
	};

	return cmocka_run_group_tests(list, NULL, NULL);
}
