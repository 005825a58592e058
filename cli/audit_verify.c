/*
 * writ audit verify: options, the check itself (broker/audit/log_check.h), the answer, and the exit
 * code. What can fail: files; everything about the log is a verdict.
 */
#include "cli/audit_verify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/audit_filter.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

#define ANSWER_FILE_MAX (32u << 20)
#define MANIFEST_BYTES_MAX (1u << 20)

static int add_to(const char **list, size_t *count, size_t max, const char *what, const char *value)
{
	if (*count == max)
		return cli_usage("audit verify", "more than %zu %ss", max, what);
	list[(*count)++] = value;
	return 0;
}

static int read_list(int argc, char **argv, int *at, struct audit_run_options *options)
{
	const char *value = NULL;
	int found = audit_option(argc, argv, at, "--checkpoint", &value);

	if (found > 0)
		return add_to(options->checkpoints, &options->checkpoint_count,
			      AUDIT_CHECKPOINTS_MAX, "checkpoint", value) == 0
			       ? 1
			       : EXIT_USAGE + 1;
	if (found == 0) {
		found = audit_option(argc, argv, at, "--key", &value);
		if (found > 0)
			return add_to(options->source.keys, &options->source.key_count,
				      AUDIT_KEYS_MAX, "key", value) == 0
				       ? 1
				       : EXIT_USAGE + 1;
	}
	return found;
}

static int read_value(int argc, char **argv, int *at, struct audit_run_options *options)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"-C", &options->source.workspace},
		      {"--policy", &options->source.policy},
		      {"--answer", &options->answer},
		      {"--anchored-within", &options->anchored_within},
		      {"--range", &options->range},
		      {"--threads", &options->threads}};
	int found = read_list(argc, argv, at, options);

	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	return found;
}

static bool read_flag(const char *word, struct audit_run_options *options)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"--live", &options->live},
		     {"--json", &options->json},
		     {"--anchored", &options->anchored},
		     {"--chain", &options->chain_only},
		     {"--files", &options->files}};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (strcmp(word, flags[i].name) == 0) {
			*flags[i].flag = true;
			return true;
		}
	return false;
}

static int read_word(int argc, char **argv, int *at, struct audit_run_options *options)
{
	int found = read_value(argc, argv, at, options);

	if (found < 0)
		return cli_usage("audit verify", "%s needs a value", argv[*at]);
	if (found > 1)
		return EXIT_USAGE;
	if (found > 0 || read_flag(argv[*at], options))
		return 0;
	if (argv[*at][0] == '-')
		return cli_usage("audit verify", "no option %s", argv[*at]);
	if (options->source.path != NULL)
		return cli_usage("audit verify", "one log at a time: %s or %s?",
				 options->source.path, argv[*at]);
	options->source.path = argv[*at];
	return 0;
}

static int read_options(int argc, char **argv, struct audit_run_options *options)
{
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, options);
	return code;
}

/* Values. */
static int read_duration(const char *text, int64_t *ret_us, struct err *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end = NULL;
	unsigned long long value = strtoull(text, &end, 10);

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (text[0] >= '0' && text[0] <= '9' && end[0] == units[i].unit && end[1] == '\0' &&
		    value > 0 && value <= 1000000) {
			*ret_us = (int64_t)value * units[i].seconds * 1000000;
			return 0;
		}
	return err_set(err, ERR_INVALID,
		       "%s is no duration: a number and s, m, h or d, such as 24h", text);
}

static int read_number(const char *text, unsigned int max, unsigned int *ret, struct err *err)
{
	char *end = NULL;
	unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '1' || text[0] > '9' || *end != '\0' || value > max)
		return err_set(err, ERR_INVALID, "%s is no number from 1 to %u", text, max);
	*ret = (unsigned int)value;
	return 0;
}

/* Records. */
static void read_own_key(struct audit_run *run, const char *entry, size_t len)
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
	struct audit_run *run = data;

	(void)leaf;
	if (seq == 0)
		read_own_key(run, entry, len);
	if (run->options.answer != NULL)
		answer_check_record(&run->answer, seq, entry, len);
}

static void on_progress(void *data, uint64_t done, uint64_t total)
{
	(void)data;
	fprintf(stderr, "\rreading the log: %llu of %llu MiB ", (unsigned long long)(done >> 20),
		(unsigned long long)(total >> 20));
}

/* The check. */
struct heads { /* kept outside the log */
	struct buf notes[AUDIT_CHECKPOINTS_MAX];
	struct log_kept kept[AUDIT_CHECKPOINTS_MAX + 1];
	size_t count;
};

static void heads_clear(struct heads *heads)
{
	for (size_t i = 0; i < AUDIT_CHECKPOINTS_MAX; i++)
		buf_clear(&heads->notes[i]);
}

static int read_heads(const struct audit_run *run, struct heads *heads, struct err *err)
{
	const char *answers = run->options.answer == NULL ? NULL : answer_checkpoint(&run->answer);

	for (size_t i = 0; i < run->options.checkpoint_count; i++) {
		const char *path = run->options.checkpoints[i];

		if (file_read_at(AT_FDCWD, path, NOTE_BYTES_MAX, &heads->notes[i], err) < 0)
			return -1;
		heads->kept[heads->count++] =
			(struct log_kept){path, buf_str(&heads->notes[i]), heads->notes[i].len};
	}
	if (answers != NULL)
		heads->kept[heads->count++] =
			(struct log_kept){"the answer's checkpoint", answers, strlen(answers)};
	return 0;
}

/* An export of a range says so; what lies outside of it is then not missed. */
static void read_manifest(struct audit_run *run)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(json_freep) struct json *json = NULL;
	int64_t from, to;

	if (run->to > 0 ||
	    log_dir_read(&run->source.dir, AUDIT_EXPORT, MANIFEST_BYTES_MAX, &bytes, NULL) < 0 ||
	    json_parse(buf_str(&bytes), bytes.len, bytes.len, &json, NULL) < 0)
		return;
	from = json_get_int(json, "from", -1);
	to = json_get_int(json, "to", -1);
	if (from >= 0 && to > from) {
		run->from = (uint64_t)from;
		run->to = (uint64_t)to;
	}
}

static int set_up(struct audit_run *run, struct log_check_options *check, struct err *err)
{
	const struct audit_run_options *options = &run->options;
	struct audit_verify_options *verify = &check->verify;

	verify->keys = run->source.keys;
	verify->key_count = run->source.key_count;
	verify->epoch_key = run->source.has_epoch_key ? &run->source.epoch_key : NULL;
	verify->policy = run->source.has_policy ? &run->source.policy : NULL;
	verify->needs_anchor = options->anchored || options->anchored_within != NULL;
	verify->now_us = clock_now_us();
	verify->live = options->live;
	verify->on_record = on_record;
	verify->data = run;
	check->chain_only = options->chain_only;
	check->hash_files = options->files;
	check->openings = !options->chain_only;
	check->progress = isatty(STDERR_FILENO) ? on_progress : NULL;
	if (options->anchored_within != NULL &&
	    read_duration(options->anchored_within, &verify->anchor_age_max_us, err) < 0)
		return err_wrap(err, "--anchored-within");
	if (options->range != NULL &&
	    audit_range_read(options->range, &run->from, &run->to, err) < 0)
		return err_wrap(err, "--range");
	if (options->threads != NULL && read_number(options->threads, 64, &check->threads, err) < 0)
		return err_wrap(err, "--threads");
	read_manifest(run);
	check->from = run->from;
	check->to = run->to;
	return 0;
}

static int check_log(struct audit_run *run, struct err *err)
{
	struct log_check_options check = {.chain_only = false};
	CLEANUP(mem_freep) struct heads *heads = mem_alloc(sizeof(*heads));
	int result = -1;

	if (set_up(run, &check, err) == 0 && read_heads(run, heads, err) == 0) {
		check.kept = heads->kept;
		check.kept_count = heads->count;
		result = log_check(&run->source.dir, &check, &run->report, err);
	}
	if (check.progress != NULL)
		fputs("\r\033[K", stderr);
	heads_clear(heads);
	if (result == 0 && run->options.answer != NULL)
		answer_check_end(&run->answer);
	return result;
}

static bool is_damage(int code)
{
	return code >= EXIT_TRUNCATED;
}

static int combined_exit_code(const struct audit_run *run)
{
	const struct audit_report *verdict = &run->report.verdict;
	int code = verdict->exit_code;

	if (run->options.answer == NULL || is_damage(code))
		return code;
	if (run->answer.failed)
		return EXIT_TAMPERED;
	if (!answer_is_proven(&run->answer))
		return EXIT_INCONCLUSIVE;
	if (code == EXIT_UNSIGNED_TAIL && run->answer.close_seq < verdict->signed_size)
		return EXIT_FINE; /* the answer is below the head; the tail is not its matter */
	return code;
}

static int read_answer(struct audit_run *run, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, run->options.answer, ANSWER_FILE_MAX, &bytes, err) < 0)
		return -1;
	if (answer_check_init(&run->answer, buf_str(&bytes), bytes.len, err) < 0)
		return err_wrap(err, "%s", run->options.answer);
	return 0;
}

static int fail(const struct err *err)
{
	int code = err->kind == ERR_IO ? EXIT_IO : EXIT_USAGE;

	return cli_fail(code, "audit verify: %s", err->text);
}

static int verify(struct audit_run *run)
{
	struct err err;

	if (audit_source_find(&run->options.source, &run->source, &err) < 0 ||
	    (run->options.answer != NULL && read_answer(run, &err) < 0) || check_log(run, &err) < 0)
		return fail(&err);
	run->exit_code = combined_exit_code(run);
	if (run->options.json)
		audit_run_print_json(run);
	else
		audit_run_print(run);
	return run->exit_code;
}

int cmd_audit_verify(int argc, char **argv)
{
	struct audit_run *run = mem_alloc(sizeof(*run));
	int code = read_options(argc, argv, &run->options);

	if (code == 0)
		code = verify(run);
	audit_source_clear(&run->source);
	answer_check_clear(&run->answer);
	mem_free(run);
	return code;
}
