/*
 * state/broker/broker.db: one row per token issued, the epoch, and the key of the pseudonyms.
 *
 * Revoking marks a token and all its descendants and raises the epoch in one transaction; whatever
 * was cached under an older epoch is unusable from then on. Rows go 30 s after their token's end.
 * Blocking, one thread.
 */
#ifndef BROKER_TOKEN_STORE_H
#define BROKER_TOKEN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct token_store;

MUST_CHECK int token_store_open(const char *path, struct token_store **ret_store, struct err *err);
void token_store_close(struct token_store *store); /* NULL is fine */
void token_store_closep(struct token_store **store);

/* For what else stands in broker.db (approval.h). */
struct db;
struct db *token_store_db(struct token_store *store);

int64_t token_store_epoch(const struct token_store *store);
/* The policy was replaced, or rights changed. */
MUST_CHECK int token_store_raise_epoch(struct token_store *store, struct err *err);

/* "user:" and 16 hex: the same for the same name as long as the database lives. */
#define PSEUDONYM_LEN 21
/* Of the masks of one source: values of a column hash alike in all of its tables, and not as those of
 * another source do. */
#define TOKEN_STORE_KEY_LEN 32
void token_store_mask_key(const struct token_store *store, const char *source,
			  uint8_t out[TOKEN_STORE_KEY_LEN]);
void token_store_pseudonym(const struct token_store *store, const char *user,
			   char out[PSEUDONYM_LEN + 1]);

struct token_row {
	const char *jti;
	const char *parent; /* NULL for a root */
	const char *agent;
	const char *sub;  /* the user's pseudonym */
	const char *user; /* the name, for lists */
	const char *txn;
	const char *kid;
	int64_t issued; /* seconds since 1970 */
	int64_t expires;
};

/* The parent and all its ancestors are looked at in the same transaction: ERR_DENIED when one of
 * them is revoked or gone. */
MUST_CHECK int token_store_add(struct token_store *store, const struct token_row *row, int64_t now,
			       struct err *err);
/* ERR_DENIED when it is revoked or not known, ERR_TIMEOUT when its time is over. */
MUST_CHECK int token_store_check(struct token_store *store, const char *jti, int64_t now,
				 struct err *err);

enum token_choice { TOKEN_BY_JTI, TOKEN_BY_TASK, TOKEN_BY_AGENT, TOKEN_BY_USER, TOKEN_BY_KID };

struct token_selector {
	enum token_choice by;
	const char *value; /* of TOKEN_BY_USER: the pseudonym */
	const char *sub;   /* only this user's tokens; NULL for everyone's */
};

/* Marks every living token chosen, and all descendants. ERR_NOT_FOUND for a jti that is not there
 * (or not the user's). durable: outlives a power cut before this returns. An error means that
 * nothing was revoked. */
MUST_CHECK int token_store_revoke(struct token_store *store, const struct token_selector *selector,
				  const char *cause, bool durable, int64_t now, int64_t *ret_count,
				  struct err *err);

/* An array of {"jti","agent","task","user","issued","expires","revoked","cause"}, newest first, at
 * most 1000; sub NULL lists everyone's. */
MUST_CHECK int token_store_list(struct token_store *store, const char *sub, struct json **ret_list,
				struct err *err);
MUST_CHECK int token_store_purge(struct token_store *store, int64_t now, struct err *err);

#endif
