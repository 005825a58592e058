/*
 * An order stands in the base form where a clause begins, behind words of politeness at most. Verbs
 * that are nouns as well ("change in net sales") count as orders unless what follows shows the
 * noun.
 */
#include "agents/query/intent.h"

#include <string.h>

/* Plain orders; the second list are words that are also nouns of measuring. */
static const char *const orders[] = {
	"delete",    "remove",	  "insert",	"truncate", "alter",   "create",  "erase",
	"purge",     "wipe",	  "modify",	"edit",	    "add",     "cancel",  "rename",
	"replace",   "overwrite", "merge",	"assign",   "close",   "reopen",  "restore",
	"refund",    "archive",	  "clear",	"destroy",  "undo",    "void",	  "grant",
	"revoke",    "approve",	  "reject",	"write",    "save",    "store",	  "pay",
	"send",	     "transfer",  "deactivate", "activate", "disable", "enable",  "adjust",
	"correct",   "reassign",  "resolve",	"unlink",   "upsert",  "ban",	  "reset",
	"update",    "attach",	  "pragma",	"vacuum",   "exec",    "execute", "anonymize",
	"anonymise", "make",	  "put",	"turn",	    "redact",  "fix",	  "mark",
	NULL,
};
static const char *const also_nouns[] = {
	"change", "increase", "decrease", "drop", "set", "reduce", "raise", "move", "swap", NULL,
};

static bool is_polite(const struct word *word)
{
	static const char *const list[] = {
		"please", "can",   "could", "would",   "will",	      "you",	"i",
		"we",	  "want",  "need",  "like",    "to",	      "let",	"lets",
		"us",	  "go",	   "ahead", "and",     "now",	      "then",	"just",
		"kindly", "help",  "me",    "should",  "must",	      "also",	"hey",
		"hi",	  "hello", "ok",    "okay",    "try",	      "first",	"next",
		"may",	  "shall", "have",  "quickly", "immediately", "simply", NULL,
	};

	return word_in(word, list);
}

static bool begins_clause(const struct word *word)
{
	static const char *const joints[] = {"and", "then", "afterwards", "also", NULL};

	return (word->mark != 0 && strchr(";.?!:,", word->mark) != NULL) || word_in(word, joints);
}

static bool shows_noun(const struct word *behind)
{
	static const char *const list[] = {"in",  "of",	 "from", "between", "since",  "over",
					   "by",  "per", "last", "this",    "versus", "vs",
					   "for", "up",	 "rate", "rates",   NULL};

	return word_in(behind, list);
}

/* "create a report", "write a summary": a way of asking to be shown something. */
static bool asks_for_report(const struct sentence *sentence, size_t at)
{
	static const char *const list[] = {"report",	 "table",    "chart", "list",
					   "summary",	 "overview", "graph", "breakdown",
					   "comparison", NULL};
	static const char *const verbs[] = {"create", "write", "make", NULL};

	if (!word_in(&sentence->items[at], verbs))
		return false;
	for (size_t i = at + 1; i < sentence->count && i <= at + 3; i++)
		if (word_in(&sentence->items[i], list))
			return i + 1 < sentence->count &&
			       (strcmp(sentence->items[i + 1].text, "of") == 0 ||
				strcmp(sentence->items[i + 1].text, "for") == 0);
	return false;
}

static const struct item *item_of_word(const struct items *items, size_t at)
{
	for (size_t i = 0; i < items->count; i++)
		if (at >= items->list[i].first && at < items->list[i].first + items->list[i].count)
			return &items->list[i];
	return NULL;
}

static bool is_determiner(const struct word *word)
{
	static const char *const list[] = {"the",  "all", "every", "these", "those", "this",
					   "that", "my",  "our",   "a",	    "any",   NULL};

	return word_in(word, list);
}

static bool is_order(const struct sentence *sentence, const struct items *items, size_t at)
{
	const struct word *word = &sentence->items[at];
	const struct word *behind = at + 1 < sentence->count ? &sentence->items[at + 1] : NULL;
	const struct item *item = item_of_word(items, at);
	bool order = word_in(word, orders);

	if (word->quoted || (!order && !word_in(word, also_nouns)))
		return false;
	if (item != NULL && item->kind == ITEM_MODEL &&
	    (item->count > 1 || behind == NULL || !is_determiner(behind)))
		return false;
	if (asks_for_report(sentence, at))
		return false;
	if (order)
		return !(strcmp(word->text, "add") == 0 && behind != NULL &&
			 strcmp(behind->text, "up") == 0);
	return behind != NULL && !shows_noun(behind);
}

bool intent_changes_data(const struct sentence *sentence, const struct items *items)
{
	bool begin = true;

	for (size_t at = 0; at < sentence->count; at++) {
		const struct word *word = &sentence->items[at];

		if (begins_clause(word))
			begin = true;
		if (begin && is_order(sentence, items, at))
			return true;
		if (!is_polite(word))
			begin = false;
	}
	return false;
}

static bool word_at_is(const struct sentence *sentence, size_t word, const char *const *list)
{
	return word < sentence->count && word_in(&sentence->items[word], list);
}

/* "show me the orders", "can I see", "I want": said of the asking, not of the data. */
static bool only_polite(const struct sentence *sentence, size_t word)
{
	static const char *const to_me[] = {"show", "give", "tell", "let",     "get",
					    "find", "list", "help", "display", NULL};
	static const char *const may_i[] = {"can", "could", "may", "should", "shall", NULL};
	static const char *const i_wish[] = {"want", "need",  "would", "like",	 "see", "know",
					     "can",  "could", "look",  "should", NULL};

	if (strcmp(sentence->items[word].text, "me") == 0)
		return word > 0 && word_at_is(sentence, word - 1, to_me);
	return (word > 0 && word_at_is(sentence, word - 1, may_i)) ||
	       word_at_is(sentence, word + 1, i_wish);
}

size_t intent_unread_word(const struct sentence *sentence, const struct items *items)
{
	static const char *const own[] = {"my", NULL};
	static const char *const asker[] = {"i", "me", NULL};
	static const char *const places[] = {"where", "when", NULL};

	for (size_t i = 0; i < items->count; i++) {
		size_t word = items->list[i].first;

		if (items->list[i].kind != ITEM_FILLER)
			continue;
		if (word_at_is(sentence, word, own) ||
		    (word == 0 && word_at_is(sentence, word, places)) ||
		    (word_at_is(sentence, word, asker) && !only_polite(sentence, word)))
			return i;
	}
	return items->count;
}
