/* What `writ audit verify` says: every verdict that holds, what was looked at, and what stays
 * unproven. */
#include <stdio.h>
#include <string.h>

#include "cli/audit_verify.h"
#include "cli/cli.h"

static const char *const residue[] = {
	"an event that was never recorded, or a false record by an honest signer",
	"a record written after the newest head that left the machine",
	("a cut back to an older head, unless a newer one was kept elsewhere (--checkpoint) or "
	 "cosigned (--policy)"),
};

/* What an answer says that its record does not commit to. */
static const char answer_residue[] = "flags, period, units, bytes, usage: not committed to";

static unsigned long long number(uint64_t value)
{
	return value;
}

/* Words. */
static void print_verdicts(const struct audit_report *report)
{
	for (int i = AUDIT_VERDICTS - 1; i >= 0; i--) {
		const char *color = i <= AUDIT_WITNESSED   ? "\033[32m"
				    : i >= AUDIT_TRUNCATED ? "\033[31m"
							   : "\033[33m";

		if (report->holds[i])
			printf("%s%-14s%s %s\n", cli_color() ? color : "",
			       audit_verdict_name((enum audit_verdict)i),
			       cli_color() ? "\033[0m" : "", report->text[i]);
	}
}

static void print_pinned(const struct audit_run *run)
{
	char fingerprint[SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < run->source.key_count; i++) {
		vkey_fingerprint(&run->source.keys[i], fingerprint);
		printf("%s pinned by %s, fingerprint %s\n",
		       i == 0 ? "key           " : "              ", run->source.key_from,
		       fingerprint);
	}
	if (run->source.has_epoch_key)
		printf("               the key of epoch 0 is pinned too\n");
	if (run->report.verdict.has_rotated) {
		CLEANUP(buf_clear) struct buf key = BUF_INIT;

		vkey_write(&run->report.verdict.rotated_key, &key);
		printf("               record %llu names a newer key: %s\n",
		       number(run->report.verdict.rotated_at), buf_str(&key));
	}
}

static void print_key(const struct audit_run *run)
{
	char fingerprint[SHA256_HEX_LEN + 1];
	struct vkey own;

	if (run->source.key_count > 0) {
		print_pinned(run);
		return;
	}
	printf("key            none pinned%s%s\n", run->source.key_note != NULL ? ": " : "",
	       run->source.key_note != NULL ? run->source.key_note : "");
	if (vkey_parse(run->own_key, strlen(run->own_key), &own, NULL) == 0) {
		vkey_fingerprint(&own, fingerprint);
		printf("               the log itself names a key with fingerprint %s; if you know "
		       "that one from elsewhere, pin it with --key\n",
		       fingerprint);
	}
}

static void print_answer(const struct audit_run *run)
{
	const struct answer_check *answer = &run->answer;

	printf("answer         task %s, record %llu\n", answer->task,
	       (unsigned long long)answer->close_seq);
	for (size_t i = 0; i < ANSWER_FIELDS; i++) {
		const struct answer_field *field = &answer->fields[i];

		if (field->state == ANSWER_MATCHES)
			printf("               %s: matches\n", field->name);
		else if (field->state != ANSWER_ABSENT)
			printf("               %s\n", field->text);
	}
	printf("               %s\n", answer_residue);
	if (answer->failed)
		printf("ANSWER CHANGED %s\n", answer->why);
	else if (!answer_is_proven(answer))
		printf("ANSWER OPEN    not every part of it could be checked\n");
	else if (run->exit_code == EXIT_FINE)
		printf("ANSWER PROVEN  it is the one the log committed to\n");
	else
		printf("ANSWER FITS    the log, with what is said of the log above\n");
}

static void print_log(const struct audit_run *run)
{
	const struct log_check_report *report = &run->report;
	const struct audit_report *verdict = &report->verdict;

	printf("log            %s: %llu records, %llu below the signed head, %llu head%s "
	       "compared\n",
	       run->source.dir.path, number(verdict->records), number(verdict->signed_size),
	       number(report->heads), report->heads == 1 ? "" : "s");
	if (verdict->segments > 1 || report->tiles > 0)
		printf("               %llu segments, %llu tiles compared, %llu missing\n",
		       number(verdict->segments), number(report->tiles),
		       number(report->tiles_missing));
	if (run->to > 0)
		printf("range          records %llu to %llu%s\n", number(run->from),
		       number(run->to) - 1,
		       verdict->hash_only > 0 ? "; others are attested by their hashes only" : "");
	else if (verdict->hash_only > 0)
		printf("dropped        %llu records are attested by their hashes only\n",
		       number(verdict->hash_only));
}

static void print_openings(const struct openings_report *openings)
{
	if (openings->commitments == 0)
		return;
	if (!openings->there) {
		printf("openings       none here: %llu commitments stay closed\n",
		       number(openings->commitments));
		return;
	}
	printf("openings       %llu present, %llu redacted (a record says so), %llu missing "
	       "without such a record\n",
	       number(openings->present), number(openings->redacted), number(openings->missing));
	if (openings->undone > 0)
		printf("               %llu said to be redacted are still there\n",
		       number(openings->undone));
}

void audit_run_print(const struct audit_run *run)
{
	const struct audit_report *report = &run->report.verdict;

	print_verdicts(report);
	print_log(run);
	print_openings(&run->report.openings);
	print_key(run);
	if (run->options.answer != NULL)
		print_answer(run);
	printf("not proven     ");
	for (size_t i = 0; i < ARRAY_LEN(residue); i++)
		printf("%s%s", i == 0 ? "" : "\n               ", residue[i]);
	putchar('\n');
}

/* JSON. */
static struct json *verdicts_json(const struct audit_report *report)
{
	struct json *list = json_array();

	for (int i = AUDIT_VERDICTS - 1; i >= 0; i--) {
		struct json *item;

		if (!report->holds[i])
			continue;
		item = json_object();
		json_set_str(item, "verdict", audit_verdict_name((enum audit_verdict)i));
		json_set_str(item, "reason", report->text[i]);
		json_push(list, item);
	}
	return list;
}

static struct json *key_json(const struct audit_source *source)
{
	char fingerprint[SHA256_HEX_LEN + 1];
	struct json *key;

	if (source->key_count == 0)
		return json_new_null();
	key = json_object();
	vkey_fingerprint(&source->keys[0], fingerprint);
	json_set_str(key, "name", source->keys[0].name);
	json_set_str(key, "fingerprint", fingerprint);
	json_set_str(key, "from", source->key_from);
	json_set_int(key, "count", (int64_t)source->key_count);
	json_set_bool(key, "epoch_0", source->has_epoch_key);
	return key;
}

static struct json *openings_json(const struct openings_report *openings)
{
	struct json *out = json_object();

	json_set_bool(out, "there", openings->there);
	json_set_int(out, "commitments", (int64_t)openings->commitments);
	json_set_int(out, "present", (int64_t)openings->present);
	json_set_int(out, "redacted", (int64_t)openings->redacted);
	json_set_int(out, "missing", (int64_t)openings->missing);
	json_set_int(out, "undone", (int64_t)openings->undone);
	json_set_int(out, "wrong", (int64_t)openings->wrong);
	return out;
}

static struct json *tiles_json(const struct log_check_report *report)
{
	struct json *out = json_object();

	json_set_int(out, "compared", (int64_t)report->tiles);
	json_set_int(out, "missing", (int64_t)report->tiles_missing);
	return out;
}

static struct json *answer_json(const struct answer_check *answer)
{
	struct json *out = json_object();
	struct json *fields = json_object();

	json_set_str(out, "task", answer->task);
	json_set_bool(out, "proven", answer_is_proven(answer));
	if (answer->failed)
		json_set_str(out, "reason", answer->why);
	if (answer->close != NULL)
		json_set_int(out, "record", (int64_t)answer->close_seq);
	for (size_t i = 0; i < ANSWER_FIELDS; i++)
		json_set_str(fields, answer->fields[i].name,
			     answer_state_name(answer->fields[i].state));
	json_set(out, "fields", fields);
	return out;
}

void audit_run_print_json(const struct audit_run *run)
{
	CLEANUP(json_freep) struct json *out = json_object();
	struct json *unproven = json_array();
	const struct audit_report *report = &run->report.verdict;

	json_set_int(out, "exit_code", run->exit_code);
	json_set(out, "verdicts", verdicts_json(report));
	json_set_str(out, "log", run->source.dir.path);
	json_set_int(out, "records", (int64_t)report->records);
	json_set_int(out, "bytes", (int64_t)report->bytes);
	json_set_int(out, "torn_bytes", (int64_t)report->torn_bytes);
	json_set_int(out, "signed_size", (int64_t)report->signed_size);
	json_set_int(out, "anchored_size", (int64_t)report->anchored_size);
	json_set_int(out, "witnessed_size", (int64_t)report->witnessed_size);
	json_set_int(out, "hash_only", (int64_t)report->hash_only);
	json_set_int(out, "segments", (int64_t)report->segments);
	json_set_int(out, "heads", (int64_t)run->report.heads);
	json_set(out, "tiles", tiles_json(&run->report));
	json_set(out, "openings", openings_json(&run->report.openings));
	json_set(out, "bad_record",
		 report->has_bad ? json_new_int((int64_t)report->bad_record) : json_new_null());
	json_set(out, "key", key_json(&run->source));
	if (run->options.answer != NULL)
		json_set(out, "answer", answer_json(&run->answer));
	for (size_t i = 0; i < ARRAY_LEN(residue); i++)
		json_push_str(unproven, residue[i]);
	if (run->options.answer != NULL)
		json_push_str(unproven, answer_residue);
	json_set(out, "not_proven", unproven);
	cli_print_json(out);
}
