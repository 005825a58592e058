/*
 * What a profile of stored times (check_ask.h) says about a comparison with one of them. Texts are
 * compared letter by letter: '2025-03-31' is less than '2025-03-31 18:00', and a blank less than T.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agents/query/check/check_doubt.h"

#define DATE_BYTES 10
#define PROFILE_PARTS 6

struct profile {
	char *text; /* owned; the parts lie in it */
	const char *least;
	const char *greatest;
	char separator_least; /* 0: none has one */
	char separator_greatest;
	long longest;
	long long with_hours;
};

static bool read_profile(const struct json *answer, struct profile *ret_profile)
{
	char *parts[PROFILE_PARTS] = {NULL};
	char *text = mem_str(json_str(answer));
	char *at = text;
	size_t count = 0;

	for (; at && count < PROFILE_PARTS; count++) {
		parts[count] = at;
		at = strchr(at, '|');
		if (at)
			*at++ = '\0';
	}
	if (count != PROFILE_PARTS || at) {
		mem_free(text);
		return false;
	}
	*ret_profile = (struct profile){
		.text = text,
		.least = parts[0],
		.greatest = parts[1],
		.separator_least = parts[2][0],
		.separator_greatest = parts[3][0],
		.longest = strtol(parts[4], NULL, 10),
		.with_hours = strtoll(parts[5], NULL, 10),
	};
	return true;
}

/* ####-##-##, then nothing, a blank or T; ? stands for a digit */
static bool is_iso(const char *text)
{
	static const char shape[] = "0000-00-00";

	for (size_t i = 0; i < DATE_BYTES; i++) {
		bool digit = isdigit((unsigned char)text[i]) || text[i] == '?';

		if (shape[i] == '0' ? !digit : text[i] != shape[i])
			return false;
	}
	return text[DATE_BYTES] == '\0' || text[DATE_BYTES] == ' ' || text[DATE_BYTES] == 'T';
}

static bool begins_month(const char *text)
{
	return text && is_iso(text) && strncmp(text + 8, "01", 2) == 0;
}

static bool ends_month(const char *text)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = atoi(text), month = atoi(text + 5), day = atoi(text + 8);
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month >= 1 && month <= 12 && day == days[month - 1] + (month == 2 && leap);
}

static bool is_midnight(const char *text)
{
	return strlen(text) > 15 && strncmp(text + 11, "00:00", 5) == 0 &&
	       (text[16] != ':' || strncmp(text + 17, "00", 2) == 0);
}

static void flag_format(const struct doubt *doubt, const char *stored, struct json *flags)
{
	CLEANUP(mem_freep) char *repair = mem_format("write the time as '%s'", stored);

	flag_add(flags, "time.format", "warning", repair,
		 "'%s' is not written like the times in %s.%s ('%s'): they are compared letter by "
		 "letter, so the wrong rows pass",
		 doubt->value, doubt->table, doubt->name, stored);
}

/* Is the constant of another shape than what is stored? */
static bool check_format(const struct doubt *doubt, const struct profile *profile,
			 struct json *flags)
{
	const char *value = doubt->value;
	bool day = strlen(value) == DATE_BYTES;
	char separator = strlen(value) > DATE_BYTES ? value[DATE_BYTES] : '\0';
	bool wrong = is_iso(value) != is_iso(profile->least);

	if (profile->separator_least && profile->separator_greatest != profile->separator_least) {
		flag_add(flags, "time.format", "warning", "bring all of them into one shape",
			 "%s.%s holds times of two shapes ('%s', '%s'): comparing them goes wrong",
			 doubt->table, doubt->name, profile->least, profile->greatest);
		return true;
	}
	if (is_iso(value) && is_iso(profile->least)) {
		wrong = separator && profile->separator_least &&
			separator != profile->separator_least;
		/* stored as days: midnight of a day is greater than the day */
		if (profile->longest == DATE_BYTES && is_midnight(value))
			wrong = doubt->bound == BOUND_LOW || doubt->bound == BOUND_BELOW ||
				doubt->bound == BOUND_EQUAL;
		if (doubt->bound == BOUND_EQUAL && day && profile->with_hours > 0) {
			flag_add(flags, "time.format", "warning",
				 "compare with both ends of the day",
				 "%s.%s holds times of day: '%s' equals only those at midnight",
				 doubt->table, doubt->name, value);
			return true;
		}
	}
	if (wrong)
		flag_format(doubt, profile->least, flags);
	return wrong;
}

static void flag_end(const struct doubt *doubt, struct json *flags, const char *what)
{
	CLEANUP(mem_freep)
	char *repair = mem_format("use %s >= the first day and %s < the day after the last",
				  doubt->name, doubt->name);

	flag_add(flags, "period.range_end", "warning", repair, "%s.%s %s '%s': %s", doubt->table,
		 doubt->name,
		 doubt->bound == BOUND_HIGH    ? "up to"
		 : doubt->bound == BOUND_ABOVE ? "after"
					       : "before",
		 doubt->value, what);
}

static void check_ends(const struct doubt *doubt, const struct profile *profile, struct json *flags)
{
	const char *value = doubt->value;
	bool day = strlen(value) == DATE_BYTES, hours = profile->with_hours > 0;
	bool whole_months = begins_month(value) && begins_month(doubt->other) &&
			    strncmp(value, doubt->other, DATE_BYTES) != 0;

	if (doubt->bound == BOUND_HIGH && hours && day)
		flag_end(doubt, flags, "the hours of that day behind midnight are left out");
	else if (doubt->bound == BOUND_HIGH && hours && is_midnight(value))
		flag_end(doubt, flags,
			 "what falls on that midnight is in, the rest of its day not");
	else if (doubt->bound == BOUND_HIGH && !hours && whole_months)
		flag_end(doubt, flags, "that first day of the next month is taken in as well");
	else if (doubt->bound == BOUND_ABOVE && hours && day &&
		 (doubt->other || (!strchr(value, '?') && ends_month(value))))
		flag_end(doubt, flags, "hours of that day are taken in as well");
	else if (doubt->bound == BOUND_ABOVE && !hours && whole_months &&
		 doubt->other_bound == BOUND_BELOW)
		flag_end(doubt, flags, "the first day of the month is left out");
	else if (doubt->bound == BOUND_BELOW && day && !strchr(value, '?') && ends_month(value) &&
		 begins_month(doubt->other))
		flag_end(doubt, flags, "the last day of the month is left out");
}

void doubt_flag_time(const struct doubt *doubt, const struct json *answer, bool postgres,
		     struct json *flags)
{
	bool typed = doubt->mild && postgres;
	struct profile profile;

	if (!read_profile(answer, &profile)) {
		if (json_is_null(answer) && doubt->bound == BOUND_HIGH &&
		    strlen(doubt->value) == DATE_BYTES)
			flag_add(flags, "period.range_end", "note", "use < the day after the last",
				 "if %s.%s holds times of day, the hours of '%s' are left out; it "
				 "was not measured",
				 doubt->table, doubt->name, doubt->value);
		return;
	}
	if (typed || !check_format(doubt, &profile, flags)) {
		if (is_iso(doubt->value))
			check_ends(doubt, &profile, flags);
	}
	mem_free(profile.text);
}
