/*
 * What the broker goes by, read from state/ at start and on reload: the bundle that
 * state/config/policy/active names, the user map, the semantic models, what the
 * log is to be like. Immutable once loaded.
 */
#ifndef BROKER_CONFIG_H
#define BROKER_CONFIG_H

#include "base/err.h"
#include "base/json.h"
#include "broker/user_map.h"
#include "policy/policy.h"

struct config {
	struct bundle *bundle;
	/* Decided beside the other, and obeyed by nobody; NULL when state/config/policy/candidate
	 * names none, or none that can be read. */
	struct bundle *candidate;
	struct user_map *users;
	struct json *setting; /* {"environment": name or null} */
	struct json *audit;   /* audit.json; an empty object without it */
	struct json *models;  /* source -> semantic model; an empty object without model.json */
};

MUST_CHECK int config_load(int config_fd, struct config **ret_config, struct err *err);
void config_free(struct config *config); /* NULL is fine */
void config_freep(struct config **config);

#endif
