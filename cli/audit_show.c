/* writ audit show: the records as a plain list, or as their own lines with --json. It does not
 * verify, and says so. What can fail: a file that cannot be read. */
#include <stdio.h>
#include <string.h>

#include "cli/audit_source.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

struct options {
	const char *dir;
	const char *workspace;
	const char *task;
	bool json;
};

static int read_word(int argc, char **argv, int *at, struct options *options)
{
	int found = audit_option(argc, argv, at, "-C", &options->workspace);

	if (found == 0)
		found = audit_option(argc, argv, at, "--task", &options->task);
	if (found < 0)
		return cli_usage("audit show", "%s needs a value", argv[*at]);
	if (found > 0)
		return 0;
	if (strcmp(argv[*at], "--json") == 0)
		options->json = true;
	else if (argv[*at][0] == '-')
		return cli_usage("audit show", "no option %s", argv[*at]);
	else if (options->dir != NULL)
		return cli_usage("audit show", "one log at a time: %s or %s?", options->dir,
				 argv[*at]);
	else
		options->dir = argv[*at];
	return 0;
}

static const char *text_of(const struct json *record, const char *key)
{
	const char *text = json_get_str(record, key);

	return text == NULL ? "" : text;
}

/* One line: when, what, who, with what, to which end. */
static void print_record(uint64_t seq, const struct json *record)
{
	static const char *const keys[] = {REC_CLIENT, REC_TOOL,   REC_DECISION, REC_CODE,
					   REC_RULE,   REC_STATUS, REC_CAUSE};

	printf("%6llu  %s  %-16s", (unsigned long long)seq, text_of(record, REC_TIME),
	       text_of(record, REC_EVENT));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_get_str(record, keys[i]) != NULL)
			printf("  %s", json_get_str(record, keys[i]));
	if (json_get(record, REC_ROWS) != NULL)
		printf("  %lld rows", (long long)json_get_int(record, REC_ROWS, 0));
	if (json_get(record, REC_COMMITS) != NULL)
		printf("  %zu commitments", json_len(json_get(record, REC_COMMITS)));
	putchar('\n');
}

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	const struct options *options = data;
	CLEANUP(json_freep) struct json *record = NULL;

	(void)leaf;
	if (json_parse(entry, len, len, &record, NULL) < 0)
		return;
	if (options->task != NULL && strcmp(text_of(record, REC_TASK), options->task) != 0)
		return;
	if (options->json)
		printf("%.*s\n", (int)len, entry);
	else
		print_record(seq, record);
}

static int show(struct options *options)
{
	CLEANUP(audit_source_clear) struct audit_source source = {.dir = NULL};
	CLEANUP(audit_verify_freep) struct audit_verify *verify = NULL;
	CLEANUP(mem_freep) struct audit_report *report = mem_alloc(sizeof(*report));
	struct audit_verify_options reading = {.on_record = on_record, .data = options};
	struct err err;

	if (audit_source_find(options->dir, options->workspace, NULL, &source, &err) < 0)
		return cli_fail(EXIT_USAGE, "audit show: %s", err.text);
	verify = audit_verify_new(&reading);
	if (audit_source_feed(&source, verify, &err) < 0)
		return cli_fail(err.kind == ERR_IO ? EXIT_IO : EXIT_USAGE, "audit show: %s",
				err.text);
	audit_verify_end(verify, report);
	if (report->has_bad)
		return cli_fail(EXIT_NEGATIVE,
				"audit show: nothing is shown from record %llu on: %s; see `writ "
				"audit verify`",
				(unsigned long long)report->bad_record,
				report->text[AUDIT_TAMPERED]);
	return EXIT_FINE;
}

int cmd_audit_show(int argc, char **argv)
{
	struct options options = {.dir = NULL};
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, &options);
	return code != 0 ? code : show(&options);
}
