/*
 * Scope files into a bundle: see policy.h for the way, docs/policy.md for the language. The same
 * files give the same bytes (canonical JSON; agents by name; rules by file name, then as written).
 * Everything that a decision depends on stands in the bundle, defaults and function lists included.
 */
#ifndef POLICY_COMPILE_H
#define POLICY_COMPILE_H

#include "base/buf.h"
#include "base/problems.h"
#include "policy/policy.h"

/* What lies outside of the scope files. What is not known (NULL) is not checked. */
struct policy_world {
	const struct names *databases;	  /* the sources of writ.yaml, which rules may name */
	const struct names *environments; /* likewise */
	/* source -> {"tables":[{"name","columns":[{"name"}]}]}. With them "columns: all" of a rule
	 * that grants means the columns there are, and later ones are granted to nobody. */
	const struct json *catalogs;
	/* Also the rules of SCOPE_INVARIANTS: for proving what the others must not allow
	 * (prove.h), never for a bundle that is to be obeyed. */
	bool invariants;
};

/*
 * world may be NULL: nothing is known. Returns 0 also when there are problems: the bundle was made
 * only if problems->error_count is 0. Negative when a file could not be read at all.
 */
MUST_CHECK int policy_compile(int workspace_fd, const struct policy_world *world,
			      struct buf *ret_bundle, struct problems *problems, struct err *err);

#endif
