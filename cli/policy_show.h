/* A compiled policy in words, for people. */
#ifndef CLI_POLICY_SHOW_H
#define CLI_POLICY_SHOW_H

#include "base/buf.h"
#include "base/json.h"

/* bundle: what policy_compile() wrote, parsed. Every rule and agent with its file and line; then
 * the named lists of functions, whether used or not. */
void policy_show(const struct json *bundle, struct buf *out);

#endif
