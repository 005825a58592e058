/*
 * Fields, values and conditions of a metric query as SQL.
 *
 * Values come from JSON, which has no NUL, and are written by sql_text() or as numbers read again
 * by ourselves. A day stands for its whole span: "<= 2026-07-01" on a time with hours means before
 * 2026-07-02. Fails when a value does not suit its field.
 */
#include "agents/query/metrics/compile_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void compiler_column(const struct expr_writer *writer, const struct expr *column, struct buf *out)
{
	const struct compiler *compiler = writer->data;
	struct model_ref ref;
	struct err ignored;

	/* without a model (comparing filters) or a name it knows, names stand for themselves */
	if (!compiler || model_resolve(compiler->model, column, NULL, &ref, &ignored) < 0) {
		sql_name(column->dataset ? column->dataset : "", out);
		buf_add_char(out, '.');
		sql_name(column->text, out);
		return;
	}
	if (ref.field) {
		compiler_field(ref.field, out);
		return;
	}
	sql_name(ref.dataset->name, out);
	buf_add_char(out, '.');
	sql_name(ref.column, out);
}

void compiler_own_column(const struct expr_writer *writer, const struct expr *column,
			 struct buf *out)
{
	const struct model_dataset *dataset = writer->data;

	sql_name(dataset->name, out);
	buf_add_char(out, '.');
	sql_name(column->text, out);
}

void compiler_windows_name(const struct model_dataset *dataset, struct buf *out)
{
	/* no dataset has a blank in its name */
	CLEANUP(mem_freep) char *name = mem_format("%s windows", dataset->name);

	sql_name(name, out);
}

void compiler_field(const struct model_field *field, struct buf *out)
{
	struct expr_writer writer = {compiler_own_column, NULL, field->dataset};
	bool wrap = !expr_is_atom(field->expression);

	if (expr_has_window(field->expression)) {
		compiler_windows_name(field->dataset, out);
		buf_add_char(out, '.');
		sql_name(field->name, out);
		return;
	}
	if (wrap)
		buf_add_char(out, '(');
	expr_write(field->expression, &writer, out);
	if (wrap)
		buf_add_char(out, ')');
}

static int write_number(const struct model_field *field, const struct json *value, struct buf *out,
			struct err *err)
{
	const char *text = json_str(value);
	size_t len = text ? strlen(text) : 0;
	size_t digits;

	if (!text) {
		json_write(value, out);
		return 0;
	}
	digits = text[0] == '-';
	digits += strspn(text + digits, "0123456789");
	if (text[digits] == '.' && digits + 1 < len)
		digits += 1 + strspn(text + digits + 1, "0123456789");
	if (digits != len || len == 0 || len > 30 || text[len - 1] == '-' || text[0] == '.')
		return err_set(err, ERR_INVALID, "%s is a number, which \"%.40s\" is not",
			       field->id, text);
	buf_add_str(out, text);
	return 0;
}

static int write_value(const struct model_field *field, const struct json *value, struct buf *out,
		       struct err *err)
{
	bool number = field->type == TYPE_INTEGER || field->type == TYPE_DECIMAL;

	if (json_type(value) == JSON_BOOL) {
		buf_add_char(out, json_bool(value) ? '1' : '0');
		return 0;
	}
	if (number || (field->type != TYPE_STRING && !json_str(value)))
		return write_number(field, value, out, err);
	if (json_str(value)) {
		sql_text(json_str(value), out);
	} else { /* a number as it is written, in a text column */
		CLEANUP(buf_clear) struct buf text = BUF_INIT;

		json_write(value, &text);
		sql_text(buf_str(&text), out);
	}
	return 0;
}

static bool is_day(const struct model_field *field, const struct json *value)
{
	struct date ignored;

	return field->is_time && json_str(value) && date_read(json_str(value), &ignored, NULL) == 0;
}

/* A time compared with a day: the day is a span, not its first moment. */
static void write_day_test(const struct model_field *field, enum filter_op op, const char *day,
			   struct buf *out)
{
	switch (op) {
	case OP_AT_LEAST:
		compiler_range(field, day, 0, "", 0, out);
		return;
	case OP_LESS:
		compiler_range(field, "", 0, day, 0, out);
		return;
	case OP_AT_MOST:
		compiler_range(field, "", 0, day, 1, out);
		return;
	case OP_MORE:
		compiler_range(field, day, 1, "", 0, out);
		return;
	default:
		buf_add_char(out, '(');
		compiler_range(field, day, 0, day, 1, out);
		buf_add_char(out, ')');
	}
}

static void write_tested(const struct model_field *field, const char *shown_as, bool labelled,
			 struct buf *out)
{
	if (shown_as)
		sql_name(shown_as, out);
	else if (labelled)
		compiler_dimension(NULL, field, BUCKET_NONE, out);
	else
		compiler_field(field, out);
}

static bool names_the_missing(const struct model_field *field, const struct json *values)
{
	json_each(value, values)
	{
		if (field->missing && json_str(value) &&
		    strcmp(json_str(value), field->missing) == 0)
			return true;
	}
	return false;
}

/* IN and NOT IN; missing values are not one of the values, so NOT keeps them. */
static int write_membership(const struct query_filter *filter, const struct model_field *field,
			    const char *shown_as, struct buf *out, struct err *err)
{
	bool labelled = names_the_missing(field, filter->values);
	bool negated = filter->op == OP_NOT;
	bool single = json_len(filter->values) == 1;
	size_t count = 0;

	if (negated) {
		buf_add_char(out, '(');
		write_tested(field, shown_as, labelled, out);
		buf_add_str(out, " IS NULL OR ");
	}
	write_tested(field, shown_as, labelled, out);
	if (single)
		buf_add_str(out, negated ? " <> " : " = ");
	else
		buf_add_str(out, negated ? " NOT IN (" : " IN (");
	json_each(value, filter->values)
	{
		if (count++)
			buf_add_str(out, ", ");
		if (write_value(field, value, out, err) < 0)
			return -1;
	}
	if (!single)
		buf_add_char(out, ')');
	if (negated)
		buf_add_char(out, ')');
	return 0;
}

static void write_days(const struct query_filter *filter, const struct model_field *field,
		       struct buf *out)
{
	bool several = json_len(filter->values) > 1;
	size_t count = 0;

	if (filter->op == OP_NOT) {
		buf_add_char(out, '(');
		compiler_field(field, out);
		buf_add_str(out, " IS NULL OR NOT ");
	}
	if (several)
		buf_add_char(out, '(');
	json_each(value, filter->values)
	{
		if (count++)
			buf_add_str(out, " OR ");
		write_day_test(field, filter->op, json_str(value), out);
	}
	if (several)
		buf_add_char(out, ')');
	if (filter->op == OP_NOT)
		buf_add_char(out, ')');
}

static bool all_days(const struct model_field *field, const struct json *values)
{
	json_each(value, values)
	{
		if (!is_day(field, value))
			return false;
	}
	return json_len(values) > 0;
}

static int check_count(const struct query_filter *filter, struct err *err)
{
	size_t count = json_len(filter->values);
	bool ok = true;

	switch (filter->op) {
	case OP_MISSING:
	case OP_PRESENT:
		ok = count == 0;
		break;
	case OP_IN:
	case OP_NOT:
		ok = count > 0;
		break;
	default:
		ok = count == 1;
	}
	json_each(value, filter->values)
	{
		enum json_type type = json_type(value);

		ok = ok && type != JSON_NULL && type != JSON_ARRAY && type != JSON_OBJECT;
	}
	if (!ok)
		return err_set(err, ERR_INVALID, "%s: %s does not go with these values",
			       filter->field, filter_op_name(filter->op));
	return 0;
}

int compiler_filter(const struct query_filter *filter, const struct model_field *field,
		    const char *shown_as, struct buf *out, struct err *err)
{
	if (check_count(filter, err) < 0)
		return -1;
	if (!shown_as && all_days(field, filter->values)) {
		write_days(filter, field, out);
		return 0;
	}
	switch (filter->op) {
	case OP_IN:
	case OP_NOT:
		return write_membership(filter, field, shown_as, out, err);
	case OP_MISSING:
	case OP_PRESENT:
		write_tested(field, shown_as, false, out);
		buf_add_str(out, filter->op == OP_MISSING ? " IS NULL" : " IS NOT NULL");
		return 0;
	default:
		write_tested(field, shown_as, false, out);
		buf_addf(out, " %s ", filter_op_name(filter->op));
		return write_value(field, json_first(filter->values), out, err);
	}
}

const struct compiled_dimension *compiler_late(const struct compiler *compiler, size_t filter)
{
	const struct query_filter *asked = &compiler->query->filters[filter];

	/* "the share of East": East is picked after the total over all regions is taken */
	if (!compiler->query->share || (asked->op != OP_IN && asked->op != OP_NOT))
		return NULL;
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].field == compiler->filter_fields[filter] &&
		    compiler->dimensions[i].bucket == BUCKET_NONE)
			return &compiler->dimensions[i];
	}
	return NULL;
}
