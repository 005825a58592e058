/* Drafting: a dataset per table, its keys and relationships as declared (or as names suggest, then
 * marked), a count for each and a sum for what looks like an amount. Cannot fail. */
#include "agents/query/metrics/model_draft.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/metrics/expression.h"
#include "base/clock.h"

static bool plain_name(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	}
	return !expr_reserved_word(name) && strlen(name) <= 100;
}

/* A name that an expression can hold; the caller frees. */
static char *model_name(const char *name)
{
	struct buf out = BUF_INIT;

	if (plain_name(name))
		return mem_str(name);
	if (!isalpha((unsigned char)name[0]))
		buf_add_str(&out, "x_");
	for (const char *c = name; *c && out.len < 90; c++)
		buf_add_char(&out, isalnum((unsigned char)*c) ? *c : '_');
	if (expr_reserved_word(name))
		buf_add_str(&out, "_value");
	return buf_take(&out);
}

/* As a YAML text in single quotes. */
static void yaml_text_of(const char *text, struct buf *out)
{
	buf_add_char(out, '\'');
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			buf_add_char(out, '\'');
		buf_add_char(out, iscntrl((unsigned char)*c) ? ' ' : *c);
	}
	buf_add_char(out, '\'');
}

/* A list of names: [a, 'b c']. */
static void yaml_names(const struct json *names, struct buf *out)
{
	size_t count = 0;

	buf_add_char(out, '[');
	json_each(name, names)
	{
		if (count++)
			buf_add_str(out, ", ");
		yaml_text_of(json_str(name) ? json_str(name) : "", out);
	}
	buf_add_char(out, ']');
}

/* The column as an expression: its name, quoted where it must be. */
static void yaml_column(const char *column, struct buf *out)
{
	CLEANUP(buf_clear) struct buf quoted = BUF_INIT;

	if (plain_name(column)) {
		yaml_text_of(column, out);
		return;
	}
	sql_name(column, &quoted);
	yaml_text_of(buf_str(&quoted), out);
}

enum kind { KIND_TEXT, KIND_WHOLE, KIND_NUMBER, KIND_DAY, KIND_MOMENT, KIND_YES_NO };

static bool has_part(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static bool is_day(const char *text)
{
	struct date ignored;
	char day[DATE_LEN + 1] = "";

	if (!text || strlen(text) < DATE_LEN)
		return false;
	memcpy(day, text, DATE_LEN);
	return date_read(day, &ignored, NULL) == 0;
}

/* Do the sample rows hold dates there, and only days? */
static bool samples_are_dates(const struct json *table, const char *column, bool *ret_days)
{
	const struct json *samples = json_get(table, "sample_rows");
	size_t at = 0, seen = 0;

	json_each(name, json_get(samples, "columns"))
	{
		if (json_str(name) && strcmp(json_str(name), column) == 0)
			break;
		at++;
	}
	*ret_days = true;
	json_each(row, json_get(samples, "rows"))
	{
		const struct json *value = json_at(row, at);

		if (json_is_null(value))
			continue;
		if (!is_day(json_str(value)))
			return false;
		*ret_days = *ret_days && strlen(json_str(value)) == DATE_LEN;
		seen++;
	}
	return seen > 0;
}

static enum kind kind_of(const struct json *table, const struct json *column)
{
	const char *type = json_get_str(column, "type");
	const char *name = json_get_str(column, "name");
	bool days;

	if (!type)
		type = "";
	if (has_part(type, "bool"))
		return KIND_YES_NO;
	if (samples_are_dates(table, name, &days))
		return days ? KIND_DAY : KIND_MOMENT;
	if (has_part(type, "timestamp") || has_part(type, "datetime"))
		return KIND_MOMENT;
	if (strcasecmp(type, "date") == 0)
		return KIND_DAY;
	if (has_part(type, "int"))
		return KIND_WHOLE;
	if (has_part(type, "real") || has_part(type, "floa") || has_part(type, "doub") ||
	    has_part(type, "dec") || has_part(type, "num"))
		return KIND_NUMBER;
	return KIND_TEXT;
}

static bool listed(const struct json *list, const char *name)
{
	json_each(item, list)
	{
		if (json_str(item) && strcmp(json_str(item), name) == 0)
			return true;
	}
	return false;
}

static bool is_foreign(const struct json *table, const char *column)
{
	json_each(key, json_get(table, "foreign_keys"))
	{
		if (listed(json_get(key, "columns"), column))
			return true;
	}
	return false;
}

static const struct json *table_named(const struct json *tables, const char *name)
{
	json_each(table, tables)
	{
		const char *other = json_get_str(table, "table");

		if (other && name && strcmp(other, name) == 0)
			return table;
	}
	return NULL;
}

/* The table whose only key column has that name, though no key is declared: "customer_id". */
static const struct json *table_of_key(const struct json *tables, const struct json *self,
				       const char *column)
{
	const struct json *found = NULL;

	json_each(table, tables)
	{
		const struct json *key = json_get(table, "primary_key");

		if (table == self || json_len(key) != 1 || strcasecmp(column, "id") == 0 ||
		    strcmp(json_str(json_first(key)), column) != 0)
			continue;
		if (found)
			return NULL;
		found = table;
	}
	return found;
}

/* An amount adds up; a price or a rate does not. */
static bool adds_up(const char *name)
{
	static const char *const amounts[] = {"amount", "total",   "qty",   "quantity", "cents",
					      "count",	"revenue", "cost",  "hours",	"minutes",
					      "fee",	"sales",   "units", "weight",	"points"};
	static const char *const rates[] = {"price", "rate",	"percent", "ratio", "score",
					    "year",  "balance", "level",   "stock", "average"};

	for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
		if (has_part(name, rates[i]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
		if (has_part(name, amounts[i]))
			return true;
	}
	return false;
}

static void field(const struct json *tables, const struct json *table, const struct json *column,
		  struct buf *out)
{
	static const char *const types[] = {"String", "Integer",  "Decimal",
					    "Date",   "DateTime", "Boolean"};
	const char *name = json_get_str(column, "name");
	enum kind kind = kind_of(table, column);
	bool number = kind == KIND_WHOLE || kind == KIND_NUMBER;
	bool key = listed(json_get(table, "primary_key"), name);
	CLEANUP(mem_freep) char *safe = model_name(name);

	if (is_foreign(table, name) || (!key && table_of_key(tables, table, name)))
		return;
	buf_addf(out, "          - {name: %s, expression: ", safe);
	yaml_column(name, out);
	buf_addf(out, ", datatype: %s", types[kind]);
	if (number && key)
		buf_add_str(out, ", dimension: {}");
	buf_add_str(out, "}\n");
}

/* The first column of dates is what a period is about, unless somebody says otherwise. */
static const char *time_column(const struct json *table)
{
	json_each(column, json_get(table, "columns"))
	{
		enum kind kind = kind_of(table, column);

		if (kind == KIND_DAY || kind == KIND_MOMENT)
			return json_get_str(column, "name");
	}
	return NULL;
}

static size_t field_count(const struct json *tables, const struct json *table)
{
	size_t count = 0;

	json_each(column, json_get(table, "columns"))
	{
		CLEANUP(buf_clear) struct buf text = BUF_INIT;

		field(tables, table, column, &text);
		count += text.len > 0;
	}
	return count;
}

static void dataset(const struct json *tables, const struct json *table, struct buf *out)
{
	const char *name = json_get_str(table, "table");
	const char *time = time_column(table);
	CLEANUP(mem_freep) char *safe = model_name(name);

	buf_addf(out, "      - name: %s\n        source: ", safe);
	yaml_text_of(name, out);
	buf_add_char(out, '\n');
	if (json_len(json_get(table, "primary_key")) > 0) {
		buf_add_str(out, "        primary_key: ");
		yaml_names(json_get(table, "primary_key"), out);
		buf_add_char(out, '\n');
	} else {
		buf_add_str(out, "        # ? no key is declared: what tells rows apart?\n");
	}
	if (time) {
		CLEANUP(mem_freep) char *field_name = model_name(time);

		buf_addf(out,
			 "        custom_extensions: # ? is this the date a period is about?\n"
			 "          - {vendor_name: WRIT, data: '{\"time\": \"%s.%s\"}'}\n",
			 safe, field_name);
	}
	if (field_count(tables, table) == 0)
		return;
	buf_add_str(out, "        fields:\n");
	json_each(column, json_get(table, "columns")) field(tables, table, column, out);
}

struct drafted { /* relationships written so far, for names of their own */
	size_t count;
};

static void relationship(const struct json *table, const struct json *columns, const char *to,
			 const struct json *to_columns, bool guessed, struct drafted *drafted,
			 struct buf *out)
{
	CLEANUP(mem_freep) char *from = model_name(json_get_str(table, "table"));
	CLEANUP(mem_freep) char *target = model_name(to);
	const char *first = json_str(json_first(columns));
	CLEANUP(mem_freep) char *column = model_name(first ? first : "");

	if (drafted->count++ == 0)
		buf_add_str(out, "    relationships:\n");
	if (guessed)
		buf_add_str(out, "      # ? guessed from the name of a column\n");
	buf_addf(out, "      - {name: %s_by_%s, from: %s, to: %s, from_columns: ", from, column,
		 from, target);
	yaml_names(columns, out);
	buf_add_str(out, ", to_columns: ");
	yaml_names(to_columns, out);
	buf_add_str(out, "}\n");
}

static void relationships_of(const struct json *tables, const struct json *table,
			     struct drafted *drafted, struct buf *out)
{
	json_each(key, json_get(table, "foreign_keys"))
	{
		const char *to = json_get_str(key, "table");

		/* a table that is related to itself needs a dataset for each role */
		if (!table_named(tables, to) || strcmp(to, json_get_str(table, "table")) == 0)
			continue;
		relationship(table, json_get(key, "columns"), to, json_get(key, "to"), false,
			     drafted, out);
	}
	json_each(column, json_get(table, "columns"))
	{
		const char *name = json_get_str(column, "name");
		const struct json *to;
		CLEANUP(json_freep) struct json *columns = NULL;

		if (listed(json_get(table, "primary_key"), name) || is_foreign(table, name))
			continue;
		to = table_of_key(tables, table, name);
		if (!to)
			continue;
		columns = json_array();
		json_push_str(columns, name);
		relationship(table, columns, json_get_str(to, "table"), json_get(to, "primary_key"),
			     true, drafted, out);
	}
}

static void metric(const char *name, const char *expression, const char *note, size_t *count,
		   struct buf *out)
{
	if ((*count)++ == 0)
		buf_add_str(out, "    metrics:\n");
	if (note)
		buf_addf(out, "      # ? %s\n", note);
	buf_addf(out, "      - {name: %s, expression: ", name);
	yaml_text_of(expression, out);
	buf_add_str(out, "}\n");
}

static void metrics_of(const struct json *tables, const struct json *table, size_t *count,
		       struct buf *out)
{
	const struct json *key = json_get(table, "primary_key");
	CLEANUP(mem_freep) char *dataset_name = model_name(json_get_str(table, "table"));

	if (json_len(key) == 1) {
		CLEANUP(mem_freep) char *column = model_name(json_str(json_first(key)));
		CLEANUP(mem_freep) char *name = mem_format("%s_count", dataset_name);
		CLEANUP(mem_freep)
		char *expression = mem_format("COUNT(%s.%s)", dataset_name, column);

		metric(name, expression, NULL, count, out);
	}
	json_each(column, json_get(table, "columns"))
	{
		const char *name = json_get_str(column, "name");
		enum kind kind = kind_of(table, column);
		CLEANUP(mem_freep) char *safe = model_name(name);
		CLEANUP(mem_freep) char *called = NULL;
		CLEANUP(mem_freep) char *expression = NULL;

		if ((kind != KIND_WHOLE && kind != KIND_NUMBER) || listed(key, name) ||
		    is_foreign(table, name) || table_of_key(tables, table, name) || !adds_up(name))
			continue;
		called = mem_format("%s_%s_total", dataset_name, safe);
		expression = mem_format("SUM(%s.%s)", dataset_name, safe);
		metric(called, expression,
		       has_part(name, "cents")
			       ? "in cents: WRIT {\"unit\": ..., \"scale\": 100}; which rows count?"
			       : "unit, and which rows count?",
		       count, out);
	}
}

void model_draft(const char *source, const struct json *tables, struct buf *out)
{
	struct drafted drafted = {0};
	size_t metrics = 0;

	buf_add_str(out,
		    "# A draft, made from keys, types and sample rows: nothing in it is agreed. "
		    "Finish what stands\n# behind \"# ?\", give names and synonyms that people "
		    "use, then run: writ metric check\nversion: 0.2.0.dev0\nsemantic_model:\n"
		    "  - name: ");
	yaml_text_of(source, out);
	buf_add_str(out, "\n    datasets:\n");
	json_each(table, tables) dataset(tables, table, out);
	json_each(table, tables) relationships_of(tables, table, &drafted, out);
	json_each(table, tables) metrics_of(tables, table, &metrics, out);
}
