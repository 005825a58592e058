/*
 * writ.yaml and the short-lived compile step of `writ`: what people write in a workspace becomes
 * the files in state/ that the programs obey (docs/protocol.md, "Files in state/").
 */
#ifndef POLICY_WORKSPACE_H
#define POLICY_WORKSPACE_H

#include "base/buf.h"
#include "base/json.h"
#include "base/problems.h"

/* writ.yaml, read. */
struct workspace {
	struct yaml *root;    /* owned; NULL when writ.yaml was no YAML */
	struct json *users;   /* users.json */
	struct json *service; /* service.json */
	struct json *audit;   /* audit.json */
	const char **sources; /* owned array of names that root owns, ascending */
	size_t source_count;
	struct json *setting;	   /* setting.json */
	const char **environments; /* owned array, likewise */
	size_t environment_count;
};

enum workspace_flags {
	WORKSPACE_NO_DATA = 1, /* the files of sources need not be there (policy check) */
};

/*
 * Reads and checks writ.yaml. path: absolute, without links, that of workspace_fd. Mistakes become
 * problems; negative only for what the operating system refused or a workspace that others could
 * change.
 */
MUST_CHECK int workspace_read(int workspace_fd, const char *path, int flags,
			      struct workspace *ret_workspace, struct problems *problems,
			      struct err *err);
void workspace_clear(struct workspace *workspace);

/* The agents that writ.yaml names exist in the bundle, in their role. */
struct bundle;
void workspace_check_agents(const struct workspace *workspace, const struct bundle *bundle,
			    struct problems *problems);

/* model_compile() of agents/query/metrics/model.h: metrics/ into one model per source. */
typedef int workspace_models_fn(int workspace_fd, const char *const *sources, size_t source_count,
				struct json **ret_models, struct buf *mistakes, struct err *err);

/* catalogs_read() of cli/catalog.h: what the sources hold, asked from their connectors. */
typedef void workspace_catalogs_fn(const struct json *service, struct json **ret_catalogs,
				   struct json **ret_notes);

/*
 * The whole step: reads writ.yaml, scopes/, (by models, which may be NULL) metrics/ and (by
 * catalogs, which may be NULL) the tables of the sources, then writes
 * state/config/policy/<sha256>.json, users.json, setting.json, audit.json, service.json, model.json
 * and, last, state/config/policy/active. Each file is replaced in one step, and left alone when its
 * bytes are the same. With any error among the problems nothing is written: what was in force
 * stays. Returns 0 then too.
 */
MUST_CHECK int workspace_compile(int workspace_fd, const char *path, workspace_models_fn *models,
				 workspace_catalogs_fn *catalogs, struct problems *problems,
				 struct err *err);
/*
 * The same on the owner's word: only if the files still make the bundle of this digest (ERR_INVALID
 * otherwise, and nothing is written). It ends what `writ policy rollback` holds; the step above
 * leaves state/config/policy/active alone while a bundle is held. digest NULL is the step above.
 */
MUST_CHECK int workspace_apply(int workspace_fd, const char *path, const char *digest,
			       workspace_models_fn *models, workspace_catalogs_fn *catalogs,
			       struct problems *problems, struct err *err);

#endif
