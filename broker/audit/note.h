/*
 * C2SP signed notes and checkpoints (signed-note v1.0.0, tlog-checkpoint v1.0.0). Pure.
 *
 *   note    = text LF 1*line            text ends in LF; the split is at the last empty line
 *   line    = U+2014 SP name SP base64(key id, signature) LF
 *   vkey    = name "+" 8 hex of the key id "+" base64(type, public key)
 *   checkpoint text = origin LF size LF base64(root) LF
 *
 * note_verify() knows type 01 (Ed25519 over the text); lines of unknown keys are ignored, as the
 * specification asks, so that witnesses (cosignature.h) and later key types can add theirs.
 */
#ifndef BROKER_AUDIT_NOTE_H
#define BROKER_AUDIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"

#define NOTE_BYTES_MAX 65536u /* ML-DSA lines take 3.3 KB each */
#define NOTE_LINES_MAX 100u
#define NOTE_NAME_MAX 255u /* ours; the specification has no bound */
#define NOTE_KEYID_LEN 4
#define NOTE_DASH "\xE2\x80\x94 " /* U+2014 and a blank: begins every signature line */

enum note_key_type { NOTE_ED25519 = 0x01, NOTE_COSIGNATURE = 0x04 };

struct vkey {
	enum note_key_type type;
	char name[NOTE_NAME_MAX + 1];
	uint8_t keyid[NOTE_KEYID_LEN];
	uint8_t public_key[ED25519_PUBLIC_LEN];
};

/* Fails unless the name is good, the type 01 (a log's), and the key id fits name and key. */
MUST_CHECK int vkey_parse(const char *text, size_t len, struct vkey *ret_key, struct err *err);
/* The same for type 04: the key of a witness. */
MUST_CHECK int vkey_parse_cosigner(const char *text, size_t len, struct vkey *ret_key,
				   struct err *err);
MUST_CHECK int vkey_init(struct vkey *key, const char *name,
			 const uint8_t public_key[ED25519_PUBLIC_LEN], struct err *err);
MUST_CHECK int vkey_init_cosigner(struct vkey *key, const char *name,
				  const uint8_t public_key[ED25519_PUBLIC_LEN], struct err *err);
void vkey_write(const struct vkey *key, struct buf *out);
/* SHA-256 of the public key, 64 hex: what people compare by eye. */
void vkey_fingerprint(const struct vkey *key, char out[SHA256_HEX_LEN + 1]);

struct note_line {
	const char *name; /* in the note's bytes */
	size_t name_len;
	uint8_t keyid[NOTE_KEYID_LEN];
	uint8_t signature[ED25519_SIGNATURE_LEN]; /* valid if one of the next two */
	bool is_ed25519;			  /* of the right length for type 01 */
	bool is_cosignature;			  /* of the right length for type 04 */
	uint64_t time;				  /* of a cosignature: seconds since 1970 */
	bool verified;				  /* set by note_verify() */
};

struct note { /* points into the bytes it was parsed from */
	const char *text;
	size_t text_len;
	size_t line_count;
	struct note_line lines[NOTE_LINES_MAX];
};

/* The form alone; signatures are unchecked afterwards. */
MUST_CHECK int note_parse(const char *bytes, size_t len, struct note *ret_note, struct err *err);
/* ERR_INVALID: a line of a known key does not verify, or a key is given twice. ERR_NOT_FOUND: no
 * line is of a known key. Otherwise at least one line is verified. */
MUST_CHECK int note_verify(struct note *note, const struct vkey *keys, size_t count,
			   struct err *err);
bool note_line_is_of(const struct note_line *line, const struct vkey *key);
void note_line_write(const struct vkey *key, const uint8_t signature[ED25519_SIGNATURE_LEN],
		     struct buf *out);

struct checkpoint {
	char origin[NOTE_NAME_MAX + 1];
	uint64_t size;
	uint8_t root[SHA256_LEN];
};

MUST_CHECK int checkpoint_parse(const char *text, size_t len, struct checkpoint *ret_checkpoint,
				struct err *err);
void checkpoint_write(const struct checkpoint *checkpoint, struct buf *out);

#endif
