/*
 * The digest of everything that goes into, and comes out of, the compile step; see compiled.h. Each
 * part is framed by its name and length, so no two states share a stream. What can fail is reading,
 * and any failure only means that the step runs.
 */
#include "cli/compiled.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/spawn.h"

#define COMPILED_NAME "compiled"
#define FOLDER_ENTRIES_MAX 4096u
#define FILE_BYTES_MAX (64u << 20) /* as a bundle is bounded (policy/policy.h) */
#define SERVICE_BYTES_MAX (1u << 20)
#define SQLITE_HEADER_LEN 100 /* sqlite.org/fileformat2.html, 1.3 */

static int doubt(struct err *err, const char *name, const char *why)
{
	return err_set(err, ERR_UNAVAILABLE, "%s: %s", name, why);
}

static void add_text(struct sha256 *digest, const char *text)
{
	sha256_add(digest, text, strlen(text) + 1);
}

/* times: also those of the last change. The kernel sets st_ctim at every change of content or mode,
 * and nobody can set it back. */
static void add_stat(struct sha256 *digest, const char *name, const struct stat *info, bool times)
{
	CLEANUP(mem_freep)
	char *text = mem_format("%s\n%ju %ju %o %u %u %jd", name, (uintmax_t)info->st_dev,
				(uintmax_t)info->st_ino, (unsigned)info->st_mode,
				(unsigned)info->st_uid, (unsigned)info->st_gid,
				S_ISREG(info->st_mode) ? (intmax_t)info->st_size : (intmax_t)-1);
	CLEANUP(mem_freep)
	char *when = mem_format("%jd.%09ld %jd.%09ld", (intmax_t)info->st_mtim.tv_sec,
				info->st_mtim.tv_nsec, (intmax_t)info->st_ctim.tv_sec,
				info->st_ctim.tv_nsec);

	add_text(digest, text);
	add_text(digest, times ? when : "");
}

/* ---- what people write ---- */

static int add_content(struct sha256 *digest, int fd, const char *name, struct err *err)
{
	uint8_t bytes[16384];
	size_t all = 0;
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "%s", name);
		all += (size_t)got;
		if (all > FILE_BYTES_MAX)
			return doubt(err, name, "too large");
		sha256_add(digest, bytes, (size_t)got);
	}
	sha256_add(digest, &all, sizeof(all));
	return 0;
}

/* O_NONBLOCK: opening a FIFO put in its place must not hang. */
static int open_regular(int dir_fd, const char *name, struct stat *ret_info, struct err *err)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return err_errno(err, "%s", name);
	if (fstat(fd, ret_info) == 0 && S_ISREG(ret_info->st_mode))
		return fd;
	close(fd);
	return doubt(err, name, "no regular file");
}

static int add_file(struct sha256 *digest, int dir_fd, const char *name, bool times,
		    struct err *err)
{
	struct stat info;
	CLEANUP(fd_closep) int fd = open_regular(dir_fd, name, &info, err);

	if (fd < 0)
		return -1;
	if (times)
		add_stat(digest, name, &info, true);
	else
		add_text(digest, name);
	return add_content(digest, fd, name, err);
}

static void free_entries(struct dirent ***entries)
{
	for (struct dirent **entry = *entries; entry != NULL && *entry != NULL; entry++)
		free(*entry);
	free(*entries);
	*entries = NULL;
}

static int is_no_dot(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_entries(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int add_entry(struct sha256 *digest, int dir_fd, const char *name, struct err *err)
{
	struct stat info;

	if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "%s", name);
	if (S_ISREG(info.st_mode))
		return add_file(digest, dir_fd, name, true, err);
	if (!S_ISDIR(info.st_mode))
		return doubt(err, name, "no regular file");
	add_stat(digest, name, &info, false); /* the step reads no folder in a folder */
	return 0;
}

/* scandir(3) gives no NULL at the end, so that which frees needs one. */
static int list_entries(int fd, const char *name, struct dirent ***ret_entries, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandirat(fd, ".", &entries, is_no_dot, compare_entries);

	if (count < 0)
		return err_errno(err, "%s", name);
	entries = mem_grow(entries, ((size_t)count + 1) * sizeof(*entries));
	entries[count] = NULL;
	*ret_entries = entries;
	return count <= (int)FOLDER_ENTRIES_MAX ? 0 : doubt(err, name, "too many files");
}

static int add_folder(struct sha256 *digest, int workspace_fd, const char *name, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(workspace_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(free_entries) struct dirent **entries = NULL;
	struct stat info;

	if (fd < 0 && errno == ENOENT) {
		add_text(digest, "no folder");
		return 0;
	}
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_errno(err, "%s", name);
	add_stat(digest, name, &info, true);
	if (list_entries(fd, name, &entries, err) < 0)
		return -1;
	for (struct dirent **entry = entries; *entry != NULL; entry++)
		if (add_entry(digest, fd, (*entry)->d_name, err) < 0)
			return -1;
	return 0;
}

static int add_written(struct sha256 *digest, int workspace_fd, struct err *err)
{
	static const char *const folders[] = {"scopes", "metrics", "queries"};
	struct stat info;

	if (fstat(workspace_fd, &info) < 0)
		return err_errno(err, "the workspace");
	add_stat(digest, "workspace", &info, false); /* run/ comes and goes in it */
	if (add_file(digest, workspace_fd, "writ.yaml", true, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (add_folder(digest, workspace_fd, folders[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the databases ---- */

/* What a transaction has not, or not only, written to the database itself. */
static int check_settled(const char *path, const char *ending, struct err *err)
{
	CLEANUP(mem_freep) char *beside = mem_format("%s%s", path, ending);
	struct stat info;

	if (lstat(beside, &info) < 0)
		return errno == ENOENT ? 0 : err_errno(err, "%s", beside);
	return S_ISREG(info.st_mode) && info.st_size == 0 ? 0 : doubt(err, beside, "not empty");
}

/* The path as written still leads to the file that it led to. */
static int check_leads_to(const char *path, const char *written, struct err *err)
{
	char *real = realpath(written, NULL);
	bool same = real != NULL && strcmp(real, path) == 0;

	free(real);
	return same ? 0 : doubt(err, written, "leads elsewhere");
}

static int add_database(struct sha256 *digest, const char *path, const char *written,
			struct err *err)
{
	uint8_t header[SQLITE_HEADER_LEN] = {0}; /* schema cookie and change counter are in it */
	struct stat info;
	CLEANUP(fd_closep) int fd = -1;

	if (check_leads_to(path, written, err) < 0 || check_settled(path, "-wal", err) < 0 ||
	    check_settled(path, "-journal", err) < 0)
		return -1;
	fd = open_regular(AT_FDCWD, path, &info, err);
	if (fd < 0)
		return -1;
	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return doubt(err, path, "no database");
	add_stat(digest, path, &info, true);
	sha256_add(digest, header, sizeof(header));
	return 0;
}

static int add_databases(struct sha256 *digest, const struct json *service, struct err *err)
{
	json_each(source, json_get(service, "sources"))
	{
		const char *path = json_get_str(source, "path");
		const char *through = json_get_str(source, "through");

		if (path == NULL)
			return doubt(err, json_key(source), "no path");
		if (add_database(digest, path, through != NULL ? through : path, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- what the step has written ---- */

/* The one that is in force; and "held" keeps the step from changing which that is. */
static int add_policy(struct sha256 *digest, int config_fd, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(config_fd, "policy", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(buf_clear) struct buf active = BUF_INIT;
	CLEANUP(mem_freep) char *name = NULL;
	struct stat info;

	if (fd < 0)
		return err_errno(err, "policy");
	if (file_read_at(fd, "active", SHA256_HEX_LEN + 1, &active, err) < 0)
		return -1;
	if (active.len != SHA256_HEX_LEN + 1 || active.bytes[SHA256_HEX_LEN] != '\n' ||
	    strchr(buf_str(&active), '/') != NULL)
		return doubt(err, "active", "no digest");
	name = mem_format("%.*s.json", SHA256_HEX_LEN, buf_str(&active));
	if (fstatat(fd, "held", &info, AT_SYMLINK_NOFOLLOW) == 0)
		return doubt(err, "held", "a policy is held");
	return add_file(digest, fd, name, false, err);
}

static int add_state(struct sha256 *digest, int state_fd, struct err *err)
{
	static const char *const names[] = {"users.json", "setting.json", "audit.json",
					    "model.json"};
	CLEANUP(fd_closep) int config_fd = -1;

	if (dir_open_private_at(state_fd, "config", false, &config_fd, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (add_file(digest, config_fd, names[i], false, err) < 0)
			return -1;
	return add_policy(digest, config_fd, err);
}

static int read_json(int dir_fd, const char *name, struct json **ret_json, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(dir_fd, name, SERVICE_BYTES_MAX, &bytes, err) < 0)
		return -1;
	return json_parse(buf_str(&bytes), bytes.len, SERVICE_BYTES_MAX, ret_json, err);
}

/* Names of users are looked up by the operating system, from wherever it has them. */
static int check_no_names(int state_fd, const struct json *service, struct err *err)
{
	CLEANUP(json_freep) struct json *users = NULL;

	if (read_json(state_fd, "config/users.json", &users, err) < 0)
		return -1;
	json_each(user, json_get(users, "users"))
	{
		const char *name = json_get_str(user, "name");

		if (name == NULL || strncmp(name, "uid-", 4) != 0)
			return doubt(err, "users.json", "holds names");
	}
	return json_get(service, "roles") == NULL ? 0 : doubt(err, "service.json", "holds roles");
}

/* ---- the programs that take part ---- */

static int add_programs(struct sha256 *digest, struct err *err)
{
	static const char *const names[] = {"writ", "writ-sqlite"};
	CLEANUP(mem_freep) char *folder = NULL;

	if (spawn_folder(&folder, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, names[i]);
		struct stat info;

		if (stat(i == 0 ? "/proc/self/exe" : path, &info) == 0)
			add_stat(digest, names[i], &info, true);
		else if (errno == ENOENT)
			add_text(digest, "no program");
		else
			return err_errno(err, "%s", path);
	}
	return 0;
}

/* ---- all of it ---- */

static void end_hex(const struct sha256 *digest, char out[SHA256_HEX_LEN + 1])
{
	struct sha256 copy = *digest;
	uint8_t bytes[SHA256_LEN];

	sha256_end(&copy, bytes);
	hex_write(bytes, sizeof(bytes), out);
}

int compiled_take(int workspace_fd, const char *workspace, struct compiled *ret, struct err *err)
{
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(json_freep) struct json *service = NULL;
	struct compiled compiled;
	struct sha256 digest;

	sha256_init(&digest);
	add_text(&digest, "writ compiled 1");
	add_text(&digest, WRIT_VERSION);
	add_text(&digest, workspace);
	if (dir_open_private_at(workspace_fd, "state", false, &state_fd, err) < 0 ||
	    read_json(state_fd, "service.json", &service, err) < 0 ||
	    check_no_names(state_fd, service, err) < 0)
		return -1;
	if (add_programs(&digest, err) < 0 || add_written(&digest, workspace_fd, err) < 0 ||
	    add_databases(&digest, service, err) < 0)
		return -1;
	end_hex(&digest, compiled.read);
	if (add_file(&digest, state_fd, "service.json", false, err) < 0 ||
	    add_state(&digest, state_fd, err) < 0)
		return -1;
	end_hex(&digest, compiled.hex);
	*ret = compiled;
	return 0;
}

static int open_config(int workspace_fd, int *ret_fd, struct err *err)
{
	CLEANUP(fd_closep) int state_fd = -1;

	if (dir_open_private_at(workspace_fd, "state", false, &state_fd, err) < 0)
		return -1;
	return dir_open_private_at(state_fd, "config", false, ret_fd, err);
}

bool compiled_is_kept(int workspace_fd, const struct compiled *compiled)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(fd_closep) int fd = -1;
	struct err err = {0};

	return open_config(workspace_fd, &fd, &err) == 0 &&
	       file_read_at(fd, COMPILED_NAME, SHA256_HEX_LEN + 1, &line, &err) == 0 &&
	       line.len == SHA256_HEX_LEN + 1 && line.bytes[SHA256_HEX_LEN] == '\n' &&
	       memcmp(line.bytes, compiled->hex, SHA256_HEX_LEN) == 0;
}

int compiled_keep(int workspace_fd, const struct compiled *compiled, struct err *err)
{
	CLEANUP(mem_freep) char *line = mem_format("%s\n", compiled->hex);
	CLEANUP(fd_closep) int fd = -1;

	if (open_config(workspace_fd, &fd, err) < 0)
		return -1;
	return file_replace_at(fd, COMPILED_NAME, 0600, line, strlen(line), false, err);
}
