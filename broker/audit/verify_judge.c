/*
 * From what was read to verdicts. Every verdict that holds is kept with its reason; the exit code
 * is the highest of the proofs of damage, then the highest of the rest. Proof of damage outranks
 * "could not check".
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/audit/verify_state.h"
#include "writ/exit_codes.h"

static const struct {
	const char *name;
	int exit_code;
} verdicts[AUDIT_VERDICTS] = {
	[AUDIT_SIGNED] = {"SIGNED", EXIT_FINE},
	[AUDIT_ANCHORED] = {"ANCHORED", EXIT_FINE},
	[AUDIT_WITNESSED] = {"WITNESSED", EXIT_FINE},
	[AUDIT_UNSIGNED_TAIL] = {"UNSIGNED-TAIL", EXIT_UNSIGNED_TAIL},
	[AUDIT_POLICY] = {"POLICY", EXIT_POLICY},
	[AUDIT_UNSIGNED] = {"UNSIGNED", EXIT_UNSIGNED},
	[AUDIT_INCONCLUSIVE] = {"INCONCLUSIVE", EXIT_INCONCLUSIVE},
	[AUDIT_TRUNCATED] = {"TRUNCATED", EXIT_TRUNCATED},
	[AUDIT_TAMPERED] = {"TAMPERED", EXIT_TAMPERED},
	[AUDIT_FORKED] = {"FORKED", EXIT_FORKED},
};

const char *audit_verdict_name(enum audit_verdict verdict)
{
	return verdicts[verdict].name;
}

/* The first reason stays. */
void verify_hold(struct audit_report *report, enum audit_verdict verdict, const char *format, ...)
{
	va_list args;

	if (report->holds[verdict])
		return;
	report->holds[verdict] = true;
	va_start(args, format);
	vsnprintf(report->text[verdict], AUDIT_TEXT_MAX, format, args);
	va_end(args);
}

static unsigned long long number(uint64_t value)
{
	return value;
}

static const char *signed_by(const struct verify_head *head)
{
	return head->is_signed ? "" : " (whose own signature is not proven)";
}

/* A head that fits what the records say of each other proves that nothing but the record named by
 * the first break was changed: settle on it. */
static void settle_bad_record(struct audit_verify *verify)
{
	for (size_t i = 0; i < verify->head_count; i++) {
		const struct verify_head *head = &verify->heads[i];

		if (head->fit != HEAD_FITS_CLAIMS || verify->settled)
			continue;
		snprintf(verify->bad_text, sizeof(verify->bad_text),
			 "record %llu was changed: with the hash that record %llu holds for it the "
			 "log fits %s, with its own it does not",
			 number(verify->bad_record), number(verify->bad_record) + 1, head->where);
		verify->settled = true;
	}
}

static void judge_head_form(const struct verify_head *head, struct audit_report *report)
{
	if (!head->readable)
		verify_hold(report, AUDIT_TAMPERED, "%s is no checkpoint: %s", head->where,
			    head->why.text);
	else if (head->is_forged)
		verify_hold(report, AUDIT_TAMPERED, "%s: %s", head->where, head->why.text);
}

static void judge_head(const struct audit_verify *verify, const struct verify_head *head,
		       struct audit_report *report)
{
	judge_head_form(head, report);
	if (!head->readable)
		return;
	if (verify->origin[0] != '\0' && strcmp(verify->origin, head->checkpoint.origin) != 0)
		verify_hold(report, AUDIT_TAMPERED, "%s is a head of %s, but record 0 opens %s",
			    head->where, head->checkpoint.origin, verify->origin);
	if (head->checkpoint.size > verify->records)
		verify_hold(report, AUDIT_TRUNCATED,
			    "%llu of the %llu records that %s counts%s are there",
			    number(verify->records), number(head->checkpoint.size), head->where,
			    signed_by(head));
	else if (head->fit == HEAD_FITS_CLAIMS || head->fit == HEAD_DIFFERS)
		verify_hold(report, AUDIT_TAMPERED,
			    "records 0 to %llu do not give the root of %s%s; if they hold together "
			    "otherwise, they were written anew from the changed one on",
			    number(head->checkpoint.size) - 1, head->where, signed_by(head));
}

static void judge_fork(const struct audit_verify *verify, struct audit_report *report)
{
	for (size_t i = 0; i < verify->head_count; i++) {
		for (size_t j = 0; j < verify->head_count; j++) {
			const struct verify_head *a = &verify->heads[i];
			const struct verify_head *b = &verify->heads[j];
			bool same_size =
				a->checkpoint.size == b->checkpoint.size &&
				memcmp(a->checkpoint.root, b->checkpoint.root, SHA256_LEN) != 0;
			bool parted = a->fit == HEAD_FITS && b->fit == HEAD_DIFFERS;

			if (i != j && a->is_signed && b->is_signed && (same_size || parted))
				verify_hold(
					report, AUDIT_FORKED,
					"%s (size %llu) and %s (size %llu) are both signed, but no "
					"log has both as its heads: keep both files as evidence",
					a->where, number(a->checkpoint.size), b->where,
					number(b->checkpoint.size));
		}
	}
}

static bool is_damaged(const struct audit_report *report)
{
	return report->holds[AUDIT_TRUNCATED] || report->holds[AUDIT_TAMPERED] ||
	       report->holds[AUDIT_FORKED];
}

static void judge_unsigned(const struct audit_verify *verify, struct audit_report *report)
{
	if (verify->records == 0 && !is_damaged(report))
		verify_hold(
			report, AUDIT_INCONCLUSIVE,
			"the log is empty and there is no head of a pinned key to compare it with");
	else if (verify->options.key_count == 0)
		verify_hold(
			report, AUDIT_UNSIGNED,
			"no key was given from outside the log, so whoever wrote the log may have "
			"written the head too");
	else if (verify->head_count == 0)
		verify_hold(report, AUDIT_UNSIGNED, "there is no checkpoint");
	else
		verify_hold(report, AUDIT_UNSIGNED,
			    "no head carries a good signature of the pinned key");
}

static void judge_tail(const struct audit_verify *verify, struct audit_report *report)
{
	uint64_t behind = verify->records - report->signed_size;

	if (is_damaged(report) || (behind == 0 && report->torn_bytes == 0))
		return;
	verify_hold(
		report, AUDIT_UNSIGNED_TAIL,
		"%llu records and %llu bytes without a line feed follow the signed head of %llu",
		number(behind), number(report->torn_bytes), number(report->signed_size));
}

static void judge_signatures(const struct audit_verify *verify, struct audit_report *report)
{
	bool any = false;

	for (size_t i = 0; i < verify->head_count; i++) {
		const struct verify_head *head = &verify->heads[i];

		if (!head->is_signed)
			continue;
		any = true;
		if (head->fit == HEAD_FITS && head->checkpoint.size >= report->signed_size) {
			report->signed_size = head->checkpoint.size;
			if (!is_damaged(report))
				verify_hold(report, AUDIT_SIGNED,
					    "%s is signed by the pinned key and fits the log",
					    head->where);
		}
	}
	if (!any)
		judge_unsigned(verify, report);
	else
		judge_tail(verify, report);
}

static int exit_code(const struct audit_verify *verify, const struct audit_report *report)
{
	for (int i = AUDIT_FORKED; i >= AUDIT_TRUNCATED; i--)
		if (report->holds[i])
			return verdicts[i].exit_code;
	for (int i = AUDIT_INCONCLUSIVE; i >= AUDIT_UNSIGNED_TAIL; i--)
		if (report->holds[i] && !(i == AUDIT_UNSIGNED_TAIL && verify->options.live))
			return verdicts[i].exit_code;
	return EXIT_FINE;
}

void audit_verify_end(struct audit_verify *verify, struct audit_report *ret_report)
{
	struct audit_report *report = ret_report;

	audit_verify_done(verify);
	memset(report, 0, sizeof(*report));
	report->records = verify->records;
	report->hash_only = verify->hash_only;
	for (size_t i = 0; i < verify->segment_count; i++)
		report->segments += !verify->segments[i].only_hashes;
	report->bytes = verify->bytes;
	report->torn_bytes = verify->line.len + verify->long_bytes;
	settle_bad_record(verify);
	verify_follow_rotations(verify);
	if (verify->rotation_count > 0) {
		report->has_rotated = true;
		report->rotated_at = verify->rotations[verify->rotation_count - 1].seq;
		report->rotated_key = verify->rotations[verify->rotation_count - 1].key;
	}
	verify_judge_segments(verify);
	if (verify->has_bad)
		verify_hold(report, AUDIT_TAMPERED, "%.340s%s%.240s", verify->bad_text,
			    verify->border_text[0] != '\0' ? "; and " : "", verify->border_text);
	report->has_bad = verify->has_bad;
	report->bad_record = verify->bad_record;
	for (size_t i = 0; i < verify->head_count; i++)
		judge_head(verify, &verify->heads[i], report);
	judge_fork(verify, report);
	if (verify->border_text[0] != '\0')
		verify_hold(report, AUDIT_TAMPERED, "%s", verify->border_text);
	judge_signatures(verify, report);
	if (!is_damaged(report))
		verify_judge_witnesses(verify, report);
	report->exit_code = exit_code(verify, report);
}
