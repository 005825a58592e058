/*
 * What the rules were compiled against: the columns the tables had, and the time zones that rules
 * speak of. Strict like bundle.c.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/bundle_model.h"

static int compare_tables(const void *left, const void *right)
{
	const struct known_table *a = left;
	const struct known_table *b = right;

	return a->table < b->table ? -1 : a->table > b->table;
}

static int read_database(struct bundle *bundle, const struct json *tables,
			 struct known_database *database, struct err *err)
{
	if (json_type(tables) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "not an object of tables");
	database->database = symbols_add(&bundle->symbols, json_key(tables));
	database->tables = mem_array(json_len(tables), sizeof(*database->tables));
	json_each(columns, tables)
	{
		struct known_table *table = &database->tables[database->table_count++];

		table->table = symbols_add(&bundle->symbols, json_key(columns));
		table->columns = columns;
		if (names_read(bundle, columns, false, &table->set, err) < 0)
			return err_wrap(err, "columns of %s", json_key(columns));
	}
	if (database->table_count > 0)
		qsort(database->tables, database->table_count, sizeof(*database->tables),
		      compare_tables);
	return 0;
}

int bundle_known_read(struct bundle *bundle, const struct json *known, struct err *err)
{
	if (known != NULL && json_type(known) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "known must be an object");
	bundle->known = mem_array(json_len(known), sizeof(*bundle->known));
	json_each(tables, known) if (read_database(bundle, tables,
						   &bundle->known[bundle->known_count++], err) <
				     0) return err_wrap(err, "known: %s", json_key(tables));
	return 0;
}

const struct known_database *bundle_known_database(const struct bundle *bundle, symbol_t database)
{
	for (size_t i = 0; i < bundle->known_count; i++)
		if (bundle->known[i].database == database)
			return &bundle->known[i];
	return NULL;
}

const struct known_table *bundle_known_table(const struct bundle *bundle, symbol_t database,
					     symbol_t table)
{
	const struct known_database *known = bundle_known_database(bundle, database);
	const struct known_table wanted = {.table = table};

	if (known == NULL || known->table_count == 0)
		return NULL;
	return bsearch(&wanted, known->tables, known->table_count, sizeof(*known->tables),
		       compare_tables);
}

static int read_change(const struct json *pair, const struct zone *zone, struct zone_change *change,
		       struct err *err)
{
	bool first = zone->count == 1;

	if (json_len(pair) != 2 || json_type(json_at(pair, 0)) != JSON_INT ||
	    json_type(json_at(pair, 1)) != JSON_INT)
		return err_set(err, ERR_INVALID, "a change is [second, offset]");
	change->from_s = json_int(json_at(pair, 0));
	change->offset_s = json_int(json_at(pair, 1));
	if (first ? change->from_s != ZONE_FROM_S : change->from_s <= change[-1].from_s)
		return err_set(err, ERR_INVALID, "its changes are not in order");
	if (change->offset_s < -86400 || change->offset_s > 86400)
		return err_set(err, ERR_INVALID, "an offset is over a day");
	return 0;
}

static int read_zone(const struct json *changes, struct zone *zone, struct err *err)
{
	if (json_type(changes) != JSON_ARRAY || json_len(changes) == 0)
		return err_set(err, ERR_INVALID, "a list of changes is missing");
	zone->name = json_key(changes);
	zone->changes = mem_array(json_len(changes), sizeof(*zone->changes));
	json_each(pair, changes)
	{
		struct zone_change *change = &zone->changes[zone->count++];

		if (read_change(pair, zone, change, err) < 0)
			return -1;
	}
	return 0;
}

int bundle_zones_read(struct bundle *bundle, const struct json *zones, struct err *err)
{
	if (zones != NULL && json_type(zones) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "zones must be an object");
	bundle->zones = mem_array(json_len(zones), sizeof(*bundle->zones));
	json_each(changes,
		  zones) if (read_zone(changes, &bundle->zones[bundle->zone_count++], err) <
			     0) return err_wrap(err, "zone %s", json_key(changes));
	return 0;
}

const struct zone *bundle_zone(const struct bundle *bundle, const char *name)
{
	for (size_t i = 0; i < bundle->zone_count; i++)
		if (strcmp(bundle->zones[i].name, name) == 0)
			return &bundle->zones[i];
	return NULL;
}

bool zone_offset(const struct zone *zone, int64_t utc_s, int64_t *ret_offset_s)
{
	size_t low = 0;
	size_t high = zone->count;

	if (utc_s < ZONE_FROM_S || utc_s >= ZONE_UNTIL_S)
		return false;
	while (high - low > 1) { /* changes[low] is not after the moment */
		size_t middle = low + (high - low) / 2;

		if (zone->changes[middle].from_s <= utc_s)
			low = middle;
		else
			high = middle;
	}
	*ret_offset_s = zone->changes[low].offset_s;
	return true;
}

void bundle_world_clear(struct bundle *bundle)
{
	for (size_t d = 0; d < bundle->known_count; d++) {
		for (size_t t = 0; t < bundle->known[d].table_count; t++)
			mem_free(bundle->known[d].tables[t].set.items);
		mem_free(bundle->known[d].tables);
	}
	for (size_t i = 0; i < bundle->zone_count; i++)
		mem_free(bundle->zones[i].changes);
	mem_free(bundle->known);
	mem_free(bundle->zones);
}
