/*
 * writ policy replay: the past calls of a log, decided again under another policy. The log is
 * verified while it is read, and nothing is told of one that does not verify. Reads only.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/audit_source.h"
#include "cli/policy.h"
#include "policy/replay.h"
#include "writ/record.h"

#define BUNDLE_FILE_MAX (32u << 20)
#define CHANGES_SHOWN 20u
#define REASONS_MAX 8u

struct known { /* bundles that records name */
	char *digest;
	struct bundle *bundle; /* NULL: looked for, not there */
};

struct replay {
	const struct bundle *bundle;
	bool recorded; /* each record under its own bundle */
	int folder_fd; /* -1: unknown */
	struct known *known;
	size_t known_count;
	uint64_t records;
	uint64_t counts[REPLAY_CLASSES];
	struct {
		const char *reason;
		uint64_t count;
	} reasons[REASONS_MAX];
	struct json *changes; /* the first of them */
	uint64_t change_count;
};

static void replay_clear(struct replay *replay)
{
	for (size_t i = 0; i < replay->known_count; i++) {
		mem_free(replay->known[i].digest);
		bundle_free(replay->known[i].bundle);
	}
	mem_free(replay->known);
	json_free(replay->changes);
	if (replay->folder_fd >= 0)
		fd_closep(&replay->folder_fd);
}

static struct bundle *load(const struct replay *replay, const char *digest)
{
	CLEANUP(mem_freep) char *name = mem_format("%.64s.json", digest);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct bundle *bundle = NULL;

	if (replay->folder_fd < 0 || strspn(digest, "0123456789abcdef") != SHA256_HEX_LEN ||
	    file_read_at(replay->folder_fd, name, BUNDLE_FILE_MAX, &bytes, NULL) < 0 ||
	    bundle_read(buf_str(&bytes), bytes.len, &bundle, NULL) < 0)
		return NULL;
	if (strcmp(bundle_digest(bundle), digest) == 0)
		return bundle;
	bundle_free(bundle);
	return NULL;
}

static const struct bundle *find_bundle(void *data, const char *digest)
{
	struct replay *replay = data;
	struct known *known;

	for (size_t i = replay->known_count; i-- > 0;)
		if (strcmp(replay->known[i].digest, digest) == 0)
			return replay->known[i].bundle;
	replay->known = mem_grow(replay->known, (replay->known_count + 1) * sizeof(*replay->known));
	known = &replay->known[replay->known_count++];
	*known = (struct known){mem_str(digest), load(replay, digest)};
	return known->bundle;
}

static void note_change(struct replay *replay, uint64_t seq, const struct json *record,
			const struct replay_line *line)
{
	static const char *const effects[] = {"deny", "ask", "allow"};
	struct json *json;

	replay->change_count++;
	if (json_len(replay->changes) == CHANGES_SHOWN)
		return;
	json = json_object();
	json_set_int(json, "record", (int64_t)seq);
	json_set_str(json, "at", json_get_str(record, REC_TIME));
	json_set_str(json, "class", replay_class_name(line->class));
	json_set_str(json, "was", line->was);
	json_set_str(json, "was_rule", json_get_str(record, REC_RULE));
	json_set_str(json, "now", effects[line->verdict.effect]);
	json_set_str(json, "rule", line->verdict.rule);
	json_set_str(json, "reason", line->verdict.reason);
	json_set(json, "call", json_copy(line->call));
	json_push(replay->changes, json);
}

static void count_reason(struct replay *replay, const char *reason)
{
	size_t i = 0;

	while (replay->reasons[i].reason != NULL && strcmp(replay->reasons[i].reason, reason) != 0)
		i++; /* REASONS_MAX is more than there are */
	replay->reasons[i].reason = reason;
	replay->reasons[i].count++;
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct replay *replay = data;
	CLEANUP(json_freep) struct json *record = NULL;
	const struct bundle *bundle = replay->bundle;
	struct replay_line line;
	const char *digest;

	(void)leaf;
	replay->records++;
	if (json_parse(entry, len, len, &record, NULL) < 0)
		return; /* the verifier stops before such a record */
	digest = json_get_str(record, REC_POLICY);
	if (replay->recorded)
		bundle = digest == NULL ? NULL : find_bundle(replay, digest);
	if (bundle != NULL) {
		replay_record(bundle, record, find_bundle, replay, &line);
	} else {
		const char *event = json_get_str(record, REC_EVENT);

		line = (struct replay_line){.class = REPLAY_NO_DECISION};
		if (event != NULL && strcmp(event, EV_TOOL_INTENT) == 0)
			line = (struct replay_line){.class = REPLAY_NOT_REPLAYABLE,
						    .reason = "no_bundle"};
	}
	replay->counts[line.class]++;
	if (line.class == REPLAY_NOT_REPLAYABLE)
		count_reason(replay, line.reason);
	if (line.class == REPLAY_WOULD_ALLOW || line.class == REPLAY_WOULD_DENY)
		note_change(replay, seq, record, &line);
	replay_line_clear(&line);
}

static int read_log(const struct args *args, const char *log, struct replay *replay)
{
	struct audit_source_options place = {.path = log};
	CLEANUP(audit_source_clear) struct audit_source source = {.key_count = 0};
	CLEANUP(audit_verify_freep) struct audit_verify *verify = NULL;
	CLEANUP(mem_freep) struct audit_report *report = mem_alloc(sizeof(*report));
	CLEANUP(mem_freep) char *workspace = NULL;
	struct audit_verify_options reading = {
		.live = true, .on_record = on_record, .data = replay};
	struct err err = {0};

	if (log == NULL && cli_workspace_find(args->workspace, &workspace, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	place.workspace = workspace;
	if (audit_source_find(&place, &source, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	reading.keys = source.keys;
	reading.key_count = source.key_count;
	verify = audit_verify_new(&reading);
	if (audit_source_feed(&source, verify, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	audit_verify_end(verify, report);
	if (report->has_bad || report->holds[AUDIT_TAMPERED] || report->holds[AUDIT_FORKED] ||
	    report->holds[AUDIT_TRUNCATED])
		return cli_fail(EXIT_UNAVAILABLE,
				"the log does not verify, so nothing is told of it; see writ audit "
				"verify");
	return EXIT_FINE;
}

static void print_json(const struct replay *replay)
{
	struct json *json = json_object();
	struct json *reasons = json_object();

	json_set_str(json, "policy", replay->recorded ? "recorded" : bundle_digest(replay->bundle));
	json_set_int(json, "records", (int64_t)replay->records);
	for (size_t i = 0; i < REPLAY_CLASSES; i++)
		json_set_int(json, replay_class_name((enum replay_class)i),
			     (int64_t)replay->counts[i]);
	for (size_t i = 0; i < REASONS_MAX && replay->reasons[i].reason != NULL; i++)
		json_set_int(reasons, replay->reasons[i].reason, (int64_t)replay->reasons[i].count);
	json_set(json, "reasons", reasons);
	json_set(json, "changes", json_copy(replay->changes));
	cli_print_json(json);
	json_free(json);
}

static void print_text(const struct replay *replay)
{
	json_each(change, replay->changes)
		printf("record %lld: %s, was %s%s%s\n    %s\n",
		       (long long)json_get_int(change, "record", 0), json_get_str(change, "class"),
		       json_get_str(change, "was"), json_get(change, "was_rule") ? " by " : "",
		       json_get_str(change, "was_rule") ? json_get_str(change, "was_rule") : "",
		       json_get_str(change, "reason"));
	if (replay->change_count > CHANGES_SHOWN)
		printf("... and %llu more\n",
		       (unsigned long long)replay->change_count - CHANGES_SHOWN);
	printf("%llu records:", (unsigned long long)replay->records);
	for (size_t i = 0; i < REPLAY_CLASSES; i++)
		printf("%s %llu %s", i > 0 ? "," : "", (unsigned long long)replay->counts[i],
		       replay_class_name((enum replay_class)i));
	putchar('\n');
	for (size_t i = 0; i < REASONS_MAX && replay->reasons[i].reason != NULL; i++)
		printf("  not replayable, %s: %llu\n", replay->reasons[i].reason,
		       (unsigned long long)replay->reasons[i].count);
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_source_clear) struct policy_source source = {0};
	CLEANUP(args_clear) struct args args = {0};
	CLEANUP(replay_clear) struct replay replay = {.folder_fd = -1};
	const char *log = NULL, *name = "files";
	const struct arg_option options[] = {{"--log", NULL, &log}};
	CLEANUP(mem_freep) char *workspace = NULL;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 1, &args);

	if (code != 0)
		return code;
	if (args.word_count == 1)
		name = args.words[0];
	replay.recorded = strcmp(name, "recorded") == 0;
	if (!replay.recorded)
		code = policy_source_open(&args, name, &source);
	if (code != 0)
		return code;
	replay.bundle = source.bundle;
	replay.changes = json_array();
	/* Not the owner: then nothing contradicts a name, and fewer records are replayable. */
	if (cli_workspace_find(args.workspace, &workspace, NULL) == 0) {
		CLEANUP(mem_freep)
		char *folder = mem_format("%s/state/config/policy", workspace);

		replay.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	code = read_log(&args, log, &replay);
	if (code != EXIT_FINE)
		return code;
	if (args.json)
		print_json(&replay);
	else
		print_text(&replay);
	return replay.change_count > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

const struct policy_command policy_replay = {
	.name = "replay",
	.summary = "past calls of the log, decided again under another policy",
	.help = "usage: writ policy replay [P] [--log DIR] [-C DIR] [--json]\n"
		"\n"
		"Decides every call of a verified log again under the policy P: files (default),\n"
		"live, a hash, a workspace or a bundle's file, as for writ policy diff; or "
		"recorded,\n"
		"each record under the bundle that it names. Reads only, contacts no tool.\n"
		"\n"
		"Every record counts once: unchanged, would_allow, would_deny, not_replayable "
		"(with\n"
		"the reason) or no_decision. A record holds users by pseudonym and arguments as\n"
		"digests; where a decision hangs on them it is not replayable, never guessed.\n"
		"\n"
		"  --log DIR  another log than the workspace's; with -C its key is the pinned one\n"
		"  --json     {policy, records, unchanged, would_allow, would_deny, "
		"not_replayable,\n"
		"             no_decision, reasons, changes}\n"
		"\n"
		"examples:\n"
		"  writ policy replay\n"
		"  writ policy replay recorded --json | jq .unchanged\n"
		"\n"
		"exit: 0 no decision changes, 1 some do, 2 wrong usage or unreadable files, 3 the "
		"log\n"
		"does not verify\n",
	.run = run,
};
