/*
 * Reading what people write, strictly: each function reads one thing of a YAML tree, adds a problem
 * at its place when it is not as it must be, and tells the caller so. Reading goes on afterwards,
 * so that one run finds every mistake.
 */
#ifndef POLICY_CHECK_H
#define POLICY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/problems.h"

struct words { /* what may stand somewhere, for messages */
	const char *const *items;
	size_t count;
};

struct check {
	struct problems *problems;
};

void check_fail(struct check *check, const char *code, const struct yaml *node, const char *format,
		...) __attribute__((format(printf, 4, 5)));

/* "unknown table "ordrs": did you mean "orders"?", or what there is. */
void check_unknown(struct check *check, const char *code, const struct yaml *node, const char *what,
		   struct words words);
/* The same, of a text that is only part of the node's. */
void check_unknown_text(struct check *check, const char *code, const struct yaml *node,
			const char *what, const char *text, struct words words);

/* A map whose keys all stand in the NULL-terminated list. what: "a rule". False when it is no map;
 * unknown keys are reported, and the rest can be read. */
bool check_map(struct check *check, const struct yaml *node, const char *what,
	       const char *const *keys);
/* The member, or NULL with a problem at the map: missing_key. what as above, example as it would
 * be written: "owner: team:sales-data". */
const struct yaml *check_member(struct check *check, const struct yaml *map, const char *what,
				const char *key, const char *example);
bool check_list(struct check *check, const struct yaml *node, const char *what);

/* A text of 1 to 256 bytes without control characters; what YAML 1.1 would not read as a text
 * (no, on, ~) must be quoted. NULL with a problem otherwise; node NULL gives NULL silently, since
 * check_member() spoke already. */
const char *check_text(struct check *check, const struct yaml *node, const char *what);
/* Also: letters, digits, ".", "_", "-", beginning with a letter or digit. */
const char *check_name(struct check *check, const struct yaml *node, const char *what);
/* Also: one of the words, else "did you mean". */
const char *check_word(struct check *check, const struct yaml *node, const char *what,
		       struct words words);

bool check_count(struct check *check, const struct yaml *node, const char *what, int64_t max,
		 int64_t *ret);
/* 90s, 5m, 2h; max in the same unit. */
bool check_duration_ms(struct check *check, const struct yaml *node, const char *what,
		       int64_t max_ms, int64_t *ret_ms);
/* 512B, 64KiB, 1MiB, 2GiB. */
bool check_size(struct check *check, const struct yaml *node, const char *what, int64_t max_bytes,
		int64_t *ret_bytes);
/* An IANA name, "Europe/Berlin". */
const char *check_timezone(struct check *check, const struct yaml *node);

#endif
