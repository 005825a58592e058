/* Taking over a new configuration while calls run. */
#ifndef BROKER_RELOAD_H
#define BROKER_RELOAD_H

#include "broker/broker.h"

/* Reads state/config/ anew; later, from the loop, it is in force or refused. The broker lives until
 * its loop has ended. */
void reload_start(struct broker *broker);
/* Notes that what people wrote did not come into force. */
void reload_refused(struct broker *broker, const struct err *why);

#endif
