/*
 * The report agent: words for a verified result. It has no tool and no data but its handoff.
 *
 * report_builtin() writes the plain report: metric in words, dates, unit, filters, missing-value
 * rules, then the values. report_check() holds any text against the result: each number must stand
 * with the row label, metric, unit and period it belongs to; a text that fails is refused once,
 * then replaced by the built-in report. Pure.
 */
#ifndef AGENTS_REPORT_REPORT_H
#define AGENTS_REPORT_REPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* What a report is written from; everything is lent. Same shapes as in struct query_outcome. */
struct report_input {
	const char *question;
	const struct json *result;
	const struct json *columns; /* NULL for free SQL */
	const struct json *words;   /* NULL for free SQL */
	const struct json *period;  /* NULL when none */
	const struct json *flags;
};

void report_builtin(const struct report_input *input, struct buf *ret_text);

/* 0 when every number of the text is backed by the result; else ERR_INVALID naming the first one
 * that is not and why ("300.00 stands with East, the result has it for West"). */
MUST_CHECK int report_check(const struct report_input *input, const char *text, struct err *err);

#endif
