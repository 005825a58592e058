/*
 * The metric compiler: the declaration that is made before the statement runs, of tables, grain and
 * of what could count a row twice. Cannot fail.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static void add_grain(const struct compiler *compiler, struct json *plan)
{
	CLEANUP(buf_clear) struct buf grain = BUF_INIT;

	if (compiler->dimension_count == 0)
		buf_add_str(&grain, "one row in all");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const char *bucket = compiler_bucket_words(compiler->dimensions[i].bucket);

		buf_addf(&grain, "%s%s", i == 0 ? "one row = one " : " and ",
			 bucket ? bucket : compiler->dimensions[i].field->label);
	}
	json_set_str(plan, "grain", buf_str(&grain));
}

static void part_risk(const struct part *part, const char *head, struct buf *risk)
{
	size_t near = 0, far = 0;

	buf_addf(risk, "%s %s", head, part->base->table);
	if (part->joined.count == 1)
		buf_add_str(risk, " alone");
	for (size_t i = 1; i < part->joined.count; i++) {
		if (!part->joins[i].far)
			buf_addf(risk, "%s%s",
				 near++ == 0 ? ", each with at most one row of " : ", ",
				 part->joined.items[i]->table);
	}
	for (size_t i = 1; i < part->joined.count; i++) {
		if (part->joins[i].far)
			buf_addf(risk, "%s%s",
				 far++ == 0 ? ", counted once in each group found over " : ", ",
				 part->joined.items[i]->table);
	}
}

static void add_risk(const struct compiler *compiler, struct json *plan)
{
	CLEANUP(buf_clear) struct buf risk = BUF_INIT;

	for (size_t i = 0; i < compiler->part_count; i++) {
		if (i > 0)
			buf_add_str(&risk, "; added up apart, ");
		part_risk(&compiler->parts[i], i == 0 ? "none: rows of" : "rows of", &risk);
	}
	json_set_str(plan, "fanout_risk", buf_str(&risk));
}

void compiler_plan(const struct compiler *compiler, struct compiled_query *compiled)
{
	struct json *plan = json_object(), *tables = json_array(), *metrics = json_array();
	CLEANUP(buf_clear) struct buf definition = BUF_INIT;

	for (size_t p = 0; p < compiler->part_count; p++) {
		for (size_t i = 0; i < compiler->parts[p].joined.count; i++)
			compiler_add_once(tables, compiler->parts[p].joined.items[i]->table);
	}
	for (size_t i = 0; i < compiler->metric_count; i++) {
		json_push_str(metrics, compiler->metrics[i]->name);
		buf_addf(&definition, "%s%s: %s", i ? "; " : "", compiler->metrics[i]->name,
			 compiler_metric_words(compiler->metrics[i]));
	}
	json_set(plan, "tables", tables);
	add_grain(compiler, plan);
	json_set_str(plan, "metric_definition",
		     definition.len ? buf_str(&definition)
				    : "a list of what occurs, nothing counted");
	add_risk(compiler, plan);
	json_set(plan, "metrics", metrics);
	json_set_str(plan, "dataset", compiler->parts[0].base->name);
	compiled->plan = plan;
}
