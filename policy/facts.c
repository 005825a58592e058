/*
 * The names of a call become symbols, once per decision. Whatever is not exactly as policy.h says
 * is malformed, and the caller denies.
 */
#include <string.h>

#include "policy/facts.h"

static bool names_sound(const struct names *names)
{
	if (names->count > FACT_NAMES_MAX || (names->count > 0 && names->items == NULL))
		return false;
	for (size_t i = 0; i < names->count; i++)
		if (names->items[i] == NULL || names->items[i][0] == '\0')
			return false;
	return true;
}

static bool facts_sound(const struct call_facts *facts)
{
	if (facts->agent == NULL || facts->tool == NULL || facts->tool[0] == '\0')
		return false;
	if (facts->database != NULL && facts->database[0] == '\0')
		return false;
	if (facts->database == NULL &&
	    (facts->tables.count > 0 || facts->columns.count > 0 || facts->functions.count > 0))
		return false;
	return names_sound(&facts->tables) && names_sound(&facts->columns) &&
	       names_sound(&facts->functions) && names_sound(&facts->approved);
}

/* Columns of one table follow each other, so the last table found is tried first. */
static bool table_of_column(const struct names *tables, const char *column, size_t len,
			    uint32_t *table)
{
	for (size_t i = 0; i <= tables->count; i++) {
		size_t at = i == 0 ? *table : i - 1;

		if (at < tables->count && strncmp(tables->items[at], column, len) == 0 &&
		    tables->items[at][len] == '\0') {
			*table = (uint32_t)at;
			return true;
		}
	}
	return false;
}

static bool read_columns(const struct bundle *bundle, const struct call_facts *facts,
			 struct fact_column *columns)
{
	uint32_t table = 0;

	for (size_t i = 0; i < facts->columns.count; i++) {
		const char *text = facts->columns.items[i];
		const char *dot = strchr(text, '.');
		size_t len;

		if (dot == NULL || dot == text || strchr(dot + 1, '.') != NULL)
			return false;
		if (!table_of_column(&facts->tables, text, (size_t)(dot - text), &table))
			return false;
		len = strlen(dot + 1);
		columns[i].table = table;
		columns[i].any = len == 0;
		columns[i].exact = symbols_find(&bundle->symbols, dot + 1, len);
		columns[i].folded = symbols_find_folded(&bundle->symbols, dot + 1, len);
	}
	return true;
}

static void read_tables(const struct bundle *bundle, const struct names *names,
			struct fact_table *tables)
{
	for (size_t i = 0; i < names->count; i++) {
		size_t len = strlen(names->items[i]);

		tables[i].exact = symbols_find(&bundle->symbols, names->items[i], len);
		tables[i].folded = symbols_find_folded(&bundle->symbols, names->items[i], len);
	}
}

static void read_functions(const struct bundle *bundle, const struct names *names,
			   symbol_t *functions)
{
	for (size_t i = 0; i < names->count; i++)
		functions[i] =
			symbols_find(&bundle->symbols, names->items[i], strlen(names->items[i]));
}

static symbol_t find_name(const struct bundle *bundle, const char *name)
{
	return name == NULL ? SYMBOL_NONE : symbols_find(&bundle->symbols, name, strlen(name));
}

bool subject_read(const struct bundle *bundle, const struct subject *subject, symbol_t *room,
		  struct subject_ids *ret_ids)
{
	if (subject->user == NULL || subject->user[0] == '\0' || !names_sound(&subject->groups) ||
	    subject->groups.count > SUBJECT_GROUPS_MAX)
		return false;
	ret_ids->who = 0;
	for (size_t i = 0; i < subject->groups.count; i++) {
		room[i] = find_name(bundle, subject->groups.items[i]);
		ret_ids->who |= who_bit(SUBJECT_GROUP, room[i]);
	}
	ret_ids->user = find_name(bundle, subject->user);
	ret_ids->tenant = find_name(bundle, subject->tenant);
	ret_ids->who |=
		who_bit(SUBJECT_USER, ret_ids->user) | who_bit(SUBJECT_TENANT, ret_ids->tenant);
	ret_ids->groups = room;
	ret_ids->group_count = subject->groups.count;
	return true;
}

static void make_room(struct fact_ids *ids, const struct call_facts *facts)
{
	ids->tables = ids->few_tables;
	ids->columns = ids->few_columns;
	ids->functions = ids->few_functions;
	if (facts->tables.count > FACTS_ON_STACK)
		ids->tables = mem_array(facts->tables.count, sizeof(*ids->tables));
	if (facts->columns.count > FACTS_ON_STACK)
		ids->columns = mem_array(facts->columns.count, sizeof(*ids->columns));
	if (facts->functions.count > FACTS_ON_STACK)
		ids->functions = mem_array(facts->functions.count, sizeof(*ids->functions));
}

bool facts_read(const struct bundle *bundle, const struct call_facts *facts, struct fact_ids *ids)
{
	ids->tables = NULL;
	ids->columns = NULL;
	ids->functions = NULL;
	if (!facts_sound(facts) ||
	    !subject_read(bundle, &facts->subject, ids->groups, &ids->subject))
		return false;
	make_room(ids, facts);
	ids->bundle = bundle;
	ids->facts = facts;
	ids->environment = find_name(bundle, facts->setting.environment);
	ids->listing = false;
	ids->any_time = false;
	ids->agent = find_name(bundle, facts->agent);
	ids->tool = find_name(bundle, facts->tool);
	ids->database = find_name(bundle, facts->database);
	read_tables(bundle, &facts->tables, ids->tables);
	read_functions(bundle, &facts->functions, ids->functions);
	return read_columns(bundle, facts, ids->columns);
}

void facts_clear(struct fact_ids *ids)
{
	if (ids->tables != ids->few_tables)
		mem_free(ids->tables);
	if (ids->columns != ids->few_columns)
		mem_free(ids->columns);
	if (ids->functions != ids->few_functions)
		mem_free(ids->functions);
}
