/*
 * Reading roles and giving away folders. Root walks here through folders that it owns itself, and
 * by descriptor; in those of others it looks at nothing. What can fail: a folder that is somebody
 * else's, and the operating system.
 */
#include "cli/program_roles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_BROKER] = "broker",
	[ROLE_ORCHESTRATOR] = "orchestrator",
	[ROLE_SIGNER] = "signer",
	[ROLE_SQLITE] = "sqlite",
};

static int refuse_root(const char *workspace, struct err *err)
{
	return err_set(err, ERR_DENIED,
		       "will not run as root without users for its programs: they would hold more "
		       "than they need. Start it as the user who owns %s, or add to writ.yaml:\n"
		       "roles:\n"
		       "  broker: writ-broker\n"
		       "  orchestrator: writ-orchestrator\n"
		       "  signer: writ-signer\n"
		       "  sqlite: writ-sqlite\n"
		       "and make these users:\n"
		       "for name in broker orchestrator signer sqlite; do useradd --system "
		       "--no-create-home --shell /usr/sbin/nologin writ-$name; done",
		       workspace);
}

static int read_role(const struct json *roles, const char *name, struct spawn_user *ret_user,
		     struct err *err)
{
	const struct json *role;
	int64_t uid, gid;

	if (json_want_object(roles, name, &role, err) < 0 ||
	    json_want_int(role, "uid", 1, UINT32_MAX - 1, &uid, err) < 0 ||
	    json_want_int(role, "gid", 1, UINT32_MAX - 1, &gid, err) < 0)
		return err_wrap(err, "roles: %s", name);
	*ret_user = (struct spawn_user){(uid_t)uid, (gid_t)gid};
	return 0;
}

int program_roles_read(const struct json *service, const char *workspace,
		       struct program_roles *ret_roles, bool *ret_used, struct err *err)
{
	const struct json *json = json_get(service, "roles");
	struct program_roles roles;

	if (json == NULL && geteuid() == 0)
		return refuse_root(workspace, err);
	if (json != NULL && geteuid() != 0)
		return err_set(
			err, ERR_DENIED,
			"writ.yaml gives the programs users of their own (roles), which only "
			"root can become: start it as root, or remove roles");
	*ret_used = json != NULL;
	if (json == NULL)
		return 0;
	for (size_t i = 0; i < ROLE_COUNT; i++)
		if (read_role(json, role_names[i], &roles.users[i], err) < 0)
			return -1;
	*ret_roles = roles;
	return 0;
}

/* ---- folders ---- */

struct share {
	const char *name;
	uid_t uid;
	gid_t gid;
	mode_t mode;	  /* of the folder */
	mode_t file_mode; /* 0: as they are */
};

static int give_files(int fd, const struct share *share, struct err *err)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	struct stat stat;
	int result = 0;

	if (folder == NULL) {
		fd_closep(&again);
		return err_errno(err, "%s: list", share->name);
	}
	while (result == 0 && (entry = readdir(folder)) != NULL) {
		if (fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		if (fchownat(fd, entry->d_name, share->uid, share->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
		    (share->file_mode != 0 && fchmodat(fd, entry->d_name, share->file_mode, 0) < 0))
			result = err_errno(err, "%s/%s: give it to user %u", share->name,
					   entry->d_name, share->uid);
	}
	closedir(folder);
	return result;
}

/* Only in a folder of root nobody else can have put anything; files first, so that an interrupted
 * run is made good by the next. */
static int give(int dir_fd, const struct share *share, int *ret_fd, struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat stat;

	if (mkdirat(dir_fd, share->name, 0700) < 0 && errno != EEXIST)
		return err_errno(err, "%s: make folder", share->name);
	fd = openat(dir_fd, share->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, "%s: open folder", share->name);
	if (stat.st_uid != 0 && stat.st_uid != share->uid)
		return err_set(err, ERR_DENIED,
			       "%s belongs to user %u, but its program runs as user %u; if that is "
			       "right, run: chown -R %u:%u %s",
			       share->name, stat.st_uid, share->uid, share->uid, share->gid,
			       share->name);
	if (stat.st_uid == 0 && give_files(fd, share, err) < 0)
		return -1;
	if (fchown(fd, share->uid, share->gid) < 0 || fchmod(fd, share->mode) < 0)
		return err_errno(err, "%s: give it to user %u", share->name, share->uid);
	if (ret_fd != NULL) {
		*ret_fd = fd;
		fd = -1;
	}
	return 0;
}

/* The signer cannot make a file in root's workspace, but write one that is its own. */
static int give_public_key(int workspace_fd, const struct spawn_user *signer, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(workspace_fd, "audit.pub", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, "audit.pub");
	if (stat.st_size > 0 && stat.st_uid == 0)
		return 0; /* written before; root keeps it */
	if (fchown(fd, signer->uid, signer->gid) < 0 || fchmod(fd, 0644) < 0)
		return err_errno(err, "audit.pub: give it to user %u", signer->uid);
	return 0;
}

int program_roles_give_state(int workspace_fd, const struct program_roles *roles, struct err *err)
{
	const struct spawn_user *broker = &roles->users[ROLE_BROKER];
	const struct spawn_user *orchestrator = &roles->users[ROLE_ORCHESTRATOR];
	const struct spawn_user *signer = &roles->users[ROLE_SIGNER];
	/* The sticky group bit: what a reload writes is the broker's to read from the start. */
	const struct share config = {"config", 0, broker->gid, 02750, 0640};
	const struct share policy = {"policy", 0, broker->gid, 02750, 0640};
	const struct share own[] = {
		{"broker", broker->uid, broker->gid, 0700, 0},
		{"audit", broker->uid, broker->gid, 0700, 0},
		{"signer", signer->uid, signer->gid, 0700, 0},
		{"tasks", orchestrator->uid, orchestrator->gid, 0700, 0},
	};
	const struct share state = {"state", 0, 0, 0711, 0};
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int config_fd = -1;

	if (give(workspace_fd, &state, &state_fd, err) < 0)
		return -1;
	if (give(state_fd, &config, &config_fd, err) < 0 || give(config_fd, &policy, NULL, err) < 0)
		return err_wrap(err, "state");
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (give(state_fd, &own[i], NULL, err) < 0)
			return err_wrap(err, "state");
	return give_public_key(workspace_fd, signer, err);
}
