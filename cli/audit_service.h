/* What `writ audit` asks the running service for: for auditors who may not open the files, and for
 * what only the service may write. Each is authorised (the owner, and audit.auditors of writ.yaml)
 * and recorded before it is answered. */
#ifndef CLI_AUDIT_SERVICE_H
#define CLI_AUDIT_SERVICE_H

#include "broker/audit/log_walk.h"

/* All lines, through one session; event: "read" or "export", filter: in words, for the record. 0,
 * or an exit code after a message. */
int audit_service_walk(const char *workspace, const char *event, const char *filter,
		       log_on_line *on_line, void *data);

#endif
