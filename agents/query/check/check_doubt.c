/*
 * Doubts: what a statement leaves open and one small question to the data settles. The questions of
 * all doubts go into the one probe of a statement, so that they cost one call. A doubt that was not
 * settled is a note at most, or the warning that it was before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/query/check/check_doubt.h"

struct doubt *doubt_add(struct doubts *doubts, enum doubt_kind kind)
{
	struct doubt *doubt;

	doubts->items = mem_grow(doubts->items, (doubts->count + 1) * sizeof(*doubts->items));
	doubt = &doubts->items[doubts->count++];
	*doubt = (struct doubt){.kind = kind, .column = -1};
	return doubt;
}

void doubts_clear(struct doubts *doubts)
{
	for (size_t i = 0; i < doubts->count; i++) {
		struct doubt *doubt = &doubts->items[i];

		mem_free(doubt->sql);
		mem_free(doubt->table);
		mem_free(doubt->name);
		mem_free(doubt->value);
		mem_free(doubt->other);
	}
	mem_free(doubts->items);
	*doubts = (struct doubts){0};
}

/* A question that an earlier doubt asks already is asked once. */
static int asked_before(const struct doubts *doubts, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (doubts->items[i].column >= 0 && doubts->items[i].sql &&
		    strcmp(doubts->items[i].sql, doubts->items[index].sql) == 0)
			return doubts->items[i].column;
	}
	return -1;
}

static void add_questions(struct doubts *doubts, size_t columns, struct buf *out)
{
	size_t asked = 0;

	for (size_t i = 0; i < doubts->count; i++) {
		struct doubt *doubt = &doubts->items[i];

		if (!doubt->sql)
			continue;
		doubt->column = asked_before(doubts, i);
		if (doubt->column >= 0 || asked == DOUBTS_ASKED_MAX)
			continue;
		doubt->column = (int)(columns + asked);
		asked++;
		buf_addf(out, "%s(%s) AS \"fact%zu\"", asked > 1 ? ", " : "SELECT ", doubt->sql,
			 asked);
	}
}

char *doubts_probe(struct doubts *doubts, char *probe, size_t columns)
{
	CLEANUP(buf_clear) struct buf questions = BUF_INIT;
	struct buf out = BUF_INIT;

	add_questions(doubts, columns, &questions);
	if (questions.len == 0)
		return probe;
	if (!probe)
		return buf_take(&questions);
	buf_addf(&out, "%s, (%s) AS \"facts\"", probe, buf_str(&questions));
	mem_free(probe);
	return buf_take(&out);
}

void doubts_unask(struct doubts *doubts)
{
	for (size_t i = 0; i < doubts->count; i++)
		doubts->items[i].column = -1;
}

/* ---- answers ---- */

#define PARTS_MAX 6

struct parts { /* of "a|b|c" */
	char *text;
	char *items[PARTS_MAX];
	size_t count;
};

static bool split(const struct json *answer, size_t wanted, struct parts *ret_parts)
{
	struct parts parts = {.text = mem_str(json_str(answer))};
	char *at = parts.text;

	while (at && parts.count < PARTS_MAX) {
		char *bar = strchr(at, '|');

		parts.items[parts.count++] = at;
		if (bar)
			*bar++ = '\0';
		at = bar;
	}
	if (parts.count != wanted || at) {
		mem_free(parts.text);
		return false;
	}
	*ret_parts = parts;
	return true;
}

static long long whole(const char *text)
{
	return strtoll(text, NULL, 10);
}

static void flag_not_in(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep)
	char *repair = mem_format("use NOT EXISTS, or add %s IS NOT NULL inside", doubt->name);
	long long missing = json_int(answer);

	if (json_is_null(answer))
		flag_add(flags, "null.not_in", "warning", repair,
			 "%s.%s may have no value, and NOT IN over one missing value lets no row "
			 "pass; it was not measured",
			 doubt->table, doubt->name);
	else if (missing > 0)
		flag_add(flags, "null.not_in", doubt->mild ? "warning" : "error", repair,
			 "%s.%s has no value in %lld rows: NOT IN over a missing value lets no row "
			 "pass, so nothing is found",
			 doubt->table, doubt->name, missing);
	else
		flag_add(flags, "null.not_in", "note", repair,
			 "the first row of %s without %s would empty the result; today there is "
			 "none",
			 doubt->table, doubt->name);
}

static void flag_dropped(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep)
	char *repair = mem_format("say what a missing %s means: %s IS NULL OR ..., or COALESCE",
				  doubt->name, doubt->name);

	if (json_int(answer) > 0)
		flag_add(
			flags, "null.inequality", "warning", repair,
			"the test of %s.%s also leaves out the %lld rows that have no value there: "
			"a missing value is neither equal nor unequal",
			doubt->table, doubt->name, (long long)json_int(answer));
	else if (json_is_null(answer))
		flag_add(flags, "null.inequality", "note", repair,
			 "the test of %s.%s leaves out rows that have no value there; whether "
			 "there are any was not measured",
			 doubt->table, doubt->name);
}

static void flag_deleted(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep) char *repair = NULL;
	struct parts parts;
	long long marked, total;

	if (!split(answer, 2, &parts))
		return;
	marked = whole(parts.items[0]);
	total = whole(parts.items[1]);
	mem_free(parts.text);
	if (marked == 0 || marked == total)
		return;
	repair = mem_format("add %s%s", doubt->name, doubt->value);
	flag_add(flags, "rows.deleted", "warning", repair,
		 "%s.%s marks %lld of %lld rows as no longer valid, and the statement takes them "
		 "along",
		 doubt->table, doubt->name, marked, total);
}

static void flag_stale(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep)
	char *repair =
		mem_format("add up %s itself, or have %s built anew", doubt->other, doubt->table);
	struct parts parts;

	if (!split(answer, 2, &parts))
		return;
	if (strcmp(parts.items[0], parts.items[1]) < 0)
		flag_add(flags, "table.stale", "warning", repair,
			 "%s was built %s, the newest row of %s is of %s: later rows are not in it",
			 doubt->table, parts.items[0], doubt->other, parts.items[1]);
	mem_free(parts.text);
}

static void flag_lost(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep)
	char *repair =
		mem_format("LEFT JOIN %s keeps them; or say that they do not count", doubt->other);
	struct parts parts;
	long long missing, orphans, total;

	if (!split(answer, 3, &parts))
		return;
	missing = whole(parts.items[0]);
	orphans = whole(parts.items[1]);
	total = whole(parts.items[2]);
	mem_free(parts.text);
	if (missing + orphans == 0)
		return;
	flag_add(
		flags, "join.rows_lost", doubt->mild && orphans == 0 ? "note" : "warning", repair,
		"the join to %s loses %lld of %lld rows of %s: %lld have no %s, %lld have one that "
		"%s does not have",
		doubt->other, missing + orphans, total, doubt->table, missing, doubt->name, orphans,
		doubt->other);
}

static void flag_units(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	CLEANUP(mem_freep)
	char *repair = mem_format("group by %s, choose one, or convert first", doubt->name);

	if (json_int(answer) > 1)
		flag_add(flags, "unit.mixed", "warning", repair,
			 "amounts of %s in %lld kinds of %s are added up as if they were one",
			 doubt->table, (long long)json_int(answer), doubt->name);
}

static void flag_paired(const struct doubt *doubt, const struct json *answer, struct json *flags)
{
	static const char repair[] = "join on the key of one of the two tables";
	struct parts parts;
	bool unique;

	if (!split(answer, 2, &parts)) {
		flag_add(flags, "join.not_key", "warning", repair,
			 "%s and %s are joined on %s, a key of neither: rows may meet several "
			 "others; it was not measured",
			 doubt->table, doubt->other, doubt->name);
		return;
	}
	unique = whole(parts.items[0]) == 0 || whole(parts.items[1]) == 0;
	mem_free(parts.text);
	if (unique)
		flag_add(flags, "join.not_key", "note", repair,
			 "%s and %s are joined on %s, which no key declares; it is observed to be "
			 "unique on one side today, not promised",
			 doubt->table, doubt->other, doubt->name);
	else
		flag_add(flags, "join.not_key", "warning", repair,
			 "%s and %s are joined on %s, a key of neither: rows of both meet several "
			 "of the other",
			 doubt->table, doubt->other, doubt->name);
}

/* ---- all ---- */

static void flag_doubt(const struct check_context *context, const struct doubt *doubt,
		       const struct json *answer, struct json *flags)
{
	switch (doubt->kind) {
	case DOUBT_NULLS_IN:
		flag_not_in(doubt, answer, flags);
		return;
	case DOUBT_NULLS_DROPPED:
		flag_dropped(doubt, answer, flags);
		return;
	case DOUBT_VALUE:
		doubt_flag_value(doubt, answer, flags);
		return;
	case DOUBT_TIME:
		doubt_flag_time(doubt, answer, check_postgres(context), flags);
		return;
	case DOUBT_DELETED:
		flag_deleted(doubt, answer, flags);
		return;
	case DOUBT_STALE:
		flag_stale(doubt, answer, flags);
		return;
	case DOUBT_LOST:
		flag_lost(doubt, answer, flags);
		return;
	case DOUBT_UNITS:
		flag_units(doubt, answer, flags);
		return;
	case DOUBT_PAIRED:
		flag_paired(doubt, answer, flags);
		return;
	}
}

void doubts_flag(const struct check_context *context, const struct doubts *doubts,
		 const struct json *probe, struct json *flags)
{
	const struct json *row = json_at(json_get(probe, "rows"), 0);

	for (size_t i = 0; i < doubts->count; i++) {
		const struct doubt *doubt = &doubts->items[i];
		const struct json *answer =
			doubt->column >= 0 ? json_at(row, (size_t)doubt->column) : NULL;

		flag_doubt(context, doubt, answer, flags);
	}
}
