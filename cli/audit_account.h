/* What a report tells of a period, gathered record by record. */
#ifndef CLI_AUDIT_ACCOUNT_H
#define CLI_AUDIT_ACCOUNT_H

#include "cli/audit_filter.h"

#define ACCOUNT_ROWS_MAX 5000 /* of each table; more are counted */
#define ACCOUNT_CELLS 7

enum account_table {
	ACCOUNT_TASKS,
	ACCOUNT_DENIALS,
	ACCOUNT_POLICIES,
	ACCOUNT_APPROVALS,
	ACCOUNT_GAPS,
	ACCOUNT_READS,
	ACCOUNT_TABLES,
};

struct account_row {
	char *cells[ACCOUNT_CELLS]; /* owned; NULL behind the last */
	bool bad;		    /* to be seen at once */
};

struct account_count {
	char *name; /* owned */
	uint64_t count;
};

struct account {
	struct audit_filter *filter; /* borrowed */
	struct opening_book *book;   /* borrowed */
	struct {
		struct account_row *rows; /* owned */
		size_t count;
		uint64_t left_out;
	} tables[ACCOUNT_TABLES];
	struct account_count *events; /* owned */
	size_t event_count;
	struct account_count *users; /* tasks of each; owned */
	size_t user_count;
	uint64_t records; /* in the period */
	uint64_t calls, denied;
	char first[32], last[32]; /* times of the first and last record in the period */
	struct account_task {	  /* that were opened and not closed yet */
		char *id;
		size_t row;
	} * open; /* owned */
	size_t open_count;
	char policy[80]; /* digest in force */
};

void account_add(struct account *account, const struct json *record);
void account_clear(struct account *account);

#endif
