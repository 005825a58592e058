/* The metric compiler: what is known of each column of a result. Cannot fail. */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static const char *keep_text(struct compiled_query *compiled, char *text)
{
	struct json *kept = json_new_str(text);
	const char *result = json_str(kept);

	json_push(compiled->texts, kept);
	mem_free(text);
	return result;
}

static const char *copy_text(struct compiled_query *compiled, const char *text)
{
	return text ? keep_text(compiled, mem_str(text)) : NULL;
}

static const char *dimension_type(const struct compiled_dimension *dimension)
{
	if (dimension->bucket == BUCKET_DAY || dimension->bucket == BUCKET_WEEK)
		return "date";
	if (dimension->bucket != BUCKET_NONE || !dimension->field)
		return "text";
	switch (dimension->field->type) {
	case TYPE_INTEGER:
	case TYPE_BOOLEAN:
		return "integer";
	case TYPE_DECIMAL:
		return "decimal";
	case TYPE_TIME:
		return "date";
	case TYPE_STRING:
	case TYPE_UNKNOWN:
		break;
	}
	return "text";
}

const char *compiler_bucket_words(enum time_bucket bucket)
{
	return bucket == BUCKET_FISCAL_QUARTER ? "fiscal quarter"
	       : bucket == BUCKET_FISCAL_YEAR  ? "fiscal year"
					       : time_bucket_name(bucket);
}

static struct column_info dimension_column(const struct compiled_dimension *dimension,
					   struct compiled_query *compiled)
{
	const struct model_field *field = dimension->field;
	const char *bucket = compiler_bucket_words(dimension->bucket);
	struct column_info info = {
		.name = copy_text(compiled, dimension->name),
		.label = copy_text(compiled, bucket ? bucket : field->label),
		.role = COLUMN_DIMENSION,
		.field = copy_text(compiled, field ? field->id : QUERY_TIME),
		.bucket = dimension->bucket,
		.type = dimension_type(dimension),
	};

	if (field)
		info.unit = copy_text(compiled, field->unit);
	if (field && field->description[0])
		info.definition = copy_text(compiled, field->description);
	return info;
}

static char *output_label(const struct compiler *compiler, const struct output_column *column)
{
	const char *label = column->metric->label;
	const struct query_period *before = &compiler->query->compare;

	if (column->role == COLUMN_PREVIOUS && compiler->query->stepwise)
		return mem_format("%s, the %s before", label,
				  time_bucket_name(compiler_step(compiler)->bucket));
	switch (column->role) {
	case COLUMN_DIMENSION:
		break;
	case COLUMN_METRIC:
		if (compiler->per)
			return mem_format("average %s per %s", label, compiler->per->label);
		break;
	case COLUMN_PREVIOUS: {
		CLEANUP(mem_freep) char *dates = compiler_period_words(before);

		return mem_format("%s, %s", label, before->label ? before->label : dates);
	}
	case COLUMN_CHANGE:
		return mem_format("change of %s", label);
	case COLUMN_CHANGE_PERCENT:
		return mem_format("change of %s in percent", label);
	case COLUMN_SHARE:
		return mem_format("share of %s", label);
	case COLUMN_RUNNING:
		return mem_format("running total of %s", label);
	}
	return mem_str(label);
}

static struct column_info output_column(const struct compiler *compiler,
					const struct output_column *column,
					struct compiled_query *compiled)
{
	const struct model_metric *metric = column->metric;
	bool percent = column->role == COLUMN_CHANGE_PERCENT || column->role == COLUMN_SHARE;
	bool whole = !percent && !compiler->per && metric->exact && metric->scale == 1;
	bool difference = column->role == COLUMN_CHANGE || column->role == COLUMN_CHANGE_PERCENT;

	return (struct column_info){
		.name = keep_text(compiled, compiler_output_name(compiler, column)),
		.label = keep_text(compiled, output_label(compiler, column)),
		.role = column->role,
		.metric = copy_text(compiled, metric->name),
		.unit = percent ? "%" : copy_text(compiled, metric->unit),
		.type = whole ? "integer" : "decimal",
		.decimals = compiler_decimals(compiler, column),
		.non_negative = metric->non_negative && !difference,
		.definition = copy_text(compiled, compiler_metric_words(metric)),
	};
}

void compiler_columns(const struct compiler *compiler, struct compiled_query *compiled)
{
	struct output_column column;
	size_t count = compiler->dimension_count;

	for (size_t i = 0; compiler_output(compiler, i, &column); i++)
		count++;
	compiled->columns = mem_array(count + 1, sizeof(*compiled->columns));
	for (size_t i = 0; i < compiler->dimension_count; i++)
		compiled->columns[compiled->column_count++] =
			dimension_column(&compiler->dimensions[i], compiled);
	for (size_t i = 0; compiler_output(compiler, i, &column); i++)
		compiled->columns[compiled->column_count++] =
			output_column(compiler, &column, compiled);
}
