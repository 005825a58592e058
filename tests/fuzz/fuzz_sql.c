/*
 * The reader of SQL and the checks under arbitrary text, in both dialects. Whatever the text: flags
 * have a code, a severity and a message in UTF-8; a statement that was not understood says so; the
 * probe is one SELECT that the reader itself understands. A broken promise aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/query/check/checks.h"
#include "agents/query/check/sql_parse.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

static const char tables_text[] =
	"[{\"table\":\"hire\",\"columns\":[{\"name\":\"id\",\"type\":\"INTEGER\",\"not_null\":true,"
	"\"key\":\"primary\"},{\"name\":\"fee\",\"type\":\"INTEGER\"},{\"name\":\"at\",\"type\":"
	"\"TEXT\",\"zone\":\"UTC\"},{\"name\":\"gone_at\",\"type\":\"TEXT\"}],\"primary_key\":"
	"[\"id\"]},{\"table\":\"pay\",\"columns\":[{\"name\":\"id\",\"type\":\"INTEGER\"},{"
	"\"name\":"
	"\"hire_id\",\"type\":\"INTEGER\"},{\"name\":\"currency\",\"type\":\"TEXT\"}],"
	"\"primary_key\":[\"id\"],\"foreign_keys\":[{\"columns\":[\"hire_id\"],\"table\":\"hire\","
	"\"to\":[\"id\"]}]},{\"table\":\"seen\",\"kind\":\"view\",\"definition\":\"CREATE VIEW "
	"seen "
	"AS SELECT h.fee FROM hire h JOIN pay p ON p.hire_id = h.id\"}]";
static const char metrics_text[] =
	"[{\"name\":\"fees\",\"sql\":\"SELECT SUM(fee) / 100.0 AS f FROM hire WHERE gone_at IS "
	"NULL\"}]";

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static struct json *read_json(const char *text)
{
	struct json *json = NULL;

	demand(json_parse_str(text, &json, NULL) == 0, "our own text is JSON");
	return json;
}

static void check_flags(const struct json *flags)
{
	json_each(flag, flags)
	{
		const char *code = json_get_str(flag, "code");
		const char *severity = json_get_str(flag, "severity");
		const char *message = json_get_str(flag, "message");

		demand(code && severity && message, "a flag has code, severity and message");
		demand(strcmp(severity, "note") == 0 || strcmp(severity, "warning") == 0 ||
			       strcmp(severity, "error") == 0,
		       "severities are three");
		demand(utf8_valid(message, strlen(message)), "messages are UTF-8");
	}
}

static void check_probe(const char *probe, enum sql_dialect dialect)
{
	struct sql_statement *statement = NULL;
	struct err err = {0};
	int status;

	if (!probe)
		return;
	status = sql_parse_as(dialect, probe, &statement, &err);
	if (status < 0 && err.kind != ERR_LIMIT)
		fprintf(stderr, "%s\n%s\n", probe, err.text);
	demand(status == 0 || err.kind == ERR_LIMIT, "a probe is a statement like others");
	if (status == 0)
		demand(statement->top->output_count > 0, "a probe shows something");
	sql_statement_free(statement);
}

static void check(const char *sql, enum sql_dialect dialect)
{
	CLEANUP(json_freep) struct json *tables = read_json(tables_text);
	CLEANUP(json_freep) struct json *metrics = read_json(metrics_text);
	CLEANUP(json_freep) struct json *result = json_object(), *flags = NULL;
	struct checks_input input = {
		.sql = sql,
		.tables = tables,
		.metrics = metrics,
		.zone = "Europe/Lisbon",
		.dialect = dialect == SQL_DIALECT_POSTGRES ? "postgres" : "sqlite",
	};
	struct sql_checks *checks = checks_plan(&input);
	struct json *wanted = checks_tables_wanted(checks);

	check_probe(checks_probe(checks), dialect);
	flags = checks_result(checks, result, NULL);
	check_flags(flags);
	json_free(wanted);
	checks_free(checks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(mem_freep) char *sql = mem_strn((const char *)bytes, len);

	check(sql, SQL_DIALECT_SQLITE);
	check(sql, SQL_DIALECT_POSTGRES);
	return 0;
}
