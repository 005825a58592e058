/*
 * What the checks say of SQL that somebody wrote: words, severities, what they say when nothing was
 * measured, PostgreSQL, views, models, metrics. Recall and false alarms: test_sql_pairs.c.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/check/checks.h"
#include "base/file.h"
#include "tests/unit/checked_database.h"

static sqlite3 *db;
static struct json *tables;

static int open_gallery(void **state)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	int fd = open(getenv("WRIT_SOURCE"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	if (fd < 0 || file_read_at(fd, "tests/evals/sql/gallery.sql", 1 << 20, &sql, NULL) < 0 ||
	    sqlite3_open(":memory:", &db) != SQLITE_OK)
		return -1;
	checked_exec(db, buf_str(&sql));
	tables = checked_tables(db);
	return 0;
}

static int close_gallery(void **state)
{
	(void)state;
	json_free(tables);
	return sqlite3_close(db) == SQLITE_OK ? 0 : -1;
}

/* ---- helpers ---- */

static struct json *flags_of(struct checks_input *input, bool probed)
{
	CLEANUP(json_freep) struct json *result = json_object();
	CLEANUP(json_freep) struct json *probe = NULL;
	struct sql_checks *checks;
	struct json *flags;

	if (!input->tables)
		input->tables = tables;
	checks = checks_plan(input);
	if (probed && checks_probe(checks))
		probe = checked_run(db, checks_probe(checks));
	flags = checks_result(checks, result, probe);
	checks_free(checks);
	return flags;
}

static const struct json *find(const struct json *flags, const char *code)
{
	json_each(flag, flags)
	{
		if (strcmp(json_get_str(flag, "code"), code) == 0)
			return flag;
	}
	return NULL;
}

static void assert_flag_of(struct checks_input *input, bool probed, const char *code,
			   const char *severity, const char *message, const char *repair)
{
	CLEANUP(json_freep) struct json *flags = flags_of(input, probed);
	const struct json *flag = find(flags, code);
	struct buf all = BUF_INIT;

	json_write_pretty(flags, &all);
	if (!flag)
		fail_msg("%s\nno %s in %s", input->sql, code, buf_str(&all));
	buf_clear(&all);
	assert_string_equal(json_get_str(flag, "severity"), severity);
	if (message)
		assert_string_equal(json_get_str(flag, "message"), message);
	if (repair)
		assert_string_equal(json_get_str(flag, "repair"), repair);
}

static void assert_flag(const char *sql, const char *code, const char *severity,
			const char *message, const char *repair)
{
	struct checks_input input = {.sql = sql};

	assert_flag_of(&input, true, code, severity, message, repair);
}

static void assert_unmeasured(const char *sql, const char *code, const char *severity,
			      const char *message)
{
	struct checks_input input = {.sql = sql};

	assert_flag_of(&input, false, code, severity, message, NULL);
}

static void assert_no_flag_of(struct checks_input *input, bool probed, const char *code)
{
	CLEANUP(json_freep) struct json *flags = flags_of(input, probed);

	if (find(flags, code))
		fail_msg("%s\n%s: %s", input->sql, code,
			 json_get_str(find(flags, code), "message"));
}

static void assert_no_flag(const char *sql, const char *code)
{
	struct checks_input input = {.sql = sql};

	assert_no_flag_of(&input, true, code);
}

/* ---- missing values and values that are not there ---- */

static void missing_values_are_counted(void **state)
{
	(void)state;
	assert_flag("SELECT COUNT(*) FROM depot WHERE id NOT IN (SELECT depot_id FROM parcel)",
		    "null.not_in", "error",
		    "parcel.depot_id has no value in 1 rows: NOT IN over a missing value lets no "
		    "row pass, so nothing is found",
		    "use NOT EXISTS, or add depot_id IS NOT NULL inside");
	assert_flag("SELECT COUNT(*) FROM hire WHERE id NOT IN (SELECT hire_id FROM pay)",
		    "null.not_in", "note",
		    "the first row of pay without hire_id would empty the result; today there is "
		    "none",
		    NULL);
	assert_unmeasured(
		"SELECT COUNT(*) FROM depot WHERE id NOT IN (SELECT depot_id FROM parcel)",
		"null.not_in", "warning",
		"parcel.depot_id may have no value, and NOT IN over one missing value "
		"lets no row pass; it was not measured");
	assert_flag("SELECT SUM(kg) FROM parcel WHERE state <> 'L'", "null.inequality", "warning",
		    "the test of parcel.state also leaves out the 1 rows that have no value there: "
		    "a missing value is neither equal nor unequal",
		    "say what a missing state means: state IS NULL OR ..., or COALESCE");
	assert_unmeasured("SELECT SUM(kg) FROM parcel WHERE state <> 'L'", "null.inequality",
			  "note",
			  "the test of parcel.state leaves out rows that have no value there; "
			  "whether there are any was not measured");
	assert_no_flag("SELECT SUM(fee) FROM hire WHERE client_id <> 1", "null.inequality");
}

static void the_nearest_values_are_offered(void **state)
{
	(void)state;
	assert_flag("SELECT COUNT(*) FROM parcel WHERE state = 'delivered'", "filter.unknown_value",
		    "warning", "there is no 'delivered' in parcel.state",
		    "nearest first: 'D', 'L'");
	assert_flag("SELECT COUNT(*) FROM client WHERE name = 'ADA'", "filter.unknown_value",
		    "warning", "there is no 'ADA' in client.name",
		    "nearest first: 'Ada', 'Bo', 'Cy'");
	assert_flag("SELECT COUNT(*) FROM client WHERE name LIKE 'Zz%'", "filter.unknown_value",
		    "warning", "nothing is like 'Zz%' in client.name", NULL);
	assert_flag("SELECT COUNT(*) FROM parcel WHERE state = 'x|y\nz'", "filter.unknown_value",
		    "warning", NULL, "there are: 'D', 'L'");
	assert_unmeasured(
		"SELECT SUM(fee) FROM hire h JOIN pay p ON p.hire_id = h.id WHERE h.fee > "
		"1",
		"fan_out.possible", "warning", NULL);
}

static void unknown_names_have_a_nearest_one(void **state)
{
	(void)state;
	assert_flag("SELECT SUM(\"kgs\") FROM parcel", "name.unknown", "error",
		    "no table of the statement has a column kgs", "did you mean kg?");
	assert_flag("SELECT SUM(p.weight) FROM parcel p", "name.unknown", "error",
		    "no table of the statement has a column p.weight",
		    "look at the columns of the tables");
}

/* ---- joins ---- */

static void lost_rows_are_counted_by_their_reason(void **state)
{
	(void)state;
	assert_flag("SELECT SUM(kg) FROM parcel p JOIN depot d ON d.id = p.depot_id",
		    "join.rows_lost", "warning",
		    "the join to depot loses 2 of 5 rows of parcel: 1 have no depot_id, 1 have one "
		    "that depot does not have",
		    "LEFT JOIN depot keeps them; or say that they do not count");
	assert_no_flag("SELECT kg FROM parcel p JOIN depot d ON d.id = p.depot_id",
		       "join.rows_lost"); /* a list */
}

static void an_outer_join_that_is_dropped_again_names_its_table(void **state)
{
	(void)state;
	assert_flag("SELECT COUNT(DISTINCT c.id) FROM client c LEFT JOIN hire h ON h.client_id = "
		    "c.id WHERE h.fee >= 50",
		    "join.outer_cancelled", "warning",
		    "the outer join keeps rows without hire, and the test of hire in WHERE drops "
		    "them again",
		    "move the test into ON, or write an inner join");
	/* looked up, and asked for one value: an inner join says the same */
	assert_flag("SELECT SUM(h.fee) FROM hire h LEFT JOIN client c ON c.id = h.client_id WHERE "
		    "c.name = 'Ada'",
		    "join.outer_cancelled", "note", NULL, NULL);
	/* nothing but values of the dropped side is added up */
	assert_flag("SELECT SUM(h.fee) FROM client c LEFT JOIN hire h ON h.client_id = c.id WHERE "
		    "h.fee > 50",
		    "join.outer_cancelled", "note", NULL, NULL);
}

static void observed_keys_are_not_promised_ones(void **state)
{
	(void)state;
	assert_flag("SELECT h.id, x.id FROM hire h JOIN pay x ON x.amount = h.fee", "join.not_key",
		    "note",
		    "hire and pay are joined on fee, which no key declares; it is observed to be "
		    "unique on one side today, not promised",
		    NULL);
	assert_unmeasured("SELECT h.id, x.id FROM hire h JOIN pay x ON x.amount = h.fee",
			  "join.not_key", "warning",
			  "hire and pay are joined on fee, a key of neither: rows may meet several "
			  "others; it was not measured");
}

/* ---- times ---- */

static void a_range_is_judged_by_what_is_stored(void **state)
{
	(void)state;
	assert_flag(
		"SELECT SUM(eur) FROM sale WHERE gone_at IS NULL AND at BETWEEN '2025-03-01' AND "
		"'2025-03-31'",
		"period.range_end", "warning",
		"sale.at up to '2025-03-31': the hours of that day behind midnight are left out",
		"use at >= the first day and at < the day after the last");
	assert_unmeasured(
		"SELECT SUM(eur) FROM sale WHERE at <= '2025-03-31'", "period.range_end", "note",
		"if sale.at holds times of day, the hours of '2025-03-31' are left out; it "
		"was not measured");
	assert_flag("SELECT SUM(eur) FROM sale WHERE at >= '2025-03-01T00:00:00Z'", "time.format",
		    "warning",
		    "'2025-03-01T00:00:00Z' is not written like the times in sale.at ('2025-03-01 "
		    "00:00:00'): they are compared letter by letter, so the wrong rows pass",
		    "write the time as '2025-03-01 00:00:00'");
}

static void days_are_those_of_the_asker(void **state)
{
	CLEANUP(json_freep) struct json *zoned = json_copy(tables);
	struct checks_input input = {
		.sql = "SELECT SUM(eur) FROM sale WHERE gone_at IS NULL AND at >= '2025-03-01' AND "
		       "at < '2025-04-01'",
		.zone = "Europe/Lisbon"};

	(void)state;
	assert_no_flag_of(&input, true, "time.zone"); /* nobody says in which zone it is stored */
	json_free(zoned);
	assert_int_equal(
		json_parse_str(
			"[{\"table\":\"sale\",\"columns\":[{\"name\":\"at\",\"type\":\"TEXT\","
			"\"zone\":\"UTC\"},{\"name\":\"eur\"},{\"name\":\"gone_at\"}]}]",
			&zoned, NULL),
		0);
	input.tables = zoned;
	assert_flag_of(&input, true, "time.zone", "warning",
		       "sale.at is kept in UTC, days are those of Europe/Lisbon: the period begins "
		       "and ends at midnight of the wrong zone",
		       "shift the bounds or the times to Europe/Lisbon first");
	input.zone = "utc";
	assert_no_flag_of(&input, true, "time.zone");
}

static void bounds_are_held_against_the_question(void **state)
{
	CLEANUP(json_freep) struct json *period = NULL;
	struct checks_input input = {
		.sql = "SELECT SUM(eur) FROM sale WHERE gone_at IS NULL AND at "
		       ">= '2025-02-01' AND at < '2025-04-01'",
		.period_column = "sale.at"};

	(void)state;
	assert_int_equal(
		json_parse_str("{\"from\":\"2025-03-01\",\"to\":\"2025-04-01\"}", &period, NULL),
		0);
	input.period = period;
	assert_flag_of(&input, true, "period.bounds", "warning",
		       "the statement compares sale.at with '2025-02-01', the period asked for "
		       "begins on 2025-03-01",
		       NULL);
	input.sql =
		"SELECT SUM(eur) FROM sale WHERE gone_at IS NULL AND at >= '2025-03-01' AND at < "
		"'2025-04-01'";
	assert_no_flag_of(&input, true, "period.bounds");
}

/* ---- rows and units ---- */

static void deleted_and_stale_rows_are_named(void **state)
{
	(void)state;
	assert_flag("SELECT SUM(eur) FROM sale", "rows.deleted", "warning",
		    "sale.gone_at marks 1 of 5 rows as no longer valid, and the statement takes "
		    "them along",
		    "add gone_at IS NULL");
	assert_flag("SELECT SUM(eur) FROM month_total", "table.stale", "warning",
		    "month_total was built 2025-03-31 20:00:00, the newest row of sale is of "
		    "2025-04-01 00:00:00: later rows are not in it",
		    "add up sale itself, or have month_total built anew");
}

static void what_the_model_filters_is_asked_for(void **state)
{
	CLEANUP(json_freep) struct json *modelled = NULL;
	struct checks_input input = {.sql = "SELECT SUM(kg) FROM parcel"};

	(void)state;
	assert_int_equal(json_parse_str("[{\"table\":\"parcel\",\"partial\":true,\"columns\":[{"
					"\"name\":\"kg\"}],\"filter_columns\":[\"state\"],"
					"\"filter_words\":\"delivered parcels\"}]",
					&modelled, NULL),
			 0);
	input.tables = modelled;
	assert_flag_of(&input, true, "rows.unfiltered", "warning",
		       "of parcel only delivered parcels count, says the model; the statement does "
		       "not look at state",
		       "test state as the model does: delivered parcels");
	input.sql = "SELECT SUM(kg) FROM parcel WHERE state = 'D'";
	assert_no_flag_of(&input, true, "rows.unfiltered");
}

static void modelled_units_do_not_mix(void **state)
{
	CLEANUP(json_freep) struct json *modelled = NULL;
	struct checks_input input = {.sql = "SELECT SUM(fee + client_id) FROM hire"};

	(void)state;
	assert_int_equal(
		json_parse_str("[{\"table\":\"hire\",\"columns\":[{\"name\":\"fee\","
			       "\"unit\":\"EUR\"},{\"name\":\"client_id\",\"unit\":\"h\"}]}]",
			       &modelled, NULL),
		0);
	input.tables = modelled;
	assert_flag_of(&input, true, "unit.mixed", "warning",
		       "fee is in EUR and client_id in h: they are added up as if they were one",
		       "convert one of them first");
}

/* ---- metrics, views, dialects ---- */

static void own_arithmetic_is_told_what_it_lacks(void **state)
{
	CLEANUP(json_freep) struct json *metrics = NULL;
	struct checks_input input = {0};
	static const struct {
		const char *sql;
		const char *message; /* NULL: it is the metric */
	} cases[] = {
		{"SELECT SUM(kg) / 1000.0 FROM parcel WHERE state = 'D'", NULL},
		{"SELECT SUM(CASE WHEN state = 'D' THEN kg END) * 0.001 FROM parcel", NULL},
		{"SELECT SUM(kg) FROM parcel WHERE state = 'D'",
		 "the question is about delivered weight, which is defined, and the statement "
		 "computes it in another unit"},
		{"SELECT SUM(kg) / 1000.0 FROM parcel",
		 "the question is about delivered weight, which is defined, and the condition "
		 "\"parcel.state = 'D'\" of its definition is missing"},
		{"SELECT COUNT(*) FROM parcel WHERE state = 'D'",
		 "the question is about delivered weight, which is defined, and no column of the "
		 "statement computes it"},
	};

	(void)state;
	assert_int_equal(
		json_parse_str("[{\"name\":\"delivered weight\",\"definition\":\"tons of "
			       "delivered parcels\",\"sql\":\"SELECT SUM(kg) / 1000.0 AS t "
			       "FROM parcel WHERE state = 'D'\"}]",
			       &metrics, NULL),
		0);
	input.metrics = metrics;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		input.sql = cases[i].sql;
		if (cases[i].message)
			assert_flag_of(
				&input, true, "metric.own_arithmetic", "error", cases[i].message,
				"use the metric delivered weight: tons of delivered parcels");
		else
			assert_no_flag_of(&input, true, "metric.own_arithmetic");
	}
	input.compiled = true; /* by code, from the definition */
	assert_no_flag_of(&input, true, "metric.own_arithmetic");
}

static void views_are_read_as_queries_or_said_not_to_be(void **state)
{
	CLEANUP(json_freep) struct json *views = NULL;
	struct checks_input input = {.sql = "SELECT SUM(fee) FROM paid"};

	(void)state;
	assert_int_equal(
		json_parse_str("[{\"table\":\"paid\",\"columns\":[{\"name\":\"fee\"}],\"grain\":"
			       "\"grain unknown: a view\"}]",
			       &views, NULL),
		0);
	input.tables = views;
	assert_flag_of(&input, false, "analysis.unknown", "note",
		       "paid is a view, and what it does inside was not looked at", NULL);
	json_free(views);
	assert_int_equal(
		json_parse_str(
			"[{\"table\":\"paid\",\"kind\":\"view\",\"definition\":\"CREATE VIEW paid "
			"AS "
			"SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = h.id\"},{\"table\":"
			"\"hire\",\"columns\":[{\"name\":\"id\"},{\"name\":\"fee\"}],\"primary_"
			"key\":"
			"[\"id\"]},{\"table\":\"pay\",\"columns\":[{\"name\":\"id\"},{\"name\":"
			"\"hire_id\"}],\"primary_key\":[\"id\"]}]",
			&views, NULL),
		0);
	input.tables = views;
	assert_flag_of(&input, false, "fan_out.possible", "warning",
		       "SUM(fee) may count a row of hire once per row of pay; it was not measured",
		       NULL);
	assert_no_flag_of(&input, false, "analysis.unknown");
}

static void postgresql_has_types_of_its_own(void **state)
{
	CLEANUP(json_freep) struct json *typed = NULL;
	struct checks_input input = {.dialect = "postgres"};
	struct sql_checks *checks;

	(void)state;
	assert_int_equal(
		json_parse_str(
			"[{\"table\":\"sale\",\"columns\":[{\"name\":\"at\",\"type\":"
			"\"timestamp without time zone\"},{\"name\":\"eur\",\"type\":\"integer\"},"
			"{\"name\":\"cents\",\"type\":\"numeric\"},{\"name\":\"kind\",\"type\":"
			"\"text\"}]}]",
			&typed, NULL),
		0);
	input.tables = typed;
	input.sql = "SELECT sum(cents) / count(*) FROM sale";
	assert_no_flag_of(&input, false, "division.integer");
	input.sql = "SELECT sum(eur) / count(*) FROM sale";
	assert_flag_of(&input, false, "division.integer", "warning", NULL, NULL);
	input.sql = "SELECT sum(eur)::numeric / count(*) FROM sale WHERE at >= '2025-03-01'::date";
	assert_no_flag_of(&input, false, "division.integer");
	assert_no_flag_of(&input, false, "analysis.unknown");
	input.sql = "SELECT count(*) FROM sale WHERE kind = 'x'";
	checks = checks_plan(&input);
	assert_non_null(strstr(checks_probe(checks), "STRING_AGG("));
	checks_free(checks);
}

/* A constant written as a real timestamp has no shape to get wrong; its last day can be missed. */
static void a_timestamp_has_no_shape(void **state)
{
	CLEANUP(json_freep) struct json *typed = NULL, *probe = NULL, *flags = NULL, *none = NULL;
	struct checks_input input = {
		.dialect = "postgres",
		.sql = "SELECT sum(eur) FROM sale WHERE at BETWEEN '2025-03-01' AND '2025-03-31'"};
	struct sql_checks *checks;

	(void)state;
	assert_int_equal(json_parse_str("[{\"table\":\"sale\",\"columns\":[{\"name\":\"at\","
					"\"type\":\"timestamp\"},{\"name\":\"eur\"}]}]",
					&typed, NULL),
			 0);
	assert_int_equal(json_parse_str("{\"rows\":[[\"2025-03-01 00:00:00|2025-04-01 "
					"00:00:00| | |19|3\"]]}",
					&probe, NULL),
			 0);
	input.tables = typed;
	none = json_object();
	checks = checks_plan(&input);
	flags = checks_result(checks, none, probe);
	checks_free(checks);
	assert_non_null(find(flags, "period.range_end"));
	assert_null(find(flags, "time.format"));
}

static void a_probe_that_makes_no_sense_is_not_believed(void **state)
{
	static const char *const answers[] = {"{}",
					      "{\"rows\":[]}",
					      "{\"rows\":[[]]}",
					      "{\"rows\":[[\"a|b\"]]}",
					      "{\"rows\":[[\"\"]]}",
					      "{\"rows\":[[7]]}",
					      "{\"rows\":[[\"1|2|3|4|5|6|7\"]]}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		CLEANUP(json_freep) struct json *probe = NULL, *flags = NULL, *none = json_object();
		struct checks_input input = {
			.sql = "SELECT SUM(eur) FROM sale WHERE at > '2025-03-31'",
			.tables = tables};
		struct sql_checks *checks = checks_plan(&input);

		assert_int_equal(json_parse_str(answers[i], &probe, NULL), 0);
		flags = checks_result(checks, none, probe);
		checks_free(checks);
		assert_null(find(flags, "period.range_end"));
		assert_null(find(flags, "time.format"));
	}
}

static void a_question_is_put_once(void **state)
{
	struct checks_input input = {
		.sql = "SELECT COUNT(*) FROM sale WHERE gone_at IS NULL AND at "
		       ">= '2025-03-01' AND at < '2025-04-01'",
		.tables = tables};
	struct sql_checks *checks = checks_plan(&input);

	(void)state;
	assert_non_null(strstr(checks_probe(checks), "\"fact1\""));
	assert_null(strstr(checks_probe(checks), "\"fact2\""));
	assert_null(checks_probe_less(checks)); /* nothing repeats rows */
	checks_free(checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_values_are_counted),
		cmocka_unit_test(the_nearest_values_are_offered),
		cmocka_unit_test(unknown_names_have_a_nearest_one),
		cmocka_unit_test(lost_rows_are_counted_by_their_reason),
		cmocka_unit_test(an_outer_join_that_is_dropped_again_names_its_table),
		cmocka_unit_test(observed_keys_are_not_promised_ones),
		cmocka_unit_test(a_range_is_judged_by_what_is_stored),
		cmocka_unit_test(days_are_those_of_the_asker),
		cmocka_unit_test(bounds_are_held_against_the_question),
		cmocka_unit_test(deleted_and_stale_rows_are_named),
		cmocka_unit_test(what_the_model_filters_is_asked_for),
		cmocka_unit_test(modelled_units_do_not_mix),
		cmocka_unit_test(own_arithmetic_is_told_what_it_lacks),
		cmocka_unit_test(views_are_read_as_queries_or_said_not_to_be),
		cmocka_unit_test(postgresql_has_types_of_its_own),
		cmocka_unit_test(a_timestamp_has_no_shape),
		cmocka_unit_test(a_probe_that_makes_no_sense_is_not_believed),
		cmocka_unit_test(a_question_is_put_once),
	};

	if (!getenv("WRIT_SOURCE"))
		return 77;
	return cmocka_run_group_tests(tests, open_gallery, close_gallery);
}
