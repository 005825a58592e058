/*
 * Offsets of IANA time zones, from the compiled files (RFC 9636, TZif) below TIMEZONE_FOLDER. The
 * C library could tell only by changing TZ for the whole process. A confined process that uses any
 * zone but UTC must be allowed to read TIMEZONE_FOLDER.
 */
#ifndef BASE_TIMEZONE_H
#define BASE_TIMEZONE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TIMEZONE_FOLDER "/usr/share/zoneinfo"
#define TIMEZONE_NAME_MAX 64

/* Seconds to add to UTC at that moment. "UTC" needs no file. A name that is none: ERR_INVALID; no
 * such zone: ERR_NOT_FOUND. */
MUST_CHECK int timezone_offset(const char *name, int64_t utc_s, int *ret_offset_s, struct err *err);

/* The two halves, pure, on bytes: a file of version 2 or later, and its last line
 * ("CET-1CEST,M3.5.0,M10.5.0/3"), which holds behind the last transition of the file. */
MUST_CHECK int tzif_offset(const char *bytes, size_t len, int64_t utc_s, int *ret_offset_s,
			   struct err *err);
MUST_CHECK int tz_rule_offset(const char *rule, int64_t utc_s, int *ret_offset_s, struct err *err);

#endif
