/* Between the files that read writ.yaml only. */
#ifndef POLICY_WORKSPACE_PARTS_H
#define POLICY_WORKSPACE_PARTS_H

#include "policy/check.h"
#include "policy/workspace.h"

/* workspace_users.c: the members of users.json and "roles" of service.json. */
void workspace_users(struct check *check, const struct yaml *node, struct json *users);
struct json *workspace_roles(struct check *check, const struct yaml *node);
/* workspace_audit.c: audit.json; "sinks" of service.json. */
struct json *workspace_audit(struct check *check, const struct yaml *node, struct json *service);
/* workspace_sources.c: "sources" of service.json. */
struct json *workspace_sources(struct check *check, const struct yaml *node, const char *path,
			       int flags);

#endif
