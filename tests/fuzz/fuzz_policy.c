/*
 * The compiler under arbitrary scope files. With a mistake nothing comes out; without one the
 * bundle reads back, and compiling again gives the same bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "policy/compile.h"
#include "tests/fuzz/fuzz.h"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* A workspace in memory where there is one, else in a temporary folder; removed at the end. */
static char folder[] = "/tmp/fuzz-policy-XXXXXX";
static char memory_folder[] = "/dev/shm/fuzz-policy-XXXXXX";
static char *workspace;
static int workspace_fd = -1, scopes_fd;

static void leave(void)
{
	unlinkat(scopes_fd, "x.yaml", 0);
	unlinkat(workspace_fd, "scopes", AT_REMOVEDIR);
	rmdir(workspace);
}

static void begin(void)
{
	workspace = mkdtemp(memory_folder);
	if (workspace == NULL)
		workspace = mkdtemp(folder);
	if (workspace == NULL)
		abort();
	workspace_fd = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdirat(workspace_fd, "scopes", 0700);
	scopes_fd = openat(workspace_fd, "scopes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	atexit(leave);
}

static bool compile(struct buf *bytes)
{
	static const char catalog[] =
		"{\"db\":{\"tables\":[{\"name\":\"t\",\"kind\":\"table\",\"columns\":[{\"name\":"
		"\"a\"},{\"name\":\"b\"}]}]}}";
	static const char *const names[] = {"db", "sales"};
	static const struct names databases = {names, 2};
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(json_freep) struct json *catalogs = NULL;
	struct policy_world world = {.databases = &databases};
	struct err err;

	if (json_parse_str(catalog, &catalogs, &err) < 0)
		abort();
	world.catalogs = catalogs;
	if (policy_compile(workspace_fd, &world, bytes, &problems, &err) < 0)
		demand(strstr(err.text, "does not read back") == NULL,
		       "what the compiler writes the broker can read");
	demand(problems.error_count == 0 || bytes->len == 0, "with a mistake nothing comes out");
	return bytes->len > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(buf_clear) struct buf first = BUF_INIT;
	CLEANUP(buf_clear) struct buf second = BUF_INIT;
	int fd;

	if (workspace_fd < 0)
		begin();
	fd = openat(scopes_fd, "x.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || file_write_all(fd, bytes, len, NULL) < 0)
		abort();
	close(fd);
	if (!compile(&first))
		return 0;
	demand(compile(&second) && first.len == second.len &&
		       memcmp(first.bytes, second.bytes, first.len) == 0,
	       "the same files give the same bytes");
	return 0;
}
