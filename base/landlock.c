/*
 * Landlock by raw system calls (landlock(7); the C library of Debian 12 has no wrappers, and its
 * headers end at ABI 2, so the later constants of the kernel's own header are given here).
 *
 * Everything the running kernel can restrict is restricted; each path gives back some of it. What
 * can fail: a kernel without Landlock, a path that is not there, a process with several threads
 * (the restriction would bind only this one).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox.h"

/* ABI 1 */
#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_DIR (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR (1ULL << 7)
#define FS_MAKE_REG (1ULL << 8)
#define FS_ABI_1 ((1ULL << 13) - 1)
#define FS_REFER (1ULL << 13)	 /* ABI 2: rename between folders */
#define FS_TRUNCATE (1ULL << 14) /* ABI 3 */
#define NET_BIND_TCP (1ULL << 0) /* ABI 4 */
#define NET_CONNECT_TCP (1ULL << 1)
#define FS_IOCTL_DEV (1ULL << 15)	       /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL (1ULL << 1)

#define READ_RIGHTS (FS_READ_FILE | FS_READ_DIR)
#define WRITE_RIGHTS                                                                               \
	(READ_RIGHTS | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |              \
	 FS_MAKE_REG | FS_REFER | FS_TRUNCATE)
/* The kernel refuses a rule that gives a file what only folders have. */
#define RIGHTS_OF_A_FILE (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE)

/* As struct landlock_ruleset_attr has grown; older kernels are told a smaller size. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;	     /* ABI 6 */
};

int sandbox_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static size_t describe(int abi, struct ruleset_attr *attr)
{
	*attr = (struct ruleset_attr){.handled_access_fs = FS_ABI_1};
	if (abi >= 2)
		attr->handled_access_fs |= FS_REFER;
	if (abi >= 3)
		attr->handled_access_fs |= FS_TRUNCATE;
	if (abi >= 4)
		attr->handled_access_net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (abi >= 5)
		attr->handled_access_fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		attr->scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	if (abi >= 6)
		return sizeof(*attr);
	return abi >= 4 ? offsetof(struct ruleset_attr, scoped)
			: offsetof(struct ruleset_attr, handled_access_net);
}

static int allow(int ruleset_fd, uint64_t handled, const struct sandbox_path *path, struct err *err)
{
	CLEANUP(fd_closep) int fd = open(path->path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {.parent_fd = fd};
	struct stat status;

	if (fd < 0 && errno == ENOENT && !path->write)
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_errno(err, "sandbox: %s", path->path);
	rule.allowed_access = handled & (path->write ? WRITE_RIGHTS : READ_RIGHTS);
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= RIGHTS_OF_A_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_errno(err, "sandbox: allow %s", path->path);
	return 0;
}

/* A second thread would stay free. /proc/self/task has one folder per thread. */
static int check_one_thread(struct err *err)
{
	struct stat status;

	if (stat("/proc/self/task", &status) < 0 || status.st_nlink == 3)
		return 0;
	return err_set(err, ERR_INTERNAL, "sandbox: Landlock after %lu threads were started",
		       (unsigned long)status.st_nlink - 2);
}

static int restrict_self(int abi, const struct sandbox_path *paths, size_t count, struct err *err)
{
	struct ruleset_attr attr;
	size_t size = describe(abi, &attr);
	CLEANUP(fd_closep)
	int ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);

	if (ruleset_fd < 0)
		return err_errno(err, "sandbox: make a Landlock ruleset (ABI %d)", abi);
	for (size_t i = 0; i < count; i++)
		if (allow(ruleset_fd, attr.handled_access_fs, &paths[i], err) < 0)
			return -1;
#ifdef WRIT_SANDBOX_RELAXED /* the sanitizers read their own maps and threads */
	if (allow(ruleset_fd, attr.handled_access_fs, &(struct sandbox_path){.path = "/proc"},
		  err) < 0)
		return -1;
#endif
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
		return err_errno(err, "sandbox: enter Landlock");
	return 0;
}

int sandbox_files(const struct sandbox_path *paths, size_t count, bool reduced_ok,
		  enum sandbox_level *ret_level, struct err *err)
{
	int abi = sandbox_landlock_abi();

	if (abi == 0 && !reduced_ok)
		return err_set(
			err, ERR_UNAVAILABLE,
			"this kernel has no Landlock (Linux 5.13 or later with lsm=landlock), "
			"so programs could open any file of their user; to accept that, set "
			"\"sandbox: reduced\" in writ.yaml");
	if (abi == 0) {
		*ret_level = SANDBOX_REDUCED;
		return 0;
	}
	if (check_one_thread(err) < 0 || restrict_self(abi, paths, count, err) < 0)
		return -1;
	*ret_level = SANDBOX_FULL;
	return 0;
}
