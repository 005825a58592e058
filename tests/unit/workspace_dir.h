/* A workspace in a temporary folder, for tests of what reads one. */
#ifndef TEST_WORKSPACE_DIR_H
#define TEST_WORKSPACE_DIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

struct workspace_dir {
	char path[64];
	int fd;
};

static inline struct workspace_dir workspace_dir_make(void)
{
	struct workspace_dir dir = {"/tmp/writ-test-XXXXXX", -1};

	umask(022);
	if (mkdtemp(dir.path) == NULL)
		abort();
	dir.fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir;
}

static inline int workspace_dir_remove_one(const char *path, const struct stat *info, int kind,
					   struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(path);
}

static inline void workspace_dir_remove(struct workspace_dir *dir)
{
	close(dir->fd);
	nftw(dir->path, workspace_dir_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders in front of the name as well. */
static inline void workspace_dir_put(const struct workspace_dir *dir, const char *name,
				     const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(dir->fd, path, 0755);
		*slash = '/';
	}
	file = fdopen(openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "w");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

/* A file of the source tree, by $WRIT_SOURCE. The caller frees it. */
static inline char *source_file(const char *name)
{
	const char *root = getenv("WRIT_SOURCE");
	int fd = open(root == NULL ? "." : root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf text = BUF_INIT;
	struct err err = {0};

	if (file_read_at(fd, name, 1 << 20, &text, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	close(fd);
	return buf_take(&text);
}

#endif
