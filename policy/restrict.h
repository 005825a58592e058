/* Restrictions of a view: rows, masks and groups of the tables that allow rules grant. For files of
 * policy/ only; docs/protocol.md, "connector", has their form. */
#ifndef POLICY_RESTRICT_H
#define POLICY_RESTRICT_H

#include "policy/scope.h"

/* rules: those that shape the view. Adds "rows", "masks" and "require" where there are any, with
 * the subject's values in the place of {"user": ...}. */
void restrict_view(const struct scope_rules *rules, const struct subject *subject,
		   struct json *view);

#endif
