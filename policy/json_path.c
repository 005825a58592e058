/* Reads a path strictly; what is not understood is an error, since a path that silently meant
 * nothing would be a condition that silently is none. */
#include "policy/json_path.h"

#include <stdlib.h>
#include <string.h>

void json_path_clear(struct json_path *path)
{
	for (size_t i = 0; i < path->count; i++)
		mem_free(path->steps[i].name);
	mem_free(path->steps);
	*path = (struct json_path){0};
}

static int add(struct json_path *path, enum step_kind kind, struct json_step **ret_step,
	       struct err *err)
{
	if (path->count == JSON_PATH_STEPS_MAX)
		return err_set(err, ERR_LIMIT, "a path has at most %u steps", JSON_PATH_STEPS_MAX);
	*ret_step = &path->steps[path->count++];
	(*ret_step)->kind = kind;
	return 0;
}

static int read_name(struct json_path *path, const char **text, struct err *err)
{
	size_t len = strcspn(*text, ".[]");
	struct json_step *step;

	if (len == 0)
		return err_set(err, ERR_INVALID, "a name is missing in the path");
	if (add(path, STEP_NAME, &step, err) < 0)
		return -1;
	step->name = mem_strn(*text, len);
	*text += len;
	return 0;
}

static int read_bracket(struct json_path *path, const char **text, struct err *err)
{
	size_t digits = strspn(*text + 1, "0123456789");
	const char *close = *text + 1 + digits;
	struct json_step *step;

	if (strncmp(*text, "[*]", 3) == 0) {
		*text += 3;
		return add(path, STEP_EACH, &step, err);
	}
	if (digits == 0 || digits > 6 || *close != ']')
		return err_set(
			err, ERR_INVALID,
			"in a path, brackets hold * or a number up to %u: items[*], items[0]",
			JSON_PATH_INDEX_MAX);
	if (add(path, STEP_INDEX, &step, err) < 0)
		return -1;
	step->index = (uint32_t)strtoul(*text + 1, NULL, 10);
	*text = close + 1;
	return 0;
}

int json_path_read(const char *text, struct json_path *ret_path, struct err *err)
{
	CLEANUP(json_path_clear)
	struct json_path path = {mem_array(JSON_PATH_STEPS_MAX, sizeof(*path.steps)), 0};

	if (read_name(&path, &text, err) < 0)
		return -1;
	while (*text != '\0') {
		if (*text == '[') {
			if (read_bracket(&path, &text, err) < 0)
				return -1;
			continue;
		}
		if (*text != '.')
			return err_set(err, ERR_INVALID, "in a path, \"]\" closes nothing");
		text++;
		if (read_name(&path, &text, err) < 0)
			return -1;
	}
	*ret_path = path;
	path = (struct json_path){0};
	return 0;
}
