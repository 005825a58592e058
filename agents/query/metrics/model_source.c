/*
 * The model compiler: metrics/ of a workspace -> the models of state/config/model.json. Read this
 * first.
 *
 *   files -> yaml -> datasets, relationships -> struct model -> metrics -> one model per source
 *
 * The format is Apache Ossie (core-spec/ossie-schema.json), version 0.2.0.dev0, or 0.1; what it
 * lacks stands in custom extensions of vendor WRIT (docs/metrics.md). Reading is strict and goes on
 * after a mistake, so that one run shows all of them. Nothing half right leaves: with a single
 * mistake there is no model.
 */
#include "agents/query/metrics/model_source.h"

#include <string.h>
#include <strings.h>

#include "agents/query/metrics/source_files.h"
#include "base/nearest.h"

static struct json *read_datasets(struct source *source, const struct yaml *map)
{
	const struct yaml *list = source_list(source, map, "a semantic model", "datasets", true);
	struct json *datasets = json_array();

	for (size_t i = 0; list && i < yaml_len(list); i++) {
		struct json *dataset = source_dataset(source, yaml_at(list, i));
		bool twice = false;

		if (!dataset)
			continue;
		json_each(other, datasets)
		{
			twice = twice || strcasecmp(json_get_str(other, "name"),
						    json_get_str(dataset, "name")) == 0;
		}
		if (twice)
			source_mistake(source, yaml_get(yaml_at(list, i), "name"),
				       "two datasets are called %s", json_get_str(dataset, "name"));
		if (twice)
			json_free(dataset);
		else
			json_push(datasets, dataset);
	}
	return datasets;
}

static bool named_in(const struct json *list, const char *name)
{
	json_each(item, list)
	{
		if (strcasecmp(json_get_str(item, "name"), name) == 0)
			return true;
	}
	return false;
}

/* Adds item (which may be NULL) unless one of its name is there. */
static void push_named(struct source *source, const struct yaml *map, const char *what,
		       struct json *list, struct json *item)
{
	if (!item)
		return;
	if (!named_in(list, json_get_str(item, "name"))) {
		json_push(list, item);
		return;
	}
	source_mistake(source, yaml_get(map, "name"), "two %s are called %s", what,
		       json_get_str(item, "name"));
	json_free(item);
}

static struct json *read_relationships(struct source *source, const struct yaml *map,
				       const struct json *datasets)
{
	const struct yaml *list =
		source_list(source, map, "a semantic model", "relationships", false);
	struct json *relationships = json_array();

	for (size_t i = 0; list && i < yaml_len(list); i++)
		push_named(source, yaml_at(list, i), "relationships", relationships,
			   source_relationship(source, yaml_at(list, i), datasets));
	return relationships;
}

/* A metric made of a window cannot be made into another: its rows are not those of the other. */
static bool refuse_window(struct source *source, const struct yaml *list, size_t index)
{
	const struct yaml *map = yaml_at(list, index);
	const char *window = NULL;

	if (!source_uses_window(map, list, &window))
		return false;
	source_mistake(source, map,
		       "it is made of %s, a window: the composition of windowed metrics is "
		       "deferred (\xc2\xa7"
		       "10); make the window a derived field (E_WINDOWED_METRIC_COMPOSITION)",
		       window);
	return true;
}

/* Why one could not be made of the others. */
static void refuse_made(struct source *source, const struct yaml *list, size_t at,
			const struct json *metrics)
{
	CLEANUP(mem_freep) char *name = source_made_waits(yaml_at(list, at), metrics);

	if (name && !source_is_metric(list, name))
		source_mistake(source, yaml_at(list, at),
			       "it is made of %s, and no metric is called so (E_NAME_NOT_FOUND)",
			       name);
	else
		source_mistake(source, yaml_at(list, at),
			       "it is made of metric %s, which is wrong itself, or made of this one",
			       name ? name : "none");
}

static bool can_be_made(const struct yaml *list, size_t at, const struct json *metrics)
{
	CLEANUP(mem_freep) char *name = source_made_waits(yaml_at(list, at), metrics);

	return name == NULL;
}

/* Metrics made of rows first; then, as often as it helps, those made of what is there. */
static struct json *read_metrics(struct source *source, const struct yaml *map,
				 const struct model *model)
{
	const struct yaml *list = source_list(source, map, "a semantic model", "metrics", false);
	struct json *metrics = json_array();
	size_t count = list ? yaml_len(list) : 0;
	CLEANUP(mem_freep) bool *done = mem_array(count + 1, sizeof(*done));
	bool moved = true;

	for (size_t i = 0; i < count; i++) {
		if (source_names_metrics(yaml_at(list, i), list))
			continue;
		done[i] = true;
		push_named(source, yaml_at(list, i), "metrics", metrics,
			   source_metric(source, yaml_at(list, i), model, NULL));
	}
	while (moved) {
		moved = false;
		for (size_t i = 0; i < count; i++) {
			if (done[i] || !can_be_made(list, i, metrics))
				continue;
			done[i] = moved = true;
			push_named(source, yaml_at(list, i), "metrics", metrics,
				   source_metric(source, yaml_at(list, i), model, metrics));
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (done[i] || refuse_window(source, list, i))
			continue;
		refuse_made(source, list, i, metrics);
	}
	return metrics;
}

static void check_dataset_times(struct source *source, const struct yaml *map,
				const struct json *datasets, const struct model *model)
{
	const struct yaml *list = yaml_get(map, "datasets");

	for (size_t i = 0; i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		const char *name;

		name = yaml_kind(item) == YAML_MAP ? yaml_text(yaml_get(item, "name")) : NULL;
		json_each(dataset, datasets)
		{
			const char *time = json_get_str(dataset, "time");

			if (name && time && strcmp(json_get_str(dataset, "name"), name) == 0)
				source_check_time(source, item, name, model,
						  model_dataset(model, name), time);
		}
	}
}

static bool is_source(const struct source *source, const char *name)
{
	for (size_t i = 0; i < source->name_count; i++) {
		if (strcmp(source->names[i], name) == 0)
			return true;
	}
	return false;
}

/* The source a model is about: as WRIT says, else the one of its name, else the only one. */
static const char *model_source_name(struct source *source, const struct yaml *map,
				     const char *name, const struct json *extension,
				     const struct yaml *node)
{
	const char *named = json_get_str(extension, "source");
	const char *near;

	if (source->name_count == 0)
		return NULL; /* writ.yaml could not be read, which is said of writ.yaml */
	if (named && is_source(source, named))
		return named;
	if (named) {
		near = nearest_word(named, source->names, source->name_count);
		source_mistake(source, node, "WRIT: writ.yaml has no source %s%s%s%s", named,
			       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		return NULL;
	}
	if (is_source(source, name))
		return name;
	if (source->name_count == 1)
		return source->names[0];
	source_mistake(source, map,
		       "which source is model %s about? Name it as the source, or say it in WRIT: "
		       "{\"source\": ...}",
		       name);
	return NULL;
}

static struct json *build_model(struct source *source, const struct yaml *map, const char *name,
				const char *about, const struct json *extension,
				const struct yaml *node)
{
	CLEANUP(model_freep) struct model *model = NULL;
	struct json *json = json_object();
	const char *description;
	struct err err;

	description = source_text(source, map, "a semantic model", "description", false);
	json_set_str(json, "source", about);
	json_set_str(json, "name", name);
	if (description)
		json_set_str(json, "description", description);
	json_free(source_synonyms(source, map, "a semantic model"));
	source_calendar(source, node, extension, json);
	json_set(json, "datasets", read_datasets(source, map));
	json_set(json, "relationships",
		 read_relationships(source, map, json_get(json, "datasets")));
	if (model_from_json(json, &model, &err) < 0) {
		source_mistake(source, map, "%s", err.text);
		return json;
	}
	check_dataset_times(source, map, json_get(json, "datasets"), model);
	json_set(json, "metrics", read_metrics(source, map, model));
	return json;
}

static void read_model(struct source *source, const struct yaml *map, struct json *models)
{
	static const char *const keys[] = {
		"name",		 "description", "ai_context",	     "datasets",
		"relationships", "metrics",	"custom_extensions", NULL};
	static const struct extension_key extension_keys[] = {{"source", EXT_TEXT, 0},
							      {"timezone", EXT_TEXT, 0},
							      {"fiscal_year_start", EXT_INT, 12},
							      {NULL, EXT_TEXT, 0}};
	const struct yaml *node;
	CLEANUP(json_freep) struct json *extension = NULL;
	const char *name, *about;
	struct json *model;

	if (!source_keys(source, map, "a semantic model", keys) && yaml_kind(map) != YAML_MAP)
		return;
	name = source_text(source, map, "a semantic model", "name", true);
	extension = source_extension(source, map, "a semantic model", extension_keys, &node);
	about = name ? model_source_name(source, map, name, extension, node) : NULL;
	model = build_model(source, map, name ? name : "", about ? about : "", extension, node);
	if (about && json_get(models, about)) {
		source_mistake(source, map,
			       "source %s has two semantic models; put them into one, so that a "
			       "name means one thing",
			       about);
		json_free(model);
	} else {
		json_set(models, about ? about : "", model);
	}
}

static void check_version(struct source *source, const struct yaml *root)
{
	static const char *const versions[] = {"0.2.0.dev0", "0.1.1", "0.1.0", "0.1"};
	const char *version = source_text(source, root, "the file", "version", true);

	source->before_02 = version && strncmp(version, "0.1", 3) == 0;
	for (size_t i = 0; version && i < ARRAY_LEN(versions); i++) {
		if (strcmp(version, versions[i]) == 0)
			return;
	}
	if (version)
		source_mistake(source, yaml_get(root, "version"),
			       "version %s is unknown; 0.2.0.dev0 and 0.1.1 are read", version);
}

static void read_file(struct source *source, const struct yaml *root, struct json *models)
{
	static const char *const keys[] = {"version", "semantic_model", "dialects", "vendors",
					   NULL};
	const struct yaml *list;

	if (!source_keys(source, root, "the file", keys) && yaml_kind(root) != YAML_MAP)
		return;
	check_version(source, root);
	json_free(source_texts(source, root, "the file", "dialects", false));
	json_free(source_texts(source, root, "the file", "vendors", false));
	list = source_list(source, root, "the file", "semantic_model", true);
	for (size_t i = 0; list && i < yaml_len(list); i++)
		read_model(source, yaml_at(list, i), models);
}

static void load_file(struct source *source, int workspace_fd, const char *name,
		      struct json *models)
{
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	CLEANUP(mem_freep) char *path = mem_format("metrics/%s", name);
	struct err err;

	if (yaml_load(workspace_fd, path, &root, &err) < 0) {
		source->mistake_count++;
		buf_addf(source->mistakes, "%s\n", err.text);
		return;
	}
	read_file(source, root, models);
}

int model_compile(int workspace_fd, const char *const *sources, size_t source_count,
		  struct json **ret_models, struct buf *mistakes, struct err *err)
{
	struct source source = {.names = sources, .name_count = source_count, .mistakes = mistakes};
	CLEANUP(json_freep) struct json *models = json_object();
	CLEANUP(source_files_clear) struct source_files files = {NULL, 0};

	if (source_files_list(workspace_fd, "metrics", &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		load_file(&source, workspace_fd, files.names[i], models);
	if (source.mistake_count > MISTAKES_MAX)
		buf_addf(mistakes, "... and %zu more\n", source.mistake_count - MISTAKES_MAX);
	if (source.mistake_count > 0)
		return err_set(err, ERR_INVALID, "metrics: %zu mistake%s", source.mistake_count,
			       source.mistake_count == 1 ? "" : "s");
	*ret_models = TAKE(models);
	return 0;
}
