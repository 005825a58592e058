/* What is left of the signer's rights before it reads the first byte of its channel. */
#ifndef BROKER_SIGNER_CONFINE_H
#define BROKER_SIGNER_CONFINE_H

#include "base/sandbox.h"

#define SIGNER_CHANNEL_FD 3
#define SIGNER_CHECKPOINT_FD 4 /* with --checkpoint */
#define SIGNER_EPOCH_FD 5      /* likewise */

/* Closes all but 0 to 3 and leaves no file and three system calls: whatever memory and files it
 * needs, it must have. */
MUST_CHECK int signer_confine(bool reduced_ok, struct err *err);

#endif
