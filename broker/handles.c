/*
 * A table of slots with a generation each: a handle is generation and slot, so that a handle of a
 * dropped object never finds the next tenant of its slot. Cannot fail but by running out of memory.
 */
#include "broker/handles.h"

#include "base/mem.h"

void handles_clear(struct handles *handles)
{
	mem_free(handles->slots);
	*handles = (struct handles){0};
}

static struct handle_slot *slot_of(const struct handles *handles, uint64_t handle)
{
	uint32_t index = (uint32_t)handle;
	struct handle_slot *slot;

	if (index >= handles->count)
		return NULL;
	slot = &handles->slots[index];
	return slot->object != NULL && slot->generation == (uint32_t)(handle >> 32) ? slot : NULL;
}

uint64_t handle_add(struct handles *handles, void *object)
{
	uint32_t index;
	struct handle_slot *slot;

	if (handles->free_first != 0) {
		index = handles->free_first - 1;
		slot = &handles->slots[index];
		handles->free_first = slot->next_free;
	} else {
		if (handles->count == handles->cap) {
			handles->cap = handles->cap == 0 ? 16 : handles->cap * 2;
			handles->slots =
				mem_grow(handles->slots, handles->cap * sizeof(*handles->slots));
		}
		index = handles->count++;
		slot = &handles->slots[index];
		slot->generation = 0;
	}
	slot->object = object;
	slot->next_free = 0;
	slot->generation++; /* from 1, so that no handle is 0 */
	handles->live++;
	return (uint64_t)slot->generation << 32 | index;
}

void *handle_find(const struct handles *handles, uint64_t handle)
{
	const struct handle_slot *slot = slot_of(handles, handle);

	return slot == NULL ? NULL : slot->object;
}

void handle_drop(struct handles *handles, uint64_t handle)
{
	struct handle_slot *slot = slot_of(handles, handle);

	if (slot == NULL)
		return;
	slot->object = NULL;
	slot->next_free = handles->free_first;
	handles->free_first = (uint32_t)handle + 1;
	handles->live--;
}
