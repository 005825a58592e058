/* What the files of the model compiler share: collecting mistakes and reading YAML strictly.
 * Read model_source.c first. */
#ifndef AGENTS_QUERY_METRICS_MODEL_SOURCE_H
#define AGENTS_QUERY_METRICS_MODEL_SOURCE_H

#include "agents/query/metrics/model_internal.h"
#include "base/buf.h"
#include "base/yaml.h"

#define MISTAKES_MAX 100 /* more than anyone mends at once */

struct source {
	const char *const *names; /* of the workspace's sources */
	size_t name_count;
	struct buf *mistakes;
	size_t mistake_count;
	bool before_02; /* the file is of version 0.1 */
};

/* Adds "file:line:column: text" with its frame. */
void source_mistake(struct source *source, const struct yaml *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Every key of map is in the NULL-terminated list, and map is one. what names it: "a metric". */
bool source_keys(struct source *source, const struct yaml *map, const char *what,
		 const char *const *keys);
/* NULL, and a mistake, when it is absent and needed, or no text. */
const char *source_text(struct source *source, const struct yaml *map, const char *what,
			const char *key, bool needed);
/* As source_text(), and fit to be a name in an expression. */
const char *source_name(struct source *source, const struct yaml *map, const char *what);
/* A list of items; NULL when absent. */
const struct yaml *source_list(struct source *source, const struct yaml *map, const char *what,
			       const char *key, bool needed);
/* A list of texts as JSON; empty when absent or wrong. */
struct json *source_texts(struct source *source, const struct yaml *map, const char *what,
			  const char *key, bool needed);
struct json *source_synonyms(struct source *source, const struct yaml *map, const char *what);
/* The scalar with the ANSI_SQL expression, or NULL with a mistake. */
const struct yaml *source_expression(struct source *source, const struct yaml *map,
				     const char *what);
/* Sets "at", file:line of the node, and "column". */
void source_place(struct json *out, const struct yaml *node);
void source_set_text(struct json *out, const char *key, const char *text); /* unless NULL */
void source_set_taken(struct json *out, const char *key, char *text);	   /* text is taken */
char *source_label(const char *name); /* "net_sales" -> "net sales" */

/* The extension of vendor WRIT: a JSON object checked against the table of keys. */
enum extension_type { EXT_TEXT, EXT_BOOL, EXT_INT, EXT_LIST, EXT_OBJECT };
struct extension_key {
	const char *name; /* NULL ends the table */
	enum extension_type type;
	int64_t max; /* of an integer; the least is 0 */
};
/* *ret_node is the text in the file. NULL when there is none (or a wrong one: then a mistake). */
struct json *source_extension(struct source *source, const struct yaml *map, const char *what,
			      const struct extension_key *keys, const struct yaml **ret_node);

/* Parses text that stands at node; a mistake shows where in the text. */
struct expr *source_parse(struct source *source, const struct yaml *node, const char *what,
			  const char *text);

/* model_source_arithmetic.c: of a metric of dataset's rows. */
bool source_additive(const struct model *model, const struct model_dataset *dataset,
		     const struct expr *expr);
bool source_exact(const struct model *model, const struct model_dataset *dataset,
		  const struct expr *expr);

/* model_source_expand.c: the expression of one of the fields over columns alone; the caller's.
 * *ret_circle: the field that it would read without end; NULL when there is none. */
char *source_expanded(const struct json *fields, const char *dataset, const struct json *field,
		      const char **ret_circle);

/* model_source_dataset.c, model_source_relationship.c and model_source_metric.c: YAML to the JSON
 * of docs/metrics.md. */
struct json *source_dataset(struct source *source, const struct yaml *map);
struct json *source_relationship(struct source *source, const struct yaml *map,
				 const struct json *datasets);
/* model holds what was read of datasets and relationships; metrics are those that it is made of,
 * NULL for one that is made of rows. */
struct json *source_metric(struct source *source, const struct yaml *map, const struct model *model,
			   const struct json *metrics);

/* model_source_calendar.c: time zone and fiscal year of a model. */
void source_calendar(struct source *source, const struct yaml *node, const struct json *extension,
		     struct json *model);

/* model_source_made.c: metrics that name other metrics of list. */
bool source_names_metrics(const struct yaml *map, const struct yaml *list);
bool source_is_metric(const struct yaml *list, const char *name);
/* The name of a metric it is made of that is not read yet: owned; NULL when there is none. */
char *source_made_waits(const struct yaml *map, const struct json *metrics);
/* Does it name a metric that is a window? */
bool source_uses_window(const struct yaml *map, const struct yaml *list, const char **ret_name);
bool source_check_made(struct source *source, const struct yaml *node, const char *name,
		       const struct expr *expr);
void source_made(struct source *source, const struct yaml *expression, const struct yaml *node,
		 const struct json *extension, const struct expr *expr, const struct json *metrics,
		 struct json *metric);
/* id is a time field that one row of from reaches. */
void source_check_time(struct source *source, const struct yaml *node, const char *what,
		       const struct model *model, const struct model_dataset *from, const char *id);

#endif
