/*
 * audit.pub: the log's public key outside state/, where auditors find it. Written when it is
 * absent, and never changed: a workspace whose audit.pub names another key has had its state/
 * replaced, and starts no service until a person has looked.
 */
#ifndef BROKER_SIGNER_PUBLISH_H
#define BROKER_SIGNER_PUBLISH_H

#include "broker/audit/note.h"

/* Lines that start with "#" are for people; the one other line is the vkey (C2SP signed-note).
 * ERR_INVALID when the file names another key. */
MUST_CHECK int signer_publish(int workspace_fd, const struct vkey *log_key, struct err *err);

#endif
