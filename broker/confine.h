/* What is left of the broker's rights once it runs; the order is that of base/sandbox.h. */
#ifndef BROKER_CONFINE_H
#define BROKER_CONFINE_H

#include "base/sandbox.h"

/* Landlock: state/config to read, state/broker and state/audit to write, all three there already;
 * neither the signer's keys nor anything else. One thread still. */
MUST_CHECK int broker_confine_files(const char *state_path, bool reduced_ok,
				    enum sandbox_level *ret_level, struct err *err);

/* seccomp on all threads. */
MUST_CHECK int broker_confine_calls(struct err *err);

#endif
