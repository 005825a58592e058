/* Doubts: what only the data can tell. Shared by the files that raise them and those that settle.
 */
#ifndef AGENTS_QUERY_CHECK_CHECK_DOUBT_H
#define AGENTS_QUERY_CHECK_CHECK_DOUBT_H

#include "agents/query/check/check_internal.h"

#define DOUBTS_ASKED_MAX 12 /* questions of one statement; each reads a table at most once */

enum doubt_kind {
	DOUBT_NULLS_IN,	     /* NOT IN over a column that may hold NULL */
	DOUBT_NULLS_DROPPED, /* <> over a column that may hold NULL */
	DOUBT_VALUE,	     /* a text that may not occur in the column */
	DOUBT_TIME,	     /* the shape of a time, and whether it has hours */
	DOUBT_DELETED,	     /* rows marked as deleted */
	DOUBT_STALE,	     /* a table built from another */
	DOUBT_LOST,	     /* rows without a partner */
	DOUBT_UNITS,	     /* amounts in several currencies */
	DOUBT_PAIRED,	     /* a join on columns that may identify a row of neither side */
};

/* A comparison of a time with a constant. */
enum bound { BOUND_LOW, BOUND_ABOVE, BOUND_HIGH, BOUND_BELOW, BOUND_EQUAL };
/*	     >=		>	    <=		<	     =	*/

struct doubt {
	enum doubt_kind kind;
	char *sql;   /* a query of one value (check_ask.h); owned */
	int column;  /* of the probe's result; -1 when it is not asked */
	char *table; /* owned, like all texts below */
	char *name;  /* the column */
	char *value; /* a literal */
	char *other; /* a second literal, column or table */
	enum bound bound;
	enum bound other_bound; /* of other, when that is the other end of a period */
	bool mild;		/* a note at most */
};

struct doubts { /* owned */
	struct doubt *items;
	size_t count;
};

struct doubt *doubt_add(struct doubts *doubts, enum doubt_kind kind);
void doubts_clear(struct doubts *doubts);
/* The doubts' questions behind a probe of findings (NULL when there is none); takes probe. */
char *doubts_probe(struct doubts *doubts, char *probe, size_t columns);
/* The probe was refused: nothing is asked any more. */
void doubts_unask(struct doubts *doubts);
/* probe: its RESULT, or NULL when it did not run. */
void doubts_flag(const struct check_context *context, const struct doubts *doubts,
		 const struct json *probe, struct json *flags);

/* check_values.c, check_times.c: the two with most to say. answer is NULL when nobody asked. */
void doubt_flag_value(const struct doubt *doubt, const struct json *answer, struct json *flags);
void doubt_flag_time(const struct doubt *doubt, const struct json *answer, bool postgres,
		     struct json *flags);

#endif
