/*
 * The words of a question once they are cut (sentence_cut.c): their stems, how they meet a phrase,
 * and which of them carry no meaning. Nothing here can fail.
 */
#include "agents/query/sentence.h"

#include <string.h>

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len > end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

static const char *const irregular[][2] = {
	{"people", "person"}, {"persons", "person"},	 {"men", "man"},
	{"women", "woman"},   {"children", "child"},	 {"feet", "foot"},
	{"indices", "index"}, {"criteria", "criterion"},
};

/* Plural endings, the longest first; what is dropped and what is put in its place. */
static const struct {
	const char *end;
	size_t drop;
	const char *add;
} plurals[] = {
	{"ouses", 1, ""}, {"auses", 1, ""}, {"sses", 2, ""}, {"uses", 2, ""}, {"zzes", 3, ""},
	{"ches", 2, ""},  {"shes", 2, ""},  {"xes", 2, ""},  {"ies", 3, "y"}, {"ss", 0, ""},
	{"us", 0, ""},	  {"is", 0, ""},    {"s", 1, ""},    {"che", 1, ""},  {"she", 1, ""},
	{"xe", 1, ""},	  {"ie", 2, "y"},
};

char *word_stem(const char *folded)
{
	size_t len = strlen(folded);

	for (size_t i = 0; i < ARRAY_LEN(irregular); i++)
		if (strcmp(folded, irregular[i][0]) == 0)
			return mem_str(irregular[i][1]);
	if (ends_with(folded, len, "ional") && len > 7) /* regional: region */
		return mem_strn(folded, len - 2);
	if (ends_with(folded, len, "oes") && len > 5)
		return mem_strn(folded, len - 2);
	for (size_t i = 0; len > 2 && i < ARRAY_LEN(plurals); i++) {
		size_t rest = len - plurals[i].drop;

		if (ends_with(folded, len, plurals[i].end) && rest >= 2)
			return mem_format("%.*s%s", (int)rest, folded, plurals[i].add);
	}
	return mem_str(folded);
}

void sentence_clear(struct sentence *sentence)
{
	for (size_t i = 0; i < sentence->count; i++) {
		mem_free(sentence->items[i].text);
		mem_free(sentence->items[i].stem);
	}
	mem_free(sentence->items);
	sentence->items = NULL;
	sentence->count = 0;
}

bool word_is(const struct word *word, const char *text)
{
	CLEANUP(mem_freep) char *stem = NULL;

	if (strcmp(word->text, text) == 0)
		return true;
	stem = word_stem(text);
	return strcmp(word->stem, stem) == 0;
}

bool word_in(const struct word *word, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(word->text, *list) == 0)
			return true;
	return false;
}

bool word_same(const struct word *a, const struct word *b)
{
	return strcmp(a->text, b->text) == 0 || strcmp(a->stem, b->stem) == 0;
}

size_t sentence_match(const struct sentence *sentence, size_t at, const struct sentence *phrase)
{
	if (phrase->count == 0 || at + phrase->count > sentence->count)
		return 0;
	for (size_t i = 0; i < phrase->count; i++)
		if (!word_same(&sentence->items[at + i], &phrase->items[i]))
			return 0;
	return phrase->count;
}

size_t sentence_spell(const struct sentence *sentence, size_t at, const char *phrase)
{
	size_t count = 0;

	while (*phrase != '\0') {
		size_t len = strcspn(phrase, " ");
		const struct word *word = NULL;

		if (at + count >= sentence->count)
			return 0;
		word = &sentence->items[at + count];
		if (strlen(word->text) != len || memcmp(word->text, phrase, len) != 0)
			return 0;
		phrase += len + (phrase[len] == ' ' ? 1 : 0);
		count++;
	}
	return count;
}

/* Closed on purpose: a word that is not here and not understood stops the plan. */
static const char *const fillers[] = {
	"a",	     "an",	  "the",       "of",	    "in",	"on",	     "at",
	"to",	     "for",	  "from",      "with",	    "by",	"and",	     "our",
	"we",	     "us",	  "i",	       "me",	    "my",	"you",	     "your",
	"they",	     "their",	  "them",      "it",	    "its",	"there",     "is",
	"are",	     "was",	  "were",      "be",	    "been",	"being",     "do",
	"does",	     "did",	  "done",      "has",	    "have",	"had",	     "having",
	"will",	     "would",	  "can",       "could",	    "shall",	"should",    "please",
	"what",	     "which",	  "who",       "whose",	    "whom",	"how",	     "when",
	"where",     "that",	  "this",      "these",	    "those",	"as",	     "so",
	"then",	     "also",	  "just",      "show",	    "give",	"tell",	     "list",
	"display",   "find",	  "get",       "got",	    "see",	"know",	     "want",
	"need",	     "like",	  "let",       "look",	    "report",	"calculate", "compute",
	"provide",   "hi",	  "hello",     "hey",	    "thanks",	"thank",     "ok",
	"okay",	     "now",	  "here",      "about",	    "all",	"data",	     "figures",
	"much",	     "many",	  "any",       "some",	    "happened", "exist",     "exists",
	"existed",   "made",	  "recorded",  "records",   "record",	"come",	     "came",
	"left",	     "remain",	  "remaining", "currently", "exactly",	"together",  "each",
	"every",     "within",	  "during",    "via",	    "go",	"went",	     "belong",
	"belongs",   "belonging", "named",     "called",    "placed",	"make",	     "makes",
	"still",     "work",	  "works",     "working",   "already",	"perform",   "performs",
	"performed", "place",	  "between",   "among",	    "out",	"s",	     "break",
	"down",	     "pls",	  "plz",       "thx",	    "kindly",	"only",	     "ones",
	"gets",	     "getting",	  "take",      "takes",	    "figure",	"own",	     "owns",
	NULL,
};

bool word_is_filler(const struct word *word)
{
	return !word->quoted && word_in(word, fillers);
}

char *sentence_quote(const char *text, const struct sentence *sentence, size_t first, size_t count)
{
	size_t from = sentence->items[first].at;
	const struct word *last = &sentence->items[first + count - 1];

	return mem_strn(text + from, last->at + last->len - from);
}
