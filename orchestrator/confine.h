/* What is left of the orchestrator's rights before it looks at the lane. */
#ifndef ORCHESTRATOR_CONFINE_H
#define ORCHESTRATOR_CONFINE_H

#include "base/sandbox.h"

/* The current folder (state/tasks) to write, the time zones to read, and the system calls of a loop
 * on descriptors that others hand over. */
MUST_CHECK int orchestrator_confine(bool reduced_ok, enum sandbox_level *ret_level,
				    struct err *err);

#endif
