/* Lists a folder. What can fail: opening it, more files than anyone has. */
#include "agents/query/metrics/source_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static bool yaml_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static int by_name(const void *a, const void *b)
{
	const char *const *one = a;
	const char *const *other = b;

	return strcmp(*one, *other);
}

void source_files_clear(struct source_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		mem_free(files->names[i]);
	mem_free(files->names);
}

static void dir_closep(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int source_files_list(int workspace_fd, const char *folder, struct source_files *files,
		      struct err *err)
{
	int fd = openat(workspace_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(dir_closep) DIR *dir = NULL;
	const struct dirent *entry;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, "%s", folder);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(err, "%s", folder);
	}
	while ((entry = readdir(dir)) != NULL) {
		if (!yaml_name(entry->d_name))
			continue;
		if (files->count == SOURCE_FILES_MAX)
			return err_set(err, ERR_LIMIT, "%s: more than %d files", folder,
				       SOURCE_FILES_MAX);
		files->names = mem_grow(files->names, (files->count + 1) * sizeof(char *));
		files->names[files->count++] = mem_str(entry->d_name);
	}
	if (files->count > 1)
		qsort(files->names, files->count, sizeof(char *), by_name);
	return 0;
}
