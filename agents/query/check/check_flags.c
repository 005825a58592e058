/*
 * Verdicts and what the probe measured, as flags for people and as one verdict per aggregate for
 * programs.
 */
#include <math.h>
#include <string.h>

#include "agents/query/check/check_internal.h"

struct measured { /* one aggregate of the probe */
	const struct json *shown;
	const struct json *once;
	double rows;
	double distinct;
};

static bool read_measured(const struct json *probe, int number, struct measured *ret)
{
	const struct json *row = json_at(json_get(probe, "rows"), 0);
	size_t at = (size_t)number * CHECK_PROBE_COLUMNS;

	if (number < 0 || json_len(row) < at + CHECK_PROBE_COLUMNS)
		return false;
	*ret = (struct measured){json_at(row, at), json_at(row, at + 1),
				 json_real(json_at(row, at + 2)), json_real(json_at(row, at + 3))};
	return true;
}

/* Two places, as money is read; integers as they are. */
static void add_number(const struct json *value, struct buf *out)
{
	if (json_type(value) == JSON_INT)
		buf_addf(out, "%lld", (long long)json_int(value));
	else if (json_type(value) == JSON_REAL && fabs(json_real(value)) >= 0.01 &&
		 fabs(json_real(value)) < 1e15)
		buf_addf(out, "%.2f", json_real(value));
	else if (json_str(value))
		buf_add_str(out, json_str(value));
	else
		json_write(value, out);
}

static bool same_value(const struct json *a, const struct json *b)
{
	double x = json_real(a), y = json_real(b);

	if (json_str(a) || json_str(b))
		return json_equal(a, b);
	return fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y));
}

static double factor_of(const struct measured *measured)
{
	double shown = json_real(measured->shown), once = json_real(measured->once);

	return once != 0 && shown / once > 0 ? shown / once : measured->rows / measured->distinct;
}

static char *text_of(const struct finding *finding)
{
	struct buf text = BUF_INIT;

	sql_tokens_write(&finding->statement->tokens, finding->aggregate->text.first,
			 finding->aggregate->text.end, &text);
	if (text.len > 120) {
		text.len = 117;
		buf_add_str(&text, "...");
	}
	return buf_take(&text);
}

static char *repair_of(const struct finding *finding)
{
	if (finding->aggregate->call == SQL_COUNT)
		return mem_format("count the key with DISTINCT, or count %s before joining",
				  finding->owner);
	return mem_format("sum a column of %s instead, or aggregate %s before joining",
			  finding->repeated_by, finding->owner);
}

static void flag_inflated(const struct finding *finding, const char *text,
			  const struct measured *measured, struct json *flags)
{
	bool average = finding->aggregate->call == SQL_AVG;
	CLEANUP(buf_clear) struct buf shown = BUF_INIT;
	CLEANUP(buf_clear) struct buf once = BUF_INIT;
	CLEANUP(mem_freep) char *repair = repair_of(finding);

	add_number(measured->shown, &shown);
	add_number(measured->once, &once);
	if (average)
		flag_add(flags, "fan_out.skewed", "warning", repair,
			 "%s weighs each row of %s by its rows of %s: %s shown, %s with each row "
			 "once",
			 text, finding->owner, finding->repeated_by, buf_str(&shown),
			 buf_str(&once));
	else
		flag_add(flags, "fan_out.inflated", "error", repair,
			 "%s counts each row of %s once per row of %s: %s shown, %s without the "
			 "repetition, factor %.2f",
			 text, finding->owner, finding->repeated_by, buf_str(&shown),
			 buf_str(&once), factor_of(measured));
}

static void flag_repeated(const struct finding *finding, const char *text, const struct json *probe,
			  struct json *flags)
{
	CLEANUP(mem_freep) char *repair = NULL;
	struct measured measured;

	if (!finding->owner) {
		flag_add(
			flags, finding->keys_missing ? "analysis.unknown" : "fan_out.possible",
			finding->keys_missing ? "note" : "warning",
			"count the key of the table that is meant",
			"%s counts combinations of rows of %s: no key proves that they are rows of "
			"one of these tables",
			text, finding->repeated_by);
		return;
	}
	repair = repair_of(finding);
	if (read_measured(probe, finding->probe, &measured)) {
		if (measured.rows > measured.distinct && !same_value(measured.shown, measured.once))
			flag_inflated(finding, text, &measured, flags);
		else
			flag_add(flags, "fan_out.possible", "warning", repair,
				 "%s would count a row of %s once per row of %s: not inflated "
				 "today, it can be tomorrow",
				 text, finding->owner, finding->repeated_by);
		return;
	}
	if (finding->keys_missing)
		flag_add(
			flags, "analysis.unknown", "note", repair,
			"whether %s counts a row of %s several times is not known: no key of %s is "
			"known",
			text, finding->owner, finding->repeated_by);
	else
		flag_add(flags, "fan_out.possible", "warning", repair,
			 "%s may count a row of %s once per row of %s; it was not measured", text,
			 finding->owner, finding->repeated_by);
}

static void flag_finding(const struct finding *finding, const struct json *probe,
			 struct json *flags)
{
	CLEANUP(mem_freep) char *text = text_of(finding);

	switch (finding->verdict) {
	case VERDICT_SAFE:
		return;
	case VERDICT_GROUPED:
		flag_add(
			flags, "fan_out.grouped", "note",
			"do not add up the groups; ask for the total on its own",
			"%s counts a row of %s in every group it belongs to (by %s): each group is "
			"right, their sum is not",
			text, finding->owner, finding->repeated_by);
		return;
	case VERDICT_REPEATED:
		flag_repeated(finding, text, probe, flags);
		return;
	case VERDICT_UNKNOWN:
		flag_add(flags, "analysis.unknown", "note", NULL, "%s was not checked: %s", text,
			 finding->why);
		return;
	case VERDICT_OUTER:
		flag_add(flags, "count.outer_join", "warning",
			 "count the key of the optional table",
			 "%s counts 1 where %s has no row: the outer join makes one up", text,
			 finding->owner);
		return;
	case VERDICT_DISTINCT:
		flag_add(flags, "distinct.values", "warning",
			 "aggregate before joining rather than dropping equal values",
			 "%s drops equal values of different rows", text);
		return;
	case VERDICT_JOINED:
		flag_add(flags, "count.rows", "note", NULL, "%s counts rows of %s", text,
			 finding->owner);
		return;
	}
}

void check_findings_flag(const struct sql_checks *checks, const struct json *probe,
			 struct json *flags)
{
	for (size_t i = 0; i < checks->findings.count; i++)
		flag_finding(&checks->findings.items[i], probe, flags);
}

/* ---- verdicts ---- */

static const char *verdict_word(const struct finding *finding, bool measured)
{
	switch (finding->verdict) {
	case VERDICT_UNKNOWN:
		return "grain_unknown";
	case VERDICT_REPEATED:
		return finding->keys_missing && !measured ? "grain_unknown" : "fans_out";
	case VERDICT_SAFE:
	case VERDICT_GROUPED:
	case VERDICT_OUTER:
	case VERDICT_DISTINCT:
	case VERDICT_JOINED:
		break;
	}
	return "safe";
}

static struct json *verdict_json(const struct finding *finding, const struct json *probe)
{
	struct json *json = json_object();
	CLEANUP(mem_freep) char *text = text_of(finding);
	struct measured measured;
	bool known = read_measured(probe, finding->probe, &measured);

	json_set_str(json, "aggregate", text);
	json_set_str(json, "verdict", verdict_word(finding, known));
	if (finding->owner)
		json_set_str(json, "of", finding->owner);
	if (finding->verdict == VERDICT_REPEATED || finding->verdict == VERDICT_GROUPED)
		json_set_str(json, "by", finding->repeated_by);
	if (known && finding->verdict == VERDICT_REPEATED)
		json_set_real(json, "factor",
			      measured.rows > measured.distinct &&
					      !same_value(measured.shown, measured.once)
				      ? factor_of(&measured)
				      : 1);
	return json;
}

struct json *check_findings_json(const struct sql_checks *checks, const struct json *probe)
{
	struct json *verdicts = json_array();

	for (size_t i = 0; i < checks->findings.count; i++)
		json_push(verdicts, verdict_json(&checks->findings.items[i], probe));
	return verdicts;
}
