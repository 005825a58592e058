/*
 * fault_drive kill|each|cut PROGRAMS SCRATCH ROUNDS: what happens to the writer of the audit log,
 * and after each of it: the next start finds every record that was acknowledged and the log
 * verifies, or the writer refused to go on. PROGRAMS is the build's folder, SCRATCH an empty one.
 *
 *   kill  kill -9 at a random moment under load, on the same log again and again
 *   each  every single file system call fails in turn, in four ways; ROUNDS is a stride: 1 for all
 *   cut   a power cut at a random moment: what was not synced is lost, kept, half kept, or NULs
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

static const char *programs;
static char *workspace;
static char *shadow;
static unsigned int random_state = 4711;

static unsigned int dice(unsigned int sides)
{
	return (unsigned int)rand_r(&random_state) % sides;
}

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
	va_list args;
	char command[2048];

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

struct fault {
	long at;
	const char *how;
	bool shadowed;
	int kill_ms; /* 0: let it end */
};

struct run {
	uint64_t found;
	uint64_t acked; /* the highest number, plus one */
	size_t count;
	int status;
};

static void become_load(const struct fault *fault, int out, unsigned int in_flight,
			unsigned int count)
{
	CLEANUP(mem_freep) char *load = mem_format("%s/tests/log_load", programs);
	CLEANUP(mem_freep) char *signer = mem_format("%s/bin/writ-signer", programs);
	CLEANUP(mem_freep) char *shim = mem_format("%s/tests/libfault_shim.so", programs);
	CLEANUP(mem_freep) char *under = mem_format("%s/state/audit", workspace);
	CLEANUP(mem_freep) char *tell = mem_format("%s.calls", workspace);
	char numbers[3][24];
	int null = open("/dev/null", O_WRONLY);

	dup2(out, STDOUT_FILENO);
	if (getenv("FAULT_VERBOSE") == NULL)
		dup2(null, STDERR_FILENO);
	snprintf(numbers[0], sizeof(numbers[0]), "%u", in_flight);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", count);
	snprintf(numbers[2], sizeof(numbers[2]), "%ld", fault->at);
	setenv("LOG_SEGMENT_BYTES", "6000", 1);
	if (fault->how != NULL || fault->shadowed) {
		setenv("LD_PRELOAD", shim, 1);
		setenv("FAULT_UNDER", under, 1);
		setenv("FAULT_TELL", tell, 1);
		setenv("FAULT_AT", numbers[2], 1);
		setenv("FAULT_HOW", fault->how == NULL ? "none" : fault->how, 1);
	}
	if (fault->shadowed)
		setenv("CUT_SHADOW", shadow, 1);
	execl(load, load, workspace, signer, numbers[0], numbers[1], "acked", (char *)NULL);
	_exit(127);
}

/* All that it acknowledged, whatever became of it. */
static struct run run_load(const struct fault *fault, unsigned int in_flight, unsigned int count)
{
	struct run run = {.found = UINT64_MAX};
	uint64_t seq;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		exit(1);
	pid = fork();
	if (pid == 0)
		become_load(fault, ends[1], in_flight, count);
	close(ends[1]);
	if (fault->kill_ms > 0 && fork() == 0) {
		usleep((useconds_t)fault->kill_ms * 1000 + dice(1000));
		kill(pid, SIGKILL);
		_exit(0);
	}
	while (read(ends[0], &seq, sizeof(seq)) == (ssize_t)sizeof(seq)) {
		if (run.found == UINT64_MAX) {
			run.found = seq;
			continue;
		}
		run.count++;
		if (seq + 1 > run.acked)
			run.acked = seq + 1;
	}
	close(ends[0]);
	waitpid(pid, &run.status, 0);
	if (fault->kill_ms > 0)
		wait(NULL);
	return run;
}

static int failures;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	failures++;
}

static int verify(void)
{
	char command[1024];
	int status;

	snprintf(command, sizeof(command),
		 "%s/bin/writ audit verify %s/state/audit --key %s/audit.pub >%s.verify 2>&1",
		 programs, workspace, workspace, workspace);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* After whatever happened: a start without faults finds all that was acknowledged. */
static void check_recovery(const char *what, uint64_t acked)
{
	struct fault none = {.at = 0};
	struct run run = run_load(&none, 1, 2);
	int verdict;

	if (run.found == UINT64_MAX) {
		complain("%s: the next start failed with status %x", what, (unsigned)run.status);
		return;
	}
	if (run.found < acked)
		complain("%s: %llu records are there, %llu were acknowledged", what,
			 (unsigned long long)run.found, (unsigned long long)acked);
	if (run.count != 2 || run.status != 0)
		complain("%s: the log does not go on (status %x)", what, (unsigned)run.status);
	verdict = verify();
	if (verdict != 0)
		complain("%s: writ audit verify says %d, see %s.verify", what, verdict, workspace);
}

static void drive_kill(unsigned int rounds)
{
	uint64_t acked = 0;
	uint64_t total = 0;

	for (unsigned int i = 0; i < rounds && failures == 0; i++) {
		struct fault fault = {.kill_ms = 1 + (int)dice(120)};
		struct run run = run_load(&fault, 1 + dice(64), 0);

		if (run.found != UINT64_MAX && run.found < acked)
			complain("kill %u: %llu records are there, %llu were acknowledged", i,
				 (unsigned long long)run.found, (unsigned long long)acked);
		if (run.acked > acked)
			acked = run.acked;
		total += run.count;
		if (run.found == UINT64_MAX && !WIFSIGNALED(run.status))
			complain("kill %u: a start failed with status %x", i, (unsigned)run.status);
		if (i % 50 == 49)
			check_recovery("kill", acked);
	}
	check_recovery("kill", acked);
	printf("# %u kills, %llu records acknowledged, none lost\n", rounds,
	       (unsigned long long)total);
}

static long calls_made(void)
{
	CLEANUP(mem_freep) char *path = mem_format("%s.calls", workspace);
	FILE *file = fopen(path, "r");
	long calls = 0;

	if (file == NULL || fscanf(file, "%ld", &calls) != 1)
		calls = 0;
	if (file != NULL)
		fclose(file);
	return calls;
}

static const char *const hows[] = {"EIO", "ENOSPC", "EINTR", "short"};

/* One life of the log from the same beginning: a start, some rolls, a stop. */
static struct run one_life(const struct fault *fault, bool unclean)
{
	shell("rm -rf %s && cp -a %s.%s %s", workspace, workspace, unclean ? "killed" : "clean",
	      workspace);
	return run_load(fault, 4, 60);
}

static void make_beginnings(void)
{
	struct fault none = {.at = 0};
	struct fault killed = {.kill_ms = 150};

	shell("rm -rf %s*", workspace);
	run_load(&none, 4, 60);
	shell("cp -a %s %s.clean", workspace, workspace);
	run_load(&killed, 4, 0);
	shell("cp -a %s %s.killed", workspace, workspace);
}

static void drive_each(unsigned int stride)
{
	unsigned int refused = 0;
	unsigned int lives = 0;

	make_beginnings();
	for (int unclean = 0; unclean < 2; unclean++) {
		struct fault none = {.at = 0, .how = "none"};
		struct run whole = one_life(&none, unclean != 0);
		long calls = calls_made();

		if (whole.count != 60 || calls < 50)
			complain("without a fault: %zu records, %ld calls", whole.count, calls);
		for (size_t how = 0; how < ARRAY_LEN(hows); how++) {
			for (long at = 1 + (long)how; at <= calls; at += stride) {
				struct fault fault = {.at = at, .how = hows[how]};
				struct run run = one_life(&fault, unclean != 0);
				char what[64];

				snprintf(what, sizeof(what), "%s of call %ld (%s start)", hows[how],
					 at, unclean != 0 ? "unclean" : "clean");
				if (WIFSIGNALED(run.status))
					complain("%s: it died of signal %d", what,
						 WTERMSIG(run.status));
				refused += run.status != 0;
				lives++;
				check_recovery(what, run.acked);
			}
		}
	}
	printf("# %u lives with one failed call each, %u of them refused to go on\n", lives,
	       refused);
}

/* ---- power cuts ---- */

struct bytes {
	char *at;
	size_t len;
	bool there;
};

static struct bytes slurp(const char *path)
{
	struct bytes bytes = {.there = false};
	int fd = open(path, O_RDONLY);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return bytes;
	bytes.at = mem_alloc((size_t)stat.st_size + 1);
	bytes.len = (size_t)read(fd, bytes.at, (size_t)stat.st_size);
	bytes.there = true;
	close(fd);
	return bytes;
}

static void spill(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len) {
		perror(path);
		exit(1);
	}
	close(fd);
}

/* What was not synced is lost, there, there in part, or there as NULs. Only appending is looked at
 * as a continuation: everything else is one or the other. */
static void cut_file(const char *from, unsigned long inode, const char *to)
{
	CLEANUP(mem_freep) char *kept = mem_format("%s/i%lu", shadow, inode);
	struct bytes synced = slurp(kept);
	struct bytes now = slurp(from);
	struct stat stat_now;
	size_t more = now.len > synced.len ? now.len - synced.len : 0;
	bool same = stat(from, &stat_now) == 0 && (unsigned long)stat_now.st_ino == inode;

	if (!same) { /* replaced or removed since: only the old state is known */
		spill(to, synced.at, synced.len);
	} else if (more > 0 && (synced.len == 0 || memcmp(now.at, synced.at, synced.len) == 0)) {
		size_t extra = dice((unsigned int)more + 1);

		if (dice(3) == 0)
			memset(now.at + synced.len, 0, extra);
		spill(to, now.at, synced.len + (dice(3) == 0 ? 0 : extra));
	} else {
		const struct bytes *which = synced.there && dice(2) == 0 ? &synced : &now;

		spill(to, which->at, which->len);
	}
	mem_free(synced.at);
	mem_free(now.at);
}

static void cut_folder(const char *from, const char *to);

static void cut_entry(const char *from, const char *to, const char *name, unsigned long inode,
		      bool folder)
{
	CLEANUP(mem_freep) char *inner_from = mem_format("%s/%s", from, name);
	CLEANUP(mem_freep) char *inner_to = mem_format("%s/%s", to, name);

	if (folder)
		cut_folder(inner_from, inner_to);
	else
		cut_file(inner_from, inode, inner_to);
}

/* The names as they were last synced, or as they are now. */
static void cut_folder(const char *from, const char *to)
{
	struct stat stat_of;
	CLEANUP(mem_freep) char *names = NULL;
	char line[512];
	FILE *file;

	if (stat(from, &stat_of) < 0)
		return;
	mkdir(to, 0700);
	names = mem_format("%s/d%lu", shadow, (unsigned long)stat_of.st_ino);
	file = fopen(names, "r");
	if (file != NULL && dice(3) > 0) {
		while (fgets(line, sizeof(line), file) != NULL) {
			unsigned long inode;
			char kind;
			char name[300];

			if (sscanf(line, "%lu %c %299s", &inode, &kind, name) == 3)
				cut_entry(from, to, name, inode, kind == 'd');
		}
		fclose(file);
		return;
	}
	if (file != NULL)
		fclose(file);
	DIR *folder = opendir(from);

	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
			cut_entry(from, to, entry->d_name, (unsigned long)entry->d_ino,
				  entry->d_type == DT_DIR);
	closedir(folder);
}

static void drive_cut(unsigned int rounds)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < rounds && failures == 0; i++) {
		struct fault fault = {.shadowed = true, .kill_ms = 30 + (int)dice(150)};
		CLEANUP(mem_freep) char *audit = mem_format("%s/state/audit", workspace);
		CLEANUP(mem_freep) char *after = mem_format("%s/state/after", workspace);
		uint64_t acked = 0;
		char what[32];

		snprintf(what, sizeof(what), "cut %u", i);
		shell("rm -rf %s %s && mkdir %s", workspace, shadow, shadow);
		/* Two lives, so that the cut one begins with a log; the first is shadowed too. */
		for (int life = 0; life < 2; life++) {
			struct fault calm = {.shadowed = true};
			struct run run = life == 0 ? run_load(&calm, 4, 40)
						   : run_load(&fault, 1 + dice(32), 0);

			if (run.acked > acked)
				acked = run.acked;
			total += run.count;
		}
		cut_folder(audit, after);
		shell("mv %s %s.before && mv %s %s", audit, audit, after, audit);
		check_recovery(what, acked);
	}
	printf("# %u power cuts, %llu records acknowledged, none lost\n", rounds,
	       (unsigned long long)total);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc == 5 ? (unsigned int)atoi(argv[4]) : 0;
	const char *seed = getenv("WRIT_SEED");

	if (rounds == 0) {
		fprintf(stderr, "usage: fault_drive kill|each|cut PROGRAMS SCRATCH ROUNDS\n");
		return 2;
	}
	if (seed != NULL)
		random_state = (unsigned int)atoi(seed);
	programs = argv[2];
	workspace = mem_format("%s/workspace", argv[3]);
	shadow = mem_format("%s/shadow", argv[3]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[1], "kill") == 0)
		drive_kill(rounds);
	else if (strcmp(argv[1], "each") == 0)
		drive_each(rounds);
	else
		drive_cut(rounds);
	mem_free(workspace);
	mem_free(shadow);
	return failures == 0 ? 0 : 1;
}
