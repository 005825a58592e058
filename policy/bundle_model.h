/*
 * A bundle in memory, for the files of the evaluator only (bundle*.c, decide.c, view.c, grant.c).
 *
 * Rules keep their order in the bundle; where several rules of one effect match, the first is the
 * one that is named. The index maps (agent or ANY, tool or ANY) to the rules written for that pair,
 * so a decision looks at four short lists however many rules there are.
 */
#ifndef POLICY_BUNDLE_MODEL_H
#define POLICY_BUNDLE_MODEL_H

#include "policy/policy.h"
#include "policy/symbols.h"

#define BUNDLE_VERSION 1
#define BUNDLE_BYTES_MAX (32u << 20)
#define BUNDLE_INDEX_MAX (4u << 20) /* pairs of agent and tool over all rules */

struct symbol_set { /* ascending, no duplicates */
	symbol_t *items;
	size_t count;
};

struct rule_table {
	symbol_t table;
	bool all; /* every column */
	struct symbol_set columns;
	const struct json *source; /* its value in the bundle: "all" or the list */
	const char *name;	   /* as written */
};

enum data_kind {
	DATA_NONE, /* calls that touch no database; only in allow */
	DATA_ALL,  /* any call; only in deny and ask */
	DATA_SOME,
};

struct rule_data {
	enum data_kind kind;
	const char *database_name;
	symbol_t database;
	bool tables_all;	   /* whatever touches the database; only in deny and ask */
	struct rule_table *tables; /* ascending by symbol */
	size_t table_count;
	const struct symbol_set **functions; /* named lists; the sets are the bundle's */
	size_t function_list_count;
};

struct rule {
	const char *id;
	const char *at;
	enum effect effect;
	bool everyone;
	struct symbol_set users;
	struct symbol_set groups;
	struct symbol_set tenants;
	bool agents_all;
	struct symbol_set agents;
	bool tools_all;
	struct symbol_set tools;
	struct rule_data data;
	struct call_limits limits; /* for allow; within the bounds of limits.h */
	struct condition *conditions; /* condition.h; in the order of its kinds */
	size_t condition_count;
};

struct index_span {
	uint64_t key; /* 0: free slot */
	uint32_t start;
	uint32_t count;
};

#define INDEX_ANY UINT32_MAX /* "agents: all", "tools: all" */

struct rule_index {
	uint32_t *rules; /* ascending within a span */
	struct index_span *slots;
	size_t slot_count;
};

struct bundle_agent {
	struct agent_def def;
	const char **hands_to; /* owned array of borrowed names */
	symbol_t name;
};

struct function_set {
	const char *name;
	struct symbol_set functions;
};

struct bundle {
	char digest[SHA256_HEX_LEN + 1];
	struct json *source; /* owns every text below */
	struct symbols symbols;
	struct bundle_agent *agents; /* ascending by name */
	size_t agent_count;
	struct function_set *functions;
	size_t function_set_count;
	struct rule *rules;
	size_t rule_count;
	struct rule_index index;
};

/* bundle_names.c */
bool symbol_set_has(const struct symbol_set *set, symbol_t id);
MUST_CHECK int symbol_set_sort(struct symbol_set *set, struct err *err);
MUST_CHECK int name_read(const struct json *item, const char **ret_name, struct err *err);
/* folded: the names take away, so they match without regard to case (and may then coincide). */
MUST_CHECK int names_read(struct bundle *bundle, const struct json *list, bool folded,
			  struct symbol_set *set, struct err *err);
/* "all", or a list of names with at least one. */
MUST_CHECK int names_read_or_all(struct bundle *bundle, const struct json *value, bool *ret_all,
				 struct symbol_set *set, struct err *err);

/* bundle_rules.c; the agents are read already */
MUST_CHECK int bundle_functions_read(struct bundle *bundle, const struct json *lists,
				     struct err *err);
MUST_CHECK int bundle_rules_read(struct bundle *bundle, const struct json *rules, struct err *err);
void rule_clear(struct rule *rule);

const struct bundle_agent *bundle_agent_find(const struct bundle *bundle, const char *name);

/* bundle_conditions.c; the rule is read already. places: "users" -> "24:12", may be NULL */
MUST_CHECK int bundle_conditions_read(struct rule *rule, const struct json *json, struct err *err);

/* bundle_index.c */
MUST_CHECK int bundle_index_build(struct bundle *bundle, struct err *err);
void bundle_index_clear(struct rule_index *index);
/* NULL when no rule was written for that pair; either may be INDEX_ANY. */
const struct index_span *bundle_index_find(const struct rule_index *index, symbol_t agent,
					   symbol_t tool);

/* The rules that speak of one agent and one tool: every span, each ascending. */
struct candidates {
	const struct index_span *spans[4];
	size_t count;
};
struct candidates bundle_candidates(const struct bundle *bundle, symbol_t agent, symbol_t tool);

/* A subject in symbols. groups points at memory of the caller (at least as many as it has). */
struct subject_ids {
	symbol_t user;
	symbol_t tenant;
	const symbol_t *groups;
	size_t group_count;
};
#define SUBJECT_GROUPS_MAX 256u

/* False when the subject is malformed: deny. room has SUBJECT_GROUPS_MAX places. */
bool subject_read(const struct bundle *bundle, const struct subject *subject, symbol_t *room,
		  struct subject_ids *ret_ids);
bool rule_has_subject(const struct rule *rule, const struct subject_ids *subject);

#endif
