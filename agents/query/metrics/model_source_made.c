/*
 * The model compiler: metrics that are made of other metrics, as a ratio of two is. Each input is
 * worked out at its own grain, from its own fact and with its own filter, before they meet; the
 * expression names them alone.
 */
#include "agents/query/metrics/model_source.h"

#include <string.h>

static const struct yaml *metric_map(const struct yaml *list, const char *name)
{
	for (size_t i = 0; i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		const char *other =
			yaml_kind(item) == YAML_MAP ? yaml_text(yaml_get(item, "name")) : NULL;

		if (other && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

/* The expression's text, without a word about its mistakes. */
static const char *expression_of(const struct yaml *map)
{
	const struct yaml *expression =
		yaml_kind(map) == YAML_MAP ? yaml_get(map, "expression") : NULL;
	const struct yaml *list;

	if (expression && yaml_kind(expression) == YAML_SCALAR)
		return yaml_text(expression);
	list = expression && yaml_kind(expression) == YAML_MAP ? yaml_get(expression, "dialects")
							       : NULL;
	for (size_t i = 0; list && yaml_kind(list) == YAML_LIST && i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		const char *dialect =
			yaml_kind(item) == YAML_MAP ? yaml_text(yaml_get(item, "dialect")) : NULL;

		if (dialect && strcmp(dialect, "ANSI_SQL") == 0)
			return yaml_text(yaml_get(item, "expression"));
	}
	return NULL;
}

struct naming {
	const struct yaml *list;
	bool found;
};

struct naming_one {
	const char *name;
	bool found;
};

static int names_metric(const struct expr *node, void *data)
{
	struct naming *naming = data;

	naming->found = node->kind == EXPR_COLUMN && !node->dataset &&
			metric_map(naming->list, node->text) != NULL;
	return naming->found;
}

static int names_one(const struct expr *node, void *data)
{
	struct naming_one *naming = data;

	naming->found =
		node->kind == EXPR_COLUMN && !node->dataset && strcmp(node->text, naming->name) == 0;
	return naming->found;
}

bool source_is_metric(const struct yaml *list, const char *name)
{
	return metric_map(list, name) != NULL;
}

bool source_names_metrics(const struct yaml *map, const struct yaml *list)
{
	const char *text = expression_of(map);
	struct naming naming = {list, false};
	struct expr *expr = NULL;

	if (!text || expr_parse(text, &expr, NULL, NULL) < 0)
		return false;
	IGNORE(expr_walk(expr, names_metric, &naming), "naming says it");
	expr_free(expr);
	return naming.found;
}

static const struct json *metric_named(const struct json *metrics, const char *name)
{
	json_each(metric, metrics)
	{
		if (strcmp(json_get_str(metric, "name"), name) == 0)
			return metric;
	}
	return NULL;
}

struct waiting {
	const struct json *metrics;
	char *name;
};

static int waits(const struct expr *node, void *data)
{
	struct waiting *waiting = data;

	if (node->kind != EXPR_COLUMN || node->dataset ||
	    metric_named(waiting->metrics, node->text))
		return 0;
	waiting->name = mem_str(node->text);
	return 1;
}

char *source_made_waits(const struct yaml *map, const struct json *metrics)
{
	struct waiting waiting = {metrics, NULL};
	const char *text = expression_of(map);
	struct expr *expr = NULL;

	if (!text || expr_parse(text, &expr, NULL, NULL) < 0)
		return NULL;
	IGNORE(expr_walk(expr, waits, &waiting), "waiting says it");
	expr_free(expr);
	return waiting.name;
}

bool source_uses_window(const struct yaml *map, const struct yaml *list, const char **ret_name)
{
	const char *text = expression_of(map);
	struct expr *expr = NULL;
	bool found = false;

	if (!text || expr_parse(text, &expr, NULL, NULL) < 0)
		return false;
	for (size_t i = 0; i < yaml_len(list) && !found; i++) {
		const struct yaml *other = yaml_at(list, i);
		const char *body = expression_of(other);
		struct expr *inner = NULL;
		struct naming_one naming = {NULL, false};

		if (!body || other == map || expr_parse(body, &inner, NULL, NULL) < 0)
			continue;
		naming.name = yaml_text(yaml_get(other, "name"));
		if (naming.name && expr_has_window(inner)) {
			IGNORE(expr_walk(expr, names_one, &naming), "naming says it");
			found = naming.found;
			*ret_name = naming.name;
		}
		expr_free(inner);
	}
	expr_free(expr);
	return found;
}

static int no_field(const struct expr *node, void *data)
{
	const struct expr **found = data;

	if (node->kind != EXPR_COLUMN || !node->dataset)
		return 0;
	*found = node;
	return 1;
}

bool source_check_made(struct source *source, const struct yaml *node, const char *name,
		       const struct expr *expr)
{
	const struct expr *field = NULL;

	IGNORE(expr_walk(expr, no_field, &field), "field says it");
	if (!expr_has_aggregate(expr) && !expr_has_window(expr) && !field)
		return true;
	source_mistake(source, node,
		       "metric %s is made of other metrics and of %s: give that a metric of its "
		       "own, and name it",
		       name, field ? field->text : "an aggregate");
	return false;
}

struct making {
	const struct json *metrics;
	struct json *inputs;
	struct json *reads;
};

static bool has_text(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

static int collect(const struct expr *node, void *data)
{
	struct making *making = data;
	const struct json *metric;

	if (node->kind != EXPR_COLUMN || has_text(making->inputs, node->text))
		return 0;
	metric = metric_named(making->metrics, node->text);
	if (!metric)
		return 0; /* said already */
	json_push_str(making->inputs, node->text);
	json_each(read, json_get(metric, "reads"))
	{
		if (!has_text(making->reads, json_str(read)))
			json_push_str(making->reads, json_str(read));
	}
	return 0;
}

static void refuse_keys(struct source *source, const struct yaml *node,
			const struct json *extension)
{
	static const char *const keys[] = {"dataset",  "filter", "filter_words", "time",
					   "snapshot", "per",	 "then",	 "additive"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!json_is_null(json_get(extension, keys[i])))
			source_mistake(source, node,
				       "WRIT: %s belongs to the metrics that this one is made of",
				       keys[i]);
	}
}

void source_made(struct source *source, const struct yaml *expression, const struct yaml *node,
		 const struct json *extension, const struct expr *expr, const struct json *metrics,
		 struct json *metric)
{
	static const char *const texts[] = {"missing_words", "unit"};
	struct making making = {metrics, json_array(), json_array()};
	const struct json *first;
	int64_t scale = json_get_int(extension, "scale", 1);

	refuse_keys(source, node ? node : expression, extension);
	IGNORE(expr_walk(expr, collect, &making), "it never stops early");
	first = metric_named(metrics, json_str(json_first(making.inputs)));
	json_set_str(metric, "dataset", json_get_str(first, "dataset"));
	json_set_str(metric, "table", json_get_str(first, "table"));
	if (json_get_str(first, "time"))
		json_set_str(metric, "time", json_get_str(first, "time"));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (json_get_str(extension, texts[i]))
			json_set_str(metric, texts[i], json_get_str(extension, texts[i]));
	}
	json_set_int(metric, "scale", scale == 0 ? 1 : scale);
	json_set_int(metric, "decimals", json_get_int(extension, "decimals", 2));
	json_set_bool(metric, "exact", false);
	json_set_bool(metric, "additive", false);
	json_set_bool(metric, "non_negative", json_get_bool(extension, "non_negative", false));
	json_set_bool(metric, "higher_is_better",
		      json_get_bool(extension, "higher_is_better", false));
	json_set(metric, "inputs", making.inputs);
	json_set(metric, "reads", making.reads);
}
