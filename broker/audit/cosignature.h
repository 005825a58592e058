/*
 * Cosignatures of witnesses (C2SP tlog-cosignature v1.0.1, type 04). Pure.
 *
 * A witness signs not the note alone but, before it, when it saw it:
 *   cosignature/v1 LF "time" SP seconds LF text of the note
 * Its line holds key id (4 bytes), time (8, big-endian) and the signature (64).
 */
#ifndef BROKER_AUDIT_COSIGNATURE_H
#define BROKER_AUDIT_COSIGNATURE_H

#include "broker/audit/note.h"

/* What is signed. */
void cosignature_message(uint64_t time, const char *text, size_t len, struct buf *out);
void cosignature_line_write(const struct vkey *witness, uint64_t time,
			    const uint8_t signature[ED25519_SIGNATURE_LEN], struct buf *out);
/* 1: the witness cosigned the note, at *ret_time (the latest, if several lines verify). 0: it has
 * no line. -1: a line bears its name and key id and does not verify. */
MUST_CHECK int cosignature_verify(const struct note *note, const struct vkey *witness,
				  uint64_t *ret_time, struct err *err);

#endif
