/*
 * A bundle in memory, for the files of the evaluator only (bundle*.c, decide.c, view.c, grant.c).
 *
 * Rules keep their order in the bundle; where several rules of one effect match, the first is the
 * one that is named. The index maps (agent or ANY, tool or ANY) to the rules written for that pair,
 * so a decision looks at four short lists however many rules there are.
 */
#ifndef POLICY_BUNDLE_MODEL_H
#define POLICY_BUNDLE_MODEL_H

#include "base/json_doc.h"
#include "policy/json_path.h"
#include "policy/matcher.h"
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
	bool all; /* every column, known or not */
	struct symbol_set columns;
	const struct json *source; /* "all", or the list of columns */
	struct json *owned_source; /* when the list stands nowhere in the bundle */
	const char *name;	   /* as written */
};

/* A table as it was when the policy was compiled: "all" in a rule that grants means these columns,
 * and what was added since is granted to nobody. */
struct known_table {
	symbol_t table;
	const struct json *columns;
	struct symbol_set set;
};

struct known_database {
	symbol_t database;
	struct known_table *tables; /* ascending by symbol */
	size_t table_count;
};

/* Offsets of a time zone from ZONE_FROM_S to ZONE_UNTIL_S, so that no decision reads a file. */
struct zone_change {
	int64_t from_s;
	int64_t offset_s;
};

struct zone {
	const char *name;
	struct zone_change *changes; /* ascending; the first is at ZONE_FROM_S */
	size_t count;
};
#define ZONE_FROM_S 1704067200LL  /* 2024-01-01 */
#define ZONE_UNTIL_S 3313526400LL /* 2075-01-01 */

struct rule_hours { /* minutes of the day: from <= now < until */
	int from;
	int until;
};
#define RULE_HOURS_MAX 16u

struct rule_time {
	const struct zone *zone;
	int64_t from_day; /* days since 1970-01-01, both inclusive */
	int64_t until_day;
	unsigned weekdays; /* bit 0 is Monday */
	struct rule_hours hours[RULE_HOURS_MAX];
	size_t hour_count;
};

struct rule_attribute {
	const char *name;
	struct matcher *matcher;
};

struct rule_argument {
	struct json_path path;
	struct matcher *matcher;
};
#define RULE_MATCHERS_MAX 64u /* attributes or arguments of one rule; a mask of 64 bits */

enum rule_phase { RULE_ALWAYS, RULE_LISTING, RULE_CALLING };

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
	/* What is kept back, by table; the bundle's, checked; NULL without. Only in allow. */
	const struct json *rows;
	const struct json *masks;
	const struct json *require;
};

#define RULES_A_TURN 32 /* are read, or freed, in a tenth of a millisecond */

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
	enum rule_phase phase;
	struct symbol_set only_tenants;
	struct symbol_set environments;
	struct rule_time time;
	struct rule_attribute *attributes;
	size_t attribute_count;
	struct rule_argument *arguments;
	size_t argument_count;
	struct rule_limit *rates; /* for allow */
	size_t rate_count;
	struct approval_terms approval; /* for ask */
	const char **approvers;		/* owned array behind approval.by */
	struct condition *conditions;	/* condition.h; in the order of its kinds */
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
	uint64_t *who;	 /* beside rules: who_bit() of all whom the rule's users name */
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
	struct json_doc *doc;	   /* owned; owns every text below */
	const struct json *source; /* its root */
	struct symbols symbols;
	struct bundle_agent *agents; /* ascending by name */
	size_t agent_count;
	struct function_set *functions;
	size_t function_set_count;
	struct known_database *known;
	size_t known_count;
	struct zone *zones;
	size_t zone_count;
	bool *is_agent; /* by symbol, as many as there are symbols */
	bool uses_time; /* some rule looks at the clock */
	bool uses_arguments;
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

bool bundle_is_agent(const struct bundle *bundle, symbol_t name);
const struct bundle_agent *bundle_agent_find(const struct bundle *bundle, const char *name);

/* bundle_world.c: what the rules were compiled against */
MUST_CHECK int bundle_known_read(struct bundle *bundle, const struct json *known, struct err *err);
MUST_CHECK int bundle_zones_read(struct bundle *bundle, const struct json *zones, struct err *err);
void bundle_world_clear(struct bundle *bundle);
/* NULL when nothing is known of that table, or of its database. */
const struct known_table *bundle_known_table(const struct bundle *bundle, symbol_t database,
					     symbol_t table);
const struct known_database *bundle_known_database(const struct bundle *bundle, symbol_t database);
const struct zone *bundle_zone(const struct bundle *bundle, const char *name);
/* False outside of the years the bundle knows. */
bool zone_offset(const struct zone *zone, int64_t utc_s, int64_t *ret_offset_s);

/* bundle_data.c, bundle_when.c, bundle_terms.c: members of one rule; absent ones ask nothing */
MUST_CHECK int bundle_data_read(struct bundle *bundle, const struct json *json, enum effect effect,
				struct rule_data *data, struct err *err);
MUST_CHECK int bundle_when_read(struct bundle *bundle, const struct json *json, struct rule *rule,
				struct err *err);
MUST_CHECK int bundle_terms_read(const struct json *json, struct rule *rule, struct err *err);
MUST_CHECK int bundle_matchers_read(const struct json *json, struct rule *rule, struct err *err);
void rule_data_clear(struct rule_data *data);
/* bundle_restrict.c */
MUST_CHECK int bundle_restrict_read(const struct json *json, struct rule_data *data,
				    struct err *err);
int policy_mask_rank(
	const char *mask); /* a stricter one is higher; 0: there is none of that name */

/* bundle_conditions.c; the rule is read already. places: "24:12 25:3 ...", one for each condition,
 * or absent */
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
	uint64_t who; /* who_bit() of user, groups and tenant */
	symbol_t user;
	symbol_t tenant;
	const symbol_t *groups;
	size_t group_count;
};
#define SUBJECT_GROUPS_MAX 256u

/* A rule whose bits have none in common with the subject's is not for that user, so most rules of
 * an agent and tool need not be looked at. */
enum subject_kind { SUBJECT_USER, SUBJECT_GROUP, SUBJECT_TENANT };
uint64_t who_bit(enum subject_kind kind, symbol_t name);
uint64_t rule_who(const struct rule *rule); /* all bits where nothing can be told from them */

/* False when the subject is malformed: deny. room has SUBJECT_GROUPS_MAX places. */
bool subject_read(const struct bundle *bundle, const struct subject *subject, symbol_t *room,
		  struct subject_ids *ret_ids);
bool rule_has_subject(const struct rule *rule, const struct subject_ids *subject);

#endif
