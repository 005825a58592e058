/*
 * The shape of what a statement reads: its tables' keys and the columns it uses, with their types.
 * Two statements' shapes are equal exactly when nothing that they depend on changed in the schema;
 * rows do not matter.
 */
#ifndef BROKER_CONNECTORS_SQLITE_SHAPE_H
#define BROKER_CONNECTORS_SQLITE_SHAPE_H

#include "broker/connectors/sqlite_reach.h"

#define SHAPE_LEN 64 /* hex digits of SHA-256 */

void shape_write(const struct reach *facts, char ret_shape[SHAPE_LEN + 1]);

#endif
