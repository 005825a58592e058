/*
 * writ audit export. With --out a package that can be verified offline; without, lines on stdout
 * for other tools, which a filter may thin out and which prove nothing alone. What can fail: files.
 */
#include "cli/audit_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/audit/tree.h"
#include "cli/audit_source.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"
#include "writ/record.h"

struct export
{
	struct audit_source_options place;
	struct audit_filter filter;
	const char *format;
	const char *out;
	const char *range;
	bool openings;

	struct audit_source source;
	struct opening_book *book;
	const struct export_format *lines;
	uint64_t from, to;
	uint64_t count;
};

static int read_word(int argc, char **argv, int *at, struct export *export)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"-C", &export->place.workspace},
		      {"--format", &export->format},
		      {"--out", &export->out},
		      {"--range", &export->range}};
	int found = audit_filter_option(argc, argv, at, &export->filter);

	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	if (found < 0)
		return cli_usage("audit export", "%s needs a value", argv[*at]);
	if (found > 0)
		return 0;
	if (strcmp(argv[*at], "--openings") == 0)
		export->openings = true;
	else if (argv[*at][0] == '-')
		return cli_usage("audit export", "no option %s", argv[*at]);
	else if (export->place.path != NULL)
		return cli_usage("audit export", "one log at a time: %s or %s?", export->place.path,
				 argv[*at]);
	else
		export->place.path = argv[*at];
	return 0;
}

static int on_line(void *data, const struct log_line *line, struct err *err)
{
	struct export *export = data;
	CLEANUP(json_freep) struct json *json = NULL;
	struct export_record record = {.entry = line->entry, .len = line->len};
	uint8_t leaf[SHA256_LEN];
	uint64_t seq;

	if (json_parse(line->entry, line->len, line->len, &json, err) < 0)
		return err_wrap(err, "%s: the line at byte %llu is no record",
				export->source.dir.parts[line->part].name,
				(unsigned long long)line->offset);
	seq = (uint64_t)json_get_int(json, REC_SEQ, 0);
	if (!audit_filter_takes(&export->filter, export->book, json) ||
	    (export->to > 0 && (seq < export->from || seq >= export->to)))
		return 0;
	leaf_hash(line->entry, line->len, leaf);
	hex_write(leaf, SHA256_LEN, record.leaf);
	record.json = json;
	record.user = audit_filter_user(&export->filter, json);
	export->lines->record(&record, stdout);
	export->count++;
	return ferror(stdout) ? err_errno(err, "write") : 0;
}

static int export_lines(struct export *export)
{
	CLEANUP(mem_freep)
	char *openings = mem_format("%s/" AUDIT_OPENINGS, export->source.dir.path);
	struct err err;

	if (!export->source.dir.is_file)
		IGNORE(opening_book_open(openings, &export->book, NULL) < 0,
		       "then users are pseudonyms");
	if (export->lines->begin != NULL)
		export->lines->begin(stdout);
	if (log_walk(&export->source.dir, on_line, export, &err) < 0)
		return cli_fail(err.kind == ERR_IO ? EXIT_IO : EXIT_USAGE, "audit export: %s",
				err.text);
	if (fflush(stdout) != 0)
		return cli_fail(EXIT_IO, "audit export: write: %s", strerror(errno));
	fprintf(stderr,
		"%llu records; these lines cannot be verified by themselves (that is what --out "
		"is for)\n",
		(unsigned long long)export->count);
	return EXIT_FINE;
}

static bool is_filtered(const struct audit_filter *filter)
{
	return filter->task != NULL || filter->user != NULL || filter->agent != NULL ||
	       filter->tool != NULL || filter->decision != NULL || filter->event != NULL ||
	       filter->since != NULL || filter->until != NULL;
}

static int export_folder(struct export *export)
{
	struct export_package package = {.dir = &export->source.dir,
					 .out = export->out,
					 .from = export->from,
					 .to = export->to,
					 .tiles = strcmp(export->format, "tiles") == 0,
					 .openings = export->openings};
	struct err err;

	if (is_filtered(&export->filter))
		return cli_usage("audit export", "a package takes --range; filters are for lines");
	if (strcmp(export->format, "jsonl") != 0 && !package.tiles)
		return cli_usage("audit export", "--out writes jsonl or tiles, not %s",
				 export->format);
	if (export->source.dir.is_file)
		return cli_usage("audit export", "a package is made of a log's folder");
	if (export_package(&package, &err) < 0)
		return cli_fail(err.kind == ERR_IO ? EXIT_IO : EXIT_USAGE, "audit export: %s",
				err.text);
	fprintf(stderr, "written to %s; check it with: writ audit verify %s --key KEY\n",
		export->out, export->out);
	return EXIT_FINE;
}

static int run(struct export *export)
{
	struct err err;

	if (export->format == NULL)
		export->format = "jsonl";
	export->lines = export_format_find(export->format);
	if (export->lines == NULL && strcmp(export->format, "tiles") != 0)
		return cli_usage("audit export",
				 "no format %s; there are jsonl, csv, rfc5424, "
				 "ocsf, tiles",
				 export->format);
	if (audit_filter_init(&export->filter, clock_now_us(), &err) < 0 ||
	    (export->range != NULL &&
	     audit_range_read(export->range, &export->from, &export->to, &err) < 0) ||
	    audit_source_find(&export->place, &export->source, &err) < 0)
		return cli_fail(EXIT_USAGE, "audit export: %s", err.text);
	if (export->out != NULL)
		return export_folder(export);
	if (export->lines == NULL)
		return cli_usage("audit export", "tiles need --out FOLDER");
	return export_lines(export);
}

int cmd_audit_export(int argc, char **argv)
{
	struct export export = {.format = NULL};
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, &export);
	if (code == 0)
		code = run(&export);
	opening_book_close(export.book);
	audit_filter_clear(&export.filter);
	audit_source_clear(&export.source);
	return code;
}
