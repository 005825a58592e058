/*
 * Suites of questions with right answers. Read this folder's suite.h, compare.h, run.h, report.h in
 * that order.
 *
 *   suite: sales                     # YAML: a name, and cases
 *   columns: exact                   # or extra: an answer may have more columns than asked for
 *   tolerance: "0.005"               # how far apart numbers may be; default 0.000001
 *   cases:
 *     - id: by_region                # default: its number
 *       question: Which regions had the highest net sales last quarter?
 *       rows: [[East, "420"], [West, 300]]   # the right answer; quoted is text, 300 a number
 *       sql: SELECT ...              # or SQL that gives it, run beside the question
 *       ordered: true                # the order is part of the question
 *       after: What were net sales?  # asked before it in the same conversation, or a list of such
 *       flags: [join.rows_lost]      # what its answer must warn of; [] for nothing at all
 *       expect: completed            # or needs_input, refused, too_expensive, limit_reached, ...
 *
 * A case expects completed when it has rows or sql, and must say what it expects otherwise. A suite
 * can be CSV as well (RFC 4180), with the headings question, and any of id, value, sql, ordered,
 * expect; value is one number or text, the whole answer.
 */
#ifndef CLI_EVAL_SUITE_H
#define CLI_EVAL_SUITE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define SUITE_CASES_MAX 10000

/*
 * {"suite","columns":"exact"|"extra","tolerance":REAL,"cases":[{"id","question","expect","rows",
 * "sql","ordered","after":[..],"flags":[..],"at"}]}. path is read from the current folder; its
 * ending tells YAML from CSV. Every mistake is added to mistakes, with its place; then ERR_INVALID.
 */
MUST_CHECK int suite_read(const char *path, struct json **ret_suite, struct buf *mistakes,
			  struct err *err);

#endif
