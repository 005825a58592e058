/* A number, the labels and the measure it stands with: is there a cell of the result that it is? */
#ifndef AGENTS_REPORT_REPORT_MATCH_H
#define AGENTS_REPORT_REPORT_MATCH_H

#include "agents/report/report_number.h"

#define REPORT_LABELS_MAX 8 /* more labels before one number are no label of it */

struct report_labels { /* bare texts, lent */
	const char *items[REPORT_LABELS_MAX];
	size_t count;
	bool overflow;
};

void report_labels_add(struct report_labels *labels, const char *text);
/* The row has every one of the labels. */
bool report_row_fits(const struct report_view *view, const struct json *row,
		     const struct report_labels *labels);

struct report_claim {
	const struct report_number *number;
	const struct report_labels *labels;
	const char *measure; /* label of the column named; NULL when none is */
	const char *text;    /* all of it: a unit may be stated elsewhere */
};

/* ERR_INVALID says with what the number stands, and what the result has instead. */
MUST_CHECK int report_match(const struct report_view *view, const struct report_claim *claim,
			    struct err *err);

#endif
