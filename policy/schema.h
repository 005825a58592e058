/*
 * The JSON Schema (draft 7) of scope files for editors: made from the tables the checker reads
 * (vocabulary.c, condition.c, compile_rules.c) and from the names of one workspace, so that an
 * editor completes agents, tools, tables and columns and marks what check would refuse. It refuses
 * nothing that check accepts; check finds more. Pure.
 */
#ifndef POLICY_SCHEMA_H
#define POLICY_SCHEMA_H

#include "base/json.h"
#include "policy/policy.h"

struct schema_world { /* what is NULL or empty is not known, and then any name will do */
	const char *const *agents;
	size_t agent_count;
	const struct json *catalogs; /* as in check_names.h */
	const struct json *users;    /* users.json */
	struct names databases;
	struct names environments;
};

/* The caller owns the result. */
struct json *policy_schema(const struct schema_world *world);

#endif
