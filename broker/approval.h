/*
 * Approvals: a rule asked, a person may say yes or no, once, to exactly this call. Not a parked
 * call: the asking one was refused, and once the approval is given it is made again.
 *
 * A row in state/broker/broker.db names task, agent, user, tool, rule and the SHA-256 of the exact
 * arguments, and when it ends. It is used once; using it is durable before the call is dispatched.
 * Blocking, one thread.
 */
#ifndef BROKER_APPROVAL_H
#define BROKER_APPROVAL_H

#include "broker/token_store.h"

#define APPROVAL_ID_LEN 39	  /* "ap-" and a UUID */
#define APPROVALS_OPEN_MAX 64	  /* asked and not decided, of one user */
#define APPROVAL_SHOWN_BYTES 4096 /* of arguments: longer ones cannot be approved */

struct approval_wish { /* borrowed */
	const char *task;
	const char *follows; /* an earlier task of the same user that asked for it; NULL */
	const char *agent;
	const char *sub;  /* the user's pseudonym */
	const char *user; /* the name, for whoever decides */
	const char *tool;
	const char *database; /* "" without */
	const char *rule;
	const char *digest; /* 64 hex */
	const char *shown;  /* the arguments, whole */
};

/* One that was given for this wish, is not over and not used: its id. ERR_NOT_FOUND when none. */
MUST_CHECK int approval_find_given(struct token_store *store, const struct approval_wish *wish,
				   int64_t now, char ret_id[APPROVAL_ID_LEN + 1], struct err *err);
/* Asks, or finds that it is asked already. ERR_LIMIT over APPROVALS_OPEN_MAX. */
MUST_CHECK int approval_ask(struct token_store *store, const struct approval_wish *wish,
			    int64_t now, int64_t expires, char ret_id[APPROVAL_ID_LEN + 1],
			    struct err *err);
/* Marks all of them used, or none: ERR_DENIED when one is not given any more. Durable. */
MUST_CHECK int approvals_use(struct token_store *store, const char *const *ids, size_t count,
			     int64_t now, struct err *err);

struct approval_row { /* owned texts */
	char *task;
	char *agent;
	char *sub;
	char *tool;
	char *rule;
	char *state; /* asked, given, refused, used */
	int64_t expires;
};
void approval_row_clear(struct approval_row *row);

/* ERR_NOT_FOUND when there is none. */
MUST_CHECK int approval_read(struct token_store *store, const char *id,
			     struct approval_row *ret_row, struct err *err);
/* From asked to given or refused; ERR_INVALID when it is decided or over. Durable. */
MUST_CHECK int approval_decide(struct token_store *store, const char *id, bool give, const char *by,
			       int64_t now, struct err *err);
#define APPROVALS_LISTED_MAX 500

struct approval_viewer { /* borrowed */
	bool all;
	const char *sub;	  /* otherwise: what this user asked for, */
	const struct json *rules; /* and what any of these rules (texts) asked */
};

/* An array of {"approval","task","agent","user","sub","tool","database","rule","arguments",
 * "created","expires","state","by"}: the newest APPROVALS_LISTED_MAX of what the viewer may see,
 * newest first. */
MUST_CHECK int approval_list(struct token_store *store, const struct approval_viewer *viewer,
			     int64_t now, struct json **ret_list, struct err *err);
MUST_CHECK int approval_purge(struct token_store *store, int64_t now, struct err *err);

#endif
