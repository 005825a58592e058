/* The semantic model: reading members of its JSON. Anything of the wrong shape is an error that
 * names it. */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

#define ITEMS_MAX 10000 /* of one list; a warehouse of hundreds of tables stays below */

const char *model_text_or(const struct json *json, const char *key, const char *fallback)
{
	const char *text = json_get_str(json, key);

	return text ? text : fallback;
}

/* An optional list: absent is empty. */
int model_read_items(const struct json *json, const char *key, const struct json **ret_list,
		     struct err *err)
{
	*ret_list = NULL;
	if (json_is_null(json_get(json, key)))
		return 0;
	if (json_want_array(json, key, ret_list, err) < 0)
		return -1;
	if (json_len(*ret_list) > ITEMS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d", key, ITEMS_MAX);
	return 0;
}

int model_words_of(struct model *model, const struct json *list, struct words *ret_words,
		   struct err *err)
{
	const char **items = model_keep(model, mem_array(json_len(list) + 1, sizeof(*items)));
	size_t count = 0;

	if (json_type(list) != JSON_ARRAY && !json_is_null(list))
		return err_set(err, ERR_INVALID, "a list of texts is wanted, not %s",
			       json_type_name(json_type(list)));
	json_each(item, list)
	{
		if (!json_str(item))
			return err_set(err, ERR_INVALID, "texts are wanted, not %s",
				       json_type_name(json_type(item)));
		items[count++] = json_str(item);
	}
	*ret_words = (struct words){items, count};
	return 0;
}

int model_read_words(struct model *model, const struct json *json, const char *key,
		     struct words *ret_words, struct err *err)
{
	if (model_words_of(model, json_get(json, key), ret_words, err) < 0)
		return err_wrap(err, "%s", key);
	return 0;
}

int model_read_expr(struct model *model, const struct json *json, const char *key,
		    const struct expr **ret_expr, struct err *err)
{
	const char *text;
	struct expr *expr;

	if (json_want_str(json, key, &text, err) < 0)
		return -1;
	if (expr_parse(text, &expr, NULL, err) < 0)
		return err_wrap(err, "%s", key);
	*ret_expr = model_keep_expr(model, expr);
	return 0;
}

int model_read_optional_expr(struct model *model, const struct json *json, const char *key,
			     const struct expr **ret_expr, struct err *err)
{
	if (json_is_null(json_get(json, key))) {
		*ret_expr = NULL;
		return 0;
	}
	return model_read_expr(model, json, key, ret_expr, err);
}
