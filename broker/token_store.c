/*
 * Constant statements over three small tables. Epoch and key are read once and kept, since this
 * process is the only one that writes them.
 *
 * What can fail: the disk. Then the transaction is rolled back, the error goes to the caller, and
 * the caller denies.
 */
#include "broker/token_store.h"

#include <string.h>

#include "base/crypto.h"
#include "base/db.h"
#include "writ/limits.h"

#define PSEUDONYM_KEY_LEN 32

struct token_store {
	struct db *db; /* owned */
	int64_t epoch;
	uint8_t key[PSEUDONYM_KEY_LEN];
};

static const char *const migrations[] = {
	"CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL,"
	" pseudonym_key BLOB NOT NULL) STRICT;"
	"CREATE TABLE tokens (jti TEXT PRIMARY KEY, parent TEXT, agent TEXT NOT NULL,"
	" sub TEXT NOT NULL, user TEXT NOT NULL, txn TEXT NOT NULL, kid TEXT NOT NULL,"
	" iat INTEGER NOT NULL, exp INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0,"
	" cause TEXT) STRICT, WITHOUT ROWID;"
	"CREATE INDEX tokens_parent ON tokens (parent);"
	"CREATE INDEX tokens_txn ON tokens (txn);"
	"CREATE INDEX tokens_exp ON tokens (exp);",
	"CREATE TABLE approvals (id TEXT PRIMARY KEY, task TEXT NOT NULL, agent TEXT NOT NULL,"
	" sub TEXT NOT NULL, user TEXT NOT NULL, tool TEXT NOT NULL, database TEXT NOT NULL,"
	" rule TEXT NOT NULL, digest TEXT NOT NULL, shown TEXT NOT NULL, created INTEGER NOT NULL,"
	" expires INTEGER NOT NULL, state TEXT NOT NULL, by TEXT, decided INTEGER, used INTEGER)"
	" STRICT, WITHOUT ROWID;"
	"CREATE INDEX approvals_sub ON approvals (sub, state);"
	"CREATE INDEX approvals_expires ON approvals (expires);",
	("CREATE INDEX approvals_rule ON approvals (rule);"
	 "CREATE INDEX approvals_created ON approvals (created, id);"),
};

static int read_state(struct token_store *store, bool *ret_found, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	const void *key;
	size_t len = 0;
	int row;

	if (db_query(store->db, "SELECT epoch, pseudonym_key FROM state", &stmt, err) < 0)
		return -1;
	row = db_step(stmt, err);
	if (row < 0)
		return -1;
	*ret_found = row == 1;
	if (row == 0)
		return 0;
	store->epoch = db_int(stmt, 0);
	key = db_blob(stmt, 1, &len);
	if (len != PSEUDONYM_KEY_LEN)
		return err_set(err, ERR_INVALID, "the pseudonym key is damaged");
	memcpy(store->key, key, PSEUDONYM_KEY_LEN);
	return 0;
}

static int make_state(struct token_store *store, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	random_bytes(store->key, sizeof(store->key));
	store->epoch = 1;
	if (db_query(store->db, "INSERT INTO state VALUES (1, ?1, ?2)", &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, store->epoch);
	db_bind_blob(stmt, 2, store->key, sizeof(store->key));
	return db_step(stmt, err) < 0 ? -1 : 0;
}

int token_store_open(const char *path, struct token_store **ret_store, struct err *err)
{
	CLEANUP(token_store_closep) struct token_store *store = mem_alloc(sizeof(*store));
	bool found = false;

	if (db_open(path, DB_SYNC_NORMAL, migrations, ARRAY_LEN(migrations), &store->db, err) < 0 ||
	    read_state(store, &found, err) < 0)
		return err_wrap(err, "%s", path);
	if (!found && make_state(store, err) < 0)
		return err_wrap(err, "%s", path);
	*ret_store = TAKE(store);
	return 0;
}

void token_store_close(struct token_store *store)
{
	if (store == NULL)
		return;
	db_close(store->db);
	bytes_wipe(store->key, sizeof(store->key));
	mem_free(store);
}

void token_store_closep(struct token_store **store)
{
	token_store_close(*store);
}

struct db *token_store_db(struct token_store *store)
{
	return store->db;
}

int64_t token_store_epoch(const struct token_store *store)
{
	return store->epoch;
}

static int write_epoch(struct token_store *store, int64_t epoch, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(store->db, "UPDATE state SET epoch = ?1", &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, epoch);
	return db_step(stmt, err) < 0 ? -1 : 0;
}

int token_store_raise_epoch(struct token_store *store, struct err *err)
{
	if (write_epoch(store, store->epoch + 1, err) < 0)
		return err_wrap(err, "raise the epoch");
	store->epoch++;
	return 0;
}

void token_store_mask_key(const struct token_store *store, const char *source,
			  uint8_t out[TOKEN_STORE_KEY_LEN])
{
	CLEANUP(mem_freep) char *purpose = mem_format("writ/mask/v1\n%s", source);

	blake2b_256(purpose, strlen(purpose), store->key, sizeof(store->key), out);
}

void token_store_pseudonym(const struct token_store *store, const char *user,
			   char out[PSEUDONYM_LEN + 1])
{
	uint8_t digest[32];

	blake2b_256(user, strlen(user), store->key, sizeof(store->key), digest);
	memcpy(out, "user:", 5);
	hex_write(digest, 8, out + 5);
}

/* How many of the token and its ancestors there are, and how many of them are revoked. */
static int check_parent(struct token_store *store, const char *jti, int64_t now, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(store->db,
		     "WITH RECURSIVE up(jti) AS (SELECT ?1 UNION SELECT t.parent FROM tokens t"
		     " JOIN up ON t.jti = up.jti WHERE t.parent IS NOT NULL)"
		     " SELECT (SELECT count(*) FROM up), count(*),"
		     " coalesce(sum(t.revoked <> 0), 0), coalesce(min(t.exp), 0)"
		     " FROM up JOIN tokens t ON t.jti = up.jti",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, jti);
	if (db_step(stmt, err) < 0)
		return -1;
	if (db_int(stmt, 0) != db_int(stmt, 1))
		return err_set(err, ERR_DENIED, "the parent token is not known");
	if (db_int(stmt, 2) != 0)
		return err_set(err, ERR_DENIED, "the parent token is revoked");
	if (now >= db_int(stmt, 3))
		return err_set(err, ERR_DENIED, "the parent token is expired");
	return 0;
}

static int insert_row(struct token_store *store, const struct token_row *row, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(store->db,
		     "INSERT INTO tokens (jti, parent, agent, sub, user, txn, kid, iat, exp)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, row->jti);
	db_bind_str(stmt, 2, row->parent);
	db_bind_str(stmt, 3, row->agent);
	db_bind_str(stmt, 4, row->sub);
	db_bind_str(stmt, 5, row->user);
	db_bind_str(stmt, 6, row->txn);
	db_bind_str(stmt, 7, row->kid);
	db_bind_int(stmt, 8, row->issued);
	db_bind_int(stmt, 9, row->expires);
	return db_step(stmt, err) < 0 ? -1 : 0;
}

int token_store_add(struct token_store *store, const struct token_row *row, int64_t now,
		    struct err *err)
{
	if (db_begin(store->db, err) < 0)
		return err_wrap(err, "store a token");
	if ((row->parent != NULL && check_parent(store, row->parent, now, err) < 0) ||
	    insert_row(store, row, err) < 0 || db_commit(store->db, err) < 0) {
		db_rollback(store->db);
		return err_wrap(err, "store a token");
	}
	return 0;
}

int token_store_check(struct token_store *store, const char *jti, int64_t now, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(store->db, "SELECT exp, revoked FROM tokens WHERE jti = ?1", &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, jti);
	row = db_step(stmt, err);
	if (row < 0)
		return -1;
	if (row == 0)
		return err_set(err, ERR_DENIED, "the token is not known");
	if (db_int(stmt, 1) != 0)
		return err_set(err, ERR_DENIED, "the token is revoked");
	if (now >= db_int(stmt, 0))
		return err_set(err, ERR_TIMEOUT, "the token is expired");
	return 0;
}

/* One text per choice: SQL is never put together. */
#define REVOKE_WHERE(condition)                                                                    \
	"WITH RECURSIVE down(jti) AS (SELECT jti FROM tokens WHERE " condition                     \
	" AND (?2 IS NULL OR sub = ?2)"                                                            \
	" UNION SELECT t.jti FROM tokens t JOIN down ON t.parent = down.jti)"                      \
	" UPDATE tokens SET revoked = ?3, cause = ?4"                                              \
	" WHERE revoked = 0 AND exp > ?3 AND jti IN (SELECT jti FROM down)"

static const char *const revoke_texts[] = {
	[TOKEN_BY_JTI] = REVOKE_WHERE("jti = ?1"),     [TOKEN_BY_TASK] = REVOKE_WHERE("txn = ?1"),
	[TOKEN_BY_AGENT] = REVOKE_WHERE("agent = ?1"), [TOKEN_BY_USER] = REVOKE_WHERE("sub = ?1"),
	[TOKEN_BY_KID] = REVOKE_WHERE("kid = ?1"),
};

static int find_jti(struct token_store *store, const struct token_selector *selector,
		    struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(store->db, "SELECT 1 FROM tokens WHERE jti = ?1 AND (?2 IS NULL OR sub = ?2)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, selector->value);
	db_bind_str(stmt, 2, selector->sub);
	row = db_step(stmt, err);
	if (row == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no such token");
	return row < 0 ? -1 : 0;
}

static int mark_revoked(struct token_store *store, const struct token_selector *selector,
			const char *cause, int64_t now, int64_t *ret_count, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (selector->by == TOKEN_BY_JTI && find_jti(store, selector, err) < 0)
		return -1;
	if (db_query(store->db, revoke_texts[selector->by], &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, selector->value);
	db_bind_str(stmt, 2, selector->sub);
	db_bind_int(stmt, 3, now);
	db_bind_str(stmt, 4, cause);
	if (db_step(stmt, err) < 0)
		return -1;
	*ret_count = db_changes(store->db);
	return 0;
}

static int revoke_in_one(struct token_store *store, const struct token_selector *selector,
			 const char *cause, int64_t now, int64_t *ret_count, struct err *err)
{
	int64_t count = 0;

	if (db_begin(store->db, err) < 0)
		return -1;
	if (mark_revoked(store, selector, cause, now, &count, err) < 0 ||
	    write_epoch(store, store->epoch + 1, err) < 0 || db_commit(store->db, err) < 0) {
		db_rollback(store->db);
		return -1;
	}
	store->epoch++;
	*ret_count = count;
	return 0;
}

int token_store_revoke(struct token_store *store, const struct token_selector *selector,
		       const char *cause, bool durable, int64_t now, int64_t *ret_count,
		       struct err *err)
{
	int result;

	if (durable && db_exec(store->db, "PRAGMA synchronous = FULL", err) < 0)
		return err_wrap(err, "revoke");
	result = revoke_in_one(store, selector, cause, now, ret_count, err);
	if (durable)
		IGNORE(db_exec(store->db, "PRAGMA synchronous = NORMAL", NULL),
		       "staying on FULL is only slower");
	return result < 0 ? err_wrap(err, "revoke") : 0;
}

static struct json *list_row(struct db_stmt *stmt)
{
	struct json *row = json_object();

	json_set_str(row, "jti", db_str(stmt, 0));
	json_set_str(row, "agent", db_str(stmt, 1));
	json_set_str(row, "task", db_str(stmt, 2));
	json_set_str(row, "user", db_str(stmt, 3));
	json_set_int(row, "issued", db_int(stmt, 4));
	json_set_int(row, "expires", db_int(stmt, 5));
	json_set_bool(row, "revoked", db_int(stmt, 6) != 0);
	json_set_str(row, "cause", db_str(stmt, 7));
	return row;
}

int token_store_list(struct token_store *store, const char *sub, struct json **ret_list,
		     struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	CLEANUP(json_freep) struct json *list = json_array();
	int row;

	if (db_query(store->db,
		     "SELECT jti, agent, txn, user, iat, exp, revoked, cause FROM tokens"
		     " WHERE ?1 IS NULL OR sub = ?1 ORDER BY iat DESC, jti DESC LIMIT 1000",
		     &stmt, err) < 0)
		return err_wrap(err, "list tokens");
	db_bind_str(stmt, 1, sub);
	while ((row = db_step(stmt, err)) == 1)
		json_push(list, list_row(stmt));
	if (row < 0)
		return err_wrap(err, "list tokens");
	*ret_list = TAKE(list);
	return 0;
}

int token_store_purge(struct token_store *store, int64_t now, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(store->db, "DELETE FROM tokens WHERE exp + ?2 < ?1", &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, now);
	db_bind_int(stmt, 2, WRIT_CLOCK_SKEW_SECONDS);
	return db_step(stmt, err) < 0 ? err_wrap(err, "purge tokens") : 0;
}
