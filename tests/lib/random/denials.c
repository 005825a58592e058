/*
 * SQL that reaches for what is hidden, from every position that the grammar has for it, and the
 * same text with a name that does not exist. Both replies must be alike but for the name.
 *
 * In the patterns: @T the hidden table or one that is not there, @C the hidden column likewise,
 * @V a table that is granted, @K its key.
 */
#include "tests/lib/random/world.h"

#include <ctype.h>
#include <string.h>

static const char *const table_patterns[] = {
	"SELECT * FROM @T",
	"SELECT COUNT(*) FROM @T",
	"SELECT MAX(@C) FROM @T",
	"SELECT \"@C\" FROM \"@T\"",
	"SELECT * FROM main.@T",
	"SELECT * FROM (SELECT @C FROM @T)",
	"SELECT 1 FROM @V WHERE EXISTS (SELECT 1 FROM @T)",
	"SELECT COUNT(*) FROM @V WHERE NOT EXISTS (SELECT 1 FROM @T WHERE @C IS NULL)",
	"SELECT (SELECT MAX(@C) FROM @T) FROM @V",
	"SELECT @K FROM @V WHERE @K IN (SELECT @C FROM @T)",
	"SELECT @K FROM @V WHERE @K IN @T",
	"SELECT @K FROM @V ORDER BY (SELECT @C FROM @T LIMIT 1)",
	"SELECT COUNT(*) FROM @V GROUP BY (SELECT COUNT(*) FROM @T)",
	"SELECT @K FROM @V GROUP BY @K HAVING @K > (SELECT COUNT(*) FROM @T)",
	"SELECT @K FROM @V LIMIT (SELECT COUNT(*) FROM @T)",
	"SELECT v.@K FROM @V v JOIN @T t ON t.@C = v.@K",
	"SELECT v.@K FROM @V v LEFT JOIN @T t ON 1",
	"SELECT COUNT(*) FROM @V, @T",
	"SELECT COUNT(*) FROM @V NATURAL JOIN @T",
	"SELECT @K FROM @V UNION ALL SELECT @C FROM @T",
	"SELECT @K FROM @V EXCEPT SELECT @C FROM @T",
	"WITH p AS (SELECT * FROM @T) SELECT COUNT(*) FROM p",
	"WITH p AS (SELECT 1), q AS (SELECT * FROM @T) SELECT * FROM p, q",
	"WITH RECURSIVE r(n) AS (SELECT COUNT(*) FROM @T UNION ALL SELECT n - 1 FROM r WHERE n > "
	"0) "
	"SELECT COUNT(*) FROM r",
	"SELECT CASE WHEN (SELECT COUNT(*) FROM @T) > 3 THEN 1 ELSE 0 END",
	"SELECT SUM(@K) FILTER (WHERE EXISTS (SELECT 1 FROM @T)) FROM @V",
	"SELECT ROW_NUMBER() OVER (ORDER BY (SELECT @C FROM @T)) FROM @V",
	"VALUES ((SELECT @C FROM @T LIMIT 1))",
};

static const char *const column_patterns[] = {
	"SELECT @C FROM @V",
	"SELECT v.@C FROM @V v",
	"SELECT \"@C\" FROM @V",
	"SELECT [@C] FROM @V",
	"SELECT `@C` FROM @V",
	"SELECT MAX(@C) FROM @V",
	"SELECT COUNT(@C) FROM @V",
	"SELECT COUNT(DISTINCT @C) FROM @V",
	"SELECT @K FROM @V WHERE @C IS NOT NULL",
	"SELECT @K FROM @V WHERE @C LIKE 'S%'",
	"SELECT @K FROM @V WHERE @K IN (SELECT @C FROM @V)",
	"SELECT @K FROM @V ORDER BY @C",
	"SELECT COUNT(*) FROM @V GROUP BY @C",
	"SELECT @K FROM @V GROUP BY @K HAVING MAX(@C) > 0",
	"SELECT CASE WHEN @C > 0 THEN 1 ELSE 0 END FROM @V",
	"SELECT a.@K FROM @V a JOIN @V b ON a.@C = b.@C",
	"SELECT RANK() OVER (ORDER BY @C) FROM @V",
	"SELECT SUM(@K) OVER (PARTITION BY @C) FROM @V",
	"SELECT SUM(1) FILTER (WHERE @C IS NULL) FROM @V",
	"WITH p AS (SELECT @C AS x FROM @V) SELECT COUNT(x) FROM p",
	"SELECT x FROM (SELECT @C AS x FROM @V)",
	"SELECT @K FROM @V WHERE EXISTS (SELECT 1 FROM @V o WHERE o.@C = 1)",
	"SELECT length(@C) || '' FROM @V",
};

struct names {
	const char *table;  /* @T */
	const char *column; /* @C */
	const struct table *granted;
};

static void add_quoted(struct buf *sql, const char *name)
{
	buf_addf(sql, "\"%s\"", name);
}

static char *expand(const char *pattern, const struct names *names)
{
	struct buf sql = BUF_INIT;
	const struct table *granted = names->granted;

	for (const char *c = pattern; *c != '\0'; c++) {
		if (*c != '@') {
			buf_add_char(&sql, *c);
			continue;
		}
		c++;
		if (*c == 'T')
			buf_add_str(&sql, names->table);
		else if (*c == 'C')
			buf_add_str(&sql, names->column);
		else if (*c == 'V')
			add_quoted(&sql, granted->name);
		else
			add_quoted(&sql, granted->columns[column_of(granted, ROLE_KEY)].name);
	}
	return buf_take(&sql);
}

static char *upper(struct world *world, const char *word)
{
	char *text = world_keep(world, mem_str(word));

	for (char *c = text; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}

static void add_case(struct json *cases, const char *pattern, const struct names *hidden,
		     const struct names *absent, bool table)
{
	struct json *json = json_object();
	CLEANUP(mem_freep) char *sql = expand(pattern, hidden);
	CLEANUP(mem_freep) char *twin = expand(pattern, absent);

	json_set_str(json, "sql", sql);
	json_set_str(json, "twin", twin);
	json_set_str(json, "name", table ? hidden->table : hidden->column);
	json_set_str(json, "twin_name", table ? absent->table : absent->column);
	json_push(cases, json);
}

static const struct table *some_table(struct world *world, bool hidden, bool secret)
{
	const struct table *table;

	do {
		table = &world->tables[rng_below(&world->rng, (uint32_t)world->table_count)];
	} while (table->hidden != hidden || (secret && !has_column(table, ROLE_SECRET)));
	return table;
}

static void add_table_case(struct world *world, struct json *cases)
{
	const struct table *vault = some_table(world, true, true);
	struct names hidden = {vault->name, vault->columns[column_of(vault, ROLE_SECRET)].name,
			       some_table(world, false, false)};
	struct names absent = {word_new(world), hidden.column, hidden.granted};

	if (rng_chance(&world->rng, 20)) {
		hidden.table = upper(world, hidden.table);
		absent.table = upper(world, absent.table);
	}
	add_case(cases, table_patterns[rng_below(&world->rng, ARRAY_LEN(table_patterns))], &hidden,
		 &absent, true);
}

static void add_column_case(struct world *world, struct json *cases)
{
	const struct table *table = some_table(world, false, true);
	struct names hidden = {"", table->columns[column_of(table, ROLE_SECRET)].name, table};
	struct names absent = {"", word_new(world), table};

	if (rng_chance(&world->rng, 20)) {
		hidden.column = upper(world, hidden.column);
		absent.column = upper(world, absent.column);
	}
	add_case(cases, column_patterns[rng_below(&world->rng, ARRAY_LEN(column_patterns))],
		 &hidden, &absent, false);
}

struct json *denials_make(struct world *world, size_t count)
{
	struct json *cases = json_array();

	for (size_t i = 0; i < count; i++) {
		if (i % 2 == 0)
			add_table_case(world, cases);
		else
			add_column_case(world, cases);
	}
	return cases;
}
