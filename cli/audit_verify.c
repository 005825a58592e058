/*
 * writ audit verify: heads first, then the log (a live log only grows meanwhile), then verdicts in
 * words, with what stays unproven. What can fail: files; everything about the log is a verdict.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/audit_answer.h"
#include "cli/audit_source.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

#define ANSWER_FILE_MAX (32u << 20)
#define CHECKPOINTS_MAX 64

struct options {
	const char *dir;
	const char *workspace;
	const char *key;
	const char *checkpoints[CHECKPOINTS_MAX];
	size_t checkpoint_count;
	const char *answer;
	bool live;
	bool json;
};

struct run {
	struct options options;
	struct audit_source source;
	struct answer_check answer; /* if options.answer */
	size_t head_count;
	char own_key[512]; /* as record 0 names it; empty when it does not */
	struct audit_report report;
	int exit_code;
};

static const char *const residue[] = {
	"an event that was never recorded, or a false record by an honest signer",
	"a record written after the newest head that left the machine",
	"a cut back to an older head, unless a newer one was kept elsewhere (--checkpoint)",
};

/* What an answer says that its record does not commit to. */
static const char answer_residue[] = "flags, period, units, bytes, usage: not committed to";

static int add_checkpoint(struct options *options, const char *path)
{
	if (options->checkpoint_count == CHECKPOINTS_MAX)
		return cli_usage("audit verify", "more than %d checkpoints", CHECKPOINTS_MAX);
	options->checkpoints[options->checkpoint_count++] = path;
	return 0;
}

static int read_word(int argc, char **argv, int *at, struct options *options)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"-C", &options->workspace},
		      {"--key", &options->key},
		      {"--answer", &options->answer}};
	const char *checkpoint = NULL;
	int found = audit_option(argc, argv, at, "--checkpoint", &checkpoint);

	if (found > 0)
		return add_checkpoint(options, checkpoint);
	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	if (found < 0)
		return cli_usage("audit verify", "%s needs a value", argv[*at]);
	if (found > 0)
		return 0;
	if (strcmp(argv[*at], "--live") == 0)
		options->live = true;
	else if (strcmp(argv[*at], "--json") == 0)
		options->json = true;
	else if (argv[*at][0] == '-')
		return cli_usage("audit verify", "no option %s", argv[*at]);
	else if (options->dir != NULL)
		return cli_usage("audit verify", "one log at a time: %s or %s?", options->dir,
				 argv[*at]);
	else
		options->dir = argv[*at];
	return 0;
}

static int read_options(int argc, char **argv, struct options *options)
{
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, options);
	return code;
}

static int add_head(struct run *run, struct audit_verify *verify, const char *path, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, path, NOTE_BYTES_MAX, &bytes, err) < 0)
		return -1;
	run->head_count++;
	return audit_verify_head(verify, path, buf_str(&bytes), bytes.len, err);
}

/* The log's own head may be missing, which is a finding; one that was named may not. */
static int add_heads(struct run *run, struct audit_verify *verify, struct err *err)
{
	CLEANUP(mem_freep)
	char *own = run->source.dir == NULL ? NULL : mem_format("%s/checkpoint", run->source.dir);
	const char *kept = run->options.answer == NULL ? NULL : answer_checkpoint(&run->answer);

	if (own != NULL && add_head(run, verify, own, err) < 0 && err->kind != ERR_NOT_FOUND)
		return -1;
	for (size_t i = 0; i < run->options.checkpoint_count; i++)
		if (add_head(run, verify, run->options.checkpoints[i], err) < 0)
			return -1;
	if (kept == NULL)
		return 0;
	run->head_count++;
	return audit_verify_head(verify, "the answer's checkpoint", kept, strlen(kept), err);
}

static void read_own_key(struct run *run, const char *entry, size_t len)
{
	CLEANUP(json_freep) struct json *record = NULL;
	const char *vkey;

	if (json_parse(entry, len, len, &record, NULL) < 0)
		return;
	vkey = json_get_str(record, REC_VKEY);
	if (vkey != NULL)
		snprintf(run->own_key, sizeof(run->own_key), "%s", vkey);
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct run *run = data;

	(void)leaf;
	if (seq == 0)
		read_own_key(run, entry, len);
	if (run->options.answer != NULL)
		answer_check_record(&run->answer, seq, entry, len);
}

static int verify_all(struct run *run, struct err *err)
{
	struct audit_verify_options options = {.keys = &run->source.key,
					       .key_count = run->source.has_key ? 1 : 0,
					       .live = run->options.live,
					       .on_record = on_record,
					       .data = run};
	CLEANUP(audit_verify_freep) struct audit_verify *verify = audit_verify_new(&options);

	if (add_heads(run, verify, err) < 0)
		return -1;
	if (audit_source_feed(&run->source, verify, err) < 0) {
		/* A folder without a log is an empty log: its head then says what was there. */
		if (err->kind != ERR_NOT_FOUND || run->source.dir == NULL)
			return -1;
	}
	audit_verify_end(verify, &run->report);
	if (run->options.answer != NULL)
		answer_check_end(&run->answer);
	return 0;
}

static bool is_damage(int code)
{
	return code >= EXIT_TRUNCATED;
}

static int combined_exit_code(const struct run *run)
{
	int code = run->report.exit_code;

	if (run->options.answer == NULL || is_damage(code))
		return code;
	if (run->answer.failed)
		return EXIT_TAMPERED;
	if (!answer_is_proven(&run->answer))
		return EXIT_INCONCLUSIVE;
	if (code == EXIT_UNSIGNED_TAIL && run->answer.close_seq < run->report.signed_size)
		return EXIT_FINE; /* the answer is below the head; the tail is not its matter */
	return code;
}

static int read_answer(struct run *run, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, run->options.answer, ANSWER_FILE_MAX, &bytes, err) < 0)
		return -1;
	if (answer_check_init(&run->answer, buf_str(&bytes), bytes.len, err) < 0)
		return err_wrap(err, "%s", run->options.answer);
	return 0;
}

/* Words. */
static void print_verdicts(const struct audit_report *report)
{
	for (int i = AUDIT_VERDICTS - 1; i >= 0; i--) {
		const char *color = i == AUDIT_SIGNED	   ? "\033[32m"
				    : i >= AUDIT_TRUNCATED ? "\033[31m"
							   : "\033[33m";

		if (report->holds[i])
			printf("%s%-14s%s %s\n", cli_color() ? color : "",
			       audit_verdict_name((enum audit_verdict)i),
			       cli_color() ? "\033[0m" : "", report->text[i]);
	}
}

static void print_key(const struct run *run)
{
	char fingerprint[SHA256_HEX_LEN + 1];
	struct vkey own;

	if (run->source.has_key) {
		vkey_fingerprint(&run->source.key, fingerprint);
		printf("key            pinned by %s, fingerprint %s\n", run->source.key_from,
		       fingerprint);
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

static void print_answer(const struct run *run)
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

static void print_words(const struct run *run)
{
	const struct audit_report *report = &run->report;

	print_verdicts(report);
	printf("log            %s: %llu records, %llu below the signed head, %zu head%s compared\n",
	       run->source.file, (unsigned long long)report->records,
	       (unsigned long long)report->signed_size, run->head_count,
	       run->head_count == 1 ? "" : "s");
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

	if (!source->has_key)
		return json_new_null();
	key = json_object();
	vkey_fingerprint(&source->key, fingerprint);
	json_set_str(key, "name", source->key.name);
	json_set_str(key, "fingerprint", fingerprint);
	json_set_str(key, "from", source->key_from);
	return key;
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

static void print_json(const struct run *run)
{
	CLEANUP(json_freep) struct json *out = json_object();
	struct json *unproven = json_array();
	const struct audit_report *report = &run->report;

	json_set_int(out, "exit_code", run->exit_code);
	json_set(out, "verdicts", verdicts_json(report));
	json_set_str(out, "log", run->source.file);
	json_set_int(out, "records", (int64_t)report->records);
	json_set_int(out, "bytes", (int64_t)report->bytes);
	json_set_int(out, "torn_bytes", (int64_t)report->torn_bytes);
	json_set_int(out, "signed_size", (int64_t)report->signed_size);
	json_set_int(out, "heads", (int64_t)run->head_count);
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

static int fail(const struct err *err)
{
	int code = err->kind == ERR_IO ? EXIT_IO : EXIT_USAGE;

	return cli_fail(code, "audit verify: %s", err->text);
}

static void run_clear(struct run *run)
{
	audit_source_clear(&run->source);
	answer_check_clear(&run->answer);
}

static int verify(struct run *run)
{
	const struct options *options = &run->options;
	struct err err;

	if (audit_source_find(options->dir, options->workspace, options->key, &run->source, &err) <
		    0 ||
	    (options->answer != NULL && read_answer(run, &err) < 0) || verify_all(run, &err) < 0)
		return fail(&err);
	run->exit_code = combined_exit_code(run);
	if (options->json)
		print_json(run);
	else
		print_words(run);
	return run->exit_code;
}

int cmd_audit_verify(int argc, char **argv)
{
	struct run *run = mem_alloc(sizeof(*run));
	int code = read_options(argc, argv, &run->options);

	if (code == 0)
		code = verify(run);
	run_clear(run);
	mem_free(run);
	return code;
}
