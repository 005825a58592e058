/*
 * What a source of data holds, asked from its connector before any service runs: so that a scope
 * file can be checked against the tables there are, while this program opens no database itself.
 */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include "base/err.h"
#include "base/json.h"

/*
 * service: service.json (docs/protocol.md). ret_catalogs: {"sales": {"tables": [...]}}, the answers
 * of the connectors to "catalog". A source that cannot be read is left out and named in ret_notes,
 * a list of texts. The caller owns both. Starts one connector after the other and ends it.
 */
void catalogs_read(const struct json *service, struct json **ret_catalogs, struct json **ret_notes);

#endif
