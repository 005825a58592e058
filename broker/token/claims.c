/*
 * Claims: making the params of token.sign, reading them strictly, writing the payload.
 *
 * Reading is the same for a token that came back and for what the signer is asked to sign, so
 * nothing can be signed that would not be read. What can fail: a claim that is absent or of a wrong
 * type, a grant out of form or over a limit.
 */
#include "broker/token/token.h"

#include <string.h>

#include "policy/constraint.h"

/* Every claim, in the order of the payload. */
static const char *const claim_order[] = {
	"iss",
	"aud",
	"sub",
	"client_id",
	"act",
	"iat",
	"nbf",
	"exp",
	"jti",
	"txn",
	"scope",
	"authorization_details",
	"auth_time",
	"acr",
	"amr",
	"cnf",
	"del_depth",
	"del_max_depth",
	"par_hash",
	"writ_owner",
	"writ_policy_digest",
	"writ_policy_epoch",
	NULL,
};

void token_claims_clear(struct token_claims *claims)
{
	json_freep(&claims->payload);
	memset(claims, 0, sizeof(*claims));
}

/* The earlier agents stay nested behind the one that acts now: history for the log only. */
static struct json *act_new(const struct token_fields *fields)
{
	struct json *act = json_object();

	json_set_str(act, "sub", fields->agent_id);
	if (fields->parent != NULL)
		json_set(act, "act", json_copy(fields->parent->act));
	return act;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void set_times(struct json *claims, const struct token_fields *fields)
{
	const struct token_claims *parent = fields->parent;
	int64_t exp = fields->now + smaller(fields->seconds, WRIT_TOKEN_SECONDS_MAX);

	json_set_int(claims, "iat", fields->now);
	json_set_int(claims, "nbf", fields->now);
	json_set_int(claims, "exp", parent == NULL ? exp : smaller(exp, parent->exp));
}

static void set_lineage(struct json *claims, const struct token_fields *fields)
{
	const struct token_claims *parent = fields->parent;
	int64_t max = fields->del_max_depth;

	json_set_int(claims, "del_depth", parent == NULL ? 0 : parent->del_depth + 1);
	json_set_int(claims, "del_max_depth",
		     parent == NULL ? max : smaller(max, parent->del_max_depth));
	if (parent != NULL)
		json_set_str(claims, "par_hash", parent->input_hash);
}

struct json *token_claims_new(const struct token_fields *fields)
{
	const struct token_claims *parent = fields->parent;
	struct json *claims = json_object();
	char jti[UUID_LEN + 1];

	uuid7(jti);
	json_set_str(claims, "sub", parent == NULL ? fields->sub : parent->sub);
	json_set_str(claims, "client_id", fields->client_id);
	json_set(claims, "act", act_new(fields));
	set_times(claims, fields);
	json_set_str(claims, "jti", jti);
	json_set_str(claims, "txn", parent == NULL ? fields->txn : parent->txn);
	if (fields->scope != NULL)
		json_set_str(claims, "scope", fields->scope);
	json_set(claims, "authorization_details", json_copy(fields->details));
	if (fields->jkt != NULL) {
		struct json *cnf = json_object();

		json_set_str(cnf, "jkt", fields->jkt);
		json_set(claims, "cnf", cnf);
	}
	set_lineage(claims, fields);
	json_set_str(claims, "writ_owner", fields->owner);
	json_set_str(claims, "writ_policy_digest", fields->policy_digest);
	json_set_int(claims, "writ_policy_epoch", fields->policy_epoch);
	return claims;
}

/* No claim of ours is empty, and none is longer than any honest one. */
static int want_text(const struct json *object, const char *key, const char **ret, struct err *err)
{
	const char *text = NULL;

	if (json_want_str(object, key, &text, err) < 0)
		return -1;
	if (text[0] == '\0' || strlen(text) > TOKEN_STRING_BYTES_MAX)
		return err_set(err, ERR_INVALID, "%s must have 1 to %d bytes", key,
			       TOKEN_STRING_BYTES_MAX);
	*ret = text;
	return 0;
}

static int may_text(const struct json *object, const char *key, const char **ret, struct err *err)
{
	return json_get(object, key) == NULL ? 0 : want_text(object, key, ret, err);
}

static int depth_of(const struct json *json)
{
	int deepest = 0;

	json_each(child, json)
	{
		int depth = depth_of(child);

		deepest = depth > deepest ? depth : deepest;
	}
	return json_type(json) == JSON_ARRAY || json_type(json) == JSON_OBJECT ? deepest + 1 : 0;
}

static int read_names(struct token_claims *claims, bool need_issuer, struct err *err)
{
	const struct json *payload = claims->payload;

	if (need_issuer && (want_text(payload, "iss", &claims->iss, err) < 0 ||
			    want_text(payload, "aud", &claims->aud, err) < 0))
		return -1;
	if (!need_issuer && (json_get(payload, "iss") != NULL || json_get(payload, "aud") != NULL))
		return err_set(err, ERR_INVALID, "iss and aud are the signer's to set");
	if (want_text(payload, "sub", &claims->sub, err) < 0 ||
	    want_text(payload, "client_id", &claims->client_id, err) < 0 ||
	    want_text(payload, "jti", &claims->jti, err) < 0 ||
	    want_text(payload, "txn", &claims->txn, err) < 0 ||
	    may_text(payload, "scope", &claims->scope, err) < 0 ||
	    want_text(payload, "writ_owner", &claims->owner, err) < 0 ||
	    want_text(payload, "writ_policy_digest", &claims->policy_digest, err) < 0)
		return -1;
	return 0;
}

/* act: {sub} or {sub, act}, to any depth a chain may have. */
static int read_act(struct token_claims *claims, struct err *err)
{
	static const char *const keys[] = {"sub", "act", NULL};
	const struct json *act = NULL;
	const char *text = NULL;

	if (json_want_object(claims->payload, "act", &act, err) < 0)
		return -1;
	claims->act = act;
	if (want_text(act, "sub", &claims->agent_id, err) < 0)
		return err_wrap(err, "act");
	for (size_t hops = 0; act != NULL; act = json_get(act, "act"), hops++) {
		if (json_type(act) != JSON_OBJECT || hops > WRIT_DELEGATION_DEPTH_MAX)
			return err_set(err, ERR_INVALID, "act: not a chain of at most %d agents",
				       WRIT_DELEGATION_DEPTH_MAX + 1);
		if (json_only(act, keys, err) < 0 || want_text(act, "sub", &text, err) < 0)
			return err_wrap(err, "act");
	}
	return 0;
}

static int read_numbers(struct token_claims *claims, struct err *err)
{
	const struct json *payload = claims->payload;

	if (json_want_int(payload, "iat", 0, JSON_INT_MAX, &claims->iat, err) < 0 ||
	    json_want_int(payload, "nbf", 0, JSON_INT_MAX, &claims->nbf, err) < 0 ||
	    json_want_int(payload, "exp", 0, JSON_INT_MAX, &claims->exp, err) < 0 ||
	    json_want_int(payload, "del_depth", 0, WRIT_DELEGATION_DEPTH_MAX, &claims->del_depth,
			  err) < 0 ||
	    json_want_int(payload, "del_max_depth", 0, WRIT_DELEGATION_DEPTH_MAX,
			  &claims->del_max_depth, err) < 0 ||
	    json_want_int(payload, "writ_policy_epoch", 0, JSON_INT_MAX, &claims->policy_epoch,
			  err) < 0)
		return -1;
	if (claims->exp <= claims->iat)
		return err_set(err, ERR_INVALID, "exp is not after iat");
	if (claims->exp - claims->iat > WRIT_TOKEN_SECONDS_MAX)
		return err_set(err, ERR_LIMIT, "a lifetime of %lld s; at most %d s",
			       (long long)(claims->exp - claims->iat), WRIT_TOKEN_SECONDS_MAX);
	return 0;
}

static int read_cnf(struct token_claims *claims, struct err *err)
{
	static const char *const keys[] = {"jkt", NULL};
	const struct json *cnf = NULL;

	if (json_get(claims->payload, "cnf") == NULL)
		return 0;
	if (json_want_object(claims->payload, "cnf", &cnf, err) < 0)
		return -1;
	if (json_only(cnf, keys, err) < 0 || want_text(cnf, "jkt", &claims->jkt, err) < 0)
		return err_wrap(err, "cnf");
	if (strlen(claims->jkt) != TOKEN_KID_LEN)
		return err_set(err, ERR_INVALID, "cnf: jkt is no key thumbprint");
	return 0;
}

static int read_parent(struct token_claims *claims, struct err *err)
{
	if (may_text(claims->payload, "par_hash", &claims->par_hash, err) < 0)
		return -1;
	if (claims->par_hash != NULL && strlen(claims->par_hash) != TOKEN_KID_LEN)
		return err_set(err, ERR_INVALID, "par_hash is no SHA-256 in base64url");
	if ((claims->par_hash != NULL) != (claims->del_depth > 0))
		return err_set(err, ERR_INVALID, "par_hash goes with a del_depth above 0");
	if (claims->del_depth > claims->del_max_depth)
		return err_set(err, ERR_INVALID, "del_depth is above del_max_depth");
	return 0;
}

static int read_login(const struct json *payload, struct err *err)
{
	const struct json *amr = json_get(payload, "amr");
	const char *text = NULL;
	int64_t time = 0;

	if (may_text(payload, "acr", &text, err) < 0)
		return -1;
	if (json_get(payload, "auth_time") != NULL &&
	    json_want_int(payload, "auth_time", 0, JSON_INT_MAX, &time, err) < 0)
		return -1;
	if (amr != NULL && json_type(amr) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "amr must be an array of strings");
	json_each(item, amr) if (json_str(item) == NULL) return err_set(
		err, ERR_INVALID, "amr must be an array of strings");
	return 0;
}

static int read_tool(const struct json *tool, struct err *err)
{
	size_t count = 0;

	if (json_type(tool) != JSON_OBJECT || json_len(tool) == 0)
		return err_set(err, ERR_INVALID,
			       "must be an object that names each argument; an open one is never "
			       "granted");
	json_each(constraint, tool) if (constraint_valid(constraint, WRIT_CONSTRAINTS_PER_TOOL_MAX,
							 &count, err) <
					0) return err_wrap(err, "%.64s", json_key(constraint));
	return 0;
}

static int read_tools(struct token_claims *claims, struct err *err)
{
	static const char *const keys[] = {"type", "tools", NULL};
	const struct json *entry;
	const char *type;

	if (json_want_array(claims->payload, "authorization_details", &claims->details, err) < 0)
		return -1;
	entry = json_first(claims->details);
	type = json_get_str(entry, "type");
	if (json_len(claims->details) != 1 || type == NULL || strcmp(type, TOKEN_DETAILS_TYPE) != 0)
		return err_set(err, ERR_INVALID, "not exactly one entry of type %s",
			       TOKEN_DETAILS_TYPE);
	if (json_only(entry, keys, err) < 0 ||
	    json_want_object(entry, "tools", &claims->tools, err) < 0)
		return -1;
	if (json_len(claims->tools) > WRIT_TOKEN_TOOLS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d tools", WRIT_TOKEN_TOOLS_MAX);
	json_each(tool, claims->tools)
	{
		size_t len = strlen(json_key(tool));

		if (len == 0 || len > WRIT_TOOL_NAME_MAX)
			return err_set(err, ERR_LIMIT, "a tool's name has 1 to %d bytes",
				       WRIT_TOOL_NAME_MAX);
		if (read_tool(tool, err) < 0)
			return err_wrap(err, "tool %.64s", json_key(tool));
	}
	return 0;
}

static int read_claims(struct token_claims *claims, bool need_issuer, struct err *err)
{
	if (json_type(claims->payload) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "claims must be an object");
	if (depth_of(claims->payload) > TOKEN_JSON_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "nested deeper than %d", TOKEN_JSON_DEPTH_MAX);
	/* What is signed is a closed set; what is read may hold claims of a later version. */
	if (!need_issuer && json_only(claims->payload, claim_order, err) < 0)
		return -1;
	if (read_names(claims, need_issuer, err) < 0 || read_act(claims, err) < 0 ||
	    read_numbers(claims, err) < 0 || read_cnf(claims, err) < 0 ||
	    read_parent(claims, err) < 0 || read_login(claims->payload, err) < 0)
		return -1;
	if (read_tools(claims, err) < 0)
		return err_wrap(err, "authorization_details");
	return 0;
}

int token_claims_read(struct json *payload, bool need_issuer, struct token_claims *ret_claims,
		      struct err *err)
{
	struct token_claims claims = {.payload = payload};

	if (read_claims(&claims, need_issuer, err) < 0) {
		token_claims_clear(&claims);
		return err_wrap(err, "claims");
	}
	*ret_claims = claims;
	return 0;
}

void token_payload_write(const struct token_claims *claims, const char *iss, const char *aud,
			 struct buf *out)
{
	CLEANUP(json_freep) struct json *payload = json_object();

	json_set_str(payload, "iss", iss);
	json_set_str(payload, "aud", aud);
	for (size_t i = 2; claim_order[i] != NULL; i++) {
		const struct json *claim = json_get(claims->payload, claim_order[i]);

		if (claim != NULL)
			json_set(payload, claim_order[i], json_copy(claim));
	}
	json_write(payload, out);
}
