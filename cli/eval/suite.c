/* Strict reading of suites, going on after a mistake. */
#include "cli/eval/suite.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "cli/eval/csv.h"

#define SUITE_BYTES_MAX (16 << 20)
#define TOLERANCE_DEFAULT 1e-6

static const char *const outcomes[] = {"completed",	"needs_input", "needs_approval",
				       "too_expensive", "refused",     "limit_reached",
				       "failed",	NULL};

static void mistake(struct buf *mistakes, const struct yaml *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void mistake(struct buf *mistakes, const struct yaml *node, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	struct err err;
	va_list args;

	va_start(args, format);
	IGNORE(vsnprintf(text, sizeof(text), format, args) < 0, "a cut message is still one");
	va_end(args);
	yaml_error(node, &err, "%s", text);
	buf_addf(mistakes, "%s\n", err.text);
}

static bool is_word(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

static void check_keys(struct buf *mistakes, const struct yaml *map, const char *const *keys)
{
	const char *near;

	for (size_t i = 0; (i = yaml_stray_key(map, i, keys, &near)) < yaml_len(map); i++) {
		const struct yaml *key = yaml_key(map, i);

		mistake(mistakes, key, "no key %s here%s%s%s", yaml_text(key),
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
}

/* A number unquoted, else a text; ~ is a missing value. */
static struct json *cell_of(struct buf *mistakes, const struct yaml *node)
{
	const char *text = yaml_text(node);
	char *end;
	double number;

	if (yaml_is_null(node))
		return json_new_null();
	if (!text) {
		mistake(mistakes, node, "a value is a text or a number");
		return json_new_null();
	}
	number = strtod(text, &end);
	if (!yaml_quoted(node) && *end == '\0' && end != text && isfinite(number))
		return json_new_real(number);
	return json_new_str(text);
}

static struct json *rows_of(struct buf *mistakes, const struct yaml *node)
{
	struct json *rows = json_array();

	if (yaml_is_null(node) || yaml_kind(node) != YAML_LIST) {
		mistake(mistakes, node, "rows is a list of rows: [[East, 420], [West, 300]]");
		return rows;
	}
	for (size_t i = 0; i < yaml_len(node); i++) {
		const struct yaml *source = yaml_at(node, i);
		struct json *row = json_array();

		if (yaml_kind(source) != YAML_LIST)
			mistake(mistakes, source, "a row is a list: [East, 420]");
		for (size_t c = 0; yaml_kind(source) == YAML_LIST && c < yaml_len(source); c++)
			json_push(row, cell_of(mistakes, yaml_at(source, c)));
		json_push(rows, row);
	}
	return rows;
}

static const char *text_of(struct buf *mistakes, const struct yaml *map, const char *key)
{
	const struct yaml *node = yaml_get(map, key);

	if (yaml_is_null(node))
		return NULL;
	if (yaml_kind(node) != YAML_SCALAR || yaml_text(node)[0] == '\0') {
		mistake(mistakes, node, "%s is a text", key);
		return NULL;
	}
	return yaml_text(node);
}

/* A list of texts, or, where one_will_do, a text that stands for a list of one. */
static void read_texts(struct buf *mistakes, const struct yaml *map, const char *key,
		       bool one_will_do, struct json *item)
{
	const struct yaml *node = yaml_get(map, key);
	struct json *texts;

	if (!node)
		return;
	texts = json_array();
	if (one_will_do && yaml_kind(node) == YAML_SCALAR && !yaml_is_null(node))
		json_push_str(texts, yaml_text(node));
	else if (yaml_kind(node) != YAML_LIST)
		mistake(mistakes, node,
			one_will_do ? "%s is a text, or a list of texts" : "%s is a list: [a, b]",
			key);
	for (size_t i = 0; yaml_kind(node) == YAML_LIST && i < yaml_len(node); i++) {
		const char *text = yaml_text(yaml_at(node, i));

		if (text && text[0])
			json_push_str(texts, text);
		else
			mistake(mistakes, yaml_at(node, i), "a text is wanted here");
	}
	json_set(item, key, texts);
}

static void finish_case(struct buf *mistakes, const struct yaml *at, struct json *item)
{
	const char *expect = json_get_str(item, "expect");
	bool has_rows = json_get(item, "rows") != NULL;
	bool has_sql = json_get(item, "sql") != NULL;

	if (has_rows && has_sql)
		mistake(mistakes, at, "a case has rows or sql, not both");
	if (!expect && !has_rows && !has_sql)
		mistake(mistakes, at, "a case says its rows, its sql, or what it expects");
	if (!expect)
		json_set_str(item, "expect", "completed");
	else if (!is_word(expect, outcomes))
		mistake(mistakes, at,
			"no outcome %s; there are completed, needs_input, refused, "
			"too_expensive, limit_reached, needs_approval and failed",
			expect);
	else if (strcmp(expect, "completed") == 0 && !has_rows && !has_sql)
		mistake(mistakes, at, "completed needs the right rows, or sql that gives them");
}

static void read_case(struct buf *mistakes, const struct yaml *map, size_t number,
		      struct json *cases)
{
	static const char *const keys[] = {"id",     "question", "rows",  "sql", "ordered",
					   "expect", "after",	 "flags", NULL};
	static const char *const texts[] = {"question", "sql", "expect"};
	CLEANUP(mem_freep) char *fallback = mem_format("%zu", number);
	CLEANUP(mem_freep) char *at = NULL;
	struct json *item;
	bool ordered = false;
	struct err err;

	if (yaml_kind(map) != YAML_MAP) {
		mistake(mistakes, map, "a case is a map: question: ..., rows: ...");
		return;
	}
	check_keys(mistakes, map, keys);
	item = json_object();
	json_set_str(item, "id",
		     text_of(mistakes, map, "id") ? text_of(mistakes, map, "id") : fallback);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (text_of(mistakes, map, texts[i]))
			json_set_str(item, texts[i], text_of(mistakes, map, texts[i]));
	if (!json_get(item, "question"))
		mistake(mistakes, map, "a case needs question");
	if (!yaml_is_null(yaml_get(map, "rows")))
		json_set(item, "rows", rows_of(mistakes, yaml_get(map, "rows")));
	if (!yaml_is_null(yaml_get(map, "ordered")) &&
	    yaml_want_bool(yaml_get(map, "ordered"), &ordered, &err) < 0)
		buf_addf(mistakes, "%s\n", err.text);
	json_set_bool(item, "ordered", ordered);
	read_texts(mistakes, map, "after", true, item);
	read_texts(mistakes, map, "flags", false, item);
	finish_case(mistakes, map, item);
	at = mem_format("%s:%d", yaml_file(map), yaml_line(map));
	json_set_str(item, "at", at);
	json_push(cases, item);
}

static void read_settings(struct buf *mistakes, const struct yaml *root, struct json *suite)
{
	static const char *const widths[] = {"exact", "extra", NULL};
	const char *columns = text_of(mistakes, root, "columns");
	const char *tolerance = text_of(mistakes, root, "tolerance");
	char *end = NULL;
	double number = tolerance ? strtod(tolerance, &end) : TOLERANCE_DEFAULT;

	if (columns && !is_word(columns, widths))
		mistake(mistakes, yaml_get(root, "columns"), "columns is exact or extra");
	if (tolerance && (*end != '\0' || !isfinite(number) || number < 0))
		mistake(mistakes, yaml_get(root, "tolerance"), "tolerance is a number from 0 up");
	json_set_str(suite, "columns", columns ? columns : "exact");
	json_set_real(suite, "tolerance", number);
}

static void check_ids(struct buf *mistakes, const struct json *cases)
{
	json_each(item, cases)
	{
		for (const struct json *other = json_next(item); other; other = json_next(other))
			if (strcmp(json_get_str(item, "id"), json_get_str(other, "id")) == 0)
				buf_addf(mistakes, "%s: the id %s stands twice, first at %s\n",
					 json_get_str(other, "at"), json_get_str(other, "id"),
					 json_get_str(item, "at"));
	}
}

static int read_yaml(const char *path, struct json *suite, struct buf *mistakes, struct err *err)
{
	static const char *const keys[] = {"suite", "columns", "tolerance", "cases", NULL};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	struct json *cases = json_array();
	const struct yaml *list;

	json_set(suite, "cases", cases);
	if (file_read_at(AT_FDCWD, path, SUITE_BYTES_MAX, &text, err) < 0)
		return err_wrap(err, "%s", path);
	if (yaml_parse(path, text.bytes, text.len, &root, err) < 0)
		return -1;
	if (yaml_kind(root) != YAML_MAP) {
		mistake(mistakes, root, "a suite is a map: suite: NAME, cases: [...]");
		return 0;
	}
	check_keys(mistakes, root, keys);
	json_set_str(suite, "suite",
		     text_of(mistakes, root, "suite") ? text_of(mistakes, root, "suite") : path);
	read_settings(mistakes, root, suite);
	list = yaml_get(root, "cases");
	if (yaml_is_null(list) || yaml_kind(list) != YAML_LIST)
		mistake(mistakes, root, "a suite needs cases, a list");
	else if (yaml_len(list) > SUITE_CASES_MAX)
		mistake(mistakes, list, "more than %d cases", SUITE_CASES_MAX);
	else
		for (size_t i = 0; i < yaml_len(list); i++)
			read_case(mistakes, yaml_at(list, i), i + 1, cases);
	return 0;
}

static struct json *csv_case(const struct json *headings, const struct json *row, size_t line,
			     const char *path)
{
	struct json *item = json_object();
	CLEANUP(mem_freep) char *at = mem_format("%s:%zu", path, line);
	CLEANUP(mem_freep) char *id = mem_format("%zu", line);

	json_set_str(item, "id", id);
	for (size_t c = 0; c < json_len(headings); c++) {
		const char *key = json_str(json_at(headings, c));
		const char *value = json_str(json_at(row, c));
		char *end;
		double number;
		struct json *cells;

		if (!value || !value[0])
			continue;
		if (strcmp(key, "ordered") == 0) {
			json_set_bool(item, key, strcmp(value, "true") == 0);
		} else if (strcmp(key, "value") == 0) {
			number = strtod(value, &end);
			cells = json_array();
			json_push(cells, *end == '\0' && isfinite(number) ? json_new_real(number)
									  : json_new_str(value));
			json_set(item, "rows", json_array());
			json_push(json_get_mut(item, "rows"), cells);
		} else {
			json_set_str(item, key, value);
		}
	}
	json_set_str(item, "at", at);
	return item;
}

static int read_csv(const char *path, struct json *suite, struct buf *mistakes, struct err *err)
{
	static const char *const known[] = {"id",      "question", "value", "sql",
					    "ordered", "expect",   NULL};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(json_freep) struct json *table = NULL;
	struct json *cases = json_array();
	const struct json *headings;
	size_t line = 1;

	json_set(suite, "cases", cases);
	json_set_str(suite, "suite", path);
	json_set_str(suite, "columns", "exact");
	json_set_real(suite, "tolerance", TOLERANCE_DEFAULT);
	if (file_read_at(AT_FDCWD, path, SUITE_BYTES_MAX, &text, err) < 0)
		return err_wrap(err, "%s", path);
	if (csv_read(buf_str(&text), &table, err) < 0)
		return err_wrap(err, "%s", path);
	headings = json_at(table, 0);
	json_each(heading, headings) if (!is_word(json_str(heading), known))
		buf_addf(mistakes,
			 "%s:1: no heading %s; there are question, id, value, sql, "
			 "ordered and expect\n",
			 path, json_str(heading));
	for (const struct json *row = headings ? json_next(headings) : NULL; row && !mistakes->len;
	     row = json_next(row)) {
		struct json *item = csv_case(headings, row, ++line, path);
		size_t before = mistakes->len;

		finish_case(mistakes, NULL, item);
		if (!json_get(item, "question"))
			buf_addf(mistakes, "a case needs question\n");
		if (mistakes->len > before)
			buf_addf(mistakes, "  at %s:%zu\n", path, line);
		json_push(cases, item);
	}
	return 0;
}

int suite_read(const char *path, struct json **ret_suite, struct buf *mistakes, struct err *err)
{
	CLEANUP(json_freep) struct json *suite = json_object();
	const char *dot = strrchr(path, '.');
	bool csv = dot && strcmp(dot, ".csv") == 0;

	if ((csv ? read_csv(path, suite, mistakes, err) : read_yaml(path, suite, mistakes, err)) <
	    0)
		return -1;
	if (mistakes->len == 0)
		check_ids(mistakes, json_get(suite, "cases"));
	if (mistakes->len > 0)
		return err_set(err, ERR_INVALID, "%s has mistakes", path);
	*ret_suite = TAKE(suite);
	return 0;
}
