/*
 * A second state of a workspace: the same scope files, metrics and settings over changed copies of
 * its databases (mutate.h), in a folder of its own that only we can read and that goes away
 * afterwards. It gets a service of its own for as long as it is asked. Its records go nowhere but
 * there: the audit sinks of the workspace, and the users its programs run as, are left out.
 */
#ifndef CLI_EVAL_SECOND_H
#define CLI_EVAL_SECOND_H

#include "base/err.h"
#include "base/json.h"

#define SECOND_BYTES_MAX                                                                           \
	(1LL << 30) /* of one database: a copy is a file in the temporary folder                   \
		     */

struct second {
	char *folder;	      /* owned; absolute, without links; NULL when there is none */
	struct json *changes; /* owned: {"sales":{"orders":{"added",..}}} */
};

/* workspace: its absolute path; sources: {"sales":{"kind":"sqlite","path"}}. On failure nothing is
 * left behind. */
MUST_CHECK int second_make(const char *workspace, const struct json *sources, int64_t seed,
			   struct second *ret_second, struct err *err);
/* Removes the folder with all that is in it; its service must have been left. */
void second_remove(struct second *second);

/* writ.yaml for it: without audit, roles and sources, and with the copies as sources. Pure.
 * ERR_INVALID when its keys do not stand one a line, at the left. */
MUST_CHECK int second_writ_yaml(const char *text, size_t len, const struct json *sources,
				char **ret_text, struct err *err);

#endif
