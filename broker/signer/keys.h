/*
 * The signer's keys and the name of the log, in state/signer/keys. Made at the first start; nobody
 * else ever has them.
 *
 *   writ-signer-keys 1 LF  origin <origin> LF  token <base64url seed> LF  log <base64url seed> LF
 *
 * The origin is "writ.local/" workspace name "/" first 16 hex of the log key's fingerprint. It is
 * kept here, so that moving the workspace does not rename its log.
 */
#ifndef BROKER_SIGNER_KEYS_H
#define BROKER_SIGNER_KEYS_H

#include "base/sign.h"
#include "broker/audit/note.h"

struct signer_keys {
	struct sign_key *token;
	struct sign_key *log;
	char origin[NOTE_NAME_MAX + 1];
};

/* dir_fd: state/signer, private to us. name: of the workspace; bytes that do not fit an origin
 * become "-". Fails with ERR_DENIED when the file is not ours alone (owner, mode, link). */
MUST_CHECK int signer_keys_load(int dir_fd, const char *name, struct signer_keys *ret_keys,
				struct err *err);
void signer_keys_clear(struct signer_keys *keys);

#endif
