/*
 * Lists of names, as rules write them: in place, or named once under "lists" and used as
 * "list:NAME", which stands for its items. A named list holds plain words only, so nothing can
 * refer to itself. Fails by adding problems.
 */
#include <string.h>
#include <strings.h>

#include "policy/compile_parts.h"

static const char prefix[] = "list:";

bool is_word(const struct yaml *node, const char *word)
{
	return yaml_text(node) != NULL && strcmp(yaml_text(node), word) == 0;
}

/* Adds a name once; two spellings of one name count as the same where folded. */
void push_name(struct compile *compile, struct json *list, const struct yaml *node,
	       const char *name, bool folded)
{
	json_each(known, list) if ((folded ? strcasecmp : strcmp)(json_str(known), name) == 0)
	{
		check_fail(&compile->check, "duplicate", node, "\"%s\" stands twice", name);
		return;
	}
	json_push_str(list, name);
}

/* The word alone, or a list of names of which none is the word. */
bool is_list_not_word(struct compile *compile, const struct yaml *node, const char *what,
		      const char *word)
{
	bool sound = true;

	if (!yaml_is_null(node) && yaml_kind(node) != YAML_LIST) {
		check_fail(&compile->check, "wrong_type", node,
			   "%s must be the word %s or a list like [a, b]", what, word);
		return false;
	}
	if (!check_list(&compile->check, node, what))
		return false;
	for (size_t i = 0; i < yaml_len(node); i++)
		if (is_word(yaml_at(node, i), word)) {
			check_fail(&compile->check, "bad_value", yaml_at(node, i),
				   "\"%s\" stands alone, without a list: %s: %s", word, what, word);
			sound = false;
		}
	return sound;
}

static const struct yaml *find_list(struct compile *compile, const struct yaml *item)
{
	const char *name = yaml_text(item) + strlen(prefix);
	const struct yaml *lists = compile->lists;
	size_t count = lists == NULL || yaml_kind(lists) != YAML_MAP ? 0 : yaml_len(lists);
	CLEANUP(mem_freep) const char **names = mem_array(count, sizeof(*names));

	for (size_t i = 0; i < count; i++) {
		names[i] = yaml_text(yaml_key(lists, i));
		if (strcmp(names[i], name) == 0) {
			compile->list_used[i] = true;
			return yaml_value(lists, i);
		}
	}
	check_unknown_text(&compile->check, "unknown_list", item, "list", name,
			   (struct words){names, count});
	return NULL;
}

static void add_item(struct list_items *items, const struct yaml *node)
{
	items->nodes = mem_grow(items->nodes, (items->count + 1) * sizeof(struct yaml *));
	items->nodes[items->count++] = node;
}

void list_items_of(struct compile *compile, const struct yaml *node, struct list_items *ret_items)
{
	*ret_items = (struct list_items){NULL, 0};
	for (size_t i = 0; i < yaml_len(node); i++) {
		const struct yaml *item = yaml_at(node, i);
		const char *text = yaml_text(item);
		const struct yaml *list;

		if (text == NULL || strncmp(text, prefix, strlen(prefix)) != 0) {
			add_item(ret_items, item);
			continue;
		}
		list = find_list(compile, item);
		for (size_t n = 0; list != NULL && n < yaml_len(list); n++)
			if (yaml_text(yaml_at(list, n)) != NULL)
				add_item(ret_items, yaml_at(list, n));
	}
}

void list_items_clear(struct list_items *items)
{
	mem_free(items->nodes);
}

static void check_named_list(struct compile *compile, const struct yaml *key,
			     const struct yaml *value)
{
	CLEANUP(mem_freep) char *what = mem_format("list %.80s", yaml_text(key));

	IGNORE(check_name(&compile->check, key, "the name of a list") == NULL, "said already");
	if (!check_list(&compile->check, value, what))
		return;
	for (size_t i = 0; i < yaml_len(value); i++) {
		const char *text = check_text(&compile->check, yaml_at(value, i), "an item");

		if (text != NULL && strncmp(text, prefix, strlen(prefix)) == 0)
			check_fail(&compile->check, "bad_value", yaml_at(value, i),
				   "a list holds no other list: write its items");
	}
}

void lists_begin(struct compile *compile, const struct yaml *lists)
{
	compile->lists = lists;
	compile->list_used = NULL;
	if (lists == NULL)
		return;
	if (yaml_is_null(lists) || yaml_kind(lists) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", lists,
			   "lists must be a map like {night_agents: [a, b]}");
		compile->lists = NULL;
		return;
	}
	compile->list_used = mem_array(yaml_len(lists), sizeof(bool));
	for (size_t i = 0; i < yaml_len(lists); i++)
		check_named_list(compile, yaml_key(lists, i), yaml_value(lists, i));
}

void lists_end(struct compile *compile)
{
	for (size_t i = 0; compile->lists != NULL && i < yaml_len(compile->lists); i++)
		if (!compile->list_used[i])
			problems_add(compile->check.problems, PROBLEM_WARNING, "unused_list",
				     yaml_key(compile->lists, i),
				     "list %.80s is used by no rule of this file",
				     yaml_text(yaml_key(compile->lists, i)));
	mem_free(compile->list_used);
	compile->list_used = NULL;
	compile->lists = NULL;
}
