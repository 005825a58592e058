/* Exit codes of every command. `writ audit verify` and the background programs add their own. */
#ifndef WRIT_EXIT_CODES_H
#define WRIT_EXIT_CODES_H

enum writ_exit {
	EXIT_FINE = 0,
	EXIT_NEGATIVE = 1,    /* a negative finding: any task outcome but completed, check errors */
	EXIT_USAGE = 2,	      /* wrong usage or unreadable input */
	EXIT_UNAVAILABLE = 3, /* the service could not do it */

	/* writ audit verify; the highest of 20-22 wins, then the highest of 10-13 */
	EXIT_UNSIGNED_TAIL = 10,
	EXIT_POLICY = 11,
	EXIT_UNSIGNED = 12,
	EXIT_INCONCLUSIVE = 13,
	EXIT_TRUNCATED = 20,
	EXIT_TAMPERED = 21,
	EXIT_FORKED = 22,

	/* background programs, after sysexits(3) */
	EXIT_AUDIT_DAMAGED = 65, /* the log on disk contradicts its own head */
	EXIT_IO = 74,
	EXIT_BUSY = 75, /* another service holds this workspace */
	EXIT_CONFIG = 78,
	EXIT_NO_SANDBOX = 79,
};

#endif
