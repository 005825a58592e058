/* Node hashes of a log for proof.h: out of its tiles, or, where one is missing, out of its lines.
 * Blocking. */
#ifndef BROKER_AUDIT_LOG_NODES_H
#define BROKER_AUDIT_LOG_NODES_H

#include "broker/audit/log_dir.h"
#include "broker/audit/proof.h"

struct log_nodes {
	const struct log_dir *dir;
	uint64_t size;		       /* of the tree */
	uint8_t (*leaves)[SHA256_LEN]; /* of all records, once they had to be read; owned */
};

struct node_reader log_node_reader(struct log_nodes *nodes);
void log_nodes_clear(struct log_nodes *nodes);

#endif
