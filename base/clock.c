/*
 * Clocks and civil dates. Day numbers are counted in 400-year eras that begin on 1 March, so that
 * the leap day is the last day of its year and months follow one formula. Reading refuses whatever
 * is not exactly the form written here.
 */
#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/timezone.h"

#define US_PER_S 1000000LL
#define S_PER_DAY 86400LL
#define DAYS_PER_ERA 146097LL	  /* 400 years */
#define EPOCH_FROM_MARCH 719468LL /* days from 0000-03-01 to 1970-01-01 */
#define DAYS_MAX 700000000000LL	  /* its year fits an int */

/* The years that four digits can write: 0000-01-01 to 9999-12-31. */
#define TIME_US_MIN (-62167219200LL * US_PER_S)
#define TIME_US_MAX (253402300800LL * US_PER_S - 1)

static int64_t now_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

int64_t clock_now_us(void)
{
	return now_us(CLOCK_REALTIME);
}

int64_t clock_mono_us(void)
{
	return now_us(CLOCK_MONOTONIC);
}

static int64_t divide_down(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

int64_t date_to_days(struct date date)
{
	int64_t month = (date.month + 9) % 12; /* 0 = March */
	int64_t year = (int64_t)date.year - (date.month <= 2);
	int64_t era = divide_down(year, 400);
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;

	return era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - EPOCH_FROM_MARCH;
}

struct date date_from_days(int64_t days)
{
	int64_t era, day, year, month;

	if (days > DAYS_MAX)
		days = DAYS_MAX;
	if (days < -DAYS_MAX)
		days = -DAYS_MAX;
	days += EPOCH_FROM_MARCH;
	era = divide_down(days, DAYS_PER_ERA);
	day = days - era * DAYS_PER_ERA;
	year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= year * 365 + year / 4 - year / 100;
	month = (5 * day + 2) / 153; /* 0 = March */
	day -= (153 * month + 2) / 5;
	return (struct date){
		.year = (int)(era * 400 + year + (month >= 10)),
		.month = (int)(month < 10 ? month + 3 : month - 9),
		.day = (int)day + 1,
	};
}

int date_weekday(struct date date)
{
	int64_t days = date_to_days(date) + 3; /* 1970-01-01 was a Thursday */

	return (int)(days - divide_down(days, 7) * 7);
}

int date_month_days(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (month < 1 || month > 12)
		return 0;
	return days[month - 1] + (month == 2 && leap);
}

struct date date_add_days(struct date date, int64_t days)
{
	int64_t sum;

	if (__builtin_add_overflow(date_to_days(date), days, &sum))
		sum = days > 0 ? DAYS_MAX : -DAYS_MAX;
	return date_from_days(sum);
}

struct date date_add_months(struct date date, int months)
{
	int64_t month = (int64_t)date.year * 12 + (date.month - 1) + months;
	int64_t year = divide_down(month, 12);
	int last;

	date.year = (int)year;
	date.month = (int)(month - year * 12) + 1;
	last = date_month_days(date.year, date.month);
	if (date.day > last)
		date.day = last;
	return date;
}

int date_compare(struct date a, struct date b)
{
	int64_t x = date_to_days(a), y = date_to_days(b);

	return (x > y) - (x < y);
}

/* The years that four digits cannot write are written as the nearest they can. */
static struct date date_writable(struct date date)
{
	if (date.year < 0)
		return (struct date){0, 1, 1};
	if (date.year > 9999)
		return (struct date){9999, 12, 31};
	return date;
}

static void write_digits(int value, int count, char *out)
{
	for (int i = count - 1; i >= 0; i--) {
		out[i] = (char)('0' + value % 10);
		value /= 10;
	}
}

void date_write(struct date date, char out[DATE_LEN + 1])
{
	date = date_writable(date);
	memcpy(out, "0000-00-00", DATE_LEN + 1);
	write_digits(date.year, 4, out);
	write_digits(date.month, 2, out + 5);
	write_digits(date.day, 2, out + 8);
}

/* text is as long as pattern, digits where pattern has 0 and the same byte elsewhere. */
static bool has_form(const char *text, const char *pattern)
{
	for (size_t i = 0; pattern[i] != '\0'; i++)
		if (pattern[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
			return false;
	return text[strlen(pattern)] == '\0';
}

static int read_digits(const char *text, int count)
{
	int value = 0;

	while (count-- > 0)
		value = value * 10 + (*text++ - '0');
	return value;
}

static bool read_date_digits(const char *text, struct date *ret)
{
	struct date date = {read_digits(text, 4), read_digits(text + 5, 2),
			    read_digits(text + 8, 2)};

	*ret = date;
	return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
	       date.day <= date_month_days(date.year, date.month);
}

int date_read(const char *text, struct date *ret_date, struct err *err)
{
	struct date date;

	if (!has_form(text, "0000-00-00"))
		return err_set(err, ERR_INVALID, "not a date: write it as 2026-10-15");
	if (!read_date_digits(text, &date))
		return err_set(err, ERR_INVALID, "%s is not in the calendar", text);
	*ret_date = date;
	return 0;
}

void timestamp_write(int64_t time_us, char out[TIMESTAMP_LEN + 1])
{
	int64_t days, rest;

	if (time_us < TIME_US_MIN)
		time_us = TIME_US_MIN;
	if (time_us > TIME_US_MAX)
		time_us = TIME_US_MAX;
	days = divide_down(time_us, S_PER_DAY * US_PER_S);
	rest = time_us - days * S_PER_DAY * US_PER_S;
	memcpy(out, "0000-00-00T00:00:00.000000Z", TIMESTAMP_LEN + 1);
	date_write(date_from_days(days), out);
	out[DATE_LEN] = 'T';
	write_digits((int)(rest % US_PER_S), 6, out + 20);
	rest /= US_PER_S;
	write_digits((int)(rest % 60), 2, out + 17);
	write_digits((int)(rest / 60 % 60), 2, out + 14);
	write_digits((int)(rest / 3600), 2, out + 11);
}

int timestamp_read(const char *text, int64_t *ret_time_us, struct err *err)
{
	struct date date;
	int hour, minute, second;

	if (!has_form(text, "0000-00-00T00:00:00.000000Z"))
		return err_set(err, ERR_INVALID,
			       "not a time: write it as 2026-08-22T10:00:01.000001Z");
	hour = read_digits(text + 11, 2);
	minute = read_digits(text + 14, 2);
	second = read_digits(text + 17, 2);
	if (!read_date_digits(text, &date) || hour > 23 || minute > 59 || second > 59)
		return err_set(err, ERR_INVALID, "%s is not in the calendar", text);
	*ret_time_us =
		(date_to_days(date) * S_PER_DAY + hour * 3600 + minute * 60 + second) * US_PER_S +
		read_digits(text + 20, 6);
	return 0;
}

int date_today(const char *zone, int64_t now, struct date *ret_date, struct err *err)
{
	int64_t seconds = divide_down(now, US_PER_S);
	int offset_s;

	if (timezone_offset(zone, seconds, &offset_s, err) < 0)
		return -1;
	*ret_date = date_from_days(divide_down(seconds + offset_s, S_PER_DAY));
	return 0;
}
