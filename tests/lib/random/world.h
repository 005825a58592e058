/*
 * A business made up from a seed: tables, rows, metrics, and questions about them whose answers are
 * known without any SQL. Read this first.
 *
 *   words.c      dice, and words nobody has seen     rows.c       what stands in the tables
 *   world.c      tables, columns, links              metrics.c    what is measured
 *   period.c     phrases of time and what they mean  wording.c    words for columns and values
 *   filters.c    which rows are meant, in words      denials.c    SQL that must reveal nothing
 *   doubts.c     what must be asked back or refused  write_*.c    the workspace as files
 *   oracle.c, oracle_value.c                         the right answer, by loops over the rows
 *   questions.c, questions_compared.c                what can be answered, in words
 *   slips.c                                          the same with a slip: never answered
 *   workspace.c                                      the program
 *
 * The same seed gives the same world, byte for byte. Everything is owned by the world and freed
 * with it. Our own mistakes abort; only files can fail.
 */
#ifndef TESTS_RANDOM_WORLD_H
#define TESTS_RANDOM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

#define WORLD_TABLES 8
#define WORLD_COLUMNS 14
#define WORLD_VALUES 10 /* of one column that sorts rows into kinds */
#define WORLD_METRICS 16
#define WORLD_WORDS 400
#define WORLD_DIMENSIONS 3

struct rng {
	uint64_t state;
};

uint32_t rng_below(struct rng *rng, uint32_t n); /* 0 to n - 1 */
int64_t rng_between(struct rng *rng, int64_t least, int64_t most);
bool rng_chance(struct rng *rng, uint32_t percent);

enum cell_kind { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	int64_t number;
	double real;
	const char *text; /* lent */
};

enum world_role {
	ROLE_KEY,
	ROLE_LINK,  /* to the key of target; may be missing */
	ROLE_NAME,  /* names a row; not always unique */
	ROLE_CLASS, /* one of values, or missing */
	ROLE_DATE,
	ROLE_PIECES, /* whole number, never missing */
	ROLE_CENTS,  /* whole number, never missing */
	ROLE_OFF,    /* whole number or missing; the model reads a missing one as 0 */
	ROLE_SCORE,  /* number with a fraction, or missing */
	ROLE_LEVEL,  /* small whole number to filter on */
	ROLE_FLAG,   /* 1, 0 or missing: "active" */
	ROLE_GONE,   /* 1: the row does not count */
	ROLE_SECRET, /* granted to nobody */
};

enum time_form { FORM_DAY, FORM_MOMENT, FORM_EPOCH };

struct column {
	char *name;	/* in the database */
	char *field;	/* in the model; NULL: not there */
	char *label;	/* NULL: left to the model compiler */
	char *synonym;	/* NULL: none */
	char *missing;	/* what a missing value is called; NULL: nothing */
	char *nickname; /* another word for values[0]; NULL: none */
	char *values[WORLD_VALUES];
	size_t value_count;
	enum world_role role;
	enum time_form form;
	bool hidden;
	size_t target; /* ROLE_LINK: table */
};

struct table {
	char *name;
	char *dataset;
	char *label;   /* NULL: left to the model compiler */
	char *synonym; /* what its rows are called */
	struct column columns[WORLD_COLUMNS];
	size_t column_count;
	struct cell *cells; /* rows * column_count */
	size_t rows;
	bool hidden; /* in the database, not in the model, granted to nobody */
	bool fact;
	bool named; /* ROLE_NAME tells rows apart */
};

struct spot { /* a column of the world */
	size_t table;
	size_t column;
};

enum measure {
	MEASURE_NET,	  /* SUM(pieces * cents - off) */
	MEASURE_PIECES,	  /* SUM(pieces) */
	MEASURE_SCORES,	  /* SUM(score) */
	MEASURE_ROWS,	  /* COUNT of rows */
	MEASURE_DISTINCT, /* COUNT(DISTINCT link) */
	MEASURE_AVERAGE,  /* AVG(score) */
	MEASURE_RATIO,	  /* SUM(pieces * cents - off) / COUNT(DISTINCT link) */
	MEASURE_SECRET,	  /* SUM of a hidden column */
};

struct metric {
	char *name;
	char *label; /* NULL: left to the model compiler */
	char *synonym;
	char *unit; /* NULL: none */
	size_t table;
	enum measure measure;
	size_t link;   /* DISTINCT, RATIO: column; SECRET: the hidden one */
	bool filtered; /* only rows whose filter column is the value */
	struct spot filter;
	const char *value;
	int scale;
	int decimals;
	bool better; /* higher is better */
	bool star;   /* ROWS: written as COUNT(*) */
};

struct world {
	uint64_t seed;
	struct rng rng;
	struct date today;
	struct table tables[WORLD_TABLES];
	size_t table_count;
	struct metric metrics[WORLD_METRICS];
	size_t metric_count;
	struct spot time[WORLD_TABLES]; /* of each fact: its date, perhaps of a table it leads to */
	bool timed[WORLD_TABLES];
	char *shared_value;    /* stands in two columns */
	char *shared_field;    /* another word for two fields */
	char *shared_metric;   /* another word for two metrics */
	char *twin_word;       /* "X" of "total X" and "average X"; NULL: no such pair */
	uint32_t awkward_used; /* bits: a value of little words stands in one column only */
	char *words[WORLD_WORDS];
	size_t word_count;
	char **kept; /* texts owned by the world */
	size_t kept_count;
	int64_t next_secret;
};

struct world *world_make(uint64_t seed);
void world_free(struct world *world); /* NULL is fine */
/* Other names for some columns of the database; nothing else changes, and no answer may. */
void world_rename(struct world *world);

/* words.c */
char *world_keep(struct world *world, char *text); /* takes text */
char *word_new(struct world *world);		   /* "kavdorel", far from every other word */
char *word_title(struct world *world, const char *word);
char *word_plural(struct world *world, const char *phrase);
char *word_spaced(struct world *world, const char *name); /* "zor_bal" -> "zor bal" */
char *word_lower(struct world *world, const char *text);
char *value_new(struct world *world);  /* "Kavdor", "O'Pelin", "Mirat & Dolen", "Törfan 7" */
bool value_awkward(const char *value); /* made of words that mean something in a question */

/* rows.c */
void world_fill(struct world *world);
void world_date_write(struct date date, enum time_form form, int seconds, struct world *world,
		      struct cell *ret_cell);

/* world.c */
const struct column *spot_column(const struct world *world, struct spot spot);
/* Does a row of from lead to one row (or none) of to? */
bool world_leads(const struct world *world, size_t from, size_t to);
/* The cell at spot that the row of from leads to; missing when it leads nowhere. */
struct cell world_cell(const struct world *world, size_t from, size_t row, struct spot spot);
size_t column_of(const struct table *table, enum world_role role); /* aborts when there is none */
bool has_column(const struct table *table, enum world_role role);
struct spot spot_of(const struct world *world, size_t table, enum world_role role);
char *phrase_new(struct world *world, const char *joint); /* one word or two */

/* metrics.c */
struct metric *metric_add(struct world *world, size_t table, enum measure measure);
/* state: the table whose class a metric may be limited to. */
void fact_metrics(struct world *world, size_t fact, size_t state);
bool metric_additive(const struct metric *metric);
bool metric_exact(const struct metric *metric);

/* oracle.c: a question as it is meant. */
enum bucket { BY_VALUE, BY_WEEK, BY_MONTH, BY_QUARTER, BY_YEAR };

struct dimension {
	struct spot spot;
	enum bucket bucket;
};

enum test {
	TEST_IN,
	TEST_NOT,
	TEST_MISSING,
	TEST_EQUAL, /* and the like: number */
	TEST_OVER,
	TEST_AT_LEAST,
	TEST_UNDER,
	TEST_AT_MOST
};

struct filter {
	struct spot spot;
	enum test test;
	const char *values[3];
	size_t value_count;
	int64_t number;
};

struct range { /* half-open */
	bool has_from, has_to;
	struct date from, to;
};

struct ask {
	const struct metric *metric; /* NULL: a listing of the dimension */
	const struct metric *second; /* of the same rows; NULL: none */
	struct dimension dims[WORLD_DIMENSIONS];
	size_t dim_count;
	struct filter filters[WORLD_DIMENSIONS];
	size_t filter_count;
	struct range period;
	bool compares;
	struct range before;
	int order; /* 1: highest first, -1: lowest first, 0: none */
	size_t limit;
	bool share;
	bool average;
	struct spot per;
	bool tricky; /* names a value of little words: an honest question back is no miss */
};

/* {"rows":[[...]],"ordered":bool}; NULL when the right answer hangs on a rounding or on a tie, so
 * that two right programs could differ. */
struct json *oracle_answer(const struct world *world, const struct ask *ask);

/* period.c */
struct phrase {
	char *text; /* "in March 2025" */
	struct range range;
	char *before;	       /* the words for the one before it: "the month before"; NULL: none */
	struct range previous; /* what those mean */
};
struct phrase phrase_any(struct world *world);
struct phrase phrase_whole(struct world *world); /* a calendar unit: it has a before */

/* questions.c, doubts.c, denials.c: arrays of cases, in the world's next rolls of the dice.
 * {"kind","question","expect":{"status","rows","ordered","period","optional","says","choices",
 * "after":{"choice","rows","ordered"}}}: after the choice that is made, these rows are due. */
struct json *questions_make(struct world *world, size_t count);
void doubts_add(struct world *world, struct json *cases);
void slips_add(struct world *world, struct json *cases); /* "status":"unanswered" */
struct json *denials_make(struct world *world, size_t count);
/* One answerable question; NULL when the dice fell badly: roll again. */
struct json *question_make(struct world *world);

/* write_model.c, write_files.c, write_database.c */
char *world_model_yaml(const struct world *world, bool with_hidden);
char *world_scope_yaml(const struct world *world);
char *world_service_yaml(const struct world *world);
struct sqlite3;
MUST_CHECK int world_write_database(const struct world *world, struct sqlite3 *sqlite,
				    struct err *err);

#endif
