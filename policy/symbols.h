/*
 * Names of a bundle as small numbers, so that deciding compares integers. 0 is no name.
 *
 * A name can be looked up as it is or "folded" (ASCII letters lowered): rules that take away match
 * names without regard to case, because databases do; rules that grant match them byte for byte.
 */
#ifndef POLICY_SYMBOLS_H
#define POLICY_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t symbol_t;
#define SYMBOL_NONE 0u

struct symbols {
	char **texts; /* owned, room for slot_count; texts[id], texts[0] unused */
	uint32_t *lens;
	uint32_t *slots; /* open addressing; 0 is free */
	size_t count;	 /* ids in use, with 0 */
	size_t slot_count;
};

void symbols_init(struct symbols *symbols);
void symbols_clear(struct symbols *symbols);
symbol_t symbols_add(struct symbols *symbols, const char *text);
symbol_t symbols_add_folded(struct symbols *symbols, const char *text);
/* SYMBOL_NONE when no rule and no agent of the bundle ever names it. text may be NULL. */
symbol_t symbols_find(const struct symbols *symbols, const char *text, size_t len);
symbol_t symbols_find_folded(const struct symbols *symbols, const char *text, size_t len);
const char *symbols_text(const struct symbols *symbols, symbol_t id);

#endif
