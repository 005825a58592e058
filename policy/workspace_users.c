/*
 * Who people are: names of writ.yaml become the uids that the broker sees on its socket, looked up
 * once, here. Roles are the operating-system users that a service started as root turns into.
 */
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/workspace_parts.h"

#define USER_BYTES_MAX 64u /* as broker/user_map.h accepts them */
#define USER_GROUPS_MAX 64u
#define USER_ATTRIBUTES_MAX 32u

struct os_user {
	uid_t uid;
	gid_t gid;
};

/* 0 found, 1 there is none, -1 the list of users could not be read. */
static int find_user(const char *name, struct os_user *ret_user)
{
	long size = sysconf(_SC_GETPW_R_SIZE_MAX);
	size_t room = size > 0 ? (size_t)size : 16384;
	struct passwd entry;
	struct passwd *found = NULL;

	for (;;) {
		CLEANUP(mem_freep) char *text = mem_alloc(room);
		int error = getpwnam_r(name, &entry, text, room, &found);

		if (error == ERANGE && room < (1u << 20)) {
			room *= 2;
			continue;
		}
		if (found == NULL)
			return error == 0 || error == ENOENT ? 1 : -1;
		*ret_user = (struct os_user){found->pw_uid, found->pw_gid};
		return 0;
	}
}

/* "uid-1002", for users that no list of names knows, as the refusal of the broker words it. */
static bool read_uid(const char *name, struct os_user *ret_user)
{
	char again[32];
	long long uid;

	if (strncmp(name, "uid-", 4) != 0)
		return false;
	uid = strtoll(name + 4, NULL, 10);
	snprintf(again, sizeof(again), "uid-%lld", uid);
	if (strcmp(again, name) != 0 || uid < 0 || uid >= (long long)UINT32_MAX)
		return false; /* (uid_t)-1 names nobody */
	*ret_user = (struct os_user){(uid_t)uid, (gid_t)-1};
	return true;
}

static bool look_up(struct check *check, const struct yaml *node, const char *name,
		    struct os_user *ret_user)
{
	int result = find_user(name, ret_user);

	if (result > 0)
		check_fail(check, "unknown_user", node,
			   "this machine has no user \"%s\"; see getent passwd, or write anyone",
			   name);
	else if (result < 0)
		check_fail(check, "unknown_user", node,
			   "cannot look up \"%s\": the list of users could not be read", name);
	return result == 0;
}

/* A name as tokens and records carry it. */
static const char *person_name(struct check *check, const struct yaml *node, const char *what)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.@-";
	const char *name = check_text(check, node, what);

	if (name == NULL)
		return NULL;
	if (strlen(name) <= USER_BYTES_MAX && name[strspn(name, allowed)] == '\0')
		return name;
	check_fail(check, "bad_value", node,
		   "%s: letters, digits, \"_\", \".\", \"@\" and \"-\" only, at most %u", what,
		   USER_BYTES_MAX);
	return NULL;
}

static struct json *read_groups(struct check *check, const struct yaml *node)
{
	struct json *groups = json_array();

	if (node == NULL || (yaml_kind(node) == YAML_LIST && yaml_len(node) == 0))
		return groups; /* rules may still name the user */
	if (!check_list(check, node, "groups"))
		return groups;
	if (yaml_len(node) > USER_GROUPS_MAX)
		check_fail(check, "over_limit", node, "at most %u groups", USER_GROUPS_MAX);
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name = person_name(check, yaml_at(node, i), "a group");
		bool known = false;

		json_each(group, groups) known =
			known || (name != NULL && strcmp(json_str(group), name) == 0);
		if (known)
			check_fail(check, "duplicate", yaml_at(node, i), "\"%s\" stands twice",
				   name);
		else if (name != NULL)
			json_push_str(groups, name);
	}
	return groups;
}

/* Quoted is a text; digits alone are a number, true and false a truth value; else a text. */
static struct json *read_scalar(struct check *check, const struct yaml *node)
{
	int64_t number;
	bool truth;

	if (!yaml_is_null(node) && yaml_want_bool(node, &truth, NULL) == 0)
		return json_new_bool(truth);
	if (!yaml_is_null(node) &&
	    yaml_want_int(node, -JSON_INT_MAX, JSON_INT_MAX, &number, NULL) == 0)
		return json_new_int(number);
	return json_new_str(check_text(check, node, "an attribute"));
}

static struct json *read_attributes(struct check *check, const struct yaml *node)
{
	struct json *attributes = json_object();

	if (yaml_is_null(node) || yaml_kind(node) != YAML_MAP) {
		check_fail(check, "wrong_type", node,
			   "attributes must be a map like {clearance: 3, region: west}");
		return attributes;
	}
	if (yaml_len(node) > USER_ATTRIBUTES_MAX)
		check_fail(check, "over_limit", node, "at most %u attributes", USER_ATTRIBUTES_MAX);
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name = check_name(check, yaml_key(node, i), "an attribute");
		const struct yaml *value = yaml_value(node, i);
		struct json *list;

		if (name == NULL)
			continue;
		if (yaml_is_null(value) || yaml_kind(value) != YAML_LIST) {
			json_set(attributes, name, read_scalar(check, value));
			continue;
		}
		list = json_array();
		for (size_t n = 0; n < yaml_len(value); n++)
			json_push(list, read_scalar(check, yaml_at(value, n)));
		json_set(attributes, name, list);
	}
	return attributes;
}

static void read_rights(struct check *check, const struct yaml *node, const char *name,
			struct json *json)
{
	static const char *const keys[] = {"groups", "tenant", "attributes", NULL};
	CLEANUP(mem_freep) char *what = mem_format("user %s", name);
	const char *tenant;

	if (!check_map(check, node, what, keys))
		return;
	json_set(json, "groups", read_groups(check, yaml_get(node, "groups")));
	if (yaml_get(node, "attributes") != NULL)
		json_set(json, "attributes", read_attributes(check, yaml_get(node, "attributes")));
	tenant = person_name(check, yaml_get(node, "tenant"), "the tenant");
	if (tenant != NULL)
		json_set_str(json, "tenant", tenant);
}

static void add_user(struct check *check, const struct yaml *key, const struct yaml *value,
		     struct json *list)
{
	const char *name = person_name(check, key, "the name of a user");
	struct os_user user;
	struct json *json;

	if (name == NULL || (!read_uid(name, &user) && !look_up(check, key, name, &user)))
		return;
	json_each(other, list) if (json_get_int(other, "uid", -1) == (int64_t)user.uid)
		check_fail(check, "duplicate", key, "%s and %s are one user (uid %u)",
			   json_get_str(other, "name"), name, user.uid);
	json = json_object();
	json_set_int(json, "uid", user.uid);
	json_set_str(json, "name", name);
	read_rights(check, value, name, json);
	json_push(list, json);
}

void workspace_users(struct check *check, const struct yaml *node, struct json *users)
{
	struct json *list = json_array();

	if (node != NULL && (yaml_is_null(node) || yaml_kind(node) != YAML_MAP))
		check_fail(check, "wrong_type", node,
			   "users must be a map like {alice: {groups: [sales]}}");
	for (size_t i = 0; node != NULL && yaml_kind(node) == YAML_MAP && i < yaml_len(node); i++) {
		const struct yaml *key = yaml_key(node, i);

		if (strcmp(yaml_text(key), "anyone") == 0) {
			struct json *anyone = json_object();

			read_rights(check, yaml_value(node, i), "anyone", anyone);
			json_set(users, "anyone", anyone);
		} else {
			add_user(check, key, yaml_value(node, i), list);
		}
	}
	json_set(users, "users", list);
}

struct json *workspace_roles(struct check *check, const struct yaml *node)
{
	static const char *const programs[] = {"broker", "orchestrator", "signer", "sqlite", NULL};
	struct json *roles;

	if (node == NULL || !check_map(check, node, "roles", programs))
		return NULL;
	roles = json_object();
	for (size_t i = 0; programs[i] != NULL; i++) {
		CLEANUP(mem_freep)
		char *example = mem_format("%s: writ-%s", programs[i], programs[i]);
		const struct yaml *value = check_member(check, node, "roles", programs[i], example);
		const char *name = person_name(check, value, "a user");
		struct os_user user;
		struct json *json;

		if (name == NULL || !look_up(check, value, name, &user))
			continue;
		if (user.uid == 0)
			check_fail(check, "bad_value", value,
				   "%s must not run as root: make a user for it", programs[i]);
		json_each(other, roles) if (json_get_int(other, "uid", -1) == (int64_t)user.uid)
			check_fail(check, "duplicate", value, "%s and %s need users of their own",
				   json_key(other), programs[i]);
		json = json_object();
		json_set_int(json, "uid", user.uid);
		json_set_int(json, "gid", user.gid);
		json_set(roles, programs[i], json);
	}
	return roles;
}
