/*
 * writ audit show: records as a list, as their own lines (--json), or one task's story as a tree.
 * It does not verify, and says so. One task is found through an index (broker/audit/task_index.h).
 * What can fail: a file that cannot be read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/audit/task_index.h"
#include "cli/audit_filter.h"
#include "cli/audit_service.h"
#include "cli/audit_source.h"
#include "cli/audit_story.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

#define FOLLOW_US 200000 /* how often a followed log is looked at */

struct show {
	struct audit_source_options place;
	struct audit_filter filter;
	bool json, list, follow, service;

	struct audit_source source;
	struct opening_book *book;
	struct story *story; /* of one task, unless --json or --list */
	uint64_t shown;
};

static int read_flag(const char *word, struct show *show)
{
	if (strcmp(word, "--json") == 0)
		show->json = true;
	else if (strcmp(word, "--list") == 0)
		show->list = true;
	else if (strcmp(word, "--follow") == 0)
		show->follow = true;
	else if (strcmp(word, "--service") == 0)
		show->service = true;
	else
		return 0;
	return 1;
}

static int read_word(int argc, char **argv, int *at, struct show *show)
{
	int found = audit_option(argc, argv, at, "-C", &show->place.workspace);

	if (found == 0)
		found = audit_filter_option(argc, argv, at, &show->filter);
	if (found < 0)
		return cli_usage("audit show", "%s needs a value", argv[*at]);
	if (found > 0 || read_flag(argv[*at], show) > 0)
		return 0;
	if (argv[*at][0] == '-')
		return cli_usage("audit show", "no option %s", argv[*at]);
	if (show->place.path != NULL)
		return cli_usage("audit show", "one log at a time: %s or %s?", show->place.path,
				 argv[*at]);
	show->place.path = argv[*at];
	return 0;
}

static const char *text_of(const struct json *record, const char *key)
{
	const char *text = json_get_str(record, key);

	return text == NULL ? "" : text;
}

/* One line: when, what, who, with what, to which end. */
static void print_record(const struct json *record)
{
	static const char *const keys[] = {REC_CLIENT, REC_TOOL,   REC_DECISION, REC_CODE,
					   REC_RULE,   REC_STATUS, REC_CAUSE};

	printf("%6lld  %s  %-16s", (long long)json_get_int(record, REC_SEQ, 0),
	       text_of(record, REC_TIME), text_of(record, REC_EVENT));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_get_str(record, keys[i]) != NULL)
			printf("  %s", json_get_str(record, keys[i]));
	if (json_get(record, REC_ROWS) != NULL)
		printf("  %lld rows", (long long)json_get_int(record, REC_ROWS, 0));
	if (json_get(record, REC_COMMITS) != NULL)
		printf("  %zu commitments", json_len(json_get(record, REC_COMMITS)));
	putchar('\n');
}

static int on_line(void *data, const struct log_line *line, struct err *err)
{
	struct show *show = data;
	CLEANUP(json_freep) struct json *record = NULL;

	(void)err;
	if (json_parse(line->entry, line->len, line->len, &record, NULL) < 0) {
		fprintf(stderr,
			"writ: audit show: %s has a line at byte %llu that is no record; "
			"see `writ audit verify`\n",
			show->source.dir.parts[line->part].name, (unsigned long long)line->offset);
		return 0;
	}
	if (!audit_filter_takes(&show->filter, show->book, record))
		return 0;
	show->shown++;
	if (show->json)
		printf("%.*s\n", (int)line->len, line->entry);
	else if (show->story != NULL)
		story_add(show->story, TAKE(record));
	else
		print_record(record);
	return 0;
}

/* The reader's own folder for what can be made again: XDG Base Directory Specification. */
static char *cache_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *folder = NULL;
	CLEANUP(mem_freep) char *root = NULL;

	if (base != NULL && base[0] == '/')
		root = mem_str(base);
	else if (home != NULL && home[0] == '/')
		root = mem_format("%s/.cache", home);
	if (root == NULL || (mkdir(root, 0700) < 0 && errno != EEXIST))
		return NULL;
	folder = mem_format("%s/writ-audit", root);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST) {
		mem_free(folder);
		return NULL;
	}
	return folder;
}

/* What was appended since, and new segments; until the reader has enough of it. */
static int follow(struct show *show, struct err *err)
{
	size_t part = show->source.dir.count == 0 ? 0 : show->source.dir.count - 1;
	uint64_t offset = 0;

	for (size_t i = 0; i < show->source.dir.count; i++)
		if (show->source.dir.parts[i].has_lines &&
		    log_walk_part(&show->source.dir, i, 0, on_line, show, &offset, err) < 0)
			return -1;
	for (;;) {
		struct log_dir now;

		fflush(stdout);
		if (ferror(stdout))
			return 0; /* nobody reads on */
		usleep(FOLLOW_US);
		if (log_dir_open(show->source.dir.path, &now, err) < 0)
			return -1;
		log_dir_close(&show->source.dir);
		show->source.dir = now;
		for (; part < now.count; part++) {
			if (now.parts[part].has_lines &&
			    log_walk_part(&now, part, offset, on_line, show, &offset, err) < 0)
				return -1;
			if (part + 1 == now.count)
				break;
			offset = 0;
		}
	}
}

static int run_all(struct show *show, struct err *err)
{
	CLEANUP(mem_freep) char *cache = NULL;

	if (show->follow)
		return follow(show, err);
	if (show->filter.task == NULL)
		return log_walk(&show->source.dir, on_line, show, err) < 0 ? -1 : 0;
	cache = show->source.dir.is_file ? NULL : cache_folder();
	return task_index_find(&show->source.dir, cache, show->filter.task, on_line, show, err);
}

static void open_book(struct show *show)
{
	CLEANUP(mem_freep)
	char *path = mem_format("%s/" AUDIT_OPENINGS, show->source.dir.path);

	if (!show->source.dir.is_file)
		IGNORE(opening_book_open(path, &show->book, NULL) < 0,
		       "without openings there is just less to show");
}

static int finish(struct show *show)
{
	if (show->story != NULL && show->shown > 0)
		story_print(show->story, &show->filter);
	if (show->shown == 0 && show->filter.task != NULL)
		return cli_fail(EXIT_NEGATIVE, "audit show: no record of task %s",
				show->filter.task);
	return EXIT_FINE;
}

/* What is asked for, as it is recorded. */
static int run_service(struct show *show)
{
	CLEANUP(mem_freep)
	char *filter = mem_format("show%s%s", show->filter.task != NULL ? " task " : "",
				  show->filter.task != NULL ? show->filter.task : "");
	int code;

	if (show->place.path != NULL || show->follow)
		return cli_usage("audit show", "--service reads the workspace's log, once");
	code = audit_service_walk(show->place.workspace, "read", filter, on_line, show);
	return code != 0 ? code : finish(show);
}

static int run(struct show *show)
{
	struct err err;

	if (audit_filter_init(&show->filter, clock_now_us(), &err) < 0 ||
	    (!show->service && audit_source_find(&show->place, &show->source, &err) < 0))
		return cli_fail(EXIT_USAGE, "audit show: %s", err.text);
	if (!show->service)
		open_book(show);
	if (show->filter.task != NULL && !show->json && !show->list && !show->follow)
		show->story = story_new(show->book);
	if (show->service)
		return run_service(show);
	if (run_all(show, &err) < 0)
		return cli_fail(err.kind == ERR_IO ? EXIT_IO : EXIT_USAGE, "audit show: %s",
				err.text);
	return finish(show);
}

int cmd_audit_show(int argc, char **argv)
{
	struct show show = {.json = false};
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, &show);
	if (code == 0)
		code = run(&show);
	story_free(show.story);
	opening_book_close(show.book);
	audit_filter_clear(&show.filter);
	audit_source_clear(&show.source);
	return code;
}
