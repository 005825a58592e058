/* Writing only. Nothing here can fail but the stream, which its owner checks. */
#include "cli/eval/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/eval/measures.h"
#include "cli/eval/run.h"

static int64_t count_of(const struct json *run, enum eval_outcome outcome)
{
	return json_get_int(json_get(run, "counts"), eval_outcome_name(outcome), 0);
}

double report_accuracy(const struct json *run)
{
	int64_t counted = (int64_t)json_len(json_get(run, "cases")) - count_of(run, EVAL_EXCLUDED);

	return counted ? (double)count_of(run, EVAL_RIGHT) / (double)counted : 1.0;
}

static int compare_reals(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The share-th smallest (0.5: the median) of a member over the cases; 0 without any. */
static double quantile(const struct json *run, const char *member, double share)
{
	const struct json *cases = json_get(run, "cases");
	CLEANUP(mem_freep) double *values = mem_array(json_len(cases) + 1, sizeof(*values));
	size_t count = 0;

	json_each(item, cases) if (json_get(item, member)) values[count++] =
		json_real(json_get(item, member));
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), compare_reals);
	return values[(size_t)((double)(count - 1) * share)];
}

static int64_t total(const struct json *run, const char *member)
{
	int64_t sum = 0;

	json_each(item, json_get(run, "cases")) sum += json_get_int(item, member, 0);
	return sum;
}

static char *value_text(const struct json *value)
{
	struct buf text = BUF_INIT;

	json_write(value, &text);
	if (text.len > 160) {
		text.bytes[157] = '\0';
		text.len = 157;
		buf_add_str(&text, "...");
	}
	return buf_take(&text);
}

static void case_text(const struct json *item, FILE *out)
{
	const char *outcome = json_get_str(item, "outcome");
	CLEANUP(mem_freep) char *right = value_text(json_get(item, "right"));
	CLEANUP(mem_freep) char *got = value_text(json_get(item, "rows"));

	if (strcmp(outcome, "right") == 0)
		return;
	fprintf(out, "%s: %s: %s\n", json_get_str(item, "at"), outcome,
		json_get_str(item, "question"));
	if (json_get_str(item, "state"))
		fprintf(out, "    on the changed data; %s on the data as they are\n",
			json_get_str(json_get(item, "states"), "shipped"));
	if (strcmp(outcome, "wrong") == 0)
		fprintf(out, "    right %s\n    got   %s\n", right, got);
	else if (json_get_str(item, "reason"))
		fprintf(out, "    %s\n", json_get_str(item, "reason"));
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

/* Lines about what is there to tell; before and after stand around each. */
static void measures_text(const struct json *run, const char *before, const char *after, FILE *out)
{
	const struct measures m = measures_of(run);

	if (m.labelled > 0)
		fprintf(out,
			"%sflags of %zu labelled cases: precision %.1f %% (%zu of %zu), recall "
			"%.1f %% (%zu of %zu)%s",
			before, m.labelled, percent(m.flags_hit, m.flags_given), m.flags_hit,
			m.flags_given, percent(m.flags_hit, m.flags_wanted), m.flags_hit,
			m.flags_wanted, after);
	if (m.attempts > 0) {
		fprintf(out, "%sresults by attempt:", before);
		for (size_t i = 0; i < m.attempts; i++)
			fprintf(out, "%s %zu of %zu", i ? ", then" : "", m.ended_well[i],
				m.tried[i]);
		fputs(after, out);
	}
	if (m.currency)
		fprintf(out, "%scost %.6f %s%s", before, m.cost, m.currency, after);
}

static void sums_text(const struct json *run, FILE *out)
{
	fprintf(out, "%-6s %5.1f %% right  ", json_get_str(run, "workflow"),
		100.0 * report_accuracy(run));
	for (enum eval_outcome outcome = EVAL_RIGHT; outcome < EVAL_OUTCOMES; outcome++)
		fprintf(out, "%s %" PRId64 "%s", eval_outcome_name(outcome), count_of(run, outcome),
			outcome + 1 < EVAL_OUTCOMES ? ", " : "\n");
	fprintf(out,
		"       tool calls %" PRId64 ", model calls %" PRId64 ", tokens in %" PRId64
		" out %" PRId64 ", median %.1f ms, p95 %.1f ms\n",
		total(run, "tool_calls"), total(run, "model_calls"), total(run, "input_tokens"),
		total(run, "output_tokens"), quantile(run, "latency_ms", 0.5),
		quantile(run, "latency_ms", 0.95));
	measures_text(run, "       ", "\n", out);
}

void report_text(const struct json *run, const struct json *other, FILE *out)
{
	json_each(item, json_get(run, "cases")) case_text(item, out);
	fprintf(out,
		"%s: %zu cases, %" PRId64 " run%s each; columns %s, numbers within %g; rows as a "
		"multiset, names of columns ignored\n",
		json_get_str(run, "suite"), json_len(json_get(run, "cases")),
		json_get_int(run, "runs", 1), json_get_int(run, "runs", 1) == 1 ? "" : "s",
		json_get_str(run, "columns"), json_real(json_get(run, "tolerance")));
	if (json_get_int(run, "states", 1) == 2)
		fprintf(out,
			"cases with SQL asked of two states: the data as they are, and a copy "
			"changed with seed %" PRId64 "\n",
			json_get_int(run, "seed", 0));
	sums_text(run, out);
	if (other)
		sums_text(other, out);
}

static const struct json *find_case(const struct json *run, const char *id)
{
	json_each(item, json_get(run, "cases"))
	{
		const char *known = json_get_str(item, "id");

		if (known && strcmp(known, id) == 0)
			return item;
	}
	return NULL;
}

size_t report_changes(const struct json *before, const struct json *run, FILE *out)
{
	size_t lost = 0;

	json_each(item, json_get(run, "cases"))
	{
		const struct json *old = find_case(before, json_get_str(item, "id"));
		const char *was = json_get_str(old, "outcome");
		const char *is = json_get_str(item, "outcome");

		if (!was || strcmp(was, is) == 0)
			continue;
		fprintf(out, "%s: %s -> %s: %s\n", json_get_str(item, "at"), was, is,
			json_get_str(item, "question"));
		lost += strcmp(was, "right") == 0;
	}
	return lost;
}

/* Text within XML or HTML; what XML 1.0 cannot hold is left out. */
static void escaped(const char *text, FILE *out)
{
	for (; text && *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if ((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t')
			fputc(*text, out);
	}
}

void report_junit(const struct json *run, FILE *out)
{
	int64_t excluded = count_of(run, EVAL_EXCLUDED);
	int64_t right = count_of(run, EVAL_RIGHT);
	int64_t all = (int64_t)json_len(json_get(run, "cases"));

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", out);
	escaped(json_get_str(run, "suite"), out);
	fprintf(out, "\" tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" skipped=\"%" PRId64 "\">\n",
		all, all - right - excluded, excluded);
	json_each(item, json_get(run, "cases"))
	{
		const char *outcome = json_get_str(item, "outcome");

		fputs("  <testcase name=\"", out);
		escaped(json_get_str(item, "id"), out);
		fputs("\" classname=\"", out);
		escaped(json_get_str(item, "question"), out);
		fprintf(out, "\" time=\"%.3f\">", json_real(json_get(item, "latency_ms")) / 1000.0);
		if (strcmp(outcome, "excluded") == 0) {
			fputs("<skipped/>", out);
		} else if (strcmp(outcome, "right") != 0) {
			CLEANUP(mem_freep) char *got = value_text(json_get(item, "rows"));

			fprintf(out, "<failure message=\"%s\">", outcome);
			escaped(json_get_str(item, "at"), out);
			fputs(": ", out);
			escaped(json_get_str(item, "reason") ? json_get_str(item, "reason") : got,
				out);
			fputs("</failure>", out);
		}
		fputs("</testcase>\n", out);
	}
	fputs("</testsuite>\n", out);
}

/* ---- the page ---- */

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;color:#1b1f24;"
	"background:#fff}"
	"h1{font-size:1.4rem}table{border-collapse:collapse;width:100%}"
	"td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d8dee4;"
	"vertical-align:top}"
	"code{font:13px ui-monospace,monospace;white-space:pre-wrap;word-break:break-word}"
	".right{color:#116329}.wrong{color:#a40e26;font-weight:600}.asked,.refused,.other{"
	"color:#7d4e00}.excluded{color:#57606a}svg{display:block;margin:.5rem 0}"
	"@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}td,th{"
	"border-color:#30363d}.right{color:#56d364}.wrong{color:#ff7b72}.asked,.refused,.other{"
	"color:#e3b341}}";

/* One bar, as long as its share, for each outcome. */
static void bar_html(const struct json *run, FILE *out)
{
	static const char *const colors[EVAL_OUTCOMES] = {"#2da44e", "#cf222e", "#d4a72c",
							  "#bf8700", "#8c959f", "#d0d7de"};
	int64_t all = (int64_t)json_len(json_get(run, "cases"));
	double x = 0;

	fputs("<svg width=\"720\" height=\"26\" role=\"img\" aria-label=\"outcomes\">", out);
	for (enum eval_outcome outcome = EVAL_RIGHT; all && outcome < EVAL_OUTCOMES; outcome++) {
		double width = 720.0 * (double)count_of(run, outcome) / (double)all;

		fprintf(out,
			"<rect x=\"%.1f\" width=\"%.1f\" height=\"26\" fill=\"%s\"><title>%s "
			"%" PRId64 "</title></rect>",
			x, width, colors[outcome], eval_outcome_name(outcome),
			count_of(run, outcome));
		x += width;
	}
	fputs("</svg>\n", out);
}

/* How long the cases took, shortest first. */
static void latency_html(const struct json *run, FILE *out)
{
	double top = quantile(run, "latency_ms", 1.0);

	fprintf(out,
		"<p>Time of a question: median %.1f ms, 95 %% within %.1f ms, longest %.1f ms.</p>"
		"<svg width=\"720\" height=\"80\" role=\"img\" aria-label=\"latency\"><polyline "
		"fill=\"none\" stroke=\"#0969da\" stroke-width=\"2\" points=\"",
		quantile(run, "latency_ms", 0.5), quantile(run, "latency_ms", 0.95), top);
	for (int i = 0; i <= 100; i++)
		fprintf(out, "%.1f,%.1f ", 7.2 * i,
			78.0 - (top > 0 ? 76.0 * quantile(run, "latency_ms", i / 100.0) / top : 0));
	fputs("\"/></svg>\n", out);
}

static void sums_html(const struct json *run, FILE *out)
{
	fputs("<h2>Workflow ", out);
	escaped(json_get_str(run, "workflow"), out);
	fprintf(out, ": %.1f %% right</h2>\n", 100.0 * report_accuracy(run));
	bar_html(run, out);
	fputs("<p>", out);
	for (enum eval_outcome outcome = EVAL_RIGHT; outcome < EVAL_OUTCOMES; outcome++)
		fprintf(out, "<span class=\"%s\">%s %" PRId64 "</span>%s",
			eval_outcome_name(outcome), eval_outcome_name(outcome),
			count_of(run, outcome), outcome + 1 < EVAL_OUTCOMES ? ", " : "</p>\n");
	fprintf(out,
		"<p>Tool calls %" PRId64 ", model calls %" PRId64 ", tokens in %" PRId64
		", out %" PRId64 ".</p>\n",
		total(run, "tool_calls"), total(run, "model_calls"), total(run, "input_tokens"),
		total(run, "output_tokens"));
	fputs("<ul>", out);
	measures_text(run, "<li>", "</li>", out);
	fputs("</ul>\n", out);
	latency_html(run, out);
}

static void case_html(const struct json *item, FILE *out)
{
	const char *outcome = json_get_str(item, "outcome");
	CLEANUP(mem_freep) char *right = value_text(json_get(item, "right"));
	CLEANUP(mem_freep) char *got = value_text(json_get(item, "rows"));

	fprintf(out, "<tr><td class=\"%s\">%s</td><td>", outcome, outcome);
	escaped(json_get_str(item, "question"), out);
	fputs("<br><small>", out);
	escaped(json_get_str(item, "at"), out);
	fputs(json_get_str(item, "state") ? " (on the changed data)</small></td><td><code>"
					  : "</small></td><td><code>",
	      out);
	escaped(json_get(item, "right") ? right : json_get_str(item, "expect"), out);
	fputs("</code></td><td><code>", out);
	escaped(json_get(item, "rows") ? got : json_get_str(item, "reason"), out);
	fputs("</code></td></tr>\n", out);
}

void report_html(const struct json *run, const struct json *other, FILE *out)
{
	fputs("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
	      "content=\"width=device-width\"><title>",
	      out);
	escaped(json_get_str(run, "suite"), out);
	fprintf(out, "</title><style>%s</style>\n<h1>", style);
	escaped(json_get_str(run, "suite"), out);
	fprintf(out,
		"</h1>\n<p>%zu cases, %" PRId64
		" runs each. Columns %s, numbers within %g. Rows are "
		"compared as a multiset, in order only where the question asks for one; names of "
		"columns are ignored.</p>\n",
		json_len(json_get(run, "cases")), json_get_int(run, "runs", 1),
		json_get_str(run, "columns"), json_real(json_get(run, "tolerance")));
	if (json_get_int(run, "states", 1) == 2)
		fprintf(out,
			"<p>Cases with SQL were asked of two states: the data as they are, and a "
			"copy changed with seed %" PRId64 ".</p>\n",
			json_get_int(run, "seed", 0));
	sums_html(run, out);
	if (other)
		sums_html(other, out);
	fputs("<h2>Cases</h2>\n<table><tr><th>Outcome<th>Question<th>Right<th>Got</tr>\n", out);
	json_each(item, json_get(run, "cases")) if (strcmp(json_get_str(item, "outcome"),
							   "right") != 0) case_html(item, out);
	json_each(item, json_get(run, "cases")) if (strcmp(json_get_str(item, "outcome"),
							   "right") == 0) case_html(item, out);
	fputs("</table>\n</html>\n", out);
}
