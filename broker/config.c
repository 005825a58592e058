/*
 * The bundle must be what its name says: state/config/policy/active holds a SHA-256, and the bytes
 * of state/config/policy/<sha256>.json must have it. A damaged file is an error and never a smaller
 * policy.
 */
#include "broker/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

#define BUNDLE_FILE_MAX (32u << 20)
#define USERS_FILE_MAX (4u << 20)
#define SETTING_FILE_MAX 4096u
#define MODEL_FILE_MAX (8u << 20)
#define AUDIT_FILE_MAX (1u << 20)

void config_free(struct config *config)
{
	if (config == NULL)
		return;
	bundle_free(config->bundle);
	bundle_free(config->candidate);
	user_map_free(config->users);
	json_free(config->setting);
	json_free(config->models);
	json_free(config->audit);
	mem_free(config);
}

void config_freep(struct config **config)
{
	config_free(*config);
}

/* file: active or candidate. */
static int read_hash(int policy_fd, const char *file, char ret_digest[SHA256_HEX_LEN + 1],
		     struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t len;

	if (file_read_at(policy_fd, file, 256, &text, err) < 0)
		return -1;
	len = strspn(buf_str(&text), "0123456789abcdef");
	if (len != SHA256_HEX_LEN || text.len > len + 1 ||
	    (text.len == len + 1 && text.bytes[len] != '\n'))
		return err_set(err, ERR_INVALID, "%s: not one line with a SHA-256", file);
	memcpy(ret_digest, text.bytes, len);
	ret_digest[len] = '\0';
	return 0;
}

static int load_bundle(int config_fd, const char *file, struct bundle **ret_bundle, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(config_fd, "policy", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	char digest[SHA256_HEX_LEN + 1];
	char name[SHA256_HEX_LEN + 8];

	if (fd < 0)
		return err_errno(err, "open");
	if (read_hash(fd, file, digest, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.json", digest);
	if (file_read_at(fd, name, BUNDLE_FILE_MAX, &bytes, err) < 0)
		return -1;
	if (bundle_read(buf_str(&bytes), bytes.len, &bundle, err) < 0)
		return err_wrap(err, "%s", name);
	if (strcmp(bundle_digest(bundle), digest) != 0)
		return err_set(err, ERR_INVALID, "%s: its bytes have another SHA-256", name);
	*ret_bundle = TAKE(bundle);
	return 0;
}

static int load_json(int config_fd, const char *name, size_t max, struct json **ret_json,
		     struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(config_fd, name, max, &bytes, err) < 0)
		return -1;
	if (json_parse(buf_str(&bytes), bytes.len, max, ret_json, err) < 0)
		return err_wrap(err, "%s", name);
	return 0;
}

static int load_users(int config_fd, struct user_map **ret_users, struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;

	if (load_json(config_fd, "users.json", USERS_FILE_MAX, &json, err) < 0)
		return -1;
	return user_map_read(json, ret_users, err) < 0 ? err_wrap(err, "users.json") : 0;
}

/* Absent where nothing was named when it was written: no environment. */
static int load_setting(int config_fd, struct json **ret_setting, struct err *err)
{
	static const char *const members[] = {"environment", NULL};
	CLEANUP(json_freep) struct json *json = NULL;

	if (load_json(config_fd, "setting.json", SETTING_FILE_MAX, &json, err) < 0) {
		if (err->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(err);
		json = json_object();
	}
	if (json_only(json, members, err) < 0 || (!json_is_null(json_get(json, "environment")) &&
						  json_get_str(json, "environment") == NULL))
		return err_set(err, ERR_INVALID, "setting.json: not {\"environment\": name}");
	*ret_setting = TAKE(json);
	return 0;
}

/* An absent file is an empty object. */
static int load_object(int config_fd, const char *name, size_t max, struct json **ret_json,
		       struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;

	if (load_json(config_fd, name, max, &json, err) < 0) {
		if (err->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(err);
		json = json_object();
	}
	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "%s: not an object", name);
	*ret_json = TAKE(json);
	return 0;
}

/* What is only tried out must not keep anything from working. */
static void load_candidate(int config_fd, struct config *config)
{
	struct err err = {0};

	if (load_bundle(config_fd, "candidate", &config->candidate, &err) < 0 &&
	    err.kind != ERR_NOT_FOUND)
		log_error("the candidate policy is not decided on: %s", err.text);
}

int config_load(int config_fd, struct config **ret_config, struct err *err)
{
	CLEANUP(config_freep) struct config *config = mem_alloc(sizeof(*config));

	if (load_bundle(config_fd, "active", &config->bundle, err) < 0)
		return err_wrap(err, "state/config/policy");
	load_candidate(config_fd, config);
	if (load_users(config_fd, &config->users, err) < 0 ||
	    load_setting(config_fd, &config->setting, err) < 0 ||
	    load_object(config_fd, "model.json", MODEL_FILE_MAX, &config->models, err) < 0 ||
	    load_object(config_fd, "audit.json", AUDIT_FILE_MAX, &config->audit, err) < 0)
		return err_wrap(err, "state/config");
	*ret_config = TAKE(config);
	return 0;
}
