/*
 * Constraints on arguments and attributes, in the vocabulary of tokens (policy/constraint.h): the
 * word wildcard, or a map with one of exact, range, one_of, not_one_of, contains, subset, all, any.
 * What no call could meet, because the tool's argument is of another type or not there, is a
 * mistake.
 */
#include <stdio.h>
#include <string.h>

#include "policy/bundle_model.h"
#include "policy/compile_parts.h"
#include "policy/constraint.h"
#include "policy/vocabulary.h"

static const char *const types[] = {"exact",  "range",	  "one_of", "not_one_of", "contains",
				    "subset", "wildcard", "all",    "any",	  NULL};

/* What values are compared with; ARGUMENT_OTHER when it is not known. */
enum argument_kind { ARGUMENT_OTHER, ARGUMENT_IS_TEXT, ARGUMENT_IS_INTEGER };

static struct json *compile_constraint(struct compile *compile, const struct yaml *node,
				       enum argument_kind kind);

/* Quoted is a text; digits alone are a number, true and false a truth value; else a text. */
static struct json *compile_value(struct compile *compile, const struct yaml *node,
				  enum argument_kind kind)
{
	int64_t number;
	bool truth;
	const char *text;

	if (!yaml_is_null(node) && yaml_want_bool(node, &truth, NULL) == 0 &&
	    kind == ARGUMENT_OTHER)
		return json_new_bool(truth);
	if (!yaml_is_null(node) &&
	    yaml_want_int(node, -JSON_INT_MAX, JSON_INT_MAX, &number, NULL) == 0) {
		if (kind == ARGUMENT_IS_TEXT)
			check_fail(&compile->check, "wrong_type", node,
				   "this argument is a text: quote \"%lld\"", (long long)number);
		return json_new_int(number);
	}
	text = check_text(&compile->check, node, "a value");
	if (text != NULL && kind == ARGUMENT_IS_INTEGER)
		check_fail(&compile->check, "wrong_type", node,
			   "this argument is a whole number: \"%.80s\" can never be met", text);
	return json_new_str(text == NULL ? "" : text);
}

static struct json *compile_values(struct compile *compile, const struct yaml *node,
				   const char *what, enum argument_kind kind)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list = json_array();

	if (!check_list(&compile->check, node, what))
		return list;
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		struct json *value = compile_value(compile, items.nodes[i], kind);
		bool known = false;

		json_each(item, list) known = known || json_equal(item, value);
		if (known)
			check_fail(&compile->check, "duplicate", items.nodes[i],
				   "this value stands twice");
		if (known)
			json_free(value);
		else
			json_push(list, value);
	}
	return list;
}

static void compile_bound(struct compile *compile, const struct yaml *map, const char *key,
			  struct json *json)
{
	const struct yaml *node = yaml_get(map, key);
	int64_t number;

	if (node == NULL)
		return;
	if (yaml_want_int(node, -JSON_INT_MAX, JSON_INT_MAX, &number, NULL) < 0)
		check_fail(&compile->check, "bad_value", node, "%s must be a whole number", key);
	else
		json_set_int(json, key, number);
}

static void compile_inclusive(struct compile *compile, const struct yaml *map, const char *key,
			      struct json *json)
{
	const struct yaml *node = yaml_get(map, key);
	bool truth;

	if (node == NULL)
		return;
	if (yaml_want_bool(node, &truth, NULL) < 0)
		check_fail(&compile->check, "bad_value", node, "%s must be true or false", key);
	else
		json_set_bool(json, key, truth);
}

static void compile_range(struct compile *compile, const struct yaml *node, enum argument_kind kind,
			  struct json *json)
{
	static const char *const keys[] = {"min", "max", "min_inclusive", "max_inclusive", NULL};

	if (kind == ARGUMENT_IS_TEXT)
		check_fail(&compile->check, "wrong_type", node,
			   "this argument is a text, and a range is for whole numbers");
	if (!check_map(&compile->check, node, "range", keys))
		return;
	compile_bound(compile, node, "min", json);
	compile_bound(compile, node, "max", json);
	compile_inclusive(compile, node, "min_inclusive", json);
	compile_inclusive(compile, node, "max_inclusive", json);
	if (json_get(json, "min") == NULL && json_get(json, "max") == NULL)
		check_fail(&compile->check, "missing_key", node, "range needs min or max");
	else if (json_get(json, "min") != NULL && json_get(json, "max") != NULL &&
		 json_get_int(json, "min", 0) > json_get_int(json, "max", 0))
		check_fail(&compile->check, "bad_value", node,
			   "min is above max: nothing could meet this");
}

static void compile_clauses(struct compile *compile, const struct yaml *node, const char *what,
			    enum argument_kind kind, struct json *json)
{
	struct json *list = json_array();

	if (check_list(&compile->check, node, what))
		for (size_t i = 0; i < yaml_len(node); i++) {
			struct json *clause = compile_constraint(compile, yaml_at(node, i), kind);

			if (clause != NULL)
				json_push(list, clause);
		}
	json_set(json, "constraints", list);
}

static void compile_typed(struct compile *compile, const char *type, const struct yaml *node,
			  enum argument_kind kind, struct json *json)
{
	bool of_list = strcmp(type, "contains") == 0 || strcmp(type, "subset") == 0;

	if (of_list && kind != ARGUMENT_OTHER)
		check_fail(&compile->check, "wrong_type", node,
			   "%s is for lists, and this argument is none", type);
	if (strcmp(type, "exact") == 0)
		json_set(json, "value", compile_value(compile, node, kind));
	else if (strcmp(type, "range") == 0)
		compile_range(compile, node, kind, json);
	else if (strcmp(type, "one_of") == 0)
		json_set(json, "values", compile_values(compile, node, type, kind));
	else if (strcmp(type, "not_one_of") == 0)
		json_set(json, "excluded", compile_values(compile, node, type, kind));
	else if (strcmp(type, "contains") == 0)
		json_set(json, "required", compile_values(compile, node, type, ARGUMENT_OTHER));
	else if (strcmp(type, "subset") == 0)
		json_set(json, "allowed", compile_values(compile, node, type, ARGUMENT_OTHER));
	else if (strcmp(type, "wildcard") == 0)
		check_fail(&compile->check, "bad_value", node, "wildcard stands alone, as a word");
	else
		compile_clauses(compile, node, type, kind, json);
}

static struct json *compile_constraint(struct compile *compile, const struct yaml *node,
				       enum argument_kind kind)
{
	struct json *json;

	if (is_word(node, "wildcard")) {
		json = json_object();
		json_set_str(json, "constraint_type", "wildcard");
		return json;
	}
	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", node,
			   "write wildcard, or what is wanted: {exact: orders}, {one_of: [a, b]}, "
			   "{range: {max: 100}}");
		return NULL;
	}
	if (!check_map(&compile->check, node, "a constraint", types) || yaml_len(node) != 1) {
		if (yaml_len(node) != 1)
			check_fail(&compile->check, "bad_value", node,
				   "a constraint has one key; to want several things write "
				   "{all: [...]}");
		return NULL;
	}
	json = json_object();
	json_set_str(json, "constraint_type", yaml_text(yaml_key(node, 0)));
	compile_typed(compile, yaml_text(yaml_key(node, 0)), yaml_value(node, 0), kind, json);
	return json;
}

/* Members in the order in which the bundle has them, so that places can be told by order. Takes
 * object. */
static struct json *in_order(struct json *object)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *sorted = NULL;

	json_write_canonical(object, &text);
	if (json_parse(text.bytes, text.len, text.len, &sorted, NULL) < 0)
		return object; /* what we write we can read; the bundle's reader would say so */
	json_free(object);
	return sorted;
}

static const struct argument_word *find_argument(const struct tool_word *tool, const char *name)
{
	for (size_t i = 0; i < TOOL_WORD_ARGUMENTS_MAX && tool->arguments[i].name != NULL; i++)
		if (strcmp(tool->arguments[i].name, name) == 0)
			return &tool->arguments[i];
	return NULL;
}

static void fail_no_argument(struct compile *compile, const struct yaml *key, const char *name,
			     const struct tool_word *tool)
{
	const char *names[TOOL_WORD_ARGUMENTS_MAX];
	size_t count = 0;
	CLEANUP(mem_freep) char *what = mem_format("argument of %s", tool->name);

	while (count < TOOL_WORD_ARGUMENTS_MAX && tool->arguments[count].name != NULL) {
		names[count] = tool->arguments[count].name;
		count++;
	}
	check_unknown_text(&compile->check, "unknown_argument", key, what, name,
			   (struct words){names, count});
}

/* The argument that a path begins with, in each of the rule's tools. */
static enum argument_kind check_path(struct compile *compile, const struct yaml *key,
				     const struct json *tools)
{
	CLEANUP(json_path_clear) struct json_path path = {NULL, 0};
	enum argument_kind kind = ARGUMENT_OTHER;
	struct err err = {0};

	if (json_path_read(yaml_text(key), &path, &err) < 0) {
		check_fail(&compile->check, "bad_path", key, "%s", err.text);
		return kind;
	}
	json_each(name, tools)
	{
		const struct tool_word *tool = tool_word_find(json_str(name));
		const struct argument_word *argument;

		if (tool == NULL)
			continue;
		argument = find_argument(tool, path.steps[0].name);
		if (argument == NULL) {
			fail_no_argument(compile, key, path.steps[0].name, tool);
			return ARGUMENT_OTHER;
		}
		if (path.count > 1) {
			check_fail(&compile->check, "bad_path", key,
				   "argument %s of %s is a %s and has no parts", argument->name,
				   tool->name, argument->integer ? "whole number" : "text");
			return ARGUMENT_OTHER;
		}
		kind = argument->integer ? ARGUMENT_IS_INTEGER : ARGUMENT_IS_TEXT;
	}
	return kind;
}

/* Closed world: an argument that a rule which grants does not name refuses every call. */
static void check_closed(struct compile *compile, const struct yaml *node,
			 const struct json *arguments, const struct json *tools)
{
	json_each(name, tools)
	{
		const struct tool_word *tool = tool_word_find(json_str(name));

		for (size_t i = 0;
		     tool != NULL && i < TOOL_WORD_ARGUMENTS_MAX && tool->arguments[i].name != NULL;
		     i++)
			if (json_get(arguments, tool->arguments[i].name) == NULL)
				check_fail(&compile->check, "missing_argument", node,
					   "argument %s of %s is not named, so every call would be "
					   "refused; add %s: wildcard",
					   tool->arguments[i].name, tool->name,
					   tool->arguments[i].name);
	}
}

static void compile_call_arguments(struct compile *compile, const struct yaml *node,
				   const char *effect, struct json *json)
{
	const struct json *tools = json_get(json, "tools");
	size_t errors = compile->check.problems->error_count;
	struct json *arguments;

	if (node == NULL)
		return;
	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP || yaml_len(node) == 0) {
		check_fail(&compile->check, "wrong_type", node,
			   "arguments must be a map like {rows: {range: {max: 100}}}");
		return;
	}
	if (json_type(tools) == JSON_STRING) {
		check_fail(&compile->check, "bad_value", node,
			   "arguments need tools that are named: not every tool has them");
		return;
	}
	if (yaml_len(node) > RULE_MATCHERS_MAX)
		check_fail(&compile->check, "over_limit", node, "at most %u arguments",
			   RULE_MATCHERS_MAX);
	arguments = json_object();
	for (size_t i = 0; i < yaml_len(node); i++) {
		const struct yaml *key = yaml_key(node, i);
		enum argument_kind kind = check_path(compile, key, tools);
		struct json *constraint = compile_constraint(compile, yaml_value(node, i), kind);

		if (constraint != NULL)
			json_set(arguments, yaml_text(key), constraint);
	}
	if (strcmp(effect, "allow") == 0 && compile->check.problems->error_count == errors)
		check_closed(compile, node, arguments, tools);
	json_set(json, "arguments", in_order(arguments));
}

static void compile_attributes(struct compile *compile, const struct yaml *node, struct json *json)
{
	struct json *attributes;

	if (node == NULL)
		return;
	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP || yaml_len(node) == 0) {
		check_fail(&compile->check, "wrong_type", node,
			   "attributes must be a map like {clearance: {range: {min: 3}}}");
		return;
	}
	if (yaml_len(node) > RULE_MATCHERS_MAX)
		check_fail(&compile->check, "over_limit", node, "at most %u attributes",
			   RULE_MATCHERS_MAX);
	attributes = json_object();
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name = check_name(&compile->check, yaml_key(node, i), "an attribute");
		struct json *constraint =
			compile_constraint(compile, yaml_value(node, i), ARGUMENT_OTHER);

		if (constraint != NULL && name != NULL)
			json_set(attributes, name, constraint);
		else
			json_free(constraint);
	}
	json_set(json, "attributes", in_order(attributes));
}

void compile_matchers(struct compile *compile, const struct yaml *rule, const char *effect,
		      struct json *json)
{
	compile_attributes(compile, yaml_get(rule, "attributes"), json);
	compile_call_arguments(compile, yaml_get(rule, "arguments"), effect, json);
}
