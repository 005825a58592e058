/*
 * The model file: the tables anyone may ask about, in the words of the world. Every text is written
 * in double quotes as JSON has them, which YAML reads the same way.
 */
#include "tests/lib/random/world.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	const struct world *world;
	struct buf out;
	bool with_hidden;
};

static void put_text(struct buf *out, const char *text)
{
	json_write_string(text, strlen(text), out);
}

/* key: "text" on a line of its own, so many blanks in. */
static void put(struct writer *writer, int indent, const char *key, const char *text)
{
	buf_addf(&writer->out, "%*s%s: ", indent, "", key);
	put_text(&writer->out, text);
	buf_add_char(&writer->out, '\n');
}

static void put_expression(struct writer *writer, int indent, const char *text)
{
	buf_addf(&writer->out, "%*sexpression:\n%*sdialects:\n%*s- dialect: ANSI_SQL\n", indent, "",
		 indent + 2, "", indent + 4, "");
	put(writer, indent + 6, "expression", text);
}

static void put_synonyms(struct writer *writer, int indent, const char *a, const char *b)
{
	if (a == NULL && b == NULL)
		return;
	buf_addf(&writer->out, "%*sai_context:\n%*ssynonyms: [", indent, "", indent + 2, "");
	if (a != NULL)
		put_text(&writer->out, a);
	if (a != NULL && b != NULL)
		buf_add_str(&writer->out, ", ");
	if (b != NULL)
		put_text(&writer->out, b);
	buf_add_str(&writer->out, "]\n");
}

/* Takes extension. */
static void put_extension(struct writer *writer, int indent, struct json *extension)
{
	struct buf text = BUF_INIT;

	json_write(extension, &text);
	if (json_len(extension) > 0) {
		buf_addf(&writer->out, "%*scustom_extensions:\n%*s- vendor_name: WRIT\n", indent,
			 "", indent + 2, "");
		put(writer, indent + 4, "data", buf_str(&text));
	}
	buf_clear(&text);
	json_free(extension);
}

static char *quoted(const char *name)
{
	return mem_format("\"%s\"", name);
}

static bool in_model(const struct writer *writer, const struct column *column)
{
	return column->field != NULL && (writer->with_hidden || !column->hidden);
}

static const char *datatype(const struct column *column)
{
	switch (column->role) {
	case ROLE_PIECES:
	case ROLE_CENTS:
	case ROLE_OFF:
	case ROLE_LEVEL:
		return "Integer";
	case ROLE_SCORE:
		return "Decimal";
	case ROLE_FLAG:
		return "Boolean";
	case ROLE_DATE:
		return column->form == FORM_DAY ? "Date" : "DateTime";
	default:
		return "String";
	}
}

static bool is_dimension(const struct column *column)
{
	return column->role == ROLE_NAME || column->role == ROLE_CLASS ||
	       column->role == ROLE_DATE || column->role == ROLE_LEVEL || column->role == ROLE_FLAG;
}

static const char *shared_field(const struct world *world, const struct column *column)
{
	bool shared = column->value_count > 0 &&
		      column->values[column->value_count - 1] == world->shared_value;

	return shared ? world->shared_field : NULL;
}

static struct json *field_extension(const struct column *column)
{
	struct json *extension = json_object();

	if (column->label != NULL)
		json_set_str(extension, "label", column->label);
	if (column->missing != NULL)
		json_set_str(extension, "missing", column->missing);
	if (column->role == ROLE_NAME)
		json_set_bool(extension, "names_row", true);
	if (column->role == ROLE_DATE && column->form == FORM_EPOCH)
		json_set_str(extension, "time_format", "epoch");
	if (column->nickname != NULL) {
		struct json *values = json_object();
		struct json *list = json_array();

		json_push_str(list, column->nickname);
		json_set(values, column->values[0], list);
		json_set(extension, "values", values);
	}
	return extension;
}

static void put_field(struct writer *writer, const struct table *table, const struct column *column)
{
	CLEANUP(mem_freep) char *name = quoted(column->name);
	CLEANUP(mem_freep) char *expression = NULL;
	/* The secret of a person could be grouped by, if it were granted. */
	bool dimension = is_dimension(column) || (column->role == ROLE_SECRET && !table->fact);

	buf_addf(&writer->out, "%10s- name: %s\n", "", column->field);
	expression = column->role == ROLE_OFF ? mem_format("COALESCE(%s, 0)", name) : mem_str(name);
	put_expression(writer, 12, expression);
	if (dimension)
		buf_addf(&writer->out, "%12sdimension: {is_time: %s}\n", "",
			 column->role == ROLE_DATE ? "true" : "false");
	put(writer, 12, "datatype", datatype(column));
	put_synonyms(writer, 12, column->synonym, shared_field(writer->world, column));
	put_extension(writer, 12, field_extension(column));
}

static char *spot_id(const struct world *world, struct spot spot)
{
	return mem_format("%s.%s", world->tables[spot.table].dataset,
			  spot_column(world, spot)->field);
}

static void put_dataset(struct writer *writer, size_t at)
{
	const struct world *world = writer->world;
	const struct table *table = &world->tables[at];
	struct json *extension = json_object();

	buf_addf(&writer->out, "      - name: %s\n", table->dataset);
	put(writer, 8, "source", table->name);
	buf_add_str(&writer->out, "        primary_key: [");
	put_text(&writer->out, table->columns[column_of(table, ROLE_KEY)].name);
	buf_add_str(&writer->out, "]\n");
	put_synonyms(writer, 8, table->synonym, NULL);
	if (table->label != NULL)
		json_set_str(extension, "label", table->label);
	if (world->timed[at]) {
		CLEANUP(mem_freep) char *time = spot_id(world, world->time[at]);

		json_set_str(extension, "time", time);
	}
	if (has_column(table, ROLE_GONE)) {
		CLEANUP(mem_freep)
		char *filter =
			mem_format("\"%s\" = 0", table->columns[column_of(table, ROLE_GONE)].name);

		json_set_str(extension, "filter", filter);
		json_set_str(extension, "filter_words", "rows that are not gone");
	}
	put_extension(writer, 8, extension);
	buf_add_str(&writer->out, "        fields:\n");
	for (size_t i = 0; i < table->column_count; i++)
		if (in_model(writer, &table->columns[i]))
			put_field(writer, table, &table->columns[i]);
}

static void put_relationships(struct writer *writer)
{
	const struct world *world = writer->world;
	size_t count = 0;

	buf_add_str(&writer->out, "    relationships:\n");
	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *table = &world->tables[i];

		for (size_t j = 0; j < table->column_count; j++) {
			const struct column *column = &table->columns[j];
			const struct table *target = &world->tables[column->target];

			if (column->role != ROLE_LINK)
				continue;
			buf_addf(&writer->out, "      - name: link_%zu\n", ++count);
			put(writer, 8, "from", table->dataset);
			put(writer, 8, "to", target->dataset);
			buf_add_str(&writer->out, "        from_columns: [");
			put_text(&writer->out, column->name);
			buf_add_str(&writer->out, "]\n        to_columns: [");
			put_text(&writer->out, target->columns[column_of(target, ROLE_KEY)].name);
			buf_add_str(&writer->out, "]\n");
		}
	}
}

static const char *field_name(const struct table *table, enum world_role role)
{
	return table->columns[column_of(table, role)].field;
}

static char *net_text(const struct table *table)
{
	const char *dataset = table->dataset;

	return mem_format("SUM(%s.%s * %s.%s - %s.%s)", dataset, field_name(table, ROLE_PIECES),
			  dataset, field_name(table, ROLE_CENTS), dataset,
			  field_name(table, ROLE_OFF));
}

static char *metric_text(const struct world *world, const struct metric *metric)
{
	const struct table *table = &world->tables[metric->table];
	const char *key = table->columns[column_of(table, ROLE_KEY)].name;
	const char *link = table->columns[metric->link].name;
	CLEANUP(mem_freep) char *net = NULL;

	switch (metric->measure) {
	case MEASURE_NET:
		return net_text(table);
	case MEASURE_PIECES:
		return mem_format("SUM(%s.%s)", table->dataset, field_name(table, ROLE_PIECES));
	case MEASURE_SCORES:
		return mem_format("SUM(%s.%s)", table->dataset, field_name(table, ROLE_SCORE));
	case MEASURE_AVERAGE:
		return mem_format("AVG(%s.%s)", table->dataset, field_name(table, ROLE_SCORE));
	case MEASURE_ROWS:
		return metric->star ? mem_str("COUNT(*)")
				    : mem_format("COUNT(DISTINCT %s.\"%s\")", table->dataset, key);
	case MEASURE_DISTINCT:
		return mem_format("COUNT(DISTINCT %s.\"%s\")", table->dataset, link);
	case MEASURE_RATIO:
		net = net_text(table);
		return mem_format("%s / COUNT(DISTINCT %s.\"%s\")", net, table->dataset, link);
	case MEASURE_SECRET:
		return mem_format("SUM(%s.%s)", table->dataset, field_name(table, ROLE_SECRET));
	}
	abort();
}

static void set_filter(const struct world *world, const struct metric *metric,
		       struct json *extension)
{
	CLEANUP(mem_freep) char *id = spot_id(world, metric->filter);
	CLEANUP(buf_clear) struct buf filter = BUF_INIT;

	buf_addf(&filter, "%s = '", id);
	for (const char *c = metric->value; *c != '\0'; c++)
		buf_addf(&filter, *c == '\'' ? "''" : "%c", *c);
	buf_add_char(&filter, '\'');
	json_set_str(extension, "filter", buf_str(&filter));
	json_set_str(extension, "filter_words", metric->value);
}

/* The value over all time, as a text with as many places as the metric has. */
static void set_expected(const struct world *world, const struct metric *metric,
			 struct json *extension)
{
	const struct ask ask = {.metric = metric};
	struct json *answer;
	const struct json *value;
	struct json *list, *item;
	CLEANUP(mem_freep) char *text = NULL;

	if (metric->measure == MEASURE_SECRET)
		return;
	answer = oracle_answer(world, &ask);
	value = json_first(json_first(json_get(answer, "rows")));
	if (!json_is_null(value)) {
		text = json_type(value) == JSON_INT ? mem_format("%lld", (long long)json_int(value))
						    : mem_format("%.3f", json_real(value));
		item = json_object();
		list = json_array();
		json_set_str(item, "value", text);
		json_push(list, item);
		json_set(extension, "expected", list);
	}
	json_free(answer);
}

static void put_metric(struct writer *writer, const struct metric *metric)
{
	const struct world *world = writer->world;
	CLEANUP(mem_freep) char *expression = metric_text(world, metric);
	struct json *extension = json_object();
	bool shared = metric->table == world->metrics[0].table &&
		      (metric->measure == MEASURE_NET || metric->measure == MEASURE_AVERAGE);

	buf_addf(&writer->out, "      - name: %s\n", metric->name);
	put_expression(writer, 8, expression);
	put_synonyms(writer, 8, metric->synonym, shared ? world->shared_metric : NULL);
	if (metric->label != NULL)
		json_set_str(extension, "label", metric->label);
	if (metric->star)
		json_set_str(extension, "dataset", world->tables[metric->table].dataset);
	if (metric->filtered)
		set_filter(world, metric, extension);
	if (metric->unit != NULL)
		json_set_str(extension, "unit", metric->unit);
	if (metric->scale != 1)
		json_set_int(extension, "scale", metric->scale);
	if (metric->decimals >= 0)
		json_set_int(extension, "decimals", metric->decimals);
	if (metric->better)
		json_set_bool(extension, "higher_is_better", true);
	set_expected(world, metric, extension);
	put_extension(writer, 8, extension);
}

char *world_model_yaml(const struct world *world, bool with_hidden)
{
	struct writer writer = {.world = world, .with_hidden = with_hidden};

	buf_addf(&writer.out, "# Made from the seed %llu.\nversion: 0.2.0.dev0\nsemantic_model:\n",
		 (unsigned long long)world->seed);
	buf_add_str(&writer.out, "  - name: data\n    datasets:\n");
	for (size_t i = 0; i < world->table_count; i++)
		if (with_hidden || !world->tables[i].hidden)
			put_dataset(&writer, i);
	put_relationships(&writer);
	buf_add_str(&writer.out, "    metrics:\n");
	for (size_t i = 0; i < world->metric_count; i++)
		if (with_hidden || world->metrics[i].measure != MEASURE_SECRET)
			put_metric(&writer, &world->metrics[i]);
	return buf_take(&writer.out);
}
