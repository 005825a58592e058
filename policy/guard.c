/* Owner and mode of what is read: see guard.h. */
#include "policy/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int check(const struct stat *info, const char *shown, uid_t owner, struct err *err)
{
	if (info->st_uid != 0 && info->st_uid != owner)
		return err_set(err, ERR_DENIED,
			       "%s belongs to another user (uid %u), who could change it; make it "
			       "belong to uid %u",
			       shown, info->st_uid, owner);
	if ((info->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	return err_set(err, ERR_DENIED, "%s can be written by others; run: chmod go-w %s", shown,
		       shown);
}

int guard_file(int dir_fd, const char *name, const char *shown, uid_t owner, struct err *err)
{
	struct stat info;

	if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return err_set(err, ERR_NOT_FOUND, "%s: no such file", shown);
		return err_errno(err, "%s", shown);
	}
	if (S_ISLNK(info.st_mode))
		return err_set(err, ERR_DENIED, "%s is a link; put the file itself there", shown);
	return check(&info, shown, owner, err);
}

int guard_folder(int fd, const char *shown, uid_t owner, struct err *err)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return err_errno(err, "%s", shown);
	return check(&info, shown, owner, err);
}
