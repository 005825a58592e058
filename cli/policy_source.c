/*
 * One policy by the name people give it: "files", "live", the first figures of a hash, a workspace,
 * or a file with the bytes of a bundle.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/policy.h"

#define BUNDLE_FILE_MAX (32u << 20)
#define HASH_FIGURES_MIN 6

void policy_source_clear(struct policy_source *source)
{
	bundle_free(source->bundle);
	json_free(source->json);
	mem_free(source->label);
	memset(source, 0, sizeof(*source));
}

static int read_bytes(const struct buf *bytes, struct policy_source *source, struct err *err)
{
	if (bundle_read(bytes->bytes, bytes->len, &source->bundle, err) < 0 ||
	    json_parse(bytes->bytes, bytes->len, bytes->len, &source->json, err) < 0)
		return err_wrap(err, "%s is no bundle", source->label);
	return 0;
}

static int read_bundle_file(int dir_fd, const char *name, struct policy_source *source)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct err err = {0};

	if (file_read_at(dir_fd, name, BUNDLE_FILE_MAX, &bytes, &err) < 0 ||
	    read_bytes(&bytes, source, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s: %s", source->label, err.text);
	return EXIT_FINE;
}

static int read_workspace(const struct args *args, const char *path, struct policy_source *source)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	struct args there = *args;
	int code;

	if (path != NULL)
		there.workspace = path;
	code = policy_files_want(&there, POLICY_WITH_DATA, &files);
	if (code != EXIT_FINE)
		return code;
	source->bundle = TAKE(files.bundle);
	source->json = TAKE(files.json);
	return EXIT_FINE;
}

int policy_folder_open(const struct args *args, int *ret_fd)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	CLEANUP(mem_freep) char *path = NULL;
	struct err err = {0};

	if (cli_workspace_find(args->workspace, &workspace, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	path = mem_format("%s/state/config/policy", workspace);
	*ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd >= 0)
		return EXIT_FINE;
	err_errno(&err, "%s", path);
	return cli_fail(EXIT_USAGE, "%s (only the owner can look, and only once it was compiled)",
			err.text);
}

static bool is_hash(const char *name, size_t least)
{
	size_t len = strlen(name);

	return len >= least && len <= SHA256_HEX_LEN && strspn(name, "0123456789abcdef") == len;
}

int policy_hash_find(int folder_fd, const char *start, char ret_hash[SHA256_HEX_LEN + 1])
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t found = 0;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (strlen(entry->d_name) != SHA256_HEX_LEN + 5 ||
		    strcmp(entry->d_name + SHA256_HEX_LEN, ".json") != 0 ||
		    strncmp(entry->d_name, start, strlen(start)) != 0)
			continue;
		memcpy(ret_hash, entry->d_name, SHA256_HEX_LEN);
		ret_hash[SHA256_HEX_LEN] = '\0';
		found++;
	}
	if (folder != NULL)
		closedir(folder);
	if (found == 1)
		return EXIT_FINE;
	return cli_fail(EXIT_USAGE,
			found == 0
				? "no bundle of this workspace begins with %s; see writ policy log"
				: "several bundles begin with %s: give more of the hash",
			start);
}

static int read_active(int folder_fd, char ret_hash[SHA256_HEX_LEN + 1])
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	struct err err = {0};

	if (file_read_at(folder_fd, "active", 128, &line, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	if (line.len != SHA256_HEX_LEN + 1)
		return cli_fail(EXIT_USAGE, "state/config/policy/active names no bundle");
	memcpy(ret_hash, line.bytes, SHA256_HEX_LEN);
	ret_hash[SHA256_HEX_LEN] = '\0';
	return EXIT_FINE;
}

static int read_stored(const struct args *args, const char *name, struct policy_source *source)
{
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(mem_freep) char *file = NULL;
	char hash[SHA256_HEX_LEN + 1];
	int code = policy_folder_open(args, &fd);

	if (code == EXIT_FINE)
		code = strcmp(name, "live") == 0 ? read_active(fd, hash)
						 : policy_hash_find(fd, name, hash);
	if (code != EXIT_FINE)
		return code;
	file = mem_format("%s.json", hash);
	return read_bundle_file(fd, file, source);
}

int policy_source_open(const struct args *args, const char *name, struct policy_source *ret_source)
{
	struct policy_source source = {.label = mem_str(name)};
	struct stat info;
	int code;

	if (strcmp(name, "files") == 0)
		code = read_workspace(args, NULL, &source);
	else if (strcmp(name, "live") == 0 || is_hash(name, HASH_FIGURES_MIN))
		code = read_stored(args, name, &source);
	else if (stat(name, &info) == 0 && S_ISDIR(info.st_mode))
		code = read_workspace(args, name, &source);
	else
		code = read_bundle_file(AT_FDCWD, name, &source);
	if (code != EXIT_FINE) {
		policy_source_clear(&source);
		return code;
	}
	*ret_source = source;
	return EXIT_FINE;
}
