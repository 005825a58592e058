/*
 * One call in symbols of a bundle, for the files of the evaluator only. A name that the bundle
 * never mentions is SYMBOL_NONE: no rule can list it.
 */
#ifndef POLICY_FACTS_H
#define POLICY_FACTS_H

#include "policy/bundle_model.h"

struct fact_table {
	symbol_t exact;
	symbol_t folded;
};

struct fact_column {
	uint32_t table; /* place in the tables */
	symbol_t exact;
	symbol_t folded;
	bool any; /* the table is touched, no column is */
};

#define FACTS_ON_STACK 64u

struct fact_ids {
	const struct bundle *bundle;
	const struct call_facts *facts; /* for messages */
	struct subject_ids subject;
	symbol_t agent;
	symbol_t tool;
	symbol_t database;
	symbol_t environment;
	bool listing;  /* tools are listed; there is no call yet */
	bool any_time; /* an upper bound for some time to come is wanted */
	struct fact_table *tables;
	struct fact_column *columns;
	symbol_t *functions;
	/* Where the lists lie: here when short, else on the heap. */
	struct fact_table few_tables[FACTS_ON_STACK];
	struct fact_column few_columns[FACTS_ON_STACK];
	symbol_t few_functions[FACTS_ON_STACK];
	symbol_t groups[SUBJECT_GROUPS_MAX];
};

/* False when the facts are malformed (policy.h says when). Clear ids in either case. */
bool facts_read(const struct bundle *bundle, const struct call_facts *facts, struct fact_ids *ids);
void facts_clear(struct fact_ids *ids);

/* policy_decide() of facts that were read and sound, of an agent the bundle knows. */
void policy_decide_ids(const struct bundle *bundle, const struct fact_ids *ids,
		       struct verdict *ret_verdict);

#endif
