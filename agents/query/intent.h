/* Does a question ask for data to be changed? Pure. */
#ifndef AGENTS_QUERY_INTENT_H
#define AGENTS_QUERY_INTENT_H

#include "agents/query/items.h"

/* True for an order ("delete ...", "can you please cancel ...", "...; drop table"), not for a word
 * inside a name nor for what was done ("deleted orders", "how many updates"). */
bool intent_changes_data(const struct sentence *sentence, const struct items *items);

/* A word that ties the question to whoever asks ("my open issues", "issues assigned to me"), or
 * that asks for a place or a time as such ("where", "when" in front): the item, or the count of
 * items when there is none. "show me" and "I want" tie nothing. */
size_t intent_unread_word(const struct sentence *sentence, const struct items *items);

#endif
