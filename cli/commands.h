/* The rows of the command table; each is defined in cmd_<name>.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct command command_ask;
extern const struct command command_audit;
extern const struct command command_call;
extern const struct command command_eval;
extern const struct command command_mcp;
extern const struct command command_metric;
extern const struct command command_policy;
extern const struct command command_query;
extern const struct command command_serve;
extern const struct command command_status;
extern const struct command command_task;
extern const struct command command_token;
extern const struct command command_approval;

const struct command *command_find(const char *name); /* NULL when there is none */

#endif
