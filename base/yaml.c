/*
 * From libyaml's events to our tree, by recursive descent (at most YAML_DEPTH_MAX deep).
 *
 * What a person can get wrong is refused at its place: see base/yaml.h. libyaml's own complaints
 * get the same shape. The text is checked for UTF-8 first, because libyaml reports that by byte
 * offset only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/utf8.h"
#include "base/yaml_node.h"

#define YAML_DEPTH_MAX 32
#define YAML_BYTES_MAX (4u << 20)
#define KEY_SHOWN_MAX 60 /* in messages */

struct reading {
	yaml_parser_t parser;
	yaml_event_t event; /* the next one, not yet used */
	bool has_event;
	struct yaml_source *source; /* owned until the root has it */
	size_t line_checked;	    /* for tabs; from 1 */
};

static int parse_node(struct reading *reading, int depth, struct yaml **ret_node, struct err *err);

/* ---- tree ---- */

static void free_node(struct yaml *node)
{
	if (node == NULL)
		return;
	for (size_t i = 0; i < node->len; i++) {
		if (node->keys != NULL)
			free_node(node->keys[i]);
		free_node(node->items[i]);
	}
	mem_free(node->keys);
	mem_free(node->items);
	mem_free(node->sorted);
	mem_free(node->text);
	mem_free(node);
}

static void free_nodep(struct yaml **node)
{
	free_node(*node);
}

void yaml_free(struct yaml *root)
{
	if (root == NULL)
		return;
	if (root->owns_source)
		yaml_source_free(root->source);
	free_node(root);
}

void yaml_freep(struct yaml **root)
{
	yaml_free(*root);
}

static struct yaml *new_node(const struct reading *reading, enum yaml_kind kind)
{
	struct yaml *node = mem_alloc(sizeof(*node));

	node->kind = kind;
	node->source = reading->source;
	node->line = (int)reading->event.start_mark.line + 1;
	node->column = (int)reading->event.start_mark.column + 1;
	return node;
}

static void add_item(struct yaml *node, struct yaml *key, struct yaml *value)
{
	if (node->len == node->cap) {
		node->cap = node->cap > 0 ? 2 * node->cap : 4;
		node->items = mem_grow(node->items, node->cap * sizeof(struct yaml *));
		if (node->kind == YAML_MAP)
			node->keys = mem_grow(node->keys, node->cap * sizeof(struct yaml *));
	}
	if (node->kind == YAML_MAP)
		node->keys[node->len] = key;
	node->items[node->len++] = value;
}

/* ---- events ---- */

/* At a place of libyaml's, which counts from 0. */
static int fail_at(const struct reading *reading, yaml_mark_t mark, struct err *err,
		   const char *message)
{
	return yaml_source_error(reading->source, (int)mark.line + 1, (int)mark.column + 1,
				 ERR_INVALID, err, message);
}

static int refuse_tab(const struct reading *reading, size_t line, struct err *err)
{
	const char *text = yaml_source_line(reading->source, (int)line + 1);
	size_t blanks = text != NULL ? strspn(text, " ") : 0;

	if (text == NULL || text[blanks] != '\t')
		return 0;
	return yaml_source_error(reading->source, (int)line + 1, (int)blanks + 1, ERR_INVALID, err,
				 "a tab in the indentation: use blanks");
}

static int fail_of_parser(const struct reading *reading, struct err *err)
{
	const yaml_parser_t *parser = &reading->parser;
	char message[256];
	int line, column;

	if (parser->error == YAML_READER_ERROR) {
		yaml_source_place(reading->source, parser->problem_offset, &line, &column);
		return yaml_source_error(reading->source, line, column, ERR_INVALID, err,
					 parser->problem);
	}
	if (parser->error == YAML_MEMORY_ERROR || parser->problem == NULL)
		return err_set(err, ERR_INTERNAL, "%s: no memory", reading->source->where);
	if (refuse_tab(reading, parser->problem_mark.line, err) < 0)
		return -1;
	if (parser->context != NULL)
		snprintf(message, sizeof(message), "%s, %s that starts at line %zu",
			 parser->problem, parser->context, parser->context_mark.line + 1);
	else
		snprintf(message, sizeof(message), "%s", parser->problem);
	return fail_at(reading, parser->problem_mark, err, message);
}

static int next_event(struct reading *reading, struct err *err)
{
	if (reading->has_event)
		yaml_event_delete(&reading->event);
	reading->has_event = false;
	if (!yaml_parser_parse(&reading->parser, &reading->event))
		return fail_of_parser(reading, err);
	reading->has_event = true;
	return 0;
}

static int fail_here(const struct reading *reading, struct err *err, const char *message)
{
	return fail_at(reading, reading->event.start_mark, err, message);
}

/* ---- nodes ---- */

static int refuse_decoration(struct reading *reading, const yaml_char_t *anchor,
			     const yaml_char_t *tag, struct err *err)
{
	if (anchor != NULL)
		return fail_here(reading, err, "anchors (&name) are not allowed: write it out");
	if (tag != NULL)
		return fail_here(reading, err, "tags (!name) are not allowed: remove it");
	/* Nodes come in the order of their lines: each line is looked at once. */
	if (reading->line_checked == reading->event.start_mark.line + 1)
		return 0;
	reading->line_checked = reading->event.start_mark.line + 1;
	return refuse_tab(reading, reading->event.start_mark.line, err);
}

static int parse_scalar(struct reading *reading, struct yaml **ret_node, struct err *err)
{
	const yaml_event_t *event = &reading->event;
	const char *text = (const char *)event->data.scalar.value;
	struct yaml *node;

	if (refuse_decoration(reading, event->data.scalar.anchor, event->data.scalar.tag, err) < 0)
		return -1;
	if (memchr(text, '\0', event->data.scalar.length) != NULL)
		return fail_here(reading, err, "a NUL character (\\0) in a text");
	node = new_node(reading, YAML_SCALAR);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = mem_strn(text, event->data.scalar.length);
	*ret_node = node;
	return next_event(reading, err);
}

static int parse_list(struct reading *reading, int depth, struct yaml **ret_node, struct err *err)
{
	const yaml_event_t *event = &reading->event;

	if (refuse_decoration(reading, event->data.sequence_start.anchor,
			      event->data.sequence_start.tag, err) < 0)
		return -1;
	*ret_node = new_node(reading, YAML_LIST);
	if (next_event(reading, err) < 0)
		return -1;
	while (event->type != YAML_SEQUENCE_END_EVENT) {
		struct yaml *item = NULL;
		int result = parse_node(reading, depth + 1, &item, err);

		if (item != NULL)
			add_item(*ret_node, NULL, item);
		if (result < 0)
			return -1;
	}
	return next_event(reading, err);
}

static int check_key(const struct reading *reading, struct err *err)
{
	const yaml_event_t *event = &reading->event;

	if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
		return fail_here(reading, err, "a key must be a word, not a list or map");
	if (event->type != YAML_SCALAR_EVENT)
		return 0; /* an alias: parse_node() names it */
	if (event->data.scalar.length == 0)
		return fail_here(reading, err, "a key is missing before the colon");
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    strcmp((const char *)event->data.scalar.value, "<<") == 0)
		return fail_here(reading, err, "merge keys (<<) are not allowed: write it out");
	return 0;
}

static int by_key(const void *a, const void *b, void *map)
{
	const struct yaml *node = map;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int order = strcmp(node->keys[left]->text, node->keys[right]->text);

	return order != 0 ? order : (left > right) - (left < right);
}

/* Orders the keys for yaml_get(), and so finds the first key that was there before. */
static int sort_keys(struct yaml *map, struct err *err)
{
	size_t second = map->len, first = 0;

	map->sorted = mem_array(map->len, sizeof(*map->sorted));
	for (size_t i = 0; i < map->len; i++)
		map->sorted[i] = i;
	qsort_r(map->sorted, map->len, sizeof(*map->sorted), by_key, map);
	for (size_t i = 1; i < map->len; i++) {
		size_t before = map->sorted[i - 1], after = map->sorted[i];

		if (after >= second || strcmp(map->keys[before]->text, map->keys[after]->text) != 0)
			continue;
		first = before;
		second = after;
	}
	if (second == map->len)
		return 0;
	return yaml_error(map->keys[second], err, "duplicate key \"%.*s\", first at line %d",
			  KEY_SHOWN_MAX, map->keys[second]->text, map->keys[first]->line);
}

static int parse_pair(struct reading *reading, int depth, struct yaml *map, struct err *err)
{
	CLEANUP(free_nodep) struct yaml *key = NULL;
	CLEANUP(free_nodep) struct yaml *value = NULL;

	if (check_key(reading, err) < 0 || parse_node(reading, depth + 1, &key, err) < 0 ||
	    parse_node(reading, depth + 1, &value, err) < 0)
		return -1;
	add_item(map, key, value);
	key = value = NULL;
	return 0;
}

static int parse_map(struct reading *reading, int depth, struct yaml **ret_node, struct err *err)
{
	const yaml_event_t *event = &reading->event;

	if (refuse_decoration(reading, event->data.mapping_start.anchor,
			      event->data.mapping_start.tag, err) < 0)
		return -1;
	*ret_node = new_node(reading, YAML_MAP);
	if (next_event(reading, err) < 0)
		return -1;
	while (event->type != YAML_MAPPING_END_EVENT)
		if (parse_pair(reading, depth, *ret_node, err) < 0)
			return -1;
	if (sort_keys(*ret_node, err) < 0)
		return -1;
	return next_event(reading, err);
}

/* On failure *ret_node may hold what there is so far; the caller frees it. */
static int parse_node(struct reading *reading, int depth, struct yaml **ret_node, struct err *err)
{
	char message[64];

	if (depth > YAML_DEPTH_MAX) {
		snprintf(message, sizeof(message), "more than %d levels deep", YAML_DEPTH_MAX);
		return fail_here(reading, err, message);
	}
	switch (reading->event.type) {
	case YAML_SCALAR_EVENT:
		return parse_scalar(reading, ret_node, err);
	case YAML_SEQUENCE_START_EVENT:
		return parse_list(reading, depth, ret_node, err);
	case YAML_MAPPING_START_EVENT:
		return parse_map(reading, depth, ret_node, err);
	case YAML_ALIAS_EVENT:
		return fail_here(reading, err, "aliases (*name) are not allowed: write it out");
	default:
		return fail_here(reading, err, "a value is missing");
	}
}

/* ---- document ---- */

static int parse_document(struct reading *reading, struct yaml **ret_root, struct err *err)
{
	const yaml_event_t *event = &reading->event;

	if (next_event(reading, err) < 0 || next_event(reading, err) < 0) /* skips stream start */
		return -1;
	if (event->type == YAML_STREAM_END_EVENT)
		return yaml_source_error(reading->source, 1, 1, ERR_INVALID, err,
					 "there is nothing in this file");
	if (event->data.document_start.version_directive != NULL ||
	    event->data.document_start.tag_directives.start !=
		    event->data.document_start.tag_directives.end)
		return fail_here(reading, err, "directives (%) are not allowed: remove it");
	if (next_event(reading, err) < 0 || parse_node(reading, 1, ret_root, err) < 0)
		return -1;
	if (next_event(reading, err) < 0) /* document end is now used up */
		return -1;
	if (event->type != YAML_STREAM_END_EVENT)
		return fail_here(reading, err, "a second document (---): one file, one document");
	return 0;
}

static int check_utf8(const struct yaml_source *source, struct err *err)
{
	size_t at = 0, bytes;
	int line, column;

	for (; at < source->len; at += bytes) {
		bytes = utf8_char_len(source->bytes + at, source->len - at);
		if (bytes > 0)
			continue;
		yaml_source_place(source, at, &line, &column);
		return yaml_source_error(source, line, column, ERR_INVALID, err, "not UTF-8");
	}
	return 0;
}

int yaml_parse(const char *where, const char *bytes, size_t len, struct yaml **ret_root,
	       struct err *err)
{
	struct reading reading = {.has_event = false};
	struct yaml *root = NULL;
	int result;

	if (len > YAML_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s: larger than %u bytes", where, YAML_BYTES_MAX);
	if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) { /* some editors' byte order mark */
		bytes += 3;
		len -= 3;
	}
	reading.source = yaml_source_new(where, bytes, len);
	result = check_utf8(reading.source, err);
	if (result == 0 && !yaml_parser_initialize(&reading.parser))
		result = err_set(err, ERR_INTERNAL, "%s: no memory", where);
	if (result == 0) {
		yaml_parser_set_encoding(&reading.parser, YAML_UTF8_ENCODING);
		yaml_parser_set_input_string(&reading.parser,
					     (const unsigned char *)reading.source->bytes, len);
		result = parse_document(&reading, &root, err);
		if (reading.has_event)
			yaml_event_delete(&reading.event);
		yaml_parser_delete(&reading.parser);
	}
	if (result < 0) {
		free_node(root);
		yaml_source_free(reading.source);
		return -1;
	}
	root->owns_source = true;
	*ret_root = root;
	return 0;
}

int yaml_load(int dir_fd, const char *path, struct yaml **ret_root, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int result = file_read_at(dir_fd, path, YAML_BYTES_MAX, &bytes, err);

	if (result == 0)
		result = yaml_parse(path, buf_str(&bytes), bytes.len, ret_root, err);
	buf_clear(&bytes);
	return result;
}
