/*
 * Collecting phrases. A metric that counts is also named by what it counts, so "how many orders"
 * finds "order count"; a field is also named with its dataset in front ("customer region").
 * Nothing can fail: a name that holds no word names nothing.
 */
#include "agents/query/vocabulary.h"

#include <string.h>
#include <strings.h>

static bool same_words(const struct sentence *a, const struct sentence *b)
{
	return a->count == b->count && sentence_match(a, 0, b) == b->count;
}

static bool same_reading(const struct reading *a, const struct reading *b)
{
	return a->kind == b->kind && a->deed == b->deed && a->metric == b->metric &&
	       a->field == b->field && a->dataset == b->dataset &&
	       (a->value == NULL || b->value == NULL || strcmp(a->value, b->value) == 0);
}

static bool knows(const struct vocabulary *vocabulary, const struct sentence *words,
		  const struct reading *reading)
{
	for (size_t i = 0; i < vocabulary->count; i++)
		if (same_reading(&vocabulary->phrases[i].reading, reading) &&
		    same_words(&vocabulary->phrases[i].words, words))
			return true;
	return false;
}

/* Takes words. */
static void add_words(struct vocabulary *vocabulary, struct sentence *words,
		      const struct reading *reading)
{
	struct phrase *phrase = NULL;

	if (words->count == 0 || knows(vocabulary, words, reading)) {
		sentence_clear(words);
		return;
	}
	vocabulary->phrases = mem_grow(vocabulary->phrases,
				       (vocabulary->count + 1) * sizeof(*vocabulary->phrases));
	phrase = &vocabulary->phrases[vocabulary->count++];
	phrase->words = *words;
	phrase->value = mem_str(reading->value);
	phrase->reading = *reading;
	phrase->reading.value = phrase->value;
}

static void add(struct vocabulary *vocabulary, const char *text, const struct reading *reading)
{
	struct sentence words;
	struct err ignored;

	if (text == NULL || sentence_read(text, &words, &ignored) < 0)
		return;
	add_words(vocabulary, &words, reading);
}

static void add_pair(struct vocabulary *vocabulary, const char *first, const char *second,
		     const struct reading *reading)
{
	CLEANUP(mem_freep) char *both = mem_format("%s %s", first, second);

	add(vocabulary, both, reading);
}

static bool starts_with_word(const char *text, const char *start)
{
	size_t len = strlen(start);

	while (*text == ' ' || *text == '(')
		text++;
	return strncasecmp(text, start, len) == 0 && (text[len] == '(' || text[len] == ' ');
}

bool metric_is_count(const struct model_metric *metric)
{
	return starts_with_word(metric->definition, "COUNT");
}

bool metric_is_average(const struct model_metric *metric)
{
	return starts_with_word(metric->definition, "AVG") ||
	       starts_with_word(metric->label, "average") ||
	       starts_with_word(metric->label, "mean");
}

/* "number of orders", "order count" -> "orders". False when nothing or everything is dropped. */
static bool strip_count_words(struct sentence *words)
{
	static const char *const counting[] = {"number", "count", "counts", "total",	"of", "the",
					       "no",	 "num",	  "cnt",    "quantity", NULL};
	size_t kept = 0;
	size_t before = words->count;

	for (size_t i = 0; i < before; i++) {
		struct word *word = &words->items[i];

		if (word_in(word, counting)) {
			mem_free(word->text);
			mem_free(word->stem);
		} else {
			words->items[kept++] = *word;
		}
	}
	words->count = kept;
	return kept > 0 && kept < before;
}

static void add_counted(struct vocabulary *vocabulary, const char *text,
			const struct model_metric *metric)
{
	const struct reading reading = {.kind = READ_COUNT, .metric = metric};
	struct sentence words;
	struct err ignored;

	if (sentence_read(text, &words, &ignored) < 0)
		return;
	if (strip_count_words(&words))
		add_words(vocabulary, &words, &reading);
	else
		sentence_clear(&words);
}

/* COUNT(*) and COUNT of the primary key count the dataset's own rows. */
static bool counts_rows(const struct model_metric *metric)
{
	const struct words *key = &metric->dataset->primary_key;

	if (!metric_is_count(metric) || metric->filter != NULL)
		return false;
	if (strchr(metric->definition, '*') != NULL)
		return true;
	return key->count == 1 && strstr(metric->definition, key->items[0]) != NULL;
}

static void add_dataset_counts(struct vocabulary *vocabulary, const struct model_metric *metric)
{
	const struct reading reading = {.kind = READ_COUNT, .metric = metric};
	const struct model_dataset *dataset = metric->dataset;

	if (dataset == NULL || !counts_rows(metric))
		return;
	add(vocabulary, dataset->label, &reading);
	add(vocabulary, dataset->name, &reading);
	for (size_t i = 0; i < dataset->synonyms.count; i++)
		add(vocabulary, dataset->synonyms.items[i], &reading);
}

/* Past and participle of verbs that do not take "ed". */
static const char *const verbs[][3] = {
	{"sell", "sold", "sold"},     {"bring", "brought", "brought"}, {"make", "made", "made"},
	{"take", "took", "taken"},    {"buy", "bought", "bought"},     {"pay", "paid", "paid"},
	{"spend", "spent", "spent"},  {"get", "got", "gotten"},	       {"give", "gave", "given"},
	{"lose", "lost", "lost"},     {"win", "won", "won"},	       {"send", "sent", "sent"},
	{"build", "built", "built"},  {"leave", "left", "left"},       {"find", "found", "found"},
	{"grow", "grew", "grown"},    {"write", "wrote", "written"},   {"lend", "lent", "lent"},
	{"drive", "drove", "driven"}, {"hold", "held", "held"},	       {"keep", "kept", "kept"},
};

/* "to bring in": also "brought in", "bringing in"; "brings" has the stem already. */
static void add_verb(struct vocabulary *vocabulary, const char *text, const struct reading *reading)
{
	size_t len = strcspn(text, " ");
	const char *rest = text + len;
	bool ends_in_e = len > 0 && text[len - 1] == 'e';
	CLEANUP(mem_freep) char *base = mem_strn(text, len);
	CLEANUP(mem_freep)
	char *going = mem_format("%.*sing%s", (int)(len - (ends_in_e ? 1 : 0)), text, rest);
	CLEANUP(mem_freep) char *past = mem_format("%s%s%s", base, ends_in_e ? "d" : "ed", rest);

	add(vocabulary, text, reading);
	add(vocabulary, going, reading);
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(verbs[i][0], base) != 0)
			continue;
		for (size_t form = 1; form < 3; form++) {
			CLEANUP(mem_freep) char *other = mem_format("%s%s", verbs[i][form], rest);

			add(vocabulary, other, reading);
		}
		return;
	}
	add(vocabulary, past, reading);
}

static void add_metric_name(struct vocabulary *vocabulary, const char *text,
			    const struct reading *reading)
{
	if (strncmp(text, "to ", 3) == 0)
		add_verb(vocabulary, text + 3, reading);
	else
		add(vocabulary, text, reading);
}

static void add_metric(struct vocabulary *vocabulary, const struct model_metric *metric)
{
	const struct reading reading = {.kind = READ_METRIC, .metric = metric};

	add(vocabulary, metric->name, &reading);
	add(vocabulary, metric->label, &reading);
	for (size_t i = 0; i < metric->synonyms.count; i++)
		add_metric_name(vocabulary, metric->synonyms.items[i], &reading);
	if (!metric_is_count(metric))
		return;
	add_counted(vocabulary, metric->name, metric);
	add_counted(vocabulary, metric->label, metric);
	for (size_t i = 0; i < metric->synonyms.count; i++)
		add_counted(vocabulary, metric->synonyms.items[i], metric);
	add_dataset_counts(vocabulary, metric);
}

static void add_values(struct vocabulary *vocabulary, const struct model_field *field)
{
	struct reading reading = {.kind = READ_VALUE, .field = field};

	for (size_t i = 0; i < field->value_count; i++) {
		reading.value = field->values[i].value;
		add(vocabulary, reading.value, &reading);
		for (size_t j = 0; j < field->values[i].synonyms.count; j++)
			add(vocabulary, field->values[i].synonyms.items[j], &reading);
	}
	reading.kind = READ_MISSING;
	reading.value = field->missing;
	if (field->missing != NULL && field->dimension)
		add(vocabulary, field->missing, &reading);
}

static void add_field_text(struct vocabulary *vocabulary, const struct model_field *field,
			   const char *text)
{
	const struct reading reading = {.kind = READ_FIELD, .field = field};
	const struct model_dataset *dataset = field->dataset;

	add(vocabulary, text, &reading);
	if (field->is_time)
		return; /* "employees hired" is two things */
	add_pair(vocabulary, dataset->label, text, &reading);
	add_pair(vocabulary, dataset->name, text, &reading);
	for (size_t i = 0; i < dataset->synonyms.count; i++)
		add_pair(vocabulary, dataset->synonyms.items[i], text, &reading);
}

/* "opened_on", "shipped date" -> "opened", "shipped": what happened then. */
static void add_happening(struct vocabulary *vocabulary, const struct model_field *field,
			  const char *text)
{
	const struct reading reading = {.kind = READ_FIELD, .field = field};
	struct sentence words;
	struct err ignored;
	size_t len = 0;

	if (sentence_read(text, &words, &ignored) < 0)
		return;
	len = words.count > 0 ? strlen(words.items[0].text) : 0;
	if (words.count <= 2 && len > 3 && strcmp(words.items[0].text + len - 2, "ed") == 0)
		add(vocabulary, words.items[0].text, &reading);
	sentence_clear(&words);
}

/* "assigned" -> "unassigned", where the model says what a missing value is called. */
static void add_undone(struct vocabulary *vocabulary, const struct model_field *field,
		       const char *text)
{
	const struct reading reading = {
		.kind = READ_MISSING, .field = field, .value = field->missing};
	CLEANUP(mem_freep) char *undone = mem_format("un%s", text);
	size_t len = strlen(text);

	if (field->missing != NULL && field->dimension && len > 3 && strchr(text, ' ') == NULL &&
	    strcmp(text + len - 2, "ed") == 0)
		add(vocabulary, undone, &reading);
}

static void add_field(struct vocabulary *vocabulary, const struct model_field *field)
{
	if (field->is_time && field->dimension) {
		add_happening(vocabulary, field, field->name);
		add_happening(vocabulary, field, field->label);
	}
	add_field_text(vocabulary, field, field->name);
	add_field_text(vocabulary, field, field->label);
	for (size_t i = 0; i < field->synonyms.count; i++)
		add_field_text(vocabulary, field, field->synonyms.items[i]);
	for (size_t i = 0; i < field->synonyms.count; i++)
		add_undone(vocabulary, field, field->synonyms.items[i]);
	if (field->dimension)
		add_values(vocabulary, field);
}

/* "orders" -> "ordered": that there is such a row. */
static void add_deed(struct vocabulary *vocabulary, const struct model_dataset *dataset,
		     const char *text)
{
	const struct reading reading = {.kind = READ_DATASET, .dataset = dataset, .deed = true};
	struct sentence words;
	struct err ignored;

	if (sentence_read(text, &words, &ignored) < 0)
		return;
	if (words.count == 1 && strlen(words.items[0].stem) > 2) {
		const char *stem = words.items[0].stem;
		bool ends_in_e = stem[strlen(stem) - 1] == 'e';
		CLEANUP(mem_freep) char *deed = mem_format("%s%s", stem, ends_in_e ? "d" : "ed");

		add(vocabulary, deed, &reading);
	}
	sentence_clear(&words);
}

static void add_dataset(struct vocabulary *vocabulary, const struct model_dataset *dataset)
{
	const struct reading reading = {.kind = READ_DATASET, .dataset = dataset};

	add_deed(vocabulary, dataset, dataset->name);
	for (size_t i = 0; i < dataset->synonyms.count; i++)
		add_deed(vocabulary, dataset, dataset->synonyms.items[i]);

	add(vocabulary, dataset->name, &reading);
	add(vocabulary, dataset->label, &reading);
	add(vocabulary, dataset->table, &reading);
	for (size_t i = 0; i < dataset->synonyms.count; i++)
		add(vocabulary, dataset->synonyms.items[i], &reading);
	for (size_t i = 0; i < dataset->field_count; i++)
		add_field(vocabulary, &dataset->fields[i]);
}

static void add_near(struct vocabulary *vocabulary, const char *phrase,
		     const struct model_field *field, const char *value)
{
	struct near near = {.field = field, .value = value};
	struct err ignored;

	if (phrase == NULL || sentence_read(phrase, &near.words, &ignored) < 0)
		return;
	vocabulary->near = mem_grow(vocabulary->near,
				    (vocabulary->near_count + 1) * sizeof(*vocabulary->near));
	vocabulary->near[vocabulary->near_count++] = near;
}

static void add_match(struct vocabulary *vocabulary, const struct model *model,
		      const struct json *match)
{
	const char *table = json_get_str(match, "table");
	const char *column = json_get_str(match, "column");
	const char *value = json_get_str(match, "value");
	struct reading reading = {.kind = READ_VALUE, .value = value};

	if (table == NULL || column == NULL || value == NULL)
		return;
	reading.field = model_field_of_column(model, table, column);
	if (reading.field == NULL || !reading.field->dimension)
		return;
	if (!json_get_bool(match, "exact", false)) {
		add_near(vocabulary, json_get_str(match, "phrase"), reading.field, value);
		return;
	}
	add(vocabulary, value, &reading);
	add(vocabulary, json_get_str(match, "phrase"), &reading);
}

static bool is_value(const struct vocabulary *vocabulary, const struct sentence *words)
{
	for (size_t i = 0; i < vocabulary->count; i++) {
		enum reading_kind kind = vocabulary->phrases[i].reading.kind;

		if ((kind == READ_VALUE || kind == READ_MISSING) &&
		    same_words(&vocabulary->phrases[i].words, words))
			return true;
	}
	return false;
}

/* "closed" -> "close": "how many did we close". Not where that is a stored value: "open" is how it
 * stands, not when it was opened. */
static void add_happening_bases(struct vocabulary *vocabulary)
{
	static const size_t drops[] = {1, 2};
	size_t count = vocabulary->count;

	for (size_t i = 0; i < count; i++) {
		const struct reading reading = vocabulary->phrases[i].reading;
		const struct sentence *words = &vocabulary->phrases[i].words;
		size_t len = words->count == 1 ? strlen(words->items[0].text) : 0;

		if (reading.kind != READ_FIELD || !reading.field->is_time || len < 5 ||
		    strcmp(words->items[0].text + len - 2, "ed") != 0)
			continue;
		for (size_t d = 0; d < ARRAY_LEN(drops); d++) {
			CLEANUP(mem_freep)
			char *base = mem_strn(vocabulary->phrases[i].words.items[0].text,
					      len - drops[d]);
			struct sentence read;
			struct err ignored;

			if (sentence_read(base, &read, &ignored) < 0)
				continue;
			if (is_value(vocabulary, &read))
				sentence_clear(&read);
			else
				add_words(vocabulary, &read, &reading);
		}
	}
}

void vocabulary_init(struct vocabulary *vocabulary, const struct model *model,
		     const struct json *matches)
{
	memset(vocabulary, 0, sizeof(*vocabulary));
	for (size_t i = 0; i < model_metric_count(model); i++)
		add_metric(vocabulary, model_metric_at(model, i));
	for (size_t i = 0; i < model_dataset_count(model); i++)
		add_dataset(vocabulary, model_dataset_at(model, i));
	json_each(match, matches) add_match(vocabulary, model, match);
	add_happening_bases(vocabulary);
}

void vocabulary_clear(struct vocabulary *vocabulary)
{
	for (size_t i = 0; i < vocabulary->count; i++) {
		sentence_clear(&vocabulary->phrases[i].words);
		mem_free(vocabulary->phrases[i].value);
	}
	for (size_t i = 0; i < vocabulary->near_count; i++)
		sentence_clear(&vocabulary->near[i].words);
	mem_free(vocabulary->phrases);
	mem_free(vocabulary->near);
	memset(vocabulary, 0, sizeof(*vocabulary));
}

static bool is_key(const struct model_dataset *dataset, const struct model_field *field)
{
	return dataset->primary_key.count == 1 &&
	       strcmp(dataset->primary_key.items[0], field->name) == 0;
}

const struct model_field *dataset_name_field(const struct model_dataset *dataset)
{
	const struct model_field *named = NULL;
	const struct model_field *key = NULL;

	for (size_t i = 0; i < dataset->field_count; i++) {
		const struct model_field *field = &dataset->fields[i];

		if (!field->dimension || field->is_time)
			continue;
		if (field->names_row && named != NULL)
			return NULL;
		if (field->names_row)
			named = field;
		if (is_key(dataset, field))
			key = field;
	}
	return named != NULL ? named : key;
}
