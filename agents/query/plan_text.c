/* How a draft ends other than in a query, and the words for it. Nothing here decides. */
#include "agents/query/draft.h"

#include <string.h>

#include "base/buf.h"

bool draft_refuse(struct draft *draft, const char *code, char *reason, char *hint)
{
	struct plan *plan = draft->plan;

	plan->kind = PLAN_REFUSE;
	mem_free(plan->code);
	mem_free(plan->reason);
	mem_free(plan->hint);
	plan->code = mem_str(code);
	plan->reason = reason;
	plan->hint = hint;
	return false;
}

void draft_ask_part(struct draft *draft, const char *name, struct json *choices)
{
	struct plan *plan = draft->plan;
	struct json *part = json_object();

	if (plan->question == NULL) {
		plan->question = json_object();
		json_set_str(plan->question, "text", "");
		json_set(plan->question, "parts", json_array());
	}
	json_set_str(part, "name", name);
	json_set(part, "choices", choices);
	json_push(json_get_mut(plan->question, "parts"), part);
}

bool draft_ask(struct draft *draft, char *text)
{
	draft->plan->kind = PLAN_ASK;
	json_set_str(draft->plan->question, "text", text);
	mem_free(text);
	return false;
}

void draft_note(struct draft *draft, const char *code, char *message)
{
	struct json *note = json_object();

	json_set_str(note, "code", code);
	json_set_str(note, "message", message);
	json_push(draft->plan->notes, note);
	mem_free(message);
}

struct json *choices_new(void)
{
	return json_array();
}

void choices_add(struct json *choices, const char *value, const char *label)
{
	struct json *choice = json_object();

	json_set_str(choice, "value", value);
	json_set_str(choice, "label", label);
	json_push(choices, choice);
}

void choices_add_metric(struct json *choices, const struct model_metric *metric)
{
	CLEANUP(mem_freep)
	char *label = metric->description[0] != '\0'
			      ? mem_format("%s: %s", metric->label, metric->description)
			      : mem_str(metric->label);

	choices_add(choices, metric->name, label);
}

char *draft_text(const struct draft *draft, size_t item, size_t count)
{
	const struct item *first = &draft->items.list[item];
	const struct item *last = &draft->items.list[item + count - 1];

	return sentence_quote(draft->input->question, &draft->sentence, first->first,
			      last->first + last->count - first->first);
}

char *part_name(const struct draft *draft, size_t item)
{
	struct buf name = BUF_INIT;
	const struct item *named = &draft->items.list[item];

	for (size_t i = 0; i < named->count; i++)
		buf_addf(&name, "%s%s", i > 0 ? "_" : "",
			 draft->sentence.items[named->first + i].stem);
	return buf_take(&name);
}

char *metrics_text(const struct draft *draft)
{
	struct buf text = BUF_INIT;
	size_t count = model_metric_count(draft->input->model);

	if (count == 0)
		return mem_str("No metric is defined in what you may see.");
	buf_add_str(&text, "Defined metrics: ");
	for (size_t i = 0; i < count; i++) {
		const struct model_metric *metric = model_metric_at(draft->input->model, i);

		buf_addf(&text, "%s%s", i > 0 ? "; " : "", metric->label);
		if (metric->description[0] != '\0')
			buf_addf(&text, " (%s)", metric->description);
	}
	buf_add_str(&text, text.bytes[text.len - 1] == '.' ? "" : ".");
	return buf_take(&text);
}

char *dimensions_text(const struct draft *draft)
{
	struct buf text = BUF_INIT;
	size_t shown = 0;

	for (size_t i = 0; i < model_dataset_count(draft->input->model); i++) {
		const struct model_dataset *dataset = model_dataset_at(draft->input->model, i);

		for (size_t j = 0; j < dataset->field_count && shown < 20; j++) {
			if (!field_usable(draft, &dataset->fields[j]))
				continue;
			buf_addf(&text, "%s%s %s", shown > 0 ? ", " : "", dataset->label,
				 dataset->fields[j].label);
			shown++;
		}
	}
	if (shown == 0)
		buf_add_str(&text, "nothing");
	return buf_take(&text);
}

const char *draft_choice(const struct draft *draft, const char *part)
{
	return json_get_str(draft->input->choices, part);
}
