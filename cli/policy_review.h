/* The access review of one agent or user, for `writ policy show NAME`. */
#ifndef CLI_POLICY_REVIEW_H
#define CLI_POLICY_REVIEW_H

#include "cli/policy.h"

/* Prints; EXIT_USAGE after a message when nobody has that name. */
int policy_review(const struct policy_files *files, const char *name, bool as_json);

#endif
