/*
 * Answers for people. Numbers first, then what makes them checkable: SQL, rows, bytes, definition,
 * flags, records. Every text that came from data, a model or a person goes through put_text(),
 * which lets no control character pass.
 */
#include "cli/render.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/value.h"

#define BAR_WIDTH 24
#define BAR_ROWS_MAX 60

/* ---- text ---- */

static const char *style(const char *code)
{
	return cli_color() ? code : "";
}

#define BOLD style("\033[1m")
#define DIM style("\033[2m")
#define RED style("\033[31m")
#define YELLOW style("\033[33m")
#define PLAIN style("\033[0m")

/* Newlines stay and are indented; other control characters, C1 included, become "?". */
static void put_text(const char *text, const char *indent, FILE *out)
{
	const unsigned char *at = (const unsigned char *)(text != NULL ? text : "");

	for (; *at != '\0'; at++) {
		if (*at == '\n') {
			fprintf(out, "\n%s", indent);
		} else if (*at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0) {
			fputc('?', out);
			at++;
		} else {
			fputc(*at >= 0x20 && *at != 0x7F ? *at : *at == '\t' ? ' ' : '?', out);
		}
	}
}

static void put_row(const char *label, const char *text, FILE *out)
{
	fprintf(out, "%s%-10s%s ", DIM, label, PLAIN);
	put_text(text, "           ", out);
	fputc('\n', out);
}

/* ---- the table ---- */

static bool is_number(const struct json *value)
{
	return json_type(value) == JSON_INT || json_type(value) == JSON_REAL;
}

static bool is_number_column(const struct json *rows, size_t column)
{
	bool seen = false;

	json_each(row, rows)
	{
		const struct json *value = json_at(row, column);

		if (!is_number(value) && !json_is_null(value))
			return false;
		seen = seen || is_number(value);
	}
	return seen;
}

/* Bars help where one number is compared over rows: the only numeric column, nothing negative. */
static bool find_bar_column(const struct json *answer, size_t *ret_column, double *ret_largest)
{
	const struct json *rows = json_get(answer, "rows");
	size_t columns = json_len(json_get(answer, "columns")), numeric = 0;

	*ret_largest = 0;
	for (size_t i = 0; i < columns; i++) {
		if (!is_number_column(rows, i))
			continue;
		numeric++;
		*ret_column = i;
	}
	if (numeric != 1 || columns < 2 || json_len(rows) < 2 || json_len(rows) > BAR_ROWS_MAX)
		return false;
	json_each(row, rows)
	{
		double value = json_real(json_at(row, *ret_column));

		if (value < 0)
			return false;
		if (value > *ret_largest)
			*ret_largest = value;
	}
	return *ret_largest > 0;
}

/* Eighth blocks, so that small differences still show. */
static char *bar_text(double value, double largest)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	long parts = (long)(value / largest * BAR_WIDTH * 8 + 0.5);
	struct buf bar = BUF_INIT;

	for (long i = 0; i < parts / 8; i++)
		buf_add_str(&bar, "█");
	buf_add_str(&bar, eighths[parts % 8]);
	return buf_take(&bar);
}

static char *heading_text(const struct json *answer, size_t column)
{
	const char *name = json_str(json_at(json_get(answer, "columns"), column));
	const char *unit = json_str(json_at(json_get(answer, "units"), column));

	if (unit == NULL)
		return mem_str(name != NULL ? name : "?");
	return mem_format("%s (%s)", name != NULL ? name : "?", unit);
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		mem_free(texts[i]);
	mem_free(texts);
}

static void add_row(struct table *table, const struct json *answer, const struct json *row,
		    size_t columns, bool bars, size_t bar_column, double largest)
{
	const struct json *units = json_get(answer, "units");
	char **cells = mem_array(columns + 1, sizeof(*cells));

	for (size_t i = 0; i < columns; i++)
		cells[i] = value_text(json_at(row, i), json_str(json_at(units, i)));
	if (bars)
		cells[columns] = bar_text(json_real(json_at(row, bar_column)), largest);
	table_add(table, (const char *const *)cells);
	free_texts(cells, columns + 1);
}

static void render_rows(const struct json *answer, FILE *out)
{
	const struct json *rows = json_get(answer, "rows");
	size_t columns = json_len(json_get(answer, "columns")), bar_column = 0;
	double largest;
	bool bars = find_bar_column(answer, &bar_column, &largest);
	char **headings = mem_array(columns + 1, sizeof(*headings));
	struct table *table;

	for (size_t i = 0; i < columns; i++)
		headings[i] = heading_text(answer, i);
	headings[columns] = mem_str("");
	table = table_new((const char *const *)headings, columns + (bars ? 1 : 0));
	free_texts(headings, columns + 1);
	for (size_t i = 0; i < columns; i++)
		if (is_number_column(rows, i))
			table_align_right(table, i);
	json_each(row, rows) add_row(table, answer, row, columns, bars, bar_column, largest);
	table_print(table, out);
	table_free(table);
}

/* ---- what makes it checkable ---- */

static void render_flags(const struct json *flags, FILE *out)
{
	json_each(flag, flags)
	{
		const char *severity = json_get_str(flag, "severity");
		bool error = severity != NULL && strcmp(severity, "error") == 0;
		bool note = severity != NULL && strcmp(severity, "note") == 0;

		fprintf(out, "%s%-10s%s ",
			error  ? RED
			: note ? DIM
			       : YELLOW,
			severity != NULL ? severity : "flag", PLAIN);
		put_text(json_get_str(flag, "message"), "           ", out);
		fputs(" [", out);
		put_text(json_get_str(flag, "code"), "", out);
		fputs("]\n", out);
		if (json_get_str(flag, "repair") != NULL)
			put_row("  repair", json_get_str(flag, "repair"), out);
	}
}

static void render_size(const struct json *answer, FILE *out)
{
	const char *amount = json_get_str(json_get(answer, "cost"), "amount");
	char *scanned = bytes_text(json_get_int(answer, "bytes_scanned", 0));
	/* to the last digit only for programs: 0.00000008192 is no amount to read */
	char *cost = amount == NULL		       ? mem_str("")
		     : strncmp(amount, "0.00", 4) == 0 ? mem_str(", under 0.01 USD")
						       : mem_format(", %s USD", amount);

	fprintf(out, "%s%-10s%s %lld%s, %s scanned%s, %.1f ms\n", DIM, "rows", PLAIN,
		(long long)json_get_int(answer, "row_count", 0),
		json_get_bool(answer, "truncated", false) ? " shown (there are more)" : "", scanned,
		cost, json_real(json_get(answer, "latency_ms")));
	mem_free(cost);
	mem_free(scanned);
}

static void render_definitions(const struct json *definitions, FILE *out)
{
	json_each(definition, definitions)
	{
		char *text = mem_format("%s = %s (%s)", json_get_str(definition, "metric"),
					json_get_str(definition, "definition"),
					json_get_str(definition, "source"));

		put_row("definition", text, out);
		mem_free(text);
	}
}

static void render_attempts(const struct json *attempts, bool seeded, FILE *out)
{
	json_each(attempt, attempts)
	{
		char *text = mem_format("%s\n%s", json_get_str(attempt, "sql"),
					json_get_str(attempt, "error"));

		put_row(seeded && attempt == json_first(attempts) ? "seeded" : "earlier", text,
			out);
		mem_free(text);
	}
}

/* 4, 5, 6, 9 -> "4 to 6, 9": most answers have their records in one run. */
static void put_runs(const struct json *numbers, struct buf *text)
{
	for (size_t i = 0, next = 0; i < json_len(numbers); i = next) {
		int64_t first = json_int(json_at(numbers, i));
		int64_t last = first;

		for (next = i + 1;
		     next < json_len(numbers) && json_int(json_at(numbers, next)) == last + 1;
		     next++)
			last++;
		buf_addf(text, "%s%lld", i == 0 ? "" : ", ", (long long)first);
		if (last > first)
			buf_addf(text, "%s%lld", last == first + 1 ? ", " : " to ",
				 (long long)last);
	}
}

static void render_audit(const struct json *answer, FILE *out)
{
	const struct json *records = json_get(json_get(answer, "audit"), "records");
	struct buf text = BUF_INIT;

	if (json_len(records) == 0)
		return;
	buf_add_str(&text, json_len(records) == 1 ? "record " : "records ");
	put_runs(records, &text);
	if (json_get_str(answer, "task") != NULL)
		buf_addf(&text, "; task %s", json_get_str(answer, "task"));
	put_row("audit", buf_str(&text), out);
	buf_clear(&text);
}

/* ---- outcomes ---- */

/* Value and label, but not "this month  this month: 2026-10-01 to ...". */
static void render_choice(const struct json *choice, FILE *out)
{
	const char *value = json_get_str(choice, "value");
	const char *label = json_get_str(choice, "label");
	size_t len = strlen(value);
	bool said = label != NULL && strncmp(label, value, len) == 0 &&
		    (label[len] == '\0' || label[len] == ':');

	fputs("    ", out);
	put_text(value, "", out);
	if (label != NULL && !said)
		fputs("  ", out);
	if (label != NULL) {
		fputs(DIM, out);
		put_text(said ? label + len : label, "", out);
		fputs(PLAIN, out);
	}
	fputc('\n', out);
}

/* One word of a shell's command line. */
static void add_shell_word(const char *text, struct buf *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	if (*text != '\0' && text[strspn(text, plain)] == '\0') {
		buf_add_str(out, text);
		return;
	}
	buf_add_char(out, '\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_add_str(out, "'\\''");
		else
			buf_add_char(out, *text);
	buf_add_char(out, '\'');
}

static void render_question(const struct json *answer, FILE *out)
{
	const struct json *question = json_get(answer, "question");
	CLEANUP(buf_clear) struct buf example = BUF_INIT;

	put_text(json_get_str(question, "text"), "", out);
	fputc('\n', out);
	json_each(part, json_get(question, "parts"))
	{
		const struct json *choices = json_get(part, "choices");

		fprintf(out, "\n  %s", BOLD);
		put_text(json_get_str(part, "name"), "", out);
		fprintf(out, "%s\n", PLAIN);
		json_each(choice, choices) render_choice(choice, out);
		if (json_len(choices) == 0)
			continue;
		buf_add_char(&example, ' ');
		add_shell_word(json_get_str(part, "name"), &example);
		buf_add_char(&example, '=');
		add_shell_word(json_get_str(json_first(choices), "value"), &example);
	}
	fprintf(out, "\n%sanswer with, for example: writ task answer %s", DIM,
		json_get_str(answer, "task"));
	put_text(buf_str(&example), "", out);
	fprintf(out, "%s\n", PLAIN);
}

static void render_refusal(const struct json *answer, FILE *out)
{
	fprintf(out, "%s%s%s: ", BOLD, json_get_str(answer, "status"), PLAIN);
	put_text(json_get_str(answer, "reason"), "", out);
	fputc('\n', out);
	if (json_get_str(answer, "hint") != NULL)
		put_row("hint", json_get_str(answer, "hint"), out);
}

static void render_completed(const struct json *answer, FILE *out)
{
	fputs(BOLD, out);
	put_text(json_get_str(answer, "answer"), "", out);
	fprintf(out, "%s\n\n", PLAIN);
	render_rows(answer, out);
	fputc('\n', out);
}

void render_answer(const struct json *answer, FILE *out)
{
	const char *status = json_get_str(answer, "status");
	bool shown = json_get_str(answer, "answer") != NULL;

	if (shown)
		render_completed(answer, out);
	if (status != NULL && strcmp(status, "needs_input") == 0)
		render_question(answer, out);
	else if (status == NULL || strcmp(status, "completed") != 0)
		render_refusal(answer, out);
	render_attempts(json_get(answer, "attempts"), json_get_bool(answer, "seeded", false), out);
	if (json_get_str(answer, "sql") != NULL)
		put_row("SQL", json_get_str(answer, "sql"), out);
	if (shown)
		render_size(answer, out);
	render_definitions(json_get(answer, "definitions"), out);
	render_flags(json_get(answer, "flags"), out);
	render_audit(answer, out);
}

/* ---- calls and traces ---- */

static void render_decision(const struct json *decision, FILE *out)
{
	char *text;

	if (decision == NULL)
		return;
	text = mem_format("%s%s%s%s%s%s", json_get_str(decision, "effect"),
			  json_get_str(decision, "rule") != NULL ? ", rule " : "",
			  json_get_str(decision, "rule") != NULL ? json_get_str(decision, "rule")
								 : "",
			  json_get_str(decision, "at") != NULL ? " at " : "",
			  json_get_str(decision, "at") != NULL ? json_get_str(decision, "at") : "",
			  json_get_str(decision, "reason") != NULL ? "" : "");
	put_row("decision", text, out);
	if (json_get_str(decision, "reason") != NULL)
		put_row("", json_get_str(decision, "reason"), out);
	mem_free(text);
}

static void render_refused_call(const struct json *result, FILE *out)
{
	fprintf(out, "%srefused%s by %s: ", BOLD, PLAIN,
		json_get_str(result, "rejected_by") != NULL ? json_get_str(result, "rejected_by")
							    : "?");
	put_text(json_get_str(result, "error"), "", out);
	fputc('\n', out);
	if (json_get_str(result, "hint") != NULL)
		put_row("hint", json_get_str(result, "hint"), out);
}

static void render_other_result(const struct json *result, FILE *out)
{
	static const char *const apart[] = {"ok",	"records", "flags",
					    "decision", "task",	   "checkpoint"};
	struct json *rest = json_copy(result);
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(apart); i++)
		json_remove(rest, apart[i]);
	json_write_pretty(rest, &text);
	put_text(buf_str(&text), "", out);
	fputc('\n', out);
	buf_clear(&text);
	json_free(rest);
}

static void render_call_audit(const struct json *result, FILE *out)
{
	struct json *as_answer = json_object();
	struct json *audit = json_object();

	if (json_get(result, "records") != NULL)
		json_set(audit, "records", json_copy(json_get(result, "records")));
	json_set(as_answer, "audit", audit);
	json_set_str(as_answer, "task", json_get_str(result, "task"));
	render_audit(as_answer, out);
	json_free(as_answer);
}

void render_call(const char *tool, const struct json *result, FILE *out)
{
	(void)tool;
	if (!json_get_bool(result, "ok", false)) {
		render_refused_call(result, out);
	} else if (json_get(result, "rows") != NULL) {
		render_rows(result, out);
		fputc('\n', out);
		render_size(result, out);
	} else {
		render_other_result(result, out);
	}
	render_flags(json_get(result, "flags"), out);
	render_decision(json_get(result, "decision"), out);
	render_call_audit(result, out);
}

void render_trace(const struct json *event, FILE *out)
{
	fprintf(out, "%s%-8s%s ", DIM, json_get_str(event, "event"), PLAIN);
	put_text(json_get_str(event, "text"), "         ", out);
	fputc('\n', out);
}

int answer_exit_code(const struct json *answer)
{
	const char *status = json_get_str(answer, "status");

	return status != NULL && strcmp(status, "completed") == 0 ? EXIT_FINE : EXIT_NEGATIVE;
}
