/* What search_values would find in the databases of planner_models.h: a double of that tool. */
#ifndef TESTS_PLANNER_VALUES_H
#define TESTS_PLANNER_VALUES_H

#include <string.h>

#include "agents/query/sentence.h"
#include "base/json.h"
#include "base/mem.h"

struct stored {
	const char *source, *table, *column, *value;
};

static const struct stored stored_values[] = {
	{"sales", "customers", "region", "East"},
	{"sales", "customers", "region", "West"},
	{"sales", "customers", "region", "South"},
	{"sales", "customers", "name", "Acorn Ltd"},
	{"sales", "customers", "name", "Birch Co"},
	{"sales", "orders", "status", "completed"},
	{"sales", "orders", "status", "cancelled"},
	{"sales", "orders", "status", "pending"},
	{"sales", "order_items", "product", "Widget"},
	{"sales", "order_items", "product", "Gadget"},
	{"sales", "order_items", "product", "Gizmo"},
	{"company", "employees", "team", "AI"},
	{"company", "employees", "team", "Platform"},
	{"company", "employees", "name", "Ada Byron"},
	{"company", "projects", "department", "AI"},
	{"company", "projects", "department", "IT"},
	{"company", "projects", "name", "Project Phoenix"},
	{"company", "projects", "name", "Atlas"},
	{"company", "issues", "status", "open"},
	{"company", "issues", "status", "closed"},
	{"company", "issues", "priority", "critical"},
	{"company", "issues", "priority", "low"},
	{"widgets", "dim_sku", "category_name", "Widgets"},
	{"widgets", "dim_sku", "category_name", "Gadgets"},
	{"widgets", "dim_sku", "sku", "W-1"},
};

static bool occurs(const struct sentence *question, const char *value, size_t *ret_at)
{
	struct sentence words;
	struct err err = {0};
	bool found = false;

	if (sentence_read(value, &words, &err) < 0)
		return false;
	for (size_t i = 0; i < question->count && !found; i++) {
		found = sentence_match(question, i, &words) > 0;
		*ret_at = i;
	}
	sentence_clear(&words);
	return found;
}

static struct json *search_stored(const char *source, const char *text)
{
	struct json *matches = json_array();
	struct sentence question;
	struct err err = {0};

	if (sentence_read(text, &question, &err) < 0)
		return matches;
	for (size_t i = 0; i < ARRAY_LEN(stored_values); i++) {
		const struct stored *stored = &stored_values[i];
		size_t at = 0;
		struct json *match = NULL;

		if (strcmp(stored->source, source) != 0 || !occurs(&question, stored->value, &at))
			continue;
		match = json_object();
		json_set_str(match, "table", stored->table);
		json_set_str(match, "column", stored->column);
		json_set_str(match, "value", stored->value);
		json_set_str(match, "phrase", stored->value);
		json_set_bool(match, "exact", true);
		json_push(matches, match);
	}
	sentence_clear(&question);
	return matches;
}

#endif
