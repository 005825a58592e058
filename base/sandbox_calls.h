/*
 * Which system calls a program may make: lists to put together in an array for sandbox_calls(),
 * each name with the reason it is there. A program adds to these only what it alone needs, with its
 * own reason beside it. In none of them: running a program, making or connecting a socket, tracing,
 * becoming another user, mounting, loading code.
 *
 *	static const char *const calls[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_LOOP, "accept4"};
 *
 * Names with a colon are a system call with its arguments narrowed (base/seccomp.c has the table).
 * mmap and mprotect are always narrowed: no memory becomes executable any more.
 */
#ifndef BASE_SANDBOX_CALLS_H
#define BASE_SANDBOX_CALLS_H

/* Calls that newer architectures do not have any more; the C library then uses the newer one. */
#if defined(__x86_64__)
#define SANDBOX_OLD_CORE "poll", "time",
#define SANDBOX_OLD_LOOP "epoll_wait",
#define SANDBOX_OLD_FILES "access", "mkdir", "rename", "unlink", "rmdir", "readlink", "chmod",
#else
#define SANDBOX_OLD_CORE
#define SANDBOX_OLD_LOOP
#define SANDBOX_OLD_FILES
#endif

/* Every program: memory, time, waiting, reading and writing what is open, ending. */
#define SANDBOX_CALLS_CORE                                                                         \
	SANDBOX_OLD_CORE                                                                           \
	"read", "readv", "write", "writev",	   /* what is open */                              \
		"close",			   /* giving it back */                            \
		"ppoll",			   /* waiting with a deadline */                   \
		"mmap", "munmap", "mremap", "brk", /* malloc */                                    \
		"madvise", "mprotect",		   /* malloc; guard pages of locked memory */      \
		"mlock", "munlock",		   /* libsodium's memory for secrets */            \
		"futex", "sched_yield",		   /* locks */                                     \
		"sched_getaffinity",		   /* malloc counts processors */                  \
		"sysinfo",			   /* qsort() of much asks for memory */           \
		"clock_gettime", "gettimeofday",   /* when the vDSO cannot answer */               \
		"clock_nanosleep", "nanosleep",	   /* retries with a pause */                      \
		"getrandom",			   /* ids, salts, hash seeds */                    \
		"getpid", "gettid", "tgkill:self", /* abort() ends as SIGABRT, not SIGSYS */       \
		"rt_sigaction", "rt_sigprocmask",  /* abort(), threads */                          \
		"rt_sigreturn", "restart_syscall", /* back from a signal, into a call */           \
		"exit", "exit_group"		   /* ends of thread and process */

/* A libuv loop with its thread pool already started. */
#define SANDBOX_CALLS_LOOP                                                                         \
	SANDBOX_OLD_LOOP                                                                           \
	"epoll_create1", "epoll_ctl", "epoll_pwait", /* the loop itself */                         \
		"eventfd2", "pipe2",		     /* waking it from threads and signals */      \
		"ioctl:nonblock", "fcntl:flags"	     /* descriptors that must not block */

/* Sockets that are already there: channels, lanes, accepted connections. */
#define SANDBOX_CALLS_STREAMS                                                                      \
	"sendmsg", "recvmsg",		     /* lanes: bytes with a descriptor */                  \
		"sendto", "recvfrom",	     /* send() and recv() */                               \
		"shutdown",		     /* half a close */                                    \
		"getsockopt", "getsockname", /* type and peer of what was handed over */           \
		"ioctl:nonblock", "fcntl:flags"

/* Files below the paths that Landlock leaves; also what SQLite asks of a file system. */
#define SANDBOX_CALLS_FILES                                                                        \
	SANDBOX_OLD_FILES                                                                          \
	"openat", "getdents64",			       /* Landlock decides which */                \
		"fstat", "newfstatat", "statx",	       /* size, kind, owner */                     \
		"faccessat", "faccessat2",	       /* is a journal there? */                   \
		"readlinkat", "getcwd",		       /* SQLite makes paths absolute */           \
		"lseek", "pread64", "pwrite64",	       /* pages and lines at their place */        \
		"preadv", "pwritev",		       /* libuv's form of these */                 \
		"fsync", "fdatasync",		       /* durable before we answer */              \
		"ftruncate", "fallocate",	       /* logs and databases change size */        \
		"fadvise64",			       /* giving read pages back */                \
		"flock", "fcntl:flags", "fcntl:locks", /* one writer */                            \
		"fchmod", "fchmodat",		       /* exact modes whatever the umask */        \
		"mkdirat", "renameat", "renameat2", "unlinkat", /* replacing in one step */        \
		"getuid", "geteuid", "fchown" /* SQLite gives journals the owner */

/* Threads made after confinement. Needs clone3 refused with ENOSYS, which this name brings. */
#define SANDBOX_CALLS_THREADS "clone:thread", "set_robust_list", "rseq"

/* A connector that forks copies of itself to run statements in, and kills them. Landlock keeps its
 * signals inside (ABI 6). The copies are as confined as itself; none can run another program. */
#define SANDBOX_CALLS_WORKERS                                                                      \
	"clone:fork", "set_robust_list",		    /* fork() */                           \
		"wait4", "waitid", "kill",		    /* and its end */                      \
		"socketpair", "dup2", "dup3", "close_range" /* the channel between them */

#endif
