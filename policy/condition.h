/*
 * What a rule can ask of a call, in one place. A rule is a list of conditions; each is of one kind,
 * and the table below says of each kind its name, where it stands in a scope file, which rules may
 * have it, how it is tested and how it is told to people. Checker, evaluator, trace, schema and
 * comparison all read this table. For files of policy/ only.
 *
 * To add a kind: a line here in the order of testing (cheap first, data last) -> a row in
 * condition.c -> its reader in bundle_conditions.c -> its checker in compile_conditions.c.
 */
#ifndef POLICY_CONDITION_H
#define POLICY_CONDITION_H

#include "base/buf.h"
#include "policy/facts.h"

enum condition_kind {
	CONDITION_AGENTS, /* these two are the index; a rule always has both, first */
	CONDITION_TOOLS,
	CONDITION_PHASE,
	CONDITION_USERS,
	CONDITION_TENANTS,
	CONDITION_ENVIRONMENTS,
	CONDITION_FROM,
	CONDITION_UNTIL,
	CONDITION_DAYS,
	CONDITION_HOURS,
	CONDITION_ATTRIBUTE,
	CONDITION_DATABASE,
	CONDITION_TABLES,
	CONDITION_COLUMNS,
	CONDITION_FUNCTIONS,
	CONDITION_TOUCHES,
	CONDITION_ARGUMENT,
	CONDITION_CLOSED,
	CONDITION_KIND_COUNT
};
#define CONDITION_FIRST_TESTED 2u /* of a rule that the index found */

struct place { /* in the file of the rule; 0 without */
	uint32_t line;
	uint32_t column;
};

struct condition {
	enum condition_kind kind;
	uint32_t item; /* which of its kind, for kinds that a rule can have several of */
	struct place place;
	const char *key;	 /* "users", "data.tables", "arguments.rows" */
	char *owned_key;	 /* behind key where it is no constant */
	const struct json *want; /* the bundle's; NULL when it wants nothing in particular */
};

/* How a rule, or the part of one that is meant, differs from the call. */
struct condition_type {
	const char *name;  /* stable, for traces and coverage */
	const char *about; /* one line for people and editors */
	unsigned effects;  /* EFFECT_BIT() of the rules that may have it */
	bool listing;	   /* can be told when tools are listed, before there is a call */
	const char *miss;  /* after "nearest: rule x (at)" */
	bool miss_saw;	   /* followed by what it saw */
	/* ret_part: the first table, column or function that fails, for saw(). */
	enum outcome (*test)(const struct rule *rule, const struct condition *condition,
			     const struct fact_ids *ids, size_t *ret_part);
	void (*saw)(const struct rule *rule, const struct condition *condition,
		    const struct fact_ids *ids, enum outcome outcome, size_t part, struct buf *out);
};
#define EFFECT_BIT(effect) (1u << (effect))
#define EFFECTS_ALL (EFFECT_BIT(EFFECT_DENY) | EFFECT_BIT(EFFECT_ASK) | EFFECT_BIT(EFFECT_ALLOW))
#define EFFECTS_TAKING (EFFECT_BIT(EFFECT_DENY) | EFFECT_BIT(EFFECT_ASK))

extern const struct condition_type condition_types[CONDITION_KIND_COUNT];

/* Every condition of a rule as it stands in a bundle, in the order of its conditions in memory.
 * member: below key, or NULL: ("data", "tables"), ("arguments", "rows"). */
typedef void condition_fn(void *data, enum condition_kind kind, const char *key, const char *member,
			  const struct json *want);
void conditions_each(const struct json *rule, bool allow, condition_fn *each, void *data);

/* "users: [group:sales]" */
void condition_want(const struct condition *condition, struct buf *out);
/* "scopes/sales.yaml:24:12"; without a place of its own the rule's. */
void condition_at(const struct rule *rule, const struct condition *condition, struct buf *out);

/* condition_test.c, condition_when.c, condition_argument.c, condition_saw.c: the two columns of the
 * table that are code */
#define CONDITION_TEST(name)                                                                       \
	enum outcome test_##name(const struct rule *rule, const struct condition *condition,       \
				 const struct fact_ids *ids, size_t *ret_part)
#define CONDITION_SAW(name)                                                                        \
	void saw_##name(const struct rule *rule, const struct condition *condition,                \
			const struct fact_ids *ids, enum outcome outcome, size_t part,             \
			struct buf *out)
CONDITION_TEST(agents);
CONDITION_TEST(tools);
CONDITION_TEST(users);
CONDITION_TEST(database);
CONDITION_TEST(tables);
CONDITION_TEST(columns);
CONDITION_TEST(functions);
CONDITION_TEST(touches);
CONDITION_TEST(phase);
CONDITION_TEST(tenants);
CONDITION_TEST(environments);
CONDITION_TEST(from);
CONDITION_TEST(until);
CONDITION_TEST(days);
CONDITION_TEST(hours);
CONDITION_TEST(attribute);
CONDITION_TEST(argument);
CONDITION_TEST(closed);
CONDITION_SAW(agents);
CONDITION_SAW(tools);
CONDITION_SAW(users);
CONDITION_SAW(database);
CONDITION_SAW(tables);
CONDITION_SAW(columns);
CONDITION_SAW(functions);
CONDITION_SAW(touches);
CONDITION_SAW(phase);
CONDITION_SAW(tenants);
CONDITION_SAW(environments);
CONDITION_SAW(time);
CONDITION_SAW(attribute);
CONDITION_SAW(argument);
CONDITION_SAW(closed);

/* Local time of the rule's zone; false outside of the years the bundle knows. */
bool condition_local_time(const struct rule *rule, const struct fact_ids *ids, int64_t *ret_day,
			  int64_t *ret_second);
/* value NULL: there is none. */
enum outcome condition_match(const struct rule *rule, const struct matcher *matcher,
			     const struct json *value);
/* The first argument, or part of one, that no path of the rule leads to; NULL when all do. */
const struct json *condition_unnamed(const struct rule *rule, const struct fact_ids *ids);

/* One rule on one call. */
struct rule_result {
	enum outcome outcome;
	size_t failed; /* the first condition that decided so; condition_count when all hold */
	size_t part;   /* of that condition */
};

/* Tests the conditions from one on, up to the first that fails; with a trace all of them, noting
 * each. The one evaluator of rules: decisions, traces and lists of tools all come here. */
struct rule_result rule_try(const struct rule *rule, const struct fact_ids *ids, size_t from,
			    struct rule_trace *trace);

#endif
