/* Between the files of the compiler only. */
#ifndef POLICY_COMPILE_PARTS_H
#define POLICY_COMPILE_PARTS_H

#include "policy/check.h"
#include "policy/policy.h"
#include "policy/source.h"

struct compile {
	struct check check;
	const struct names *databases; /* NULL: not known */
	struct json *scopes;	       /* owned; the four members of a bundle */
	struct json *agents;
	struct json *functions;
	struct json *rules;
	const char **agent_names; /* for messages; owned array */
	size_t agent_count;
	const struct yaml **agent_nodes; /* the keys that define them, as agent_names */
	struct json *rule_places;	 /* rule id -> where it stands */
};

/* "scopes/sales.yaml:21". The caller frees it. */
char *place_of(const struct yaml *node);

/* compile_agents.c */
void compile_agents(struct compile *compile, const struct yaml *agents, const char *scope);
void compile_hands_to(struct compile *compile, const struct yaml *agents);
/* compile_rules.c; all agents are known */
void compile_rules(struct compile *compile, const struct yaml *rules);

#endif
