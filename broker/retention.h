/* Dropping old segments of the audit log (keep_s of state/config/audit.json): at the start, then
 * each hour; one segment after the other, each with its record before it goes. */
#ifndef BROKER_RETENTION_H
#define BROKER_RETENTION_H

#include "broker/broker.h"

void retention_start(struct broker *broker);
void retention_stop(struct broker *broker);

#endif
