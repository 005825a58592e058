/*
 * The names in rules that lie outside of the scope files: tables and columns of the sources, groups
 * and users of writ.yaml. A name that does not exist there is a mistake: an allow rule with it
 * grants nothing, a deny rule with it protects nothing.
 */
#ifndef POLICY_CHECK_NAMES_H
#define POLICY_CHECK_NAMES_H

#include "base/json.h"
#include "base/problems.h"

struct known_names {
	/* source -> {"tables":[{"name","columns":[{"name"}]}]}; of a source that is absent nothing
	 * is known, and so nothing is checked. NULL: none was looked at. */
	const struct json *catalogs;
	/* users.json (docs/protocol.md); NULL: not known. Where anyone of the machine is let in,
	 * every name of a user may exist. */
	const struct json *users;
};

/*
 * Codes: unknown_table, unknown_column, unknown_group, unknown_tenant, unknown_user. Rules that
 * take away name tables without regard to ASCII case, rules that grant exactly. Scope files that
 * cannot be read as YAML are passed over, since policy_compile() has named them. Negative only for
 * what the operating system refused.
 */
MUST_CHECK int policy_check_names(int workspace_fd, const struct known_names *known,
				  struct problems *problems, struct err *err);

#endif
