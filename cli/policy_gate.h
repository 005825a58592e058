/*
 * What a policy must pass before it takes effect: no mistake, no failing test, no broken invariant.
 * The one gate of `writ policy apply` and of a reload.
 */
#ifndef CLI_POLICY_GATE_H
#define CLI_POLICY_GATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"

struct gate_result {
	char digest[SHA256_HEX_LEN + 1]; /* "" when nothing was compiled */
	char refused[200];		 /* in a line; "" when everything passed */
	bool held;	   /* the files are fine, but a rollback holds another bundle */
	size_t cases;	   /* tests that passed */
	size_t invariants; /* that were proven */
};

/*
 * Checks the files of a workspace and, if they pass, writes state/ (workspace_apply()). Every
 * attempt gets its line in the history. on_purpose: the owner asks for these files, so what a
 * rollback holds ends. details of what failed go to out. EXIT_FINE, EXIT_NEGATIVE (refused),
 * EXIT_USAGE or EXIT_UNAVAILABLE after a message.
 */
int policy_gate_apply(const char *workspace, bool on_purpose, FILE *out,
		      struct gate_result *ret_result);

#endif
