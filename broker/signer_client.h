/*
 * The broker's half of the signer's channel (docs/protocol.md, "signer").
 *
 *   attach -> keys -> on_keys (the owner opens the log, or checks that the keys are the old ones)
 *          -> signer_client_resume() -> up
 *
 * While there is no signer, requests wait for a new one for SIGNER_WAIT_MS, then fail with
 * ERR_UNAVAILABLE; what was on the wire when it died fails at once.
 */
#ifndef BROKER_SIGNER_CLIENT_H
#define BROKER_SIGNER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/channel.h"
#include "base/err.h"
#include "base/json.h"
#include "broker/audit/audit.h"
#include "broker/token/token.h"

#define SIGNER_WAIT_MS 2000
#define SIGNER_CALL_MS                                                                             \
	5000 /* a signature takes microseconds; a stuck signer must not hold calls                 \
	      */
#define SIGN_LEAVES_MAX 4096u /* of one head.sign */

struct signer_client;

struct signer_public {
	struct token_key token;
	char *origin; /* owned */
	char *vkey;   /* owned */
	char *iss;    /* owned: "https://" and the origin (docs/tokens.md) */
	char *aud;    /* owned: iss and "/tools" */
	/* Of the signer that is there now: where it stands. */
	uint64_t last;		  /* size of the last head it signed */
	struct audit_epoch epoch; /* owned */
};

struct signer_owner {
	void *self;
	/* The signer told its keys, which equal the earlier ones if there were any. */
	void (*on_keys)(void *self, const struct signer_public *keys);
	/* It ended, said nonsense, or did not answer. */
	void (*on_down)(void *self, const struct err *why);
	/* It has other keys than the last one, or does not go on with this log. It is down now. */
	void (*on_disagreement)(void *self, const struct err *why);
	/* It sent a request, which it may not. */
	void (*on_request)(void *self, const char *method);
};

struct signer_client *signer_client_new(uv_loop_t *loop, const struct signer_owner *owner);
void signer_client_free(struct signer_client *client); /* NULL is fine; pending requests fail */
void signer_client_attach(struct signer_client *client, int fd); /* takes fd */

bool signer_client_up(const struct signer_client *client);
const struct signer_public *signer_client_keys(const struct signer_client *client); /* NULL: none */

typedef void signer_done(void *data, const struct json *result, const struct err *err);

/* Sends head.resume; then the signer is up, or on_down says why not. */
void signer_client_resume(struct signer_client *client, struct audit *audit);
/* done once, always later. params are taken. */
void signer_client_call(struct signer_client *client, const char *method, struct json *params,
			signer_done *done, void *data);
/* Reads what keys and epoch.roll say; ret_epoch is cleared and filled anew. */
MUST_CHECK int signer_read_epoch(const struct json *json, struct audit_epoch *ret_epoch,
				 struct err *err);
/* How the audit log reaches it. */
struct audit_signer signer_client_for_audit(struct signer_client *client);

#endif
