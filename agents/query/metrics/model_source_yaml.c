/* The model compiler: strict reading of YAML. Each helper adds a mistake and goes on, so that one
 * run shows them all. */
#include "agents/query/metrics/model_source.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

void source_mistake(struct source *source, const struct yaml *node, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	struct err err;
	va_list args;

	source->mistake_count++;
	if (source->mistake_count > MISTAKES_MAX)
		return;
	va_start(args, format);
	IGNORE(vsnprintf(text, sizeof(text), format, args) < 0, "a cut message is still one");
	va_end(args);
	yaml_error(node, &err, "%s", text);
	buf_addf(source->mistakes, "%s\n", err.text);
}

static const char *kind_words(const struct yaml *node)
{
	switch (yaml_kind(node)) {
	case YAML_SCALAR:
		return "a text";
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		break;
	}
	return "a map";
}

static size_t key_count(const char *const *keys)
{
	size_t count = 0;

	while (keys[count])
		count++;
	return count;
}

static bool known_key(const char *key, const char *const *keys)
{
	for (; *keys; keys++) {
		if (strcmp(key, *keys) == 0)
			return true;
	}
	return false;
}

/* What the specification knows and puts off: silence about it would change what is meant. */
static bool put_off(const char *key)
{
	static const char *const keys[] = {"grain",
					   "filter",
					   "metrics",
					   "referential_integrity",
					   "from_all_rows_match",
					   "to_all_rows_match",
					   "condition",
					   "asof",
					   "range",
					   "joins",
					   "using_relationships",
					   "natural_grain",
					   "role",
					   "cardinality"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(key, keys[i]) == 0)
			return true;
	}
	return false;
}

bool source_keys(struct source *source, const struct yaml *map, const char *what,
		 const char *const *keys)
{
	size_t before = source->mistake_count;
	const char *near;

	if (yaml_kind(map) != YAML_MAP) {
		source_mistake(source, map, "%s is a map of its keys, not %s", what,
			       kind_words(map));
		return false;
	}
	for (size_t i = 0; (i = yaml_stray_key(map, i, keys, &near)) < yaml_len(map); i++) {
		const struct yaml *key = yaml_key(map, i);

		if (put_off(yaml_text(key)))
			source_mistake(source, key,
				       "%s has a key %s, which the specification has deferred "
				       "(\xc2\xa7"
				       "10) (E_DEFERRED_KEY_REJECTED)",
				       what, yaml_text(key));
		else if (near)
			source_mistake(source, key, "%s has no key %s; did you mean %s?", what,
				       yaml_text(key), near);
		else
			source_mistake(source, key, "%s has no key %s", what, yaml_text(key));
	}
	return source->mistake_count == before;
}

/* NULL, with a mistake when it is needed, if the key is not there. */
static const struct yaml *member(struct source *source, const struct yaml *map, const char *what,
				 const char *key, bool needed)
{
	const struct yaml *node = yaml_get(map, key);

	if (!yaml_is_null(node))
		return node;
	if (needed)
		source_mistake(source, map, "%s needs %s", what, key);
	return NULL;
}

const char *source_text(struct source *source, const struct yaml *map, const char *what,
			const char *key, bool needed)
{
	const struct yaml *node = member(source, map, what, key, needed);

	if (!node)
		return NULL;
	if (yaml_kind(node) != YAML_SCALAR) {
		source_mistake(source, node, "%s is a text, not %s", key, kind_words(node));
		return NULL;
	}
	if (needed && yaml_text(node)[0] == '\0') {
		source_mistake(source, node, "%s is empty", key);
		return NULL;
	}
	return yaml_text(node);
}

const char *source_name(struct source *source, const struct yaml *map, const char *what)
{
	const char *name = source_text(source, map, what, "name", true);
	bool good = true;

	if (!name)
		return NULL;
	for (const char *c = name; *c; c++)
		good = good &&
		       (isalnum((unsigned char)*c) || *c == '_' || (unsigned char)*c >= 0x80);
	if (good && expr_reserved_word(name)) {
		source_mistake(source, yaml_get(map, "name"),
			       "%s is a reserved word of SQL or of the specification: rename it "
			       "(E_RESERVED_NAME)",
			       name);
		return NULL;
	}
	if (good && !isdigit((unsigned char)name[0]) && strlen(name) <= 128)
		return name;
	source_mistake(source, yaml_get(map, "name"),
		       "a name is made of letters, digits and _, begins with no digit and has at "
		       "most 128 bytes");
	return NULL;
}

const struct yaml *source_list(struct source *source, const struct yaml *map, const char *what,
			       const char *key, bool needed)
{
	const struct yaml *node = member(source, map, what, key, needed);

	if (!node)
		return NULL;
	if (yaml_kind(node) != YAML_LIST) {
		source_mistake(source, node, "%s is a list, not %s", key, kind_words(node));
		return NULL;
	}
	if (needed && yaml_len(node) == 0)
		source_mistake(source, node, "%s is empty", key);
	return node;
}

struct json *source_texts(struct source *source, const struct yaml *map, const char *what,
			  const char *key, bool needed)
{
	const struct yaml *list = source_list(source, map, what, key, needed);
	struct json *texts = json_array();

	for (size_t i = 0; list && i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);

		if (yaml_kind(item) != YAML_SCALAR || yaml_text(item)[0] == '\0')
			source_mistake(source, item, "%s is a list of texts", key);
		else
			json_push_str(texts, yaml_text(item));
	}
	return texts;
}

struct json *source_synonyms(struct source *source, const struct yaml *map, const char *what)
{
	const struct yaml *context = yaml_get(map, "ai_context");

	/* as one text it is advice to a model, not a list of names; other keys are free */
	if (yaml_is_null(context) || yaml_kind(context) == YAML_SCALAR)
		return json_array();
	if (yaml_kind(context) == YAML_MAP)
		return source_texts(source, context, what, "synonyms", false);
	source_mistake(source, context, "ai_context is a text or a map, not a list");
	return json_array();
}

static const char *const dialects[] = {"ANSI_SQL",    "SNOWFLAKE", "MDX",      "TABLEAU",
				       "DATABRICKS",  "MAQL",	   "BIGQUERY", "SIGMA",
				       "THOUGHTSPOT", "DAX",	   NULL};

static void check_dialect(struct source *source, const struct yaml *item, const char *dialect)
{
	const char *near;

	if (known_key(dialect, dialects))
		return;
	near = nearest_word(dialect, dialects, key_count(dialects));
	source_mistake(source, yaml_get(item, "dialect"), "no dialect %s%s%s", dialect,
		       near ? "; did you mean " : "; there is ANSI_SQL, which is what runs here",
		       near ? near : "");
}

const struct yaml *source_expression(struct source *source, const struct yaml *map,
				     const char *what)
{
	static const char *const keys[] = {"dialects", NULL};
	static const char *const item_keys[] = {"dialect", "expression", NULL};
	const struct yaml *expression = yaml_get(map, "expression");
	const struct yaml *list, *found = NULL;
	size_t before = source->mistake_count;

	if (yaml_is_null(expression)) {
		source_mistake(source, map, "%s needs expression", what);
		return NULL;
	}
	if (yaml_kind(expression) == YAML_SCALAR && yaml_text(expression)[0] != '\0')
		return expression;
	if (!source_keys(source, expression, "expression", keys))
		return NULL;
	list = source_list(source, expression, "expression", "dialects", true);
	for (size_t i = 0; list && i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		const char *dialect;

		if (!source_keys(source, item, "a dialect's expression", item_keys))
			continue;
		dialect = source_text(source, item, "a dialect's expression", "dialect", true);
		if (!source_text(source, item, "a dialect's expression", "expression", true) ||
		    !dialect)
			continue;
		check_dialect(source, item, dialect);
		if (strcmp(dialect, "ANSI_SQL") == 0)
			found = yaml_get(item, "expression");
	}
	if (!found && source->mistake_count == before)
		source_mistake(source, expression, "%s has no expression in ANSI_SQL", what);
	return found;
}

void source_place(struct json *out, const struct yaml *node)
{
	CLEANUP(mem_freep) char *at = mem_format("%s:%d", yaml_file(node), yaml_line(node));

	json_set_str(out, "at", at);
	json_set_int(out, "column", yaml_column(node));
}

char *source_label(const char *name)
{
	char *label = mem_str(name);

	for (char *c = label; *c; c++) {
		if (*c == '_')
			*c = ' ';
	}
	return label;
}

static bool extension_value(const struct json *value, const struct extension_key *key)
{
	switch (key->type) {
	case EXT_TEXT:
		return json_str(value) != NULL && json_str(value)[0] != '\0';
	case EXT_BOOL:
		return json_type(value) == JSON_BOOL;
	case EXT_INT:
		return json_type(value) == JSON_INT && json_int(value) >= 0 &&
		       json_int(value) <= key->max;
	case EXT_LIST:
		return json_type(value) == JSON_ARRAY;
	case EXT_OBJECT:
		break;
	}
	return json_type(value) == JSON_OBJECT;
}

static void check_extension(struct source *source, const struct yaml *node, const char *what,
			    const struct json *extension, const struct extension_key *keys)
{
	static const char *const wanted[] = {"a text", "true or false", "a whole number", "a list",
					     "an object"};
	const char *names[32];
	size_t count = 0;

	for (; keys[count].name && count < ARRAY_LEN(names); count++)
		names[count] = keys[count].name;
	json_each(member, extension)
	{
		const char *near;
		size_t i = 0;

		while (i < count && strcmp(json_key(member), names[i]) != 0)
			i++;
		if (i < count) {
			if (!extension_value(member, &keys[i]))
				source_mistake(source, node, "WRIT: %s of %s wants %s%s", names[i],
					       what, wanted[keys[i].type],
					       keys[i].type == EXT_INT ? " within bounds" : "");
			continue;
		}
		near = nearest_word(json_key(member), names, count);
		source_mistake(source, node, "WRIT: %s has no key %s%s%s%s", what, json_key(member),
			       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
}

static struct json *parse_extension(struct source *source, const struct yaml *node,
				    const char *what, const struct extension_key *keys)
{
	struct json *extension;
	struct err err;
	size_t before = source->mistake_count;

	if (json_parse_str(yaml_text(node), &extension, &err) < 0) {
		source_mistake(source, node, "WRIT: %s", err.text);
		return NULL;
	}
	if (json_type(extension) != JSON_OBJECT)
		source_mistake(source, node, "WRIT: an object is wanted, not %s",
			       json_type_name(json_type(extension)));
	else
		check_extension(source, node, what, extension, keys);
	if (source->mistake_count == before)
		return extension;
	json_free(extension);
	return NULL;
}

struct json *source_extension(struct source *source, const struct yaml *map, const char *what,
			      const struct extension_key *keys, const struct yaml **ret_node)
{
	static const char *const item_keys[] = {"vendor_name", "data", NULL};
	const struct yaml *list = source_list(source, map, what, "custom_extensions", false);
	struct json *extension = NULL;

	*ret_node = NULL;
	for (size_t i = 0; list && i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		const char *vendor;

		if (!source_keys(source, item, "a custom extension", item_keys))
			continue;
		vendor = source_text(source, item, "a custom extension", "vendor_name", true);
		if (!source_text(source, item, "a custom extension", "data", true) || !vendor ||
		    strcmp(vendor, "WRIT") != 0)
			continue;
		if (*ret_node) {
			source_mistake(source, item, "%s has two extensions of WRIT", what);
			continue;
		}
		*ret_node = yaml_get(item, "data");
		extension = parse_extension(source, *ret_node, what, keys);
	}
	return extension;
}

struct expr *source_parse(struct source *source, const struct yaml *node, const char *what,
			  const char *text)
{
	struct expr *expr;
	struct err err;
	size_t offset;

	if (expr_parse(text, &expr, &offset, &err) == 0)
		return expr;
	source_mistake(source, node, "%s: %s; at character %zu of: %.200s", what, err.text,
		       offset + 1, text);
	return NULL;
}

void source_set_text(struct json *out, const char *key, const char *text)
{
	if (text)
		json_set_str(out, key, text);
}

void source_set_taken(struct json *out, const char *key, char *text)
{
	json_set_str(out, key, text);
	mem_free(text);
}
