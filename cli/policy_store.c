/* See policy_store.h. Each change is one file replaced or one line appended. */
#include "cli/policy_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define HISTORY_BYTES_MAX (64u << 20)
#define HISTORY "history.jsonl"

int policy_store_open(int workspace_fd, struct policy_store *ret_store, struct err *err)
{
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int config_fd = -1;

	if (dir_open_private_at(workspace_fd, "state", true, &state_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "config", true, &config_fd, err) < 0 ||
	    dir_open_private_at(config_fd, "policy", true, &ret_store->fd, err) < 0)
		return err_wrap(err, "state");
	return 0;
}

void policy_store_close(struct policy_store *store)
{
	if (store->fd > 0)
		close(store->fd);
	store->fd = 0;
}

static struct json *attempt_json(const struct policy_attempt *attempt)
{
	const struct passwd *user = getpwuid(geteuid());
	CLEANUP(mem_freep) char *uid = mem_format("uid-%u", (unsigned)geteuid());
	struct json *json = json_object();
	char at[TIMESTAMP_LEN + 1];

	timestamp_write(clock_now_us(), at);
	json_set_str(json, "at", at);
	json_set_str(json, "what", attempt->what);
	if (attempt->digest != NULL)
		json_set_str(json, "digest", attempt->digest);
	json_set_str(json, "by", user != NULL ? user->pw_name : uid);
	json_set_str(json, "result", attempt->reason == NULL ? "applied" : "refused");
	if (attempt->reason != NULL)
		json_set_str(json, "reason", attempt->reason);
	return json;
}

int policy_history_add(const struct policy_store *store, const struct policy_attempt *attempt,
		       struct err *err)
{
	CLEANUP(json_freep) struct json *json = attempt_json(attempt);
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(fd_closep)
	int fd = openat(store->fd, HISTORY, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		return err_errno(err, "state/config/policy/" HISTORY);
	json_write(json, &line);
	buf_add_char(&line, '\n');
	if (file_write_all(fd, line.bytes, line.len, err) < 0)
		return err_wrap(err, HISTORY);
	return fsync(fd) < 0 ? err_errno(err, HISTORY) : 0;
}

int policy_history_read(const struct policy_store *store, struct json **ret_lines, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct json *lines = json_array();
	const char *at, *end;

	if (file_read_at(store->fd, HISTORY, HISTORY_BYTES_MAX, &bytes, err) < 0 &&
	    err->kind != ERR_NOT_FOUND) {
		json_free(lines);
		return -1;
	}
	for (at = buf_str(&bytes); (end = strchr(at, '\n')) != NULL; at = end + 1) {
		struct json *line = NULL;

		if (json_parse(at, (size_t)(end - at), 1 << 16, &line, NULL) == 0)
			json_push(lines, line);
	}
	*ret_lines = lines;
	return 0;
}

static void read_hash(const struct policy_store *store, const char *name,
		      char ret_hash[SHA256_HEX_LEN + 1])
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;

	memset(ret_hash, 0, SHA256_HEX_LEN + 1);
	if (file_read_at(store->fd, name, 128, &line, NULL) == 0 &&
	    line.len == SHA256_HEX_LEN + 1 &&
	    strspn(line.bytes, "0123456789abcdef") == SHA256_HEX_LEN)
		memcpy(ret_hash, line.bytes, SHA256_HEX_LEN);
}

void policy_active(const struct policy_store *store, char ret_hash[SHA256_HEX_LEN + 1])
{
	read_hash(store, "active", ret_hash);
}

void policy_held(const struct policy_store *store, char ret_hash[SHA256_HEX_LEN + 1])
{
	read_hash(store, "held", ret_hash);
}

static int write_hash(const struct policy_store *store, const char *name, const char *hash,
		      struct err *err)
{
	CLEANUP(mem_freep) char *line = mem_format("%s\n", hash);

	return file_replace_at(store->fd, name, 0600, line, strlen(line), true, err);
}

int policy_activate(const struct policy_store *store, const char *hash, bool hold, struct err *err)
{
	if (hold && write_hash(store, "held", hash, err) < 0)
		return -1;
	if (!hold && unlinkat(store->fd, "held", 0) < 0 && errno != ENOENT)
		return err_errno(err, "remove held");
	return write_hash(store, "active", hash, err);
}

int policy_candidate(const struct policy_store *store, const char *hash, struct err *err)
{
	if (hash != NULL)
		return write_hash(store, "candidate", hash, err);
	if (unlinkat(store->fd, "candidate", 0) < 0 && errno != ENOENT)
		return err_errno(err, "remove candidate");
	return 0;
}
