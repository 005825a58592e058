/*
 * Reads the map strictly: an unknown member, a bad name, a user or uid twice is an error, because a
 * half-understood map would give someone another's rights.
 */
#include "broker/user_map.h"

#include <string.h>

#define USERS_MAX 10000
#define UID_MAX 4294967294LL /* (uid_t)-1 names nobody */

struct entry {
	int64_t uid;
	struct user user;
};

struct user_map {
	int64_t owner_uid;
	struct entry *entries; /* owned */
	size_t count;
	bool anyone;
	struct user anyone_user; /* its groups and tenant; no name */
};

void user_clear(struct user *user)
{
	for (size_t i = 0; i < user->group_count; i++)
		mem_free(user->groups[i]);
	mem_free(user->groups);
	mem_free(user->name);
	mem_free(user->tenant);
	json_free(user->attributes);
	*user = (struct user){0};
}

void user_map_free(struct user_map *map)
{
	if (map == NULL)
		return;
	for (size_t i = 0; i < map->count; i++)
		user_clear(&map->entries[i].user);
	user_clear(&map->anyone_user);
	mem_free(map->entries);
	mem_free(map);
}

void user_map_freep(struct user_map **map)
{
	user_map_free(*map);
}

static bool name_fits(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= USER_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_.@-") == len;
}

static bool is_scalar(const struct json *value)
{
	enum json_type type = json_type(value);

	return type == JSON_STRING || type == JSON_INT || type == JSON_BOOL;
}

static int read_attributes(const struct json *attributes, struct user *user, struct err *err)
{
	if (json_is_null(attributes))
		return 0;
	if (json_type(attributes) != JSON_OBJECT || json_len(attributes) > USER_ATTRIBUTES_MAX)
		return err_set(err, ERR_INVALID, "attributes must be an object of at most %d",
			       USER_ATTRIBUTES_MAX);
	json_each(value, attributes)
	{
		bool sound = is_scalar(value) || json_type(value) == JSON_ARRAY;

		if (json_type(value) == JSON_ARRAY)
			json_each(item, value) sound = sound && is_scalar(item);
		if (!sound)
			return err_set(err, ERR_INVALID,
				       "attribute %.64s is no text, integer, truth value or list",
				       json_key(value));
	}
	user->attributes = json_copy(attributes);
	return 0;
}

static int read_rights(const struct json *object, struct user *user, struct err *err)
{
	const struct json *groups;
	const struct json *tenant = json_get(object, "tenant");

	if (json_want_array(object, "groups", &groups, err) < 0)
		return -1;
	if (json_len(groups) > USER_GROUPS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d groups", USER_GROUPS_MAX);
	user->groups = mem_array(json_len(groups) + 1, sizeof(*user->groups));
	json_each(group, groups)
	{
		const char *name = json_str(group);

		if (name == NULL || !name_fits(name))
			return err_set(err, ERR_INVALID, "a group is not a name");
		user->groups[user->group_count++] = mem_str(name);
	}
	if (read_attributes(json_get(object, "attributes"), user, err) < 0)
		return -1;
	if (json_is_null(tenant))
		return 0;
	if (json_str(tenant) == NULL || !name_fits(json_str(tenant)))
		return err_set(err, ERR_INVALID, "the tenant is not a name");
	user->tenant = mem_str(json_str(tenant));
	return 0;
}

static const struct entry *entry_by_name(const struct user_map *map, const char *name)
{
	for (size_t i = 0; i < map->count; i++) {
		if (strcmp(map->entries[i].user.name, name) == 0)
			return &map->entries[i];
	}
	return NULL;
}

static const struct entry *entry_by_uid(const struct user_map *map, int64_t uid)
{
	for (size_t i = 0; i < map->count; i++) {
		if (map->entries[i].uid == uid)
			return &map->entries[i];
	}
	return NULL;
}

static int read_entry(struct user_map *map, const struct json *object, struct err *err)
{
	static const char *const members[] = {"uid",	"name",	      "groups",
					      "tenant", "attributes", NULL};
	struct entry *entry = &map->entries[map->count];
	const char *name;
	int64_t uid;

	if (json_only(object, members, err) < 0 ||
	    json_want_int(object, "uid", 0, UID_MAX, &uid, err) < 0 ||
	    json_want_str(object, "name", &name, err) < 0)
		return -1;
	if (!name_fits(name))
		return err_set(err, ERR_INVALID,
			       "\"name\" is not a name of 1 to %d letters, "
			       "digits, _ . @ -",
			       USER_NAME_MAX);
	if (entry_by_name(map, name) != NULL)
		return err_set(err, ERR_INVALID, "user %s appears twice", name);
	if (entry_by_uid(map, uid) != NULL)
		return err_set(err, ERR_INVALID, "uid %lld appears twice", (long long)uid);
	entry->uid = uid;
	entry->user.name = mem_str(name);
	map->count++;
	if (read_rights(object, &entry->user, err) < 0)
		return err_wrap(err, "user %s", name);
	return 0;
}

static int read_anyone(struct user_map *map, const struct json *object, struct err *err)
{
	static const char *const members[] = {"groups", "tenant", "attributes", NULL};

	if (json_is_null(object))
		return 0;
	if (json_only(object, members, err) < 0 || read_rights(object, &map->anyone_user, err) < 0)
		return err_wrap(err, "anyone");
	map->anyone = true;
	return 0;
}

int user_map_read(const struct json *json, struct user_map **ret_map, struct err *err)
{
	static const char *const members[] = {"owner_uid", "users", "anyone", NULL};
	CLEANUP(user_map_freep) struct user_map *map = mem_alloc(sizeof(*map));
	const struct json *users;

	if (json_only(json, members, err) < 0 ||
	    json_want_int(json, "owner_uid", 0, UID_MAX, &map->owner_uid, err) < 0 ||
	    json_want_array(json, "users", &users, err) < 0)
		return -1;
	if (json_len(users) > USERS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d users", USERS_MAX);
	map->entries = mem_array(json_len(users) + 1, sizeof(*map->entries));
	json_each(user, users)
	{
		if (read_entry(map, user, err) < 0)
			return -1;
	}
	if (read_anyone(map, json_get(json, "anyone"), err) < 0)
		return -1;
	*ret_map = TAKE(map);
	return 0;
}

static void copy_rights(const struct user *from, struct user *to)
{
	to->groups = mem_array(from->group_count + 1, sizeof(*to->groups));
	for (size_t i = 0; i < from->group_count; i++)
		to->groups[to->group_count++] = mem_str(from->groups[i]);
	to->tenant = mem_str(from->tenant);
	to->attributes = from->attributes == NULL ? NULL : json_copy(from->attributes);
}

/* The login, or "uid-N" where it is missing, unfit, or stands for someone else. */
static int name_unlisted(const struct user_map *map, int64_t uid, const char *login,
			 char **ret_name, struct err *err)
{
	CLEANUP(mem_freep) char *name = NULL;

	if (login != NULL && name_fits(login) && entry_by_name(map, login) == NULL &&
	    strncmp(login, "uid-", 4) != 0)
		name = mem_str(login);
	else
		name = mem_format("uid-%lld", (long long)uid);
	if (entry_by_name(map, name) != NULL)
		return err_set(err, ERR_DENIED, "uid %lld would bear another user's name",
			       (long long)uid);
	*ret_name = TAKE(name);
	return 0;
}

int user_map_find(const struct user_map *map, int64_t uid, const char *login, struct user *ret_user,
		  struct err *err)
{
	const struct entry *entry = entry_by_uid(map, uid);
	struct user user = {0};

	if (entry != NULL) {
		user.name = mem_str(entry->user.name);
		copy_rights(&entry->user, &user);
	} else if (!map->anyone && uid != map->owner_uid) {
		return err_set(err, ERR_DENIED, "uid %lld is not mapped to a user", (long long)uid);
	} else {
		if (name_unlisted(map, uid, login, &user.name, err) < 0)
			return -1;
		if (map->anyone)
			copy_rights(&map->anyone_user, &user);
	}
	user.mapped = entry != NULL || map->anyone;
	user.owner = uid == map->owner_uid;
	*ret_user = user;
	return 0;
}

void user_map_write_refusal(int64_t uid, const char *login, struct buf *out)
{
	const char *name = login != NULL && name_fits(login) ? login : NULL;

	buf_addf(out,
		 "the operating-system user %s (uid %lld) is not a user of this workspace; its "
		 "owner can add to writ.yaml, with the groups this user is to have:\n",
		 name == NULL ? "without a name" : name, (long long)uid);
	if (name != NULL)
		buf_addf(out, "users:\n  %s: {groups: []}\n", name);
	else
		buf_addf(out, "users:\n  uid-%lld: {groups: []}\n", (long long)uid);
	buf_add_str(out, "and then restart or reload the service");
}

static bool text_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool user_equal(const struct user *a, const struct user *b)
{
	if (!text_equal(a->name, b->name) || !text_equal(a->tenant, b->tenant) ||
	    !json_equal(a->attributes, b->attributes) || a->owner != b->owner ||
	    a->mapped != b->mapped || a->group_count != b->group_count)
		return false;
	for (size_t i = 0; i < a->group_count; i++) {
		if (strcmp(a->groups[i], b->groups[i]) != 0)
			return false;
	}
	return true;
}

struct subject user_subject(const struct user *user)
{
	return (struct subject){
		.user = user->name,
		.groups = {(const char *const *)user->groups, user->group_count},
		.tenant = user->tenant,
		.attributes = user->attributes,
	};
}
