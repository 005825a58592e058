/*
 * The strict JSON reader (RFC 8259), one pass: it scans the bytes by its own grammar and builds
 * cJSON nodes itself, since cJSON's parser accepts what two readers understand differently
 * (duplicate names, NUL, bad UTF-8, 007, text after the value) and forgets that 1.0 was a real.
 *
 * Recursion is bounded by JSON_DEPTH_MAX. Names are compared once their object is complete: sorted,
 * so that no choice of names makes it quadratic. All memory is cJSON's, so that the pool bounds it.
 * Whatever fails leaves nothing behind and names line and column.
 */
#include <limits.h>
#include <string.h>

#include "base/json_scan.h"

#define PAIRWISE_MAX 8 /* up to so many names comparing all pairs is cheaper than sorting */

static cJSON *read_value(struct scan *scan);

static void skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
		scan->at++;
}

/* The next byte that is not blank, or 0 at the end; a NUL byte is no token either. */
static char peek(struct scan *scan)
{
	skip_blanks(scan);
	return scan->at < scan->end ? *scan->at : '\0';
}

static cJSON *new_node(const struct scan *scan, int type)
{
	cJSON *node = scan_take(scan, sizeof(*node));

	if (node == NULL) {
		scan_fail_memory(scan);
		return NULL;
	}
	memset(node, 0, sizeof(*node));
	node->type = type;
	return node;
}

static cJSON *read_string_value(struct scan *scan)
{
	char *text = scan_string(scan);
	cJSON *node = text != NULL ? new_node(scan, cJSON_String) : NULL;

	if (node == NULL) {
		scan_drop(scan, text);
		return NULL;
	}
	node->valuestring = text;
	return node;
}

static cJSON *read_number(struct scan *scan)
{
	bool real;
	double value;
	cJSON *node;

	if (scan_number(scan, &real, &value) < 0)
		return NULL;
	node = new_node(scan, cJSON_Number | (real ? NODE_REAL : 0));
	if (node != NULL)
		node->valuedouble = value;
	return node;
}

static cJSON *read_word(struct scan *scan, const char *word, int type)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return scan_fail(scan, scan->at, "a value is expected; did you mean %s?", word),
		       NULL;
	scan->at += len;
	return new_node(scan, type);
}

static int enter(struct scan *scan)
{
	if (scan->depth == JSON_DEPTH_MAX)
		return scan_fail_limit(scan, scan->at, "nested deeper than %d", JSON_DEPTH_MAX);
	scan->depth++;
	scan->at++;
	return 0;
}

/* Behind an element: 1 when the container goes on, 0 when it ended. */
static int read_separator(struct scan *scan, char close, const char *wanted)
{
	char c = peek(scan);

	if (c != ',' && c != close)
		return scan_fail_found(scan, wanted);
	scan->at++;
	return c == ',';
}

static int read_elements(struct scan *scan, cJSON *array)
{
	int more = 1;

	while (more > 0) {
		cJSON *child = read_value(scan);

		if (child == NULL)
			return -1;
		cJSON_AddItemToArray(array, child);
		more = read_separator(scan, ']', "',' or ']'");
	}
	return more;
}

/* The offset of the name waits in valueint, which nothing else uses, for a duplicate's message. */
static int read_member(struct scan *scan, cJSON *object)
{
	const char *name_at;
	char *name;
	cJSON *child;

	if (peek(scan) != '"')
		return scan_fail_found(scan, "a member name in quotes");
	name_at = scan->at;
	name = scan_name(scan);
	if (name == NULL)
		return -1;
	if (peek(scan) != ':') {
		scan_fail_found(scan, "':'");
		scan_drop(scan, name);
		return -1;
	}
	scan->at++;
	child = read_value(scan);
	if (child == NULL) {
		scan_drop(scan, name);
		return -1;
	}
	child->string = name;
	child->valueint = (int)(name_at - scan->start);
	cJSON_AddItemToArray(object, child);
	return 0;
}

/* As our own programs write them: then no two are the same, and that is seen in one pass. */
static bool is_ascending(const cJSON *object)
{
	const cJSON *last = object->child;

	for (const cJSON *next = last->next; next != NULL; last = next, next = next->next)
		if (strcmp(last->string, next->string) >= 0)
			return false;
	return true;
}

/* The second member of the first pair with one name, or NULL. */
static const cJSON *duplicate_by_pairs(const cJSON *object)
{
	for (const cJSON *later = object->child; later != NULL; later = later->next)
		for (const cJSON *earlier = object->child; earlier != later;
		     earlier = earlier->next)
			if (earlier->string[0] == later->string[0] &&
			    strcmp(earlier->string, later->string) == 0)
				return later;
	return NULL;
}

static const cJSON *duplicate_by_order(const cJSON **members, size_t count)
{
	const cJSON *found = NULL;

	for (size_t i = 1; i < count; i++)
		if (strcmp(members[i - 1]->string, members[i]->string) == 0 &&
		    (found == NULL || members[i]->valueint < found->valueint))
			found = members[i];
	return found;
}

static int check_names(const struct scan *scan, const cJSON *object, size_t count)
{
	char quoted[NAME_QUOTED_MAX];
	const cJSON **members = NULL;
	const cJSON *again;

	if (is_ascending(object))
		return 0;
	if (count <= PAIRWISE_MAX) {
		again = duplicate_by_pairs(object);
	} else {
		members = json_sorted(object, &count);
		if (members == NULL)
			return scan_fail_memory(scan);
		again = duplicate_by_order(members, count);
		cJSON_free((void *)members);
	}
	if (again != NULL)
		return scan_fail(scan, scan->start + again->valueint, "duplicate member %s",
				 json_name_quoted(again->string, quoted));
	return 0;
}

static int read_members(struct scan *scan, cJSON *object)
{
	size_t count = 0;
	int more = 1;

	while (more > 0) {
		if (read_member(scan, object) < 0)
			return -1;
		count++;
		more = read_separator(scan, '}', "',' or '}'");
	}
	return more < 0 ? -1 : check_names(scan, object, count);
}

static void drop_tree(const struct scan *scan, cJSON *tree)
{
	if (scan->arena == NULL)
		cJSON_Delete(tree);
}

static cJSON *read_container(struct scan *scan, int type)
{
	char close = type == cJSON_Array ? ']' : '}';
	cJSON *container;
	int done = 0;

	if (enter(scan) < 0)
		return NULL;
	container = new_node(scan, type);
	if (container == NULL)
		return NULL;
	if (peek(scan) == close)
		scan->at++;
	else
		done = (type == cJSON_Array ? read_elements : read_members)(scan, container);
	scan->depth--;
	if (done < 0) {
		drop_tree(scan, container);
		return NULL;
	}
	return container;
}

static cJSON *read_value(struct scan *scan)
{
	switch (peek(scan)) {
	case '{':
		return read_container(scan, cJSON_Object);
	case '[':
		return read_container(scan, cJSON_Array);
	case '"':
		return read_string_value(scan);
	case 't':
		return read_word(scan, "true", cJSON_True);
	case 'f':
		return read_word(scan, "false", cJSON_False);
	case 'n':
		return read_word(scan, "null", cJSON_NULL);
	case '-':
	case '0' ... '9':
		return read_number(scan);
	default:
		scan_fail_found(scan, "a value");
		return NULL;
	}
}

int scan_text(const char *bytes, size_t len, size_t len_max, struct arena *arena, cJSON **ret_root,
	      struct err *err)
{
	struct scan scan = {bytes, bytes, NULL, 0, err, arena};
	cJSON *root;

	if (len > len_max || len > INT_MAX)
		return err_set(err, ERR_LIMIT, "%zu bytes of JSON, at most %zu are accepted", len,
			       len_max < INT_MAX ? len_max : INT_MAX);
	scan.end = len > 0 ? bytes + len : bytes;
	if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		return scan_fail(&scan, bytes, "a byte order mark: save the text without it");
	root = read_value(&scan);
	if (root == NULL)
		return -1;
	skip_blanks(&scan);
	if (scan.at != scan.end) {
		scan_fail_found(&scan, "the end of the text");
		drop_tree(&scan, root);
		return -1;
	}
	*ret_root = root;
	return 0;
}

int json_parse(const char *bytes, size_t len, size_t len_max, struct json **ret_json,
	       struct err *err)
{
	cJSON *root;

	if (scan_text(bytes, len, len_max, NULL, &root, err) < 0)
		return -1;
	*ret_json = json_of(root);
	return 0;
}

int json_parse_str(const char *text, struct json **ret_json, struct err *err)
{
	size_t len = strlen(text);

	return json_parse(text, len, len, ret_json, err);
}

int json_check(const char *bytes, size_t len, size_t len_max, struct err *err)
{
	struct json *json;

	if (json_parse(bytes, len, len_max, &json, err) < 0)
		return -1;
	json_free(json);
	return 0;
}
