/* writ policy compile: the canonical bytes of the files' bundle, named by their hash. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/policy.h"

/* Into a file of the same folder first, so that nobody reads half of it. */
static int write_file(const char *path, const struct buf *bytes)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(mem_freep)
	char *folder = slash == NULL ? mem_str(".") : mem_strn(path, (size_t)(slash - path) + 1);
	CLEANUP(fd_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = {0};

	if (fd < 0) {
		err_errno(&err, "%s", folder);
		return cli_fail(EXIT_USAGE, "%s", err.text);
	}
	if (file_replace_at(fd, slash == NULL ? path : slash + 1, 0644, bytes->bytes, bytes->len,
			    false, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	CLEANUP(args_clear) struct args args = {0};
	const char *path = NULL;
	const struct arg_option options[] = {{"-o", NULL, &path}};
	struct json *json;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code == 0)
		code = policy_files_want(&args, POLICY_WITH_DATA, &files);
	if (code == 0 && path != NULL && strcmp(path, "-") != 0)
		code = write_file(path, &files.bytes);
	if (code != 0)
		return code;
	if (path != NULL && strcmp(path, "-") == 0) {
		fwrite(files.bytes.bytes, 1, files.bytes.len, stdout);
		return fflush(stdout) == 0 ? EXIT_FINE : EXIT_UNAVAILABLE;
	}
	if (!args.json) {
		printf("%s\n", bundle_digest(files.bundle));
		return EXIT_FINE;
	}
	json = json_object();
	json_set_str(json, "digest", bundle_digest(files.bundle));
	json_set_int(json, "bytes", (int64_t)files.bytes.len);
	json_set_str(json, "file", path);
	cli_print_json(json);
	json_free(json);
	return EXIT_FINE;
}

const struct policy_command policy_compile_command = {
	.name = "compile",
	.summary = "the bundle of the files: canonical bytes and their hash",
	.help = "usage: writ policy compile [-o FILE] [-C DIR] [--json]\n"
		"\n"
		"Prints the SHA-256 that names the bundle. The same files give the same bytes on\n"
		"every machine: canonical JSON, agents by name, rules by file and as written.\n"
		"\n"
		"  -o FILE  write the bytes there as well; - writes them to stdout and nothing "
		"else\n"
		"  --json   {digest, bytes, file}\n"
		"\n"
		"examples:\n"
		"  writ policy compile -C examples/sales -o sales.bundle\n"
		"  writ policy compile -o - | sha256sum\n"
		"\n"
		"exit: 0 compiled, 1 the files have mistakes, 2 wrong usage or unreadable files\n",
	.run = run,
};
