/*
 * Where the data lies. A connector sees the whole folder of its file (databases keep journals
 * beside it), so that folder must hold nothing of the service and nothing of another source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/workspace_parts.h"

static void free_path(char **path)
{
	free(*path);
}

/* Is path folder itself, or below it? */
static bool lies_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool lies_in_ours(const char *folder, const char *workspace)
{
	static const char *const ours[] = {"state", "run", "scopes", "metrics", "queries"};

	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		CLEANUP(mem_freep) char *path = mem_format("%s/%s", workspace, ours[i]);

		if (lies_in(folder, path))
			return true;
	}
	return false;
}

/* path is absolute, without links. */
static bool check_folder(struct check *check, const struct yaml *node, const char *path,
			 const char *workspace, const struct json *sources)
{
	CLEANUP(mem_freep) char *folder = mem_strn(path, (size_t)(strrchr(path, '/') - path));

	if (lies_in(workspace, folder) || lies_in_ours(folder, workspace)) {
		check_fail(check, "bad_place", node,
			   "data must lie in a folder of its own, such as data/: the connector can "
			   "read all of that folder");
		return false;
	}
	json_each(other, sources)
	{
		const char *known = json_get_str(other, "path");
		CLEANUP(mem_freep) char *beside = NULL;

		if (known == NULL)
			continue;
		beside = mem_strn(known, (size_t)(strrchr(known, '/') - known));
		if (!lies_in(beside, folder) && !lies_in(folder, beside))
			continue;
		check_fail(check, "bad_place", node,
			   "source %s lies in the same folder: each connector can read all of its "
			   "folder, so give each source one of its own",
			   json_key(other));
		return false;
	}
	return true;
}

static bool is_inside(const char *text)
{
	const char *at = text;

	if (text[0] == '/')
		return true; /* an absolute path may lie anywhere */
	while (at != NULL) {
		size_t len = strcspn(at, "/");

		if (len == 2 && strncmp(at, "..", 2) == 0)
			return false;
		at = at[len] == '/' ? at + len + 1 : NULL;
	}
	return true;
}

/* The file's path without links, or NULL with a problem. */
static char *resolve(struct check *check, const struct yaml *node, const char *text,
		     const char *workspace, int flags)
{
	CLEANUP(mem_freep)
	char *wanted = text[0] == '/' ? mem_str(text) : mem_format("%s/%s", workspace, text);
	CLEANUP(free_path) char *real = NULL;
	struct stat info;

	if (!is_inside(text)) {
		check_fail(check, "bad_place", node, "\"..\" leads out of the workspace");
		return NULL;
	}
	real = realpath(wanted, NULL);
	if (real == NULL && errno == ENOENT && (flags & WORKSPACE_NO_DATA) != 0)
		return TAKE(wanted);
	if (real == NULL || stat(real, &info) < 0) {
		check_fail(check, "unreadable", node, "%.200s: %s", text,
			   errno == ENOENT ? "there is no such file" : strerror(errno));
		return NULL;
	}
	if (text[0] != '/' && !lies_in(real, workspace)) {
		check_fail(check, "bad_place", node,
			   "a link leads out of the workspace, to %.200s; write that path instead",
			   real);
		return NULL;
	}
	if (!S_ISREG(info.st_mode)) {
		check_fail(check, "bad_value", node, "%.200s is no regular file", text);
		return NULL;
	}
	return mem_str(real);
}

/* The path as written, where a link makes it another than the file's: for who must know whether it
 * leads there still (cli/compiled.h). */
static void add_way(struct json *json, const char *text, const char *workspace, const char *path)
{
	CLEANUP(mem_freep)
	char *written = text[0] == '/' ? mem_str(text) : mem_format("%s/%s", workspace, text);

	if (strcmp(written, path) != 0)
		json_set_str(json, "through", written);
}

static void read_source(struct check *check, const struct yaml *key, const struct yaml *value,
			const char *workspace, int flags, struct json *sources)
{
	static const char *const kinds[] = {"sqlite", NULL};
	const char *name = check_name(check, key, "the name of a source");
	CLEANUP(mem_freep) char *what = mem_format("source %s", yaml_text(key));
	CLEANUP(mem_freep) char *path = NULL;
	const struct yaml *node;
	const char *text;
	struct json *json;

	if (name == NULL || !check_map(check, value, what, kinds))
		return;
	node = check_member(check, value, what, "sqlite", "sqlite: data/sales.db");
	text = check_text(check, node, "the path of a database");
	if (text != NULL)
		path = resolve(check, node, text, workspace, flags);
	if (path == NULL || !check_folder(check, node, path, workspace, sources))
		return;
	json = json_object();
	json_set_str(json, "kind", "sqlite");
	json_set_str(json, "path", path);
	add_way(json, text, workspace, path);
	json_set(sources, name, json);
}

struct json *workspace_sources(struct check *check, const struct yaml *node, const char *path,
			       int flags)
{
	struct json *sources = json_object();

	if (node == NULL)
		return sources;
	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP || yaml_len(node) == 0) {
		check_fail(check, "wrong_type", node,
			   "sources must be a map like {sales: {sqlite: data/sales.db}}");
		return sources;
	}
	for (size_t i = 0; i < yaml_len(node); i++)
		read_source(check, yaml_key(node, i), yaml_value(node, i), path, flags, sources);
	return sources;
}
