/*
 * Confinement, tried for real: each check runs in a child of its own, which must end well, fail, or
 * be killed by SIGSYS. What the relaxed profile allows is not tried under sanitizers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/channel.h"
#include "base/db.h"
#include "base/sandbox.h"

#ifdef WRIT_SANDBOX_RELAXED
#define STRICT 0
#else
#define STRICT 1
#endif

static char top[64]; /* ours, with in/, out/ and a file in each */

static const char *const core_only[] = {SANDBOX_CALLS_CORE};
static const char *const all_lists[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_LOOP,
					SANDBOX_CALLS_STREAMS, SANDBOX_CALLS_FILES};

/* In a child: says what was not so and ends it. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(2, "line %d: not so: %s (errno %d)\n", __LINE__, #condition,       \
				errno);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Runs it in a child; returns 0 when it came to its end, or the signal that killed it. */
static int in_child(void (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	assert_int_equal(WEXITSTATUS(status), 0);
	return 0;
}

static void confine(const char *const *names, size_t count)
{
	struct err err = {0};

	CHECK(sandbox_drop(&err) == 0);
	if (sandbox_calls(names, count, &err) < 0) {
		dprintf(2, "%s\n", err.text);
		_exit(1);
	}
}

static const char *below(const char *name)
{
	static char path[4][128];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", top, name);
	return path[next];
}

static int set_up(void **state)
{
	(void)state;
	umask(022);
	snprintf(top, sizeof(top), "/tmp/test_sandbox.XXXXXX");
	if (mkdtemp(top) == NULL || mkdir(below("in"), 0755) < 0 || mkdir(below("out"), 0755) < 0)
		return -1;
	fclose(fopen(below("in/file"), "w"));
	fclose(fopen(below("out/file"), "w"));
	return 0;
}

static void remove_all(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	rmdir(folder);
}

static int tear_down(void **state)
{
	(void)state;
	rmdir(below("in/folder"));
	remove_all(below("in"));
	remove_all(below("out"));
	return rmdir(top);
}

/* ---- descriptors, user, capabilities ---- */

static void close_others(void)
{
	struct err err = {0};
	int keep[] = {9, -1, 2, 5, 5};

	for (int fd = 3; fd < 12; fd++)
		CHECK(dup2(2, fd) == fd);
	CHECK(sandbox_close_others(keep, 5, &err) == 0);
	for (int fd = 0; fd < 12; fd++)
		CHECK((fcntl(fd, F_GETFD) >= 0) == (fd == 2 || fd == 5 || fd == 9));
	CHECK(sandbox_close_others(keep, 65, &err) == -1 && err.kind == ERR_LIMIT);
}

static void test_every_descriptor_but_the_kept_is_closed(void **state)
{
	(void)state;
	assert_int_equal(in_child(close_others), 0);
}

static unsigned long long status_field(const char *name, int base)
{
	char line[256];
	unsigned long long value = 99;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name) + 1, NULL, base);
	fclose(file);
	return value;
}

static void drop(void)
{
	struct err err = {0};
	struct rlimit core;

	CHECK(sandbox_drop(&err) == 0);
	CHECK(status_field("CapEff", 16) == 0);
	CHECK(status_field("CapPrm", 16) == 0);
	CHECK(status_field("CapInh", 16) == 0);
	CHECK(status_field("CapAmb", 16) == 0);
	CHECK(geteuid() != 0 || status_field("CapBnd", 16) == 0);
	CHECK(status_field("NoNewPrivs", 10) == 1);
	CHECK(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0);
	CHECK(!STRICT || prctl(PR_GET_DUMPABLE) == 0);
	CHECK(sandbox_drop(&err) == 0); /* once more does no harm */
}

static void test_drop_leaves_no_capability_and_no_way_to_one(void **state)
{
	(void)state;
	assert_int_equal(in_child(drop), 0);
}

static void become_nobody(void)
{
	struct err err = {0};

	CHECK(sandbox_become(0, 65534, &err) == -1 && err.kind == ERR_INVALID);
	CHECK(sandbox_become(65534, 0, &err) == -1 && err.kind == ERR_INVALID);
	CHECK(chmod(below("in/file"), 0600) == 0);
	CHECK(sandbox_become(65534, 65534, &err) == 0);
	CHECK(getuid() == 65534 && getegid() == 65534 && getgroups(0, NULL) == 0);
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
	     capability++)
		CHECK(prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 0);
	CHECK(setuid(0) == -1);
	CHECK(open(below("in/file"), O_RDONLY) == -1 && errno == EACCES);
	CHECK(sandbox_become(65534, 65534, &err) == 0); /* who we are already */
	CHECK(sandbox_become(65533, 65534, &err) == -1 && err.kind == ERR_DENIED);
}

static void test_root_becomes_the_role_user_for_good(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(in_child(become_nobody), 0);
}

/* ---- Landlock ---- */

static void enter_files(void)
{
	char in[128], out_file[128];
	struct sandbox_path paths[] = {{.path = in, .write = true},
				       {.path = out_file, .write = false},
				       {.path = "/nowhere/at/all", .write = false}};
	enum sandbox_level level = SANDBOX_REDUCED;
	struct err err = {0};

	snprintf(in, sizeof(in), "%s", below("in"));
	snprintf(out_file, sizeof(out_file), "%s", below("out/file"));
	if (sandbox_drop(&err) < 0 || sandbox_files(paths, 3, false, &level, &err) < 0) {
		dprintf(2, "%s\n", err.text);
		_exit(1);
	}
	CHECK(level == SANDBOX_FULL);
}

static void use_files(void)
{
	int before = open("/etc/passwd", O_RDONLY);
	char byte;
	int fd;

	enter_files();
	/* allowed */
	fd = open(below("in/new"), O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && ftruncate(fd, 0) == 0);
	CHECK(rename(below("in/new"), below("in/newer")) == 0);
	CHECK(mkdir(below("in/folder"), 0700) == 0);
	CHECK(rename(below("in/newer"), below("in/folder/newest")) == 0);
	CHECK(unlink(below("in/folder/newest")) == 0 && rmdir(below("in/folder")) == 0);
	CHECK(opendir(below("in")) != NULL);
	CHECK(open(below("out/file"), O_RDONLY) >= 0);
	CHECK(read(before, &byte, 1) == 1); /* what was open stays open */
	/* refused */
	CHECK(open("/etc/passwd", O_RDONLY) == -1 && errno == EACCES);
	CHECK(open(below("out/file"), O_WRONLY) == -1 && errno == EACCES);
	CHECK(truncate(below("out/file"), 0) == -1 && errno == EACCES);
	CHECK(unlink(below("out/file")) == -1 && errno == EACCES);
	CHECK(open(below("out/new"), O_WRONLY | O_CREAT, 0600) == -1 && errno == EACCES);
	CHECK(rename(below("in/file"), below("out/file2")) == -1);
	CHECK(open("/", O_RDONLY) == -1 && errno == EACCES);
	CHECK(opendir(below("out")) == NULL && errno == EACCES);
	CHECK(symlink("x", below("in/link")) == -1 && errno == EACCES);
	CHECK(mkfifo(below("in/fifo"), 0600) == -1 && errno == EACCES);
	CHECK(execl("/bin/true", "true", NULL) == -1 && errno == EACCES);
}

static void test_only_the_given_paths_can_be_opened(void **state)
{
	(void)state;
	assert_int_equal(in_child(use_files), 0);
}

static void reach_out(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t child;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	enter_files();
	if (sandbox_landlock_abi() >= 4) {
		CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1);
		CHECK(errno == EACCES);
		CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1);
		CHECK(errno == EACCES);
	}
	if (sandbox_landlock_abi() >= 6) {
		CHECK(kill(getppid(), 0) == -1 && errno == EPERM);
		child = fork();
		if (child == 0)
			pause();
		CHECK(kill(child, SIGKILL) == 0); /* our own stay within reach */
		CHECK(waitpid(child, NULL, 0) == child);
	}
}

static void test_neither_network_nor_processes_outside_can_be_reached(void **state)
{
	(void)state;
	assert_int_equal(in_child(reach_out), 0);
}

static void miss_a_path(void)
{
	const struct sandbox_path paths[] = {{.path = "/nowhere/at/all", .write = true}};
	enum sandbox_level level;
	struct err err = {0};

	CHECK(sandbox_files(paths, 1, true, &level, &err) == -1);
	CHECK(strcmp(err.text, "sandbox: /nowhere/at/all: No such file or directory") == 0);
}

static void test_a_path_to_write_must_exist(void **state)
{
	(void)state;
	assert_int_equal(in_child(miss_a_path), 0);
}

static void *wait_for_ever(void *data)
{
	pause();
	return data;
}

static void enter_with_two_threads(void)
{
	enum sandbox_level level;
	struct err err = {0};
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
	CHECK(sandbox_files(NULL, 0, true, &level, &err) == -1);
	CHECK(strcmp(err.text, "sandbox: Landlock after 2 threads were started") == 0);
	CHECK(err.kind == ERR_INTERNAL);
}

static void test_landlock_refuses_to_bind_one_thread_of_several(void **state)
{
	(void)state;
	assert_int_equal(in_child(enter_with_two_threads), 0);
}

/* A kernel without Landlock, made by a filter that answers as such a kernel does. */
static void lack_landlock(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	enum sandbox_level level = SANDBOX_FULL;
	struct err err = {0};

	CHECK(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset),
			       0) == 0);
	CHECK(seccomp_load(filter) == 0);
	seccomp_release(filter);
	CHECK(sandbox_landlock_abi() == 0);
	CHECK(sandbox_files(NULL, 0, false, &level, &err) == -1);
	CHECK(err.kind == ERR_UNAVAILABLE && level == SANDBOX_FULL);
	CHECK(strstr(err.text, "\"sandbox: reduced\" in writ.yaml") != NULL);
	CHECK(sandbox_files(NULL, 0, true, &level, &err) == 0);
	CHECK(level == SANDBOX_REDUCED);
}

static void test_without_landlock_only_the_accepted_reduction_starts(void **state)
{
	(void)state;
	assert_int_equal(in_child(lack_landlock), 0);
}

/* ---- seccomp ---- */

static int compare_bytes(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void live_on_core(void)
{
	char *memory;
	struct timespec now;
	int ends[2];

	CHECK(pipe(ends) == 0);
	confine(core_only, ARRAY_LEN(core_only));
	memory = malloc(10u << 20);
	CHECK(memory != NULL);
	memset(memory, 1, 10u << 20);
	qsort(memory, 1u << 20, 1, compare_bytes); /* so much that it asks how much there is */
	free(memory);
	CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
	CHECK(write(ends[1], "x", 1) == 1 && close(ends[1]) == 0);
	exit(0);
}

static void test_the_core_list_is_enough_to_live_and_to_exit(void **state)
{
	(void)state;
	assert_int_equal(in_child(live_on_core), 0);
}

static int forbidden; /* which of the bodies below */

static void do_forbidden(void)
{
	static char *const arguments[] = {NULL};
	struct sockaddr address = {.sa_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	confine(all_lists, ARRAY_LEN(all_lists));
	switch (forbidden) {
	case 0:
		execve("/bin/true", arguments, arguments);
		break;
	case 1:
		IGNORE(socket(AF_INET, SOCK_STREAM, 0), "it must not return");
		break;
	case 2:
		IGNORE(connect(fd, &address, sizeof(address)), "it must not return");
		break;
	case 3:
		IGNORE(bind(fd, &address, sizeof(address)), "it must not return");
		break;
	case 4:
		IGNORE(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0) == NULL,
		       "it must not return");
		break;
	case 5:
		IGNORE(setuid(0), "it must not return");
		break;
	case 6:
		IGNORE(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), "it must not return");
		break;
	case 7:
		IGNORE(syscall(SYS_io_uring_setup, 1, NULL), "it must not return");
		break;
	case 8:
		IGNORE(syscall(SYS_bpf, 0, NULL, 0), "it must not return");
		break;
	case 9:
		IGNORE(syscall(SYS_unshare, CLONE_NEWUSER), "it must not return");
		break;
	case 10:
		IGNORE(syscall(SYS_memfd_create, "x", 0), "it must not return");
		break;
	case 11:
		IGNORE(syscall(SYS_execveat, 0, "", NULL, NULL, 0), "it must not return");
		break;
	case 12:
		IGNORE(mprotect(do_forbidden, 1, PROT_READ | PROT_EXEC), "it must not return");
		break;
	/* From here on, allowed in the relaxed profile. */
	case 13:
		IGNORE(ptrace(PTRACE_TRACEME, 0, NULL, NULL), "it must not return");
		break;
	case 14:
		IGNORE(fork(), "it must not return");
		break;
	case 15:
		IGNORE(kill(getppid(), 0), "it must not return");
		break;
	case 16:
		IGNORE(syscall(SYS_tgkill, 1, 1, SIGTERM), "it must not return");
		break;
	case 17:
		IGNORE(fcntl(fd, F_SETOWN, 1), "it must not return");
		break;
	case 18:
		IGNORE(ioctl(fd, TIOCSTI, "x"), "it must not return");
		break;
	case 19:
		IGNORE(prctl(PR_SET_NAME, "x"), "it must not return");
		break;
	}
}

static void test_what_no_list_allows_kills(void **state)
{
	(void)state;
	for (forbidden = 0; forbidden <= (STRICT ? 19 : 12); forbidden++) {
		int signal_number = in_child(do_forbidden);

		if (signal_number != SIGSYS)
			fail_msg("case %d: signal %d", forbidden, signal_number);
	}
}

static void open_with_core(void)
{
	confine(core_only, ARRAY_LEN(core_only));
	IGNORE(open("/etc/passwd", O_RDONLY), "it must not return");
}

static void test_the_core_list_opens_nothing(void **state)
{
	(void)state;
	if (!STRICT)
		skip();
	assert_int_equal(in_child(open_with_core), SIGSYS);
}

static void use_narrowed_forms(void)
{
	int ends[2], on = 1;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int file = open(below("in/file"), O_RDWR);

	confine(all_lists, ARRAY_LEN(all_lists));
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
	CHECK(ioctl(ends[0], FIONBIO, &on) == 0);
	CHECK(fcntl(file, F_SETLK, &lock) == 0);
	CHECK(mprotect(malloc(1), 0, PROT_READ) == 0 || errno == EINVAL);
}

static void test_the_narrowed_forms_work(void **state)
{
	(void)state;
	assert_int_equal(in_child(use_narrowed_forms), 0);
}

static void abort_confined(void)
{
	confine(core_only, ARRAY_LEN(core_only));
	abort();
}

static void test_abort_still_ends_as_abort(void **state)
{
	(void)state;
	assert_int_equal(in_child(abort_confined), SIGABRT);
}

static void name_what_is_not(void)
{
	static const char *const wrong[] = {SANDBOX_CALLS_CORE, "open_sesame"};
	static const char *const form[] = {SANDBOX_CALLS_CORE, "clone:anything"};
	struct err err = {0};

	CHECK(sandbox_calls(wrong, ARRAY_LEN(wrong), &err) == -1);
	CHECK(strcmp(err.text, "seccomp: open_sesame is no system call here") == 0);
	CHECK(sandbox_calls(form, ARRAY_LEN(form), &err) == -1);
	CHECK(strcmp(err.text, "seccomp: clone:anything is no system call here") == 0);
	CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0); /* nothing was installed by halves */
}

static void test_a_name_that_is_no_call_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(in_child(name_what_is_not), 0);
}

/* ---- threads and forks ---- */

static void nothing(uv_work_t *work)
{
	(void)work;
}

static void make_socket(uv_work_t *work)
{
	(void)work;
	IGNORE(socket(AF_INET, SOCK_STREAM, 0), "it must not return");
}

static void confine_the_pool(void)
{
	uv_loop_t loop;
	uv_work_t work;

	uv_loop_init(&loop);
	uv_queue_work(&loop, &work, nothing, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	confine(all_lists, ARRAY_LEN(all_lists));
	uv_queue_work(&loop, &work, make_socket, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
}

static void test_a_thread_that_was_there_before_is_confined_as_well(void **state)
{
	(void)state;
	assert_int_equal(in_child(confine_the_pool), SIGSYS);
}

static void *add_one(void *data)
{
	(*(int *)data)++;
	return NULL;
}

static void make_a_thread(void)
{
	static const char *const names[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_THREADS};
	pthread_t thread;
	int number = 0;

	confine(names, ARRAY_LEN(names));
	CHECK(pthread_create(&thread, NULL, add_one, &number) == 0);
	CHECK(pthread_join(thread, NULL) == 0 && number == 1);
	if (STRICT)
		IGNORE(fork(), "it must not return");
	else
		raise(SIGSYS);
}

static void test_threads_may_be_allowed_without_processes(void **state)
{
	(void)state;
	assert_int_equal(in_child(make_a_thread), SIGSYS);
}

static void make_a_worker(void)
{
	static const char *const names[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_LOOP,
					    SANDBOX_CALLS_WORKERS};
	int status = 0;
	pid_t child;

	confine(names, ARRAY_LEN(names));
	child = fork();
	if (child == 0)
		for (;;)
			poll(NULL, 0, 1000);
	CHECK(child > 0 && kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	child = fork();
	if (child == 0)
		IGNORE(socket(AF_INET, SOCK_STREAM, 0), "it must not return");
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	if (STRICT)
		syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	else
		raise(SIGSYS);
}

static void test_workers_can_be_forked_and_killed_and_are_confined(void **state)
{
	(void)state;
	assert_int_equal(in_child(make_a_worker), SIGSYS);
}

/* ---- whole programs' worth ---- */

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	(void)owner;
	(void)method;
	channel_reply(channel, id, json_copy(params));
}

static void on_done(void *data, const struct json *result, const struct err *err)
{
	CHECK(err == NULL && json_get_int(result, "n", 0) == 5);
	channel_close(data);
}

static void talk_confined(void)
{
	static const struct channel_handlers handlers = {.on_request = on_request};
	struct json *params;
	struct channel *near;
	uv_loop_t loop;
	uv_work_t work;
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	uv_loop_init(&loop);
	uv_queue_work(&loop, &work, nothing, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	CHECK(uv_loop_close(&loop) == 0);
	confine(all_lists, ARRAY_LEN(all_lists));
	uv_loop_init(&loop);
	near = channel_open(&loop, ends[0], "near", &handlers, NULL);
	channel_open(&loop, ends[1], "far", &handlers, NULL);
	params = json_object();
	json_set_int(params, "n", 5);
	CHECK(channel_call(near, "m", params, 5000, on_done, near) == 1);
	uv_run(&loop, UV_RUN_DEFAULT);
	CHECK(uv_loop_close(&loop) == 0);
}

static void test_a_loop_with_channels_lives_in_the_lists(void **state)
{
	(void)state;
	assert_int_equal(in_child(talk_confined), 0);
}

static void store_confined(void)
{
	static const char *const migrations[] = {"CREATE TABLE t(x)"};
	struct db_stmt *stmt = NULL;
	struct db *db = NULL;
	struct err err = {0};

	CHECK(chdir(below("in")) == 0);
	enter_files();
	confine(all_lists, ARRAY_LEN(all_lists));
	if (db_open("state.db", DB_SYNC_FULL, migrations, 1, &db, &err) < 0) {
		dprintf(2, "%s\n", err.text);
		_exit(1);
	}
	CHECK(db_begin(db, &err) == 0 && db_exec(db, "INSERT INTO t VALUES (7)", &err) == 0);
	CHECK(db_commit(db, &err) == 0);
	CHECK(db_query(db, "SELECT x FROM t", &stmt, &err) == 0);
	CHECK(db_step(stmt, &err) == 1 && db_int(stmt, 0) == 7);
	db_done(stmt);
	db_close(db);
	exit(0); /* under sanitizers, the leak checker runs confined as well */
}

static void test_a_state_database_lives_in_the_lists(void **state)
{
	(void)state;
	assert_int_equal(in_child(store_confined), 0);
}

static void test_the_profile_names_itself(void **state)
{
	(void)state;
	assert_string_equal(sandbox_profile_name(), STRICT ? "release" : "relaxed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_every_descriptor_but_the_kept_is_closed),
		T(test_drop_leaves_no_capability_and_no_way_to_one),
		T(test_root_becomes_the_role_user_for_good),
		T(test_only_the_given_paths_can_be_opened),
		T(test_neither_network_nor_processes_outside_can_be_reached),
		T(test_a_path_to_write_must_exist),
		T(test_landlock_refuses_to_bind_one_thread_of_several),
		T(test_without_landlock_only_the_accepted_reduction_starts),
		T(test_the_core_list_is_enough_to_live_and_to_exit),
		T(test_what_no_list_allows_kills),
		T(test_the_core_list_opens_nothing),
		T(test_the_narrowed_forms_work),
		T(test_abort_still_ends_as_abort),
		T(test_a_name_that_is_no_call_is_an_error),
		T(test_a_thread_that_was_there_before_is_confined_as_well),
		T(test_threads_may_be_allowed_without_processes),
		T(test_workers_can_be_forked_and_killed_and_are_confined),
		T(test_a_loop_with_channels_lives_in_the_lists),
		T(test_a_state_database_lives_in_the_lists),
		T(test_the_profile_names_itself),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
