/*
 * seccomp through libseccomp: whatever is not listed kills the process. The filter is put on every
 * thread at once (TSYNC), because a thread started earlier would otherwise stay outside.
 *
 * Names with a colon, and a few dangerous ones always, are narrowed by their arguments here. What
 * can fail: a name this architecture does not have, and the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sandbox.h"

/* One allowed form of a call: argument number arg, masked, equals value. A name with several rows
 * has several forms. */
struct form {
	const char *name; /* as in the lists */
	const char *call;
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

#define EXACT UINT64_MAX
/* What fork() of the C library passes; no flag that shares or makes a namespace. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct form forms[] = {
	{"mmap", "mmap", 2, PROT_EXEC, 0},
	{"mprotect", "mprotect", 2, PROT_EXEC, 0},
	{"clone:thread", "clone", 0, CLONE_THREAD, CLONE_THREAD},
	{"clone:fork", "clone", 0, EXACT, FORK_FLAGS},
	{"ioctl:nonblock", "ioctl", 1, UINT32_MAX, FIONBIO},
	{"fcntl:flags", "fcntl", 1, UINT32_MAX, F_GETFD},
	{"fcntl:flags", "fcntl", 1, UINT32_MAX, F_SETFD},
	{"fcntl:flags", "fcntl", 1, UINT32_MAX, F_GETFL},
	{"fcntl:flags", "fcntl", 1, UINT32_MAX, F_SETFL},
	{"fcntl:flags", "fcntl", 1, UINT32_MAX, F_DUPFD_CLOEXEC},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_GETLK},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_SETLK},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_SETLKW},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_OFD_GETLK},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_OFD_SETLK},
	{"fcntl:locks", "fcntl", 1, UINT32_MAX, F_OFD_SETLKW},
};

#ifdef WRIT_SANDBOX_RELAXED
/* The sanitizers: their maps and stacks, their report, and the leak checker, which clones a process
 * that traces this one by system calls of its own choice. */
static const char *const relaxed_names[] = {
#if defined(__x86_64__)
	"open",
	"stat",
	"lstat",
	"getdents",
	"readlink",
	"access",
	"dup2",
	"getrlimit",
	"arch_prctl",
#endif
	"mmap", /* also in programs that otherwise ask for no memory at all */
	"munmap",
	"madvise",
	"futex",
	"openat",
	"newfstatat",
	"fstat",
	"lseek",
	"readlinkat",
	"getdents64",
	"fcntl",
	"ioctl",
	"sigaltstack",
	"prctl",
	"prlimit64",
	"sysinfo",
	"uname",
	"capget",
	"sched_getaffinity",
	"clone",
	"ptrace",
	"wait4",
	"kill",
	"tgkill",
	"rt_sigqueueinfo",
	"process_vm_readv",
	"getpid",
	"getppid",
	"gettid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"dup",
	"pipe2",
	"set_tid_address",
	"set_robust_list",
	"rseq",
	"exit",
	"exit_group",
	"rt_sigprocmask",
};
#endif

static void *filter_new(struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

	if (filter == NULL) {
		err_set(err, ERR_INTERNAL, "seccomp: no memory");
		return NULL;
	}
	/* Other ABIs of this processor (32 bit, x32) have other numbers: they kill as well. */
	if (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
	    seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) < 0 ||
	    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0) {
		seccomp_release(filter);
		err_set(err, ERR_UNAVAILABLE, "seccomp: this kernel or libseccomp is too old");
		return NULL;
	}
	return filter;
}

static int add(scmp_filter_ctx filter, const char *name, const char *call, uint32_t action,
	       const struct scmp_arg_cmp *only, struct err *err)
{
	int number = seccomp_syscall_resolve_name(call);
	int result;

	if (number < 0)
		return err_set(err, ERR_INTERNAL, "seccomp: %s is no system call here", name);
	result = seccomp_rule_add_array(filter, action, number, only != NULL ? 1 : 0, only);
	if (result < 0 && result != -EEXIST)
		return err_set(err, ERR_INTERNAL, "seccomp: %s: %s", name, strerror(-result));
	return 0;
}

static int add_self_signal(scmp_filter_ctx filter, const char *name, struct err *err)
{
	const struct scmp_arg_cmp only = {0, SCMP_CMP_EQ, (uint64_t)getpid(), 0};

	return add(filter, name, "tgkill", SCMP_ACT_ALLOW, &only, err);
}

/* How many forms the name has, all added; 0 for a plain name. */
static int add_forms(scmp_filter_ctx filter, const char *name, struct err *err)
{
	int count = 0;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct scmp_arg_cmp only = {forms[i].arg, SCMP_CMP_MASKED_EQ, forms[i].mask,
						  forms[i].value};

		if (strcmp(forms[i].name, name) != 0)
			continue;
		if (add(filter, name, forms[i].call, SCMP_ACT_ALLOW, &only, err) < 0)
			return -1;
		count++;
	}
	return count;
}

static int add_name(scmp_filter_ctx filter, const char *name, struct err *err)
{
	int count;

	if (strcmp(name, "tgkill:self") == 0)
		return add_self_signal(filter, name, err);
	count = add_forms(filter, name, err);
	if (count != 0)
		return count < 0 ? -1 : 0;
	return add(filter, name, name, SCMP_ACT_ALLOW, NULL, err);
}

/* The flags of clone3 lie in memory, where a filter cannot look; told that there is none, the C
 * library uses clone. */
static int refuse_clone3(scmp_filter_ctx filter, struct err *err)
{
	return add(filter, "clone3", "clone3", SCMP_ACT_ERRNO(ENOSYS), NULL, err);
}

static bool listed_before(const char *const *names, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(names[i], names[index]) == 0)
			return true;
	return false;
}

static int add_all(scmp_filter_ctx filter, const char *const *names, size_t count, struct err *err)
{
	bool clone3 = false;

	for (size_t i = 0; i < count; i++) {
		if (!listed_before(names, i) && add_name(filter, names[i], err) < 0)
			return -1;
		clone3 = clone3 || strncmp(names[i], "clone:", 6) == 0;
	}
#ifdef WRIT_SANDBOX_RELAXED
	for (size_t i = 0; i < ARRAY_LEN(relaxed_names); i++)
		if (add_name(filter, relaxed_names[i], err) < 0)
			return -1;
#endif
	return clone3 ? refuse_clone3(filter, err) : 0;
}

int sandbox_calls(const char *const *names, size_t count, struct err *err)
{
	scmp_filter_ctx filter = filter_new(err);
	int result;

	if (filter == NULL)
		return -1;
	result = add_all(filter, names, count, err);
	if (result == 0) {
		result = seccomp_load(filter);
		if (result < 0)
			err_set(err, ERR_UNAVAILABLE, "seccomp: load: %s", strerror(-result));
	}
	seccomp_release(filter);
	return result < 0 ? -1 : 0;
}
