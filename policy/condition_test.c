/*
 * How each kind of condition is tested. An allow rule must cover the whole call, so its conditions
 * on data hold when every part is granted; a rule that takes away has one condition on data, which
 * holds when any part is meant. Names of rules that take away are folded (symbols.h). Pure, and no
 * test looks at anything but its rule and the facts.
 */
#include "policy/condition.h"

static enum outcome holds_if(bool truth)
{
	return truth ? OUTCOME_HOLDS : OUTCOME_FAILS;
}

CONDITION_TEST(agents)
{
	(void)condition;
	(void)ret_part;
	return holds_if(rule->agents_all || symbol_set_has(&rule->agents, ids->agent));
}

CONDITION_TEST(tools)
{
	(void)condition;
	(void)ret_part;
	return holds_if(rule->tools_all || symbol_set_has(&rule->tools, ids->tool));
}

bool rule_has_subject(const struct rule *rule, const struct subject_ids *subject)
{
	if (rule->everyone || symbol_set_has(&rule->users, subject->user) ||
	    symbol_set_has(&rule->tenants, subject->tenant))
		return true;
	for (size_t i = 0; i < subject->group_count; i++)
		if (symbol_set_has(&rule->groups, subject->groups[i]))
			return true;
	return false;
}

CONDITION_TEST(users)
{
	(void)condition;
	(void)ret_part;
	return holds_if(rule_has_subject(rule, &ids->subject));
}

/* A call that touches no database is covered by any allow rule, and matched by no rule that takes
 * part of a database away. */
CONDITION_TEST(database)
{
	const struct rule_data *data = &rule->data;

	(void)condition;
	(void)ret_part;
	if (ids->facts->database == NULL)
		return holds_if(rule->effect == EFFECT_ALLOW);
	return holds_if(data->kind == DATA_SOME && data->database == ids->database);
}

static const struct rule_table *rule_table_find(const struct rule_data *data, symbol_t table)
{
	size_t low = 0;
	size_t high = data->table_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (data->tables[middle].table == table)
			return &data->tables[middle];
		if (data->tables[middle].table < table)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool lists_function(const struct rule_data *data, symbol_t function)
{
	for (size_t i = 0; i < data->function_list_count; i++)
		if (symbol_set_has(data->functions[i], function))
			return true;
	return false;
}

CONDITION_TEST(tables)
{
	(void)condition;
	for (size_t i = 0; i < ids->facts->tables.count; i++)
		if (rule_table_find(&rule->data, ids->tables[i].exact) == NULL) {
			*ret_part = i;
			return OUTCOME_FAILS;
		}
	return OUTCOME_HOLDS;
}

static bool grants_column(const struct rule_data *data, const struct fact_ids *ids,
			  const struct fact_column *column)
{
	const struct rule_table *table = rule_table_find(data, ids->tables[column->table].exact);

	if (table == NULL)
		return false;
	return column->any || table->all || symbol_set_has(&table->columns, column->exact);
}

CONDITION_TEST(columns)
{
	(void)condition;
	for (size_t i = 0; i < ids->facts->columns.count; i++)
		if (!grants_column(&rule->data, ids, &ids->columns[i])) {
			*ret_part = i;
			return OUTCOME_FAILS;
		}
	return OUTCOME_HOLDS;
}

CONDITION_TEST(functions)
{
	(void)condition;
	for (size_t i = 0; i < ids->facts->functions.count; i++)
		if (!lists_function(&rule->data, ids->functions[i])) {
			*ret_part = i;
			return OUTCOME_FAILS;
		}
	return OUTCOME_HOLDS;
}

static bool touches_column(const struct rule_data *data, const struct fact_ids *ids,
			   const struct fact_column *column)
{
	const struct rule_table *table = rule_table_find(data, ids->tables[column->table].folded);

	return table != NULL && symbol_set_has(&table->columns, column->folded);
}

CONDITION_TEST(touches)
{
	const struct rule_data *data = &rule->data;
	const struct call_facts *facts = ids->facts;

	(void)condition;
	(void)ret_part;
	if (data->tables_all)
		return OUTCOME_HOLDS;
	for (size_t i = 0; i < facts->tables.count; i++) {
		const struct rule_table *table = rule_table_find(data, ids->tables[i].folded);

		if (table != NULL && table->all)
			return OUTCOME_HOLDS;
	}
	for (size_t i = 0; i < facts->columns.count; i++)
		if (touches_column(data, ids, &ids->columns[i]))
			return OUTCOME_HOLDS;
	for (size_t i = 0; i < facts->functions.count; i++)
		if (lists_function(data, ids->functions[i]))
			return OUTCOME_HOLDS;
	return OUTCOME_FAILS;
}
