/* Strict reading, going on after a mistake. */
#include "agents/query/verified/verified_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/query/metrics/model_source.h"
#include "agents/query/metrics/source_files.h"
#include "agents/query/verified/verified.h"
#include "writ/limits.h"

static const char what[] = "a verified query";

/* The source that a file is about: what the query says, the file's name, or the only one. */
static const char *find_source(struct source *source, const struct yaml *map, const char *stem)
{
	const char *said = source_text(source, map, what, "source", false);

	if (source->name_count == 0)
		return NULL; /* writ.yaml could not be read, which is said of writ.yaml */
	for (size_t i = 0; i < source->name_count; i++)
		if (strcmp(source->names[i], said ? said : stem) == 0)
			return source->names[i];
	if (said)
		source_mistake(source, yaml_get(map, "source"), "there is no source %s", said);
	else if (source->name_count == 1)
		return source->names[0];
	else
		source_mistake(source, map, "%s needs source: no source is called %s", what, stem);
	return NULL;
}

/* 2026-10-16, or seconds since 1970. */
static char *read_date(struct source *source, const struct yaml *map)
{
	const char *text = source_text(source, map, what, "verified_at", false);
	char out[DATE_LEN + 1];
	struct date date;
	int64_t seconds;
	struct err err;

	if (!text)
		return NULL;
	if (yaml_want_int(yaml_get(map, "verified_at"), 100000, 253402300799LL, &seconds, NULL) ==
	    0) {
		date_write(date_from_days(seconds / 86400), out);
		return mem_str(out);
	}
	if (date_read(text, &date, &err) == 0)
		return mem_str(text);
	source_mistake(source, yaml_get(map, "verified_at"), "verified_at is a date: 2026-10-16");
	return NULL;
}

static bool is_digest(const char *text)
{
	return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* What writ query approve noted. Its shape and places are checked, for the rest nobody vouches. */
static void read_notes(struct source *source, const struct yaml *map, struct json *query)
{
	const char *shape = source_text(source, map, what, "shape", false);
	const char *approved = source_text(source, map, what, "approved", false);
	const char *zone = source_text(source, map, what, "timezone", false);
	const struct yaml *metrics = yaml_get(map, "metrics");
	struct json *meant = json_object();

	if (shape && !is_digest(shape))
		source_mistake(source, yaml_get(map, "shape"),
			       "shape is written by writ query approve");
	if (shape)
		json_set_str(query, "shape", shape);
	if (approved && !is_digest(approved))
		source_mistake(source, yaml_get(map, "approved"),
			       "approved is written by writ query approve");
	if (approved)
		json_set_str(query, "approved", approved);
	if (zone)
		json_set_str(query, "timezone", zone);
	if (!yaml_is_null(yaml_get(map, "reads")))
		json_set(query, "reads", source_texts(source, map, what, "reads", false));
	if (!yaml_is_null(metrics) && yaml_kind(metrics) != YAML_MAP) {
		source_mistake(source, metrics, "metrics is written by writ query approve");
		metrics = NULL;
	}
	for (size_t i = 0; !yaml_is_null(metrics) && i < yaml_len(metrics); i++) {
		const char *digest = yaml_text(yaml_value(metrics, i));

		if (!is_digest(digest))
			source_mistake(source, yaml_value(metrics, i),
				       "metrics is written by writ query approve");
		else
			json_set_str(meant, yaml_text(yaml_key(metrics, i)), digest);
	}
	json_set(query, "metrics", meant);
}

static void check_question(struct source *source, const struct yaml *map, const char *question,
			   const char *sql)
{
	CLEANUP(mem_freep) char *normal = verified_normal(question);
	const struct date any_day = {2026, 10, 15};
	struct period period;
	bool asks = false, wants = false;
	struct err err;

	if (!normal || !normal[0] || strlen(question) > WRIT_QUESTION_BYTES_MAX)
		source_mistake(source, yaml_get(map, "question"), "this is no question");
	if (strlen(sql) > WRIT_SQL_BYTES_MAX)
		source_mistake(source, yaml_get(map, "sql"), "the SQL is longer than %d bytes",
			       WRIT_SQL_BYTES_MAX);
	if (verified_wants_period(sql, &wants, &err) < 0) {
		source_mistake(source, yaml_get(map, "sql"), "%s", err.text);
		return;
	}
	if (verified_period(question, any_day, &asks, &period, &err) < 0) {
		source_mistake(source, yaml_get(map, "question"), "%s", err.text);
		return;
	}
	if (asks && !wants)
		source_mistake(source, yaml_get(map, "sql"),
			       "the question asks for a period (%s): compare the time with "
			       ":period_start and :period_end, so that it stays right",
			       period.label);
	if (wants && !asks)
		source_mistake(source, yaml_get(map, "question"),
			       "the SQL wants a period and the question names none");
}

static char *number_name(const char *stem, size_t number)
{
	return mem_format("%s-%zu", stem, number);
}

static struct json *read_query(struct source *source, const struct yaml *map, const char *stem,
			       size_t number)
{
	static const char *const keys[] = {"name",
					   "question",
					   "sql",
					   "source",
					   "verified_by",
					   "verified_at",
					   "when",
					   "reads",
					   "shape",
					   "approved",
					   "timezone",
					   "metrics",
					   "use_as_onboarding_question",
					   NULL};
	CLEANUP(mem_freep) char *date = NULL;
	CLEANUP(mem_freep) char *fallback = number_name(stem, number);
	const char *question, *sql, *by, *name;
	struct json *query;

	if (!source_keys(source, map, what, keys) && yaml_kind(map) != YAML_MAP)
		return NULL;
	question = source_text(source, map, what, "question", true);
	sql = source_text(source, map, what, "sql", true);
	by = source_text(source, map, what, "verified_by", false);
	name = source_text(source, map, what, "name", false);
	date = read_date(source, map);
	if (!question || !sql)
		return NULL;
	check_question(source, map, question, sql);
	query = json_object();
	json_set_str(query, "name", name ? name : fallback);
	json_set_str(query, "question", question);
	json_set_str(query, "sql", sql);
	if (by)
		json_set_str(query, "verified_by", by);
	if (date)
		json_set_str(query, "verified_at", date);
	if (source_text(source, map, what, "when", false))
		json_set_str(query, "when", source_text(source, map, what, "when", false));
	read_notes(source, map, query);
	source_place(query, map);
	return query;
}

static struct json *model_of(struct json *models, const char *name)
{
	struct json *model = json_get_mut(models, name);

	if (!model) {
		model = json_object();
		json_set_str(model, "source", name);
		json_set(model, "datasets", json_array());
		json_set(model, "relationships", json_array());
		json_set(model, "metrics", json_array());
		json_set(models, name, model);
	}
	if (!json_get(model, "queries"))
		json_set(model, "queries", json_array());
	return json_get_mut(model, "queries");
}

static bool is_taken(const struct json *queries, const struct json *query, struct source *source,
		     const struct yaml *map)
{
	const struct json *other = verified_match(queries, json_get_str(query, "question"));

	if (other) {
		source_mistake(source, yaml_get(map, "question"),
			       "this question stands twice, first at %s",
			       json_get_str(other, "at"));
		return true;
	}
	json_each(known, queries)
	{
		if (strcasecmp(json_get_str(known, "name"), json_get_str(query, "name")) != 0)
			continue;
		source_mistake(source, map, "two verified queries are called %s, the other at %s",
			       json_get_str(query, "name"), json_get_str(known, "at"));
		return true;
	}
	return false;
}

static void read_file(struct source *source, const struct yaml *root, const char *stem,
		      struct json *models)
{
	static const char *const keys[] = {"verified_queries", NULL};
	const struct yaml *list;

	if (!source_keys(source, root, "the file", keys) && yaml_kind(root) != YAML_MAP)
		return;
	list = source_list(source, root, "the file", "verified_queries", true);
	for (size_t i = 0; list && i < yaml_len(list); i++) {
		const struct yaml *map = yaml_at(list, i);
		CLEANUP(json_freep) struct json *query = read_query(source, map, stem, i + 1);
		const char *name = query ? find_source(source, map, stem) : NULL;
		struct json *queries = name ? model_of(models, name) : NULL;

		if (queries && !is_taken(queries, query, source, map))
			json_push(queries, TAKE(query));
	}
}

static void load_file(struct source *source, int workspace_fd, const char *name,
		      struct json *models)
{
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	CLEANUP(mem_freep) char *path = mem_format("queries/%s", name);
	CLEANUP(mem_freep) char *stem = mem_strn(name, (size_t)(strrchr(name, '.') - name));
	struct err err;

	if (yaml_load(workspace_fd, path, &root, &err) < 0) {
		source->mistake_count++;
		buf_addf(source->mistakes, "%s\n", err.text);
		return;
	}
	read_file(source, root, stem, models);
}

int verified_compile(int workspace_fd, const char *const *sources, size_t source_count,
		     struct json *models, struct buf *mistakes, struct err *err)
{
	struct source source = {.names = sources, .name_count = source_count, .mistakes = mistakes};
	CLEANUP(source_files_clear) struct source_files files = {NULL, 0};

	if (source_files_list(workspace_fd, "queries", &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		load_file(&source, workspace_fd, files.names[i], models);
	if (source.mistake_count > 0)
		return err_set(err, ERR_INVALID, "queries: %zu mistake%s", source.mistake_count,
			       source.mistake_count == 1 ? "" : "s");
	return 0;
}

int verified_models_compile(int workspace_fd, const char *const *sources, size_t source_count,
			    struct json **ret_models, struct buf *mistakes, struct err *err)
{
	CLEANUP(json_freep) struct json *models = NULL;
	struct err of_queries;
	int result = model_compile(workspace_fd, sources, source_count, &models, mistakes, err);

	if (result < 0 && mistakes->len == 0)
		return -1;
	if (!models)
		models = json_object(); /* the mistakes of queries are told as well */
	if (verified_compile(workspace_fd, sources, source_count, models, mistakes, &of_queries) <
	    0) {
		if (result == 0)
			*err = of_queries;
		result = -1;
	}
	if (result == 0)
		*ret_models = TAKE(models);
	return result;
}
