/* A plan in one line, for comparing with what is expected. */
#ifndef TESTS_PLANNER_DIGEST_H
#define TESTS_PLANNER_DIGEST_H

#include "agents/query/planner.h"
#include "base/buf.h"

static void digest_query(const struct plan *plan, struct buf *out)
{
	struct json *json = metric_query_to_json(plan->query);

	json_write(json, out);
	json_free(json);
}

static void digest_parts(const struct plan *plan, struct buf *out)
{
	json_each(part, json_get(plan->question, "parts"))
	{
		const char *gap = "";

		buf_addf(out, " %s(", json_get_str(part, "name"));
		json_each(choice, json_get(part, "choices"))
		{
			buf_addf(out, "%s%s", gap, json_get_str(choice, "value"));
			gap = "|";
		}
		buf_add_char(out, ')');
	}
}

static char *plan_digest(const struct plan *plan)
{
	struct buf out = BUF_INIT;

	switch (plan->kind) {
	case PLAN_QUERY:
		digest_query(plan, &out);
		break;
	case PLAN_LOOKUP:
		buf_addf(&out, "lookup %s ", plan->lookup);
		digest_query(plan, &out);
		break;
	case PLAN_ASK:
		buf_add_str(&out, "ask");
		digest_parts(plan, &out);
		return buf_take(&out);
	case PLAN_REFUSE:
		buf_addf(&out, "refuse %s: %s", plan->code, plan->reason);
		return buf_take(&out);
	}
	if (plan->column != NULL)
		buf_addf(&out, " column %s.%s", plan->column_dataset, plan->column);
	json_each(note, plan->notes) buf_addf(&out, " +%s", json_get_str(note, "code"));
	return buf_take(&out);
}

#endif
