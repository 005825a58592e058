/*
 * The auditor's policy: which logs, which witnesses, how many of them must have cosigned (C2SP
 * tlog-policy). It is kept apart from the log, or it proves nothing. Pure.
 *
 *   log <vkey> [<url>]             witness <name> <vkey> [<url>]
 *   group <name> <k|any|all> <member>...   quorum <name|none>, exactly once
 *
 * Names are defined before they are used, a name joins one group at most, no key comes twice.
 */
#ifndef BROKER_AUDIT_TRUST_POLICY_H
#define BROKER_AUDIT_TRUST_POLICY_H

#include "broker/audit/note.h"

#define TRUST_POLICY_BYTES_MAX (256u << 10)
#define TRUST_LOGS_MAX 64u
#define TRUST_NAMES_MAX 256u /* witnesses and groups together */

struct trust_log {
	struct vkey key;
	char *url; /* owned; NULL without one */
};

struct trust_member { /* a witness or a group */
	char *name;   /* owned */
	bool is_group;
	struct vkey key;	/* of a witness */
	char *url;		/* of a witness; owned; NULL without one */
	unsigned int threshold; /* of a group */
	unsigned int *members;	/* of a group: places in members[]; owned */
	unsigned int member_count;
	bool in_group;
};

struct trust_policy {
	struct trust_log *logs;
	size_t log_count;
	struct trust_member *members;
	size_t member_count;
	int quorum; /* place in members[]; -1: none */
};

/* Errors name the line. */
MUST_CHECK int trust_policy_parse(const char *text, size_t len, struct trust_policy *ret_policy,
				  struct err *err);
void trust_policy_clear(struct trust_policy *policy);
size_t trust_policy_witnesses(const struct trust_policy *policy);
/* Is the quorum reached by the witnesses for which cosigned[place] is set? */
bool trust_policy_met(const struct trust_policy *policy, const bool *cosigned);

#endif
