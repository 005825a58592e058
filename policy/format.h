/*
 * Scope files in their canonical form: two blanks per level, keys of scopes, agents and rules in
 * one order, one blank line between rules, even spacing within [a, b] and {a: b}. Comments stay
 * with what they stand at. What the file says is the same before and after: the two are read and
 * compared, and a file for which that fails is left alone. Formatting twice changes nothing. Pure.
 */
#ifndef POLICY_FORMAT_H
#define POLICY_FORMAT_H

#include "base/buf.h"
#include "base/err.h"

/* name is for messages. ERR_INVALID when the text is no YAML of ours, with its place. */
MUST_CHECK int policy_format(const char *name, const char *text, size_t len, struct buf *ret_text,
			     struct err *err);

#endif
