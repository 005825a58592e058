/* Wall clock, monotonic clock and civil dates. Pure code takes times as arguments. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

int64_t clock_now_us(void);  /* microseconds since 1970-01-01 UTC */
int64_t clock_mono_us(void); /* monotonic, for durations and deadlines */

/* "2026-08-22T10:00:01.000001Z": 27 characters and NUL. RFC 3339, exactly this form, years 0000 to
 * 9999; writing another year gives the nearest of these. The same holds for date_write(). */
#define TIMESTAMP_LEN 27
void timestamp_write(int64_t time_us, char out[TIMESTAMP_LEN + 1]);
MUST_CHECK int timestamp_read(const char *text, int64_t *ret_time_us, struct err *err);

/* Proleptic Gregorian calendar; month 1-12, day 1-31. */
struct date {
	int year;
	int month;
	int day;
};
#define DATE_LEN 10
int64_t date_to_days(struct date date); /* days since 1970-01-01 */
struct date date_from_days(int64_t days);
int date_weekday(struct date date); /* 0 = Monday ... 6 = Sunday (ISO 8601) */
int date_month_days(int year, int month);
struct date date_add_days(struct date date, int64_t days);
struct date date_add_months(struct date date, int months); /* clamps to the month's last day */
int date_compare(struct date a, struct date b);
void date_write(struct date date, char out[DATE_LEN + 1]); /* 2026-10-15 */
MUST_CHECK int date_read(const char *text, struct date *ret_date, struct err *err);
/* The civil date in a named IANA zone ("Europe/Berlin"; "UTC" needs no database). A confined
 * process must be allowed to read TIMEZONE_FOLDER (base/timezone.h). */
MUST_CHECK int date_today(const char *zone, int64_t now_us, struct date *ret_date, struct err *err);

#endif
