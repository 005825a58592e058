/*
 * writ audit report: an account of a period as one HTML file that needs nothing else: no script, no
 * font, no picture from elsewhere. The log is verified in the same reading, and the verdict stands
 * at the top. Everything that people or models wrote is escaped. What can fail: files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "broker/audit/log_check.h"
#include "cli/audit_account.h"
#include "cli/audit_source.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"

struct report {
	struct audit_source_options place;
	struct audit_filter filter;
	const char *out;

	struct audit_source source;
	struct opening_book *book;
	struct account account;
	struct log_check_report check;
};

static int read_word(int argc, char **argv, int *at, struct report *report)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"-C", &report->place.workspace},	  {"--out", &report->out},
		      {"--key", &report->place.keys[0]},  {"--policy", &report->place.policy},
		      {"--since", &report->filter.since}, {"--until", &report->filter.until}};
	int found = 0;

	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	if (found < 0)
		return cli_usage("audit report", "%s needs a value", argv[*at]);
	if (found > 0)
		return 0;
	if (argv[*at][0] == '-')
		return cli_usage("audit report", "no option %s", argv[*at]);
	if (report->place.path != NULL)
		return cli_usage("audit report", "one log at a time: %s or %s?", report->place.path,
				 argv[*at]);
	report->place.path = argv[*at];
	return 0;
}

static void put(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc((unsigned char)*text < 0x20 && *text != '\n' ? ' ' : *text, out);
		}
	}
}

static const char style[] =
	"<style>:root{color-scheme:light}body{font:15px/1.5 system-ui,sans-serif;color:#1d232b;"
	"background:#fff;max-width:68rem;margin:2.5rem auto;padding:0 1.5rem}h1{font-size:1.7rem;"
	"margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.4rem 0 .6rem;border-bottom:1px solid "
	"#d8dde3;padding-bottom:.25rem}p.sub{color:#59636e;margin:.1rem 0}table{border-collapse:"
	"collapse;width:100%;font-size:.87rem}th{text-align:left;color:#59636e;font-weight:600;"
	"border-bottom:1px solid #d8dde3;padding:.35rem .6rem .35rem 0}td{vertical-align:top;"
	"border-bottom:1px solid #eef1f4;padding:.4rem .6rem .4rem 0;overflow-wrap:break-word;"
	"white-space:pre-line}td.t{white-space:nowrap;font-variant-numeric:tabular-nums;color:"
	"#59636e}td.n{text-align:right;color:#59636e;font-variant-numeric:tabular-nums}tr.bad "
	"td:first-child{box-shadow:inset 3px 0 #c4442d;padding-left:.6rem}.verdict{border-left:5px "
	"solid;padding:.7rem 1rem;margin:1.2rem 0;background:#f6f8fa}.good{border-color:#2c8a4b}"
	".warn{border-color:#c98a13}.fail{border-color:#c4442d}.verdict b{letter-spacing:.03em}"
	".verdict p{margin:.15rem 0}.cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0}"
	".card{border:1px solid #d8dde3;border-radius:6px;padding:.6rem .9rem;min-width:7rem}.card "
	"b{display:block;font-size:1.35rem}.card span{color:#59636e;font-size:.82rem}.none{color:"
	"#59636e}code{font-size:.92em}@media print{body{margin:0;max-width:none}h2{break-after:"
	"avoid}tr{break-inside:avoid}}</style>";

static void put_verdict(const struct report *report, FILE *out)
{
	const struct audit_report *verdict = &report->check.verdict;
	const char *kind = verdict->exit_code == 0    ? "good"
			   : verdict->exit_code >= 20 ? "fail"
						      : "warn";

	fprintf(out, "<div class=\"verdict %s\">", kind);
	for (int i = AUDIT_VERDICTS - 1; i >= 0; i--) {
		if (!verdict->holds[i])
			continue;
		fprintf(out, "<p><b>%s</b> ", audit_verdict_name((enum audit_verdict)i));
		put(out, verdict->text[i]);
		fputs("</p>", out);
	}
	fputs("<p class=\"none\">No verdict covers an event that was never recorded, a false "
	      "record by an honest signer, or what came after the newest head that left the "
	      "machine.</p></div>\n",
	      out);
}

static void put_card(FILE *out, uint64_t value, const char *what)
{
	fprintf(out, "<div class=\"card\"><b>%llu</b><span>%s</span></div>",
		(unsigned long long)value, what);
}

static void put_cards(const struct report *report, FILE *out)
{
	const struct account *account = &report->account;
	const struct openings_report *openings = &report->check.openings;

	fputs("<div class=\"cards\">", out);
	put_card(out, account->records, "records in the period");
	put_card(out,
		 account->tables[ACCOUNT_TASKS].count + account->tables[ACCOUNT_TASKS].left_out,
		 "tasks opened");
	put_card(out, account->user_count, "people");
	put_card(out, account->calls, "tool calls decided");
	put_card(out, account->denied, "of them not allowed");
	put_card(out, openings->redacted, "values erased, with a record");
	put_card(out, openings->missing, "values missing, without one");
	fputs("</div>\n", out);
}

struct heading {
	const char *title;
	const char *none;
	const char *columns[ACCOUNT_CELLS]; /* NULL behind the last */
};

static const struct heading headings[ACCOUNT_TABLES] = {
	[ACCOUNT_TASKS] = {"Who asked what",
			   "No task was opened.",
			   {"Time", "Person", "Question", "End", "Answer", "Task", "Record"}},
	[ACCOUNT_DENIALS] = {"What was not allowed",
			     "Every call was allowed.",
			     {"Time", "Person", "Agent", "Tool", "Reason", "Rule", "Record"}},
	[ACCOUNT_POLICIES] = {"Policy in force",
			      "No record names a policy.",
			      {"From", "SHA-256 of the bundle", "Epoch", "Record"}},
	[ACCOUNT_APPROVALS] = {"Approvals",
			       "Nothing was asked for or given.",
			       {"Time", "Event", "By", "Tool", "Record"}},
	[ACCOUNT_GAPS] = {"Service and log: starts, stops, gaps",
			  "Nothing.",
			  {"Time", "Event", "State", "Cause", "Record"}},
	[ACCOUNT_READS] = {"Reading, exporting, erasing",
			   "No such record.",
			   {"Time", "Event", "By", "What", "Record"}},
};

static void put_cell(FILE *out, size_t column, const struct heading *heading, const char *text)
{
	const char *name = heading->columns[column];
	const char *kind = column == 0			 ? " class=\"t\""
			   : strcmp(name, "Record") == 0 ? " class=\"n\""
							 : "";
	char time[TIMESTAMP_LEN + 1];

	fprintf(out, "<td%s>", kind);
	if (column == 0 && strlen(text) == TIMESTAMP_LEN) {
		snprintf(time, sizeof(time), "%.10s %.8s", text, text + 11);
		put(out, time);
	} else {
		put(out, text);
	}
	fputs("</td>", out);
}

static void put_table(const struct account *account, enum account_table table, FILE *out)
{
	const struct heading *heading = &headings[table];
	size_t count = account->tables[table].count;

	fprintf(out, "<h2>%s</h2>\n", heading->title);
	if (count == 0) {
		fprintf(out, "<p class=\"none\">%s</p>\n", heading->none);
		return;
	}
	fputs("<table><thead><tr>", out);
	for (size_t c = 0; c < ACCOUNT_CELLS && heading->columns[c] != NULL; c++)
		fprintf(out, "<th>%s</th>", heading->columns[c]);
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < count; i++) {
		const struct account_row *row = &account->tables[table].rows[i];

		fputs(row->bad ? "<tr class=\"bad\">" : "<tr>", out);
		for (size_t c = 0; c < ACCOUNT_CELLS && heading->columns[c] != NULL; c++)
			put_cell(out, c, heading, row->cells[c] == NULL ? "" : row->cells[c]);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
	if (account->tables[table].left_out > 0)
		fprintf(out, "<p class=\"none\">and %llu more</p>\n",
			(unsigned long long)account->tables[table].left_out);
}

static void put_counts(const char *title, const struct account_count *list, size_t count, FILE *out)
{
	fprintf(out, "<h2>%s</h2><table><tbody>\n", title);
	for (size_t i = 0; i < count; i++) {
		fputs("<tr><td>", out);
		put(out, list[i].name);
		fprintf(out, "</td><td class=\"n\">%llu</td></tr>\n",
			(unsigned long long)list[i].count);
	}
	fputs("</tbody></table>\n", out);
}

static void put_key(const struct report *report, FILE *out)
{
	char fingerprint[SHA256_HEX_LEN + 1];

	if (report->source.key_count == 0) {
		fputs("<p class=\"sub\">No key was pinned.</p>\n", out);
		return;
	}
	vkey_fingerprint(&report->source.keys[0], fingerprint);
	fputs("<p class=\"sub\">Log ", out);
	put(out, report->source.keys[0].name);
	fprintf(out, "; pinned key with fingerprint <code>%s</code></p>\n", fingerprint);
}

static void put_html(const struct report *report, FILE *out)
{
	const struct account *account = &report->account;
	char now[TIMESTAMP_LEN + 1];

	timestamp_write(clock_now_us(), now);
	fprintf(out,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		"name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Audit "
		"report</title>%s</head><body>\n<h1>Audit report</h1>\n",
		style);
	fprintf(out, "<p class=\"sub\">%.19s to %.19s UTC; made %.19s UTC</p>\n",
		account->records == 0 ? "nothing" : account->first,
		account->records == 0 ? "nothing" : account->last, now);
	put_key(report, out);
	put_verdict(report, out);
	put_cards(report, out);
	for (int table = 0; table < ACCOUNT_TABLES; table++)
		put_table(account, (enum account_table)table, out);
	put_counts("Tasks per person", account->users, account->user_count, out);
	put_counts("Records by kind", account->events, account->event_count, out);
	fputs("</body></html>\n", out);
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct report *report = data;
	CLEANUP(json_freep) struct json *record = NULL;

	(void)seq;
	(void)leaf;
	if (json_parse(entry, len, len, &record, NULL) == 0)
		account_add(&report->account, record);
}

static int gather(struct report *report, struct err *err)
{
	struct log_check_options check = {.openings = true};
	struct audit_verify_options *verify = &check.verify;
	CLEANUP(mem_freep)
	char *openings = mem_format("%s/" AUDIT_OPENINGS, report->source.dir.path);

	if (!report->source.dir.is_file)
		IGNORE(opening_book_open(openings, &report->book, NULL) < 0,
		       "then questions stay closed");
	report->account.filter = &report->filter;
	report->account.book = report->book;
	verify->keys = report->source.keys;
	verify->key_count = report->source.key_count;
	verify->policy = report->source.has_policy ? &report->source.policy : NULL;
	verify->now_us = clock_now_us();
	verify->on_record = on_record;
	verify->data = report;
	return log_check(&report->source.dir, &check, &report->check, err);
}

static int write_out(const struct report *report)
{
	FILE *out = report->out == NULL ? stdout : fopen(report->out, "wxe");

	if (out == NULL)
		return cli_fail(EXIT_USAGE, "audit report: %s: %s", report->out, strerror(errno));
	put_html(report, out);
	if (fflush(out) != 0 || ferror(out))
		return cli_fail(EXIT_IO, "audit report: write: %s", strerror(errno));
	if (report->out != NULL)
		fclose(out);
	return report->check.verdict.exit_code >= EXIT_TRUNCATED ? EXIT_NEGATIVE : EXIT_FINE;
}

static int run(struct report *report)
{
	struct err err;

	report->place.key_count = report->place.keys[0] != NULL;
	if (audit_filter_init(&report->filter, clock_now_us(), &err) < 0 ||
	    audit_source_find(&report->place, &report->source, &err) < 0 ||
	    gather(report, &err) < 0)
		return cli_fail(err.kind == ERR_IO ? EXIT_IO : EXIT_USAGE, "audit report: %s",
				err.text);
	return write_out(report);
}

int cmd_audit_report(int argc, char **argv)
{
	struct report *report = mem_alloc(sizeof(*report));
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, report);
	if (code == 0)
		code = run(report);
	account_clear(&report->account);
	opening_book_close(report->book);
	audit_filter_clear(&report->filter);
	audit_source_clear(&report->source);
	mem_free(report);
	return code;
}
