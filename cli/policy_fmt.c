/* writ policy fmt: scope files in their canonical form, in place or as a check. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/policy.h"
#include "policy/format.h"
#include "policy/source.h"

#define FILE_BYTES_MAX (4u << 20)

struct fmt {
	bool check;
	struct json *changed; /* names */
	struct json *refused; /* texts */
	size_t count;
};

static int rewrite(int folder_fd, const char *name, const struct buf *text, struct err *err)
{
	struct stat info;

	if (fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "%s", name);
	return file_replace_at(folder_fd, name, info.st_mode & 07777, text->bytes, text->len, false,
			       err);
}

static int format_one(struct fmt *fmt, int folder_fd, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	CLEANUP(buf_clear) struct buf before = BUF_INIT;
	CLEANUP(buf_clear) struct buf after = BUF_INIT;

	if (file_read_at(folder_fd, name, FILE_BYTES_MAX, &before, err) < 0)
		return -1;
	fmt->count++;
	if (policy_format(path, buf_str(&before), before.len, &after, err) < 0) {
		json_push_str(fmt->refused, err->text);
		return 0;
	}
	if (after.len == before.len && memcmp(after.bytes, before.bytes, after.len) == 0)
		return 0;
	json_push_str(fmt->changed, path);
	return fmt->check ? 0 : rewrite(folder_fd, name, &after, err);
}

static int format_all(struct fmt *fmt, const char *workspace, struct err *err)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(scope_files_clear) struct scope_files files = {0};
	CLEANUP(fd_closep) int fd = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fd_closep) int folder_fd = -1;

	if (fd < 0)
		return err_errno(err, "%s", workspace);
	if (scope_files_load(fd, &files, &problems, err) < 0)
		return -1;
	folder_fd = openat(fd, "scopes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder_fd < 0)
		return err_errno(err, "scopes");
	for (size_t i = 0; i < problems.count; i++)
		json_push_str(fmt->refused, problems.items[i].text);
	for (size_t i = 0; i < files.count; i++)
		if (format_one(fmt, folder_fd, files.items[i].path, err) < 0)
			return -1;
	return 0;
}

static void print(const struct fmt *fmt, bool as_json)
{
	if (as_json) {
		struct json *json = json_object();

		json_set_int(json, "files", (int64_t)fmt->count);
		json_set(json, "changed", json_copy(fmt->changed));
		json_set(json, "refused", json_copy(fmt->refused));
		cli_print_json(json);
		json_free(json);
		return;
	}
	json_each(path, fmt->changed)
		printf("%s%s\n", json_str(path), fmt->check ? " is not in its canonical form" : "");
	json_each(text, fmt->refused) fprintf(stderr, "%s\n", json_str(text));
}

static int run(int argc, char **argv)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	CLEANUP(args_clear) struct args args = {0};
	struct fmt fmt = {0};
	const struct arg_option options[] = {{"--check", &fmt.check, NULL}};
	struct err err = {0};
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code != 0)
		return code;
	fmt.changed = json_array();
	fmt.refused = json_array();
	if (cli_workspace_find(args.workspace, &workspace, &err) < 0 ||
	    format_all(&fmt, workspace, &err) < 0)
		code = cli_fail(EXIT_USAGE, "%s", err.text);
	else
		print(&fmt, args.json);
	if (code == 0 && (json_len(fmt.refused) > 0 || (fmt.check && json_len(fmt.changed) > 0)))
		code = EXIT_NEGATIVE;
	json_free(fmt.changed);
	json_free(fmt.refused);
	return code;
}

const struct policy_command policy_fmt = {
	.name = "fmt",
	.summary = "scope files in their canonical form, comments kept",
	.help = "usage: writ policy fmt [--check] [-C DIR] [--json]\n"
		"\n"
		"Rewrites the scope files: two blanks per level, keys of agents and rules in one\n"
		"order, a blank line between rules, even spacing. Comments stay with what they "
		"stand\n"
		"at. A file of which the meaning would change is left alone and named.\n"
		"\n"
		"  --check  only say which files are not in this form\n"
		"  --json   {files, changed, refused}\n"
		"\n"
		"examples:\n"
		"  writ policy fmt\n"
		"  writ policy fmt --check || echo 'run writ policy fmt'\n"
		"\n"
		"exit: 0 formatted (with --check: all are), 1 some are not or cannot be, 2 wrong "
		"usage\n"
		"or unreadable files\n",
	.run = run,
};
