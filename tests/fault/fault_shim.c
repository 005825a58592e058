/*
 * Preloaded into a program under test: counts its file system calls and makes one of them fail, or
 * keeps aside what a power cut would leave.
 *
 *   FAULT_UNDER  only calls on files below this folder count
 *   FAULT_AT     the number of the call that fails, from 1; 0: none
 *   FAULT_HOW    EIO, ENOSPC, EINTR, or short (a write that takes half; other calls: EIO)
 *   FAULT_TELL   a file that gets the number of calls at the end
 *   CUT_SHADOW   a folder: i<inode> is a file as it was last synced, d<inode> a folder's names
 *
 * A call that stays failed (EIO of a disk that is gone) is not simulated: after a failure the
 * writer must not go on anyway.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define EXPORT __attribute__((visibility("default")))

static atomic_long calls;

static bool is_ours(int fd)
{
	const char *under = getenv("FAULT_UNDER");
	char link[64];
	char path[PATH_MAX];
	ssize_t len;

	if (under == NULL)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	return strncmp(path, under, strlen(under)) == 0;
}

static bool is_path_ours(int dir_fd, const char *path)
{
	const char *under = getenv("FAULT_UNDER");

	if (under == NULL)
		return false;
	return path[0] == '/' || dir_fd == AT_FDCWD ? strncmp(path, under, strlen(under)) == 0
						    : is_ours(dir_fd);
}

/* 0: go on; else the errno to fail with; -1: a short write. */
static int fault(void)
{
	const char *at = getenv("FAULT_AT");
	const char *how = getenv("FAULT_HOW");
	long number = atomic_fetch_add(&calls, 1) + 1;

	if (at == NULL || how == NULL || number != atol(at))
		return 0;
	if (strcmp(how, "ENOSPC") == 0)
		return ENOSPC;
	if (strcmp(how, "EINTR") == 0)
		return EINTR;
	return strcmp(how, "short") == 0 ? -1 : EIO;
}

static int failed(int how)
{
	errno = how == -1 ? EIO : how;
	return -1;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAULT_TELL");
	FILE *file = path == NULL ? NULL : fopen(path, "w");

	if (file == NULL)
		return;
	fprintf(file, "%ld\n", atomic_load(&calls));
	fclose(file);
}

/* The shadow. */
static void keep_file(int fd, const struct stat *stat, const char *shadow)
{
	static atomic_int serial;
	char temporary[PATH_MAX];
	char path[PATH_MAX];
	char bytes[16384];
	off_t at = 0;
	ssize_t got;
	int out;

	snprintf(path, sizeof(path), "%s/i%lu", shadow, (unsigned long)stat->st_ino);
	snprintf(temporary, sizeof(temporary), "%s/t%d", shadow, atomic_fetch_add(&serial, 1));
	out = REAL(open)(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	/* The descriptor may be one for writing alone. */
	snprintf(bytes, sizeof(bytes), "/proc/self/fd/%d", fd);
	fd = REAL(open)(bytes, O_RDONLY);
	while (out >= 0 && fd >= 0 && (got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		if (REAL(write)(out, bytes, (size_t)got) != got)
			abort();
		at += got;
	}
	close(fd);
	close(out);
	rename(temporary, path);
}

static void keep_folder(int fd, const struct stat *stat, const char *shadow)
{
	static atomic_int serial;
	char temporary[PATH_MAX];
	char path[PATH_MAX];
	FILE *out;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/d%lu", shadow, (unsigned long)stat->st_ino);
	snprintf(temporary, sizeof(temporary), "%s/u%d", shadow, atomic_fetch_add(&serial, 1));
	out = fopen(temporary, "w");
	folder = fdopendir(REAL(openat)(fd, ".", O_RDONLY | O_DIRECTORY));
	if (out == NULL || folder == NULL)
		abort();
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
			fprintf(out, "%lu %c %s\n", (unsigned long)entry->d_ino,
				entry->d_type == DT_DIR ? 'd' : 'f', entry->d_name);
	closedir(folder);
	fclose(out);
	rename(temporary, path);
}

static void keep(int fd)
{
	const char *shadow = getenv("CUT_SHADOW");
	struct stat stat;

	if (shadow == NULL || fstat(fd, &stat) < 0)
		return;
	if (S_ISREG(stat.st_mode))
		keep_file(fd, &stat, shadow);
	else if (S_ISDIR(stat.st_mode))
		keep_folder(fd, &stat, shadow);
}

/* The calls. */
#define FAIL_IF(condition)                                                                         \
	do {                                                                                       \
		int how = (condition) ? fault() : 0;                                               \
		if (how != 0)                                                                      \
			return failed(how);                                                        \
	} while (0)

static ssize_t half(int how, size_t *len)
{
	if (how == -1 && *len > 1) {
		*len /= 2;
		return 0;
	}
	return how == 0 ? 0 : failed(how);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
	if (half(is_ours(fd) ? fault() : 0, &len) < 0)
		return -1;
	return REAL(write)(fd, bytes, len);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	if (half(is_ours(fd) ? fault() : 0, &len) < 0)
		return -1;
	return REAL(pwrite)(fd, bytes, len, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
	return pwrite(fd, bytes, len, at);
}

EXPORT int fsync(int fd)
{
	int result;

	FAIL_IF(is_ours(fd));
	result = REAL(fsync)(fd);
	if (result == 0 && is_ours(fd))
		keep(fd);
	return result;
}

EXPORT int fdatasync(int fd)
{
	int result;

	FAIL_IF(is_ours(fd));
	result = REAL(fdatasync)(fd);
	if (result == 0 && is_ours(fd))
		keep(fd);
	return result;
}

EXPORT int ftruncate(int fd, off_t len)
{
	FAIL_IF(is_ours(fd));
	return REAL(ftruncate)(fd, len);
}

EXPORT int ftruncate64(int fd, off64_t len)
{
	return ftruncate(fd, len);
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	FAIL_IF(is_path_ours(from_fd, from));
	return REAL(renameat)(from_fd, from, to_fd, to);
}

EXPORT int unlinkat(int fd, const char *path, int flags)
{
	FAIL_IF(is_path_ours(fd, path));
	return REAL(unlinkat)(fd, path, flags);
}

EXPORT int unlink(const char *path)
{
	FAIL_IF(is_path_ours(AT_FDCWD, path));
	return REAL(unlink)(path);
}

EXPORT int mkdirat(int fd, const char *path, mode_t mode)
{
	FAIL_IF(is_path_ours(fd, path));
	return REAL(mkdirat)(fd, path, mode);
}

static mode_t mode_of(int flags, va_list *args)
{
	return (flags & O_CREAT) != 0 ? (mode_t)va_arg(*args, unsigned int) : 0;
}

EXPORT int openat(int fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, &args);
	va_end(args);
	FAIL_IF(is_path_ours(fd, path));
	return REAL(openat)(fd, path, flags, mode);
}

EXPORT int openat64(int fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, &args);
	va_end(args);
	return openat(fd, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, &args);
	va_end(args);
	FAIL_IF(is_path_ours(AT_FDCWD, path));
	return REAL(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, &args);
	va_end(args);
	return open(path, flags, mode);
}
