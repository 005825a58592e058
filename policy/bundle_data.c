/*
 * The data of one rule: database, tables, columns, lists of functions. Names of rules that take
 * away are folded (symbols.h). Strict like bundle.c.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/bundle_model.h"

static int read_functions(const struct bundle *bundle, const struct json *names,
			  struct rule_data *data, struct err *err)
{
	data->functions = mem_array(json_len(names), sizeof(*data->functions));
	json_each(item, names)
	{
		const char *name;
		const struct symbol_set *found = NULL;

		if (name_read(item, &name, err) < 0)
			return -1;
		for (size_t i = 0; i < bundle->function_set_count; i++)
			if (strcmp(bundle->functions[i].name, name) == 0)
				found = &bundle->functions[i].functions;
		if (found == NULL)
			return err_set(err, ERR_INVALID, "unknown list of functions %s", name);
		data->functions[data->function_list_count++] = found;
	}
	return 0;
}

static int compare_tables(const void *left, const void *right)
{
	const struct rule_table *a = left;
	const struct rule_table *b = right;

	return a->table < b->table ? -1 : a->table > b->table;
}

static const char *const all_but_keys[] = {"all_but", NULL};

static bool lists(const struct json *names, const char *name)
{
	json_each(item, names) if (strcmp(json_str(item), name) == 0) return true;
	return false;
}

/* What is left of the known columns. */
static int read_all_but(struct bundle *bundle, const struct json *except,
			const struct known_table *known, struct rule_table *table, struct err *err)
{
	const char *name;

	table->owned_source = json_array();
	table->source = table->owned_source;
	json_each(item, except) if (name_read(item, &name, err) < 0) return -1;
	json_each(column, known->columns) if (!lists(except, json_str(column)))
		json_push_str(table->owned_source, json_str(column));
	return names_read(bundle, table->source, false, &table->columns, err);
}

/* "all" in a rule that grants: the columns known when the policy was compiled, if any are. */
static int read_all(const struct known_table *known, struct rule_table *table)
{
	if (known == NULL) {
		table->all = true;
		return 0;
	}
	table->source = known->columns;
	table->columns.items =
		mem_copy(known->set.items, known->set.count * sizeof(*known->set.items));
	table->columns.count = known->set.count;
	return 0;
}

static int read_columns(struct bundle *bundle, const struct json *value, bool folded,
			const struct known_table *known, struct rule_table *table, struct err *err)
{
	const struct json *except = json_get(value, "all_but");
	const char *word = json_str(value);

	if (word != NULL && strcmp(word, "all") == 0)
		return read_all(folded ? NULL : known, table);
	if (json_type(value) != JSON_OBJECT)
		return names_read(bundle, value, folded, &table->columns, err);
	if (folded || known == NULL)
		return err_set(err, ERR_INVALID, "all_but needs an allow rule and known columns");
	if (json_only(value, all_but_keys, err) < 0 || json_type(except) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "all_but must be a list");
	return read_all_but(bundle, except, known, table, err);
}

static int read_table(struct bundle *bundle, const struct json *value, bool folded,
		      symbol_t database, struct rule_table *table, struct err *err)
{
	const struct known_database *known = bundle_known_database(bundle, database);
	struct known_table none = {.columns = NULL};
	const struct known_table *columns;

	table->source = value;
	table->name = json_key(value);
	table->table = folded ? symbols_add_folded(&bundle->symbols, table->name)
			      : symbols_add(&bundle->symbols, table->name);
	columns = bundle_known_table(bundle, database, table->table);
	/* A table that a known database had not: all of it is none of it. */
	if (columns == NULL && known != NULL)
		columns = &none;
	if (read_columns(bundle, value, folded, columns, table, err) < 0)
		return err_wrap(err, "columns of %s", table->name);
	return 0;
}

static int read_tables(struct bundle *bundle, const struct json *tables, bool folded,
		       struct rule_data *data, struct err *err)
{
	const char *word = json_str(tables);

	if (word != NULL && strcmp(word, "all") == 0 && folded) {
		data->tables_all = true;
		return 0;
	}
	if (json_type(tables) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "tables must be an object%s",
			       folded ? " or \"all\"" : "");
	data->tables = mem_array(json_len(tables), sizeof(*data->tables));
	json_each(value,
		  tables) if (read_table(bundle, value, folded, data->database,
					 &data->tables[data->table_count++], err) < 0) return -1;
	if (data->table_count > 0)
		qsort(data->tables, data->table_count, sizeof(*data->tables), compare_tables);
	for (size_t i = 1; i < data->table_count; i++)
		if (data->tables[i].table == data->tables[i - 1].table)
			return err_set(err, ERR_INVALID, "table %s stands twice",
				       data->tables[i].name);
	return 0;
}

int bundle_data_read(struct bundle *bundle, const struct json *json, enum effect effect,
		     struct rule_data *data, struct err *err)
{
	static const char *const keys[] = {"database", "functions", "masks", "require",
					   "rows",     "tables",    NULL};
	const char *word = json_str(json);
	const struct json *functions;
	bool takes_away = effect != EFFECT_ALLOW;

	if (word != NULL && strcmp(word, takes_away ? "all" : "none") == 0) {
		data->kind = takes_away ? DATA_ALL : DATA_NONE;
		return 0;
	}
	data->kind = DATA_SOME;
	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "data must be an object or \"%s\"",
			       takes_away ? "all" : "none");
	if (json_only(json, keys, err) < 0 ||
	    json_want_str(json, "database", &data->database_name, err) < 0 ||
	    json_want_array(json, "functions", &functions, err) < 0 ||
	    read_functions(bundle, functions, data, err) < 0)
		return -1;
	data->database = symbols_add(&bundle->symbols, data->database_name);
	if (read_tables(bundle, json_get(json, "tables"), takes_away, data, err) < 0)
		return -1;
	if (takes_away && (json_get(json, "rows") || json_get(json, "masks") ||
			   json_get(json, "require")))
		return err_set(err, ERR_INVALID, "only allow rules keep something back");
	if (bundle_restrict_read(json, data, err) < 0)
		return -1;
	if (!data->tables_all && data->table_count == 0 &&
	    (!takes_away || data->function_list_count == 0))
		return err_set(err, ERR_INVALID, "data names nothing");
	return 0;
}

void rule_data_clear(struct rule_data *data)
{
	for (size_t i = 0; i < data->table_count; i++) {
		mem_free(data->tables[i].columns.items);
		json_free(data->tables[i].owned_source);
	}
	mem_free(data->tables);
	mem_free(data->functions);
}
