/*
 * cJSON's memory from one fixed block: size classes of powers of two, freed blocks kept in a list
 * per class. When the last block is freed everything starts anew, so a server that frees each
 * request's trees cannot fragment it over months. One thread only. Full: cJSON gets NULL, which
 * makes a parse fail with ERR_LIMIT.
 */
#include <stdlib.h>

#include "base/json_node.h"

#define CLASS_MIN 5 /* 32 bytes, of which 16 are the header */
#define CLASSES 32

struct block {
	struct block *next; /* while free */
	size_t class_index; /* while used */
};

_Static_assert(sizeof(struct block) % 16 == 0, "what follows the header must stay aligned");

static struct {
	char *start, *at, *end;
	struct block *free[CLASSES];
	size_t used;
} pool;

static size_t class_of(size_t size)
{
	size_t index = CLASS_MIN;

	while (index < CLASSES && ((size_t)1 << index) < size)
		index++;
	return index;
}

static void *pool_alloc(size_t size)
{
	size_t index = size < SIZE_MAX / 2 ? class_of(size + sizeof(struct block)) : CLASSES;
	struct block *block;

	if (index >= CLASSES)
		return NULL;
	block = pool.free[index];
	if (block != NULL) {
		pool.free[index] = block->next;
	} else {
		if (((size_t)1 << index) > (size_t)(pool.end - pool.at))
			return NULL;
		block = (struct block *)(void *)pool.at;
		pool.at += (size_t)1 << index;
	}
	block->class_index = index;
	pool.used++;
	return block + 1;
}

static void pool_reset(void)
{
	pool.at = pool.start;
	for (size_t i = 0; i < CLASSES; i++)
		pool.free[i] = NULL;
}

static void pool_free(void *memory)
{
	struct block *block = memory;

	if (memory == NULL)
		return;
	if ((char *)memory < pool.start || (char *)memory >= pool.end) {
		free(memory); /* made before the pool was in use */
		return;
	}
	block--;
	block->next = pool.free[block->class_index];
	pool.free[block->class_index] = block;
	if (--pool.used == 0)
		pool_reset();
}

void json_use_pool(size_t bytes)
{
	cJSON_Hooks hooks = {pool_alloc, pool_free};

	if (pool.start != NULL)
		return; /* trees may live in it */
	pool.start = mem_alloc(bytes);
	pool.end = pool.start + bytes;
	pool_reset();
	cJSON_InitHooks(&hooks);
}
