/* The examples' models on the examples' data: every expected value, the answers that were counted
 * without SQL, and the same answers after every name is replaced by a random one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <ctype.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model_check.h"
#include "base/file.h"

static sqlite3 *db;
static struct model *model;

static int open_example(const char *name)
{
	const char *root = getenv("WRIT_SOURCE");
	CLEANUP(mem_freep) char *path = mem_format("%s/examples/%s", root ? root : ".", name);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("no example at %s", path);
	return fd;
}

static char *read_text(int fd, const char *path)
{
	struct buf text = BUF_INIT;
	struct err err;

	if (file_read_at(fd, path, 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	return buf_take(&text);
}

static void load_data(const char *sql)
{
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
}

static void load_model(int fd, const char *source)
{
	struct buf mistakes = BUF_INIT;
	struct json *models;
	struct err err;

	if (model_compile(fd, &source, 1, &models, &mistakes, &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&mistakes));
	if (model_from_json(json_get(models, source), &model, &err) < 0)
		fail_msg("%s", err.text);
	json_free(models);
	buf_clear(&mistakes);
}

static void load_example(const char *name)
{
	CLEANUP(fd_closep) int fd = open_example(name);
	CLEANUP(mem_freep) char *sql = read_text(fd, "data.sql");

	load_data(sql);
	load_model(fd, name);
}

static void unload(void)
{
	model_free(model);
	model = NULL;
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static struct json *cell(sqlite3_stmt *statement, int i)
{
	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		return json_new_int(sqlite3_column_int64(statement, i));
	case SQLITE_FLOAT:
		return json_new_real(sqlite3_column_double(statement, i));
	case SQLITE_NULL:
		return json_new_null();
	default:
		return json_new_str((const char *)sqlite3_column_text(statement, i));
	}
}

static int run_sql(void *self, const char *sql, struct json **ret_result, struct err *err)
{
	struct json *result, *rows;
	sqlite3_stmt *statement;

	(void)self;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return err_set(err, ERR_INVALID, "%s in %s", sqlite3_errmsg(db), sql);
	result = json_object();
	rows = json_array();
	while (sqlite3_step(statement) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(statement); i++)
			json_push(row, cell(statement, i));
		json_push(rows, row);
	}
	sqlite3_finalize(statement);
	json_set(result, "rows", rows);
	*ret_result = result;
	return 0;
}

static void test_every_example_fits_its_data(void **state)
{
	static const char *const names[] = {"sales", "widgets", "company"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct model_check check;
		struct buf text = BUF_INIT;
		struct err err;

		load_example(names[i]);
		if (model_check(model, run_sql, NULL, &check, &err) < 0)
			fail_msg("%s", err.text);
		json_write(check.findings, &text);
		assert_string_equal(buf_str(&text), "[]");
		assert_true(check.value_count > 0);
		buf_clear(&text);
		model_check_clear(&check);
		unload();
	}
}

/* The rows of a metric query as JSON text. */
static char *rows_of(const char *query_text)
{
	CLEANUP(json_freep) struct json *json = NULL, *result = NULL;
	CLEANUP(metric_query_freep) struct metric_query *query = NULL;
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	struct buf text = BUF_INIT;
	struct err err;

	if (json_parse_str(query_text, &json, &err) < 0 ||
	    metric_query_from_json(json, &query, &err) < 0 ||
	    metric_query_compile(query, model, &compiled, &err) < 0 ||
	    run_sql(NULL, compiled->sql, &result, &err) < 0)
		fail_msg("%s: %s", query_text, err.text);
	json_write(json_get(result, "rows"), &text);
	return buf_take(&text);
}

static void gives(const char *query, const char *wanted)
{
	CLEANUP(mem_freep) char *rows = rows_of(query);

	assert_string_equal(rows, wanted);
}

#define OPEN "{\"field\":\"issues.status\",\"op\":\"=\",\"values\":[\"open\"]}"
#define CRITICAL "{\"field\":\"issues.priority\",\"op\":\"=\",\"values\":[\"critical\"]}"
#define ON(name) "{\"field\":\"projects.project\",\"op\":\"=\",\"values\":[\"Project " name "\"]}"

static const struct {
	const char *question;
	const char *query;
} company[] = {
	{"How many open issues are there?",
	 "{\"metrics\":[\"issue_count\"],\"filters\":[" OPEN "]}"},
	{"Using the severity column, how many critical issues are open?",
	 "{\"metrics\":[\"issue_count\"],\"filters\":[" OPEN "," CRITICAL "]}"},
	{"How many issues are there?", "{\"metrics\":[\"issue_count\"]}"},
	{"How many open issues does each project have?",
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"projects.project\"}],"
	 "\"filters\":[" OPEN "]}"},
	{"How many open issues are there per priority?",
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"issues.priority\"}],"
	 "\"filters\":[" OPEN "]}"},
	{"What is the average days to close per priority?",
	 "{\"metrics\":[\"average_days_to_close\"],\"dimensions\":[{\"field\":"
	 "\"issues.priority\"}]}"},
	{"How many open issues does each employee have?",
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"employees.employee\"}],"
	 "\"filters\":[" OPEN "]}"},
	{"How many employees does each department have?",
	 "{\"metrics\":[\"employee_count\"],\"dimensions\":[{\"field\":\"employees.department\"}]"
	 "}"},
	{"How many projects are there?", "{\"metrics\":[\"project_count\"]}"},
	{"How many issues were opened last quarter?",
	 "{\"metrics\":[\"issue_count\"],\"period\":{\"from\":\"2026-07-01\",\"to\":"
	 "\"2026-10-01\"}}"},
	{"How many issues were opened last month?",
	 "{\"metrics\":[\"issue_count\"],\"period\":{\"from\":\"2026-09-01\",\"to\":"
	 "\"2026-10-01\"}}"},
	{"How many critical issues are open on Project Atlas?",
	 "{\"metrics\":[\"issue_count\"],\"filters\":[" OPEN "," CRITICAL "," ON("Atlas") "]}"},
	{"How many open issues have no assignee?",
	 "{\"metrics\":[\"issue_count\"],\"filters\":[" OPEN
	 ",{\"field\":\"employees.employee\",\"op\":\"missing\"}]}"},
	{"How many issues were opened per month this year?",
	 "{\"metrics\":[\"issue_count\"],\"dimensions\":[{\"field\":\"issues.opened_on\","
	 "\"bucket\":\"month\"}],\"period\":{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\"}}"},
};

static const struct json *answer_to(const struct json *expected, const char *question)
{
	json_each(answer, json_get(expected, "answers"))
	{
		if (strcmp(json_get_str(answer, "question"), question) == 0)
			return answer;
	}
	fail_msg("no answer to %s", question);
	return NULL;
}

static struct json *load_expected(void)
{
	CLEANUP(fd_closep) int fd = open_example("company");
	CLEANUP(mem_freep) char *text = read_text(fd, "expected.json");
	struct json *expected;
	struct err err;

	if (json_parse_str(text, &expected, &err) < 0)
		fail_msg("%s", err.text);
	return expected;
}

static void test_company_answers_as_counted_without_sql(void **state)
{
	CLEANUP(json_freep) struct json *expected = load_expected();

	(void)state;
	load_example("company");
	for (size_t i = 0; i < ARRAY_LEN(company); i++) {
		CLEANUP(mem_freep) char *rows = rows_of(company[i].query);
		CLEANUP(buf_clear) struct buf wanted = BUF_INIT;

		json_write(json_get(answer_to(expected, company[i].question), "rows"), &wanted);
		if (strcmp(rows, buf_str(&wanted)) != 0)
			fail_msg("%s\ngives  %s\nwanted %s", company[i].question, rows,
				 buf_str(&wanted));
	}
	unload();
}

static void test_company_lists_and_compares(void **state)
{
	CLEANUP(json_freep) struct json *expected = load_expected();
	CLEANUP(buf_clear) struct buf names = BUF_INIT;
	CLEANUP(mem_freep) char *members = NULL, *compared = NULL;
	const struct json *rows;

	(void)state;
	load_example("company");
	members =
		rows_of("{\"metrics\":[],\"dimensions\":[{\"field\":\"employees.employee\"}],"
			"\"filters\":[{\"field\":\"employees.department\",\"op\":\"=\",\"values\":["
			"\"AI\"]}," OPEN "," ON("Phoenix") "]}");
	buf_add_char(&names, '[');
	json_each(name, json_get(answer_to(expected, "Which AI-team members have open issues on "
						     "Project Phoenix?"),
				 "names"))
	{
		buf_addf(&names, "%s[\"%s\"]", names.len > 1 ? "," : "", json_str(name));
	}
	buf_add_char(&names, ']');
	assert_string_equal(members, buf_str(&names));
	compared = rows_of("{\"metrics\":[\"issue_count\"],\"period\":{\"from\":\"2026-07-01\","
			   "\"to\":\"2026-10-01\"},\"compare\":{\"from\":\"2026-04-01\",\"to\":"
			   "\"2026-07-01\"}}");
	rows = json_get(answer_to(expected, "Compare the issues of last quarter with the quarter "
					    "before"),
			"rows");
	buf_reset(&names);
	json_write(json_at(rows, 0), &names);
	names.bytes[names.len - 1] = '\0'; /* the percentage follows */
	assert_non_null(strstr(compared, buf_str(&names)));
	unload();
}

/* Every name of the sales example, and a random word for each. */
static const char *const originals[] = {"customers",	   "customer",
					"customer_id",	   "region",
					"orders",	   "order_id",
					"order_date",	   "status",
					"order_items",	   "item_id",
					"product",	   "quantity",
					"unit_price",	   "unit_price_cents",
					"discount",	   "discount_cents",
					"net_sales",	   "order_count",
					"units_sold",	   "average_order_value",
					"items_of_orders", "orders_of_customers"};
static char replacements[ARRAY_LEN(originals)][16];

static void draw_words(unsigned int seed)
{
	printf("# seed %u\n", seed);
	srand(seed);
	for (size_t i = 0; i < ARRAY_LEN(originals); i++) {
		for (size_t j = 0; j < 9; j++)
			replacements[i][j] = (char)('a' + rand() % 26);
		/* distinct whatever was drawn, and no word of SQL */
		snprintf(replacements[i] + 9, sizeof(replacements[i]) - 9, "_%zu", i);
	}
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static char *renamed(const char *text)
{
	struct buf out = BUF_INIT;

	while (*text) {
		size_t len = 0, i = 0;

		while (word_char(text[len]))
			len++;
		if (len == 0) {
			buf_add_char(&out, *text++);
			continue;
		}
		while (i < ARRAY_LEN(originals) &&
		       (strlen(originals[i]) != len || memcmp(originals[i], text, len) != 0))
			i++;
		if (i < ARRAY_LEN(originals))
			buf_add_str(&out, replacements[i]);
		else
			buf_add(&out, text, len);
		text += len;
	}
	return buf_take(&out);
}

static void gives_renamed(const char *query, const char *wanted)
{
	CLEANUP(mem_freep) char *other = renamed(query);

	gives(other, wanted);
}

static void put(int fd, const char *name, const char *text)
{
	CLEANUP(fd_closep) int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
}

static void load_renamed(void)
{
	char folder[] = "/tmp/renamed-XXXXXX";
	CLEANUP(fd_closep) int example = open_example("sales");
	CLEANUP(mem_freep) char *sql = read_text(example, "data.sql");
	CLEANUP(mem_freep) char *yaml = read_text(example, "metrics/sales.yaml");
	CLEANUP(mem_freep) char *other_sql = renamed(sql);
	CLEANUP(mem_freep) char *other_yaml = renamed(yaml);
	CLEANUP(fd_closep) int fd = -1;

	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(fd, "metrics", 0700), 0);
	put(fd, "metrics/a.yaml", other_yaml);
	load_data(other_sql);
	load_model(fd, "sales");
	unlinkat(fd, "metrics/a.yaml", 0);
	unlinkat(fd, "metrics", AT_REMOVEDIR);
	rmdir(folder);
}

static void test_names_mean_nothing_to_the_compiler(void **state)
{
	const char *given = getenv("WRIT_SEED");

	(void)state;
	draw_words(given ? (unsigned int)strtoul(given, NULL, 10) : (unsigned int)time(NULL));
	load_renamed();
	assert_null(model_metric(model, "net_sales"));
	gives_renamed("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":"
		      "\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":"
		      "\"2026-10-01\"}}",
		      "[[\"East\",420.0],[\"West\",300.0],[\"South\",90.0],[\"Unknown\",40.0]]");
	gives_renamed("{\"metrics\":[\"order_count\"],\"dimensions\":[{\"field\":"
		      "\"customers.region\"}],\"filters\":[{\"field\":\"orders.status\",\"op\":"
		      "\"=\",\"values\":[\"completed\"]}],\"period\":{\"from\":\"2026-07-01\","
		      "\"to\":\"2026-10-01\"}}",
		      "[[\"East\",2],[\"South\",1],[\"Unknown\",1],[\"West\",1]]");
	gives_renamed("{\"metrics\":[\"order_count\"]}", "[[9]]");
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_example_fits_its_data),
		cmocka_unit_test(test_company_answers_as_counted_without_sql),
		cmocka_unit_test(test_company_lists_and_compares),
		cmocka_unit_test(test_names_mean_nothing_to_the_compiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
