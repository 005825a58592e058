/*
 * What confined code tries in vain. A test names its program's confinement and lists which attempts
 * end how: each runs in a child of its own that enters the confinement first. What the profile of
 * sanitizer builds allows is not tried there.
 */
#ifndef TEST_CONFINE_ATTEMPTS_H
#define TEST_CONFINE_ATTEMPTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sandbox.h"

#ifdef WRIT_SANDBOX_RELAXED
#define STRICT 0
#else
#define STRICT 1
#endif

/* In a child: says what was not so and ends it. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(2, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__,           \
				#condition, errno);                                                \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define CHECK_OK(call, err)                                                                        \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, (err)->text);                \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

enum ending {
	REFUSED, /* the call fails with EACCES or EPERM, the program lives */
	KILLED,	 /* SIGSYS */
};

struct attempt {
	const char *name;
	long (*make)(void); /* what the system call returned */
	enum ending ending;
	bool relaxed; /* the sanitizers' profile allows it */
};

/* ---- a workspace with everything in it that programs must not see of each other ---- */

static char place[64]; /* the workspace */
static int unconnected;

static const char *in_place(const char *name)
{
	static char path[4][160];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", place, name);
	return path[next];
}

static inline void put_file(const char *name, const char *text)
{
	int fd = open(in_place(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int make_place(void **state)
{
	static const char *const folders[] = {"state",	      "state/config", "state/config/policy",
					      "state/broker", "state/audit",  "state/signer",
					      "state/tasks",  "data"};

	(void)state;
	snprintf(place, sizeof(place), "/tmp/writ-confine-XXXXXX");
	if (mkdtemp(place) == NULL)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		assert_int_equal(mkdir(in_place(folders[i]), 0700), 0);
	put_file("state/config/users.json", "old");
	put_file("state/service.json", "service");
	put_file("state/broker/broker.db", "tokens");
	put_file("state/audit/log.jsonl", "log");
	put_file("state/signer/keys", "keys");
	put_file("state/tasks/tasks.db", "tasks");
	put_file("data/sales.db", "");
	unconnected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int remove_place(void **state)
{
	(void)state;
	close(unconnected);
	return nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- attempts that are in vain everywhere ---- */

static inline long run_a_program(void)
{
	static char *const arguments[] = {NULL};

	return execve("/bin/true", arguments, arguments);
}

static inline long make_a_process(void)
{
	return fork();
}

static inline long make_a_namespace(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

static inline long make_an_inet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static inline long make_a_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static inline long connect_a_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/dbus/socket"};

	return connect(unconnected, (struct sockaddr *)&address, sizeof(address));
}

static inline long bind_a_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", place);
	return bind(unconnected, (struct sockaddr *)&address, sizeof(address));
}

static inline long listen_on_a_socket(void)
{
	return listen(unconnected, 1);
}

static inline long trace_the_parent(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static inline long read_the_parents_memory(void)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {place, 1};

	return process_vm_readv(getppid(), &here, 1, &there, 1, 0);
}

static inline long signal_the_parent(void)
{
	return kill((pid_t)syscall(SYS_getppid), 0);
}

static inline long make_code_executable(void)
{
	return mprotect((void *)((uintptr_t)place & ~4095UL), 4096, PROT_READ | PROT_EXEC);
}

static inline long map_code(void)
{
	return (long)(intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
}

static inline long make_code_in_memory(void)
{
	return syscall(SYS_memfd_create, "x", 0);
}

static inline long become_another(void)
{
	return setuid(0);
}

static inline long mount_something(void)
{
	return syscall(SYS_mount, NULL, place, "tmpfs", 0, NULL);
}

static inline long go_round_by_io_uring(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL);
}

static inline long make_a_link(void)
{
	return symlinkat("/etc/passwd", AT_FDCWD, in_place("state/audit/link"));
}

/* The call and its twin by number, where a filter could have forgotten one. */
#define ATTEMPTS_EVERYWHERE                                                                        \
	{"execve", run_a_program, KILLED, false}, {"unshare", make_a_namespace, KILLED, false},    \
		{"AF_INET socket", make_an_inet_socket, KILLED, false},                            \
		{"AF_UNIX socket", make_a_unix_socket, KILLED, false},                             \
		{"connect", connect_a_socket, KILLED, false},                                      \
		{"bind", bind_a_socket, KILLED, false},                                            \
		{"listen", listen_on_a_socket, KILLED, false},                                     \
		{"ptrace", trace_the_parent, KILLED, true},                                        \
		{"process_vm_readv", read_the_parents_memory, KILLED, true},                       \
		{"mprotect PROT_EXEC", make_code_executable, KILLED, false},                       \
		{"mmap PROT_EXEC", map_code, KILLED, false},                                       \
		{"memfd_create", make_code_in_memory, KILLED, false},                              \
		{"setuid", become_another, KILLED, false},                                         \
		{"mount", mount_something, KILLED, false},                                         \
		{"io_uring", go_round_by_io_uring, KILLED, false},                                 \
	{                                                                                          \
		"symlink", make_a_link, KILLED, false                                              \
	}

/* ---- files ---- */

#define ATTEMPT_OPEN(function, name, flags)                                                        \
	static inline long function(void)                                                          \
	{                                                                                          \
		return open((name)[0] == '/' ? (name) : in_place(name), (flags) | O_CLOEXEC,       \
			    0600);                                                                 \
	}

ATTEMPT_OPEN(open_passwd, "/etc/passwd", O_RDONLY)
ATTEMPT_OPEN(open_root, "/", O_RDONLY)
ATTEMPT_OPEN(open_keys, "state/signer/keys", O_RDONLY)
ATTEMPT_OPEN(list_keys, "state/signer", O_RDONLY)
ATTEMPT_OPEN(open_source, "data/sales.db", O_RDONLY)
ATTEMPT_OPEN(open_tokens, "state/broker/broker.db", O_RDONLY)
ATTEMPT_OPEN(open_tasks, "state/tasks/tasks.db", O_RDONLY)
ATTEMPT_OPEN(open_log, "state/audit/log.jsonl", O_RDONLY)
ATTEMPT_OPEN(open_users, "state/config/users.json", O_RDONLY)
ATTEMPT_OPEN(open_service, "state/service.json", O_RDONLY)
ATTEMPT_OPEN(change_users, "state/config/users.json", O_WRONLY)
ATTEMPT_OPEN(add_policy, "state/config/policy/active", O_WRONLY | O_CREAT)
ATTEMPT_OPEN(open_environment, "/proc/self/environ", O_RDONLY)

static inline long replace_users(void)
{
	return rename(in_place("state/audit/log.jsonl"), in_place("state/config/users.json"));
}

static inline long remove_keys(void)
{
	return unlink(in_place("state/signer/keys"));
}

static inline long link_keys(void)
{
	return rename(in_place("state/signer/keys"), in_place("state/audit/keys"));
}

#define ATTEMPTS_ON_FILES(how)                                                                     \
	{"open /etc/passwd", open_passwd, how, false}, {"open /", open_root, how, false},          \
		{"open the keys", open_keys, how, false},                                          \
		{"list the keys' folder", list_keys, how, false},                                  \
		{"remove the keys", remove_keys, how, false},                                      \
		{"move the keys to us", link_keys, how, false},                                    \
		{"open service.json", open_service, how, false},                                   \
		{"change users.json", change_users, how, false},                                   \
		{"replace users.json", replace_users, how, false},                                 \
	{                                                                                          \
		"add a policy", add_policy, how, false                                             \
	}

/* ---- running them ---- */

/* 0 when the child came to its end, the signal that killed it, or -1 after a failed CHECK. */
static inline int in_child(void (*body)(const void *), const void *data)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		body(data);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	return WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void (*enter)(void); /* the confinement under test */

static void make_attempt(const void *data)
{
	const struct attempt *attempt = data;
	long result;

	enter();
	errno = 0;
	result = attempt->make();
	if (result != -1 || (errno != EACCES && errno != EPERM && errno != EXDEV)) {
		dprintf(2, "%s: returned %ld, errno %d\n", attempt->name, result, errno);
		_exit(1);
	}
}

static void check_attempt(const struct attempt *attempt)
{
	int got;

	if (!STRICT && attempt->relaxed)
		return;
	got = in_child(make_attempt, attempt);
	/* The sanitizers may open files, as far as Landlock lets them. */
	if (!STRICT && got == 0 && attempt->ending == KILLED)
		return;
	if (got != (attempt->ending == KILLED ? SIGSYS : 0))
		fail_msg("%s: %s", attempt->name,
			 got < 0   ? "it was not in vain"
			 : got > 0 ? strsignal(got)
				   : "refused, but not killed");
}

static inline void check_attempts(void (*confinement)(void), const struct attempt *attempts,
				  size_t count)
{
	if (sandbox_landlock_abi() == 0)
		skip();
	enter = confinement;
	for (size_t i = 0; i < count; i++)
		check_attempt(&attempts[i]);
}

#endif
