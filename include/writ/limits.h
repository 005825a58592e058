/* Every bound that two programs must agree on, with its reason beside it. */
#ifndef WRIT_LIMITS_H
#define WRIT_LIMITS_H

#define WRIT_TOKEN_SECONDS_MAX 300	/* a scope token's whole life; the signer refuses more */
#define WRIT_CLOCK_SKEW_SECONDS 30	/* tolerated between issuer and checker */
#define WRIT_DELEGATION_DEPTH_MAX 8	/* hops from a root token */
#define WRIT_TOKEN_BYTES_MAX 8192	/* a compact JWT */
#define WRIT_TOKEN_TOOLS_MAX 256
#define WRIT_CONSTRAINTS_PER_TOOL_MAX 64
#define WRIT_TOOL_NAME_MAX 256

#define WRIT_ROWS_DEFAULT 100		/* rows asked when the call names no number */
#define WRIT_ROWS_MAX 500		/* clamped, visibly */
#define WRIT_RESULT_BYTES_DEFAULT (1 << 20)
#define WRIT_SCAN_BYTES_DEFAULT (256LL << 20)
#define WRIT_STATEMENT_MS_DEFAULT 30000
#define WRIT_TASK_MS_DEFAULT 120000
#define WRIT_TOOL_CALLS_DEFAULT 6
#define WRIT_TOOL_ERRORS_DEFAULT 2
#define WRIT_MODEL_CALLS_DEFAULT 7
#define WRIT_ATTEMPTS_DEFAULT 3
#define WRIT_RUNNING_TASKS_PER_USER 4

/* A program that answers no question whether it is there for this long is started again. */
#define WRIT_HANG_AFTER_MS_DEFAULT 15000
#define WRIT_HANG_AFTER_MS_MIN 1000
#define WRIT_HANG_AFTER_MS_MAX 120000

#define WRIT_DESCRIPTORS 8192		/* of a program; 512 sessions and their agents take 5,696 */

#define WRIT_QUESTION_BYTES_MAX 4096	/* a question of one person, in words */
#define WRIT_SQL_BYTES_MAX 65536	/* above any statement a person would read */
#define WRIT_RECORD_BYTES_MIN 85	/* the shortest line that holds _prev and _seq */
#define WRIT_RECORD_BYTES_MAX 65535	/* so that it fits a tlog-tiles entry bundle */

#endif
