/* CSV is RFC 4180 with CRLF; a cell that a spreadsheet would run as a formula gets an apostrophe in
 * front (OWASP, "CSV injection"), unless it is a plain number. */
#include "cli/export.h"

#include <string.h>

#include "cli/value.h"

struct format {
	const char *name;
	void (*write)(const struct json *answer, FILE *out);
};

/* ---- csv ---- */

static bool is_formula(const char *text)
{
	return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

static void put_csv_cell(const struct json *value, FILE *out)
{
	bool number = json_type(value) == JSON_INT || json_type(value) == JSON_REAL;
	struct buf printed = BUF_INIT;
	char *text;

	if (json_is_null(value))
		return;
	if (number) {
		json_write(value, &printed);
		fputs(buf_str(&printed), out);
		buf_clear(&printed);
		return;
	}
	text = value_text(value, NULL);
	fputc('"', out);
	if (is_formula(text))
		fputc('\'', out);
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	mem_free(text);
}

static void put_csv_row(const struct json *row, FILE *out)
{
	json_each(value, row)
	{
		if (value != json_first(row))
			fputc(',', out);
		put_csv_cell(value, out);
	}
	fputs("\r\n", out);
}

static void write_csv(const struct json *answer, FILE *out)
{
	put_csv_row(json_get(answer, "columns"), out);
	json_each(row, json_get(answer, "rows")) put_csv_row(row, out);
}

/* ---- json, jsonl ---- */

/* Two columns of one name both stay: the second is called name_2. */
static char *member_name(const struct json *object, const char *name)
{
	char *unique = mem_str(name);

	for (int i = 2; json_get(object, unique) != NULL; i++) {
		mem_free(unique);
		unique = mem_format("%s_%d", name, i);
	}
	return unique;
}

static struct json *row_object(const struct json *answer, const struct json *row)
{
	const struct json *columns = json_get(answer, "columns");
	struct json *object = json_object();

	for (size_t i = 0; i < json_len(columns); i++) {
		char *name = member_name(object, json_str(json_at(columns, i)));

		json_set(object, name, json_copy(json_at(row, i)));
		mem_free(name);
	}
	return object;
}

static void put_json(const struct json *json, FILE *out)
{
	struct buf text = BUF_INIT;

	json_write(json, &text);
	fprintf(out, "%s\n", buf_str(&text));
	buf_clear(&text);
}

static void write_jsonl(const struct json *answer, FILE *out)
{
	json_each(row, json_get(answer, "rows"))
	{
		struct json *object = row_object(answer, row);

		put_json(object, out);
		json_free(object);
	}
}

static void write_json(const struct json *answer, FILE *out)
{
	struct json *list = json_array();

	json_each(row, json_get(answer, "rows")) json_push(list, row_object(answer, row));
	put_json(list, out);
	json_free(list);
}

/* ---- markdown ---- */

static void put_md_cell(const char *text, FILE *out)
{
	fputs(" ", out);
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '|' || *c == '\\')
			fputc('\\', out);
		fputc((unsigned char)*c < 0x20 ? ' ' : *c, out);
	}
	fputs(" |", out);
}

static void put_md_row(const struct json *answer, const struct json *row, FILE *out)
{
	size_t column = 0;

	fputc('|', out);
	json_each(value, row)
	{
		char *text =
			value_text(value, json_str(json_at(json_get(answer, "units"), column++)));

		put_md_cell(text, out);
		mem_free(text);
	}
	fputc('\n', out);
}

static void write_md(const struct json *answer, FILE *out)
{
	put_md_row(answer, json_get(answer, "columns"), out);
	fputc('|', out);
	json_each(column, json_get(answer, "columns"))
	{
		(void)column;
		fputs("---|", out);
	}
	fputc('\n', out);
	json_each(row, json_get(answer, "rows")) put_md_row(answer, row, out);
}

static const struct format formats[] = {
	{"csv", write_csv},
	{"json", write_json},
	{"jsonl", write_jsonl},
	{"md", write_md},
};

static const struct format *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

bool export_knows(const char *format)
{
	return find(format) != NULL;
}

void export_rows(const char *format, const struct json *answer, FILE *out)
{
	find(format)->write(answer, out);
}

void export_proof(const struct json *answer, FILE *out)
{
	char *scanned = bytes_text(json_get_int(answer, "bytes_scanned", 0));

	fprintf(out, "SQL: %s\nrows: %lld%s; scanned: %s; task: %s\n", json_get_str(answer, "sql"),
		(long long)json_get_int(answer, "row_count", 0),
		json_get_bool(answer, "truncated", false) ? " (cut by the limit)" : "", scanned,
		json_get_str(answer, "task"));
	json_each(flag, json_get(answer, "flags"))
		fprintf(out, "%s: %s [%s]\n", json_get_str(flag, "severity"),
			json_get_str(flag, "message"), json_get_str(flag, "code"));
	mem_free(scanned);
}
