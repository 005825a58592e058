/*
 * Makes the folder, copies what the service compiles, and changes copies of the databases. What can
 * fail: the file system, a database that cannot be read or is too large; then all of it is removed.
 */
#include "cli/eval/second.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "cli/eval/mutate.h"

#define FILE_BYTES_MAX (16 << 20)
#define DEPTH_MAX 4 /* of folders below scopes/ and the others */
#define REMOVE_FDS 16

/* ---- writ.yaml ---- */

static bool is_left_out(const char *key)
{
	static const char *const keys[] = {"audit", "roles", "sources"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* Where line number (from 1) begins; the end of the text for one behind the last. */
static const char *line_at(const char *text, int number)
{
	for (int line = 1; line < number && *text; line++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static int copy_keys(const char *text, const struct yaml *root, struct buf *out, struct err *err)
{
	size_t count = yaml_len(root);

	for (size_t i = 0; i < count; i++) {
		const struct yaml *key = yaml_key(root, i);
		const struct yaml *next = i + 1 < count ? yaml_key(root, i + 1) : NULL;
		const char *from = line_at(text, yaml_line(key));
		const char *to = next ? line_at(text, yaml_line(next)) : text + strlen(text);

		if (yaml_column(key) != 1 || to <= from)
			return yaml_error(
				key, err,
				"a second state needs the keys of writ.yaml one a line, at "
				"the left");
		if (!is_left_out(yaml_text(key)))
			buf_add(out, from, (size_t)(to - from));
	}
	return 0;
}

int second_writ_yaml(const char *text, size_t len, const struct json *sources, char **ret_text,
		     struct err *err)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(yaml_freep) struct yaml *root = NULL;

	if (yaml_parse("writ.yaml", text, len, &root, err) < 0)
		return -1;
	if (yaml_kind(root) != YAML_MAP)
		return err_set(err, ERR_INVALID, "writ.yaml is no map");
	if (copy_keys(text, root, &out, err) < 0)
		return -1;
	buf_add_str(&out, "\nsources:\n");
	json_each(source, sources) buf_addf(&out, "  %s: {sqlite: data/%s/copy.db}\n",
					    json_key(source), json_key(source));
	*ret_text = buf_take(&out);
	return 0;
}

/* ---- files ---- */

static int make_folder(const char *path, struct err *err)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : err_errno(err, "%s", path);
}

static int copy_file(const char *from, const char *to, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, from, FILE_BYTES_MAX, &bytes, err) < 0)
		return err_wrap(err, "%s", from);
	return file_replace_at(AT_FDCWD, to, 0600, bytes.bytes, bytes.len, false, err);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* A folder that is not there is none; links and what else is no file are left alone. */
static int copy_folder(const char *from, const char *to, int depth, struct err *err)
{
	CLEANUP(close_folder) DIR *folder = opendir(from);
	const struct dirent *entry;

	if (!folder)
		return errno == ENOENT ? 0 : err_errno(err, "%s", from);
	if (make_folder(to, err) < 0)
		return -1;
	while ((entry = readdir(folder)) != NULL) {
		CLEANUP(mem_freep) char *source = mem_format("%s/%s", from, entry->d_name);
		CLEANUP(mem_freep) char *target = mem_format("%s/%s", to, entry->d_name);
		struct stat info;

		if (entry->d_name[0] == '.' || lstat(source, &info) < 0)
			continue;
		if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX) {
			if (copy_folder(source, target, depth + 1, err) < 0)
				return -1;
		} else if (S_ISREG(info.st_mode) && copy_file(source, target, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_settings(const char *workspace, const char *folder, const struct json *sources,
			  struct err *err)
{
	CLEANUP(mem_freep) char *from = mem_format("%s/writ.yaml", workspace);
	CLEANUP(mem_freep) char *to = mem_format("%s/writ.yaml", folder);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(mem_freep) char *changed = NULL;

	if (file_read_at(AT_FDCWD, from, FILE_BYTES_MAX, &text, err) < 0 ||
	    second_writ_yaml(buf_str(&text), text.len, sources, &changed, err) < 0)
		return -1;
	return file_replace_at(AT_FDCWD, to, 0600, changed, strlen(changed), false, err);
}

/* ---- databases ---- */

static int change_source(const char *folder, const struct json *source, int64_t seed,
			 struct json *changes, struct err *err)
{
	CLEANUP(mem_freep) char *place = mem_format("%s/data/%s", folder, json_key(source));
	CLEANUP(mem_freep) char *path = mem_format("%s/copy.db", place);
	CLEANUP(db_closep) struct db *db = NULL;
	struct json *of_source = NULL;

	if (make_folder(place, err) < 0)
		return -1;
	if (db_open_copy(json_get_str(source, "path"), path, SECOND_BYTES_MAX, &db, err) < 0 ||
	    mutate(db, seed, &of_source, err) < 0)
		return err_wrap(err, "source %s", json_key(source));
	json_set(changes, json_key(source), of_source);
	return 0;
}

static int change_sources(const char *folder, const struct json *sources, int64_t seed,
			  struct json *changes, struct err *err)
{
	CLEANUP(mem_freep) char *place = mem_format("%s/data", folder);

	if (make_folder(place, err) < 0)
		return -1;
	json_each(source, sources)
	{
		const char *kind = json_get_str(source, "kind");

		if (!kind || strcmp(kind, "sqlite") != 0)
			return err_set(err, ERR_INVALID,
				       "source %s is of kind %s, and only SQLite can be copied",
				       json_key(source), kind ? kind : "none");
		if (change_source(folder, source, seed, changes, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

static int fill(const char *workspace, const char *folder, const struct json *sources, int64_t seed,
		struct json *changes, struct err *err)
{
	static const char *const copied[] = {"scopes", "metrics"};

	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		CLEANUP(mem_freep) char *from = mem_format("%s/%s", workspace, copied[i]);
		CLEANUP(mem_freep) char *to = mem_format("%s/%s", folder, copied[i]);

		if (copy_folder(from, to, 0, err) < 0)
			return -1;
	}
	if (write_settings(workspace, folder, sources, err) < 0)
		return -1;
	return change_sources(folder, sources, seed, changes, err);
}

int second_make(const char *workspace, const struct json *sources, int64_t seed,
		struct second *ret_second, struct err *err)
{
	const char *above = getenv("TMPDIR");
	CLEANUP(mem_freep)
	char *wanted = mem_format("%s/writ-eval.XXXXXX", above && above[0] == '/' ? above : "/tmp");
	struct second second = {.changes = json_object()};
	char *real;

	if (!mkdtemp(wanted)) {
		json_free(second.changes);
		return err_errno(err, "%s", wanted);
	}
	real = realpath(wanted, NULL);
	second.folder = mem_str(real ? real : wanted);
	free(real);
	if (fill(workspace, second.folder, sources, seed, second.changes, err) < 0) {
		second_remove(&second);
		return -1;
	}
	*ret_second = second;
	return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	IGNORE(remove(path) < 0, "what cannot be removed is our own, in a temporary folder");
	return 0;
}

void second_remove(struct second *second)
{
	if (second->folder)
		IGNORE(nftw(second->folder, remove_one, REMOVE_FDS, FTW_DEPTH | FTW_PHYS) != 0,
		       "as above");
	mem_free(second->folder);
	json_free(second->changes);
	*second = (struct second){0};
}
