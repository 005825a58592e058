/* Numbers as people write them in a report: with thousands separators, a currency sign, a unit. */
#ifndef AGENTS_REPORT_REPORT_NUMBER_H
#define AGENTS_REPORT_REPORT_NUMBER_H

#include "agents/report/report_view.h"

struct report_number {
	const char *text; /* as it stands, for messages; lent */
	size_t len;	  /* with its unit and currency sign */
	char digits[64];  /* without thousands separators */
	double value;
	int decimals;
	const char *unit; /* NULL when none stands with it */
};

bool report_number_begins(const char *text, size_t at);
/* ERR_INVALID for what only looks like one: 3rd, 10k, 5 mn. named: the word before it is a label or
 * a column, and so no unit of it. */
MUST_CHECK int report_number_read(const struct report_view *view, const char *text, size_t at,
				  bool named, struct report_number *ret_number, struct err *err);
/* The bytes of a number in words from two up, 0 when there is none; *ret is 0 for those that are
 * too great to be written so ("million"). */
size_t report_number_word(const char *text, double *ret);
/* A digit that is not one of 0 to 9: of another script, a superscript, a fraction. */
bool report_foreign_digit(const char *text);
bool report_unit_is(const char *unit, const char *other);
bool report_word_at(const char *text, const char *word); /* as a whole word; case is ignored */

#endif
