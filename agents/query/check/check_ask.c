/* Questions to the data, as SQL that both dialects read. Cannot fail. */
#include "agents/query/check/check_ask.h"

#include "agents/query/metrics/expression.h"
#include "base/buf.h"

static void add_from(struct buf *out, const char *table)
{
	buf_add_str(out, " FROM ");
	sql_name(table, out);
}

char *ask_nulls(const char *table, const char *column)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT COUNT(*)");
	add_from(&out, table);
	buf_add_str(&out, " WHERE ");
	sql_name(column, &out);
	buf_add_str(&out, " IS NULL");
	return buf_take(&out);
}

static void add_values(struct buf *out, enum sql_dialect dialect, const char *table,
		       const char *column)
{
	bool postgres = dialect == SQL_DIALECT_POSTGRES;

	buf_add_str(out, postgres ? "SELECT STRING_AGG(\"v\", '\n')"
				  : "SELECT GROUP_CONCAT(\"v\", '\n')");
	buf_add_str(out, " FROM (SELECT DISTINCT CAST(");
	sql_name(column, out);
	buf_add_str(out, " AS TEXT) AS \"v\"");
	add_from(out, table);
	buf_add_str(out, " WHERE ");
	sql_name(column, out);
	buf_addf(out, " IS NOT NULL LIMIT %d) AS \"values\"", ASK_VALUES_MAX);
}

char *ask_value(enum sql_dialect dialect, const char *table, const char *column, bool like,
		const char *value)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT CASE WHEN EXISTS (SELECT 1");
	add_from(&out, table);
	buf_add_str(&out, " WHERE ");
	sql_name(column, &out);
	buf_add_str(&out, like ? " LIKE " : " = ");
	sql_text(value, &out);
	buf_add_str(&out, ") THEN NULL ELSE COALESCE((");
	add_values(&out, dialect, table, column);
	buf_add_str(&out, "), '') END");
	return buf_take(&out);
}

static void add_text_of(struct buf *out, const char *column)
{
	buf_add_str(out, "CAST(");
	sql_name(column, out);
	buf_add_str(out, " AS TEXT)");
}

char *ask_times(const char *table, const char *column)
{
	static const char *const parts[][2] = {
		{"MIN(", ")"},
		{" || '|' || MAX(", ")"},
		{" || '|' || COALESCE(MIN(NULLIF(SUBSTR(", ", 11, 1), '')), '')"},
		{" || '|' || COALESCE(MAX(NULLIF(SUBSTR(", ", 11, 1), '')), '')"},
		{" || '|' || MAX(LENGTH(", "))"},
		{" || '|' || SUM(CASE WHEN LENGTH(", ") > 10 "},
		{"AND SUBSTR(", ", 12, 8) NOT IN ('00:00:00', '00:00', '') THEN 1 ELSE 0 END)"},
	};
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT ");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		buf_add_str(&out, parts[i][0]);
		add_text_of(&out, column);
		buf_add_str(&out, parts[i][1]);
	}
	add_from(&out, table);
	return buf_take(&out);
}

char *ask_marked(const char *table, const char *column, bool is_flag)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT COALESCE(SUM(CASE WHEN ");
	if (is_flag) {
		add_text_of(&out, column);
		buf_add_str(&out, " NOT IN ('0', 'false', 'f', 'N', 'n', 'no')");
	} else {
		sql_name(column, &out);
		buf_add_str(&out, " IS NOT NULL");
	}
	buf_add_str(&out, " THEN 1 ELSE 0 END), 0) || '|' || COUNT(*)");
	add_from(&out, table);
	return buf_take(&out);
}

char *ask_built(const char *table, const char *built, const char *other, const char *time)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT MAX(");
	add_text_of(&out, built);
	buf_add_str(&out, ") || '|' || (SELECT MAX(");
	add_text_of(&out, time);
	buf_add_str(&out, ")");
	add_from(&out, other);
	buf_add_str(&out, ")");
	add_from(&out, table);
	return buf_take(&out);
}

char *ask_lost(const char *table, const char *column, const char *parent, const char *key)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT COALESCE(SUM(CASE WHEN \"c\".");
	sql_name(column, &out);
	buf_add_str(&out,
		    " IS NULL THEN 1 ELSE 0 END), 0) || '|' || COALESCE(SUM(CASE WHEN \"c\".");
	sql_name(column, &out);
	buf_add_str(&out, " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ");
	sql_name(parent, &out);
	buf_add_str(&out, " AS \"p\" WHERE \"p\".");
	sql_name(key, &out);
	buf_add_str(&out, " = \"c\".");
	sql_name(column, &out);
	buf_add_str(&out, ") THEN 1 ELSE 0 END), 0) || '|' || COUNT(*)");
	add_from(&out, table);
	buf_add_str(&out, " AS \"c\"");
	return buf_take(&out);
}

char *ask_kinds(const char *table, const char *column)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT COUNT(DISTINCT ");
	sql_name(column, &out);
	buf_add_str(&out, ")");
	add_from(&out, table);
	return buf_take(&out);
}

char *ask_repeated(const char *table, const char *const *columns, size_t count)
{
	struct buf out = BUF_INIT;

	buf_add_str(&out, "SELECT COUNT(*) FROM (SELECT 1 AS \"n\"");
	add_from(&out, table);
	for (size_t i = 0; i < count; i++) {
		buf_add_str(&out, i == 0 ? " GROUP BY " : ", ");
		sql_name(columns[i], &out);
	}
	buf_add_str(&out, " HAVING COUNT(*) > 1) AS \"repeated\"");
	return buf_take(&out);
}
