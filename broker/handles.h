/*
 * Numbers that stand for objects across an asynchronous gap: what a callback gets back is looked up
 * again, and what went away meanwhile is simply not found.
 */
#ifndef BROKER_HANDLES_H
#define BROKER_HANDLES_H

#include <stddef.h>
#include <stdint.h>

struct handle_slot {
	void *object; /* NULL: free */
	uint32_t generation;
	uint32_t next_free; /* index + 1; 0 ends the list */
};

struct handles {
	struct handle_slot *slots; /* owned */
	uint32_t count;
	uint32_t cap;
	uint32_t free_first; /* index + 1 */
	size_t live;
};

void handles_clear(struct handles *handles);		    /* the objects stay their owners' */
uint64_t handle_add(struct handles *handles, void *object); /* never 0, never given twice */
void *handle_find(const struct handles *handles, uint64_t handle); /* NULL when gone */
void handle_drop(struct handles *handles, uint64_t handle);

#endif
