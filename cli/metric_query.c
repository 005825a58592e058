/*
 * writ metric query: a metric query from options, compiled and run as the agent may. What can fail:
 * an option that cannot be read, a name the model does not have, a query without a sound meaning;
 * each says what to do, with the code of Ossie's specification where it has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/period.h"
#include "cli/commands.h"
#include "cli/export.h"
#include "cli/metric.h"
#include "cli/render.h"

#define ROWS_MAX 500

/* The next piece of *text up to mark, or NULL at the end; the caller frees. */
static char *next_piece(const char **text, char mark)
{
	const char *start = *text, *end;
	char *piece;

	if (!start)
		return NULL;
	end = strchr(start, mark);
	*text = end ? end + 1 : NULL;
	while (*start == ' ')
		start++;
	piece = end ? mem_strn(start, end > start ? (size_t)(end - start) : 0) : mem_str(start);
	for (size_t len = strlen(piece); len > 0 && piece[len - 1] == ' ';)
		piece[--len] = '\0';
	return piece;
}

static bool called(const struct model_field *field, const char *name)
{
	return strcmp(field->id, name) == 0 || strcasecmp(field->name, name) == 0 ||
	       strcasecmp(field->label, name) == 0;
}

/* A field by its id, or by a name or label that only one field has. */
static int find_field(const struct model *model, const char *name, const char **ret_id,
		      struct err *err)
{
	const struct model_field *found = model_field(model, name);

	if (found) {
		*ret_id = found->id;
		return 0;
	}
	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *dataset = model_dataset_at(model, i);

		for (size_t j = 0; j < dataset->field_count; j++) {
			const struct model_field *field = &dataset->fields[j];

			if (!called(field, name))
				continue;
			if (found)
				return err_set(err, ERR_INVALID, "%s is %s and %s: write which",
					       name, found->id, field->id);
			found = field;
		}
	}
	/* the compiler says what is near a name that nobody has */
	*ret_id = found ? found->id : name;
	return 0;
}

static int add_by(const struct model *model, const char *by, struct metric_query *query,
		  struct err *err)
{
	for (char *piece; (piece = next_piece(&by, ',')) != NULL; mem_free(piece)) {
		enum time_bucket bucket = BUCKET_NONE;
		char *colon = strchr(piece, ':');
		const char *id = QUERY_TIME;

		if (time_bucket_from_name(colon ? colon + 1 : piece, &bucket) && !colon) {
			metric_query_add_dimension(query, QUERY_TIME, bucket);
			continue;
		}
		if (colon && bucket == BUCKET_NONE) {
			err_set(err, ERR_INVALID,
				"%s: behind the colon stands day, week, month, quarter, year or "
				"weekday",
				piece);
			mem_free(piece);
			return -1;
		}
		if (colon)
			*colon = '\0';
		if (find_field(model, piece, &id, err) < 0) {
			mem_free(piece);
			return -1;
		}
		metric_query_add_dimension(query, id, bucket);
	}
	return 0;
}

static const struct {
	const char *sign;
	enum filter_op op;
} tests[] = {{"!=", OP_NOT}, {">=", OP_AT_LEAST}, {"<=", OP_AT_MOST},
	     {"=", OP_IN},   {">", OP_MORE},	  {"<", OP_LESS}};

static int add_filter(const struct model *model, const char *text, struct metric_query *query,
		      struct err *err)
{
	size_t at = strcspn(text, "!=<>");
	CLEANUP(mem_freep) char *name = mem_strn(text, at);
	struct json *values;
	const char *id, *rest;
	size_t i = 0;

	while (i < ARRAY_LEN(tests) &&
	       strncmp(text + at, tests[i].sign, strlen(tests[i].sign)) != 0)
		i++;
	if (i == ARRAY_LEN(tests))
		return err_set(err, ERR_INVALID, "--filter %s: write field=value, or != >= <= > <",
			       text);
	for (size_t len = strlen(name); len > 0 && name[len - 1] == ' ';)
		name[--len] = '\0';
	if (find_field(model, name, &id, err) < 0)
		return -1;
	values = json_array();
	rest = text + at + strlen(tests[i].sign);
	for (char *value; (value = next_piece(&rest, '|')) != NULL; mem_free(value))
		json_push_str(values, value);
	metric_query_add_filter(query, id, tests[i].op, values);
	return 0;
}

static int add_filters(const struct model *model, const char *filter, struct metric_query *query,
		       struct err *err)
{
	for (char *piece; (piece = next_piece(&filter, '&')) != NULL; mem_free(piece)) {
		if (add_filter(model, piece, query, err) < 0) {
			mem_free(piece);
			return -1;
		}
	}
	return 0;
}

/* "last quarter", or two dates with .. between them. */
static int read_period(const char *text, struct date today, struct period *period, struct err *err)
{
	const struct period_rules rules = {.today = today, .ranges = true};
	const char *dots = strstr(text, "..");
	struct sentence words;
	size_t used, count;

	if (dots) {
		CLEANUP(mem_freep) char *from = mem_strn(text, (size_t)(dots - text));

		if (date_read(from, &period->from, err) < 0 ||
		    date_read(dots + 2, &period->to, err) < 0)
			return err_wrap(err, "--period %s", text);
		period->has_from = period->has_to = true;
		snprintf(period->label, sizeof(period->label), "%s", text);
		return 0;
	}
	if (sentence_read(text, &words, err) < 0)
		return err_wrap(err, "--period");
	used = period_read(&words, 0, &rules, period);
	count = words.count;
	sentence_clear(&words);
	if (period->mistake[0])
		return err_set(err, ERR_INVALID, "--period %s: %s", text, period->mistake);
	if (used == 0 || used != count)
		return err_set(err, ERR_INVALID,
			       "--period %s: no phrase of time, like \"last quarter\" or "
			       "2026-07-01..2026-10-01",
			       text);
	return 0;
}

static int set_period(struct query_period *target, const struct period *period, struct err *err)
{
	char from[DATE_LEN + 1] = "", to[DATE_LEN + 1] = "";

	if (period->has_from)
		date_write(period->from, from);
	if (period->has_to)
		date_write(period->to, to);
	return query_period_set(target, NULL, from, to, period->label, err);
}

static int add_periods(const struct metric_options *options, struct date today,
		       struct metric_query *query, struct err *err)
{
	struct period period = {0}, other = {0};
	bool found;

	if (!options->period)
		return options->compare ? err_set(err, ERR_INVALID, "--compare needs --period") : 0;
	if (read_period(options->period, today, &period, err) < 0 ||
	    (!period.all && set_period(&query->period, &period, err) < 0))
		return -1;
	if (!options->compare)
		return 0;
	if (strcmp(options->compare, "before") == 0)
		found = period_before(&period, &other);
	else if (strcmp(options->compare, "year") == 0)
		found = period_year_before(&period, &other);
	else if (read_period(options->compare, today, &other, err) < 0)
		return -1;
	else
		found = true;
	if (!found)
		return err_set(err, ERR_INVALID, "--compare: there is no such period before");
	return set_period(&query->compare, &other, err);
}

static int add_order(const struct model *model, const char *order, struct metric_query *query,
		     struct err *err)
{
	for (char *piece; (piece = next_piece(&order, ',')) != NULL; mem_free(piece)) {
		char *colon = strchr(piece, ':');
		bool desc = colon && strcmp(colon + 1, "desc") == 0;
		const char *id = piece;

		if (colon && !desc && strcmp(colon + 1, "asc") != 0) {
			err_set(err, ERR_INVALID, "--order %s: behind the colon stands asc or desc",
				piece);
			mem_free(piece);
			return -1;
		}
		if (colon)
			*colon = '\0';
		if (!model_metric(model, piece) && find_field(model, piece, &id, err) < 0) {
			mem_free(piece);
			return -1;
		}
		metric_query_add_order(query, id, desc);
	}
	return 0;
}

static int read_number(const char *text, const char *option, long max, int64_t *ret,
		       struct err *err)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || (*end != '\0' && *end != ':') || number < 1 || number > max)
		return err_set(err, ERR_INVALID, "%s %s: a number from 1 to %ld is wanted", option,
			       text, max);
	*ret = number;
	return 0;
}

/* 2:region */
static int add_top(const struct model *model, const char *top, struct metric_query *query,
		   struct err *err)
{
	const char *colon = strchr(top, ':');
	const char *rest = colon ? colon + 1 : NULL;

	if (read_number(top, "--top", 1000, &query->top.count, err) < 0)
		return -1;
	for (char *piece; (piece = next_piece(&rest, ',')) != NULL; mem_free(piece)) {
		const char *id = QUERY_TIME;
		enum time_bucket bucket;

		if (!time_bucket_from_name(piece, &bucket) &&
		    find_field(model, piece, &id, err) < 0) {
			mem_free(piece);
			return -1;
		}
		metric_query_add_within(query, id);
	}
	return 0;
}

/* "SUM(orders.amount) AS revenue" */
static void add_expression(struct query_expression **list, size_t *count, const char *text)
{
	const char *as = NULL;

	for (const char *at = text; (at = strcasestr(at, " as ")) != NULL; at += 4)
		as = at;
	if (as && strcspn(as + 4, " ()'\"") == strlen(as + 4)) {
		CLEANUP(mem_freep) char *expression = mem_strn(text, (size_t)(as - text));

		query_expressions_add(list, count, expression, as + 4);
	} else {
		query_expressions_add(list, count, text, NULL);
	}
}

static int add_expressions(const struct metric_options *options, struct metric_query *query)
{
	const char *via = options->via, *measures = options->measure, *fields = options->field;

	for (char *piece; (piece = next_piece(&via, ',')) != NULL; mem_free(piece))
		query_texts_add(&query->via, piece);
	if (options->where)
		query_texts_add(&query->where, options->where);
	if (options->having)
		query_texts_add(&query->having, options->having);
	for (char *piece; (piece = next_piece(&measures, ';')) != NULL; mem_free(piece))
		add_expression(&query->measures, &query->measure_count, piece);
	query->lists_rows = fields != NULL;
	for (char *piece; (piece = next_piece(&fields, ';')) != NULL; mem_free(piece))
		add_expression(&query->fields, &query->field_count, piece);
	return 0;
}

static int build(const struct args *args, const struct metric_options *options,
		 const struct metric_session *session, struct metric_query **ret_query,
		 struct err *err)
{
	CLEANUP(metric_query_freep) struct metric_query *query = metric_query_new();
	const struct model *model = session->model;

	for (size_t i = 1; i < args->word_count; i++)
		metric_query_add_metric(query, args->words[i]);
	query->share = options->share;
	query->running = options->running;
	query->stepwise = options->stepwise;
	query->several_groups = options->several_groups;
	if (add_by(model, options->by, query, err) < 0 ||
	    add_filters(model, options->filter, query, err) < 0 ||
	    add_periods(options, session->today, query, err) < 0 ||
	    add_order(model, options->order, query, err) < 0 ||
	    (options->limit &&
	     read_number(options->limit, "--limit", 1000000, &query->limit, err) < 0) ||
	    (options->top && add_top(model, options->top, query, err) < 0) ||
	    add_expressions(options, query) < 0)
		return -1;
	*ret_query = TAKE(query);
	return 0;
}

static int read_query(const struct args *args, const struct metric_options *options,
		      const struct metric_session *session, struct metric_query **ret_query,
		      struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;

	if (!options->query)
		return build(args, options, session, ret_query, err);
	if (json_parse_str(options->query, &json, err) < 0)
		return err_wrap(err, "--query");
	return metric_query_from_json(json, ret_query, err);
}

static int refuse(const struct args *args, const struct err *err)
{
	CLEANUP(json_freep) struct json *out = NULL;

	if (!args->json)
		return cli_fail(EXIT_NEGATIVE, "%s%s%s%s", err->text, err->code ? " (" : "",
				err->code ? err->code : "", err->code ? ")" : "");
	out = json_object();
	json_set_bool(out, "ok", false);
	json_set_str(out, "error", err->text);
	if (err->code)
		json_set_str(out, "code", err->code);
	cli_print_json(out);
	return EXIT_NEGATIVE;
}

static struct json *answer_json(const struct compiled_query *compiled, const struct json *result)
{
	static const char *const keys[] = {"columns",	"rows",		 "row_count",
					   "truncated", "bytes_scanned", "flags"};
	struct json *out = json_object();

	json_set_bool(out, "ok", true);
	json_set_str(out, "sql", compiled->sql);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!json_is_null(json_get(result, keys[i])))
			json_set(out, keys[i], json_copy(json_get(result, keys[i])));
	}
	json_set(out, "words", json_copy(compiled->words));
	json_set(out, "definitions", json_copy(compiled->definitions));
	json_set(out, "column_info", compiled_query_columns_json(compiled));
	return out;
}

static int show_result(const struct args *args, const struct metric_options *options,
		       const struct compiled_query *compiled, const struct json *result)
{
	CLEANUP(json_freep) struct json *answer = answer_json(compiled, result);

	if (args->json) {
		cli_print_json(answer);
	} else if (options->format) {
		export_rows(options->format, answer, stdout);
		fprintf(stderr, "%s\n%s\n", json_get_str(compiled->words, "sentence"),
			compiled->sql);
	} else {
		render_call("run_query", result, stdout);
		printf("%s\n", json_get_str(compiled->words, "sentence"));
	}
	return EXIT_FINE;
}

static int run_compiled(const struct args *args, const struct metric_options *options,
			struct metric_session *session, const struct compiled_query *compiled)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *arguments;
	struct err err = {0};

	if (options->sql_only) {
		puts(compiled->sql);
		return EXIT_FINE;
	}
	arguments = json_object();
	json_set_str(arguments, "sql", compiled->sql);
	json_set_int(arguments, "rows", ROWS_MAX);
	if (trial_call(&session->trial, "run_query", arguments, &result, &err) < 0)
		return err.kind == ERR_UNAVAILABLE
			       ? cli_fail(EXIT_UNAVAILABLE, "metric query: %s", err.text)
			       : refuse(args, &err);
	return show_result(args, options, compiled, result);
}

static int query_seen(const struct args *args, const struct metric_options *options,
		      struct metric_session *session)
{
	CLEANUP(metric_query_freep) struct metric_query *query = NULL;
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	struct err err = {0};

	if (read_query(args, options, session, &query, &err) < 0)
		return cli_fail(EXIT_USAGE, "metric query: %s", err.text);
	if (metric_query_compile(query, session->model, &compiled, &err) < 0)
		return refuse(args, &err);
	return run_compiled(args, options, session, compiled);
}

int metric_query(const struct args *args, const struct metric_options *options)
{
	struct metric_session session;
	int code;

	if (options->format && !export_knows(options->format))
		return cli_usage("metric", "--format is csv, json, jsonl or md");
	if (args->word_count < 2 && !options->measure && !options->field && !options->query &&
	    !options->by)
		return cli_usage("metric", "query which metric? writ metric list names them");
	code = metric_session_open(args, options, &session);
	if (code == 0)
		code = metric_session_model(&session);
	if (code == 0)
		code = query_seen(args, options, &session);
	metric_session_close(&session);
	return code;
}
