/*
 * Time as SQL: what is compared, what is shown.
 *
 * A plain time is text that begins with its day, or seconds since 1970, and is compared as it is
 * stored. An instant is a moment, in UTC or with its offset ("2026-03-29T01:30:00+02:00", with T or
 * a blank, with or without fractions): it is turned to UTC first, its day is that of the model's
 * zone, and the bounds of a period are the moments at which the zone's days begin. Offsets stand in
 * the statement, so that no database needs zone data; only those that the period can meet.
 */
#include "agents/query/metrics/compile_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND_LEN 19 /* YYYY-MM-DD HH:MM:SS */

/* In UTC: YYYY-MM-DD HH:MM:SS. */
static void write_moment(const struct model_field *field, struct buf *out)
{
	buf_add_str(out, "DATETIME(");
	compiler_field(field, out);
	buf_add_str(out, field->time_format == TIME_EPOCH ? ", 'unixepoch')" : ")");
}

/* The days that a query can show; "" where it is open. */
static void span_of(const struct compiler *compiler, const char **ret_from, const char **ret_to)
{
	const struct metric_query *query = compiler ? compiler->query : NULL;

	*ret_from = *ret_to = "";
	if (!query || !query->period.set)
		return;
	*ret_from = query->period.from;
	*ret_to = query->period.to;
	if (!query->compare.set)
		return;
	if (strcmp(query->compare.from, *ret_from) < 0)
		*ret_from = query->compare.from;
	if (strcmp(query->compare.to, *ret_to) > 0)
		*ret_to = query->compare.to;
}

static void write_offset(int minutes, struct buf *out)
{
	buf_addf(out, "'%+d minutes'", minutes);
}

/* The offset in force at the moment, from those that can be. */
static void write_offsets(const struct compiler *compiler, const struct model_field *field,
			  struct buf *out)
{
	const struct model_zone *zone = field->zone;
	const char *from, *to;
	size_t first = 0, last = zone->count - 1;

	span_of(compiler, &from, &to);
	/* a day on either side covers every offset */
	while (first < last && from[0] && strncmp(zone->offsets[first + 1].from, from, 10) < 0)
		first++;
	while (last > first && to[0] && strncmp(zone->offsets[last].from, to, 10) > 0)
		last--;
	if (first > 0)
		first--;
	if (last + 1 < zone->count)
		last++;
	if (first == last) {
		write_offset(zone->offsets[first].minutes, out);
		return;
	}
	buf_add_str(out, "CASE");
	for (size_t i = first; i < last; i++) {
		buf_add_str(out, " WHEN ");
		write_moment(field, out);
		buf_addf(out, " < '%s' THEN ", zone->offsets[i + 1].from);
		write_offset(zone->offsets[i].minutes, out);
	}
	buf_add_str(out, " ELSE ");
	write_offset(zone->offsets[last].minutes, out);
	buf_add_str(out, " END");
}

/* A text that begins with the day. */
static void write_local(const struct compiler *compiler, const struct model_field *field,
			struct buf *out)
{
	if (!field->instant && field->time_format == TIME_TEXT) {
		compiler_field(field, out);
		return;
	}
	if (!field->zone) {
		write_moment(field, out);
		return;
	}
	buf_add_str(out, "DATETIME(");
	write_moment(field, out);
	buf_add_str(out, ", ");
	write_offsets(compiler, field, out);
	buf_add_char(out, ')');
}

/* A part of the day's text, YYYY-MM-DD; longer stored texts begin with it. */
static void write_part(const struct compiler *compiler, const struct model_field *field, int from,
		       int len, struct buf *out)
{
	if (!field->instant && field->time_format == TIME_EPOCH) {
		buf_add_str(out, "SUBSTR(DATE(");
		compiler_field(field, out);
		buf_addf(out, ", 'unixepoch'), %d, %d)", from, len);
		return;
	}
	buf_add_str(out, "SUBSTR(");
	write_local(compiler, field, out);
	buf_addf(out, ", %d, %d)", from, len);
}

static void write_weekday(const struct compiler *compiler, const struct model_field *field,
			  struct buf *out)
{
	static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
					   "Thursday", "Friday", "Saturday"};

	buf_add_str(out, "CASE STRFTIME('%w', ");
	write_part(compiler, field, 1, 10, out);
	buf_add_char(out, ')');
	for (size_t i = 0; i < ARRAY_LEN(days); i++)
		buf_addf(out, " WHEN '%zu' THEN '%s'", i, days[i]);
	buf_add_str(out, " END");
}

/* FY2026, FY2026-Q1: the year has the number of the calendar year in which it ends. */
static void write_fiscal(const struct compiler *compiler, const struct model_field *field,
			 bool quarter, struct buf *out)
{
	int start = compiler ? model_fiscal_start(compiler->model) : 1;
	CLEANUP(buf_clear) struct buf month = BUF_INIT;

	buf_add_str(&month, "CAST(");
	write_part(compiler, field, 6, 2, &month);
	buf_add_str(&month, " AS INTEGER)");
	buf_add_str(out, "'FY' || (CAST(");
	write_part(compiler, field, 1, 4, out);
	buf_add_str(out, " AS INTEGER)");
	if (start > 1)
		buf_addf(out, " + (%s >= %d)", buf_str(&month), start);
	buf_add_char(out, ')');
	if (quarter)
		buf_addf(out, " || '-Q' || ((%s + %d) %% 12 / 3 + 1)", buf_str(&month), 12 - start);
}

static void write_bucket(const struct compiler *compiler, const struct model_field *field,
			 enum time_bucket bucket, struct buf *out)
{
	switch (bucket) {
	case BUCKET_NONE:
		compiler_field(field, out);
		return;
	case BUCKET_DAY:
		write_part(compiler, field, 1, 10, out);
		return;
	case BUCKET_WEEK: /* its Monday */
		buf_add_str(out, "DATE(");
		write_part(compiler, field, 1, 10, out);
		buf_add_str(out, ", 'weekday 0', '-6 days')");
		return;
	case BUCKET_MONTH:
		write_part(compiler, field, 1, 7, out);
		return;
	case BUCKET_QUARTER:
		write_part(compiler, field, 1, 4, out);
		buf_add_str(out, " || '-Q' || ((CAST(");
		write_part(compiler, field, 6, 2, out);
		buf_add_str(out, " AS INTEGER) + 2) / 3)");
		return;
	case BUCKET_YEAR:
		write_part(compiler, field, 1, 4, out);
		return;
	case BUCKET_WEEKDAY:
		write_weekday(compiler, field, out);
		return;
	case BUCKET_FISCAL_QUARTER:
	case BUCKET_FISCAL_YEAR:
		write_fiscal(compiler, field, bucket == BUCKET_FISCAL_QUARTER, out);
		return;
	}
}

void compiler_dimension(const struct compiler *compiler, const struct model_field *field,
			enum time_bucket bucket, struct buf *out)
{
	const char *missing = field->missing;

	if (missing)
		buf_add_str(out, "COALESCE(");
	write_bucket(compiler, field, bucket, out);
	if (missing) {
		buf_add_str(out, ", ");
		sql_text(missing, out);
		buf_add_char(out, ')');
	}
}

void part_dimension(const struct part *part, size_t dimension, struct buf *out)
{
	compiler_dimension(part->compiler, part_dimension_field(part, dimension),
			   part->compiler->dimensions[dimension].bucket, out);
}

static void write_second(int64_t utc_s, char out[SECOND_LEN + 1])
{
	int64_t days = utc_s >= 0 ? utc_s / 86400 : -((-utc_s + 86399) / 86400);
	unsigned second = (unsigned)(utc_s - days * 86400);

	date_write(date_from_days(days), out);
	snprintf(out + DATE_LEN, SECOND_LEN + 1 - DATE_LEN, " %02u:%02u:%02u", second / 3600 % 24,
		 second / 60 % 60, second % 60);
}

static int minutes_at(const struct model_zone *zone, int64_t utc_s)
{
	char moment[SECOND_LEN + 1];
	size_t at = 0;

	write_second(utc_s, moment);
	while (at + 1 < zone->count && strcmp(zone->offsets[at + 1].from, moment) <= 0)
		at++;
	return zone->offsets[at].minutes;
}

/* The moment at which the zone's day begins. Where clocks change at midnight, the day begins when
 * the later offset holds. */
static int64_t day_start(const struct model_zone *zone, int64_t days)
{
	int64_t local = days * 86400;
	int64_t guess = local;

	for (int i = 0; zone && i < 3; i++)
		guess = local - 60 * (int64_t)minutes_at(zone, guess);
	return guess;
}

/* days after the date, in the field's stored format. */
static void write_date(const struct model_field *field, const char *date, int days, struct buf *out)
{
	struct date day = {1970, 1, 1};
	char text[SECOND_LEN + 1];

	IGNORE(date_read(date, &day, NULL) < 0, "checked when the query was made");
	day = date_add_days(day, days);
	if (field->time_format == TIME_EPOCH) {
		buf_addf(out, "%" PRId64, day_start(field->zone, date_to_days(day)));
		return;
	}
	if (field->instant)
		write_second(day_start(field->zone, date_to_days(day)), text);
	else
		date_write(day, text);
	sql_text(text, out);
}

/* What is compared with a bound. */
static void write_compared(const struct model_field *field, struct buf *out)
{
	if (field->instant && field->time_format == TIME_TEXT)
		write_moment(field, out);
	else
		compiler_field(field, out);
}

void compiler_range(const struct model_field *field, const char *from, int from_days,
		    const char *to, int to_days, struct buf *out)
{
	if (from[0]) {
		write_compared(field, out);
		buf_add_str(out, " >= ");
		write_date(field, from, from_days, out);
	}
	if (from[0] && to[0])
		buf_add_str(out, " AND ");
	if (to[0]) {
		write_compared(field, out);
		buf_add_str(out, " < ");
		write_date(field, to, to_days, out);
	}
}

void part_period(const struct part *part, const struct query_period *period, struct buf *out)
{
	compiler_range(part->time, period->from, 0, period->to, 0, out);
}
