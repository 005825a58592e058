/*
 * What a call may touch under one rule, in pieces (atoms). The names that rules mention are told
 * apart; all other columns of a table granted whole behave alike, so one stands for them. A name
 * that takes away matches in any case, a name that grants only as written: beside each name stands
 * one spelling that nothing mentions.
 */
#include <string.h>
#include <strings.h>

#include "policy/compare_parts.h"

void atoms_clear(struct atoms *atoms)
{
	for (size_t i = 0; i < atoms->made_count; i++)
		mem_free(atoms->made[i]);
	mem_free(atoms->made);
	mem_free(atoms->items);
	*atoms = (struct atoms){0};
}

struct atoms atoms_copy(const struct atoms *atoms)
{
	struct atoms copy = {.count = atoms->count, .cut = atoms->cut};

	copy.items = mem_copy(atoms->items, atoms->count * sizeof(*atoms->items));
	return copy;
}

static const char *keep_text(struct atoms *atoms, char *text)
{
	atoms->made = mem_grow(atoms->made, (atoms->made_count + 1) * sizeof(*atoms->made));
	atoms->made[atoms->made_count++] = text;
	return text;
}

static void add_atom(struct atoms *atoms, struct atom atom)
{
	if (atoms->count % 64 == 0)
		atoms->items = mem_grow(atoms->items, (atoms->count + 64) * sizeof(*atoms->items));
	atoms->items[atoms->count++] = atom;
}

/* ---- the columns of a table granted whole ---- */

struct name_set { /* borrowed names, in the order they were met; sorted for looking up */
	const char **items;
	size_t count;
};

static void add_name(struct name_set *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return;
	names->items = mem_grow(names->items, (names->count + 1) * sizeof(*names->items));
	names->items[names->count++] = name;
}

static bool has_name(const struct name_set *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static void mentioned_columns(const struct side *side, const char *database, const char *table,
			      struct name_set *names)
{
	for (size_t r = 0; r < side->rules.count; r++) {
		const struct rule_data *data = &side->rules.items[r]->data;

		if (data->kind != DATA_SOME || strcmp(data->database_name, database) != 0)
			continue;
		for (size_t t = 0; t < data->table_count; t++) {
			if (strcasecmp(data->tables[t].name, table) != 0 || data->tables[t].all)
				continue;
			json_each(column, data->tables[t].source) add_name(names, json_str(column));
		}
	}
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The name with one letter in the other case, such that nothing mentions it; NULL if there is none
 * of that kind. */
static char *other_spelling(const struct name_set *names, const char *name)
{
	CLEANUP(mem_freep) char *text = mem_str(name);

	for (size_t i = 0; text[i] != '\0'; i++) {
		if (!is_letter(text[i]))
			continue;
		text[i] ^= 0x20;
		if (!has_name(names, text))
			return TAKE(text);
		text[i] ^= 0x20;
	}
	return NULL;
}

static void add_whole_table(struct atoms *atoms, const struct rule *rule, const char *table,
			    const struct side *a, const struct side *b)
{
	struct name_set names = {0};

	mentioned_columns(a, rule->data.database_name, table, &names);
	mentioned_columns(b, rule->data.database_name, table, &names);
	for (size_t i = 0; i < names.count; i++) {
		char *other = other_spelling(&names, names.items[i]);

		add_atom(atoms, (struct atom){.table = table, .column = names.items[i]});
		if (other != NULL)
			add_atom(atoms,
				 (struct atom){.table = table, .column = keep_text(atoms, other)});
	}
	mem_free(names.items);
	add_atom(atoms, (struct atom){.table = table,
				      .column = keep_text(atoms, fresh_name(a->bundle, b->bundle,
									    "any_other_column"))});
}

/* ---- what is taken away ---- */

static bool takes_column(const struct rule_table *table, const char *column)
{
	json_each(name, table->source) if (strcasecmp(json_str(name), column) == 0) return true;
	return false;
}

static bool takes_function(const struct bundle *bundle, const struct rule_data *data,
			   const char *function)
{
	symbol_t symbol = symbols_find(&bundle->symbols, function, strlen(function));

	for (size_t i = 0; i < data->function_list_count; i++)
		if (symbol_set_has(data->functions[i], symbol))
			return true;
	return false;
}

static bool rule_takes(const struct bundle *bundle, const struct rule *rule,
		       const struct atom *atom)
{
	const struct rule_data *data = &rule->data;

	if (data->kind == DATA_ALL || data->tables_all)
		return true;
	if (atom->function != NULL)
		return takes_function(bundle, data, atom->function);
	for (size_t t = 0; t < data->table_count; t++) {
		const struct rule_table *table = &data->tables[t];

		if (strcasecmp(table->name, atom->table) != 0)
			continue;
		if (table->all || (atom->column != NULL && takes_column(table, atom->column)))
			return true;
	}
	return false;
}

static bool any_takes(const struct bundle *bundle, const struct rule_list *takes,
		      const struct atom *atom)
{
	for (size_t i = 0; i < takes->count; i++)
		if (rule_takes(bundle, takes->items[i], atom))
			return true;
	return false;
}

static void remove_taken(struct atoms *atoms, const struct bundle *bundle,
			 const struct rule_list *takes)
{
	size_t kept = 0;

	for (size_t i = 0; i < atoms->count; i++)
		if (!any_takes(bundle, takes, &atoms->items[i]))
			atoms->items[kept++] = atoms->items[i];
	atoms->count = kept;
}

/* ---- what is granted ---- */

static void add_functions(struct atoms *atoms, const struct bundle *bundle,
			  const struct rule_data *data)
{
	for (size_t i = 0; i < data->function_list_count; i++)
		for (size_t f = 0; f < data->functions[i]->count; f++)
			add_atom(atoms, (struct atom){.function = symbols_text(
							      &bundle->symbols,
							      data->functions[i]->items[f])});
}

void atoms_of_rule(const struct rule *rule, const struct rule_list *takes, const struct side *a,
		   const struct side *b, struct atoms *ret_atoms)
{
	struct atoms atoms = {0};

	for (size_t t = 0; t < rule->data.table_count; t++) {
		const struct rule_table *table = &rule->data.tables[t];

		add_atom(&atoms, (struct atom){.table = table->name});
		if (table->all) {
			add_whole_table(&atoms, rule, table->name, a, b);
			continue;
		}
		json_each(column, table->source) add_atom(
			&atoms, (struct atom){.table = table->name, .column = json_str(column)});
	}
	add_functions(&atoms, b->bundle, &rule->data);
	remove_taken(&atoms, b->bundle, takes);
	atoms.cut = atoms.count > FACT_NAMES_MAX;
	if (atoms.cut)
		atoms.count = FACT_NAMES_MAX;
	*ret_atoms = atoms;
}

static bool rule_grants(const struct bundle *bundle, const struct rule *rule,
			const struct atom *atom)
{
	if (atom->function != NULL)
		return takes_function(bundle, &rule->data, atom->function);
	for (size_t t = 0; t < rule->data.table_count; t++) {
		const struct rule_table *table = &rule->data.tables[t];

		if (strcmp(table->name, atom->table) != 0)
			continue;
		if (table->all || atom->column == NULL)
			return true;
		json_each(name,
			  table->source) if (strcmp(json_str(name), atom->column) == 0) return true;
	}
	return false;
}

void atoms_keep(struct atoms *atoms, const struct bundle *bundle, const struct rule *other,
		const struct rule_list *takes)
{
	size_t kept = 0;

	for (size_t i = 0; i < atoms->count; i++)
		if (rule_grants(bundle, other, &atoms->items[i]))
			atoms->items[kept++] = atoms->items[i];
	atoms->count = kept;
	remove_taken(atoms, bundle, takes);
}
