/* Dates and periods named in a report, held against those of the result. */
#ifndef AGENTS_REPORT_REPORT_TIME_H
#define AGENTS_REPORT_REPORT_TIME_H

#include "agents/report/report_view.h"

/* Is a date or a period named at text + at? Its bytes; 0 when none. */
size_t report_time_len(const char *text, size_t at);

/* ERR_INVALID when it is neither a bound of the result's period (or of the one compared with), nor
 * all of it, nor in words of the question or the period's label. */
MUST_CHECK int report_time_check(const struct report_view *view, const char *text, size_t at,
				 struct err *err);

#endif
