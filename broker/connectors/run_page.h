/* What the frame and one worker share beside their channel: one page of memory. */
#ifndef BROKER_CONNECTORS_RUN_PAGE_H
#define BROKER_CONNECTORS_RUN_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

struct run_page {
	_Atomic uint64_t cancel; /* written by the frame: the run that is to stop */
	_Atomic uint64_t begun;	 /* written by the worker: the run it read last */
};

#endif
