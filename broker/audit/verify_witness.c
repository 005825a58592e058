/*
 * What vouches for a head beside the log's own key: that it was kept outside the log's folder, and
 * that witnesses cosigned it. Both only count for heads that are signed and fit. Nothing here can
 * fail; what falls short of what was asked for is the verdict POLICY.
 */
#include <stdio.h>
#include <string.h>

#include "broker/audit/cosignature.h"
#include "broker/audit/verify_state.h"

static bool is_good(const struct verify_head *head)
{
	return head->is_signed && head->fit == HEAD_FITS;
}

static void age_text(int64_t age_us, char out[64])
{
	int64_t seconds = age_us < 0 ? 0 : age_us / 1000000;

	if (seconds < 120)
		snprintf(out, 64, "%lld s", (long long)seconds);
	else if (seconds < 7200)
		snprintf(out, 64, "%lld min", (long long)seconds / 60);
	else if (seconds < 172800)
		snprintf(out, 64, "%lld h", (long long)seconds / 3600);
	else
		snprintf(out, 64, "%lld days", (long long)seconds / 86400);
}

static const struct verify_head *newest_kept(const struct audit_verify *verify)
{
	const struct verify_head *best = NULL;

	for (size_t i = 0; i < verify->head_count; i++) {
		const struct verify_head *head = &verify->heads[i];

		if (head->kind == AUDIT_HEAD_KEPT && is_good(head) &&
		    (best == NULL || head->checkpoint.size > best->checkpoint.size))
			best = head;
	}
	return best;
}

static void judge_anchor(const struct audit_verify *verify, struct audit_report *report)
{
	const struct audit_verify_options *options = &verify->options;
	const struct verify_head *head = newest_kept(verify);
	int64_t time = 0;
	char age[64] = "unknown";
	bool dated;

	if (head == NULL) {
		if (options->needs_anchor)
			verify_hold(report, AUDIT_POLICY,
				    "an anchor is asked for, but no signed head that was kept "
				    "outside the log fits it");
		return;
	}
	report->anchored_size = head->checkpoint.size;
	dated = head->time[0] != '\0' && timestamp_read(head->time, &time, NULL) == 0;
	if (dated && options->now_us > 0)
		age_text(options->now_us - time, age);
	verify_hold(report, AUDIT_ANCHORED,
		    "%s, kept outside the log, fits its first %llu records, the last of %s (age "
		    "%s)",
		    head->where, (unsigned long long)head->checkpoint.size,
		    dated ? head->time : "unknown time", age);
	if (options->anchor_age_max_us > 0 &&
	    (!dated || options->now_us - time > options->anchor_age_max_us))
		verify_hold(report, AUDIT_POLICY,
			    "the newest anchor covers records up to %s only, which is longer ago "
			    "than asked for",
			    dated ? head->time : "an unknown time");
}

struct cosigners {
	bool *cosigned; /* by place in the policy; owned */
	size_t count;
	uint64_t latest; /* seconds since 1970 */
};

/* A bad line of a known witness spoils the head for this purpose. */
static bool find_cosigners(const struct trust_policy *policy, const struct verify_head *head,
			   struct cosigners *ret)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct err err;

	if (note_parse(head->note, head->note_len, note, &err) < 0)
		return false;
	for (size_t i = 0; i < policy->member_count; i++) {
		uint64_t time = 0;
		int found;

		if (policy->members[i].is_group)
			continue;
		found = cosignature_verify(note, &policy->members[i].key, &time, &err);
		if (found < 0)
			return false;
		ret->cosigned[i] = found > 0;
		ret->count += (size_t)found;
		if (found > 0 && time > ret->latest)
			ret->latest = time;
	}
	return true;
}

static void judge_witnesses(const struct audit_verify *verify, struct audit_report *report)
{
	const struct trust_policy *policy = verify->options.policy;
	size_t witnesses = trust_policy_witnesses(policy);
	size_t most = 0;
	char time[TIMESTAMP_LEN + 1];

	if (policy->quorum < 0)
		return;
	for (size_t i = 0; i < verify->head_count; i++) {
		const struct verify_head *head = &verify->heads[i];
		CLEANUP(mem_freep) bool *cosigned = mem_array(policy->member_count + 1, 1);
		struct cosigners cosigners = {.cosigned = cosigned};

		if (!is_good(head) || head->checkpoint.size < report->witnessed_size ||
		    !find_cosigners(policy, head, &cosigners))
			continue;
		most = cosigners.count > most ? cosigners.count : most;
		if (!trust_policy_met(policy, cosigned))
			continue;
		report->witnessed_size = head->checkpoint.size;
		report->holds[AUDIT_WITNESSED] = false; /* the largest such head is told of */
		timestamp_write((int64_t)cosigners.latest * 1000000, time);
		verify_hold(report, AUDIT_WITNESSED,
			    "%zu of %zu witnesses cosigned %s, the first %llu records, last at %s",
			    cosigners.count, witnesses, head->where,
			    (unsigned long long)head->checkpoint.size, time);
	}
	if (!report->holds[AUDIT_WITNESSED])
		verify_hold(report, AUDIT_POLICY,
			    "%zu of %zu witnesses cosigned a head that fits, which is no quorum of "
			    "the policy",
			    most, witnesses);
}

void verify_judge_witnesses(const struct audit_verify *verify, struct audit_report *report)
{
	judge_anchor(verify, report);
	if (verify->options.policy != NULL)
		judge_witnesses(verify, report);
}
