/* Writing audit.pub once, and holding it against our key ever after. */
#include "broker/signer/publish.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define PUBLIC_FILE "audit.pub"
#define PUBLIC_BYTES_MAX 4096u

/* In a workspace that is not ours, where we can make no file, an empty one was made for us. */
static bool was_given(int workspace_fd)
{
	struct stat folder, file;

	return fstat(workspace_fd, &folder) == 0 && folder.st_uid != geteuid() &&
	       fstatat(workspace_fd, PUBLIC_FILE, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_uid == geteuid();
}

/* What a power cut leaves of it is found at
 * the next start, as a key that is not ours. */
static int write_in_place(int workspace_fd, const struct buf *text, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(workspace_fd, PUBLIC_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_errno(err, PUBLIC_FILE);
	if (file_write_all(fd, text->bytes, text->len, err) < 0)
		return err_wrap(err, PUBLIC_FILE);
	return fsync(fd) < 0 ? err_errno(err, PUBLIC_FILE) : 0;
}

static int write_new(int workspace_fd, bool in_place, const struct vkey *log_key, const char *vkey,
		     struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	char fingerprint[SHA256_HEX_LEN + 1];

	vkey_fingerprint(log_key, fingerprint);
	buf_addf(&text,
		 "# The key that signs this workspace's audit log. Keep a copy, or the "
		 "fingerprint,\n"
		 "# where nobody who can write the log can change it.\n"
		 "# fingerprint SHA-256 %s\n%s\n",
		 fingerprint, vkey);
	if (in_place)
		return write_in_place(workspace_fd, &text, err);
	return file_replace_at(workspace_fd, PUBLIC_FILE, 0644, text.bytes, text.len, true, err);
}

static bool names_key(char *text, const char *vkey)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (line[0] != '#')
			return strcmp(line, vkey) == 0;
	return false;
}

int signer_publish(int workspace_fd, const struct vkey *log_key, struct err *err)
{
	CLEANUP(buf_clear) struct buf vkey = BUF_INIT;
	CLEANUP(buf_clear) struct buf found = BUF_INIT;
	struct err why = {0};

	vkey_write(log_key, &vkey);
	if (file_read_at(workspace_fd, PUBLIC_FILE, PUBLIC_BYTES_MAX, &found, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return write_new(workspace_fd, false, log_key, buf_str(&vkey), err);
		return err_set(err, why.kind, PUBLIC_FILE ": %s", why.text);
	}
	if (found.len == 0 && was_given(workspace_fd))
		return write_new(workspace_fd, true, log_key, buf_str(&vkey), err);
	if (found.len == 0 || !names_key(found.bytes, buf_str(&vkey)))
		return err_set(err, ERR_INVALID,
			       PUBLIC_FILE " names another key than state/signer holds: state/ was "
					   "replaced or " PUBLIC_FILE
					   " was. If you know why, move " PUBLIC_FILE
					   " away to accept the new log; if not, keep both and ask "
					   "your auditors");
	return 0;
}
