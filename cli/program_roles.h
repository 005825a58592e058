/*
 * The users that the programs of a service started as root turn into (`roles` in writ.yaml), and
 * which of them owns what in state/:
 *
 *   state/           root, passed through by all (0711)
 *   state/config/    root, read by the broker's group (2750)
 *   state/broker/, state/audit/   broker;  state/signer/   signer;  state/tasks/   orchestrator
 *   audit.pub        signer, who writes it once; read by all
 *
 * Nobody but root owns a folder in which another program's lies, so none can put its own there.
 */
#ifndef CLI_PROGRAM_ROLES_H
#define CLI_PROGRAM_ROLES_H

#include "base/err.h"
#include "base/json.h"
#include "cli/spawn.h"

enum role { ROLE_BROKER, ROLE_ORCHESTRATOR, ROLE_SIGNER, ROLE_SQLITE, ROLE_COUNT };

struct program_roles {
	struct spawn_user users[ROLE_COUNT];
};

/* Out of service.json. ERR_DENIED when we are root and there are none, with the lines to add, or
 * when we are not and there are some. *ret_used is false when everything runs as we do. */
MUST_CHECK int program_roles_read(const struct json *service, const char *workspace,
				  struct program_roles *ret_roles, bool *ret_used, struct err *err);

/* Makes the folders and gives each to its user. What root itself owned there until now (a workspace
 * that had no roles before) is given along; what belongs to anybody else is refused. */
MUST_CHECK int program_roles_give_state(int workspace_fd, const struct program_roles *roles,
					struct err *err);

#endif
