/*
 * The rule in the last line of a zone file (POSIX TZ with the extensions of RFC 9636, 3.3.1):
 *
 *   NAME OFFSET [NAME [OFFSET] , DAY [/TIME] , DAY [/TIME]]
 *
 * Offsets count westwards, times from local midnight and may be negative or go over a day. Pure.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/timezone.h"

#define S_PER_DAY 86400LL
#define S_PER_HOUR 3600
#define HOURS_MAX 167

enum day_form { DAY_OF_MONTH_RULE, DAY_JULIAN, DAY_ZERO_BASED };

struct change {
	enum day_form form;
	int month, week, day; /* of a month rule; else only day */
	int time_s;
};

struct rule {
	int std_s, dst_s; /* to add to UTC */
	bool has_dst;
	struct change to_dst, to_std;
};

static bool read_number(const char **at, int min, int max, int *ret)
{
	int value = 0, digits = 0;

	while (isdigit((unsigned char)**at) && digits++ < 4)
		value = value * 10 + (*(*at)++ - '0');
	*ret = value;
	return digits > 0 && digits <= 4 && value >= min && value <= max;
}

/* [+-]h[h[h]][:mm[:ss]] in seconds. */
static bool read_time(const char **at, int *ret)
{
	int sign = 1, hours, minutes = 0, seconds = 0;

	if (**at == '+' || **at == '-')
		sign = *(*at)++ == '-' ? -1 : 1;
	if (!read_number(at, 0, HOURS_MAX, &hours))
		return false;
	if (**at == ':') {
		(*at)++;
		if (!read_number(at, 0, 59, &minutes))
			return false;
		if (**at == ':') {
			(*at)++;
			if (!read_number(at, 0, 59, &seconds))
				return false;
		}
	}
	*ret = sign * (hours * S_PER_HOUR + minutes * 60 + seconds);
	return true;
}

/* Three letters or more, or anything within <>. */
static bool skip_name(const char **at)
{
	const char *start = *at;

	if (*start == '<') {
		const char *end = strchr(start, '>');

		if (end != NULL)
			*at = end + 1;
		return end != NULL;
	}
	while (isalpha((unsigned char)**at))
		(*at)++;
	return *at - start >= 3;
}

static bool read_day(const char **at, struct change *change)
{
	if (**at == 'M') {
		(*at)++;
		change->form = DAY_OF_MONTH_RULE;
		return read_number(at, 1, 12, &change->month) && *(*at)++ == '.' &&
		       read_number(at, 1, 5, &change->week) && *(*at)++ == '.' &&
		       read_number(at, 0, 6, &change->day);
	}
	if (**at == 'J') {
		(*at)++;
		change->form = DAY_JULIAN;
		return read_number(at, 1, 365, &change->day);
	}
	change->form = DAY_ZERO_BASED;
	return read_number(at, 0, 365, &change->day);
}

static bool read_change(const char **at, struct change *change)
{
	if (**at != ',')
		return false;
	(*at)++;
	if (!read_day(at, change))
		return false;
	change->time_s = 2 * S_PER_HOUR;
	if (**at != '/')
		return true;
	(*at)++;
	return read_time(at, &change->time_s);
}

static bool read_offset(const char **at, int *ret)
{
	int west;

	if (!read_time(at, &west))
		return false;
	*ret = -west;
	return true;
}

static bool read_rule(const char *at, struct rule *rule)
{
	*rule = (struct rule){0};
	if (!skip_name(&at) || !read_offset(&at, &rule->std_s))
		return false;
	if (*at == '\0')
		return true;
	rule->has_dst = true;
	rule->dst_s = rule->std_s + S_PER_HOUR;
	if (!skip_name(&at) || (*at != ',' && !read_offset(&at, &rule->dst_s)))
		return false;
	return read_change(&at, &rule->to_dst) && read_change(&at, &rule->to_std) && *at == '\0';
}

/* Days since 1970 of week 1-5 (5: the last) and weekday 0 = Sunday. */
static int64_t day_of_month_rule(int year, const struct change *change)
{
	struct date first = {year, change->month, 1};
	int weekday = (date_weekday(first) + 1) % 7;
	int day = 1 + (change->day - weekday + 7) % 7 + 7 * (change->week - 1);

	while (day > date_month_days(year, change->month))
		day -= 7;
	return date_to_days(first) + day - 1;
}

/* The moment of the change in seconds of local time, read as if it were UTC. */
static int64_t change_local_s(int year, const struct change *change)
{
	int64_t start = date_to_days((struct date){year, 1, 1});
	bool leap = date_month_days(year, 2) == 29;
	int64_t day;

	if (change->form == DAY_OF_MONTH_RULE)
		day = day_of_month_rule(year, change);
	else if (change->form == DAY_JULIAN) /* counts as if no 29 February were there */
		day = start + change->day - 1 + (leap && change->day >= 60);
	else
		day = start + change->day;
	return day * S_PER_DAY + change->time_s;
}

static int64_t day_of(int64_t seconds)
{
	return seconds / S_PER_DAY - (seconds % S_PER_DAY < 0);
}

int tz_rule_offset(const char *text, int64_t utc_s, int *ret_offset_s, struct err *err)
{
	struct rule rule;
	int64_t to_dst, to_std;
	bool dst;
	int year;

	if (!read_rule(text, &rule))
		return err_set(err, ERR_INVALID, "the time zone file ends in a rule that is none");
	if (!rule.has_dst) {
		*ret_offset_s = rule.std_s;
		return 0;
	}
	year = date_from_days(day_of(utc_s + rule.std_s)).year;
	to_dst = change_local_s(year, &rule.to_dst) - rule.std_s;
	to_std = change_local_s(year, &rule.to_std) - rule.dst_s;
	if (to_dst < to_std)
		dst = utc_s >= to_dst && utc_s < to_std;
	else
		dst = utc_s >= to_dst || utc_s < to_std; /* south of the equator */
	*ret_offset_s = dst ? rule.dst_s : rule.std_s;
	return 0;
}
