/* Comparison, staleness and binding. What can fail: a question or SQL of a shape that is not
 * served. */
#include "agents/query/verified/verified.h"

#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/sql.h"

#define PERIOD_START ":period_start"
#define PERIOD_END ":period_end"

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* Of all marks these change what is asked for: "> 100" is not "< 100", and "-5" is not "5". */
static bool is_meant(const char *text, size_t at)
{
	if (text[at] == '!')
		return text[at + 1] == '=';
	if (text[at] == '-')
		return text[at + 1] >= '0' && text[at + 1] <= '9' &&
		       (at == 0 || !is_name_byte(text[at - 1]));
	return strchr("<>=%+", text[at]) != NULL;
}

static void add_marks(struct buf *out, const char *text, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++) {
		if (!is_meant(text, at))
			continue;
		buf_add_char(out, ' ');
		buf_add_char(out, text[at]);
	}
}

char *verified_normal(const char *question)
{
	CLEANUP(sentence_clear) struct sentence sentence = {0};
	struct buf text = BUF_INIT;
	struct err err;

	if (sentence_read(question, &sentence, &err) < 0)
		return NULL;
	for (size_t i = 0; i < sentence.count; i++) {
		size_t end = i + 1 < sentence.count ? sentence.items[i + 1].at : strlen(question);

		if (i == 0)
			add_marks(&text, question, 0, sentence.items[0].at);
		buf_add_str(&text, text.len ? " " : "");
		buf_add_str(&text, sentence.items[i].text);
		add_marks(&text, question, sentence.items[i].at, end);
	}
	return buf_take(&text);
}

const struct json *verified_match(const struct json *queries, const char *question)
{
	CLEANUP(mem_freep) char *wanted = verified_normal(question);

	if (!wanted || !wanted[0])
		return NULL;
	json_each(query, queries)
	{
		const char *text = json_get_str(query, "question");
		CLEANUP(mem_freep) char *normal = text ? verified_normal(text) : NULL;

		if (normal && strcmp(normal, wanted) == 0)
			return query;
	}
	return NULL;
}

/* ---- similar ones ---- */

static bool has_word(const struct sentence *sentence, const struct word *word)
{
	for (size_t i = 0; i < sentence->count; i++)
		if (word_same(&sentence->items[i], word))
			return true;
	return false;
}

/* Words in common over all words (Jaccard), fillers aside, in thousandths. */
static int likeness(const struct sentence *a, const struct sentence *b)
{
	int common = 0, all = 0;

	for (size_t i = 0; i < a->count; i++) {
		if (word_is_filler(&a->items[i]))
			continue;
		all++;
		common += has_word(b, &a->items[i]);
	}
	for (size_t i = 0; i < b->count; i++)
		all += !word_is_filler(&b->items[i]) && !has_word(a, &b->items[i]);
	return all ? common * 1000 / all : 0;
}

static bool is_excepted(const struct json *except, const char *question)
{
	CLEANUP(mem_freep) char *normal = verified_normal(question);

	json_each(other, except) if (normal && json_str(other) &&
				     strcmp(json_str(other), normal) == 0) return true;
	return false;
}

struct ranked {
	const struct json *query;
	int likeness;
};

/* Keeps the best, in order; of equals the earlier one. */
static void rank(struct ranked best[VERIFIED_EXAMPLES_MAX], struct ranked next)
{
	for (size_t i = 0; i < VERIFIED_EXAMPLES_MAX; i++) {
		struct ranked held = best[i];

		if (held.query && held.likeness >= next.likeness)
			continue;
		best[i] = next;
		next = held;
		if (!next.query)
			return;
	}
}

size_t verified_similar(const struct json *queries, const char *question, const struct json *except,
			const struct json *ret_similar[VERIFIED_EXAMPLES_MAX])
{
	CLEANUP(sentence_clear) struct sentence wanted = {0};
	struct ranked best[VERIFIED_EXAMPLES_MAX] = {0};
	size_t count = 0;
	struct err err;

	if (sentence_read(question, &wanted, &err) < 0)
		return 0;
	json_each(query, queries)
	{
		CLEANUP(sentence_clear) struct sentence other = {0};
		const char *text = json_get_str(query, "question");
		int likely;

		if (!text || is_excepted(except, text) || sentence_read(text, &other, &err) < 0)
			continue;
		likely = likeness(&wanted, &other);
		if (likely > 0)
			rank(best, (struct ranked){query, likely});
	}
	for (; count < VERIFIED_EXAMPLES_MAX && best[count].query; count++)
		ret_similar[count] = best[count].query;
	return count;
}

/* ---- what has changed since ---- */

static const struct json *named(const struct json *list, const char *name)
{
	json_each(item, list)
	{
		const char *other = json_get_str(item, "name");

		if (other && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

static bool is_read(const struct json *metric, const char *table)
{
	size_t len = strlen(table);

	json_each(read, json_get(metric, "reads"))
	{
		const char *column = json_str(read);

		if (column && strncmp(column, table, len) == 0 && column[len] == '.')
			return true;
	}
	return false;
}

/* A copy without what says where it stands or how it is asked for. */
static struct json *meaning(const struct json *item)
{
	static const char *const beside[] = {"at",    "column",	  "description",
					     "label", "synonyms", "expected"};
	struct json *copy = json_copy(item);

	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		json_remove(copy, beside[i]);
	return copy;
}

void verified_definition(const struct json *model, const struct json *metric, char ret_hex[65])
{
	CLEANUP(json_freep) struct json *whole = json_object();
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *datasets = json_array();

	json_set(whole, "metric", meaning(metric));
	json_each(dataset, json_get(model, "datasets"))
	{
		const char *table = json_get_str(dataset, "table");
		struct json *copy;

		if (!table || !is_read(metric, table))
			continue;
		copy = meaning(dataset);
		json_remove(copy, "fields"); /* the metric holds the columns of its own */
		json_push(datasets, copy);
	}
	json_set(whole, "datasets", datasets);
	json_write_canonical(whole, &text);
	sha256_hex(text.bytes, text.len, ret_hex);
}

void verified_approval(const struct json *query, char ret_hex[65])
{
	const char *question = json_get_str(query, "question");
	const char *sql = json_get_str(query, "sql");
	CLEANUP(mem_freep)
	char *text = mem_format("%s\n%s", question ? question : "", sql ? sql : "");

	sha256_hex(text, strlen(text), ret_hex);
}

/* Why a metric that the question means is not what it was; NULL when it is. */
static char *changed_metric(const struct json *meant, const struct json *model)
{
	const struct json *metric = named(json_get(model, "metrics"), json_key(meant));
	char now[65];

	if (!metric)
		return mem_format("its metric %s is gone", json_key(meant));
	verified_definition(model, metric, now);
	if (!json_str(meant) || strcmp(json_str(meant), now) != 0)
		return mem_format("its metric %s is defined in another way now", json_key(meant));
	return NULL;
}

char *verified_stale(const struct json *query, const struct json *model, const char *timezone)
{
	const char *zone = json_get_str(query, "timezone");
	const char *approved = json_get_str(query, "approved");
	char now[65];

	if (!approved || !json_get_str(query, "shape") || !json_get(query, "reads") || !zone)
		return mem_str("it is not approved yet: run writ query approve");
	verified_approval(query, now);
	if (strcmp(approved, now) != 0)
		return mem_str("its question or SQL was edited since it was approved");
	if (strcmp(zone, timezone) != 0)
		return mem_format("it was approved for the time zone %s, not %s", zone, timezone);
	json_each(meant, json_get(query, "metrics"))
	{
		char *why = changed_metric(meant, model);

		if (why)
			return why;
	}
	return NULL;
}

/* ---- the period ---- */

/* The next parameter of SQL (":name", "?", "@name", "$name"), or NULL; *ret_len with its mark. */
static const char *next_parameter(const char *sql, size_t *ret_len)
{
	struct sql_lexeme lexeme;

	while ((lexeme = sql_lex_next(&sql)).kind != SQL_LEX_END) {
		bool mark = lexeme.kind == SQL_LEX_OTHER && strchr(":?@", *lexeme.start) != NULL;

		if (!mark && !(lexeme.kind == SQL_LEX_WORD && *lexeme.start == '$'))
			continue;
		*ret_len = 1;
		while (is_name_byte(lexeme.start[*ret_len]))
			++*ret_len;
		return lexeme.start;
	}
	return NULL;
}

static bool is_parameter(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && strncmp(text, name, len) == 0;
}

int verified_wants_period(const char *sql, bool *ret_wants, struct err *err)
{
	bool start = false, end = false;
	size_t len = 0;

	for (const char *at = sql; (at = next_parameter(at, &len)) != NULL; at += len) {
		start = start || is_parameter(at, len, PERIOD_START);
		end = end || is_parameter(at, len, PERIOD_END);
		if (!is_parameter(at, len, PERIOD_START) && !is_parameter(at, len, PERIOD_END))
			return err_set(err, ERR_INVALID,
				       "the parameter %.*s is not known; there are " PERIOD_START
				       " and " PERIOD_END,
				       (int)len, at);
	}
	if (start != end)
		return err_set(err, ERR_INVALID,
			       "a period has two bounds: use both " PERIOD_START
			       " and " PERIOD_END);
	*ret_wants = start;
	return 0;
}

int verified_period(const char *question, struct date today, bool *ret_set,
		    struct period *ret_period, struct err *err)
{
	const struct period_rules rules = {.today = today, .ranges = true};
	CLEANUP(sentence_clear) struct sentence sentence = {0};
	bool found = false;

	if (sentence_read(question, &sentence, err) < 0)
		return -1;
	for (size_t at = 0; at < sentence.count;) {
		struct period period = {0};
		size_t used = period_read(&sentence, at, &rules, &period);

		at += used ? used : 1;
		if (!used)
			continue;
		if (found)
			return err_set(err, ERR_INVALID, "the question has several periods");
		if (period.mistake[0])
			return err_set(err, ERR_INVALID, "%s", period.mistake);
		found = !period.all;
		*ret_period = period;
	}
	if (found && (!ret_period->has_from || !ret_period->has_to))
		return err_set(err, ERR_INVALID, "the period is open on one side");
	*ret_set = found;
	return 0;
}

char *verified_bind(const char *sql, const struct period *period)
{
	struct buf bound = BUF_INIT;
	const char *at;
	size_t len = 0;

	while ((at = next_parameter(sql, &len)) != NULL) {
		char date[DATE_LEN + 1];

		date_write(is_parameter(at, len, PERIOD_START) ? period->from : period->to, date);
		buf_add(&bound, sql, (size_t)(at - sql));
		buf_addf(&bound, "'%s'", date);
		sql = at + len;
	}
	buf_add_str(&bound, sql);
	return buf_take(&bound);
}
