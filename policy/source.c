/*
 * Finds and reads scope files. The folder is opened once, without following a link, and each file
 * from it; what people write and would be passed over (sales.yml) is a problem, not a surprise.
 */
#include "policy/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "policy/guard.h"

#define SCOPE_BYTES_MAX (4u << 20)

static void close_folderp(DIR **folder)
{
	if (*folder != NULL)
		closedir(*folder);
}

static bool ends_with(const char *name, const char *ending)
{
	size_t len = strlen(name);
	size_t end = strlen(ending);

	return len > end && strcmp(name + len - end, ending) == 0;
}

static int compare_files(const void *left, const void *right)
{
	const struct scope_file *a = left;
	const struct scope_file *b = right;

	return strcmp(a->path, b->path);
}

static void note_name(struct scope_files *files, const char *name, struct problems *problems)
{
	if (name[0] == '.')
		return;
	if (ends_with(name, ".yml") || ends_with(name, ".json"))
		problems_add(
			problems, PROBLEM_ERROR, "passed_over", NULL,
			"scopes/%.200s is no scope file by its name; rename it to end in .yaml",
			name);
	if (!ends_with(name, ".yaml"))
		return;
	files->items = mem_grow(files->items, (files->count + 1) * sizeof(*files->items));
	files->items[files->count++] = (struct scope_file){mem_format("scopes/%s", name), NULL};
}

static int list_names(DIR *folder, struct scope_files *files, struct problems *problems,
		      struct err *err)
{
	const struct dirent *entry;

	errno = 0;
	while ((entry = readdir(folder)) != NULL) {
		if (files->count == SCOPE_FILES_MAX)
			return err_set(err, ERR_LIMIT, "scopes: more than %u scope files",
				       SCOPE_FILES_MAX);
		note_name(files, entry->d_name, problems);
		errno = 0;
	}
	if (errno != 0)
		return err_errno(err, "read the folder scopes");
	if (files->count > 0)
		qsort(files->items, files->count, sizeof(*files->items), compare_files);
	return 0;
}

/* A file with mistakes is a problem of its own; the others are read all the same. */
static void read_file(int folder_fd, uid_t owner, struct scope_file *file,
		      struct problems *problems)
{
	const char *name = file->path + strlen("scopes/");
	struct buf bytes = BUF_INIT;
	struct err err = {0};

	if (guard_file(folder_fd, name, file->path, owner, &err) < 0)
		problems_add_err(problems, "writable_by_others", &err);
	else if (file_read_at(folder_fd, name, SCOPE_BYTES_MAX, &bytes, &err) < 0)
		problems_add_err(problems, "unreadable", &err);
	else if (yaml_parse(file->path, buf_str(&bytes), bytes.len, &file->root, &err) < 0)
		problems_add_err(problems, "yaml", &err);
	buf_clear(&bytes);
}

static void keep_readable(struct scope_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].root != NULL)
			files->items[kept++] = files->items[i];
		else
			mem_free(files->items[i].path);
	}
	files->count = kept;
}

int scope_files_load(int workspace_fd, struct scope_files *ret_files, struct problems *problems,
		     struct err *err)
{
	CLEANUP(scope_files_clear) struct scope_files files = {0};
	CLEANUP(close_folderp) DIR *folder = NULL;
	struct stat workspace;
	int fd;

	if (fstat(workspace_fd, &workspace) < 0)
		return err_errno(err, "the workspace");
	fd = openat(workspace_fd, "scopes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return err_errno(err, "open the folder scopes");
	if (fd >= 0) {
		folder = fdopendir(fd);
		if (folder == NULL) {
			close(fd);
			return err_errno(err, "read the folder scopes");
		}
		if (guard_folder(fd, "scopes", workspace.st_uid, err) < 0 ||
		    list_names(folder, &files, problems, err) < 0)
			return -1;
	}
	if (files.count == 0)
		problems_add(
			problems, PROBLEM_ERROR, "no_scope", NULL,
			"scopes/ holds no scope file (*.yaml): nothing says what agents may do");
	for (size_t i = 0; i < files.count; i++)
		read_file(fd, workspace.st_uid, &files.items[i], problems);
	keep_readable(&files);
	*ret_files = files;
	files = (struct scope_files){0};
	return 0;
}

void scope_files_clear(struct scope_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		mem_free(files->items[i].path);
		yaml_free(files->items[i].root);
	}
	mem_free(files->items);
	*files = (struct scope_files){0};
}
