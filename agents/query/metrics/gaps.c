/*
 * Each step of time gets a number, so that neighbours differ by one: days, weeks and months since
 * some beginning. Rows that are no such step (a missing time) are left out of account. Pure.
 */
#include "agents/query/metrics/gaps.h"

#include <stdlib.h>
#include <string.h>

static int64_t step_of_date(enum time_bucket bucket, struct date date)
{
	switch (bucket) {
	case BUCKET_DAY:
		return date_to_days(date);
	case BUCKET_WEEK: /* 1970-01-01 was a Thursday; the shift keeps what is divided positive */
		return (date_to_days(date) + 3 + 7 * 200000) / 7;
	case BUCKET_MONTH:
		return date.year * 12LL + date.month;
	case BUCKET_QUARTER:
		return date.year * 4LL + (date.month + 2) / 3;
	case BUCKET_YEAR:
		return date.year;
	case BUCKET_NONE:
	case BUCKET_WEEKDAY:
	case BUCKET_FISCAL_QUARTER:
	case BUCKET_FISCAL_YEAR:
		break;
	}
	return 0;
}

/* "2026-10-12", "2026-10", "2026-Q4", "2026" as the compiler writes them. */
static bool step_of_text(enum time_bucket bucket, const char *text, int64_t *ret_step)
{
	struct date date = {.month = 1, .day = 1};
	struct err ignored;

	if (text == NULL)
		return false;
	if (bucket == BUCKET_DAY || bucket == BUCKET_WEEK) {
		if (date_read(text, &date, &ignored) < 0)
			return false;
	} else {
		if (strlen(text) < 4 || strspn(text, "0123456789") != 4)
			return false;
		date.year = atoi(text);
		if (bucket == BUCKET_MONTH)
			date.month = strlen(text) == 7 ? atoi(text + 5) : 0;
		if (bucket == BUCKET_QUARTER)
			date.month = strlen(text) == 7 ? atoi(text + 6) * 3 : 0;
		if (date.month < 1 || date.month > 12)
			return false;
	}
	*ret_step = step_of_date(bucket, date);
	return true;
}

static bool step_of_bound(enum time_bucket bucket, const char *text, int back, struct date latest,
			  int64_t *ret_step)
{
	struct date date;
	struct err ignored;

	if (text[0] == '\0' || date_read(text, &date, &ignored) < 0)
		return false;
	date = date_add_days(date, -back);
	if (date_compare(date, latest) > 0)
		date = latest;
	*ret_step = step_of_date(bucket, date);
	return true;
}

char *query_gaps(const struct metric_query *query, const struct json *rows, struct date today)
{
	static const char *const steps[] = {"", "days", "weeks", "months", "quarters", "years"};
	enum time_bucket bucket =
		query->dimension_count == 1 ? query->dimensions[0].bucket : BUCKET_NONE;
	int64_t first = INT64_MAX, last = INT64_MIN, step = 0, listed = 0;

	if (bucket == BUCKET_NONE || bucket > BUCKET_YEAR || query->metric_count == 0 ||
	    query->limit != 0 || query->compare.set || query->average_per != NULL)
		return NULL;
	json_each(row, rows)
	{
		if (!step_of_text(bucket, json_str(json_first(row)), &step))
			continue;
		first = step < first ? step : first;
		last = step > last ? step : last;
		listed++;
	}
	if (listed == 0)
		return NULL; /* that nothing was found is said elsewhere */
	if (query->period.set && step_of_bound(bucket, query->period.from, 0, today, &step))
		first = step < first ? step : first;
	if (query->period.set && step_of_bound(bucket, query->period.to, 1, today, &step))
		last = step > last ? step : last;
	if (last - first + 1 <= listed)
		return NULL;
	return mem_format("%lld of %lld %s have no rows and are not listed.",
			  (long long)(last - first + 1 - listed), (long long)(last - first + 1),
			  steps[bucket]);
}
