/*
 * The access review: who reaches what, as the evaluator and the views of the tools say it. Pure.
 */
#ifndef POLICY_ACCESS_H
#define POLICY_ACCESS_H

#include "policy/policy.h"

struct person {	     /* one of whom the review speaks */
	char *label; /* "alice", "anyone", "whoever has group:sales" */
	struct subject subject;
	const char **groups; /* memory of the subject */
};

struct people {
	struct person *items;
	size_t count;
};

/*
 * The users of writ.yaml (users: users.json, or NULL), anyone of the machine if they are let in,
 * and for each user, group and tenant that a rule names somebody who has only that. Texts are
 * borrowed from users and bundle.
 */
void people_find(const struct json *users, const struct bundle *bundle, struct people *ret_people);
void people_clear(struct people *people);
const struct person *people_named(const struct people *people, const char *name);

/*
 * What one agent may do for one person:
 *   {"agent","role","owner","at","tools":[...],
 *    "tables":[{"database","table","access":{"run_query":"all"|["a","b"],...}}]}
 * Tools are those that are to be used at all; a table stands there when some tool may show it.
 * Columns that deny rules take away from "all" stand under "except". The caller owns the result.
 */
struct json *policy_access(const struct bundle *bundle, const char *agent,
			   const struct person *person, const struct setting *setting);

/*
 * Who reaches a column (or, with column NULL, a table at all):
 *   [{"agent","person","effect":"allow"|"ask","rule","at","tools":[...]}]
 * The caller owns the result.
 */
struct json *policy_who(const struct bundle *bundle, const struct people *people,
			const struct setting *setting, const char *database, const char *table,
			const char *column);

#endif
