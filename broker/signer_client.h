/*
 * The broker's half of the signer's channel (docs/protocol.md, "signer").
 *
 *   attach -> keys -> on_keys (the owner opens the log, or checks that the keys are the old ones)
 *          -> signer_client_resume() -> up
 *
 * While there is no signer, requests wait for a new one for SIGNER_WAIT_MS, those of the log for
 * SIGNER_AWAY_MS, then fail with ERR_UNAVAILABLE. What was on the wire when it died waits as well.
 * One that leaves a request unanswered for SIGNER_CALL_MS is as good as dead: it loses its channel,
 * and with it, when it goes on, its reason to run.
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
#include "writ/limits.h"

#define SIGNER_WAIT_MS 2000
/* A signer that hangs is ended within WRIT_HANG_AFTER_MS_MAX and started again: until then the log
 * waits, and takes no new calls; then it stops for good. */
#define SIGNER_AWAY_MS (WRIT_HANG_AFTER_MS_MAX + 60000)
#define SIGNER_CALL_MS 5000   /* a signature takes microseconds */
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
/* It was there, and has been away for longer than requests wait: ret_why says so. */
bool signer_client_away(const struct signer_client *client, struct err *ret_why);
/* The service ends: from now on nothing waits longer than SIGNER_WAIT_MS for another signer. */
void signer_client_hurry(struct signer_client *client);
/* Asks it for a sign of life (broker/probe.h); takes fd. */
void signer_client_probe(struct signer_client *client, int fd);
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
