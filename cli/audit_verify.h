/* One run of `writ audit verify`: audit_verify.c fills it, audit_verdict.c tells of it. */
#ifndef CLI_AUDIT_VERIFY_H
#define CLI_AUDIT_VERIFY_H

#include "broker/audit/log_check.h"
#include "cli/audit_answer.h"
#include "cli/audit_source.h"

#define AUDIT_CHECKPOINTS_MAX 64

struct audit_run_options {
	struct audit_source_options source;
	const char *checkpoints[AUDIT_CHECKPOINTS_MAX];
	size_t checkpoint_count;
	const char *answer;
	const char *anchored_within; /* a duration, or NULL */
	const char *range;	     /* N-M, or NULL */
	const char *threads;
	bool anchored;
	bool chain_only;
	bool files;
	bool live;
	bool json;
};

struct audit_run {
	struct audit_run_options options;
	struct audit_source source;
	struct answer_check answer; /* if options.answer */
	uint64_t from, to;	    /* records that were asked for; 0, 0: all */
	char own_key[512];	    /* as record 0 names it; empty when it does not */
	struct log_check_report report;
	int exit_code;
};

void audit_run_print(const struct audit_run *run);
void audit_run_print_json(const struct audit_run *run);

#endif
