/*
 * Comparisons of times with constants: whether a period's last day is in it, whether the constant
 * is written as the stored times are, whether days are those of the asker's zone, whether the
 * bounds are those that were asked for. How times are stored only the data tells
 * (check_time_flags.c).
 */
#include <ctype.h>
#include <string.h>

#include "agents/query/check/check_ask.h"
#include "agents/query/check/check_doubt.h"

#define DATE_BYTES 10

struct compared { /* one comparison */
	struct base base;
	enum bound bound;
	const char *text; /* the constant; '?' for digits not known */
	bool typed;	  /* PostgreSQL's own type of time: its shape does not matter */
};

struct times {
	struct scan *scan;
	const struct sql_select *select;
	struct compared *items;
	size_t count;
};

/* 2025-03-01, 31/3/25, 2025.03.01: three numbers with signs between them */
static bool looks_like_time(const char *text)
{
	for (int group = 0; group < 3; group++) {
		size_t digits = strspn(text, "0123456789?");

		if (digits == 0 || digits > 4)
			return false;
		text += digits;
		if (group < 2 && !(*text && strchr("-/.", *text)))
			return false;
		text += group < 2;
	}
	return *text == '\0' || *text == ' ' || *text == 'T';
}

static const char *text_of_call(const struct sql_expr *expr)
{
	static const char *const days[] = {"date", "current_date", NULL};
	static const char *const moments[] = {"datetime", "current_timestamp", NULL};

	if (expr->arg_count == 1 && expr->args[0]->kind == SQL_EXPR_TEXT &&
	    looks_like_time(expr->args[0]->name) && strcmp(expr->name, "date") == 0)
		return expr->args[0]->name;
	if (check_is_call(expr, days) && check_is_constant(expr))
		return "?\?\?\?-?\?-?\?";
	if (check_is_call(expr, moments) && check_is_constant(expr))
		return "?\?\?\?-?\?-?\? ?\?:?\?:?\?";
	return NULL;
}

static const char *time_text(const struct sql_expr *expr)
{
	if (expr->kind == SQL_EXPR_CAST && expr->arg_count == 1)
		expr = expr->args[0];
	if (expr->kind == SQL_EXPR_TEXT && looks_like_time(expr->name))
		return expr->name;
	return text_of_call(expr);
}

static void add_compared(struct times *times, const struct sql_expr *column, enum bound bound,
			 const struct sql_expr *constant)
{
	const char *text = time_text(constant);
	struct compared item = {.bound = bound, .text = text};
	enum value_type type;

	if (!text || !check_base_of(times->scan->context, times->select, column, &item.base))
		return;
	type = check_declared_type(times->scan->context, &item.base);
	if (type == VALUE_BOOL || type == VALUE_INTEGER || type == VALUE_REAL)
		return; /* check_conditions.c says so */
	item.typed = type == VALUE_TIME && check_postgres(times->scan->context);
	times->items = mem_grow(times->items, (times->count + 1) * sizeof(*times->items));
	times->items[times->count++] = item;
}

static bool bound_of(const char *sign, bool turned, enum bound *ret_bound)
{
	static const struct {
		const char *sign;
		enum bound bound;
		enum bound turned;
	} known[] = {{">=", BOUND_LOW, BOUND_HIGH},
		     {">", BOUND_ABOVE, BOUND_BELOW},
		     {"<=", BOUND_HIGH, BOUND_LOW},
		     {"<", BOUND_BELOW, BOUND_ABOVE},
		     {"=", BOUND_EQUAL, BOUND_EQUAL}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(sign, known[i].sign) != 0)
			continue;
		*ret_bound = turned ? known[i].turned : known[i].bound;
		return true;
	}
	return false;
}

static void collect(struct times *times, const struct sql_expr *expr)
{
	enum bound bound;

	if (!expr || !check_step(times->scan->context))
		return;
	if (expr->kind == SQL_EXPR_COMPARE && expr->arg_count == 2) {
		if (bound_of(expr->name, false, &bound))
			add_compared(times, expr->args[0], bound, expr->args[1]);
		if (bound_of(expr->name, true, &bound))
			add_compared(times, expr->args[1], bound, expr->args[0]);
	} else if (expr->kind == SQL_EXPR_BETWEEN && expr->arg_count == 3) {
		add_compared(times, expr->args[0], BOUND_LOW, expr->args[1]);
		add_compared(times, expr->args[0], BOUND_HIGH, expr->args[2]);
	} else if (expr->kind == SQL_EXPR_IN) {
		for (size_t i = 1; i < expr->arg_count; i++)
			add_compared(times, expr->args[0], BOUND_EQUAL, expr->args[i]);
	}
	for (size_t i = 0; i < expr->arg_count; i++)
		collect(times, expr->args[i]);
}

/* The other end of the same period; NULL when it has none. */
static const struct compared *other_end(const struct times *times, const struct compared *item)
{
	bool upper = item->bound == BOUND_HIGH || item->bound == BOUND_BELOW;

	for (size_t i = 0; i < times->count; i++) {
		const struct compared *other = &times->items[i];
		bool lower = other->bound == BOUND_LOW || other->bound == BOUND_ABOVE;

		if (other != item && other->bound != BOUND_EQUAL && lower == upper &&
		    check_same_base(&other->base, &item->base))
			return other;
	}
	return NULL;
}

static void raise_doubt(const struct times *times, const struct compared *item)
{
	const struct compared *end = other_end(times, item);
	struct doubt *doubt = doubt_add(times->scan->doubts, DOUBT_TIME);

	doubt->table = mem_str(item->base.table);
	doubt->name = mem_str(item->base.column);
	doubt->value = mem_str(item->text);
	doubt->other = mem_str(end ? end->text : NULL);
	doubt->bound = item->bound;
	doubt->other_bound = end ? end->bound : item->bound;
	doubt->mild = item->typed;
	doubt->sql = ask_times(item->base.table, item->base.column);
}

/* ---- zones ---- */

static const char *foreign_zone(const struct scan *scan, const struct base *base)
{
	const char *stored = json_get_str(base->definition, "zone");
	const char *asked = scan->context->input->zone;

	return stored && asked && strcasecmp(stored, asked) != 0 ? stored : NULL;
}

static void flag_zone(const struct scan *scan, const struct base *base, const char *what)
{
	CLEANUP(mem_freep)
	char *repair =
		mem_format("shift the bounds or the times to %s first", scan->context->input->zone);

	flag_add(scan->flags, "time.zone", "warning", repair,
		 "%s.%s is kept in %s, days are those of %s: %s at midnight of the wrong zone",
		 base->table, base->column, foreign_zone(scan, base), scan->context->input->zone,
		 what);
}

static bool at_midnight(const char *text)
{
	size_t len = strlen(text);

	return len == DATE_BYTES || (len > 15 && strncmp(text + 11, "00:00", 5) == 0 &&
				     (text[16] != ':' || strncmp(text + 17, "00", 2) == 0));
}

/* date(at), substr(at, 1, 7), strftime('%Y-%m', at), date_trunc('month', at) */
static void check_days(const struct scan *scan, const struct sql_select *select,
		       const struct sql_expr *expr)
{
	static const char *const one[] = {"date", NULL};
	static const char *const two[] = {"strftime", "date_trunc", "to_char", "extract", NULL};
	static const char *const parts[] = {"substr", "substring", NULL};
	const struct sql_expr *column = NULL;
	struct base base;

	if (!expr || !check_step(scan->context))
		return;
	if (check_is_call(expr, one) && expr->arg_count == 1)
		column = expr->args[0];
	else if (check_is_call(expr, two) && expr->arg_count == 2)
		column = expr->args[expr->args[0]->kind == SQL_EXPR_COLUMN ? 0 : 1];
	else if (check_is_call(expr, parts) && expr->arg_count >= 2)
		column = expr->args[0];
	if (check_base_of(scan->context, select, column, &base) && foreign_zone(scan, &base))
		flag_zone(scan, &base, "they are cut");
	for (size_t i = 0; i < expr->arg_count; i++)
		check_days(scan, select, expr->args[i]);
}

/* ---- the period that was asked for ---- */

static bool is_last_day(const char *date)
{
	static const char days[] = "312831303130313130313031";
	int month = (date[5] - '0') * 10 + date[6] - '0';
	int year = (date[0] - '0') * 1000 + (date[1] - '0') * 100 + (date[2] - '0') * 10 +
		   (date[3] - '0');
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (month < 1 || month > 12)
		return false;
	if (month == 2 && leap)
		return strncmp(date + 8, "29", 2) == 0;
	return strncmp(date + 8, days + (size_t)(month - 1) * 2, 2) == 0;
}

/* Does the bound mean the same instant as the asked one, as far as a day tells? */
static bool same_bound(const struct compared *item, const char *asked, bool upper)
{
	if (strncmp(item->text, asked, DATE_BYTES) == 0)
		return item->bound == (upper ? BOUND_BELOW : BOUND_LOW);
	/* <= the last day, written as a day or with its last hour */
	return upper && item->bound == BOUND_HIGH && strcmp(item->text, asked) < 0 &&
	       strlen(asked) >= DATE_BYTES && strncmp(asked + 8, "01", 2) == 0 &&
	       is_last_day(item->text);
}

static bool is_period_column(const struct scan *scan, const struct base *base)
{
	const char *column = scan->context->input->period_column;
	CLEANUP(mem_freep) char *own = mem_format("%s.%s", base->table, base->column);

	return column && strcasecmp(column, own) == 0;
}

static void check_asked(const struct times *times)
{
	const struct scan *scan = times->scan;
	const struct json *period = scan->context->input->period;

	for (size_t i = 0; i < times->count; i++) {
		const struct compared *item = &times->items[i];
		bool upper = item->bound == BOUND_HIGH || item->bound == BOUND_BELOW;
		const char *asked = json_get_str(period, upper ? "to" : "from");

		if (item->bound == BOUND_EQUAL || !asked || !*asked || strchr(item->text, '?') ||
		    strlen(item->text) < DATE_BYTES || !is_period_column(scan, &item->base) ||
		    same_bound(item, asked, upper))
			continue;
		flag_add(scan->flags, "period.bounds", "warning", NULL,
			 "the statement compares %s.%s with '%s', the period asked for %s %s",
			 item->base.table, item->base.column, item->text,
			 upper ? "ends before" : "begins on", asked);
	}
}

/* ---- one level ---- */

static void check_level(struct scan *scan, const struct sql_select *select)
{
	struct times times = {.scan = scan, .select = select};

	collect(&times, select->where);
	for (size_t i = 0; i < select->join_count; i++)
		collect(&times, select->joins[i].on);
	for (size_t i = 0; i < select->output_count && select->arm_count == 0; i++) {
		collect(&times, select->outputs[i].expr);
		check_days(scan, select, select->outputs[i].expr);
	}
	for (size_t i = 0; i < select->group_count; i++)
		check_days(scan, select, select->groups[i].expr);
	check_days(scan, select, select->where);
	for (size_t i = 0; i < times.count; i++) {
		const struct compared *item = &times.items[i];

		const struct compared *end = other_end(&times, item);

		raise_doubt(&times, item);
		/* who shifted one end has thought of the zone */
		if (foreign_zone(scan, &item->base) && at_midnight(item->text) &&
		    (!end || at_midnight(end->text)))
			flag_zone(scan, &item->base, "the period begins and ends");
	}
	check_asked(&times);
	mem_free(times.items);
}

void check_times(struct scan *scan)
{
	for (size_t i = 0; i < scan->statement->select_count; i++)
		check_level(scan, scan->statement->selects[i]);
}
