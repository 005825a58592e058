/*
 * Who an operating-system user is here: state/config/users.json, as `writ` compiled it from
 * writ.yaml (docs/protocol.md, "Files in state/"). Pure: the login name is the caller's to look up.
 */
#ifndef BROKER_USER_MAP_H
#define BROKER_USER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "policy/policy.h"

#define USER_NAME_MAX 64
#define USER_ATTRIBUTES_MAX 32
#define USER_GROUPS_MAX 64 /* of one user; rules name far fewer */

struct user {
	char *name; /* owned; the groups and the tenant too */
	char **groups;
	size_t group_count;
	char *tenant;		 /* NULL when none */
	struct json *attributes; /* NULL when none; an object of texts, integers, booleans and lists
				    of these */
	bool owner;		 /* of the workspace */
	bool mapped; /* by users; false for an owner who is not, and who therefore may not ask */
};

struct user_map; /* immutable */

MUST_CHECK int user_map_read(const struct json *json, struct user_map **ret_map, struct err *err);
void user_map_free(struct user_map *map);
void user_map_freep(struct user_map **map);

/*
 * login is the name in the operating system's user list, or NULL. A user who is not named falls
 * under "anyone" with that login, or as "uid-N" where it is missing, unfit as a name, or already
 * stands for someone else. ERR_DENIED when not mapped at all; the owner then is let in with a name
 * and no rights, to look after the service.
 */
MUST_CHECK int user_map_find(const struct user_map *map, int64_t uid, const char *login,
			     struct user *ret_user, struct err *err);
/* The message for someone who is not mapped, with the lines to add to writ.yaml. */
void user_map_write_refusal(int64_t uid, const char *login, struct buf *out);

bool user_equal(const struct user *a, const struct user *b);
void user_clear(struct user *user);
struct subject user_subject(const struct user *user); /* borrows from the user */

#endif
