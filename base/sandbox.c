/*
 * What a process gives up about itself: descriptors, user, capabilities. Landlock and seccomp are
 * in landlock.c and seccomp.c. What can fail: the kernel, and then the program must end.
 */
#include "base/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP_MAX 64
#define CAPABILITIES_MAX 64 /* two words of 32 in capset(2) */

const char *sandbox_profile_name(void)
{
#ifdef WRIT_SANDBOX_RELAXED
	return "relaxed";
#else
	return "release";
#endif
}

/* Ascending, without negative ones; returns how many. */
static size_t sort_fds(const int *keep, size_t count, int sorted[KEEP_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = used;

		if (keep[i] < 0)
			continue;
		for (; at > 0 && sorted[at - 1] > keep[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = keep[i];
		used++;
	}
	return used;
}

int sandbox_close_others(const int *keep, size_t count, struct err *err)
{
	int sorted[KEEP_MAX];
	unsigned first = 0;
	size_t used;

	if (count > KEEP_MAX)
		return err_set(err, ERR_LIMIT, "more than %d descriptors to keep", KEEP_MAX);
	used = sort_fds(keep, count, sorted);
	for (size_t i = 0; i < used; i++) {
		unsigned kept = (unsigned)sorted[i];

		if (kept > first && close_range(first, kept - 1, 0) < 0)
			return err_errno(err, "close descriptors %u to %u", first, kept - 1);
		first = kept + 1;
	}
	if (close_range(first, ~0U, 0) < 0)
		return err_errno(err, "close descriptors from %u", first);
	return 0;
}

/* Without CAP_SETPCAP the set stays, and with no_new_privs it gives nothing. */
static int drop_bounding_set(struct err *err)
{
	for (unsigned long capability = 0; capability < CAPABILITIES_MAX; capability++) {
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0)
			return 0; /* past the kernel's last */
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 && errno != EPERM)
			return err_errno(err, "drop capability %lu", capability);
	}
	return 0;
}

int sandbox_become(uid_t uid, gid_t gid, struct err *err)
{
	if (uid == 0 || gid == 0)
		return err_set(err, ERR_INVALID, "a role user must not be root");
	if (geteuid() != 0) {
		if (getuid() == uid && geteuid() == uid && getgid() == gid && getegid() == gid)
			return 0;
		return err_set(err, ERR_DENIED, "only root can become user %u", uid);
	}
	if (drop_bounding_set(err) < 0)
		return -1;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_errno(err, "become user %u, group %u", uid, gid);
	if (setuid(0) == 0 || setgid(0) == 0 || geteuid() != uid || getegid() != gid)
		return err_set(err, ERR_INTERNAL, "became user %u, but could come back", uid);
	return 0;
}

static int drop_capabilities(struct err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (drop_bounding_set(err) < 0)
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_errno(err, "clear ambient capabilities");
	if (syscall(SYS_capset, &head, none) < 0)
		return err_errno(err, "drop capabilities");
	return 0;
}

int sandbox_drop(struct err *err)
{
	const struct rlimit no_core = {0, 0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, "set no_new_privs");
	if (drop_capabilities(err) < 0)
		return -1;
	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return err_errno(err, "forbid core dumps");
#ifndef WRIT_SANDBOX_RELAXED /* the leak checker traces its own process */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_errno(err, "forbid tracing");
#endif
	return 0;
}
